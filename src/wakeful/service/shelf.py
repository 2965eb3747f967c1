"""`Shelf`: the ledgers of a store's bandits, brought up to what their logs say; and the snapshots of them."""

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from wakeful.service.folding import fold, follow, is_at_end, restored
from wakeful.service.ledger import Ledger
from wakeful.service.store import DamagedLogError, Fetched, Row, Store, StoreError

log = logging.getLogger("wakeful.service")
EVENTS_PER_SNAPSHOT = 20_000  # events between two snapshots
BYTES_PER_EVENT = 200  # about: a snapshot waits until its log has grown by as much as itself


class Shelf:
    """Ledgers by name.

    Parameters:
        store: where the logs are
        snapshot: so many events after the last snapshot, another one is due

    Attributes:
        ledgers: those that were read so far
        ids: of the rows that they were read from
        saved: number and bytes of their last snapshots
        damaged: rows of bandits whose logs are not what they should be, by name
    """

    def __init__(self, store: Store, snapshot: int = EVENTS_PER_SNAPSHOT) -> None:
        self.store, self.snapshot = store, snapshot
        self.ledgers: dict[str, Ledger] = {}
        self.ids: dict[str, int] = {}
        self.saved: dict[str, tuple[int, int]] = {}
        self.damaged: dict[str, Row] = {}
        self._seen: dict[int, int] = {}  # numbers of the last events when `trail` looked, by ids of rows
        store.on_new_connection = lambda: self.forget(self.ledgers)

    def follow(self, names: Iterable[str], fetched: Fetched) -> bool:
        """Fold what others have appended; return whether that was all, and the bandits are those that they were."""
        for name in names:
            row, ledger = fetched.rows.get(self.ids[name]), self.ledgers[name]
            if row is None or not row.first - 1 <= ledger.head <= row.head:
                return False
            follow(ledger, row, fetched.tails.get(row.id, ()))
            if ledger.head < row.head:  # there is more than a trip brings
                return False
            if not is_at_end(ledger, row):
                raise DamagedLogError(f"the log of {name!r} does not end with the hash that it should")
        return True

    def catch_up_all(self) -> None:
        """Bring all ledgers up to what the store has, but those of damaged logs."""
        for row in self._rows():
            with suppress(DamagedLogError):
                self.catch_up(row.name, row)

    def load(self, names: Iterable[str]) -> None:
        """Bring these ledgers up to what the store has."""
        for name in names:
            self.catch_up(name, self.store.row(name))

    def trail(self) -> bool:
        """Bring those ledgers up to what the store has that nobody else sees to; return whether any log has grown.

        Where decisions have a deadline, every process watches it. Of a log that grows at this moment somebody else sees
        to it, and it is enough to be ready to take over: at most about two snapshots behind.
        """
        rows, seen = self._rows(), self._seen
        self._seen = {row.id: row.head for row in rows}
        for row in rows:
            with suppress(DamagedLogError):
                self._trail(row, seen.get(row.id))
        return self._seen != seen

    def _trail(self, row: Row, seen: int | None) -> None:
        """Do this for one ledger, whose last event had the number `seen`."""
        ledger = self.ledgers.get(row.name)
        is_growing = ledger is not None and ledger.head < row.head != seen
        if not is_growing or ledger is None or ledger.wait is not None or ledger.waiting:
            self.catch_up(row.name, row)
        elif row.head - ledger.head > self.snapshot:
            self._skip(row, ledger)

    def _rows(self) -> list[Row]:
        """Return the bandits of the store, after those that are not there any more were forgotten."""
        rows = self.store.rows()
        self.forget(set(self.ledgers) - {row.name for row in rows})
        return rows

    def _skip(self, row: Row, ledger: Ledger) -> None:
        """Go on from the snapshot that somebody else has written meanwhile, or by folding if there is none."""
        found = self.store.snapshot(row)
        if found is None or found[0] <= ledger.head or self.ids[row.name] != row.id:
            self.catch_up(row.name, row)
        else:
            self.ledgers[row.name] = self._restored(row, found) or fold(ledger, self.store, row)

    def catch_up(self, name: str, row: Row | None) -> None:
        """Bring a ledger up to what the store has: other processes append, too.

        A damaged log is read once, as long as nothing is appended to it.
        """
        if row is None or row.head == 0:
            self.forget([name])
        elif self.damaged.get(name) == row:
            raise DamagedLogError(f"the log of {name!r} is damaged")
        else:
            try:
                self._catch_up(name, row)
            except Exception as problem:  # what was changed in a log can fail in any way
                if isinstance(problem, StoreError) and not isinstance(problem, DamagedLogError):
                    raise
                log.warning("bandit %r is not served: %s", name, problem)
                self.forget([name])
                self.damaged[name] = row
                raise DamagedLogError(f"the log of {name!r} is damaged: {problem}") from problem

    def _catch_up(self, name: str, row: Row) -> None:
        """Read a ledger, or what it lacks."""
        ledger = self.ledgers.get(name)
        if ledger is None or self.ids[name] != row.id or not row.first - 1 <= ledger.head <= row.head:
            self.ledgers[name] = self._loaded(row)
            self.ids[name] = row.id
        elif ledger.head < row.head:
            fold(ledger, self.store, row)

    def _loaded(self, row: Row) -> Ledger:
        """Return a ledger from its last snapshot and the events after it."""
        found = self.store.snapshot(row)
        return fold(None if found is None else self._restored(row, found), self.store, row)

    def _restored(self, row: Row, found: tuple[int, bytes, bytes]) -> Ledger | None:
        """Return the ledger of a snapshot, if it can be read or the whole log is there."""
        self.saved[row.name] = found[0], len(found[2])
        return restored(row, found)

    def forget(self, names: Any) -> None:
        """Throw ledgers away; they are read again when they are needed."""
        for name in list(names):
            self.ledgers.pop(name, None)
            self.ids.pop(name, None)
            self.saved.pop(name, None)

    def is_snapshot_due(self, name: str) -> bool:
        """Whether a log has grown so much since its last snapshot that it gets another one."""
        ledger = self.ledgers.get(name)
        number, size = self.saved.get(name, (0, 0))
        return ledger is not None and ledger.head - number >= max(self.snapshot, size // BYTES_PER_EVENT)

    def keep_snapshot(self, name: str, ledger: Ledger) -> None:
        """Write a snapshot of a ledger, unless it has to be read again."""
        data = ledger.to_bytes()
        with self.store.transaction(writes=True):
            is_current = self.ledgers.get(name) is ledger
            if is_current:
                self.store.keep_snapshot(self.ids[name], ledger.head, ledger.hash, data)
        if is_current:
            self.saved[name] = ledger.head, len(data)

    def keep_snapshots(self) -> None:
        """Write a snapshot of every ledger that has changed since its last."""
        for name, ledger in list(self.ledgers.items()):
            if ledger.head > self.saved.get(name, (0, 0))[0]:
                self.keep_snapshot(name, ledger)
