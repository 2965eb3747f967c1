"""`SqliteStore`: logs in one file, written by one process. A commit is on disk before it returns.

The file is in WAL mode with `synchronous=FULL`. Exactly one connection writes and moves what was written from the WAL
into the file: SQLite before 3.51.3 can lose data if two do. A lock beside the file keeps other writers out.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from wakeful import atomic
from wakeful.inputs import must_be
from wakeful.service import migrations
from wakeful.service.migrations import statements
from wakeful.service.store import Store, StoreError

EVENTS_PER_CHECKPOINT = 20_000  # events between two checkpoints
PAGE_BYTES = 8192  # bytes: a decision among a hundred arms fits several times


class SqliteStore(Store):
    """Logs in an SQLite file.

    Parameters:
        path: of the file; it is made if it is not there
        reads_only: open it beside the process that writes
    """

    name = "sqlite"
    is_local = True

    def __init__(self, path: str | os.PathLike[str], *, reads_only: bool = False) -> None:
        self.path, self.reads_only = Path(path), reads_only
        self._appended, self._is_lost = 0, False
        if reads_only and not self.path.is_file():
            raise FileNotFoundError(f"no such database: {self.path}")
        self._lock = None if reads_only else _locked(self.path)
        try:
            self._connection = self._connect()
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise
        except BaseException:
            self._unlock()
            raise

    def _connect(self) -> sqlite3.Connection:
        """Open the file."""
        where = f"{self.path.absolute().as_uri()}?mode={'ro' if self.reads_only else 'rwc'}"
        try:
            connection = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False, timeout=10)
            if not self.reads_only:
                connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA wal_autocheckpoint = 0")
        except sqlite3.Error as problem:
            raise StoreError(f"{self.path} must be an SQLite database that can be opened: {problem}") from problem
        return connection

    def _prepare(self) -> None:
        """Make the tables, if the file is new; bring those of an older version up to date, and refuse a newer one."""
        try:
            version = self.execute("PRAGMA user_version")[0][0]
        except StoreError as problem:
            raise StoreError(f"{self.path} must be an SQLite database that can be read: {problem}") from problem
        if version == 0 and (self.reads_only or self.execute("SELECT 1 FROM sqlite_master")):
            raise ValueError(must_be("db", "a database of Wakeful", str(self.path)))
        steps = schema("sqlite.sql") if version == 0 else statements(self.name, version, reads_only=self.reads_only)
        if steps:
            with self.transaction(writes=True):
                for statement in [*steps, f"PRAGMA user_version = {migrations.SCHEMA}"]:
                    self.execute(statement)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a statement and return its rows."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as problem:
            raise StoreError(str(problem)) from problem

    def execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for many rows."""
        try:
            self._connection.executemany(sql, rows)
        except sqlite3.Error as problem:
            raise StoreError(str(problem)) from problem

    def stream(self, sql: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows of a statement."""
        try:
            yield from self._connection.execute(sql, values)
        except sqlite3.Error as problem:
            raise StoreError(str(problem)) from problem

    def listed(self, values: Sequence[Any]) -> tuple[str, Any]:
        """Return SQL for a table of values."""
        return "json_each(?)", json.dumps(values)

    def begin(self, *, writes: bool) -> None:
        """Begin a transaction."""
        if self._is_lost:
            self._connection = self._connect()
            self._is_lost = False
        self.execute("BEGIN IMMEDIATE" if writes else "BEGIN")

    def commit(self) -> None:
        """Commit; only a new connection knows what is on disk after this has failed."""
        try:
            self.execute("COMMIT")
        except StoreError:
            self._lose()
            raise

    def rollback(self) -> None:
        """Roll back."""
        try:
            self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._lose()

    def _lose(self) -> None:
        """Close a connection that has failed."""
        self._is_lost = True
        with suppress(sqlite3.Error):
            self._connection.close()

    @property
    def is_tidy_due(self) -> bool:  # type: ignore[override]  # one that changes
        """Whether so much was written that a checkpoint is due."""
        return self._appended >= EVENTS_PER_CHECKPOINT

    def tidy(self, appended: int) -> None:
        """Move what was written into the file, now and then."""
        self._appended += appended
        if self.is_tidy_due:
            self._appended = 0
            self.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a consistent copy to another file, while others go on; it has its name when all is on disk."""
        target, part = Path(path), Path(f"{os.fspath(path)}.part")
        part.unlink(missing_ok=True)
        try:
            other = sqlite3.connect(part)
            try:
                self._connection.backup(other)
                other.execute("PRAGMA journal_mode = DELETE")  # one file, which can be read without making others
            finally:
                other.close()
        except sqlite3.Error as problem:
            part.unlink(missing_ok=True)
            raise StoreError(str(problem)) from problem
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(target)
        atomic.sync_folder(target.absolute().parent)

    def close(self) -> None:
        """Close the file, with everything in it, and let others write."""
        try:
            if not self.reads_only and not self._is_lost:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.close()
        except sqlite3.Error as problem:
            raise StoreError(str(problem)) from problem
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def schema(name: str) -> list[str]:
    """Return the statements of a file of SQL in this package."""
    text = files("wakeful.service").joinpath(name).read_text("utf-8")
    lines = [line.partition("--")[0] for line in text.splitlines()]
    return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]


def _locked(path: Path) -> int:
    """Lock the file beside a database, or refuse: another process writes to it."""
    if not path.absolute().parent.is_dir():
        raise ValueError(must_be("db", "a file in a folder that exists", str(path)))
    lock = os.open(f"{os.path.realpath(path)}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise StoreError(f"{path} is open in another process; only one may write to it at a time") from None
    return lock
