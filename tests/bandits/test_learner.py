"""What bandits and dueling bandits share: records and bytes, copies, threads and forks."""

import copy
import json
import os
import pickle
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import wakeful as wk
from wakeful.bandits.learner import copied
from wakeful.duels.kernels import DuelKernels
from wakeful.duels.win_counts import pair_learn

NAMES = ["a", "b", "c", "d"]
Learner = wk.Bandit | wk.DuelingBandit


def a_bandit() -> wk.Bandit:
    """One that has learned something, whose arms came and went."""
    bandit = wk.Bandit(wk.PerSet(wk.SIExp3(), max_sets=3), NAMES, seed=1)
    for n in range(30):
        bandit.update(bandit.choose(NAMES[n % 3 :]), loss=n % 5 / 4)
    bandit.add_arm("e")
    bandit.retire_arm("b")
    return bandit


def an_arena() -> wk.DuelingBandit:
    """One that has learned something, also of battles."""
    arena = wk.DuelingBandit(wk.Sparring(wk.SIExp3()), NAMES, seed=1)
    for n in range(30):
        arena.update(arena.choose(distinct=True), winner=("left", "right")[n % 2])
    arena.choose(size=3)
    arena.add_arm("e")
    arena.retire_arm("b")
    return arena


def future(learner: Learner) -> list[Any]:
    """What it does next, and what it is then."""
    arms: list[Any] = []
    for _ in range(20):
        if isinstance(learner, wk.Bandit):
            decision = learner.choose()
            learner.update(decision, loss=0.25)
            arms.append(decision.arm)
        else:
            duel = learner.choose(distinct=True)
            learner.update(duel, winner="left")
            arms.append(duel.arms)
    return [arms, learner.arms, learner.retired, learner.rounds, [a.tobytes() for a in learner.state]]


CARRIERS: dict[str, Callable[[Any], Any]] = {
    "record": lambda one: type(one).from_record(one.to_record()),
    "JSON": lambda one: type(one).from_record(json.loads(json.dumps(one.to_record(), default=np.ndarray.tolist))),
    "bytes": lambda one: type(one).from_bytes(one.to_bytes()),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
}


@pytest.mark.parametrize("carry", CARRIERS.values(), ids=CARRIERS)
@pytest.mark.parametrize("make", [a_bandit, an_arena])
def test_what_comes_back_goes_on_the_same_way_and_shares_nothing(
    make: Callable[[], Learner], carry: Callable[[Any], Any]
) -> None:
    one, other = make(), make()
    back = carry(one)
    assert type(back) is type(one)
    for mine, theirs in zip(one.state, back.state, strict=True):
        assert not np.shares_memory(mine, theirs)
    expected = future(other)
    assert future(back) == expected
    assert future(one) == expected, "what the copy did must not be seen here"
    one.add_arm("new")
    assert "new" not in back.arms


@pytest.mark.parametrize("make", [a_bandit, an_arena])
def test_a_record_is_a_snapshot(make: Callable[[], Learner]) -> None:
    one, other = make(), make()
    record = one.to_record()
    future(one)
    assert future(type(one).from_record(record)) == future(other)


@pytest.mark.parametrize("make", [a_bandit, an_arena])
@pytest.mark.parametrize(
    "change",
    [
        {"kind": "wakeful results"},
        {"version": 12},
        {"arrays": {}},
        {"arrays": None},
        {"arms": "abcde"},
        {"retired": [9]},
        {"rounds": -1},
        {"random": {}},
        {"policy": {"policy": "Nothing", "parameters": {}}},
    ],
    ids=repr,
)
def test_a_record_that_is_none_is_refused(make: Callable[[], Learner], change: dict[str, Any]) -> None:
    one = make()
    with pytest.raises(ValueError, match=r"^record.* must be "):
        type(one).from_record(one.to_record() | change)
    lacking = {key: value for key, value in one.to_record().items() if key not in change}
    with pytest.raises(ValueError, match=r"^record.* must be "):
        type(one).from_record(lacking)


@pytest.mark.parametrize("values", [[[1, 2], [3]], "x", None, [["a"]], [[float("nan")]]], ids=repr)
def test_arrays_in_a_record_that_are_none_are_refused(values: Any) -> None:
    record = wk.Bandit(wk.SIExp3(), 2).to_record()
    record["arrays"]["losses"] = values
    with pytest.raises(ValueError, match=r"^record must be "):
        wk.Bandit.from_record(record)


