"""`Shelf`: the ledgers of a store's bandits, brought up to what their logs say; and the snapshots of them."""

import logging
from collections.abc import Iterable
from typing import Any

from wakeful.service.folding import fold, follow_all, is_at_end
from wakeful.service.ledger import Ledger
from wakeful.service.store import Fetched, Row, Store, StoreError

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
    """

    def __init__(self, store: Store, snapshot: int = EVENTS_PER_SNAPSHOT) -> None:
        self.store, self.snapshot = store, snapshot
        self.ledgers: dict[str, Ledger] = {}
        self.ids: dict[str, int] = {}
        self.saved: dict[str, tuple[int, int]] = {}

    def follow(self, names: Iterable[str], fetched: Fetched) -> bool:
        """Fold what others have appended; return whether that was all, and the bandits are those that they were."""
        for name in names:
            row, ledger = fetched.rows.get(self.ids[name]), self.ledgers[name]
            if row is None or ledger.head > row.head:
                return False
            follow_all(ledger, row, fetched.tails.get(row.id, ()))
            if ledger.head < row.head:  # there is more than a trip brings
                return False
            if not is_at_end(ledger, row):
                raise StoreError(f"the log of {name!r} does not end with the hash that it should")
        return True

    def catch_up_all(self) -> None:
        """Bring all ledgers up to what the store has."""
        rows = {row.name: row for row in self.store.rows()}
        for name in set(self.ledgers) - set(rows):
            self.forget([name])
        for name, row in rows.items():
            self.catch_up(name, row)

    def catch_up(self, name: str, row: Row | None) -> None:
        """Bring a ledger up to what the store has: other processes append, too."""
        if row is None or row.head == 0:
            self.forget([name])
            return
        ledger = self.ledgers.get(name)
        if ledger is None or self.ids[name] != row.id or ledger.head > row.head:
            self.ledgers[name] = self._loaded(row)
            self.ids[name] = row.id
        elif ledger.head < row.head:
            fold(ledger, self.store, row)

    def _loaded(self, row: Row) -> Ledger:
        """Return a ledger from its last snapshot and the events after it."""
        found = self.store.snapshot(row)
        ledger = None
        if found is not None:
            number, _, data = found
            self.saved[row.name] = number, len(data)
            try:
                ledger = Ledger.from_bytes(data)
            except Exception as problem:
                log.warning("the snapshot of %r at %d is not readable: %s", row.name, number, problem)
                if row.first > 1:
                    raise
        return fold(ledger, self.store, row)

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
        """Write a snapshot of a ledger."""
        data = ledger.to_bytes()
        with self.store.transaction(writes=True):
            self.store.keep_snapshot(self.ids[name], ledger.head, ledger.hash, data)
        self.saved[name] = ledger.head, len(data)

    def keep_snapshots(self) -> None:
        """Write a snapshot of every ledger that has changed since its last."""
        for name, ledger in self.ledgers.items():
            if ledger.head > self.saved.get(name, (0, 0))[0]:
                self.keep_snapshot(name, ledger)
