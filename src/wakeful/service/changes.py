"""`Changes`: tells any number of listeners, once a second at most, how the bandits are; server-sent events."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec

from wakeful.service.answers import encode
from wakeful.service.messages import BanditState
from wakeful.service.refusals import Refused
from wakeful.service.requests import LookAll
from wakeful.service.views import all_states

PERIOD = 1.0  # seconds between two looks
HEARTBEAT = 15.0  # seconds of silence after which a comment says that the connection is alive
MOST_LISTENERS = 100
ALIVE = b": alive\n\n"
END = b""


class Listener:
    """One who listens: `event` waits for the next event, which is `END` when the service stops."""

    def __init__(self, among: "set[Listener]", heartbeat: float) -> None:
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(maxsize=1)
        self._among, self._heartbeat = among, heartbeat
        among.add(self)

    def put(self, event: bytes) -> None:
        """Give it an event, instead of one that it has not taken yet."""
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(event)

    async def event(self) -> bytes:
        """Return the next event, or a sign of life after a long silence."""
        try:
            return await asyncio.wait_for(self._queue.get(), self._heartbeat)
        except TimeoutError:
            return ALIVE

    def close(self) -> None:
        """Listen no longer."""
        self._among.discard(self)


class Changes:
    """Looks at the bandits while anybody listens.

    Parameters:
        desk: what is asked
        most: more listeners are refused
        period, heartbeat: seconds
        clock: seconds
    """

    def __init__(
        self,
        desk: Any,
        *,
        most: int = MOST_LISTENERS,
        period: float = PERIOD,
        heartbeat: float = HEARTBEAT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._desk, self._most, self._period, self._heartbeat, self._clock = desk, most, period, heartbeat, clock
        self._listeners: set[Listener] = set()
        self._told = END  # the last event
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def listen(self) -> Listener:
        """Return a new listener, or refuse."""
        if self._stopped:
            raise Refused("unavailable", "the service is stopping")
        if len(self._listeners) >= self._most:
            raise Refused("unavailable", f"{self._most} listeners are there already; try again later")
        listener = Listener(self._listeners, self._heartbeat)
        if self._task is None or self._task.done():
            self._told = END
            self._task = asyncio.create_task(self._look())
        elif self._told != END:
            listener.put(self._told)
        return listener

    def stop(self) -> None:
        """Tell all listeners that this is the end."""
        self._stopped = True
        for listener in self._listeners:
            listener.put(END)
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _look(self) -> None:
        """Look at the bandits, and tell the listeners when something has changed; end when nobody listens."""
        before: dict[str, BanditState] = {}
        rates: dict[str, float] = {}
        first, then, seen = True, self._clock(), -1
        while self._listeners:
            if first or self._desk.changes != seen or any(rates.values()):
                seen = self._desk.changes
                try:
                    states = await self._desk.ask(LookAll(all_states))
                except Refused:  # the store does not answer: say so when it does again
                    await asyncio.sleep(self._period)
                    continue
                now = self._clock()
                found = {state.name: state for state in states}
                rates, past = _rates(before, found, now - then), rates
                if first or found != before or rates != past:
                    self._tell(found, rates)
                before, then, first = found, now, False
            await asyncio.sleep(self._period)

    def _tell(self, states: dict[str, BanditState], rates: dict[str, float]) -> None:
        """Give every listener the newest state; one that is slow misses those between."""
        rows = [{**msgspec.structs.asdict(state), "rate": rates.get(name, 0.0)} for name, state in states.items()]
        self._told = b"event: bandits\ndata: " + encode({"time": time.time(), "bandits": rows}) + b"\n\n"
        for listener in self._listeners:
            listener.put(self._told)


def _rates(before: dict[str, BanditState], now: dict[str, BanditState], seconds: float) -> dict[str, float]:
    """Return decisions a second since the last look, for each bandit that was there then."""
    if seconds <= 0.0:
        return {}
    return {
        name: max(state.decisions - before[name].decisions, 0) / seconds
        for name, state in now.items()
        if name in before
    }
