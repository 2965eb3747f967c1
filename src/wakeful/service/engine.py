"""`Engine`: carries out requests in batches. What a batch adds to the logs is committed before it is answered.

Within a batch requests follow one another as if each were alone: a decision is made from the state that all events
before it leave. Ledgers run ahead of the store until the commit; if that fails they are thrown away, and read again
from what the store has.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from wakeful.service.bandit_rules import compile_for, compile_records
from wakeful.service.batch import Batch, writes_of
from wakeful.service.decision_rules import decisions_asked_for, overdue
from wakeful.service.events import Entry
from wakeful.service.known import Finder
from wakeful.service.reader import Reader
from wakeful.service.refusals import Refused
from wakeful.service.requests import Create, Decide, Delete, Expire, Look, LookAll, Record, Report, Request
from wakeful.service.rules import carry_out
from wakeful.service.shelf import EVENTS_PER_SNAPSHOT, Shelf
from wakeful.service.store import DamagedLogError, Fetched, Row, Store, StoreError, Trip, Wanted
from wakeful.service.turn import Turn

log = logging.getLogger("wakeful.service")
FEW_ARMS = 200  # a decision among so many takes a millisecond at most
MOST_LATELY = 16  # bandits that are locked because they were asked for lately
UNAVAILABLE = "the store does not answer; try again: what has an id counts once"
DAMAGED = "the log of this bandit is damaged: wakeful verify says more"


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
        self.store, self.clock, self.shelf = store, clock, Shelf(store, snapshot)
        self.ledgers = self.shelf.ledgers
        self._lately: set[str] = set()  # small bandits of the last batch: more requests may come while the next waits
        self.is_ready = True
        self.has_news = False  # whether a log had grown when they were swept last
        self.refresh()

    def run(self, requests: Sequence[Request]) -> list[Any]:
        """Carry out requests; return, for each, its answer or the exception that it ends with."""
        if not self.is_usual(requests):
            batch = self.begin(requests)
            self.commit(batch)
            return self.finish(batch)
        batch = Batch(list(requests), [None] * len(requests))
        for trip in self.exchange(batch):
            trip.wait()
        return self.conclude(batch)

    def begin(self, requests: Sequence[Request]) -> Batch:
        """Carry out what changes something, up to the commit."""
        batch = Batch(list(requests), [None] * len(requests))
        writes = writes_of(requests)
        batch.writes = len(writes)
        if len(writes) > 1 and any(isinstance(request, Delete) for _, request in writes):
            batch.is_apart = True  # what follows a deletion begins anew, from what the store has
        elif writes:
            batch.names = {request.bandit for _, request in writes}
            for _, request in writes:
                self._compile(request)
            self._load(batch.names)
            self._try(batch, writes)
        return batch

    def _try(self, batch: Batch, writes: list[tuple[int, Any]]) -> None:
        """Carry out requests, in the transaction that is under way or in a new one."""
        try:
            if not batch.is_halfway:
                self.store.begin(writes=True)
            self._carry_out(batch, writes)
        except StoreError as problem:
            batch.failed_by = problem
        except Exception as problem:
            batch.broken_by = problem
        else:
            batch.is_open = True

    def commit(self, batch: Batch) -> None:
        """Commit what has changed: this waits for the disk, and nothing may be asked of the store meanwhile."""
        if batch.is_open:
            try:
                self.store.commit()
                if not batch.appended:  # what was answered before is answered again: it may be on its way to the disk
                    self.store.settle()
                batch.is_done = True
            except StoreError as problem:
                batch.failed_by = problem

    def is_usual(self, requests: Sequence[Request]) -> bool:
        """Whether requests are decisions and feedback alone, of known bandits, on a store that takes trips."""
        are_usual = all(isinstance(request, Decide | Report) and request.bandit in self.ledgers for request in requests)
        return bool(requests) and self.store.takes_trips and are_usual

    def exchange(self, batch: Batch, join: Callable[[set[str]], Iterable[Request]] = lambda _: ()) -> Iterator[Trip]:
        """Carry out and commit usual requests: yield the trips that are to be awaited one after the other.

        Parameters:
            batch: what is carried out
            join: returns further requests once the bandits of these names are locked, for which nothing is looked up
        """
        try:
            trip = self.store.fetch(self._wanted(batch))
            yield trip
            fetched = trip.result()
            batch.is_halfway = not self.shelf.follow(batch.names, fetched)
            if batch.is_halfway:
                return
            batch.add(join(batch.names))
            trip = self.store.push(self._decided(batch, fetched))
            yield trip
            trip.result()
            batch.is_done = True
        except StoreError as problem:
            batch.failed_by = problem
        except Exception as problem:
            batch.broken_by = problem

    def _wanted(self, batch: Batch) -> list[Wanted]:
        """Return what usual requests have to know of their bandits, and of those for which more may come meanwhile."""
        asked = decisions_asked_for(batch.requests, self.ledgers)
        batch.names, batch.writes = set(asked), len(batch.requests)
        if len(self._lately) <= MOST_LATELY:
            batch.names |= self._lately & set(self.ledgers)
        ids, ledgers = self.shelf.ids, self.ledgers
        return [Wanted(ids[name], name, ledgers[name].head, *asked.get(name, ((), ()))) for name in batch.names]

    def _decided(self, batch: Batch, fetched: Fetched) -> list[tuple[Row, list[Entry]]]:
        """Carry out usual requests with what was fetched for them; return what is to be appended to each log."""
        rows = {row.name: row for row in fetched.rows.values()}
        finders = {name: Finder(fetched.known.get(row.id, ()), row.first) for name, row in rows.items()}
        self._decide(batch, writes_of(batch.requests), rows, finders, self.clock())
        asked = {request.bandit for request in batch.requests}  # type: ignore[union-attr]  # these have one
        self._lately = {name for name in asked if len(self.ledgers[name].names) <= FEW_ARMS}
        return [(rows[name], entries) for name, entries in batch.added.items()]

    def conclude(self, batch: Batch) -> list[Any]:
        """Return the answers after an exchange, of which the store may have left the rest to do."""
        if batch.is_halfway:
            self._try(batch, writes_of(batch.requests))
            self.commit(batch)
        return self.finish(batch)

    def finish(self, batch: Batch) -> list[Any]:
        """Return the answers, after what was to be read has been read."""
        if isinstance(batch.failed_by, DamagedLogError) and len(batch.requests) > 1:
            batch.broken_by, batch.failed_by = batch.failed_by, None  # the others' logs may be right
        if batch.failed_by is not None:
            self._fail(batch, batch.failed_by)
        elif batch.is_done:
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

    def is_short(self, batch: Batch) -> bool:
        """Whether `finish` will take no time: nothing to read, no snapshot to write, nothing to repair."""
        if len(batch.answers) > batch.writes or not batch.is_done:
            return False
        return not any(self.shelf.is_snapshot_due(name) for name in batch.names) and not self.store.is_tidy_due

    def _compile(self, request: Any) -> None:
        """Compile what a request needs, before the transaction, in which others would wait for it."""
        if isinstance(request, Create):
            compile_for(request.body)
        elif isinstance(request, Record) and request.bandit in self.ledgers:
            compile_records(self.ledgers[request.bandit].bandit.policy)

    def _load(self, names: set[str]) -> None:
        """Read bandits that others have made, before they are locked: what they need may have to be compiled."""
        new = names - set(self.ledgers)
        if new and not self.store.is_local:
            self._look(partial(self.shelf.load, new))

    def _carry_out(self, batch: Batch, writes: list[tuple[int, Any]]) -> None:
        """Carry out requests in the transaction that has begun."""
        for name in sorted({request.bandit for _, request in writes if isinstance(request, Create)}):
            self.store.reserve(name)
        rows = self.store.lock(batch.names)
        for name in batch.names:
            self.shelf.catch_up(name, rows.get(name))
        now = self.clock()
        finders = self._finders([request for _, request in writes], rows, now)
        self._decide(batch, writes, rows, finders, now)
        for name, entries in batch.added.items():
            if entries:
                self.store.append(rows[name], entries)
            elif name in rows and rows[name].head == 0:
                self.store.release(name)

    def _decide(
        self,
        batch: Batch,
        writes: Sequence[tuple[int, Any]],
        rows: dict[str, Row],
        finders: dict[str, Finder],
        now: float,
    ) -> None:
        """Carry out requests on ledgers that are up to date."""
        batch.added = {name: [] for name in batch.names}
        for n, request in writes:
            name = request.bandit
            batch.answers[n] = self._one(request, rows, finders[name], batch.added[name], now)
        batch.appended = sum(map(len, batch.added.values()))

    def _fail(self, batch: Batch, problem: StoreError) -> None:
        """Answer that the store failed; ledgers are read again from what it has."""
        refused = self._refusal(problem)
        self.store.rollback()
        self.shelf.forget(batch.names)
        batch.is_open = False
        for n, request in enumerate(batch.requests):
            if not isinstance(request, Look | LookAll):
                batch.answers[n] = refused

    def _refusal(self, problem: StoreError) -> Refused:
        """Return how a failure of the store is answered; with one damaged log, others can still be served."""
        log.warning("the store failed: %s", problem)
        if isinstance(problem, DamagedLogError):
            return Refused("failed", DAMAGED)
        self.is_ready = False
        return Refused("unavailable", UNAVAILABLE)

    def _each_alone(self, batch: Batch) -> None:
        """Carry out each request by itself, after one of them has broken what they had in common."""
        if batch.broken_by is not None:
            self.store.rollback()
            self.shelf.forget(batch.names)
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
            self.ledgers[name], self.shelf.ids[name] = turn.ledger, rows[name].id
        added += turn.added
        return answer

    def _delete(self, request: Delete, rows: dict[str, Row], added: list[Any]) -> Any:
        """Delete a bandit, if the caller knows its whole log."""
        ledger = self.ledgers.get(request.bandit)
        if ledger is None:
            return _no_bandit(request.bandit)
        if ledger.head != request.events:
            message = f"events must be {ledger.head}, the number of the last event, got {request.events}: export first"
            return Refused("conflict", message, "events")
        self.store.delete(rows[request.bandit])
        self.shelf.forget([request.bandit])
        added.clear()
        return None

    def _finders(self, requests: Sequence[Any], rows: dict[str, Row], now: float) -> dict[str, Finder]:
        """Return the decisions that requests are about, for each bandit."""
        finders = {}
        asked = decisions_asked_for(requests, self.ledgers, now)
        for name, (numbers, own_ids) in asked.items():
            found = self.store.find(rows[name], numbers, own_ids) if numbers or own_ids else []
            finders[name] = Finder(found, rows[name].first if name in rows else 1)
        return finders

    def _read(self, request: Look | LookAll) -> Any:
        """Read something, from state that is committed and current."""
        try:
            with self.store.transaction(writes=False):
                answer = self._looked(request)
            self.store.settle()
        except StoreError as problem:
            return self._refusal(problem)
        except Refused as refused:
            return refused
        except Exception as problem:
            return problem
        return answer

    def _looked(self, request: Look | LookAll) -> Any:
        """Return what a request finds in the store."""
        if isinstance(request, LookAll):
            self.shelf.catch_up_all()
            return request.function([self.ledgers[name] for name in sorted(self.ledgers)])
        row = self.store.row(request.bandit)
        self.shelf.catch_up(request.bandit, row)
        if row is None:
            return _no_bandit(request.bandit)
        return request.function(self.ledgers[request.bandit], Reader(self.store, row))

    def sweep(self) -> int:
        """Look at the store, and record what has waited too long; return how many decisions did."""
        self.has_news = bool(self._look(self.shelf.trail))
        return sum(answer for answer in self.run(self._due()) if isinstance(answer, int))

    def refresh(self) -> None:
        """Ask the store whether it answers, and bring all ledgers up to it."""
        self._look(self.shelf.catch_up_all)

    def _look(self, function: Callable[[], Any]) -> Any:
        """Return what a function finds in the store, if the store answers."""
        try:
            with self.store.transaction(writes=False):
                found = function()
        except StoreError as problem:
            if self.is_ready:
                log.warning("the store failed: %s", problem)
            self.is_ready = False
            return None
        self.is_ready = True
        return found

    def _due(self) -> list[Request]:
        """Return requests to record what has waited too long."""
        now = self.clock()
        return [Expire(name) for name, ledger in self.ledgers.items() if overdue(ledger, now)]

    def _after_commit(self, names: set[str], appended: int) -> None:
        """Write snapshots of logs that have grown, and let the store tidy up."""
        try:
            for name in names:
                ledger = self.ledgers.get(name)
                if ledger is not None and self.shelf.is_snapshot_due(name):
                    self.shelf.keep_snapshot(name, ledger)
            self.store.tidy(appended)
        except StoreError as problem:
            log.warning("no snapshot was written: %s", problem)

    def close(self) -> None:
        """Write snapshots of all that has happened since the last, and close the store."""
        try:
            self.shelf.keep_snapshots()
        except StoreError as problem:
            log.warning("no snapshot was written: %s", problem)
        self.store.close()


def _no_bandit(name: str) -> Refused:
    """Return that there is no such bandit."""
    return Refused("not_found", f"no bandit has the name {name!r}", "name")