def test_what_is_no_record_or_no_bytes_is_refused() -> None:
    junk: list[Any] = [None, 7, [], "x"]
    for value in junk:
        with pytest.raises(TypeError, match=r"^record must be one that Bandit.to_record returned"):
            wk.Bandit.from_record(value)
        with pytest.raises(TypeError, match=r"^data must be bytes"):
            wk.Bandit.from_bytes(value)
    with pytest.raises(ValueError, match=r"^data must be a wakeful bandit file"):
        wk.Bandit.from_bytes(an_arena().to_bytes())


def test_a_pickled_bandit_holds_the_bytes_of_its_file() -> None:
    bandit = a_bandit()
    assert bandit.to_bytes() in pickle.dumps(bandit)
    with zipfile.ZipFile(BytesIO(bandit.to_bytes())) as archive:
        assert json.loads(archive.read("wakeful.json"))["kind"] == "wakeful bandit"


def test_a_proposal_changes_nothing_and_choosing_is_proposing_and_admitting() -> None:
    live, copy_ = a_bandit(), a_bandit()
    uniforms = iter(np.random.default_rng(9).random(20))
    for awake in (None, ["a", "c"], [True, False, True, True, False], ("e", "d")):
        u = copy.copy(live)._stream.draw()
        before = copy_.to_bytes()
        proposal = copy_.propose(awake, u)
        copy_.propose(awake, next(uniforms))
        assert copy_.to_bytes() == before
        assert proposal == live.choose(awake)
        copy_.admit(proposal)
        assert [a.tobytes() for a in copy_.state] == [a.tobytes() for a in live.state]
        assert copy_.rounds == live.rounds


def test_a_proposal_is_admitted_alike_at_once_and_from_its_dictionary() -> None:
    here, there, uniforms = a_bandit(), a_bandit(), np.random.default_rng(9).random(20).tolist()
    for n, u in enumerate(uniforms):
        proposal = here.propose(["a", "c", "d"][n % 2 :], u)
        here.admit(proposal)
        there.admit(proposal.to_dict())
        for bandit in (here, there):
            bandit.update(proposal, loss=n / 20)
    assert here.to_bytes() == there.to_bytes()
    proposal, before = here.propose(None, 0.5), here.to_bytes()
    proposal.probabilities[:] = 0.9
    with pytest.raises(ValueError, match=r"^decision\.probabilities must be "):
        here.admit(proposal)
    assert here.to_bytes() == before


class WinsAlone(NamedTuple):
    """Who beat whom, without a clock."""

    wins: Any


@dataclass(frozen=True)
class Unclocked(wk.DuelingPolicy):
    """Equal probabilities; no decision is counted."""

    def start(self, n_arms: int, size: int = 2) -> WinsAlone:
        """No wins."""
        return WinsAlone(np.zeros((n_arms, n_arms)))

    @property
    def kernels(self) -> DuelKernels:
        """Two kernels, and nothing to remember."""
        return DuelKernels(_even, pair_learn)


