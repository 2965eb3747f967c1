"""`Trip`: statements that PostgreSQL gets together and answers together, while this process does something else.

Each message to a server costs more than what is in it: so a batch takes two trips, one that locks and reads, and one
that appends and commits. Values are written and read in PostgreSQL's binary form, many rows in one array.
"""

import select
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from struct import Struct
from typing import Any

import psycopg
from psycopg.pq import ExecStatus, Format

from wakeful.service.store import StoreError

BIGINT, TEXT, BYTES = 20, 25, 17  # numbers of types
Statement = tuple[bytes, Sequence[bytes | None] | None]  # the name of a prepared one and its values; SQL without values
LONGEST_TRIP = 30.0  # seconds: twice as long as a server lets anybody wait for a lock
GOOD = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)
_number, _length, _array = Struct(">q"), Struct(">i"), Struct(">iiIii")


class Trip:
    """Statements under way; what comes back is read by `result`.

    Parameters:
        connection: of libpq, on which nothing else is under way
        watched: a file descriptor that can be read from when the connection can be, and stays open longer
        statements: what is sent
        read: makes of what comes back the result
    """

    def __init__(
        self,
        connection: "psycopg.pq.abc.PGconn",
        watched: int,
        statements: Sequence[Statement],
        read: Callable[[list[Any]], Any],
    ) -> None:
        self.fileno, self.is_sent = watched, False
        self._connection, self._read = connection, read
        self._found: list[Any] = []
        self._is_within = False  # the results of a statement
        self._problem: psycopg.Error | None = None
        self._until = time.monotonic() + LONGEST_TRIP
        with store_errors():
            connection.enter_pipeline_mode()
            for name, values in statements:
                if values is None:
                    connection.send_query_params(name, None, result_format=Format.BINARY)
                else:
                    formats = [Format.BINARY] * len(values)
                    connection.send_query_prepared(name, values, formats, Format.BINARY)
            connection.pipeline_sync()
            self.is_sent = connection.flush() == 0

    @staticmethod
    def prepare(connection: "psycopg.pq.abc.PGconn", name: bytes, sql: str) -> None:
        """Let a connection know a statement by a name."""
        found = connection.prepare(name, sql.encode())
        if found.status not in GOOD:
            raise StoreError(found.error_message.decode("utf-8", "replace"))

    def advance(self) -> bool:
        """Send and read what can be without waiting; return whether the trip is over: all came back, or it failed."""
        try:
            is_over = self._advance()
        except psycopg.Error as problem:
            self._problem = problem
            return True
        if not is_over and time.monotonic() > self._until:
            self._problem = psycopg.OperationalError(f"PostgreSQL has said nothing for {LONGEST_TRIP:g} s")
        return is_over or self._problem is not None

    def _advance(self) -> bool:
        connection = self._connection
        connection.consume_input()
        self.is_sent = self.is_sent or connection.flush() == 0
        while not connection.is_busy():
            found = connection.get_result()
            if found is None:
                if not self._is_within:
                    return False
                self._is_within = False
            elif found.status == ExecStatus.PIPELINE_SYNC:
                connection.exit_pipeline_mode()
                return True
            else:
                self._is_within = True
                self._found.append(found)
        return False

    def wait(self) -> None:
        """Wait until everything has come back."""
        while not self.advance():
            watch = select.poll()
            watch.register(self.fileno, select.POLLIN | (0 if self.is_sent else select.POLLOUT))
            watch.poll(1000 * max(self._until - time.monotonic(), 0.0) + 1)

    def result(self) -> Any:
        """Return the result of what has come back."""
        if self._problem is not None:
            raise StoreError(str(self._problem)) from self._problem
        for found in self._found:
            if found.status not in GOOD:
                raise StoreError(found.error_message.decode("utf-8", "replace"))
        return self._read(self._found)


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn what psycopg raises into what a store raises."""
    try:
        yield
    except psycopg.Error as problem:
        raise StoreError(str(problem)) from problem


def array_of(kind: int, values: Sequence[bytes | None]) -> bytes:
    """Return values, each in its binary form, as an array of a type."""
    if not values:
        return _array.pack(0, 0, kind, 0, 0)[:12]
    parts = [_array.pack(1, None in values, kind, len(values), 1)]
    for value in values:
        if value is None:
            parts.append(b"\xff\xff\xff\xff")
        else:
            parts += (_length.pack(len(value)), value)
    return b"".join(parts)


def numbers(values: Sequence[int]) -> bytes:
    """Return whole numbers as an array."""
    return array_of(BIGINT, [_number.pack(value) for value in values])


def texts(values: Sequence[str]) -> bytes:
    """Return texts as an array."""
    return array_of(TEXT, [value.encode() for value in values])


def number(value: bytes) -> int:
    """Return a whole number from its binary form."""
    return int(_number.unpack(value)[0])


def rows(found: Any) -> Iterator[list[Any]]:
    """Yield the rows of a result, each value in its binary form."""
    columns = range(found.nfields)
    for n in range(found.ntuples):
        yield [found.get_value(n, column) for column in columns]
