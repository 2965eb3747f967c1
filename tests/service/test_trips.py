"""Trips to PostgreSQL: what they carry arrives, who waits disturbs nobody; logs that do not follow are refused."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from wakeful.service import postgres
from wakeful.service.desk import Desk
from wakeful.service.engine import Engine
from wakeful.service.messages import Feedback, NewBandit, NewDecision
from wakeful.service.postgres import PostgresStore
from wakeful.service.refusals import Refused
from wakeful.service.requests import Create, Decide, Report
from wakeful.service.store import Wanted
from wakeful.service.stores import open_store
from wakeful.service.trips import BYTES, Trip, array_of, number, numbers, rows, texts

ARMS = ["tea", "juice", "milk"]
MAKE = Create("shop", NewBandit(arms=ARMS, policy="SIExp3", seed=1))
DECIDE = Decide("shop", NewDecision())


def sent(store: PostgresStore, sql: str, values: list[bytes]) -> list[Any]:
    """Return the rows of a statement that makes a trip of its own."""
    Trip.prepare(store._connection.pgconn, b"", sql)
    trip = store._trip([(b"", values)], lambda found: list(rows(found[0])))
    trip.wait()
    return list(trip.result())


def test_arrays_arrive_as_they_were_sent(new_postgres: Callable[[], str]) -> None:
    store = PostgresStore(new_postgres())
    names = ["tea", "", "tee \N{SNOWMAN}", "a,b{}\"'\\"]
    assert [text.decode() for (text,) in sent(store, "SELECT unnest($1::text[])", [texts(names)])] == names
    values = [0, 1, -1, 2**63 - 1, -(2**63)]
    assert [number(one) for (one,) in sent(store, "SELECT unnest($1::bigint[])", [numbers(values)])] == values
    some = [b"", None, bytes(range(256))]
    assert [one for (one,) in sent(store, "SELECT unnest($1::bytea[])", [array_of(BYTES, some)])] == some
    assert sent(store, "SELECT unnest($1::bigint[])", [numbers([])]) == []
    store.close()


def test_more_than_the_network_holds_at_once_arrives(new_postgres: Callable[[], str]) -> None:
    store = PostgresStore(new_postgres())
    much = bytes(range(256)) * 40_000
    assert sent(store, "SELECT $1::bytea", [much]) == [[much]]
    store.close()


def test_bandits_are_locked_in_one_order_by_every_way(new_postgres: Callable[[], str]) -> None:
    store = PostgresStore(new_postgres())
    names = ["b", "B", "a", "\N{LATIN SMALL LETTER E WITH ACUTE}", "_", "Z z", "\N{SNOWMAN}", "\U0001f375"]
    with store.transaction(writes=True):
        for name in names:
            store.reserve(name)
    trip = store.fetch([Wanted(n, name, 0, (), ()) for n, name in enumerate(names)])
    trip.wait()
    assert [row.name for row in trip.result().rows.values()] == sorted(names)
    store.rollback()
    store.close()


def test_more_than_a_trip_brings_is_read_in_the_thread(
    new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = postgres.PREPARED[b"wakeful_tails"].replace(f"LIMIT {postgres.MOST_FETCHED}", "LIMIT 3")
    monkeypatch.setitem(postgres.PREPARED, b"wakeful_tails", few)
    url = new_postgres()
    first = Engine(open_store(url))
    first.run([MAKE])
    second = Engine(open_store(url))
    for times in (3, 4, 1):
        ids = [made.id for made, _ in first.run([DECIDE] * times)]
        answers = second.run([*[Report("shop", id, Feedback(loss=0.5)) for id in ids], DECIDE])
        assert [answer.status for answer in answers[:-1]] == ["counted"] * times
        first.refresh()
        assert first.ledgers["shop"].to_bytes() == second.ledgers["shop"].to_bytes()
    first.close()
    second.close()


def test_a_bandit_made_anew_elsewhere_is_another_one(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    first, second = Engine(open_store(url)), Engine(open_store(url))
    first.run([MAKE])
    second.run([MAKE, DECIDE])
    with first.store.transaction(writes=True):
        first.store.delete(first.store.lock(["shop"])["shop"])
    assert second.run([DECIDE])[0].status == 404
    first.run([Create("shop", NewBandit(arms=["x", "y"], policy="SIExp3"))])
    assert second.run([Create("shop", NewBandit(arms=["x", "y"], policy="SIExp3"))])[0][1] is False
    assert second.run([DECIDE])[0][0].arm in {"x", "y"}
    first.close()
    second.close()


@pytest.mark.parametrize("changed", ["body = decode('00', 'hex') || body", "hash = decode(repeat('00', 32), 'hex')"])
def test_events_of_others_that_do_not_follow_are_refused(new_postgres: Callable[[], str], changed: str) -> None:
    url = new_postgres()
    first = Engine(open_store(url))
    first.run([MAKE])
    second = Engine(open_store(url))
    before = second.ledgers["shop"].to_bytes()
    first.run([DECIDE] * 3)
    with psycopg.connect(url, autocommit=True) as connection:
        body = connection.execute("SELECT body FROM event WHERE number = 3").fetchone()
        connection.execute(f"UPDATE event SET {changed} WHERE number = 3")
        assert second.run([DECIDE])[0].status == 503
        assert not second.is_ready
        second.refresh()
        assert not second.is_ready
        connection.execute("UPDATE event SET body = %s WHERE number = 3", body)
    assert before
    first.close()
    second.close()


def test_a_log_that_does_not_follow_is_not_opened(url: str) -> None:
    engine = Engine(open_store(url))
    engine.run([MAKE, *[DECIDE] * 3])
    with engine.store.transaction(writes=True):
        (body,) = engine.store.execute("SELECT body FROM event WHERE number = 3")[0]
        changed = bytes(body).replace(b"wakeful", b"Wakeful")  # its versions: it can be read, and decides nothing
        assert changed != body
        engine.store.execute("UPDATE event SET body = ? WHERE number = 3", (changed,))
    engine.store.close()
    again = Engine(open_store(url))
    assert not again.is_ready
    assert again.run([DECIDE])[0].status == 503
    again.store.close()


class Locked:
    """Somebody who has locked a bandit."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url)
        self.connection.execute("SELECT 1 FROM bandit WHERE name = 'shop' FOR UPDATE")

    def end_those_who_wait(self) -> int:
        """End the connections that wait for the lock."""
        sql = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted"
        return len(self.connection.execute(sql).fetchall())

    def end(self) -> None:
        """Let others have it."""
        self.connection.close()


