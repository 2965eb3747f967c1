"""Server-sent events: what has changed, once a second at most, a sign of life, and an end."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from serving import connected, error_of, new_bandit, served
from wakeful.service.changes import ALIVE, END, Changes
from wakeful.service.messages import BanditState
from wakeful.service.refusals import Refused


def state(decisions: int) -> BanditState:
    """Return a bandit that has made so many decisions."""
    return BanditState(
        "drinks", "bandit", "Auto", {}, [], decisions, 0, decisions, 0, 0, decisions + 1, None, None, 0.0
    )


class Counted:
    """A desk with one bandit, whose decisions the test sets."""

    def __init__(self) -> None:
        self.changes, self.decisions, self.asked, self.is_down = 0, 0, 0, False

    async def ask(self, request: Any) -> list[BanditState]:
        """Return all bandits."""
        self.asked += 1
        if self.is_down:
            raise Refused("unavailable", "the store does not answer")
        return [state(self.decisions)]

    def decide(self, count: int) -> None:
        """Make decisions."""
        self.decisions += count
        self.changes += 1


def data(event: bytes) -> Any:
    """Return what an event says."""
    name, line, *rest = event.decode().split("\n")
    assert (name, rest) == ("event: bandits", ["", ""])
    return json.loads(line.removeprefix("data: "))["bandits"]


def test_a_listener_hears_the_state_at_once_and_then_what_changes() -> None:
    async def run() -> None:
        desk = Counted()
        changes = Changes(desk, period=0.02, heartbeat=5.0)
        listener = changes.listen()
        first = data(await listener.event())[0]
        assert (first["name"], first["decisions"], first["rate"]) == ("drinks", 0, 0.0)
        desk.decide(10)
        second = data(await listener.event())[0]
        assert second["decisions"] == 10
        assert second["rate"] > 0.0
        third = data(await listener.event())[0]
        assert (third["decisions"], third["rate"]) == (10, 0.0)
        late = changes.listen()
        assert data(await late.event())[0]["decisions"] == 10
        asked = desk.asked
        await asyncio.sleep(0.1)
        assert desk.asked == asked
        changes.stop()
        assert [await listener.event(), await late.event()] == [END, END]

    asyncio.run(run())


def test_nobody_is_asked_while_nobody_listens() -> None:
    async def run() -> None:
        desk = Counted()
        changes = Changes(desk, period=0.01)
        listener = changes.listen()
        await listener.event()
        listener.close()
        await asyncio.sleep(0.05)
        asked = desk.asked
        desk.decide(1)
        await asyncio.sleep(0.05)
        assert (desk.asked, changes.listeners) == (asked, 0)
        again = changes.listen()
        assert data(await again.event())[0]["decisions"] == 1
        changes.stop()

    asyncio.run(run())


def test_silence_is_broken_by_a_sign_of_life() -> None:
    async def run() -> None:
        changes = Changes(Counted(), period=0.01, heartbeat=0.1)
        listener = changes.listen()
        await listener.event()
        assert await listener.event() == ALIVE
        changes.stop()

    asyncio.run(run())


def test_a_slow_listener_gets_the_newest_state() -> None:
    async def run() -> None:
        desk = Counted()
        changes = Changes(desk, period=0.01)
        slow = changes.listen()
        for _ in range(5):
            desk.decide(1)
            await asyncio.sleep(0.03)
        assert data(await slow.event())[0]["decisions"] == 5
        changes.stop()

    asyncio.run(run())


def test_a_store_that_fails_is_asked_again() -> None:
    async def run() -> None:
        desk = Counted()
        desk.is_down = True
        changes = Changes(desk, period=0.01)
        listener = changes.listen()
        await asyncio.sleep(0.05)
        desk.is_down = False
        assert data(await listener.event())[0]["name"] == "drinks"
        changes.stop()

    asyncio.run(run())


def test_there_are_only_so_many_listeners_and_none_after_the_end() -> None:
    async def run() -> None:
        changes = Changes(Counted(), most=2)
        first, _ = changes.listen(), changes.listen()
        with pytest.raises(Refused, match="2 listeners are there already"):
            changes.listen()
        first.close()
        changes.listen()
        changes.stop()
        with pytest.raises(Refused, match="stopping"):
            changes.listen()

    asyncio.run(run())


def lines(answer: httpx.Response) -> Iterator[str]:
    """Yield the lines of events."""
    return (line for line in answer.iter_lines() if line.startswith("data: "))


def test_over_http_and_a_listener_that_leaves_is_forgotten(tmp_path: Path) -> None:
    with connected(tmp_path, max_listeners=1) as client:
        new_bandit(client)
        with client.stream("GET", "/v1/changes") as answer:
            assert answer.headers["content-type"] == "text/event-stream"
            found = lines(answer)
            assert json.loads(next(found)[6:])["bandits"][0]["decisions"] == 0
            error_of(client.get("/v1/changes"), 503, "unavailable")
            client.post("/v1/bandits/drinks/decisions", json={})
            assert json.loads(next(found)[6:])["bandits"][0]["decisions"] == 1
        for _ in range(100):
            answer = client.head("/v1/changes")
            if answer.status_code == 200:
                break
        assert answer.status_code == 200
        assert "wakeful_listeners 0.0" in client.get("/metrics").text


def test_the_stream_ends_when_the_service_stops(tmp_path: Path) -> None:
    heard: list[str] = []
    began = threading.Event()

    def listen(address: str) -> None:
        with httpx.stream("GET", f"{address}/v1/changes", timeout=60) as answer:
            for line in answer.iter_lines():
                heard.append(line)
                began.set()

    with served(tmp_path) as address:
        thread = threading.Thread(target=listen, args=(address,))
        thread.start()
        assert began.wait(60)
    thread.join(60)
    assert not thread.is_alive()
    assert heard[0] == "event: bandits"
