"""Trips to PostgreSQL: what they carry arrives, who waits disturbs nobody; logs that do not follow are refused."""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from wakeful.service import desk as desk_module
from wakeful.service import postgres, postgres_trips, trips
from wakeful.service.batch import Batch
from wakeful.service.desk import Desk
from wakeful.service.engine import FEW_ARMS, Engine
from wakeful.service.messages import Changes, Feedback, NewBandit, NewDecision
from wakeful.service.postgres import PostgresStore
from wakeful.service.refusals import Refused
from wakeful.service.requests import Configure, Create, Decide, Report, Request
from wakeful.service.store import StoreError
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


def test_more_than_a_trip_brings_is_read_in_the_thread(
    new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = postgres_trips.PREPARED[b"wakeful_tails"].replace(f"LIMIT {postgres_trips.MOST_FETCHED}", "LIMIT 3")
    monkeypatch.setitem(postgres_trips.PREPARED, b"wakeful_tails", few)
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
        assert second.run([DECIDE])[0].status == 500
        second.refresh()
        assert "shop" not in second.ledgers
        connection.execute("UPDATE event SET body = %s WHERE number = 3", body)
    assert before
    first.close()
    second.close()


def test_a_log_that_does_not_follow_keeps_nobody_else_from_being_served(url: str) -> None:
    other = Decide("other", NewDecision())
    engine = Engine(open_store(url))
    engine.run([MAKE, Create("other", NewBandit(arms=ARMS, policy="SIExp3", seed=1)), DECIDE, other])
    with engine.store.transaction(writes=True):
        engine.store.execute("UPDATE bandit SET hash = ? WHERE name = 'shop'", (bytes(32),))
    engine.store.close()
    again = Engine(open_store(url))
    for _ in range(2):
        refused, made, more = again.run([DECIDE, other, other])
        assert refused.status == 500
        assert made[1]
        assert more[1]
    assert again.ledgers["other"].decisions == 5
    again.store.close()


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
    assert "shop" not in again.ledgers
    assert again.run([DECIDE])[0].status == 500
    again.store.close()


def test_a_connection_whose_commits_do_not_wait_for_the_disk_is_refused(
    new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_postgres()
    engine = Engine(open_store(url))
    monkeypatch.setattr(postgres, "SETTINGS", "-c synchronous_commit=off")
    with pytest.raises(StoreError, match="synchronous_commit must be on, got 'off'"):
        open_store(url)
    open_store(url, reads_only=True).close()  # which commits nothing
    engine.store._connection.close()  # type: ignore[attr-defined]
    assert engine.run([MAKE])[0].status == 503
    monkeypatch.undo()
    assert engine.run([MAKE])[0][1]
    engine.close()


class Locked:
    """Somebody who has locked a bandit."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url)
        self.connection.execute("SELECT pg_advisory_xact_lock(%s)", (postgres_trips.key_of("shop"),))

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
        with pytest.raises(Refused, match="what has an id counts once") as refused:
            await asked
        somebody.end()
        is_new = (await desk.ask(DECIDE))[1]
        head = desk.engine.ledgers["shop"].head
        await desk.close()
        return refused.value.status, is_new, head

    assert asyncio.run(run()) == (503, True, 2)


def test_a_loop_that_cannot_watch_a_trip_does_not_stop_the_service(
    new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> tuple[int, bool, int]:
        url = new_postgres()
        desk = await Desk.open(url)
        await desk.ask(MAKE)
        somebody = Locked(url)  # so that there is something to wait for
        with monkeypatch.context() as patch:
            patch.setattr(asyncio.get_running_loop(), "add_reader", lambda *_: 1 / 0)
            with pytest.raises(Refused) as refused:
                await desk.ask(DECIDE)
        somebody.end()
        is_new = (await desk.ask(DECIDE))[1]
        decisions = desk.engine.ledgers["shop"].decisions
        await desk.close()
        return refused.value.status, bool(is_new), decisions

    assert asyncio.run(run()) == (503, True, 1)


def test_a_batch_larger_than_the_network_holds_at_once_is_sent(
    new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> tuple[int, int]:
        desk = await Desk.open(new_postgres())
        await desk.ask(Create("shop", NewBandit(arms=[f"{n}" for n in range(200)], policy="Uniform", seed=1)))
        store: Any = desk.engine.store
        with socket.socket(fileno=os.dup(store._watched)) as wire:  # however fast the server reads
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
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


def test_a_trip_is_looked_after_even_if_the_loop_forgets_to_watch_it(
    new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_module, "SECONDS_PER_SWEEP", 0.05)

    async def run() -> bool:
        url = new_postgres()
        desk = await Desk.open(url)
        await desk.ask(MAKE)
        somebody = Locked(url)  # so that there is something to wait for
        monkeypatch.setattr(asyncio.get_running_loop(), "add_reader", lambda *_: None)
        asked = asyncio.ensure_future(desk.ask(DECIDE))
        await asyncio.sleep(0.2)
        somebody.end()
        is_new = (await asked)[1]
        await desk.close()
        return bool(is_new)

    assert asyncio.run(run())


def test_a_store_that_says_nothing_is_given_up(
    new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trips, "LONGEST_TRIP", 0.2)
    monkeypatch.setattr(desk_module, "SECONDS_PER_SWEEP", 0.05)

    async def run() -> tuple[int, bool, int]:
        url = new_postgres()
        desk = await Desk.open(url)
        await desk.ask(MAKE)
        somebody = Locked(url)  # as little comes back as from a machine that stands still
        with pytest.raises(Refused) as refused:
            await asyncio.wait_for(desk.ask(DECIDE), 10)
        somebody.end()
        is_new = (await desk.ask(DECIDE))[1]
        head = desk.engine.ledgers["shop"].head
        await desk.close()
        return refused.value.status, bool(is_new), head

    assert asyncio.run(run()) == (503, True, 2)


def test_a_thread_gives_up_too(new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trips, "LONGEST_TRIP", 0.2)
    url = new_postgres()
    engine = Engine(open_store(url))
    engine.run([MAKE])
    somebody = Locked(url)
    assert engine.run([DECIDE])[0].status == 503  # it would wait until somebody ends
    somebody.end()
    assert engine.run([DECIDE])[0][1]
    engine.close()


def test_a_connection_notices_that_the_other_machine_is_gone(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    stores = [PostgresStore(url), PostgresStore(f"{url}{'&' if '?' in url else '?'}keepalives_idle=77")]
    given = [store._connection.info.get_parameters() for store in stores]
    assert [one["keepalives_idle"] for one in given] == ["10", "77"]
    assert [one["tcp_user_timeout"] for one in given] == ["30000"] * 2
    for store in stores:
        store.close()


def test_a_commit_of_what_has_failed_is_none(new_postgres: Callable[[], str]) -> None:
    store = PostgresStore(new_postgres())
    store.begin(writes=True)
    with pytest.raises(StoreError):
        store.execute("SELECT 1 / 0")
    with pytest.raises(StoreError, match="not committed"):
        store.commit()
    store.close()


def test_bandits_that_take_long_do_not_join_batches_of_others(new_postgres: Callable[[], str]) -> None:
    engine = Engine(open_store(new_postgres()))
    many = NewBandit(arms=[f"{n}" for n in range(FEW_ARMS + 1)], policy="Uniform", seed=1)
    engine.run([MAKE, Create("other", NewBandit(arms=ARMS, policy="Uniform", seed=1)), Create("many", many)])
    engine.run([Decide("other", NewDecision()), Decide("many", NewDecision())])
    locked, batch = list[set[str]](), Batch([DECIDE], [None])

    def join(names: set[str]) -> list[Request]:
        locked.append(names)
        return []

    for trip in engine.exchange(batch, join):
        trip.wait()
    assert engine.conclude(batch)[0][1]
    assert locked == [{"shop", "other"}]
    engine.close()


def test_a_bandit_made_elsewhere_is_loaded_before_it_is_locked(
    new_postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_postgres()
    first, second = Engine(open_store(url)), Engine(open_store(url))
    first.run([MAKE])
    load, found = second.shelf._loaded, list[str]()

    def loaded(row: Any) -> Any:
        found.extend(second.store.execute("SHOW transaction_read_only")[0])
        return load(row)

    monkeypatch.setattr(second.shelf, "_loaded", loaded)
    assert second.run([DECIDE])[0][1]
    assert found == ["on"]  # it may have to compile, and nobody waits for it
    first.close()
    second.close()


def test_a_look_at_the_store_locks_nothing(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    engine = Engine(open_store(url))
    engine.run([MAKE, DECIDE])
    engine.run([DECIDE])
    somebody = Locked(url)
    assert engine.sweep() == 0
    assert engine.is_ready
    somebody.end()
    engine.close()


def test_what_others_append_is_news_and_followed_once_they_are_quiet(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    first = Engine(open_store(url))
    first.run([MAKE])
    second = Engine(open_store(url), snapshot=10)
    second.sweep()
    heads = []
    for times in (3, 3, 0, 12, 0):
        first.run([DECIDE] * times)
        second.sweep()
        heads.append((second.ledgers["shop"].head, second.has_news))
    assert heads == [(1, True), (1, True), (7, False), (19, True), (19, False)]
    first.run([Configure("shop", Changes(wait=60.0))])
    second.sweep()
    second.sweep()
    first.run([DECIDE])
    second.sweep()
    assert second.ledgers["shop"].head == 21  # with a deadline to watch
    first.close()
    second.close()


def test_who_is_far_behind_goes_on_from_a_snapshot_of_others(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    first = Engine(open_store(url), snapshot=10)
    first.run([MAKE])
    second = Engine(open_store(url), snapshot=10)
    for _ in range(3):
        first.run([DECIDE] * 7)
    second.sweep()
    with first.store.transaction(writes=False):
        (number,) = first.store.execute("SELECT MAX(number) FROM snapshot")[0]
    assert 1 < second.ledgers["shop"].head == number < first.ledgers["shop"].head
    assert second.run([DECIDE])[0][1]
    first.refresh()
    assert first.ledgers["shop"].to_bytes() == second.ledgers["shop"].to_bytes()
    first.close()
    second.close()


def test_events_that_were_moved_to_an_archive_before_they_were_followed_are_not_missed(
    new_postgres: Callable[[], str],
) -> None:
    url = new_postgres()
    first = Engine(open_store(url))
    first.run([MAKE])
    second = Engine(open_store(url))
    first.run([DECIDE] * 5)
    with first.store.transaction(writes=True):  # as compaction does
        row = first.store.lock(["shop"])["shop"]
        first.shelf.store.keep_snapshot(row.id, row.head, row.hash, first.ledgers["shop"].to_bytes())
        first.store.execute("UPDATE bandit SET first = ? WHERE id = ?", (row.head + 1, row.id))
        first.store.execute("DELETE FROM event WHERE bandit = ?", (row.id,))
    assert second.run([DECIDE])[0][0].id == "d7"
    assert second.is_ready
    first.close()
    second.close()
