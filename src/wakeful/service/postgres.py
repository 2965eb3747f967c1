"""`PostgresStore`: logs in PostgreSQL, which several processes share.

A process locks a bandit before it appends to its log, and holds the lock until the commit. So the numbers of
events have no gaps, become visible in their order, and whoever has the lock has seen all of them. A usual batch takes
two trips (`fetch` and `push`); everything else takes one for each statement.

The commit of a usual batch does not wait for the disk: the next process gets the lock meanwhile, and builds on what it
sees. The batch is answered once a second commit, which follows in the same trip, is on disk: PostgreSQL writes commits
in their order, so all that the batch has appended or seen is there, too. Nobody was told what PostgreSQL forgets in a
crash; it ends all connections then, and what was read over an earlier connection is read again.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus

from wakeful.inputs import must_be
from wakeful.service import migrations
from wakeful.service.events import Entry
from wakeful.service.migrations import statements
from wakeful.service.postgres_trips import (
    NOT_COMMITTED,
    PREPARED,
    check_appended,
    check_pushed,
    columns,
    fetched_of,
    key_of,
)
from wakeful.service.sqlite import schema
from wakeful.service.store import Row, Store, StoreError, Wanted
from wakeful.service.trips import (
    Statement,
    Trip,
    numbers,
    store_errors,
    texts,
)

PREPARING = 5_721_040_917  # the number of the lock under which tables are made
SETTINGS = (
    "-c lock_timeout=15s "  # of waiting for a bandit that another process has locked
    "-c idle_in_transaction_session_timeout=5s "  # a process that is paused or hangs gives its locks back
    "-c plan_cache_mode=force_generic_plan -c jit=off "  # the same few statements all the time: planned once
    "-c synchronous_commit=on -c default_transaction_isolation=read\\ committed"
)
TIMEOUTS = {  # with a machine that does not answer any more, in seconds; what a URL says goes before
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,  # milliseconds
}
READING = "-c default_transaction_read_only=on"
IS_TAKEN = "SELECT coalesce(to_regclass('bandit'), to_regclass('event'), to_regclass('snapshot')) IS NOT NULL"


class PostgresStore(Store):
    """Logs in a PostgreSQL database.

    Parameters:
        url: of the database, `postgresql://...`
        reads_only: nothing can be written through it
    """

    name = "postgresql"

    def __init__(self, url: str, *, reads_only: bool = False) -> None:
        self.url, self.reads_only = url, reads_only
        self._watched = -1
        self._connection = self._connect()
        try:
            self._prepare()
            self._prepare_trips()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> "psycopg.Connection[Any]":
        try:
            given: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(self.url)
            settings = READING if self.reads_only else SETTINGS
            options = f"{given.pop('options', '') or ''} {settings}"
            given = {**TIMEOUTS, **given}
            own = None if not self.reads_only else 5  # psycopg forgets all prepared statements when it forgets its own
            return psycopg.connect("", **given, autocommit=True, options=options, prepare_threshold=own)
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
                if self.reads_only or self.execute(IS_TAKEN)[0][0]:
                    found = "one without its tables" if self.reads_only else "one with tables of something else"
                    raise ValueError(must_be("db", "a database of Wakeful", found))
                for statement in schema("postgres.sql"):
                    self.execute(statement)
            version = self.execute("SELECT version FROM wakeful_schema")[0][0]
            steps = statements(self.name, version, reads_only=self.reads_only)
            for statement in [*steps, f"UPDATE wakeful_schema SET version = {migrations.SCHEMA}"] if steps else []:
                self.execute(statement)

    def _prepare_trips(self) -> None:
        """Let a new connection know the statements of trips; one whose commits do not wait for the disk is refused."""
        waits = self.execute("SHOW synchronous_commit")[0][0]
        if waits != "on" and not self.reads_only:
            raise StoreError(
                f"synchronous_commit must be on, got {waits!r}: does a pooler drop the settings of connections?"
            )
        if self._watched >= 0:
            os.close(self._watched)
        self._watched = os.dup(self._connection.fileno())  # stays open, however the connection ends
        for name, sql in PREPARED.items() if not self.reads_only else ():
            with store_errors():
                Trip.prepare(self._connection.pgconn, name, sql)

    @property
    def takes_trips(self) -> bool:  # type: ignore[override]  # one that changes
        """Whether the connection is open and idle."""
        return self._connection.pgconn.transaction_status == TransactionStatus.IDLE and not self.reads_only

    def fetch(self, wanted: Sequence[Wanted]) -> Trip:
        """Begin a transaction, lock bandits and read what is wanted of them."""
        names = [one.name for one in wanted]
        heads = numbers([one.row_id for one in wanted]), numbers([one.head for one in wanted])
        sent: list[Statement] = [
            (b"BEGIN", None),
            (b"wakeful_lock", [numbers([key_of(name) for name in sorted(names)])]),
            (b"wakeful_tails", [texts(names), *heads]),
        ]
        by_number = [(one.row_id, value) for one in wanted for value in one.numbers]
        by_own_id = [(one.row_id, value) for one in wanted for value in one.own_ids]
        if by_number or by_own_id:
            listed = [numbers([id for id, _ in by_number]), numbers([value for _, value in by_number])]
            listed += [numbers([id for id, _ in by_own_id]), texts([value for _, value in by_own_id])]
            sent.append((b"wakeful_known", listed))
        return self._trip(sent, fetched_of)

    def push(self, added: Sequence[tuple[Row, Sequence[Entry]]]) -> Trip:
        """Append events to the logs that `fetch` has locked, and commit: others go on before it is on disk."""
        logs = [(row, entries) for row, entries in added if entries]
        sent: list[Statement] = [(b"wakeful_push", columns(logs))] if logs else []
        sent += [(b"wakeful_early", []), (b"COMMIT", None), (b"wakeful_flush", [])]
        return self._trip(sent, partial(check_pushed, sum(len(entries) for _, entries in logs)))

    def settle(self) -> None:
        """Wait until everything that others have committed so far is on disk."""
        trip = self._trip([(b"wakeful_flush", [])], lambda found: None)
        trip.wait()
        trip.result()

    def lock(self, names: Iterable[str]) -> dict[str, Row]:
        """Return these bandits, locked until the transaction ends; always in the same order, so that nobody waits."""
        for name in sorted(names):
            self.execute("SELECT pg_advisory_xact_lock(?)", (key_of(name),))
        return super().lock(names)

    def append(self, row: Row, entries: Sequence[Entry]) -> None:
        """Append events to a log."""
        trip = self._trip([(b"wakeful_push", columns([(row, entries)]))], partial(check_appended, len(entries)))
        trip.wait()
        trip.result()

    def _trip(self, statements: Sequence[Statement], read: Callable[[list[Any]], Any]) -> Trip:
        """Return a trip that has begun."""
        return Trip(self._connection.pgconn, self._watched, statements, read)

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
            try:
                self._prepare_trips()
            except BaseException:
                self._connection.close()
                raise
            self.on_new_connection()
        self.execute("BEGIN" if writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if not writes:  # it holds no lock, and may have to compile before it goes on
            self.execute("SET LOCAL idle_in_transaction_session_timeout = 0")

    def commit(self) -> None:
        """Commit; whether it happened although it failed is seen after connecting again."""
        try:
            done = self._connection.execute("COMMIT").statusmessage
        except psycopg.Error as problem:
            self._connection.close()
            raise StoreError(str(problem)) from problem
        if done != "COMMIT":  # PostgreSQL rolls back what has failed, without a word
            raise StoreError(NOT_COMMITTED)

    def rollback(self) -> None:
        """Roll back; a connection that a trip has left half way is of no use any more."""
        try:
            if self._connection.pgconn.pipeline_status != PipelineStatus.OFF:
                self._connection.close()
            else:
                self._connection.execute("ROLLBACK")
        except psycopg.Error:
            self._connection.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
        if self._watched >= 0:
            os.close(self._watched)
            self._watched = -1


def _marked(sql: str) -> str:
    """Return a statement with the marks for values that psycopg wants."""
    return sql.replace("%", "%%").replace("?", "%s")
