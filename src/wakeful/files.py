"""Bandits on disk: one zip file with a readable header and plain arrays, written atomically."""

import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, TypeVar

import numpy as np

from wakeful import atomic
from wakeful.inputs import must_be, whole
from wakeful.limits import MAX_BYTES, at_most

VERSION = 2  # of what is written; those from 1 on are read
HEADER = "wakeful.json"
PARSED = 32  # how many times its bytes a header takes in memory once it is parsed, at worst
DIRECTORY = 1 << 20  # bytes of the list of entries at the end of a zip file: some ten thousand entries
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other methods unpack without a bound
ArrayMap = Mapping[str, np.ndarray[Any, Any]]
Built = TypeVar("Built")
Build = Callable[[dict[str, Any], dict[str, Any]], Built]


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: ArrayMap) -> None:
    """Write `header` and `arrays` to `path` so that a crash leaves the old file or the new one, never half."""
    with atomic.replacing(path) as file:
        _pack(file, header, arrays)


def encode(header: Mapping[str, Any], arrays: ArrayMap) -> bytes:
    """Return the bytes that `write` writes."""
    file = io.BytesIO()
    _pack(file, header, arrays)
    return file.getvalue()


def read(path: str | os.PathLike[str], kind: str, build: Build[Built], max_bytes: int = MAX_BYTES) -> Built:
    """Return what `build` makes of the header and the arrays that `write` wrote; raise an error for anything else.

    Parameters:
        path: of the file
        kind: what the header must say it is
        build: makes something of the header and the arrays, or refuses them
        max_bytes: the most memory that the file, what is in it, or a state that `build` starts may take
    """
    most = whole("max_bytes", max_bytes, "a number of bytes, at least 1", 1)
    return _decoded(atomic.read_bytes(path, most), kind, build, most, "path", str(path))


def decode(data: bytes, kind: str, build: Build[Built], max_bytes: int = MAX_BYTES) -> Built:
    """Return what `build` makes of what `encode` returned, as `read` does of a file."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(must_be("data", "bytes", data))
    most = whole("max_bytes", max_bytes, "a number of bytes, at least 1", 1)
    return _decoded(bytes(data), kind, build, most, "data", f"{len(data):,} bytes")


def is_readable(version: Any) -> bool:
    """Whether this is the number of a version whose files are read: 1, without counts of decisions, or this one."""
    return type(version) is int and 1 <= version <= VERSION


def _pack(file: BinaryIO, header: Mapping[str, Any], arrays: ArrayMap) -> None:
    """Write the zip file."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(HEADER), json.dumps({"version": VERSION, **header}, indent=1))
        for field, array in arrays.items():
            with archive.open(_entry(f"{field}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _entry(name: str) -> zipfile.ZipInfo:
    """Return an entry without the time of day, so that the same content is the same bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _decoded(data: bytes, kind: str, build: Build[Built], max_bytes: int, name: str, shown: str) -> Built:
    """Return what `build` makes of a zip file, or say what is wrong with what is called `name` and looks as `shown`."""
    try:
        _check_directory(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive, at_most(max_bytes):
            _check_sizes(archive.infolist(), max_bytes)
            header = json.loads(archive.read(HEADER))
            version = header["version"] if header["kind"] == kind else None
            if is_readable(version):
                names = [entry for entry in archive.namelist() if entry != HEADER]
                return build(header, {entry.removesuffix(".npy"): _array(archive.read(entry)) for entry in names})
    except Exception as problem:  # bytes from outside can fail in any way; the error says that they are wrong
        rule = f"a {kind} file, complete and unchanged"
        raise ValueError(must_be(name, rule, shown) + f": {problem}") from problem
    rule, found = "a file of a version this Wakeful can read", f"its version is {version!r}, this is {VERSION}"
    if version is None:
        rule, found = f"a {kind} file", f"it holds a {header['kind']}"
    raise ValueError(must_be(name, rule, shown) + f": {found}")


def _check_directory(data: bytes) -> None:
    """Refuse a zip file whose list of entries is long: it takes many times its bytes in memory."""
    if data[-22:-18] != b"PK\5\6":
        raise zipfile.BadZipFile("it does not end as a zip file does")
    sizes = [int.from_bytes(data[-10:-6], "little")]
    if data[-42:-38] == b"PK\6\7":  # beyond 2 GiB: the numbers are in a record of their own, all ones here
        sizes = [size for size in sizes if size != 0xFFFFFFFF] + [int.from_bytes(data[-58:-50], "little")]
    if max(sizes) > DIRECTORY:
        raise ValueError(must_be("entries", f"few, at most {DIRECTORY:,} bytes to name them all", max(sizes)))


def _check_sizes(entries: list[zipfile.ZipInfo], max_bytes: int) -> None:
    """Refuse entries that say they are large: none can unpack to more than it says."""
    if len({entry.filename for entry in entries}) < len(entries):
        raise ValueError(must_be("entries", "different", [entry.filename for entry in entries][:8]))
    for entry in entries:
        if entry.compress_type not in COMPRESSIONS:
            raise ValueError(must_be("entries", "stored or deflated", entry.filename))
    size = sum(entry.file_size * (PARSED if entry.filename == HEADER else 1) for entry in entries)
    if size > max_bytes:
        rule = f"one that takes at most {max_bytes:,} bytes in memory (max_bytes raises the limit)"
        raise ValueError(must_be("file", rule, size))


def _array(data: bytes) -> np.ndarray[Any, Any]:
    """Return the array that the bytes of an `.npy` file hold, if they hold all of it and nothing else."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, by_columns, dtype = readers[version](file)
    start, size = file.tell(), math.prod(shape) * dtype.itemsize
    if dtype.hasobject or min(shape, default=0) < 0 or len(data) - start != size:
        raise ValueError(must_be("array", f"{size:,} bytes of plain numbers of shape {shape}", len(data) - start))
    array = np.frombuffer(bytearray(memoryview(data)[start:]), dtype) if size else np.empty(0, dtype)
    return array.reshape(shape, order="F" if by_columns else "C")
