"""The contract of `Bandit` and `Decision`, line by line."""

import copy
import json
import math
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

import broken_policies as broken
from case_ids import stable_id
from policy_cases import CASES
from wakeful import (
    Bandit,
    Decision,
    OrderingExp4,
    PerSet,
    Policy,
    SBExp3,
    SIExp3,
    SleepingExp3,
    SleepingExp3G,
    SleepingThompson,
    SleepingUCB,
    Uniform,
    play,
    regret,
)
from wakeful.bandits.arms import Arms
from wakeful.bandits.random_stream import DRAWN_AT_ONCE, Stream
from wakeful.policies.policy import compiled

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

POLICIES = [case.policy for case in CASES]
DRINKS = ["tea", "coffee", "juice"]
# Policies whose learning rate does not depend on the number of arms.
FREE_OF_K: list[Policy] = [
    SIExp3(eta=0.1),
    SIExp3(eta="sqrt", exploration=0.0),
    SBExp3(eta=0.1),
    SleepingUCB(),
    SleepingThompson(),
    SleepingExp3G(),
    SleepingExp3(),
    PerSet(SleepingUCB()),
    Uniform(),
]


def everything(bandit: Bandit) -> tuple[Any, ...]:
    """All that a bandit is, bit for bit."""
    state = tuple(array.tobytes() for array in bandit.state)
    return (bandit.policy, bandit.arms, bandit.retired, bandit.rounds, json.dumps(bandit._stream.state), state)


def world(rounds: int, n_arms: int, seed: int) -> tuple[Mask, Floats]:
    """Awake sets that are never empty, and losses whose sums are exact."""
    rng = np.random.default_rng(seed)
    awake = rng.random((rounds, n_arms)) < 0.6
    awake[np.arange(rounds), rng.integers(n_arms, size=rounds)] = True
    return awake, rng.integers(65, size=(rounds, n_arms)) / 64.0


def run(bandit: Bandit, awake: Mask, losses: Floats) -> list[Decision]:
    """Play the rounds with immediate feedback; masks shorter than the bandit leave its last arms asleep."""
    decisions = []
    for row, loss in zip(awake, losses, strict=True):
        mask = np.zeros(len(bandit.arms), np.bool_)
        mask[: row.size] = row
        decision = bandit.choose(mask)
        bandit.update(decision, loss=float(loss[bandit.arms.index(decision.arm)]))
        decisions.append(decision)
    return decisions


def trained(policy: Policy, seed: int = 1) -> Bandit:
    bandit = Bandit(policy, DRINKS, seed=seed)
    run(bandit, *world(40, 3, 0))
    return bandit


class Drink(StrEnum):
    """Texts with names of their own."""

    WATER = "water"


def test_arms_are_names_or_a_number_of_arms() -> None:
    assert Bandit(Uniform(), DRINKS).arms == ("tea", "coffee", "juice")
    assert Bandit(Uniform(), 3).arms == (0, 1, 2)
    three: Any = np.int64(3)
    assert Bandit(Uniform(), three).arms == (0, 1, 2)
    assert Bandit(Uniform(), np.array(DRINKS)).arms == ("tea", "coffee", "juice")
    assert Bandit(Uniform(), (name for name in DRINKS)).arms == ("tea", "coffee", "juice")
    assert Bandit(Uniform(), ["a", np.str_("b"), np.int64(2), Drink.WATER]).arms == ("a", "b", 2, "water")


@pytest.mark.parametrize(
    "awake",
    [
        ["tea", "juice"],
        ["juice", "tea"],
        ("juice", "tea"),
        {"juice", "tea"},
        np.array(["juice", "tea"]),
        np.array(["juice", "tea"], object),
        [True, False, True],
        (np.True_, np.False_, np.True_),
        np.array([True, False, True]),
        np.array([True, False, True], object),
        np.array([[True, True], [False, True], [True, False]])[:, 0],
        np.array([True, False, True])[::-1],
    ],
    ids=stable_id,
)
def test_names_in_any_order_and_masks_of_any_make_say_the_same(awake: Any) -> None:
    expected = trained(SIExp3()).choose(["tea", "juice"])
    assert trained(SIExp3()).choose(awake) == expected
    assert expected.awake == ("tea", "juice")
    np.testing.assert_array_equal(trained(SIExp3()).probabilities(awake), expected.probabilities)


