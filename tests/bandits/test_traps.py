"""What other libraries got wrong, each as a test."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

from policy_cases import CASES
from wakeful import (
    Bandit,
    Decision,
    OrderingExp4,
    Policy,
    SBExp3,
    SIExp3,
    SleepingExp3,
    SleepingExp3G,
    SleepingThompson,
    SleepingUCB,
    Uniform,
    play,
)
from wakeful.policies.kernels import FLOOR

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

POLICIES = [case.policy for case in CASES]


def world(rounds: int, n_arms: int, seed: int) -> tuple[Mask, Floats]:
    """Awake sets that are never empty, and losses of zero and one."""
    rng = np.random.default_rng(seed)
    awake = rng.random((rounds, n_arms)) < 0.5
    awake[np.arange(rounds), rng.integers(n_arms, size=rounds)] = True
    return awake, rng.integers(2, size=(rounds, n_arms)).astype(np.float64)


def assert_law(p: Floats, awake: Any = None) -> None:
    """Non-negative, finite, zero on arms that are asleep, summing to one."""
    assert (p >= 0.0).all(), p
    assert math.fsum(p) == pytest.approx(1.0, abs=1e-9), p
    assert awake is None or not p[~np.asarray(awake)].any(), p


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_late_feedback_for_any_decision_raises_nothing(policy: Policy) -> None:
    bandit = Bandit(policy, 4, seed=0)
    awake, losses = world(300, 4, 0)
    decisions = [bandit.choose(row) for row in awake]
    order = np.random.default_rng(1).permutation(300)
    for t in order[:200]:
        bandit.update(decisions[t], loss=float(losses[t, decisions[t].arm]))
    for row in awake:
        assert_law(bandit.probabilities(row), row)


@settings(deadline=None, max_examples=30)
@given(some.permutations(range(8)), some.integers(0, 2**32))
def test_late_feedback_is_weighted_by_the_propensity_its_own_decision_had(order: list[int], seed: int) -> None:
    bandit = Bandit(SBExp3(eta=0.5), 3, seed=seed)
    expected = np.zeros(3)
    for batch in range(3):
        decisions = [bandit.choose() for _ in range(8)]
        for n in order:
            arm, probability = decisions[n].arm, decisions[n].probability
            loss = (n + batch) % 4 / 4
            expected += loss * (np.arange(3) == arm) / probability - loss
            bandit.update(decisions[n], loss=loss)
    assert len(set(bandit.probabilities())) > 1
    np.testing.assert_allclose(bandit.state.losses, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "policy",
    [
        SIExp3(),
        SIExp3(eta="sqrt", exploration=0.0),
        SIExp3(eta=0.5, exploration=0.0),
        SBExp3(),
        SBExp3(eta=0.5),
    ],
    ids=repr,
)
def test_four_hundred_thousand_rounds_neither_overflow_nor_lose_the_law(policy: Policy) -> None:
    awake, losses = world(400_000, 4, 2)
    losses[:, 0] *= np.arange(400_000) % 3 == 0
    state = policy.start(4)
    choices = play(policy, awake, losses, np.random.default_rng(3), state)
    assert awake[np.arange(400_000), choices].all()
    assert all(np.isfinite(array).all() for array in state)
    for row in awake[:50]:
        assert_law(policy.probabilities(state, row.copy()), row)


@pytest.mark.parametrize("policy", [SIExp3(), SBExp3(), SIExp3(eta=0.5, exploration=0.0)], ids=repr)
def test_thirty_thousand_decisions_of_a_bandit_neither_overflow_nor_lose_the_law(policy: Policy) -> None:
    bandit = Bandit(policy, 3, seed=4)
    for _ in range(30_000):
        decision = bandit.choose()
        bandit.update(decision, reward=decision.arm == 1)
    assert_law(bandit.probabilities())
    assert bandit.probabilities()[1] > 0.9
    assert all(np.isfinite(array).all() for array in bandit.state)


@pytest.mark.parametrize("policy", [SIExp3(eta="sqrt", exploration=0.0), SBExp3(eta="sqrt")], ids=repr)
def test_a_loss_of_one_in_every_round_does_not_overflow(policy: Policy) -> None:
    awake = np.ones((100_000, 3), np.bool_)
    state = policy.start(3)
    play(policy, awake, np.ones((100_000, 3)), np.random.default_rng(5), state)
    assert_law(policy.probabilities(state, awake[0].copy()))


EXTREME: list[tuple[Callable[..., Policy], str]] = [
    *[(make, name) for make in (SIExp3, SBExp3, SleepingExp3, SleepingExp3G) for name in ("eta", "exploration")],
    (OrderingExp4, "scale"),
    (SleepingUCB, "constant"),
]


@pytest.mark.parametrize("value", [5e-324, 1e-100, 7, 1e18, 1e100, 1e308])
@pytest.mark.parametrize(("make", "name"), EXTREME, ids=[f"{make.__name__}-{name}" for make, name in EXTREME])
def test_a_parameter_is_refused_or_keeps_the_law_a_law(make: Callable[..., Policy], name: str, value: float) -> None:
    try:
        bandit = Bandit(make(**{name: value}), 3, seed=0)
    except ValueError:
        return
    for n in range(200):
        decision = bandit.choose([[0, 1, 2], [0, 1], [1, 2]][n % 3])
        assert_law(decision.probabilities)
        bandit.update(decision, loss=n % 4 / 3)
    assert_law(bandit.probabilities())


@pytest.mark.parametrize("gamma", [7, -1, -1e-9, math.nan, math.inf])
def test_no_parameter_beyond_its_range_is_accepted(gamma: float) -> None:
    if gamma != 7:
        with pytest.raises(ValueError, match=r"^exploration must be a number, zero or positive, at most 1e\+100, got "):
            SIExp3(exploration=gamma)
    bandit = Bandit(SIExp3(), 2, seed=0)
    decision = bandit.choose()
    for name in ("loss", "reward"):
        with pytest.raises(ValueError, match=rf"^{name} must be .*between 0 and 1, got "):
            bandit.update(decision, **{name: gamma})
    forged = decision._replace(probabilities=np.array([gamma, 1.0 - gamma]), probability=gamma, arm=0)
    with pytest.raises(ValueError, match=r"^decision\.\w+ must be "):
        bandit.update(forged, loss=0.5)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_no_sleeping_arm_is_ever_played_not_even_at_first(policy: Policy) -> None:
    for seed in range(20):
        awake, losses = world(12, 4, seed)
        bandit = Bandit(policy, 4, seed=seed)
        for row, loss in zip(awake, losses, strict=True):
            decision = bandit.choose(row)
            assert row[decision.arm]
            assert_law(decision.probabilities, row)
            bandit.update(decision, loss=float(loss[decision.arm]))
        choices = play(policy, awake, losses, np.random.default_rng(seed))
        assert awake[np.arange(12), choices].all()


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_arms_that_the_policy_had_given_up_are_played_where_they_are_awake_alone(policy: Policy) -> None:
    bandit = Bandit(policy, 3, seed=7)
    for _ in range(2_000):
        decision = bandit.choose()
        bandit.update(decision, loss=float(decision.arm != 0))
    assert_law(bandit.probabilities([1, 2]), [False, True, True])
    for k in range(3):
        assert bandit.choose([k]).probabilities.tolist() == [float(k == n) for n in range(3)]


CHOICES = """
import json, sys
from wakeful import Bandit, Policy
bandit = Bandit(Policy.from_dict(json.loads(sys.argv[1])), ["tea", "coffee", "juice", "water"], seed=42)
arms = []
for n in range(60):
    decision = bandit.choose({"tea", "coffee", "juice", "water"} - {["tea", "juice"][n % 2]})
    bandit.update(decision, loss=n % 7 / 6)
    arms.append(decision.arm)
