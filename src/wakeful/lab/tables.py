"""Write and read Parquet files with a checksum; a file that is damaged or changed is refused.

Pages have checksums, which every reader of Parquet can verify. Beyond that the metadata hold a SHA-256 of the whole
file, in which its own digits count as zeros, so that a change of any byte is noticed.
"""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from wakeful import atomic
from wakeful.inputs import must_be, whole
from wakeful.limits import MAX_BYTES
from wakeful.logs.parquet import arrow

SEAL = re.compile(rb"wakeful-sha256-([0-9a-f]{64})")
BLANK = b"wakeful-sha256-" + b"0" * 64
KEY = "wakeful seal"
NUMBER_BYTES = 8  # bytes of a number in a column that is read


def write(path: str | os.PathLike[str], table: Any) -> None:
    """Write a table of pyarrow with its metadata and its checksum, atomically."""
    pa, pq = arrow()
    sink = pa.BufferOutputStream()
    metadata = {**(table.schema.metadata or {}), KEY: BLANK}  # the last one, so that its digits are the last ones
    pq.write_table(table.replace_schema_metadata(metadata), sink, write_page_checksum=True)
    data = bytearray(sink.getvalue())
    data[_digits(data)] = _digest(data)
    with atomic.replacing(path) as file:
        file.write(data)


def read(
    path: str | os.PathLike[str], kind: str, columns: Sequence[str], max_bytes: int = MAX_BYTES
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return what the metadata of a Parquet file say under `kind`, as JSON, and some columns of numbers.

    Parameters:
        path: of a file that `write` wrote
        kind: the key in the metadata
        columns: which to read
        max_bytes: the most memory that the file, or the columns, may take
    """
    most = whole("max_bytes", max_bytes, "a number of bytes, at least 1", 1)
    data = atomic.read_bytes(path, most)
    arrow()
    try:
        return _decoded(data, kind, columns, most)
    except Exception as problem:  # bytes from outside can fail in any way; the error says that they are wrong
        rule = "a Parquet file that Results.save wrote, complete and unchanged"
        raise ValueError(must_be("path", rule, str(path)) + f": {problem}") from problem


def _decoded(data: bytes, kind: str, columns: Sequence[str], most: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what `read` does; any exception means that the file is not what it should be."""
    pa, pq = arrow()
    sealed = SEAL.search(data) is not None
    if sealed and bytes(data[_digits(data)]) != _digest(bytearray(data)):
        raise ValueError(must_be("contents", "those that its checksum was made of", "others"))
    with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
        about = json.loads((file.schema_arrow.metadata or {})[kind.encode()])
        if about.get("sealed", False) and not sealed:
            raise ValueError(must_be("checksum", "there", None))
        groups = [file.metadata.row_group(n).num_rows for n in range(file.metadata.num_row_groups)]
        if min(groups, default=0) < 0 or sum(groups) * NUMBER_BYTES * len(columns) > most:
            rule = f"so many that they take at most {most:,} bytes (max_bytes raises the limit)"
            raise ValueError(must_be("rows", rule, sum(groups)))
        types = [file.schema_arrow.field(name).type for name in columns]
        if not all(pa.types.is_primitive(kind) and kind.bit_width <= 8 * NUMBER_BYTES for kind in types):
            raise TypeError(must_be("columns", "numbers", list(map(str, types))))
        table = file.read(columns=list(columns))
    return about, {name: table[name].to_numpy() for name in columns}


def _digits(data: bytes | bytearray) -> slice:
    """Return where the digits of the seal are: the last that look like it, after all data and statistics."""
    *_, last = SEAL.finditer(data)
    return slice(*last.span(1))


def _digest(data: bytearray) -> bytes:
    """Return the SHA-256 of `data` with zeros for the digits of its seal, which are put back."""
    place = _digits(data)
    digits = data[place]
    data[place] = b"0" * 64
    digest = hashlib.sha256(data).hexdigest().encode()
    data[place] = digits
    return digest