def test_a_generator_of_names_is_read_once() -> None:
    assert trained(SIExp3()).choose(name for name in ("juice", "tea")).awake == ("tea", "juice")


def test_nothing_means_that_all_are_awake() -> None:
    assert trained(SIExp3()).choose() == trained(SIExp3()).choose(None) == trained(SIExp3()).choose(DRINKS)


def test_ten_thousand_different_sets_are_all_understood() -> None:
    bandit = Bandit(Uniform(), 14, seed=0)
    masks = (np.arange(1, 1 << 14)[:, np.newaxis] >> np.arange(14) & 1).astype(np.bool_)
    for mask in masks[np.random.default_rng(0).permutation(len(masks))[:10_000]]:
        assert bandit.choose(mask).awake == tuple(np.flatnonzero(mask).tolist())


@pytest.mark.parametrize("policy", POLICIES, ids=stable_id)
def test_a_decision_says_what_was_chosen_how_likely_and_among_whom(policy: Policy) -> None:
    bandit = trained(policy)
    law = bandit.probabilities(["tea", "juice"])
    decision = bandit.choose(["juice", "tea"])
    assert decision.awake == ("tea", "juice")
    assert decision.arm in decision.awake
    assert type(decision.probability) is float
    assert decision.probability == law[DRINKS.index(decision.arm)] > 0.0
    np.testing.assert_array_equal(decision.probabilities, law)
    assert (decision.clock, bandit.rounds) == (41, 41)
    assert type(decision.memo) is float
    assert 0.0 <= decision.memo < math.inf


@settings(deadline=None, max_examples=50)
@given(some.sampled_from(POLICIES), some.sets(some.sampled_from(DRINKS), min_size=1), some.integers(0, 2**32))
def test_probabilities_are_a_law_that_is_zero_on_sleepers_and_asking_changes_nothing(
    policy: Policy, awake: set[str], seed: int
) -> None:
    bandit = trained(policy, seed)
    before = everything(bandit)
    p = bandit.probabilities(awake)
    assert p.dtype == np.float64
    assert p.shape == (3,)
    assert [p[k] for k in range(3) if DRINKS[k] not in awake] == [0.0] * (3 - len(awake))
    assert (p >= 0.0).all()
    assert math.fsum(p) == pytest.approx(1.0, abs=1e-12)
    p[:] = np.nan
    assert everything(bandit) == before
    assert not np.isnan(bandit.probabilities(awake)).any()


def test_a_mask_changed_afterwards_changes_nothing() -> None:
    bandit = Bandit(Uniform(), 3, seed=0)
    mask = np.array([True, True, False])
    decision = bandit.choose(mask)
    mask[:] = [False, False, True]
    for same in ([0, 1], [True, True, False], np.array([True, True, False])):
        assert bandit.probabilities(same).tolist() == decision.probabilities.tolist() == [0.5, 0.5, 0.0]
    assert bandit.choose(mask).arm == 2


@pytest.mark.parametrize("policy", POLICIES, ids=stable_id)
def test_a_decision_comes_back_from_json_exactly(policy: Policy) -> None:
    decision = trained(policy).choose(["coffee", "juice"])
    back = Decision.from_dict(json.loads(json.dumps(decision.to_dict())))
    assert back == decision
    assert (back != decision) is False
    assert hash(back) == hash(decision)
    assert back.probabilities.tobytes() == decision.probabilities.tobytes()
    assert [type(value) for value in back] == [type(value) for value in decision]


def test_decisions_that_differ_in_anything_are_different() -> None:
    decision = trained(SIExp3()).choose()
    changes: list[dict[str, Any]] = [
        {"arm": "water"},
        {"probability": 0.25},
        {"awake": ("tea", "coffee")},
        {"probabilities": decision.probabilities[::-1].copy()},
        {"clock": 7},
        {"memo": 7.0},
        {"policy": "SBExp3"},
    ]
    assert len({decision, *(decision._replace(**change) for change in changes)}) == 8
    assert decision != "tea"


@pytest.mark.parametrize("policy", [SIExp3(), PerSet(SleepingUCB())], ids=stable_id)
def test_a_decision_says_whose_it_is(policy: Policy) -> None:
    bandit, other = trained(policy), trained(PerSet(SIExp3()))
    decision = other.choose()
    assert decision.policy == "PerSet[SIExp3]"
    before = everything(bandit)
    with pytest.raises(ValueError, match=r"decision.policy must be '.*', that of this bandit, got 'PerSet\[SIExp3\]'"):
        bandit.update(decision, loss=0.5)
    assert everything(bandit) == before


