"""A real service in a thread of the test's own process, with SQLite in a temporary folder."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from wakeful.service.access import read_tokens
from wakeful.service.server import listen, serve
from wakeful.service.settings import Settings

PATIENCE = 240  # seconds for an answer: a new machine compiles first
ARMS = ["tea", "coffee", "juice"]


@contextmanager
def served(folder: Path, tokens: str = "", **settings: Any) -> Iterator[str]:
    """Yield the address of a service with these tokens and settings; it is stopped at the end."""
    wanted = replace(Settings(db=str(folder / "wakeful.db"), port=0, log_level="error"), **settings)
    listening = listen(wanted.host, wanted.port)
    ready, told, problems = threading.Event(), [], []

    def started(address: str, stop: Any) -> None:
        told.append((address, stop))
        ready.set()

    def run() -> None:
        try:
            asyncio.run(serve(wanted, read_tokens(tokens, "test"), listening, started))
        except BaseException as problem:
            problems.append(problem)
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(PATIENCE)
    if problems:
        raise problems[0]
    address, stop = told[0]
    try:
        yield address
    finally:
        stop()
        thread.join(PATIENCE)
        listening.close()
    assert not thread.is_alive()
    assert problems == []


@contextmanager
def connected(folder: Path, tokens: str = "", **settings: Any) -> Iterator[httpx.Client]:
    """Yield a client of such a service."""
    with served(folder, tokens, **settings) as address, httpx.Client(base_url=address, timeout=PATIENCE) as client:
        yield client


def new_bandit(client: httpx.Client, name: str = "drinks", **body: Any) -> dict[str, Any]:
    """Make a bandit, and return its state."""
    answer = client.put(f"/v1/bandits/{name}", json={"arms": ARMS, "seed": 7, **body})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def error_of(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Return the error of an answer, if it is one of this status and code, in the one form that errors have."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert list(body) == ["error"]
    assert list(body["error"]) == ["code", "message", "field"]
    assert body["error"]["code"] == code
    found: dict[str, Any] = body["error"]
    return found
