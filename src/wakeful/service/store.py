"""`Store`: where logs are kept. One suite of SQL for SQLite and PostgreSQL; each has a file for what is its own.

A store holds one transaction at a time and is used by one thread. Tables: `bandit`, a row for each with the number and
hash of its last event; `event`, the logs, only ever appended to; `snapshot`, ledgers as bytes, which are never needed
but save time.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from msgspec import MsgspecError

from wakeful.service.events import BEGINNING, AnyEvent, Choice, Decided, Dueled, Entry, decode
from wakeful.service.known import Known


class StoreError(Exception):
    """The store does not answer, is full, or has been damaged; what was under way has not happened."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))  # those of PostgreSQL have several lines


class DamagedLogError(StoreError):
    """One log is not what it should be; others may be."""


class Row(NamedTuple):
    """A bandit as its table has it; `first` is the number of the first event that was not moved to an archive."""

    id: int
    name: str
    head: int
    hash: bytes
    first: int


class Wanted(NamedTuple):
    """What a batch has to know of a bandit: events after `head`, and the decisions with these numbers and own ids."""

    row_id: int
    name: str
    head: int
    numbers: Sequence[int]
    own_ids: Sequence[str]


class Fetched(NamedTuple):
    """What a store says of the bandits of a batch, which are locked now; by the ids of their rows."""

    rows: dict[int, Row]
    tails: dict[int, list[tuple[Entry, Choice | None]]]  # some events, each with the decision it is about
    known: dict[int, list[Known]]


class Trip(Protocol):
    """Messages to a store elsewhere, under way; `fileno` can be read from when there is something to `advance` with."""

    @property
    def fileno(self) -> int:
        """What to watch."""

    @property
    def is_sent(self) -> bool:
        """Whether all has been sent; until then, writing is to be watched, too."""

    def advance(self) -> bool:
        """Do what can be done without waiting; return whether the trip is over."""

    def wait(self) -> None:
        """Wait until the trip is over."""

    def result(self) -> Any:
        """Return what the trip has brought, or raise `StoreError`."""


