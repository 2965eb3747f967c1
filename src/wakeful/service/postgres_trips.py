"""What trips to PostgreSQL say and bring: the statements that are prepared for them, their values and their results."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from wakeful.service.events import Decided, Dueled, Entry
from wakeful.service.known import Known
from wakeful.service.store import Fetched, Row, StoreError, read_event
from wakeful.service.trips import BIGINT, BYTES, TEXT, array_of, number, numbers, rows

MOST_FETCHED = 500  # events of a log that a trip brings; more are read with less haste
NOT_COMMITTED = "the transaction was not committed"
PREPARED = {
    b"wakeful_lock": "SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key",
    b"wakeful_tails": (
        "SELECT b.id, b.name, b.head, b.hash, b.first, e.number, e.body, e.hash, d.body "
        "FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS l (name, id, head) JOIN bandit AS b ON b.name = l.name "
        "LEFT JOIN LATERAL (SELECT number, about, body, hash FROM event WHERE bandit = l.id "
        f"AND number > l.head ORDER BY number LIMIT {MOST_FETCHED}) AS e ON true "
        "LEFT JOIN LATERAL (SELECT body FROM event WHERE bandit = l.id AND number = e.about LIMIT 1) AS d ON true "
        "ORDER BY b.id, e.number"
    ),
    b"wakeful_known": (
        "SELECT d.bandit, d.number, d.body, e.about, e.body FROM ("
        "SELECT bandit, number, body FROM unnest($1::bigint[], $2::bigint[]) AS l (id, value) "
        "CROSS JOIN LATERAL (SELECT * FROM event WHERE bandit = l.id AND number = l.value LIMIT 1) AS one UNION ALL "
        "SELECT bandit, number, body FROM unnest($3::bigint[], $4::text[]) AS l (id, value) "
        "CROSS JOIN LATERAL (SELECT * FROM event WHERE bandit = l.id AND own_id = l.value LIMIT 1) AS one) AS d "
        "LEFT JOIN LATERAL (SELECT about, body FROM event WHERE bandit = d.bandit AND about IN (d.number, -d.number) "
        "LIMIT 2) AS e ON true"
    ),
    b"wakeful_push": (  # nothing is added to a log that does not end as it should
        "WITH moved AS (UPDATE bandit SET head = l.head, hash = l.hash "
        "FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) AS l (id, before, head, hash) "
        "WHERE bandit.id = l.id AND bandit.head = l.before RETURNING bandit.id) "
        "INSERT INTO event (bandit, number, own_id, about, body, hash) SELECT e.* "
        "FROM unnest($5::bigint[], $6::bigint[], $7::text[], $8::bigint[], $9::bytea[], $10::bytea[]) "
        "AS e (bandit, number, own_id, about, body, hash) WHERE e.bandit IN (SELECT id FROM moved)"
    ),
    b"wakeful_early": "SELECT set_config('synchronous_commit', 'off', true)",  # this commit does not wait for the disk
    b"wakeful_flush": "SELECT pg_logical_emit_message(true, 'wakeful', '')",  # a commit of its own, after all others
}


@lru_cache(1024)
def key_of(name: str) -> int:
    """Return the number of the lock of a bandit."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8, person=b"wakeful").digest(), "big", signed=True)


def columns(logs: Sequence[tuple[Row, Sequence[Entry]]]) -> list[bytes]:
    """Return the values of the statement that appends."""
    ends = [(row, entries[-1]) for row, entries in logs]
    events = [(row.id, item) for row, entries in logs for item in entries]
    about = [item.about for _, item in events]
    own_ids = [item.own_id for _, item in events]
    return [
        numbers([row.id for row, _ in ends]),
        numbers([row.head for row, _ in ends]),
        numbers([last.number for _, last in ends]),
        array_of(BYTES, [last.hash for _, last in ends]),
        numbers([id for id, _ in events]),
        numbers([item.number for _, item in events]),
        array_of(TEXT, [None if value is None else value.encode() for value in own_ids]),
        array_of(BIGINT, [None if value is None else value.to_bytes(8, "big", signed=True) for value in about]),
        array_of(BYTES, [item.body for _, item in events]),
        array_of(BYTES, [item.hash for _, item in events]),
    ]


def check_pushed(count: int, found: list[Any]) -> None:
    """Check that all events were appended and committed; the last statement has waited for the disk."""
    if found[-2].command_status != b"COMMIT":
        raise StoreError(NOT_COMMITTED)
    if count:
        check_appended(count, found)


def check_appended(count: int, found: list[Any]) -> None:
    """Check that all events were appended."""
    if found[0].command_tuples != count:
        raise StoreError("a log is not the one that was read before")


def fetched_of(found: list[Any]) -> Fetched:
    """Return what a trip that locks and reads has brought."""
    fetched, tails, known = Fetched({}, {}, {}), found[2], found[3:]
    get, last = tails.get_value, None
    tail: list[Any] = []
    for n in range(tails.ntuples):
        if get(n, 0) != last:
            last, name, head, digest, first = (get(n, column) for column in range(5))
            row_id = number(last)
            fetched.rows[row_id] = Row(row_id, name.decode(), number(head), digest, number(first))
            tail = fetched.tails[row_id] = []
        place = get(n, 5)
        if place is not None:
            at, body, about = number(place), get(n, 6), get(n, 8)
            choice = None if about is None else read_event(at, about)
            tail.append((Entry(at, read_event(at, body), body, get(n, 7)), choice))
    return fetched._replace(known=known_of(known[0])) if known else fetched


def known_of(found: Any) -> dict[int, list[Known]]:
    """Return the decisions of a result, each of whose rows has one event about it or none, by id of the bandit."""
    ends: dict[tuple[int, int], dict[int, Any]] = {}
    bodies: dict[tuple[int, int], bytes] = {}
    for id, place, body, about, end in rows(found):
        key = number(id), number(place)
        bodies[key] = body
        if about is not None:
            ends.setdefault(key, {})[number(about)] = read_event(key[1], end)
    known: dict[int, list[Known]] = {}
    for (id, place), body in bodies.items():
        choice = read_event(place, body)
        if isinstance(choice, Decided | Dueled):
            of_it = ends.get((id, place), {})
            known.setdefault(id, []).append(Known(place, choice, of_it.get(place), late=-place in of_it))
    return known