def test_a_bandit_learns_from_the_decisions_of_another_one_with_the_same_kind_of_policy() -> None:
    bandit, other = trained(SIExp3()), trained(SIExp3(eta=0.1))
    bandit.update(other.choose(), loss=0.5)


def test_a_decision_written_down_without_its_policy_still_gets_its_feedback() -> None:
    bandit, other = trained(SIExp3()), trained(SIExp3())
    record = bandit.choose().to_dict()
    del record["policy"]
    assert Decision.from_dict(record).policy == ""
    bandit.update(Decision.from_dict(record), loss=0.5)
    other.update(other.choose(), loss=0.5)
    assert everything(bandit) == everything(other)


@pytest.mark.parametrize("policy", [SIExp3(), PerSet(SleepingUCB())], ids=stable_id)
def test_a_decision_that_was_pickled_or_copied_gets_its_feedback(policy: Policy) -> None:
    carriers: list[Callable[[Decision], Any]] = [lambda d: pickle.loads(pickle.dumps(d)), copy.copy, copy.deepcopy]
    for carry in carriers:
        bandit, other = trained(policy), trained(policy)
        bandit.update(bandit.choose(), loss=0.75)
        other.update(carry(other.choose()), loss=0.75)
        assert everything(other) == everything(bandit)


@pytest.mark.parametrize("policy", POLICIES, ids=stable_id)
@pytest.mark.parametrize("reward", [0.0, 0.1, 0.7, 1.0, True, np.float32(0.3), 1])
def test_a_reward_is_one_less_the_loss(policy: Policy, reward: Any) -> None:
    bandit, other = trained(policy), trained(policy)
    bandit.update(bandit.choose(), reward=reward)
    other.update(other.choose(), loss=1.0 - float(reward))
    assert everything(bandit) == everything(other)


FEEDBACK = """
import json, sys
from wakeful import Bandit, Decision
path, records = sys.argv[1], json.load(sys.stdin)
bandit = Bandit.load(path)
for record, loss in records:
    bandit.update(Decision.from_dict(record), loss=loss)
bandit.save(path)
print(bandit.choose().arm)
"""


def test_feedback_may_reach_a_loaded_copy_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "drinks.wakeful"
    here = trained(SIExp3())
    pending = [(here.choose(), 0.125 * n) for n in range(8)]
    here.save(path)
    task = json.dumps([(decision.to_dict(), loss) for decision, loss in pending])
    command = [sys.executable, "-c", FEEDBACK, str(path)]
    there = subprocess.run(command, input=task, capture_output=True, text=True, check=True)
    for decision, loss in pending:
        here.update(decision, loss=loss)
    assert everything(Bandit.load(path)) == everything(here)
    assert there.stdout.strip() == here.choose().arm


def waiting(policy: Policy) -> tuple[Bandit, list[Decision]]:
    """A bandit and twenty decisions of it that have had no feedback."""
    bandit = trained(policy)
    return bandit, [bandit.choose(row) for row in world(20, 3, 5)[0]]


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy.order_free], ids=stable_id)
def test_late_feedback_in_another_order_gives_the_same_state(policy: Policy) -> None:
    (one, decisions), (other, _) = waiting(policy), waiting(policy)
    for n in range(20):
        one.update(decisions[n], loss=n % 9 / 8)
        other.update(decisions[19 - n], loss=(19 - n) % 9 / 8)
    assert one.state[0].any()
    for array, same in zip(one.state, other.state, strict=True):
        np.testing.assert_allclose(array, same, rtol=1e-12, atol=1e-12)


def test_feedback_that_never_comes_is_not_waited_for() -> None:
    bandit = Bandit(SIExp3(), DRINKS, seed=3)
    for _ in range(1_000):
        bandit.choose()
    assert bandit.rounds == 1_000
    assert not bandit.state.losses.any()
    np.testing.assert_allclose(bandit.probabilities(), 1 / 3)


