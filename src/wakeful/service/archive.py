"""Archives: Parquet files with events that were moved out of a store, with their hashes, page by page checksummed."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from msgspec import MsgspecError

from wakeful import atomic
from wakeful.inputs import must_be
from wakeful.logs.parquet import arrow
from wakeful.service.audit import LogRow, Wrong
from wakeful.service.events import Entry, decode

ROWS_AT_ONCE = 5_000  # rows in memory at a time
LONGEST_STEM = 100  # bytes of a bandit's name in the name of a file
ABOUT = b"wakeful"  # what the file is, as JSON in its metadata
FORMAT = 1  # of what is written


class Archive(NamedTuple):
    """A file of events of one bandit, from the number `first` to `last`."""

    path: Path
    bandit: str
    first: int
    last: int


def archive_path(folder: str | os.PathLike[str], bandit: str, first: int, last: int, digest: bytes) -> Path:
    """Return the name of the file for some events of a bandit: the same for the same events, and for no others.

    >>> archive_path("old", "my shop", 1, 20, bytes(32)).name
    'my%20shop.1-20.00000000.parquet'
    """
    stem = quote(bandit, safe="")[:LONGEST_STEM].rstrip(".")
    return Path(folder) / f"{stem}.{first}-{last}.{digest.hex()[:8]}.parquet"


def write_archive(path: Path, bandit: str, first: int, last: int, entries: Iterable[Entry]) -> None:
    """Write events to a file, which is on disk when this returns; after an error there is no new file."""
    pa, pq = arrow()
    about = {"format": FORMAT, "bandit": bandit, "first": first, "last": last}
    fields = [("number", pa.int64()), ("time", pa.float64()), ("kind", pa.string())]
    fields += [("body", pa.binary()), ("hash", pa.binary(32))]
    schema = pa.schema(fields, metadata={ABOUT: json.dumps(about).encode()})
    with atomic.replacing(path) as file, pq.ParquetWriter(file, schema, write_page_checksum=True) as writer:
        held: list[tuple[Any, ...]] = []
        for item in entries:
            held.append((item.number, item.event.time, type(item.event).__name__, item.body, item.hash))
            if len(held) == ROWS_AT_ONCE:
                writer.write_table(pa.table([list(column) for column in zip(*held, strict=True)], schema=schema))
                held.clear()
        if held:
            writer.write_table(pa.table([list(column) for column in zip(*held, strict=True)], schema=schema))


def open_archive(path: str | os.PathLike[str]) -> Archive:
    """Return what a file holds, or refuse it."""
    pa, pq = arrow()
    try:
        about = json.loads((pq.read_schema(path).metadata or {})[ABOUT])
        archive = Archive(Path(path), about["bandit"], int(about["first"]), int(about["last"]))
        known = about["format"] == FORMAT
    except (pa.ArrowException, KeyError, ValueError, TypeError) as problem:
        raise ValueError(must_be("archive", "a Parquet file that wakeful compact wrote", str(path))) from problem
    if not known:
        raise ValueError(must_be("archive", f"a file of format {FORMAT}", f"{path}, format {about['format']!r}"))
    return archive


def rows_of(archives: Sequence[Archive], to: int, at: int = 1) -> Iterator[LogRow]:
    """Yield the events up to a number, by default from the first one on, from files of one bandit; they may overlap."""
    while at <= to:
        holding = [archive for archive in archives if archive.first <= at <= archive.last]
        if not holding:
            raise Wrong(at, "it is in none of the archives")
        best = max(holding, key=lambda archive: archive.last)
        yield from (row for row in _rows(best) if at <= row.number <= to)
        at = best.last + 1


def _rows(archive: Archive) -> Iterator[LogRow]:
    """Yield the rows of one file, if what it says of them is what their bodies say."""
    pa, pq = arrow()
    number = archive.first
    try:
        with pq.ParquetFile(archive.path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(ROWS_AT_ONCE):
                columns = batch.to_pydict()
                for number, time, kind, body, digest in zip(*columns.values(), strict=True):
                    item = Entry(number, decode(body), body, digest)
                    if (item.event.time, type(item.event).__name__) != (time, kind):
                        raise Wrong(number, f"its time or kind in {archive.path.name} is not that of its body")
                    yield LogRow(number, item.own_id, item.about, body, digest)
    except (pa.ArrowException, OSError, ValueError, MsgspecError) as problem:
        raise Wrong(number, f"{archive.path.name} cannot be read from about here on: {problem}") from problem