print(arms)
"""


@pytest.mark.parametrize("policy", [SIExp3(), SleepingExp3G()], ids=repr)
def test_the_same_seed_makes_the_same_choices_in_every_process(policy: Policy) -> None:
    command = [sys.executable, "-c", CHOICES, json.dumps(policy.to_dict())]
    printed = set()
    for seed in ("1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        printed.add(done.stdout)
    assert len(printed) == 1
    assert len(set(json.loads(printed.pop().replace("'", '"')))) == 4


def test_nothing_touches_or_depends_on_the_global_random_state() -> None:
    def arms() -> list[int]:
        bandit = Bandit(SIExp3(), 4, seed=8)
        return [bandit.choose().arm for _ in range(100)]

    legacy: Any = np.random  # the state every program shares
    legacy.seed(1)
    before = legacy.get_state()[1].tolist()
    first = arms()
    assert legacy.get_state()[1].tolist() == before
    legacy.seed(2)
    assert arms() == first


def unlikely(bandit: Bandit, arm: int, probability: float, memo: float) -> Decision:
    """A decision that drew `arm` with hardly any probability; all that a bandit can check of it is right."""
    n_arms = len(bandit.arms)
    p = np.full(n_arms, (1.0 - probability) / (n_arms - 1))
    p[arm] = probability
    return Decision(arm, probability, bandit.arms, p, 1, memo)


@pytest.mark.parametrize("probability", [FLOOR, 1e-12, 1e-4])
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_one_huge_importance_weight_neither_raises_nor_breaks_the_law(policy: Policy, probability: float) -> None:
    bandit = Bandit(policy, 3, seed=9)
    for n in range(5):
        bandit.update(bandit.choose(), loss=n / 4)
    memo = bandit.choose().memo
    for arm in (0, 1, 0):
        bandit.update(unlikely(bandit, arm, probability, memo), loss=1.0)
        for awake in ([0, 1, 2], [0, 1], [1, 2], [0, 2], [0]):
            assert_law(bandit.probabilities(awake), [k in awake for k in range(3)])
            bandit.update(bandit.choose(awake), loss=0.5)
    assert all(np.isfinite(array).all() for array in bandit.state)


@settings(deadline=None, max_examples=60)
@given(
    some.sampled_from([SIExp3(eta=1.0, exploration=0.0), SBExp3(eta=1.0), SIExp3(eta="sqrt", exploration=0.0)]),
    some.lists(some.tuples(some.integers(0, 3), some.floats(-18.0, -1.0), some.floats(0.0, 1.0)), max_size=30),
)
def test_log_weights_thousands_apart_keep_the_law_a_law(
    policy: Policy, feedback: list[tuple[int, float, float]]
) -> None:
    bandit = Bandit(policy, 4, seed=10)
    for arm, exponent, loss in feedback:
        bandit.update(unlikely(bandit, arm, max(10.0**exponent, FLOOR), 1.0), loss=loss)
        assert_law(bandit.probabilities())
        assert_law(bandit.probabilities([arm, (arm + 1) % 4]))
    bandit.update(bandit.choose(), loss=1.0)


@pytest.mark.parametrize("n_arms", [2, 3, 4, 8])
@pytest.mark.parametrize("policy", [SIExp3(eta=1.0), SBExp3(eta=1.0)], ids=repr)
def test_losses_of_any_size_that_nearly_tie_keep_the_law_a_law(policy: Policy, n_arms: int) -> None:
    rng = np.random.default_rng(14)
    bandit = Bandit(policy, n_arms, seed=0)
    for exponent in range(-20, 300, 4):
        for _ in range(100):
            losses = rng.integers(-12, 13, bandit.state.losses.shape) / 3 * 10.0**exponent
            bandit.state.losses[:] = losses * (1.0 + rng.integers(-2, 3, losses.shape) * 2.0**-52)
            assert_law(bandit.probabilities())


def test_after_a_huge_weight_the_unlucky_arm_is_left_alone_and_the_others_are_still_told_apart() -> None:
    bandit = Bandit(SIExp3(eta=0.1, exploration=0.0), 3, seed=11)
    for _ in range(400):
        decision = bandit.choose([0, 1])
        bandit.update(decision, loss=float(decision.arm == 1))
    before = bandit.probabilities([0, 1])
    bandit.update(unlikely(bandit, 2, 1e-8, 0.1), loss=1.0)
    after = bandit.probabilities()
    assert after[2] < 1e-6
    np.testing.assert_allclose(after[:2], before[:2], atol=1e-6)
    assert 0.9 < before[0] < 1.0


def test_thompson_sampling_counts_a_huge_weight_as_one_observation() -> None:
    bandit = Bandit(SleepingThompson(), 3, seed=12)
    bandit.update(unlikely(bandit, 0, FLOOR, 0.5), loss=1.0)
    assert bandit.state.ones.tolist() == [1.0, 0.0, 0.0]


def test_uniform_play_stays_uniform_whatever_happens() -> None:
    bandit = Bandit(Uniform(), 3, seed=13)
    bandit.update(unlikely(bandit, 0, FLOOR, 0.0), loss=1.0)
    np.testing.assert_array_equal(bandit.probabilities([0, 2]), [0.5, 0.0, 0.5])