def _even(parameters: Any, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
    """Write equal probabilities."""
    for k in awake:
        p[k] = 1.0 / awake.size


def test_a_proposal_copies_the_state_only_if_choosing_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[str] = []

    def noted(state: Any) -> Any:
        copies.append(type(state).__name__)
        return copied(state)

    for module in ("bandit", "dueling_bandit"):
        monkeypatch.setattr(f"wakeful.bandits.{module}.copied", noted)
    for bandit in (wk.Bandit(wk.Auto(), NAMES), a_bandit()):
        before = bandit.to_bytes()
        bandit.propose(None, 0.5)
        assert bandit.to_bytes() == before
    for arena in (wk.DuelingBandit(Unclocked(), NAMES), wk.DuelingBandit(wk.UniformPairs(), NAMES)):
        before = arena.to_bytes()
        arena.propose(None, [0.5] * 4)
        arena.propose(None, [0.5] * 6, size=3)
        assert arena.to_bytes() == before
    assert copies == ["PerSetState", "PairState"]


def test_proposals_of_several_copies_are_folded_by_all_in_the_order_of_a_log() -> None:
    copies = [wk.Bandit(wk.SIExp3(), NAMES, seed=n) for n in range(3)]
    rng, log = np.random.default_rng(1), []
    for n in range(40):
        proposals = [
            one.propose(NAMES[n % 2 :], rng.random()) for one in copies
        ]  # at the same time: none has the others'
        log += [json.loads(json.dumps(proposal.to_dict())) for proposal in proposals]
        for record in log[-3:]:
            for one in copies:
                one.admit(wk.Decision.from_dict(record))
                one.update(wk.Decision.from_dict(record), loss=n % 3 / 2)
    late = wk.Bandit(wk.SIExp3(), NAMES, seed=9)
    for n, record in enumerate(log):
        late.admit(wk.Decision.from_dict(record))
        late.update(wk.Decision.from_dict(record), loss=n // 3 % 3 / 2)
    for one in copies:
        assert [a.tobytes() for a in one.state] == [a.tobytes() for a in late.state]
        assert one.rounds == late.rounds == 120


def test_a_proposal_of_an_earlier_time_is_admitted_after_arms_came_and_went() -> None:
    bandit = wk.Bandit(wk.PerSet(wk.SIExp3(), max_sets=3), NAMES, seed=1)
    arena = wk.DuelingBandit(wk.Sparring(wk.SIExp3()), NAMES, seed=1)
    decision, duel = bandit.propose(None, 0.3), arena.propose(None, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], size=3)
    for learner in (bandit, arena):
        learner.add_arm("e")
        learner.retire_arm("a")
    bandit.admit(decision)
    arena.admit(duel)
    bandit.update(decision, loss=0.5)
    arena.update(duel, winner=duel.left)
    assert bandit.rounds == arena.rounds == 1


@pytest.mark.parametrize("uniform", [-0.1, 1.0, float("nan"), None, "x", True, 10**400], ids=repr)
def test_uniforms_that_are_none_are_refused(uniform: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"^uniform must be a number from 0 to 1, 1 excluded, got "):
        a_bandit().propose(None, uniform)
    with pytest.raises((ValueError, TypeError), match=r"^uniforms must be a number from 0 to 1, 1 excluded, got "):
        an_arena().propose(None, [0.5, 0.5, 0.5, uniform])
    with pytest.raises(ValueError, match=r"^uniforms must be 4 numbers, two for each arm, got "):
        an_arena().propose(None, [0.5])


def test_what_update_refuses_admit_refuses_and_nothing_changes() -> None:
    bandit, arena = a_bandit(), an_arena()
    decision, duel = bandit.choose(), arena.choose(distinct=True)
    before = bandit.to_bytes(), arena.to_bytes()
    forged: list[dict[str, Any]] = [{"arm": "z"}, {"probability": 0.9}, {"memo": -1.0}, {"policy": "Uniform"}]
    for change in forged:
        with pytest.raises(ValueError, match=r"^decision.* must be "):
            bandit.admit(decision._replace(**change))
    false: list[dict[str, Any]] = [{"arms": ("a", "z")}, {"laws": duel.laws * 2}, {"policy": "Uniform"}]
    for change in false:
        with pytest.raises(ValueError, match=r"^duel.* must be "):
            arena.admit(duel._replace(**change))
    assert (bandit.to_bytes(), arena.to_bytes()) == before


def raced(work: Callable[[], Any], ask: Callable[[], Any], times: int) -> list[BaseException]:
    """Ask while another thread works; return what went wrong."""
    done, wrong = threading.Event(), []

    def asking() -> None:
        while not done.is_set():
            try:
                ask()
            except BaseException as problem:
                wrong.append(problem)
                return

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=asking) for _ in range(2)]
    try:
        for thread in threads:
            thread.start()
        for _ in range(times):
            work()
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
    return wrong


@pytest.mark.parametrize("kind", [wk.Bandit, wk.DuelingBandit])
def test_retired_arms_are_told_while_arms_are_added(kind: Any) -> None:
    policy = wk.Uniform() if kind is wk.Bandit else wk.UniformPairs()
    learner = kind(policy, 2, seed=1)
    assert raced(learner.add_arm, lambda: learner.retired, 400) == []


def test_switch_gains_wait_for_whoever_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    bandit = wk.Bandit(wk.SIExp3(), 3, seed=1)
    held: list[bool] = []
    gains = wk.SIExp3.switch_gains

    def watched(self: wk.SIExp3, state: Any) -> Any:
        held.append(bandit._lock.locked())
        return gains(self, state)

    monkeypatch.setattr(wk.SIExp3, "switch_gains", watched)
    assert bandit.switch_gains().shape == (3, 3)
    assert held == [True]


