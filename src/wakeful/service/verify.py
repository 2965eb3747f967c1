"""`verify`: proves that the logs of a store are what the rules made of some requests.

It reads only, and may run beside the service. Every log is checked by an `Audit`; its fold must be the bytes of every
snapshot, and its end must be what the row of the bandit says.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import MsgspecError
from msgspec.structs import replace

from wakeful import files
from wakeful.inputs import did_you_mean
from wakeful.service.archive import Archive, rows_of
from wakeful.service.audit import ACROSS_VERSIONS, CHOICES, Audit, LogRow, Wrong
from wakeful.service.events import decode
from wakeful.service.ledger import Ledger, restore
from wakeful.service.store import Row, Store

EVENTS_PER_REPORT = 5_000  # events between two reports of how far the work is
Progress = Callable[[int, int], None]


class Verified(NamedTuple):
    """What was found of one log: `wrong` is None if all is right."""

    name: str
    first: int  # number of the first event that was checked
    head: int  # number of the last one that was right
    hash: bytes  # of the log up to it
    decisions: int  # that were computed again
    is_exact: bool  # all by the versions that are installed
    snapshots: int
    wrong: Wrong | None

    def __str__(self) -> str:
        """Say it in one line."""
        if self.wrong is not None:
            return f"{self.name}: WRONG at {self.wrong}"
        begin = "" if self.first == 1 else f" from {self.first:,} on"
        how = "bit for bit" if self.is_exact else "within 1e-9, other versions decided"
        return (
            f"{self.name}: {self.head - self.first + 1:,} events{begin}, {self.decisions:,} decisions computed again "
            f"{how}, {self.snapshots} snapshots, hash {self.hash.hex()[:16]}"
        )


def verify(
    store: Store, name: str | None = None, archives: Sequence[Archive] = (), progress: Progress | None = None
) -> Iterator[Verified]:
    """Yield what is found of each log of a store, or of one bandit alone.

    Parameters:
        store: opened to be read only
        name: of a bandit; nothing: all of them
        archives: events that were moved out of the store; without them, a log is checked from where it begins in it
        progress: is told now and then how many events are done, and how many there are
    """
    with store.transaction(writes=False):
        every = store.rows()
        rows = [row for row in every if name in (None, row.name)]
        strays = _strays(store) if name is None else []
    if name is not None and not rows:
        raise ValueError(f"no bandit has the name {name!r}" + did_you_mean(name, [row.name for row in every]))
    total, done = sum(row.head - row.first + 1 for row in rows), 0
    for row in rows:
        move = None if progress is None else _from(progress, done, total)
        with store.transaction(writes=False):
            current = store.row(row.name)
            if current is not None:  # nobody deleted it meanwhile
                yield _Check(store, current, archives).run(move)
        done += row.head - row.first + 1
    for number in strays:
        nobody = Wrong(0, "its rows belong to no bandit")
        yield Verified(f"bandit number {number}", 1, 0, b"", 0, True, 0, nobody)


def _from(progress: Progress, done: int, total: int) -> Callable[[int], None]:
    """Return what reports the events of one log."""
    return lambda more: progress(min(done + more, total), total)


def _strays(store: Store) -> list[int]:
    """Return the numbers of bandits that have rows, but none of their own, or one that says there are none."""
    found = store.execute(
        "SELECT bandit FROM event WHERE bandit NOT IN (SELECT id FROM bandit WHERE head > 0) UNION "
        "SELECT bandit FROM snapshot WHERE bandit NOT IN (SELECT id FROM bandit WHERE head > 0) ORDER BY bandit"
    )
    return [number for (number,) in found]


class _Check:
    """The check of one log under way."""

    def __init__(self, store: Store, row: Row, archives: Sequence[Archive]) -> None:
        self.store, self.row = store, row
        self.archives = [archive for archive in archives if archive.bandit == row.name]
        self.audit = Audit(row.name)
        self.first, self.seen = 1, 0
        self.snapshots: set[int] = set()

    def run(self, progress: Callable[[int], None] | None) -> Verified:
        """Check everything, up to what is wrong first."""
        wrong = None
        try:
            self._run(progress)
        except Wrong as found:
            wrong = found
        audit = self.audit
        return Verified(
            self.row.name, self.first, audit.head, audit.hash, audit.decisions, audit.is_exact, self.seen, wrong
        )

    def _run(self, progress: Callable[[int], None] | None) -> None:
        store, row = self.store, self.row
        if row.first > 1 and not self.archives:
            self.audit, self.first = _begun(store, row), row.first
        self.snapshots = _snapshots(store, row, self.audit.head)
        for found in rows_of(self.archives, row.first - 1) if self.archives else ():
            self._take(found)
        if self.archives:
            _check_kept(store, row, self.audit)
        sql = "SELECT number, own_id, about, body, hash FROM event WHERE bandit = ? AND number >= ? ORDER BY number"
        for n, values in enumerate(store.stream(sql, (row.id, row.first))):
            self._take(LogRow(*values))
            if progress is not None and n % EVENTS_PER_REPORT == 0:
                progress(n)
        _check_end(row, self.audit)

    def _take(self, found: LogRow) -> None:
        """Check an event, and the snapshot after it if there is one."""
        self.audit.take(found)
        if found.number in self.snapshots:
            _check_snapshot(self.store, self.row, self.audit)
            self.seen += 1


def _begun(store: Store, row: Row) -> Audit:
    """Return the audit of a log whose first events are in an archive, from the snapshot that it begins with."""
    begin = row.first - 1
    found = store.snapshot(row, begin)
    if found is None or found[0] != begin:
        raise Wrong(begin, "the snapshot is missing that the log begins with")
    ledger = _readable(begin, found[2])
    if (ledger.head, ledger.hash) != (begin, found[1]):
        raise Wrong(begin, "the snapshot is not the one that the log begins with")
    kept = _kept(store, row)
    deadlines = {number: decode(body).deadline for number, body in kept.items()}
    if len(kept) != ledger.pending or ledger.waiting != {n: end for n, end in deadlines.items() if end is not None}:
        raise Wrong(begin, "the decisions before it that waited for feedback are not those of the snapshot")
    return Audit(row.name, ledger, kept)


def _kept(store: Store, row: Row) -> dict[int, bytes]:
    """Return the bodies of decisions before the beginning of a log, which were kept because they waited."""
    sql = "SELECT number, own_id, about, body, hash FROM event WHERE bandit = ? AND number < ? ORDER BY number"
    kept = {}
    for found in store.execute(sql, (row.id, row.first)):
        item = LogRow(*found)
        try:
            choice = decode(item.body)
        except MsgspecError:
            choice = None
        if not isinstance(choice, CHOICES) or (choice.id or None) != item.own_id or item.about is not None:
            raise Wrong(item.number, "it is before the beginning of the log and no decision that waits")
        kept[item.number] = item.body
    return kept


def _check_kept(store: Store, row: Row, audit: Audit) -> None:
    """Check that the decisions kept from before the beginning of a log are those that waited then."""
    kept = _kept(store, row)
    for number in sorted(set(kept) | set(audit.waiting)):
        if kept.get(number) != audit.waiting.get(number):
            raise Wrong(number, "the row kept of a decision that waits is not the one in the archive")


def _snapshots(store: Store, row: Row, after: int) -> set[int]:
    """Return the numbers of the snapshots of a log; there can be none after its end."""
    found = [number for (number,) in store.execute("SELECT number FROM snapshot WHERE bandit = ?", (row.id,))]
    if found and max(found) > row.head:
        raise Wrong(row.head, f"the log ends here, but there is a snapshot at {max(found)}")
    return {number for number in found if number > after}


def _readable(number: int, data: bytes) -> Ledger:
    """Return the ledger of a snapshot, if it can be read."""
    try:
        return Ledger.from_bytes(data)
    except Exception as problem:  # bytes from outside can fail in any way
        raise Wrong(number, f"the snapshot here cannot be read: {problem}") from problem


def _check_snapshot(store: Store, row: Row, audit: Audit) -> None:
    """Check that the fold of the log is what a snapshot says."""
    sql = "SELECT hash, data FROM snapshot WHERE bandit = ? AND number = ?"
    digest, data = store.execute(sql, (row.id, audit.head))[0]
    assert audit.ledger is not None
    folded = audit.ledger.to_bytes()
    if digest != audit.hash:
        raise Wrong(audit.head, "the hash of the snapshot here is not that of the log")
    if data == folded:
        return
    saved = _readable(audit.head, data)
    if audit.is_exact and saved.to_bytes() != folded:  # the same, but compressed by another library
        raise Wrong(audit.head, "the snapshot here is not the fold of the log up to it")
    if not audit.is_exact and not _are_close(saved, audit.ledger):
        raise Wrong(audit.head, "the snapshot here is not the fold of the log up to it, nor close")


def _are_close(one: Ledger, other: Ledger) -> bool:
    """Whether two ledgers differ by no more than what versions round differently."""
    parts = [(restore(ledger.to_bytes()), _parts(ledger)) for ledger in (one, other)]
    (saved, (header, arrays)), (also_saved, (also_header, also_arrays)) = parts
    same = replace(saved, bandit=b"") == replace(also_saved, bandit=b"") and header == also_header
    return same and all(
        np.allclose(array, also_arrays[name], rtol=ACROSS_VERSIONS, atol=ACROSS_VERSIONS, equal_nan=True)
        for name, array in arrays.items()
    )


def _parts(ledger: Ledger) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a bandit's bytes."""
    return files.decode(
        ledger.bandit.to_bytes(), ledger.bandit.kind, lambda header, arrays: (header, arrays), sys.maxsize
    )


def _check_end(row: Row, audit: Audit) -> None:
    """Check that a log ends where and with what its row says."""
    if audit.head < row.head:
        raise Wrong(audit.head + 1, f"the log ends before it, but should have {row.head} events")
    if audit.head > row.head:
        raise Wrong(row.head + 1, f"the log should end before it, after {row.head} events")
    if audit.hash != row.hash:
        raise Wrong(audit.head, "its hash is not the one that the bandit has for its last event")
