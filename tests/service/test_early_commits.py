"""A batch is visible to other processes before it is on disk, and answered afterwards; a crash undoes it everywhere."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from wakeful.service.batch import Batch
from wakeful.service.engine import Engine
from wakeful.service.messages import NewBandit, NewDecision
from wakeful.service.requests import AddArm, Create, Decide, Look, Request
from wakeful.service.stores import open_store

ARMS = ["tea", "juice", "milk"]
MAKE = Create("shop", NewBandit(arms=ARMS, policy="SIExp3", seed=1))
DECIDE = Decide("shop", NewDecision())
MINE = Decide("shop", NewDecision(id="mine"))
SOON = 0.2  # seconds, in which an answer that does not wait for the disk would have come


@contextmanager
def engines(url: str, number: int) -> Iterator[list[Engine]]:
    """Yield engines of one store, closed at the end."""
    made = [Engine(open_store(url)) for _ in range(number)]
    try:
        yield made
    finally:
        for engine in made:
            engine.store.close()


@pytest.fixture
def slow_disk(own_postgres: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield a server whose commits wait for a copy that there is not, as for a disk, until a function is called."""
    url = own_postgres.get_uri()
    with engines(url, 1) as (engine,):
        engine.run([MAKE])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    os.kill(own_postgres.get_pid(), signal.SIGINT)
    own_postgres.get_postmaster_info().process.wait(60)
    own_postgres.ensure_postgres_running()

    def write() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
            connection.execute("SELECT pg_reload_conf()")

    yield url, write
    write()


def pushed(engine: Engine, requests: list[Request]) -> tuple[Batch, Iterator[Any], Any]:
    """Return a batch whose commit is under way, the trips that are left of it, and that of the commit."""
    batch = Batch(list(requests), [None] * len(requests))
    trips = engine.exchange(batch)
    next(trips).wait()
    return batch, trips, next(trips)


def test_others_go_on_while_the_disk_writes_and_nobody_is_answered_before(slow_disk: Any) -> None:
    url, write = slow_disk
    with engines(url, 3) as (first, second, third), ThreadPoolExecutor(1) as thread:
        under_way = [pushed(first, [DECIDE, MINE]), pushed(second, [DECIDE]), pushed(third, [MINE])]
        time.sleep(SOON)
        assert [trip.advance() for _, _, trip in under_way] == [False] * 3
        with engines(url, 1) as (fourth,):
            looked = thread.submit(fourth.run, [Look("shop", lambda ledger, _: ledger.decisions)])
            time.sleep(SOON)
            assert not looked.done()
            write()
            assert looked.result(60) == [3]
        answers = []
        for engine, (batch, trips, trip) in zip((first, second, third), under_way, strict=True):
            trip.wait()
            assert list(trips) == []
            answers.append(engine.conclude(batch))
        assert [made.id for made, _ in [*answers[0], *answers[1], *answers[2]]] == ["d2", "mine", "d4", "mine"]
        assert [is_new for _, is_new in [*answers[0], *answers[1], *answers[2]]] == [True, True, True, False]
        states = set()
        for engine in (first, second, third):
            engine.refresh()
            states.add(engine.ledgers["shop"].to_bytes())
        assert len(states) == 1


def test_what_was_answered_before_is_answered_again_when_it_is_on_disk(slow_disk: Any) -> None:
    url, write = slow_disk
    with engines(url, 2) as (first, second), ThreadPoolExecutor(1) as thread:
        pushed(first, [MINE])
        again = thread.submit(second.run, [MINE, AddArm("shop", "tea")])  # no usual batch, and nothing to write
        time.sleep(SOON)
        assert not again.done()
        write()
        assert [is_new for _, is_new in again.result(60)] == [False, False]


def test_what_a_crash_of_the_store_has_undone_is_undone_in_every_process(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    with engines(url, 2) as (first, second):
        first.run([MAKE])
        first.run([DECIDE] * 3)
        second.refresh()
        with psycopg.connect(url, autocommit=True) as connection:  # as if the last two had not been on disk
            connection.execute("DELETE FROM event WHERE number > 2")
            connection.execute("UPDATE bandit SET head = 2, hash = (SELECT hash FROM event WHERE number = 2)")
            sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
            connection.execute(sql + " AND pid <> pg_backend_pid()")
        other = Decide("shop", NewDecision(awake=["tea", "milk"]))
        for engine in (first, second):
            engine.refresh()
            assert not engine.is_ready
        assert [made.id for made, _ in first.run([other] * 4)] == ["d3", "d4", "d5", "d6"]
        assert second.run([DECIDE])[0][0].id == "d7"
        second.close()  # writes a snapshot
        with engines(url, 1) as (third,):
            assert third.ledgers["shop"].to_bytes() == second.ledgers["shop"].to_bytes()
        first.refresh()
        assert first.ledgers["shop"].to_bytes() == second.ledgers["shop"].to_bytes()


def test_no_snapshot_is_written_of_what_may_not_have_happened(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    with engines(url, 1) as (engine,):
        engine.run([MAKE, DECIDE])
        ledger = engine.ledgers["shop"]
        engine.store._connection.close()  # type: ignore[attr-defined]
        engine.shelf.keep_snapshot("shop", ledger)
        with engine.store.transaction(writes=False):
            assert engine.store.execute("SELECT COUNT(*) FROM snapshot") == [(0,)]
        assert "shop" not in engine.shelf.saved
