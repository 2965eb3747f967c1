"""For tests of the service: SQLite files, databases of a real PostgreSQL, and a real browser with a page to show."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

import browser
import watched
from databases import postgres_database, started_postgres
from pages import binary


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Yield the URL of a PostgreSQL server: the one of WAKEFUL_POSTGRES, or one that runs as long as the tests."""
    given = os.environ.get("WAKEFUL_POSTGRES")
    if given:
        yield given
        return
    with started_postgres() as server:
        yield server.get_uri()


@pytest.fixture
def own_postgres() -> Iterator[Any]:
    """Yield a server for one test alone, which may restart it."""
    with started_postgres() as server:
        yield server


@pytest.fixture
def new_postgres(postgres: str) -> Iterator[Callable[[], str]]:
    """Yield a function that makes a new, empty database and returns its URL."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(postgres_database(postgres))


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a new store, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'wakeful.db'}"
    new: Callable[[], str] = request.getfixturevalue("new_postgres")
    return new()


@pytest.fixture(scope="session")
def chromium() -> Iterator[browser.Browser]:
    """Yield a running browser."""
    with browser.running(binary()) as running:
        yield running


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Yield a client of a service that has something to show; tests that change anything start one of their own."""
    with watched.serving(tmp_path_factory.mktemp("shown")) as client:
        watched.fill(client)
        yield client
