"""`Desk`: where coroutines hand in requests, which are carried out many at a time, with one commit.

With a store on this machine everything is done in the event loop, the commit too, as long as the disk is fast: requests
that arrive meanwhile are read together afterwards, and make a large next batch. Two threads that take turns would need
almost twice the time, since their memory would move between the cores of the machine, and the loop would wake up for
each request alone. While commits are slow, a thread waits for them, and the loop goes on. With a store elsewhere the
loop waits for its messages as it waits for those of clients, and what arrives until the store has locked the bandits of
a batch comes along; only what is unusual is carried out by the thread, which waits for one answer after the other.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

from wakeful.service.bandit_rules import compile_for, compile_records
from wakeful.service.batch import Batch
from wakeful.service.decision_rules import MOST_EXPIRED
from wakeful.service.engine import Engine
from wakeful.service.refusals import Refused
from wakeful.service.requests import Create, Decide, Look, LookAll, Record, Request
from wakeful.service.store import StoreError, Trip
from wakeful.service.stores import open_store

log = logging.getLogger("wakeful.service")
MOST_WAITING = 10_000  # requests
MOST_AT_ONCE = 256  # requests in one commit
SLOW_COMMIT = 0.002  # seconds: while commits take longer on average, a thread waits for them
COMMITS_REMEMBERED = 20.0  # by that average
TURNS = 3  # of the event loop, from the arrival of a request to its place in the queue
SECONDS_PER_SWEEP = 1.0  # between two looks at what has waited too long


class Waiting(Protocol):
    """Whoever waits for an answer: a future, or what does as much of one."""

    def done(self) -> bool:
        """Whether nobody waits any more."""

    def set_result(self, result: Any, /) -> None:
        """Take the answer."""


Item = tuple[Request, Waiting]


class Desk:
    """Takes requests from coroutines, and carries them out in their order.

    Parameters:
        engine: carries them out
        most_waiting: more requests than these are refused until some are done
    """

    def __init__(self, engine: Engine, most_waiting: int = MOST_WAITING) -> None:
        self.engine, self.most_waiting = engine, most_waiting
        self.changes = 0  # how many batches have changed something: who shows state looks at it
        self.batch_sizes: deque[int] = deque(maxlen=1000)
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "wakeful-store")
        self._queue: deque[Item] = deque()
        self._is_busy = self._is_closing = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._commit_seconds = 0.0
        self._under_way: Callable[[], None] | None = None  # looks after the trip that is awaited
        self._swept = time.monotonic()
        self._timer = self._loop.call_later(SECONDS_PER_SWEEP, self._on_time)

    @classmethod
    async def open(cls, url: str, *, most_waiting: int = MOST_WAITING) -> "Desk":
        """Open the store of a URL and serve its bandits."""
        return cls(await asyncio.to_thread(lambda: Engine(open_store(url))), most_waiting)

    @property
    def is_ready(self) -> bool:
        """Whether the store answered when it was last asked."""
        return self.engine.is_ready and not self._is_closing

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._queue)

    async def ask(self, request: Request) -> Any:
        """Return the answer to a request, or raise `Refused`."""
        if isinstance(request, Create):
            await asyncio.to_thread(compile_for, request.body)  # nobody else waits for the compiler
        elif isinstance(request, Record) and request.bandit in self.engine.ledgers:
            await asyncio.to_thread(compile_records, self.engine.ledgers[request.bandit].bandit.policy)
        return _given(await self._put(request))

    async def ask_many(self, requests: Sequence[Request]) -> list[Any]:
        """Return for each of some requests its answer, or the `Refused` that it ends with; they stay together."""
        if self._queue and len(self._queue) + len(requests) > self.most_waiting:
            raise Refused("unavailable", f"{len(self._queue)} requests are waiting already; try again")
        answers = await asyncio.gather(*[self._put(request, is_room_certain=True) for request in requests])
        return [answer if _is_answer(answer) else Refused("failed", "the service failed") for answer in answers]

    def _put(self, request: Request, *, is_room_certain: bool = False) -> "asyncio.Future[Any]":
        """Queue a request of a coroutine."""
        future = self._loop.create_future()
        self.hand_in(request, future, is_room_certain=is_room_certain)
        return future

    def hand_in(self, request: Request, waiting: "Waiting", *, is_room_certain: bool = False) -> None:
        """Queue a request; whoever waits gets its answer, or the exception that it ends with, as a result."""
        if self._is_closing:
            raise Refused("unavailable", "the service is stopping")
        if len(self._queue) >= self.most_waiting and not is_room_certain:
            raise Refused("unavailable", f"{self.most_waiting} requests are waiting already; try again")
        self._queue.append((request, waiting))
        if not self._is_busy:
            self._is_busy = True
            self._idle.clear()
            self._turn(1)  # requests that have arrived by now come along

    def _next(self) -> None:
        """Begin what is to be done next; one thing at a time."""
        if time.monotonic() - self._swept >= SECONDS_PER_SWEEP:
            self._swept = time.monotonic()
            self._in_thread(self.engine.sweep, self._after_sweep)
        elif self._queue:
            items = [self._queue.popleft() for _ in range(min(len(self._queue), MOST_AT_ONCE))]
            requests = [request for request, _ in items]
            if self.engine.store.is_local and self.engine.is_small(requests):
                self._begin(items, requests)
            elif self.engine.is_usual(requests) and self.engine.is_small(requests):
                batch = Batch(requests, [None] * len(requests))
                self._exchange(items, batch, self.engine.exchange(batch, partial(self._joining, items)))
            else:
                self._in_thread(partial(self.engine.run, requests), partial(self._deliver, items))
        else:
            self._is_busy = False
            self._idle.set()

    def _begin(self, items: list[Item], requests: list[Request]) -> None:
        """Carry out and commit a batch: here if the disk is fast, which saves the way to the thread and back."""
        try:
            batch = self.engine.begin(requests)
        except Exception as problem:  # whatever it is, those who wait hear of it, and others are served
            log.exception("a batch failed")
            self._give(items, [problem] * len(items), self._next)
            return
        if self._commit_seconds > SLOW_COMMIT:
            self._in_thread(partial(self._commit, batch), partial(self._after_commit, items, batch))
            return
        self._commit(batch)
        if self.engine.is_short(batch):
            self._give(items, self.engine.finish(batch), partial(self._turn, TURNS))
        else:
            self._in_thread(partial(self.engine.finish, batch), partial(self._deliver, items))

    def _exchange(self, items: list[Item], batch: Batch, trips: Iterator[Trip]) -> None:
        """Go on with a batch on a store elsewhere until it waits; the loop does other things meanwhile."""
        try:
            for trip in trips:
                if not trip.advance():
                    self._watch(trip, partial(self._exchange, items, batch, trips))
                    return
        except Exception as problem:  # whatever it is, those who wait hear of it, and others are served
            log.exception("a batch failed")
            self._under_way, batch.is_done, batch.failed_by = None, False, StoreError(str(problem))
        if self.engine.is_short(batch):
            self._give(items, self.engine.finish(batch), partial(self._turn, TURNS))
        else:
            self._in_thread(partial(self.engine.conclude, batch), partial(self._deliver, items))

    def _joining(self, items: list[Item], names: set[str]) -> list[Request]:
        """Add to a batch the requests that need nothing but its bandits, in their order; return them."""
        joining, others = list[Item](), deque[Item]()
        left = set()  # bandits of which a request stays here: what comes after it does, too
        while self._queue and len(items) + len(joining) < MOST_AT_ONCE:
            item = self._queue.popleft()
            request = item[0]
            name = getattr(request, "bandit", None)
            if isinstance(request, Decide) and not request.body.id and name in names and name not in left:
                joining.append(item)
            else:
                others.append(item)
                left.add(name)
        self._queue.extendleft(reversed(others))
        items += joining
        return [request for request, _ in joining]

    def _watch(self, trip: Trip, then: Callable[[], None]) -> None:
        """Go on when there is something to read, or to write as long as not everything has been sent."""
        self._under_way = partial(self._arrived, trip, then)
        self._loop.add_reader(trip.fileno, self._under_way)
        if not trip.is_sent:
            self._loop.add_writer(trip.fileno, self._under_way)

    def _arrived(self, trip: Trip, then: Callable[[], None]) -> None:
        """Read what has come back, and go on once that is all."""
        is_over = trip.advance()
        if is_over or trip.is_sent:
            self._loop.remove_writer(trip.fileno)
        if is_over:
            self._loop.remove_reader(trip.fileno)
            self._under_way = None
            then()

    def _commit(self, batch: Batch) -> None:
        """Commit a batch, and note how long that takes nowadays."""
        began = time.perf_counter()
        self.engine.commit(batch)
        self._commit_seconds += (time.perf_counter() - began - self._commit_seconds) / COMMITS_REMEMBERED

    def _turn(self, turns: int) -> None:
        """Let the loop turn so often that requests which have arrived meanwhile are here, and go on."""
        if turns and len(self._queue) < MOST_AT_ONCE:
            self._loop.call_soon(self._turn, turns - 1)
        else:
            self._next()

    def _in_thread(self, work: Callable[[], Any], then: "Callable[[asyncio.Future[Any]], None]") -> None:
        """Let the thread do something, and go on with what it returns."""
        self._loop.run_in_executor(self._thread, work).add_done_callback(then)

    def _after_commit(self, items: list[Item], batch: Batch, _: "asyncio.Future[Any]") -> None:
        """Finish a batch: here if that takes no time, else in the thread."""
        if self.engine.is_short(batch):
            self._give(items, self.engine.finish(batch), self._next)
        else:
            self._in_thread(partial(self.engine.finish, batch), partial(self._deliver, items))

    def _deliver(self, items: list[Item], done: "asyncio.Future[Any]") -> None:
        """Give the answers that the thread has found."""
        problem = done.exception()
        if problem is not None:
            log.error("a batch failed", exc_info=problem)
        self._give(items, [problem] * len(items) if problem is not None else done.result(), self._next)

    def _give(self, items: list[Item], answers: list[Any], then: Callable[[], None]) -> None:
        """Give answers to those who still wait for them, and go on."""
        for (_, waiting), answer in zip(items, answers, strict=True):
            try:
                if not waiting.done():
                    waiting.set_result(answer)
            except Exception:  # whatever it is, the others get their answers
                log.exception("an answer could not be given")
        if any(not isinstance(request, Look | LookAll) for request, _ in items):
            self.changes += 1
            self.batch_sizes.append(len(items))
        then()

    def _after_sweep(self, done: "asyncio.Future[Any]") -> None:
        """Go on after sweeping."""
        problem = done.exception()
        if problem is not None:
            log.error("looking at what has waited too long failed", exc_info=problem)
        else:
            self.changes += bool(done.result() or self.engine.has_news)
            if done.result() >= MOST_EXPIRED:  # more have waited too long
                self._swept -= 0.95 * SECONDS_PER_SWEEP
        self._next()

    def _on_time(self) -> None:
        """See to it that sweeping goes on while nobody asks for anything, and that no trip waits for ever."""
        self._timer = self._loop.call_later(SECONDS_PER_SWEEP, self._on_time)
        if self._under_way is not None:  # a loop may stop watching a connection that was reset, without a word
            self._under_way()
        if not self._is_busy and not self._is_closing:
            self._is_busy = True
            self._idle.clear()
            self._next()

    async def close(self) -> None:
        """Answer what was accepted, write snapshots, and close the store."""
        self._is_closing = True
        await self._idle.wait()
        self._timer.cancel()
        await self._loop.run_in_executor(self._thread, self.engine.close)
        self._thread.shutdown()


def _is_answer(answer: Any) -> bool:
    """Whether an answer is one that can be given, a refusal among them."""
    return isinstance(answer, Refused) or not isinstance(answer, Exception)


def _given(answer: Any) -> Any:
    """Return an answer, or raise it if it is an exception."""
    if isinstance(answer, Exception):
        raise answer
    return answer