async def until(condition: Callable[[], Any]) -> None:
    """Wait until something is so, while the event loop turns."""
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not happen")


def test_what_arrives_while_a_batch_waits_for_its_bandit_comes_along(new_postgres: Callable[[], str]) -> None:
    async def run() -> tuple[list[Any], list[int]]:
        url = new_postgres()
        desk = await Desk.open(url)
        await desk.ask(MAKE)
        await desk.ask(Create("other", NewBandit(arms=ARMS, policy="SIExp3", seed=2)))
        somebody = Locked(url)
        asked = [asyncio.ensure_future(desk.ask(DECIDE))]
        await until(lambda: asked and not desk.waiting and desk._is_busy)
        mine = Decide("shop", NewDecision(id="mine"))
        later: list[Any] = [
            DECIDE,
            Decide("other", NewDecision()),
            DECIDE,
            mine,
            DECIDE,
            Report("shop", "mine", Feedback(loss=1.0)),
        ]
        asked += [asyncio.ensure_future(desk.ask(request)) for request in later]
        await until(lambda: desk.waiting == len(later))
        somebody.end()
        answers = await asyncio.gather(*asked)
        sizes = list(desk.batch_sizes)[2:]
        await desk.close()
        return answers, sizes

    answers, sizes = asyncio.run(run())
    assert [made.id for made, _ in (answers[n] for n in (0, 1, 3, 4, 5))] == ["d2", "d3", "d4", "mine", "d6"]
    assert answers[6].status == "counted"
    assert sizes == [3, 4]


def test_a_connection_that_ends_while_it_waits_is_made_again(new_postgres: Callable[[], str]) -> None:
    async def run() -> tuple[Any, bool, int]:
        url = new_postgres()
        desk = await Desk.open(url)
        await desk.ask(MAKE)
        somebody = Locked(url)
        asked = asyncio.ensure_future(desk.ask(DECIDE))
        await until(somebody.end_those_who_wait)
        with pytest.raises(Refused, match="nothing was changed") as refused:
            await asked
        somebody.end()
        is_new = (await desk.ask(DECIDE))[1]
        head = desk.engine.ledgers["shop"].head
        await desk.close()
        return refused.value.status, is_new, head

    assert asyncio.run(run()) == (503, True, 2)


def test_a_batch_larger_than_the_network_holds_at_once_is_sent(
    new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> tuple[int, int]:
        desk = await Desk.open(new_postgres())
        await desk.ask(Create("shop", NewBandit(arms=[f"{n}" for n in range(200)], policy="Uniform", seed=1)))
        loop = asyncio.get_running_loop()
        add, watched = loop.add_writer, list[int]()

        def counted(descriptor: int, *rest: Any) -> None:
            watched.append(descriptor)
            add(descriptor, *rest)

        monkeypatch.setattr(loop, "add_writer", counted)
        await desk.ask_many([DECIDE] * 1000)
        decisions = desk.engine.ledgers["shop"].decisions
        await desk.close()
        return decisions, len(watched)

    decisions, times = asyncio.run(run())
    assert decisions == 1000
    assert times