def test_late_feedback_uses_the_probability_of_its_own_decision() -> None:
    bandit = Bandit(SIExp3(eta=0.5, exploration=0.0), 2, seed=0)
    early = bandit.choose()
    for _ in range(50):
        decision = bandit.choose()
        bandit.update(decision, loss=float(decision.arm == early.arm))
    before = bandit.state.losses.copy()
    bandit.update(early, loss=1.0)
    other = 1 - early.arm
    assert early.probability == 0.5
    assert bandit.state.losses[other, early.arm] - before[other, early.arm] == pytest.approx(0.5 / 0.5)
    assert bandit.state.losses[early.arm, other] - before[early.arm, other] == pytest.approx(-1.0)


@pytest.mark.parametrize("policy", FREE_OF_K, ids=stable_id)
def test_an_added_arm_equals_one_that_slept_from_the_start(policy: Policy) -> None:
    awake, losses = world(200, 3, 7)
    grown, asleep = Bandit(policy, 3, seed=2), Bandit(policy, 4, seed=2)
    arms = [[decision.arm for decision in run(bandit, awake, losses)] for bandit in (grown, asleep)]
    assert grown.add_arm() == 3
    assert arms[0] == arms[1]
    for one, other in zip(grown.state, asleep.state, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    later = world(100, 4, 8)
    assert [d.arm for d in run(grown, *later)] == [d.arm for d in run(asleep, *later)]
    np.testing.assert_allclose(grown.probabilities(), asleep.probabilities(), rtol=1e-9, atol=1e-12)


def test_ordering_exp4_grows_like_an_arm_asleep_once_its_rate_is_that_of_more_arms() -> None:
    # Its rate depends on K: a bandit that knows of four arms learns at another pace. A scale makes up for that.
    fair = math.sqrt(math.log(6) / 3) / math.sqrt(math.log(24) / 4)
    awake, losses = world(200, 3, 7)
    grown, asleep = Bandit(OrderingExp4(), 3, seed=2), Bandit(OrderingExp4(scale=fair), 4, seed=2)
    arms = [[decision.arm for decision in run(bandit, awake, losses)] for bandit in (grown, asleep)]
    grown.add_arm()
    assert arms[0] == arms[1]
    np.testing.assert_allclose(grown.state.losses, asleep.state.losses, rtol=1e-9)


@pytest.mark.parametrize("policy", POLICIES, ids=stable_id)
def test_feedback_for_a_decision_from_before_an_arm_was_added_is_learned(policy: Policy) -> None:
    late, prompt = trained(policy), trained(policy)
    pending, same = late.choose(), prompt.choose()
    late.add_arm("water")
    late.add_arm("milk")
    late.update(Decision.from_dict(json.loads(json.dumps(pending.to_dict()))), loss=0.75)
    prompt.update(same, loss=0.75)
    prompt.add_arm("water")
    prompt.add_arm("milk")
    assert everything(late) == everything(prompt)


def test_a_new_arm_is_called_by_its_position_unless_it_gets_a_name() -> None:
    bandit = Bandit(Uniform(), 2, seed=0)
    assert (bandit.add_arm(), bandit.add_arm("tea"), bandit.add_arm(np.str_("milk"))) == (2, "tea", "milk")
    assert bandit.arms == (0, 1, 2, "tea", "milk")
    assert bandit.choose(["tea"]).probabilities.tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]


def test_an_arm_too_many_is_refused_and_nothing_grows() -> None:
    bandit = Bandit(OrderingExp4(), 7, seed=0)
    before = everything(bandit)
    with pytest.raises(ValueError, match="arms must be at most 7"):
        bandit.add_arm()
    assert everything(bandit) == before
    assert bandit.choose().arm in range(7)


@pytest.mark.parametrize("policy", POLICIES, ids=stable_id)
def test_a_retired_arm_is_refused_and_never_chosen_but_its_late_feedback_counts(policy: Policy) -> None:
    bandit, other = trained(policy), trained(policy)
    pending, same = bandit.choose(["coffee"]), other.choose(["coffee"])
    assert bandit.probabilities()[1] >= 0.0
    bandit.retire_arm("coffee")
    bandit.retire_arm("coffee")
    assert (bandit.arms, bandit.retired) == (tuple(DRINKS), ("coffee",))
    for awake in (["tea", "coffee"], ["coffee"], [True, True, True]):
        with pytest.raises(ValueError, match="awake must be without arms that are retired, got 'coffee'"):
            bandit.choose(awake)
        with pytest.raises(ValueError, match="retired"):
            bandit.probabilities(awake)
    assert {bandit.choose().awake for _ in range(20)} == {("tea", "juice")}
    assert bandit.probabilities()[1] == 0.0
    bandit.update(pending, loss=0.75)
    for _ in range(20):
        other.choose(["tea", "juice"])
    other.update(same, loss=0.75)
    assert everything(bandit)[3:] == everything(other)[3:]


