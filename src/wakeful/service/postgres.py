"""`PostgresStore`: logs in PostgreSQL, which several processes share.

A process locks the row of a bandit before it appends to its log, and holds the lock until the commit. So the numbers of
events have no gaps, become visible in their order, and whoever has the lock has seen all of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from wakeful.inputs import must_be
from wakeful.service import migrations
from wakeful.service.migrations import statements
from wakeful.service.sqlite import schema
from wakeful.service.store import Store, StoreError

PREPARING = 5_721_040_917  # the number of the lock under which tables are made
SETTINGS = (
    "-c lock_timeout=15s "  # of waiting for a bandit that another process has locked
    "-c idle_in_transaction_session_timeout=5s "  # a process that is paused or hangs gives its locks back
    "-c synchronous_commit=on -c default_transaction_isolation=read\\ committed"
)
READING = "-c default_transaction_read_only=on"


class PostgresStore(Store):
    """Logs in a PostgreSQL database.

    Parameters:
        url: of the database, `postgresql://...`
        reads_only: nothing can be written through it
    """

    name = "postgresql"
    for_update = " FOR UPDATE"

    def __init__(self, url: str, *, reads_only: bool = False) -> None:
        self.url, self.reads_only = url, reads_only
        self._connection = self._connect()
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _connect(self) -> "psycopg.Connection[Any]":
        try:
            given: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(self.url)
            settings = READING if self.reads_only else SETTINGS
            options = f"{given.pop('options', '') or ''} {settings}"
            given.setdefault("connect_timeout", 10)
            return psycopg.connect("", **given, autocommit=True, options=options)
        except psycopg.ProgrammingError as problem:
            raise ValueError(must_be("db", "a URL of PostgreSQL", "one that cannot be read")) from problem
        except psycopg.Error as problem:
            raise StoreError(f"PostgreSQL does not answer: {problem}") from problem

    def _prepare(self) -> None:
        """Make the tables, if the database is new; bring those of an older version up to date, and refuse a newer."""
        with self.transaction(writes=not self.reads_only):
            if not self.reads_only:
                self.execute("SELECT pg_advisory_xact_lock(?)", (PREPARING,))
            if not self.execute("SELECT to_regclass('wakeful_schema') IS NOT NULL")[0][0]:
                if self.reads_only:
                    raise ValueError(must_be("db", "a database of Wakeful", "one without its tables"))
                for statement in schema("postgres.sql"):
                    self.execute(statement)
            version = self.execute("SELECT version FROM wakeful_schema")[0][0]
            steps = statements(self.name, version, reads_only=self.reads_only)
            for statement in [*steps, f"UPDATE wakeful_schema SET version = {migrations.SCHEMA}"] if steps else []:
                self.execute(statement)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a statement and return its rows."""
        try:
            cursor = self._connection.execute(_marked(sql), values, binary=True)
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as problem:
            raise StoreError(str(problem)) from problem

    def execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for many rows."""
        try:
            with self._connection.cursor() as cursor:
                cursor.executemany(_marked(sql), rows)
        except psycopg.Error as problem:
            raise StoreError(str(problem)) from problem

    def stream(self, sql: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows of a statement, a thousand at a time; inside a transaction."""
        try:
            with self._connection.cursor("wakeful", binary=True) as cursor:
                cursor.itersize = 1000
                yield from cursor.execute(_marked(sql), values)
        except psycopg.Error as problem:
            raise StoreError(str(problem)) from problem

    def listed(self, values: Sequence[Any]) -> tuple[str, Any]:
        """Return SQL for a table of values."""
        kind = "text" if isinstance(values[0], str) else "bigint"
        return f"unnest(?::{kind}[]) AS listed (value)", list(values)

    def begin(self, *, writes: bool) -> None:
        """Begin a transaction."""
        if self._connection.closed:
            self._connection = self._connect()
        self.execute("BEGIN" if writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if not writes:  # it holds no lock, and may have to compile before it goes on
            self.execute("SET LOCAL idle_in_transaction_session_timeout = 0")

    def commit(self) -> None:
        """Commit; whether it happened although it failed is seen after connecting again."""
        try:
            self.execute("COMMIT")
        except StoreError:
            self._connection.close()
            raise

    def rollback(self) -> None:
        """Roll back."""
        try:
            self._connection.execute("ROLLBACK")
        except psycopg.Error:
            self._connection.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _marked(sql: str) -> str:
    """Return a statement with the marks for values that psycopg wants."""
    return sql.replace("%", "%%").replace("?", "%s")
