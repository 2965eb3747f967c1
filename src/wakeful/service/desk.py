"""`Desk`: where the event loop hands requests to the thread that carries them out, many in one commit."""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from wakeful.service.engine import Engine
from wakeful.service.refusals import Refused
from wakeful.service.requests import Create, Look, LookAll, Request
from wakeful.service.rules import compile_for
from wakeful.service.stores import open_store

log = logging.getLogger("wakeful.service")
MOST_WAITING = 10_000  # requests
MOST_AT_ONCE = 256  # requests in one commit
SECONDS_PER_SWEEP = 1.0  # seconds between two looks at what has waited too long

Item = tuple[Request, "asyncio.Future[Any]"]


class Desk:
    """Takes requests from coroutines; one thread carries them out, in their order.

    Parameters:
        engine: carries them out
        most_waiting: more requests than these are refused until some are done
    """

    def __init__(self, engine: Engine, most_waiting: int = MOST_WAITING) -> None:
        self.engine, self.most_waiting = engine, most_waiting
        self.changes = 0  # how many batches have changed something: who shows state looks at it
        self.batch_sizes: deque[int] = deque(maxlen=1000)
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Item] = deque()
        self._called = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="wakeful-writer", daemon=True)
        self._done = asyncio.Event()
        self._thread.start()

    @classmethod
    async def open(cls, url: str, *, most_waiting: int = MOST_WAITING) -> "Desk":
        """Open the store of a URL and serve its bandits."""
        engine = await asyncio.to_thread(lambda: Engine(open_store(url)))
        return cls(engine, most_waiting)

    @property
    def is_ready(self) -> bool:
        """Whether the store answered when it was last asked."""
        return self.engine.is_ready and not self._closing and self._thread.is_alive()

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._queue)

    async def ask(self, request: Request) -> Any:
        """Return the answer to a request, or raise `Refused`."""
        if isinstance(request, Create):
            await asyncio.to_thread(compile_for, request.body)  # nobody else waits for the compiler
        return _given(await self._put(request))

    async def ask_many(self, requests: Sequence[Request]) -> list[Any]:
        """Return for each of some requests its answer, or the `Refused` that it ends with; they stay together."""
        futures = [self._put(request) for request in requests]
        answers = await asyncio.gather(*futures)
        for answer in answers:
            if isinstance(answer, Exception) and not isinstance(answer, Refused):
                raise answer
        return answers

    def _put(self, request: Request) -> "asyncio.Future[Any]":
        """Queue a request."""
        if self._closing:
            raise Refused("unavailable", "the service is stopping")
        if len(self._queue) >= self.most_waiting:
            raise Refused("unavailable", f"{self.most_waiting} requests are waiting already; try again")
        future = self._loop.create_future()
        self._queue.append((request, future))
        if not self._called.is_set():
            self._called.set()
        return future

    def _work(self) -> None:
        """Carry out what comes, until the desk is closed; runs in its own thread."""
        swept = time.monotonic()
        while self._queue or not self._closing:
            self._called.wait(SECONDS_PER_SWEEP)
            self._called.clear()
            while self._queue:
                self._batch()
                swept = self._sweep(swept)
            swept = self._sweep(swept)
        try:
            self.engine.close()
        except Exception:
            log.exception("the store could not be closed")
        self._loop.call_soon_threadsafe(self._done.set)

    def _batch(self) -> None:
        """Carry out what waits, at most so much at once."""
        items = [self._queue.popleft() for _ in range(min(len(self._queue), MOST_AT_ONCE))]
        requests = [request for request, _ in items]
        try:
            answers = self.engine.run(requests)
        except Exception as problem:
            log.exception("a batch failed")
            answers = [problem] * len(items)
        self._loop.call_soon_threadsafe(self._deliver, items, answers)

    def _sweep(self, last: float) -> float:
        """Record what has waited too long, now and then; return when that was done last."""
        now = time.monotonic()
        if now - last < SECONDS_PER_SWEEP:
            return last
        try:
            self.engine.refresh()
            due = self.engine.due()
            if due:
                self.engine.run(due)
                self._loop.call_soon_threadsafe(self._deliver, [], [])
        except Exception:
            log.exception("looking at what has waited too long failed")
        return now

    def _deliver(self, items: list[Item], answers: list[Any]) -> None:
        """Give answers to those who still wait; runs in the event loop."""
        for (_, future), answer in zip(items, answers, strict=True):
            if not future.done():
                future.set_result(answer)
        if not items or any(not isinstance(request, Look | LookAll) for request, _ in items):
            self.changes += 1
            self.batch_sizes.append(len(items))

    async def close(self) -> None:
        """Answer what was accepted, write snapshots, and close the store."""
        self._closing = True
        self._called.set()
        await self._done.wait()


def _given(answer: Any) -> Any:
    """Return an answer, or raise it if it is an exception."""
    if isinstance(answer, Exception):
        raise answer
    return answer
