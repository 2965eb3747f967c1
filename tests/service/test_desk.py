"""The desk: requests together in one commit, refusals when too many wait, slow disks in a thread."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from wakeful.service import desk as desk_module
from wakeful.service.bandit_rules import compile_records
from wakeful.service.desk import Desk
from wakeful.service.engine import Engine
from wakeful.service.messages import Changes, Feedback, NewBandit, NewDecision, NewRecord
from wakeful.service.refusals import Refused
from wakeful.service.requests import Configure, Create, Decide, Look, Record, Report
from wakeful.service.stores import open_store

MAKE = Create("shop", NewBandit(arms=["tea", "juice"], policy="Uniform", seed=1))


def test_requests_that_arrive_together_share_a_commit(url: str) -> None:
    async def run() -> tuple[list[Any], list[int]]:
        desk = await Desk.open(url)
        await desk.ask(MAKE)
        asked = [desk.ask(Decide("shop", NewDecision(id=f"{n}"))) for n in range(50)]
        answers = await asyncio.gather(*asked)
        await asyncio.gather(*[desk.ask(Report("shop", f"{n}", Feedback(loss=0.5))) for n in range(50)])
        head = await desk.ask(Look("shop", lambda ledger, _: ledger.head))
        await desk.close()
        return [answers, head], list(desk.batch_sizes)

    (answers, head), sizes = asyncio.run(run())
    assert sorted(made.id for made, new in answers if new) == sorted(map(str, range(50)))
    assert head == 101
    assert sum(sizes) == 101
    assert len(sizes) < 20


def test_too_many_requests_are_refused_and_the_others_answered(tmp_path: Path) -> None:
    async def run() -> list[Any]:
        desk = await Desk.open(str(tmp_path / "wakeful.db"), most_waiting=10)
        await desk.ask(MAKE)
        asked = [desk.ask(Decide("shop", NewDecision())) for _ in range(30)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        await desk.close()
        with pytest.raises(Refused, match="stopping"):
            await desk.ask(Decide("shop", NewDecision()))
        return answers

    answers = asyncio.run(run())
    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert len(refused) == 20
    assert all(answer.status == 503 for answer in refused)
    assert all(answer[1] for answer in answers if not isinstance(answer, Exception))


def test_a_slow_disk_does_not_keep_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> tuple[int, set[str]]:
        desk = Desk(Engine(open_store(str(tmp_path / "wakeful.db"))))
        await desk.ask(MAKE)
        commit, threads = desk.engine.store.commit, set()

        def slow() -> None:
            threads.add(threading.current_thread().name)
            time.sleep(0.05)
            commit()

        monkeypatch.setattr(desk.engine.store, "commit", slow)
        await desk.ask(Decide("shop", NewDecision()))  # now the desk knows
        threads.clear()
        asked = asyncio.ensure_future(desk.ask(Decide("shop", NewDecision())))
        turns = 0
        while not asked.done():
            await asyncio.sleep(0.001)
            turns += bool(threads)
        await desk.close()
        return turns, threads

    turns, threads = asyncio.run(run())
    assert threads == {"wakeful-store_0"}
    assert turns > 1, "the loop stood still while the disk was written"


def test_what_has_waited_too_long_is_recorded_without_anybody_asking(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk_module, "SECONDS_PER_SWEEP", 0.05)

    async def run() -> int:
        desk = await Desk.open(url)
        await desk.ask(MAKE)
        await desk.ask(Configure("shop", Changes(wait=0.01, default_loss=1.0)))
        await desk.ask(Decide("shop", NewDecision()))
        for _ in range(400):
            await asyncio.sleep(0.05)
            if (expired := await desk.ask(Look("shop", lambda ledger, _: ledger.expired))) == 1:
                break
        await desk.close()
        return int(expired)

    assert asyncio.run(run()) == 1


def test_one_who_went_away_does_not_disturb_the_others(tmp_path: Path) -> None:
    async def run() -> int:
        desk = await Desk.open(str(tmp_path / "wakeful.db"))
        await desk.ask(MAKE)
        gone = asyncio.ensure_future(desk.ask(Decide("shop", NewDecision())))
        other = asyncio.ensure_future(desk.ask(Decide("shop", NewDecision())))
        await asyncio.sleep(0)
        gone.cancel()
        await other
        decisions = await desk.ask(Look("shop", lambda ledger, _: ledger.decisions))
        await desk.close()
        return int(decisions)

    assert asyncio.run(run()) == 2


def test_records_of_others_are_compiled_for_before_anybody_waits(tmp_path: Path) -> None:
    async def run() -> int:
        desk = await Desk.open(str(tmp_path / "wakeful.db"))
        await desk.ask(MAKE)
        recorded = await desk.ask(Record("shop", [NewRecord(arm="tea", awake=["tea"], probability=1.0, loss=0.5)]))
        await desk.close()
        return int(recorded.records)

    compile_records.cache_clear()  # other tests may have compiled for the same policy
    assert asyncio.run(run()) == 1
    assert compile_records.cache_info().misses == 1


def test_of_a_batch_that_finds_no_room_nothing_is_carried_out(tmp_path: Path) -> None:
    async def run() -> tuple[int, int]:
        desk = await Desk.open(str(tmp_path / "wakeful.db"), most_waiting=5)
        await desk.ask(MAKE)
        many = [Decide("shop", NewDecision()) for _ in range(8)]
        alone = await desk.ask_many(many)  # nobody else waits: it is carried out
        first = asyncio.ensure_future(desk.ask(Decide("shop", NewDecision())))
        await asyncio.sleep(0)
        with pytest.raises(Refused, match="waiting already"):
            await desk.ask_many(many)
        await first
        decisions = await desk.ask(Look("shop", lambda ledger, _: ledger.decisions))
        await desk.close()
        return len(alone), int(decisions)

    assert asyncio.run(run()) == (8, 9)


def test_a_batch_that_fails_in_an_unforeseen_way_does_not_stop_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> bool:
        desk = await Desk.open(str(tmp_path / "wakeful.db"))
        await desk.ask(MAKE)
        with monkeypatch.context() as patch:
            patch.setattr(desk.engine, "begin", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                await desk.ask(Decide("shop", NewDecision()))
        is_new = (await desk.ask(Decide("shop", NewDecision())))[1]
        await desk.close()
        return bool(is_new)

    assert asyncio.run(run())


class Careless:
    """Somebody who fails when the answer comes."""

    @staticmethod
    def done() -> bool:
        return False

    @staticmethod
    def set_result(result: Any) -> None:
        raise ZeroDivisionError(result)


def test_one_who_fails_when_the_answer_comes_does_not_disturb_the_others(url: str) -> None:
    async def run() -> tuple[int, int]:
        desk = await Desk.open(url)
        await desk.ask(MAKE)
        desk.hand_in(Decide("shop", NewDecision()), Careless())
        together = asyncio.ensure_future(desk.ask(Decide("shop", NewDecision())))
        await asyncio.wait_for(together, 20)
        await asyncio.wait_for(desk.ask(Decide("shop", NewDecision())), 20)
        decisions = await desk.ask(Look("shop", lambda ledger, _: ledger.decisions))
        await desk.close()
        return int(decisions), sum(desk.batch_sizes)

    assert asyncio.run(run()) == (3, 4)