class Store(ABC):
    """Logs in a database. All methods raise `StoreError` if it fails."""

    name: str
    is_local = False  # whether all but a commit takes no longer than computing does
    is_tidy_due = False  # whether `tidy` will take time
    takes_trips = False  # whether `fetch` and `push` can be used now
    on_new_connection: Callable[[], None] = staticmethod(lambda: None)  # what was read before may not have happened

    @abstractmethod
    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a statement with `?` for values, and return its rows."""

    @abstractmethod
    def execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for many rows."""

    @abstractmethod
    def begin(self, *, writes: bool) -> None:
        """Begin a transaction; one that only reads sees one moment."""

    @abstractmethod
    def commit(self) -> None:
        """Make all of it happen: on disk when this returns. After an error none of it has, or nobody was told."""

    @abstractmethod
    def rollback(self) -> None:
        """Make none of it happen. It raises nothing: whatever is wrong shows when the next transaction begins."""

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[None]:
        """Run what is inside as one transaction; after an error none of it has happened."""
        self.begin(writes=writes)
        try:
            yield
        except BaseException:
            self.rollback()
            raise
        self.commit()

    @abstractmethod
    def stream(self, sql: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows of a statement, without having all of them in memory."""

    @abstractmethod
    def close(self) -> None:
        """Close it."""

    def tidy(self, appended: int) -> None:  # noqa: B027 (most stores tidy themselves)
        """Do what has to be done now and then, after so many events were appended."""

    def rows(self) -> list[Row]:
        """Return all bandits, by name."""
        return [Row(*row) for row in self.execute(f"{SELECT_BANDIT} WHERE head > 0 ORDER BY name")]

    def row(self, name: str) -> Row | None:
        """Return one bandit, if there is one of this name."""
        found = self.execute(f"{SELECT_BANDIT} WHERE name = ? AND head > 0", (name,))
        return Row(*found[0]) if found else None

    def lock(self, names: Iterable[str]) -> dict[str, Row]:
        """Return these bandits, locked until the transaction ends; always in the same order, so that nobody waits."""
        found = {}
        for name in sorted(names):
            for row in self.execute(f"{SELECT_BANDIT} WHERE name = ?", (name,)):
                found[name] = Row(*row)
        return found

    def reserve(self, name: str) -> None:
        """Make a row for a bandit that has no events yet, unless there is one; `head` is 0 until it has."""
        sql = "INSERT INTO bandit (name, head, hash, first) VALUES (?, 0, ?, 1) ON CONFLICT (name) DO NOTHING"
        self.execute(sql, (name, BEGINNING))

    def release(self, name: str) -> None:
        """Remove such a row, if it still has no events."""
        self.execute("DELETE FROM bandit WHERE name = ? AND head = 0", (name,))

    def append(self, row: Row, entries: Sequence[Entry]) -> None:
        """Append events to a log."""
        sql = "INSERT INTO event (bandit, number, own_id, about, body, hash) VALUES (?, ?, ?, ?, ?, ?)"
        self.execute_many(sql, [(row.id, e.number, e.own_id, e.about, e.body, e.hash) for e in entries])
        last = entries[-1]
        sql = "UPDATE bandit SET head = ?, hash = ? WHERE id = ? AND head = ? RETURNING id"
        if not self.execute(sql, (last.number, last.hash, row.id, row.head)):
            raise StoreError(f"the log of {row.name!r} is not the one that was read before")

    def fetch(self, wanted: Sequence[Wanted]) -> Trip:
        """Begin a transaction, lock bandits and read what is wanted of them; the trip brings `Fetched`."""
        raise NotImplementedError(f"{self.name} takes no trips")

    def push(self, added: Sequence[tuple[Row, Sequence[Entry]]]) -> Trip:
        """Append events to the logs that `fetch` has locked, and commit; the trip brings nothing."""
        raise NotImplementedError(f"{self.name} takes no trips")

    def settle(self) -> None:  # noqa: B027 (what stores on this machine show is on disk)
        """Wait until everything that could be read so far is on disk."""

    def entries(self, row: Row, after: int, to: int | None = None, limit: int | None = None) -> Iterator[Entry]:
        """Yield the events of a log, in order: those after a number, up to another one."""
        for number, body, digest in self.bodies(row, after, to, limit):
            yield Entry(number, read_event(number, body), body, digest)

    def bodies(self, row: Row, after: int, to: int | None = None, limit: int | None = None) -> Iterator[Any]:
        """Yield the number, body and hash of the events of a log, in order."""
        sql = "SELECT number, body, hash FROM event WHERE bandit = ? AND number > ? AND number <= ? ORDER BY number"
        most = "" if limit is None else f" LIMIT {int(limit)}"
        yield from self.stream(sql + most, (row.id, after, row.head if to is None else to))

    @abstractmethod
    def listed(self, values: Sequence[Any]) -> tuple[str, Any]:
        """Return SQL for a table of these numbers or texts, with a column `value`, and what to hand it."""

    def find(self, row: Row, numbers: Iterable[int] = (), own_ids: Iterable[str] = ()) -> list[Known]:
        """Return the decisions of these event numbers and clients' own ids, with what has become of them."""
        bodies = [*self._where(row, "number", sorted(set(numbers))), *self._where(row, "own_id", sorted(set(own_ids)))]
        events = {number: read_event(number, body) for number, _, body in bodies}
        choices = {number: event for number, event in events.items() if isinstance(event, Decided | Dueled)}
        about = [*choices, *(-number for number in choices)]
        ends: dict[int, Any] = {n: read_event(place, body) for place, n, body in self._where(row, "about", about)}
        return [Known(n, choice, ends.get(n), late=-n in ends) for n, choice in choices.items()]

    def _where(self, row: Row, column: str, values: Sequence[Any]) -> list[Any]:
        """Return number, what it is about, and body of the events that have one of these values in a column."""
        if not values:
            return []
        table, given = self.listed(values)
        sql = f"SELECT number, about, body FROM {table} CROSS JOIN event WHERE bandit = ? AND {column} = value"
        return self.execute(sql, (given, row.id))

    def snapshot(self, row: Row, at_most: int | None = None) -> tuple[int, bytes, bytes] | None:
        """Return number, hash and bytes of the last snapshot, or of the last one at or before a number."""
        sql = "SELECT number, hash, data FROM snapshot WHERE bandit = ? AND number <= ? ORDER BY number DESC LIMIT 1"
        found = self.execute(sql, (row.id, row.head if at_most is None else at_most))
        return found[0] if found else None

    def keep_snapshot(self, row_id: int, number: int, digest: bytes, data: bytes) -> None:
        """Keep a snapshot, and remove older ones but the last and those that a compacted log begins with."""
        if not self.execute("SELECT 1 FROM bandit WHERE id = ?", (row_id,)):
            return  # somebody has deleted it
        sql = "INSERT INTO snapshot (bandit, number, hash, data) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        self.execute(sql, (row_id, number, digest, data))
        self.execute(
            "DELETE FROM snapshot WHERE bandit = ? AND number < (SELECT MIN(number) FROM (SELECT number FROM snapshot "
            "WHERE bandit = ? ORDER BY number DESC LIMIT 2) AS last) "
            "AND number <> (SELECT first - 1 FROM bandit WHERE id = ?)",
            (row_id, row_id, row_id),
        )

    def delete(self, row: Row) -> None:
        """Remove a bandit and its log."""
        for table in ("snapshot", "event"):
            self.execute(f"DELETE FROM {table} WHERE bandit = ?", (row.id,))
        self.execute("DELETE FROM bandit WHERE id = ?", (row.id,))


SELECT_BANDIT = "SELECT id, name, head, hash, first FROM bandit"


def read_event(number: int, body: bytes) -> AnyEvent:
    """Return the event that a body holds."""
    try:
        return decode(body)  # type: ignore[no-any-return]  # decoders of unions are not typed
    except MsgspecError as problem:
        raise DamagedLogError(f"event {number} of a log cannot be read: {problem}") from problem