def test_the_last_arm_cannot_be_retired() -> None:
    bandit = Bandit(Uniform(), DRINKS, seed=0)
    bandit.retire_arm("tea")
    bandit.retire_arm("juice")
    with pytest.raises(
        ValueError, match="name must be an arm other than the last one that can be chosen, got 'coffee'"
    ):
        bandit.retire_arm("coffee")
    assert bandit.choose().arm == "coffee"


def test_a_retired_arm_stays_retired_in_a_file(tmp_path: Path) -> None:
    bandit = trained(SIExp3())
    bandit.retire_arm("tea")
    bandit.save(tmp_path / "b")
    loaded = Bandit.load(tmp_path / "b")
    assert loaded.retired == ("tea",)
    assert loaded.choose().awake == ("coffee", "juice")
    with pytest.raises(ValueError, match="retired"):
        loaded.choose(["tea", "coffee"])


def test_the_name_of_a_retired_arm_stays_taken() -> None:
    bandit = trained(SIExp3())
    bandit.retire_arm("tea")
    with pytest.raises(ValueError, match="name must be different from"):
        bandit.add_arm("tea")
    bandit.add_arm("water")
    assert bandit.choose().awake == ("coffee", "juice", "water")


def test_switch_gains_are_what_was_lost_less_what_the_other_arm_is_estimated_to_have_lost() -> None:
    bandit = Bandit(SIExp3(eta=0.3, exploration=0.0), 3, seed=4)
    gains = np.zeros((3, 3))
    for decision, (row, loss) in zip(run(bandit, *world(60, 3, 9)), zip(*world(60, 3, 9), strict=True), strict=True):
        k, p = decision.arm, decision.probabilities
        for j in range(3):
            if row[j] and j != k:
                gains[k, j] += loss[k]
                gains[j, k] -= p[j] * loss[k] / p[k]
    np.testing.assert_allclose(bandit.switch_gains(), gains, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(bandit.switch_gains(), -bandit.state.losses)
    bandit.switch_gains()[:] = 0.0
    np.testing.assert_allclose(bandit.switch_gains(), gains, rtol=1e-12, atol=1e-12)


def test_switch_gains_estimate_internal_regret_without_bias() -> None:
    policy = SIExp3(eta=0.1, exploration=0.0)
    awake, losses = world(80, 3, 10)
    differences = []
    for seed in range(3_000):
        state = policy.start(3)
        choices = play(policy, awake, losses, np.random.default_rng(seed), state)
        differences.append(policy.switch_gains(state) - regret.internal(awake, losses, choices))
    error = np.std(differences, axis=0, ddof=1) / math.sqrt(len(differences))
    off = ~np.eye(3, dtype=np.bool_)
    assert (error[off] > 0.0).all()
    assert (np.abs(np.mean(differences, axis=0)) <= 4.0 * error).all()


@pytest.mark.parametrize("policy", [p for p in POLICIES if not isinstance(p, SIExp3)], ids=stable_id)
def test_policies_without_switch_gains_say_so(policy: Policy) -> None:
    with pytest.raises(ValueError, match=r"policy must be one that estimates switch gains, such as SIExp3\(\), got "):
        trained(policy).switch_gains()


@pytest.mark.parametrize("policy", [SIExp3(), SleepingUCB(), SleepingExp3G(max_sets=8)], ids=stable_id)
def test_threads_may_share_a_bandit(policy: Policy) -> None:
    bandit = Bandit(policy, 4, seed=11)
    clocks: list[int] = []
    problems: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for awake, losses in zip(*world(400, 4, number), strict=True):
                decision = bandit.choose(awake)
                clocks.append(decision.clock)
                assert awake[decision.arm]
                assert decision.probability == decision.probabilities[decision.arm]
                bandit.update(decision, loss=float(losses[decision.arm]))
                assert math.fsum(bandit.probabilities()) == pytest.approx(1.0)
        except BaseException as problem:
            problems.append(problem)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not problems
    assert bandit.rounds == bandit.state.clock[0] == 3_200
    assert sorted(clocks) == list(range(1, 3_201))
    assert bandit._stream.state == np.random.PCG64(11).advance(3_200).state
    if isinstance(policy, SleepingUCB):
        assert bandit.state.counts.sum() == 3_200


def test_arms_may_come_and_go_while_threads_choose() -> None:
    bandit = Bandit(SleepingUCB(), 3, seed=11)
    problems: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            while not done.is_set():
                for awake in ([0, 1], [1, 2], None):
                    decision = bandit.choose(awake)
                    assert decision.arm in decision.awake
                    bandit.update(decision, loss=0.5)
        except BaseException as problem:
            problems.append(problem)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for _ in range(2_000):
            bandit.retire_arm(bandit.add_arm())
    finally:
        done.set()
        sys.setswitchinterval(interval)
        for thread in threads:
            thread.join()
    assert not problems
    assert bandit.choose().awake == (0, 1, 2)
    for names in ([0, 1], [1, 2], None):
        assert bandit.probabilities(names).size == 2_003


def test_an_iterable_of_names_may_ask_the_bandit_itself() -> None:
    bandit = trained(SIExp3())
    likely = (name for name, p in zip(bandit.arms, bandit.probabilities(), strict=True) if p <= 1.0)
    asking = (name for name in likely if bandit.probabilities().sum() > 0.0)
    answers: list[Decision] = []
    thread = threading.Thread(target=lambda: answers.append(bandit.choose(asking)), daemon=True)
    thread.start()
    thread.join(timeout=5)
    assert not thread.is_alive(), "choose waits for itself"
    assert answers[0].awake == tuple(DRINKS)


@pytest.mark.parametrize("policy", POLICIES, ids=stable_id)
def test_the_same_seed_makes_the_same_choices(policy: Policy) -> None:
    awake, losses = world(100, 3, 12)
    one, other = (run(Bandit(policy, 3, seed=5), awake, losses) for _ in range(2))
    assert one == other


def test_seeds_are_whole_numbers_seed_sequences_or_nothing() -> None:
    seeds: list[Any] = [5, np.int32(5), np.uint64(5), np.random.SeedSequence(5)]
    arms = [[bandit.choose().arm for _ in range(50)] for bandit in (Bandit(Uniform(), 5, seed) for seed in seeds)]
    assert arms[0] == arms[1] == arms[2] == arms[3]
    fresh = [[bandit.choose().arm for _ in range(50)] for bandit in (Bandit(Uniform(), 5) for _ in range(2))]
    assert fresh[0] != fresh[1]
    assert Bandit(Uniform(), 5, 10**100).choose().arm in range(5)


def test_choosing_is_drawing_the_first_arm_whose_cumulated_probability_exceeds_a_uniform_number() -> None:
    bandit, rng = Bandit(SIExp3(), 4, seed=6), np.random.default_rng(6)
    for decision in run(bandit, *world(600, 4, 13)):
        u = rng.random()
        before = math.fsum(decision.probabilities[: decision.arm])
        assert before - 1e-12 <= u < before + decision.probability + 1e-12


@settings(deadline=None)
@given(some.integers(0, 2**128), some.integers(0, 3 * DRAWN_AT_ONCE), some.integers(0, 2 * DRAWN_AT_ONCE))
def test_a_stream_is_numpys_generator_saved_and_restored_anywhere(seed: int, before: int, after: int) -> None:
    expected = np.random.default_rng(seed).random(before + after).tolist()
    stream = Stream(seed)
    assert [stream.draw() for _ in range(before)] == expected[:before]
    restored = Stream(0)
    restored.state = json.loads(json.dumps(stream.state))
    assert restored.state == stream.state == np.random.PCG64(seed).advance(before).state
    for one in (stream, restored):
        assert [one.draw() for _ in range(after)] == expected[before:]


class Share(NamedTuple):
    """Probabilities to play, and how often each arm lost."""

    law: Floats
    lost: Floats


@dataclass(frozen=True)
class Plain(Policy):
    """A policy in plain Python that hands out its own array, as people do."""

    def start(self, n_arms: int) -> Share:
        return Share(np.full(n_arms, 1.0 / n_arms), np.zeros(n_arms))

    def probabilities(self, state: Any, awake: Mask) -> Floats:
        if awake.all():
            return state.law  # type: ignore[no-any-return]
        return awake / float(awake.sum())

    def update(self, state: Any, decision: Decision, loss: float) -> None:
        state.lost[decision.arm] += loss
        state.law[:] = (1.0 + state.lost) / (1.0 + state.lost).sum()


def test_a_plain_policy_gets_positions_and_callers_get_names() -> None:
    bandit = Bandit(Plain(), DRINKS, seed=1)
    decision = bandit.choose(["coffee"])
    assert decision == Decision("coffee", 1.0, ("coffee",), np.array([0.0, 1.0, 0.0]), 1, 0.0, "Plain")
    bandit.update(Decision.from_dict(json.loads(json.dumps(decision.to_dict()))), reward=0.25)
    assert bandit.state.lost.tolist() == [0.0, 0.75, 0.0]


def test_a_plain_policy_that_hands_out_its_own_array_does_not_change_decisions_made() -> None:
    bandit = Bandit(Plain(), DRINKS, seed=1)
    decision = bandit.choose()
    p = decision.probabilities.tolist()
    bandit.update(bandit.choose(["coffee"]), loss=1.0)
    assert decision.probabilities.tolist() == p
    bandit.update(decision, loss=1.0)
    bandit.probabilities()[:] = 7.0
    assert bandit.state.law.max() <= 1.0


def test_a_bandit_shows_its_policy_its_arms_and_its_rounds() -> None:
    assert repr(trained(SleepingUCB())) == "<Bandit SleepingUCB(constant=8.0), 3 arms, 40 rounds>"


def test_a_copy_goes_its_own_way() -> None:
    bandit = trained(SIExp3())
    twin = copy.deepcopy(bandit)
    assert [twin.choose().arm for _ in range(20)] == [bandit.choose().arm for _ in range(20)]
    twin.update(twin.choose(), loss=1.0)
    assert twin.rounds == bandit.rounds + 1
    assert not np.array_equal(twin.state.losses, bandit.state.losses)


def test_a_state_that_grew_comes_back_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broken.Logging, "grows", True)
    bandit = Bandit(broken.Logging(), 2, seed=1)
    for _ in range(300):  # more than it had room for
        bandit.update(bandit.choose(), loss=0.5)
    bandit.save(tmp_path / "log.wakeful")
    assert np.array_equal(Bandit.load(tmp_path / "log.wakeful").state.arms, bandit.state.arms)