FORKED = """
import os, sys, threading, time
import wakeful as wk

bandit = wk.Bandit(wk.SIExp3(), 200, seed=1)
arena = wk.DuelingBandit(wk.UniformPairs(), 4, seed=1)
stop = threading.Event()

def save():
    while not stop.is_set():
        bandit.save(sys.argv[1])
        bandit.update(bandit.choose(), loss=0.5)

threads = [threading.Thread(target=save) for _ in range(2)]
for thread in threads:
    thread.start()
time.sleep(0.2)
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        wk.Bandit(wk.Uniform(), 2)
        whole = bandit.state.clock[0] == bandit.rounds
        bandit.choose(), arena.choose()
        os._exit(0 if whole else 7)
    children.append(child)
    time.sleep(0.01)
stop.set()
for thread in threads:
    thread.join()
bandit.choose()
codes = []
deadline = time.monotonic() + 30
while children and time.monotonic() < deadline:
    for child in list(children):
        ended, code = os.waitpid(child, os.WNOHANG)
        if ended:
            children.remove(child)
            codes.append(os.waitstatus_to_exitcode(code))
    time.sleep(0.01)
for child in children:
    os.kill(child, 9)
print(codes, len(children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing to fork with")
def test_a_child_forked_while_threads_are_at_work_goes_on(tmp_path: Any) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path / "b")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.strip() == f"{[0] * 10} 0", done.stderr


FORKS_ITSELF = """
import os
from dataclasses import dataclass
import numpy as np
import wakeful as wk

@dataclass(frozen=True)
class Forking(wk.Policy):
    def start(self, n_arms):
        return wk.Uniform().start(n_arms)

    def probabilities(self, state, awake):
        child = os.fork()
        if child == 0:
            return awake / awake.sum()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        return awake / awake.sum()

    def update(self, state, decision, loss):
        pass

parent = os.getpid()
bandit = wk.Bandit(Forking(), 3, seed=1)
bandit.choose()
if os.getpid() != parent:
    print(bandit.retired, flush=True)
    os._exit(3)
print("parent", bandit.rounds)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing to fork with")
def test_a_policy_that_forks_does_not_wait_for_itself() -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKS_ITSELF]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "()\nparent 1\n", done.stderr


