"""What the service promises, on every store: counted once, answered after the commit, and folded from the log."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from service_logs import fill, number_of, rewrite
from wakeful.service import bandit_rules, decision_rules, shelf
from wakeful.service.engine import Engine
from wakeful.service.events import Decided
from wakeful.service.folding import fold
from wakeful.service.messages import Changes, Feedback, NewBandit, NewDecision, NewRecord
from wakeful.service.refusals import Refused
from wakeful.service.requests import (
    AddArm,
    Configure,
    Create,
    Decide,
    Delete,
    Look,
    LookAll,
    Record,
    Report,
    RetireArm,
)
from wakeful.service.store import StoreError
from wakeful.service.stores import open_store

ARMS = ["tea", "coffee", "juice"]
DECIDE = Decide("shop", NewDecision())


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def serving(url: str, **options: Any) -> Iterator[Engine]:
    """Yield an engine with a shop and an arena."""
    engine = Engine(open_store(url), **options)
    made = engine.run([
        Create("shop", NewBandit(arms=ARMS, policy="SIExp3", seed=7)),
        Create("arena", NewBandit(arms=ARMS, kind="dueling", policy="UniformPairs", seed=7)),
    ])  # fmt: skip
    assert all(new for _, new in made)
    yield engine
    engine.close()


def states(engine: Engine) -> dict[str, bytes]:
    """Return every ledger as bytes."""
    return {name: ledger.to_bytes() for name, ledger in engine.ledgers.items()}


def folded(engine: Engine) -> dict[str, bytes]:
    """Return every ledger, folded anew from the first event on."""
    with engine.store.transaction(writes=False):
        return {row.name: fold(None, engine.store, row).to_bytes() for row in engine.store.rows()}


def play(engine: Engine, seed: int, batches: int) -> None:
    """Decide and report at random, with arms that come and go, feedback late, reordered and missing."""
    rng = random.Random(seed)
    open_ones: list[tuple[str, str]] = []
    for n in range(batches):
        asked: list[Any] = [Decide("shop", NewDecision(id=f"{seed}-{n}" if n % 3 == 0 else None))]
        asked += [Decide("shop", NewDecision(awake=rng.sample(ARMS, 2))), Decide("arena", NewDecision(distinct=True))]
        asked += [Look("shop", lambda ledger, _: ledger.head)]
        answers = engine.run(asked)
        open_ones += [("shop", answers[0][0].id), ("shop", answers[1][0].id), ("arena", answers[2][0].id)]
        rng.shuffle(open_ones)
        reported = [open_ones.pop() for _ in range(rng.randrange(len(open_ones)))]
        engine.run([Report(name, id, _feedback(name, rng)) for name, id in reported])
        if n == batches // 2:
            engine.run([AddArm("shop", f"water {seed}"), RetireArm("arena", "tea"), AddArm("arena", "tea")])


def _feedback(name: str, rng: random.Random) -> Feedback:
    if name == "shop":
        return Feedback(loss=rng.random())
    return Feedback(winner=rng.choice(["left", "right", "tie"]))


def test_state_after_a_restart_and_state_folded_from_the_log_are_the_live_state(url: str) -> None:
    with serving(url, snapshot=40) as engine:
        play(engine, 1, 30)
        engine.run([
            Record("shop", [NewRecord(arm="tea", awake=["tea", "juice"], probability=0.5, loss=0.25)]),
            Record("arena", [NewRecord(left="tea", right="juice", winner="tie")]),
        ])  # fmt: skip
        live = states(engine)
        assert folded(engine) == live
        with engine.store.transaction(writes=False):
            assert engine.store.execute("SELECT 1 FROM snapshot")
    again = Engine(open_store(url))
    assert states(again) == live
    again.close()


def test_the_same_decision_id_gives_the_same_decision(url: str) -> None:
    with serving(url) as engine:
        asked = Decide("shop", NewDecision(awake=["tea", "juice"], id="mine"))
        (first, new), (again, new_again) = engine.run([asked, asked])
        assert (new, new_again) == (True, False)
        assert first == again == engine.run([asked])[0][0]
        other = engine.run([Decide("shop", NewDecision(awake=["tea", "coffee"], id="mine"))])[0]
        assert isinstance(other, Refused)
        assert other.status == 409
        assert engine.ledgers["shop"].decisions == 1


def test_an_id_of_the_services_own_form_is_refused(url: str) -> None:
    with serving(url) as engine:
        refused = engine.run([Decide("shop", NewDecision(id="d12"))])[0]
        assert (refused.status, refused.field) == (422, "id")


def test_an_id_that_no_decision_can_have_is_unknown_and_others_are_served(url: str) -> None:
    with serving(url) as engine:
        decided, refused = engine.run([Decide("shop", NewDecision()), Report("shop", "a\0b", Feedback(loss=0.5))])
        assert decided[1]
        assert refused.status == 404
        assert engine.is_ready


def test_feedback_is_counted_once(url: str) -> None:
    with serving(url) as engine:
        id = engine.run([Decide("shop", NewDecision())])[0][0].id
        answers = engine.run([Report("shop", id, Feedback(loss=0.25)), Report("shop", id, Feedback(reward=0.75))])
        assert [answer.status for answer in answers] == ["counted", "known"]
        assert engine.run([Report("shop", id, Feedback(loss=0.25))])[0].status == "known"
        assert engine.run([Report("shop", id, Feedback(loss=0.5))])[0].status == 409
        assert engine.run([Report("shop", "d999", Feedback(loss=0.5))])[0].status == 404
        assert engine.run([Report("shop", "d1", Feedback(loss=0.5))])[0].status == 404  # an event, but no decision
        assert engine.ledgers["shop"].feedback == 1
        assert engine.ledgers["shop"].bandit.report().arms[0].feedback <= 1


@pytest.mark.parametrize("feedback", [Feedback(), Feedback(loss=0.1, reward=0.9), Feedback(winner="left")])
def test_feedback_that_does_not_fit_a_decision_is_refused(url: str, feedback: Feedback) -> None:
    with serving(url) as engine:
        id = engine.run([Decide("shop", NewDecision())])[0][0].id
        before = states(engine)
        assert engine.run([Report("shop", id, feedback)])[0].status == 422
        assert states(engine) == before


@pytest.mark.parametrize("feedback", [Feedback(), Feedback(loss=0.1), Feedback(winner="nobody")])
def test_feedback_that_does_not_fit_a_duel_is_refused(url: str, feedback: Feedback) -> None:
    with serving(url) as engine:
        id = engine.run([Decide("arena", NewDecision(distinct=True))])[0][0].id
        before = states(engine)
        assert engine.run([Report("arena", id, feedback)])[0].status == 422
        assert states(engine) == before


def test_a_winner_is_a_side_or_a_name(url: str) -> None:
    with serving(url) as engine:
        duel = engine.run([Decide("arena", NewDecision(distinct=True))])[0][0]
        answers = engine.run([Report("arena", duel.id, Feedback(winner=name)) for name in (duel.left, "left")])
        assert [answer.status for answer in answers] == ["counted", "known"]
        wins = engine.ledgers["arena"].bandit.win_matrix()
        assert wins[ARMS.index(duel.left), ARMS.index(duel.right)] == wins.sum() == 1.0


def test_no_feedback_in_time_is_an_event_and_what_comes_later_is_not_learned(url: str) -> None:
    clock = Clock()
    with serving(url, clock=clock) as engine:
        engine.run([Configure("shop", Changes(wait=10.0, default_loss=1.0)), Configure("arena", Changes(wait=10.0))])
        ids = [(name, engine.run([Decide(name, NewDecision())])[0][0].id) for name in ("shop", "arena", "shop")]
        clock.now += 10.0
        assert engine.sweep() == 0
        assert engine.run([Report(*ids[2], Feedback(loss=0.5))])[0].status == "counted"
        clock.now += 1.0
        assert engine.sweep() == 2
        assert engine.sweep() == 0
        after = states(engine)
        late = engine.run([Report(*ids[0], Feedback(loss=0.0)), Report(*ids[1], Feedback(winner="left"))])
        assert [answer.status for answer in late] == ["late", "late"]
        assert engine.run([Report(*ids[0], Feedback(loss=0.0))])[0].status == "late"
        shop, arena = engine.ledgers["shop"], engine.ledgers["arena"]
        assert (shop.expired, shop.late, shop.pending, shop.feedback) == (1, 1, 0, 1)
        assert shop.bandit.report().loss == 0.75  # 1 for want of feedback, and the 0.5 that came
        assert arena.bandit.win_matrix().sum() == 0.0
        assert folded(engine) == states(engine) != after


def test_feedback_after_the_deadline_is_late_even_before_anybody_swept(url: str) -> None:
    clock = Clock()
    with serving(url, clock=clock) as engine:
        engine.run([Configure("shop", Changes(wait=10.0, default_loss=1.0))])
        id = engine.run([Decide("shop", NewDecision())])[0][0].id
        clock.now += 11.0
        assert engine.run([Report("shop", id, Feedback(loss=0.0))])[0].status == "late"
        assert engine.ledgers["shop"].bandit.report().loss == 1.0


def test_a_clock_that_jumps_back_changes_no_order(url: str) -> None:
    clock = Clock()
    with serving(url, clock=clock) as engine:
        engine.run([Configure("shop", Changes(wait=10.0))])
        ids = [engine.run([Decide("shop", NewDecision())])[0][0].id]
        clock.now -= 3600.0
        ids.append(engine.run([Decide("shop", NewDecision())])[0][0].id)
        assert [engine.run([Report("shop", id, Feedback(loss=0.5))])[0].status for id in ids] == ["counted"] * 2
        times = engine.run([Look("shop", lambda _, reader: [event.time for _, event in reader.events(0, 100)])])[0]
        assert times == sorted(times)


def test_the_same_bandit_again_is_known_and_another_is_a_conflict(url: str) -> None:
    with serving(url) as engine:
        same = Create("shop", NewBandit(arms=ARMS, policy="SIExp3", seed=7))
        state, new = engine.run([same])[0]
        assert (state.name, new) == ("shop", False)
        other = engine.run([Create("shop", NewBandit(arms=[*ARMS, "milk"], policy="SIExp3"))])[0]
        assert other.status == 409


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (NewBandit(arms=["a", "a"]), "arms"),
        (NewBandit(arms=["a"], policy="Sparring"), "policy"),
        (NewBandit(arms=["a"], policy="SIExpp3"), "policy"),
        (NewBandit(arms=["a"], policy="SIExp3", kind="dueling"), "policy"),
        (NewBandit(arms=["a"], policy="SIExp3", parameters={"etta": 1}), "parameters"),
        (NewBandit(arms=["a"], policy="SIExp3", parameters={"eta": -1.0}), "eta"),
        (NewBandit(arms=["a", "b"], kind="dueling", default_loss=0.5), "default_loss"),
    ],
)
def test_a_bandit_that_cannot_be_made_leaves_nothing_behind(url: str, body: NewBandit, field: str) -> None:
    with serving(url) as engine:
        refused = engine.run([Create("new", body)])[0]
        assert isinstance(refused, Refused)
        assert (refused.code, refused.field) == ("invalid", field), refused
        with engine.store.transaction(writes=False):
            assert not engine.store.execute("SELECT 1 FROM bandit WHERE name = 'new'")


def test_a_policy_of_the_other_kind_is_refused_by_name(url: str) -> None:
    with serving(url) as engine:
        refused = engine.run([Create("new", NewBandit(arms=["a"], policy="StablePair"))])[0]
        assert refused.message == "policy must be one for bandits where kind is 'bandit', got 'StablePair'"


def test_records_of_others_are_learned_all_or_none(url: str) -> None:
    with serving(url) as engine:
        before = states(engine)
        good = NewRecord(arm="tea", awake=["tea", "juice"], probability=0.5, loss=0.25)
        bad = NewRecord(arm="tea", awake=["coffee", "juice"], probability=0.5, loss=0.25)
        assert engine.run([Record("shop", [good, bad])])[0].status == 422
        assert states(engine) == before
        assert engine.run([Record("shop", [good, good])])[0].records == 2


def test_a_bandit_is_deleted_by_who_has_read_its_log(url: str) -> None:
    with serving(url) as engine:
        assert engine.run([Delete("shop", 0)])[0].status == 409
        assert engine.run([Delete("shop", 1)])[0] is None
        assert engine.run([Delete("shop", 1)])[0].status == 404
        assert engine.run([LookAll(lambda ledgers: [ledger.name for ledger in ledgers])])[0] == ["arena"]
        assert engine.run([Create("shop", NewBandit(arms=["x", "y"]))])[0][1]


def test_a_store_that_fails_loses_nothing_and_counts_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(url) as engine:
        id = engine.run([Decide("shop", NewDecision())])[0][0].id
        before = states(engine)

        def full(*_: Any) -> None:
            raise StoreError("database or disk is full")

        with monkeypatch.context() as patch:
            for name in ("append", "push"):
                patch.setattr(engine.store, name, full)
            answers = engine.run([Report("shop", id, Feedback(loss=0.5)), Decide("shop", NewDecision())])
        assert [answer.status for answer in answers] == [503, 503]
        assert not engine.is_ready
        engine.refresh()
        assert engine.is_ready
        assert states(engine) == before
        assert engine.run([Report("shop", id, Feedback(loss=0.5))])[0].status == "counted"


def test_one_request_that_breaks_does_not_break_others(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(url) as engine:
        propose: Callable[..., Any] = type(engine.ledgers["shop"].bandit).propose

        def broken(bandit: Any, awake: Any, *rest: Any) -> Any:
            if awake == ["juice"]:
                raise RuntimeError("broken")
            return propose(bandit, awake, *rest)

        monkeypatch.setattr(type(engine.ledgers["shop"].bandit), "propose", broken)
        sets = [["tea"], ["juice"], ["coffee"]]
        answers = engine.run([Decide("shop", NewDecision(awake=awake)) for awake in sets])
        assert [isinstance(answer, RuntimeError) for answer in answers] == [False, True, False]
        assert engine.ledgers["shop"].decisions == 2
        assert folded(engine) == states(engine)


def test_two_engines_on_one_postgresql_end_equal(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    with serving(url) as first:
        second = Engine(open_store(url))
        threads = [threading.Thread(target=play, args=(engine, n, 25)) for n, engine in enumerate((first, second))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        first.refresh()
        second.refresh()
        assert states(first) == states(second) == folded(first)
        assert first.ledgers["shop"].decisions == 100
        second.close()


def test_only_one_process_writes_to_a_file(tmp_path: Any) -> None:
    url = str(tmp_path / "wakeful.db")
    with serving(url) as engine:
        with pytest.raises(StoreError, match="open in another process"):
            open_store(url)
        reader = open_store(url, reads_only=True)
        assert [row.name for row in reader.rows()] == ["arena", "shop"]
        reader.close()
        assert engine.run([Decide("shop", NewDecision())])[0][1]


def test_another_name_of_a_file_is_the_same_file(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.symlink_to(tmp_path / "wakeful.db")
    with serving(str(tmp_path / "wakeful.db")), pytest.raises(StoreError, match="open in another process"):
        open_store(str(other))


def test_a_bandit_deleted_and_made_again_in_one_batch_begins_anew(url: str) -> None:
    with serving(url) as engine:
        engine.run([Decide("shop", NewDecision(id="mine"))])
        make = Create("shop", NewBandit(arms=["x", "y"], policy="SIExp3"))
        asked: list[Any] = [
            Delete("shop", 2),
            make,
            Decide("shop", NewDecision(id="mine")),
            Report("shop", "d2", Feedback(loss=1)),
        ]
        deleted, (_, new), (made, is_new_too), counted = engine.run(asked)
        assert (deleted, new, is_new_too, counted.status) == (None, True, True, "counted")
        assert made.arm in {"x", "y"}
        assert folded(engine) == states(engine)
        engine.run([Delete("shop", 3)])
        assert "shop" not in engine.shelf.saved  # a later bandit of this name gets snapshots of its own
        with engine.store.transaction(writes=False):
            stray = "SELECT 1 FROM event WHERE bandit NOT IN (SELECT id FROM bandit)"
            assert not engine.store.execute(stray)


def test_time_that_passes_within_a_batch_does_not_disturb_the_sweep(url: str) -> None:
    clock = Clock()

    def passing() -> float:
        clock.now += 0.4
        return clock.now

    with serving(url, clock=passing) as engine:
        engine.run([Configure("shop", Changes(wait=1.0))])
        engine.run([Decide("shop", NewDecision()) for _ in range(3)])
        for _ in range(6):
            engine.run([Decide("shop", NewDecision())])
            engine.sweep()
        assert engine.ledgers["shop"].expired > 3
        clock.now -= 3600.0
        assert isinstance(engine.sweep(), int)


def test_decisions_that_may_wait_long_do_not_keep_others_waiting(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_rules, "MOST_EXPIRED", 4)
    clock = Clock()
    with serving(url, clock=clock) as engine:
        engine.run([Configure("shop", Changes(wait=1e6)), *[Decide("shop", NewDecision())] * 6])
        engine.run([Configure("shop", Changes(wait=1.0)), *[Decide("shop", NewDecision())] * 6])
        clock.now += 2.0
        assert [engine.sweep() for _ in range(3)] == [4, 2, 0]


def test_a_reward_is_the_same_feedback_as_its_loss(url: str) -> None:
    with serving(url) as engine:
        id = engine.run([Decide("shop", NewDecision())])[0][0].id
        both = engine.run([Report("shop", id, Feedback(loss=0.3)), Report("shop", id, Feedback(reward=0.7))])
        assert [answer.status for answer in both] == ["counted", "known"]


def test_an_id_of_a_duel_with_other_arms_is_a_conflict(url: str) -> None:
    with serving(url) as engine:
        first = Decide("arena", NewDecision(awake=["tea", "coffee"], id="mine"))
        assert engine.run([first, first])[1][1] is False
        other = engine.run([Decide("arena", NewDecision(awake=["tea", "juice"], id="mine"))])[0]
        assert other.status == 409


@pytest.mark.parametrize(
    ("field", "value"),
    [("distinct", True), ("within", True), ("group", "g"), ("groups", {}), ("pairs", [("tea", "juice")])],
)
def test_what_is_for_duels_alone_is_refused_elsewhere_as_it_was_given(tmp_path: Path, field: str, value: Any) -> None:
    with serving(str(tmp_path / "wakeful.db")) as engine:
        (refused,) = engine.run([Decide("shop", NewDecision(**{field: value}))])
    assert refused.message == f"{field} must be left out for a bandit that is not dueling, got {value!r}"
    assert refused.field == field


def test_there_is_a_most_of_arms(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandit_rules, "MOST_SERVED_ARMS", 4)
    with serving(url) as engine:
        assert engine.run([AddArm("shop", "milk")])[0][1]
        assert engine.run([AddArm("shop", "beer")])[0].status == 422


def test_a_bandit_that_another_process_deleted_can_be_made_again(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    with serving(url) as first:
        second = Engine(open_store(url))
        assert first.run([Delete("shop", 1)])[0] is None
        assert second.run([Create("shop", NewBandit(arms=["x"], policy="SIExp3"))])[0][1]
        second.close()


@pytest.fixture
def damaged(url: str) -> str:
    """Return a store with a shop whose fourth event was changed, and an arena that is sound."""
    with serving(url) as engine:
        play(engine, 1, 3)
    store = open_store(url)
    shop = next(row for row in store.rows() if row.name == "shop")
    store.execute("UPDATE event SET hash = ? WHERE bandit = ? AND number = 4", (shop.hash, shop.id))
    store.execute("DELETE FROM snapshot")
    store.close()
    return url


def test_one_damaged_log_is_named_and_others_are_served(damaged: str, caplog: pytest.LogCaptureFixture) -> None:
    engine = Engine(open_store(damaged))
    assert "bandit 'shop' is not served: event 4 of 'shop' is wrong" in caplog.text
    for requests in ([DECIDE], [Look("shop", lambda ledger, _: ledger.head)]):
        (refused,) = engine.run(requests)
        assert (refused.status, refused.message.split(":")[0]) == (500, "the log of this bandit is damaged")
    assert engine.run([LookAll(lambda ledgers: [ledger.name for ledger in ledgers])]) == [["arena"]]
    assert engine.run([DECIDE, Decide("arena", NewDecision())])[1][1]
    assert engine.sweep() == 0
    assert engine.is_ready
    engine.close()


def test_a_log_that_cannot_be_folded_fails_nobody_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    store = open_store(url)
    first = number_of(store, "shop", Decided)
    rewrite(store, "shop", lambda events: events.update({first: replace(events[first], arm=99)}))
    store.close()
    again = Engine(open_store(url))
    assert "bandit 'shop' is not served: " in caplog.text
    assert again.run([DECIDE])[0].status == 500
    assert again.run([Decide("arena", NewDecision())])[0][1]
    again.close()


def test_a_damaged_log_is_read_once(damaged: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, read = Engine(open_store(damaged)), []
    monkeypatch.setattr(shelf, "fold", lambda *given: read.append(given))
    engine.run([DECIDE])
    engine.run([LookAll(len)])
    engine.sweep()
    assert read == []
    engine.close()