@pytest.mark.parametrize("arms", [3, ["tea", "coffee", "juice"]], ids=stable_id)
def test_sets_that_were_said_before_and_the_latest_decision_take_the_short_way(
    arms: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bandit = Bandit(SIExp3(), arms, seed=1)
    names = bandit.arms
    ways: list[Any] = [list(names[:2]), names[1:], np.array([True, False, True]), None]
    for awake in ways:
        bandit.choose(awake)
    monkeypatch.setattr(Arms, "_judged", None)  # the long ways, with all their checks
    monkeypatch.setattr(Bandit, "_placed", None)
    for awake in ways:
        bandit.update(bandit.choose(awake), loss=0.5)


@pytest.mark.parametrize(
    "loss", [0.25, np.float64(0.25), np.float32(0.25), 1, 0, True, np.int64(1), np.bool_(True)], ids=stable_id
)
def test_losses_of_ordinary_kinds_take_the_short_way(loss: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bandit, other = trained(SIExp3()), trained(SIExp3())
    other.update(other.choose(), loss=float(loss))
    monkeypatch.setattr("wakeful.bandits.bandit.loss_of", None)  # the long way, with its checks of abstract types
    bandit.update(bandit.choose(), loss=loss)
    assert everything(bandit) == everything(other)


def test_what_learns_is_compiled_at_the_first_feedback(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(policy: Policy, entry: str, state: Any, n_arms: int) -> Any:
        asked.append(entry)
        return compiled(policy, entry, state, n_arms)

    monkeypatch.setattr("wakeful.bandits.bandit.compiled", noted)
    bandit = Bandit(SIExp3(), DRINKS, seed=1)
    decisions = [bandit.choose() for _ in range(3)]
    assert asked == ["choose"]
    for decision in decisions:
        bandit.update(decision, loss=0.5)
    assert asked == ["choose", "update"]