DRAWS_OF_CHILDREN = """
import os, sys
import wakeful as wk

bandit = wk.Bandit(wk.Uniform(), 1000, seed=1)
arena = wk.DuelingBandit(wk.UniformPairs(), 1000, seed=1)

def draws():
    return [*(bandit.choose().arm for _ in range(5)), *arena.choose().arms]

bandit.choose()
for _ in range(2):
    child = os.fork()
    if child == 0:
        print("child", *draws(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print("parent", *draws())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing to fork with")
def test_forked_children_draw_other_numbers_than_their_parent_and_each_other() -> None:
    command = [sys.executable, "-W", "ignore", "-c", DRAWS_OF_CHILDREN]
    lines = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert lines[0] == lines[1]  # the same in every run of the program
    draws = [line.split()[1:] for line in lines[0].splitlines()]
    assert len(draws) == 3
    for n in range(len(draws[0])):
        assert len({row[n] for row in draws}) > 1
    alone = wk.Bandit(wk.Uniform(), 1000, seed=1)
    alone.choose()
    assert [str(alone.choose().arm) for _ in range(5)] == draws[2][:5]  # the parent's do not depend on its children


def test_a_seed_starts_a_new_random_stream(tmp_path: Any) -> None:
    for made in (wk.Bandit(wk.Uniform(), 1000, seed=1), wk.DuelingBandit(wk.UniformPairs(), 1000, seed=1)):
        learner: Any = made
        learner.choose()
        learner.save(tmp_path / "l")

        def draws(again: Any) -> list[Any]:
            return [again.choose()[0] for _ in range(4)]

        kind = type(learner)
        same, first, second = (draws(kind.load(tmp_path / "l", seed=seed)) for seed in ("saved", 2, 2))
        fresh = [draws(kind.from_bytes(learner.to_bytes(), seed=None)) for _ in range(2)]
        assert same == draws(learner)
        assert first == second != same
        assert fresh[0] != fresh[1]
        with pytest.raises(ValueError, match="seed must be"):
            kind.load(tmp_path / "l", seed=-1)


@pytest.mark.parametrize(
    "learner", [wk.Bandit(wk.Uniform(), ["a", "b"]), wk.DuelingBandit(wk.UniformPairs(), ["a", "b"])]
)
def test_arms_are_added_once_and_retired_ones_come_back(learner: Learner) -> None:
    assert learner.ensure_arms(["b", "c", "d", "c"]) == ("c", "d")
    assert learner.ensure_arms(name for name in ("d", "c")) == ()
    assert learner.arms == ("a", "b", "c", "d")
    learner.retire_arm("a")
    learner.retire_arm("b")
    learner.ensure_arms(["b"])
    assert list(learner.retired) == ["a"]
    learner.revive_arm("a")
    learner.revive_arm("a")
    assert list(learner.retired) == []
    learner.choose(["a", "b"])
    for wrong in ("ab", 3, {"e": 1}, ["e", 1.5], ["e", None]):
        with pytest.raises(TypeError, match=r"names must be"):
            learner.ensure_arms(wrong)  # type: ignore[arg-type]
    assert learner.arms == ("a", "b", "c", "d")
    with pytest.raises(ValueError, match="name must be among the arms"):
        learner.revive_arm("z")


def test_feedback_takes_the_dictionary_of_a_decision() -> None:
    one, other = (wk.Bandit(wk.Uniform(), ["a", "b"], seed=1) for _ in range(2))
    decision = one.choose()
    other.admit(json.loads(json.dumps(decision.to_dict())))
    one.update(decision, loss=0.5)
    other.update(decision.to_dict(), loss=0.5)
    assert (
        one.to_record()["arrays"]["decision_counts"].tolist() == other.to_record()["arrays"]["decision_counts"].tolist()
    )
    with pytest.raises(ValueError, match="decision must be a record of arm, probability"):
        other.update({"arm": "a"}, loss=0.5)


class Small(NamedTuple):
    sums: Any
    taken: Any
    rest: Any


@dataclass(frozen=True)
class SmallNumbers(wk.Policy):
    """A state of types that JSON does not have, and an array of nothing."""

    def start(self, n_arms: int) -> Small:
        return Small(np.zeros(n_arms, np.float32), np.zeros(n_arms, np.uint32), np.zeros((0, n_arms)))

    def probabilities(self, state: Small, awake: Any) -> Any:
        return awake / awake.sum()

    def update(self, state: Small, decision: wk.Decision, loss: float) -> None:
        state.sums[decision.arm] += np.float32(loss)
        state.taken[decision.arm] += 1


def test_a_record_keeps_types_and_shapes_through_json() -> None:
    wk.check_policy(SmallNumbers())
    bandit = wk.Bandit(SmallNumbers(), 3, seed=1)
    for loss in (0.1, 0.7, 0.3):
        bandit.update(bandit.choose(), loss=loss)
    record = json.loads(json.dumps(bandit.to_record(), default=np.ndarray.tolist))
    assert wk.Bandit.from_record(record).to_bytes() == bandit.to_bytes()
    for wrong in ([0.5, 1, 1], [-1, 1, 1], [2**33, 1, 1], ["1", "1", "1"], [1, 1], [[1, 1, 1]]):
        with pytest.raises(ValueError, match=r"record must be one that Bandit\.to_record returned"):
            wk.Bandit.from_record(record | {"arrays": record["arrays"] | {"taken": wrong}})


def test_a_dueling_bandit_admits_the_dictionary_of_a_duel() -> None:
    one, other = (wk.DuelingBandit(wk.Sparring(wk.SIExp3()), ["a", "b", "c"], seed=1) for _ in range(2))
    duel = one.propose(None, [0.1, 0.2, 0.3, 0.4], distinct=True)
    one.admit(duel)
    other.admit(json.loads(json.dumps(duel.to_dict())))
    assert one.to_bytes() == other.to_bytes()
    with pytest.raises(ValueError, match="duel must be a record of "):
        other.admit({"arms": ["a", "b"]})
    with pytest.raises(TypeError, match=r"duel must be a Duel from choose, or its to_dict\(\), got 'a'"):
        other.admit("a")  # type: ignore[arg-type]
    assert one.to_bytes() == other.to_bytes()


def test_a_bad_seed_is_not_the_fault_of_the_file(tmp_path: Path) -> None:
    bandit = wk.Bandit(wk.Uniform(), 2, seed=0)
    bandit.save(tmp_path / "saved")
    for read in (partial(wk.Bandit.load, tmp_path / "saved"), partial(wk.Bandit.from_bytes, bandit.to_bytes())):
        with pytest.raises(ValueError, match=r"^seed must be a whole number from 0"):
            read(seed=-1)


def test_an_error_is_a_sentence_however_large_what_it_complains_of() -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        wk.Bandit(wk.Uniform(), 2, seed=0).learn({"awake": ["a|b"] * 10**5})
    assert len(str(raised.value)) < 1_500
