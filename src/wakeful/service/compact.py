"""Moves old events of a log into an archive; a snapshot stays as the beginning of what is left.

Rows are deleted only when their archive is on disk and has been read back, in one transaction with the snapshot: a
crash at any moment leaves every event in the store, in an archive, or in both. Decisions that waited for feedback at
the new beginning keep their rows, so that feedback about them can still be learned.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wakeful.service.archive import Archive, archive_path, open_archive, rows_of, write_archive
from wakeful.service.events import BEGINNING, Answered, Decided, Dueled, Entry, Expired, chained
from wakeful.service.folding import fold, restored
from wakeful.service.ledger import Ledger
from wakeful.service.store import Row, Store, StoreError


class Compacted(NamedTuple):
    """What was moved of one log."""

    name: str
    moved: int
    kept: int
    path: Path

    def __str__(self) -> str:
        """Say it in one line."""
        waiting = f", of which {self.kept:,} decisions that wait for feedback also stay" if self.kept else ""
        return f"{self.name}: {self.moved:,} events moved to {self.path}{waiting}"


def compact(store: Store, before: float, folder: str | os.PathLike[str]) -> Iterator[Compacted]:
    """Move the events of every log from before a time, in seconds since 1970, into files in a folder."""
    with store.transaction(writes=False):
        names = [row.name for row in store.rows()]
    for name in names:
        done = _compact_one(store, name, before, folder)
        if done is not None:
            yield done


def _compact_one(store: Store, name: str, before: float, folder: str | os.PathLike[str]) -> Compacted | None:
    """Move the events of one log, if there are any to move."""
    with store.transaction(writes=False):
        row = store.row(name)
        last = 0 if row is None else _last_before(store, row, before)
        if row is None or last < row.first:
            return None
        ledger = _folded(store, row, last)
        path = archive_path(folder, name, row.first, last, ledger.hash)
        moving = _Moving(store, row, last)
        write_archive(path, name, row.first, last, moving.entries())
        _check_archive(open_archive(path), moving.before, ledger.hash)
    with store.transaction(writes=True):
        if store.lock([name]).get(name, row).first != row.first:
            raise StoreError(f"the log of {name!r} was compacted by somebody else meanwhile")
        _cut(store, row, ledger, sorted(moving.waiting))
    return Compacted(name, last - row.first + 1, len(moving.waiting), path)


def _cut(store: Store, row: Row, ledger: Ledger, waiting: list[int]) -> None:
    """Let a log begin after a ledger, and delete what is before it, but for decisions that wait."""
    store.execute("UPDATE bandit SET first = ? WHERE id = ?", (ledger.head + 1, row.id))
    store.keep_snapshot(row.id, ledger.head, ledger.hash, ledger.to_bytes())
    store.execute("DELETE FROM snapshot WHERE bandit = ? AND number < ?", (row.id, ledger.head))
    sql, values = "DELETE FROM event WHERE bandit = ? AND number <= ?", [row.id, ledger.head]
    if waiting:
        table, given = store.listed(waiting)
        sql, values = f"{sql} AND number NOT IN (SELECT value FROM {table})", [*values, given]
    store.execute(sql, values)


def _last_before(store: Store, row: Row, time: float) -> int:
    """Return the number of the last event before a time; times never go back within a log."""
    low, high = row.first - 1, row.head
    while low < high:
        middle = (low + high + 1) // 2
        (item,) = store.entries(row, middle - 1, middle)
        low, high = (middle, high) if item.event.time < time else (low, middle - 1)
    return low


def _folded(store: Store, row: Row, to: int) -> Ledger:
    """Return the ledger at an event."""
    return fold(restored(row, store.snapshot(row, to)), store, row, to)


class _Moving:
    """Events on their way into an archive: their chain is checked, and decisions that wait are noticed."""

    def __init__(self, store: Store, row: Row, last: int) -> None:
        self._store, self._row, self._last = store, row, last
        kept = store.execute("SELECT number FROM event WHERE bandit = ? AND number < ?", (row.id, row.first))
        self.waiting = {number for (number,) in kept}
        self.before = BEGINNING if row.first == 1 else store.snapshot(row, row.first - 1)[1]  # type: ignore[index]

    def entries(self) -> Iterator[Entry]:
        """Yield the events."""
        digest = self.before
        for item in self._store.entries(self._row, self._row.first - 1, self._last):
            digest = chained(digest, item.number, item.body)
            if item.hash != digest:
                raise StoreError(f"event {item.number} of {self._row.name!r} is wrong: wakeful verify says more")
            if isinstance(item.event, Decided | Dueled):
                self.waiting.add(item.number)
            elif isinstance(item.event, Answered | Expired):
                self.waiting.discard(item.event.decision)
            yield item


def _check_archive(archive: Archive, digest: bytes, end: bytes) -> None:
    """Read an archive back: its events must be a chain that ends with the hash `end`."""
    number = archive.first
    for row in rows_of([archive], archive.last, archive.first):
        digest = chained(digest, number, row.body)
        number += 1
    if digest != end or number != archive.last + 1:
        raise StoreError(f"{archive.path} could not be read back")
