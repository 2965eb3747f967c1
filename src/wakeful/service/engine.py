"""`Engine`: carries out requests in batches. What a batch adds to the logs is committed before it is answered.

Within a batch requests follow one another as if each were alone: a decision is made from the state that all events
before it leave. Ledgers run ahead of the store until the commit; if that fails they are thrown away, and read again
from what the store has.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wakeful.service.bandit_rules import compile_for, compile_records
from wakeful.service.decision_rules import overdue
from wakeful.service.events import Answered, Expired
from wakeful.service.known import Finder, Known, number_of
from wakeful.service.ledger import Ledger
from wakeful.service.refusals import Refused
from wakeful.service.requests import Create, Decide, Delete, Expire, Look, LookAll, Record, Report, Request
from wakeful.service.rules import carry_out
from wakeful.service.store import Row, Store, StoreError
from wakeful.service.turn import Turn

log = logging.getLogger("wakeful.service")
EVENTS_PER_SNAPSHOT = 20_000  # events between two snapshots
BYTES_PER_EVENT = 200  # about: a snapshot waits until its log has grown by as much as itself
FEW_ARMS = 200  # a decision among so many takes a millisecond at most
UNAVAILABLE = "the store does not answer; nothing was changed, try again"


@dataclass
class Batch:
    """Requests that are carried out together, and their answers."""

    requests: list[Request]
    answers: list[Any]
    names: set[str] = field(default_factory=set)  # of the bandits that they change
    appended: int = 0
    writes: int = 0
    is_open: bool = False  # whether there is something to commit
    is_apart: bool = False  # whether each request gets a transaction of its own
    broken_by: Exception | None = None  # before the commit: each request gets a transaction of its own then
    failed_by: StoreError | None = None  # at the commit


class Engine:
    """Serves the bandits of one store; used by one thread at a time.

    Parameters:
        store: where the logs are
        clock: tells the time, in seconds since 1970
        snapshot: so many events after the last snapshot, another one is written
    """

    def __init__(
        self, store: Store, clock: Callable[[], float] = time.time, snapshot: int = EVENTS_PER_SNAPSHOT
    ) -> None:
        self.store, self.clock, self.snapshot = store, clock, snapshot
        self.ledgers: dict[str, Ledger] = {}
        self._ids: dict[str, int] = {}  # of the rows that the ledgers were read from
        self._saved: dict[str, tuple[int, int]] = {}  # number of the last snapshot, and its bytes
        self.is_ready = True
        self.refresh()

    def run(self, requests: Sequence[Request]) -> list[Any]:
        """Carry out requests; return, for each, its answer or the exception that it ends with."""
        batch = self.begin(requests)
        self.commit(batch)
        return self.finish(batch)

    def begin(self, requests: Sequence[Request]) -> "Batch":
        """Carry out what changes something, up to the commit."""
        batch = Batch(list(requests), [None] * len(requests))
        writes = [(n, r) for n, r in enumerate(requests) if not isinstance(r, Look | LookAll)]
        batch.writes = len(writes)
        if len(writes) > 1 and any(isinstance(request, Delete) for _, request in writes):
            batch.is_apart = True  # what follows a deletion begins anew, from what the store has
        elif writes:
            batch.names = {request.bandit for _, request in writes}
            for _, request in writes:
                self._compile(request)
            try:
                self.store.begin(writes=True)
                self._carry_out(batch, writes)
            except StoreError as problem:
                batch.failed_by = problem
            except Exception as problem:
                self.store.rollback()
                self._forget(batch.names)
                batch.broken_by = problem
            else:
                batch.is_open = True
        return batch

    def commit(self, batch: "Batch") -> None:
        """Commit what has changed: this waits for the disk, and nothing may be asked of the store meanwhile."""
        if batch.is_open:
            try:
                self.store.commit()
            except StoreError as problem:
                batch.failed_by = problem

    def finish(self, batch: "Batch") -> list[Any]:
        """Return the answers, after what was to be read has been read."""
        if batch.failed_by is not None:
            self._fail(batch, batch.failed_by)
        elif batch.is_open:
            self.is_ready = True
            self._after_commit(batch.names, batch.appended)
        elif batch.is_apart or batch.broken_by is not None:
            self._each_alone(batch)
        for n, request in enumerate(batch.requests):
            if isinstance(request, Look | LookAll):
                batch.answers[n] = self._read(request)
        return batch.answers

    def is_small(self, requests: Sequence[Request]) -> bool:
        """Whether requests concern few enough arms to be carried out while others wait."""
        ledgers = (self.ledgers.get(getattr(request, "bandit", "")) for request in requests)
        return all(ledger is None or len(ledger.names) <= FEW_ARMS for ledger in ledgers)

    def is_short(self, batch: "Batch") -> bool:
        """Whether `finish` will take no time: nothing to read, no snapshot to write, nothing to repair."""
        if len(batch.answers) > batch.writes or not batch.is_open or batch.failed_by is not None:
            return False
        return not any(self._is_snapshot_due(name) for name in batch.names) and not self.store.is_tidy_due

    def _compile(self, request: Any) -> None:
        """Compile what a request needs, before the transaction, in which others would wait for it."""
        if isinstance(request, Create):
            compile_for(request.body)
        elif isinstance(request, Record) and request.bandit in self.ledgers:
            compile_records(self.ledgers[request.bandit].bandit.policy)

    def _carry_out(self, batch: "Batch", writes: list[tuple[int, Any]]) -> None:
        """Carry out requests in the transaction that has begun."""
        for name in sorted({request.bandit for _, request in writes if isinstance(request, Create)}):
            self.store.reserve(name)
        rows = self.store.lock(batch.names)
        for name in batch.names:
            self._catch_up(name, rows.get(name))
        now = self.clock()
        finders = self._finders([request for _, request in writes], rows, now)
        added: dict[str, list[Any]] = {name: [] for name in batch.names}
        for n, request in writes:
            name = request.bandit
            batch.answers[n] = self._one(request, rows, finders[name], added[name], now)
        for name, entries in added.items():
            if entries:
                self.store.append(rows[name], entries)
                batch.appended += len(entries)
            elif name in rows and rows[name].head == 0:
                self.store.release(name)

    def _fail(self, batch: "Batch", problem: StoreError) -> None:
        """Answer that the store failed; ledgers are read again from what it has."""
        log.warning("the store failed: %s", problem)
        self.store.rollback()
        self._forget(batch.names)
        self.is_ready = batch.is_open = False
        for n, request in enumerate(batch.requests):
            if not isinstance(request, Look | LookAll):
                batch.answers[n] = Refused("unavailable", UNAVAILABLE)

    def _each_alone(self, batch: "Batch") -> None:
        """Carry out each request by itself, after one of them has broken what they had in common."""
        if len(batch.requests) == 1:
            log.error("a request failed", exc_info=batch.broken_by)
            batch.answers[0] = batch.broken_by
            return
        for n, request in enumerate(batch.requests):
            if not isinstance(request, Look | LookAll):
                batch.answers[n] = self.run([request])[0]

    def _one(self, request: Any, rows: dict[str, Row], finder: Finder, added: list[Any], now: float) -> Any:
        """Carry out one request; return its answer, or why it is refused."""
        name = request.bandit
        if isinstance(request, Delete):
            return self._delete(request, rows, added)
        turn = Turn(self.ledgers.get(name), finder, now)
        try:
            answer = carry_out(request, turn)
        except Refused as refused:
            if turn.added:  # it went wrong half way
                raise RuntimeError(f"{request!r} was refused after it had changed something") from refused
            return refused
        if turn.ledger is not None and name not in self.ledgers:
            self.ledgers[name], self._ids[name] = turn.ledger, rows[name].id
        added += turn.added
        return answer

    def _delete(self, request: Delete, rows: dict[str, Row], added: list[Any]) -> Any:
        """Delete a bandit, if the caller knows its whole log."""
        ledger = self.ledgers.get(request.bandit)
        if ledger is None:
            return Refused("not_found", f"no bandit has the name {request.bandit!r}", "name")
        if ledger.head != request.events:
            message = f"events must be {ledger.head}, the number of the last event, got {request.events}: export first"
            return Refused("conflict", message, "events")
        self.store.delete(rows[request.bandit])
        self._forget([request.bandit])
        added.clear()
        return None

    def _finders(self, requests: Sequence[Any], rows: dict[str, Row], now: float) -> dict[str, Finder]:
        """Return the decisions that requests are about, for each bandit."""
        finders = {}
        for name in {request.bandit for request in requests}:
            numbers, own_ids = set(), set()
            for request in requests:
                if request.bandit != name or name not in self.ledgers:
                    continue
                if isinstance(request, Report):
                    number = number_of(request.decision)
                    if number is None:
                        own_ids.add(request.decision)
                    else:
                        numbers.add(number)
                elif isinstance(request, Decide) and request.body.id:
                    own_ids.add(request.body.id)
                elif isinstance(request, Expire):
                    numbers.update(overdue(self.ledgers[name], now))
            found = self.store.find(rows[name], numbers, own_ids) if numbers or own_ids else []
            finders[name] = Finder(found, rows[name].first if name in rows else 1)
        return finders

    def _read(self, request: Look | LookAll) -> Any:
        """Read something, from state that is committed and current."""
        try:
            with self.store.transaction(writes=False):
                if isinstance(request, LookAll):
                    self._catch_up_all()
                    return request.function([self.ledgers[name] for name in sorted(self.ledgers)])
                row = self.store.row(request.bandit)
                self._catch_up(request.bandit, row)
                if row is None:
                    return Refused("not_found", f"no bandit has the name {request.bandit!r}", "name")
                return request.function(self.ledgers[request.bandit], Reader(self.store, row))
        except StoreError as problem:
            log.warning("the store failed: %s", problem)
            self.is_ready = False
            return Refused("unavailable", UNAVAILABLE)
        except Refused as refused:
            return refused
        except Exception as problem:
            return problem

    def sweep(self) -> int:
        """Look at the store, and record what has waited too long; return how many decisions did."""
        self.refresh()
        return sum(answer for answer in self.run(self._due()) if isinstance(answer, int))

    def refresh(self) -> None:
        """Ask the store whether it answers, and which bandits there are."""
        try:
            with self.store.transaction(writes=False):
                self._catch_up_all()
        except StoreError as problem:
            if self.is_ready:
                log.warning("the store failed: %s", problem)
            self.is_ready = False
        else:
            self.is_ready = True

    def _due(self) -> list[Request]:
        """Return requests to record what has waited too long."""
        now = self.clock()
        return [Expire(name) for name, ledger in self.ledgers.items() if overdue(ledger, now)]

    def _catch_up_all(self) -> None:
        """Bring all ledgers up to what the store has."""
        rows = {row.name: row for row in self.store.rows()}
        for name in set(self.ledgers) - set(rows):
            self._forget([name])
        for name, row in rows.items():
            self._catch_up(name, row)

    def _catch_up(self, name: str, row: Row | None) -> None:
        """Bring a ledger up to what the store has: other processes append, too."""
        if row is None or row.head == 0:
            self._forget([name])
            return
        ledger = self.ledgers.get(name)
        if ledger is None or self._ids[name] != row.id or ledger.head > row.head:
            self.ledgers[name] = self._loaded(row)
            self._ids[name] = row.id
        elif ledger.head < row.head:
            fold(ledger, self.store, row)

    def _loaded(self, row: Row) -> Ledger:
        """Return a ledger from its last snapshot and the events after it."""
        found = self.store.snapshot(row)
        ledger = None
        if found is not None:
            number, _, data = found
            self._saved[row.name] = number, len(data)
            try:
                ledger = Ledger.from_bytes(data)
            except Exception as problem:
                log.warning("the snapshot of %r at %d is not readable: %s", row.name, number, problem)
                if row.first > 1:
                    raise
        return fold(ledger, self.store, row)

    def _forget(self, names: Any) -> None:
        """Throw ledgers away; they are read again when they are needed."""
        for name in list(names):
            self.ledgers.pop(name, None)
            self._ids.pop(name, None)
            self._saved.pop(name, None)

    def _after_commit(self, names: set[str], appended: int) -> None:
        """Write snapshots of logs that have grown, and let the store tidy up."""
        try:
            for name in names:
                ledger = self.ledgers.get(name)
                if ledger is not None and self._is_snapshot_due(name):
                    self._keep_snapshot(name, ledger)
            self.store.tidy(appended)
        except StoreError as problem:
            log.warning("no snapshot was written: %s", problem)

    def _is_snapshot_due(self, name: str) -> bool:
        """Whether a log has grown so much since its last snapshot that it gets another one."""
        ledger = self.ledgers.get(name)
        number, size = self._saved.get(name, (0, 0))
        return ledger is not None and ledger.head - number >= max(self.snapshot, size // BYTES_PER_EVENT)

    def _keep_snapshot(self, name: str, ledger: Ledger) -> None:
        data = ledger.to_bytes()
        with self.store.transaction(writes=True):
            self.store.keep_snapshot(self._ids[name], ledger.head, ledger.hash, data)
        self._saved[name] = ledger.head, len(data)

    def close(self) -> None:
        """Write snapshots of all that has happened since the last, and close the store."""
        try:
            for name, ledger in self.ledgers.items():
                if ledger.head > self._saved.get(name, (0, 0))[0]:
                    self._keep_snapshot(name, ledger)
        except StoreError as problem:
            log.warning("no snapshot was written: %s", problem)
        self.store.close()


class Reader:
    """Reads the log of one bandit, for `Look`."""

    def __init__(self, store: Store, row: Row) -> None:
        self._store, self._row = store, row

    def decision(self, decision_id: str) -> Known:
        """Return a decision by its id, or refuse."""
        number = number_of(decision_id)
        found = self._store.find(self._row, [number] if number is not None else [], [decision_id])
        return Finder(found, self._row.first).get(decision_id)

    def events(self, after: int, limit: int) -> list[tuple[int, Any]]:
        """Return events after a number."""
        return [(item.number, item.event) for item in self._store.entries(self._row, after, limit=limit)]


def fold(ledger: Ledger | None, store: Store, row: Row, to: int | None = None) -> Ledger:
    """Fold events of a log into a ledger, or into a new one, up to a number or to its end."""
    finder = Finder()
    after = 0 if ledger is None else ledger.head
    last = row.head if to is None else to
    while after < last:
        entries = list(store.entries(row, after, min(last, after + EVENTS_AT_ONCE)))
        if len(entries) != min(last, after + EVENTS_AT_ONCE) - after:
            raise StoreError(f"the log of {row.name!r} has a gap after event {after}")
        if ledger is None:
            ledger = Ledger(entries[0].event)  # type: ignore[arg-type]  # the first event is a Created
        here = {item.number: item.event for item in entries}
        asked = {item.event.decision for item in entries if isinstance(item.event, Answered | Expired)}
        finder = Finder(store.find(row, asked - set(here)))
        for item in entries:
            event = item.event
            choice = None
            if isinstance(event, Answered | Expired):
                choice = here.get(event.decision) or finder[event.decision].choice
            ledger.take(item, choice)  # type: ignore[arg-type]  # feedback is about a decision
        after += len(entries)
    if ledger is None or ledger.hash != (row.hash if last == row.head else ledger.hash):
        raise StoreError(f"the log of {row.name!r} does not end with the hash that it should")
    return ledger


EVENTS_AT_ONCE = 5_000  # events in memory at a time
