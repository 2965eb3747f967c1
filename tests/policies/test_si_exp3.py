"""SI-EXP3 and SB-EXP3 beyond the suite: schedules, bounds, the doubling trick, extreme weights."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wakeful as wk
from wakeful.policies.learning_rates import epoch


def rates(policy: wk.SIExp3, rounds: int, n_arms: int, awake: list[int]) -> list[float]:
    """Return the learning rates of the first decisions, read off their memos."""
    bandit = wk.Bandit(policy, n_arms, seed=0)
    return [bandit.choose(awake).memo for _ in range(rounds)]


def test_each_schedule_is_its_formula() -> None:
    pairs, awake = math.log(4 * 3), [0, 1, 3]
    expected: dict[wk.SIExp3, Callable[[int], float]] = {
        wk.SIExp3(eta=0.05): lambda t: 0.05,
        wk.SIExp3(eta="sqrt"): lambda t: 1 / math.sqrt(t),
        wk.SIExp3(eta="horizon", horizon=500): lambda t: math.sqrt(pairs / 500),
        wk.SIExp3(eta="paper"): lambda t: math.sqrt(math.log(4) / (2 * 3 * t)),
        wk.SIExp3(eta="doubling"): lambda t: math.sqrt(pairs / 2 ** math.floor(math.log2(t))),
        wk.SIExp3(): lambda t: 4.0 * math.sqrt(pairs / (2 * t)),
    }
    for policy, eta in expected.items():
        assert rates(policy, 40, 4, awake) == pytest.approx([eta(t) for t in range(1, 41)], rel=1e-14), policy


def test_the_clock_counts_decisions_with_one_arm_awake_too() -> None:
    bandit = wk.Bandit(wk.SIExp3(eta="sqrt"), 3, seed=0)
    for awake in ([0], [1], [2]):
        bandit.update(bandit.choose(awake), loss=1.0)
    assert not bandit.state.losses.any()
    assert bandit.choose([0, 1]).memo == 4**-0.5


@given(st.integers(1, 10**12))
def test_an_epoch_is_the_power_of_two_below(t: int) -> None:
    assert epoch(t) == 2 ** (t.bit_length() - 1)


def test_doubling_starts_every_epoch_from_nothing() -> None:
    bandit = wk.Bandit(wk.SIExp3(eta="doubling"), 3, seed=1)
    for t in range(1, 70):
        if t & (t - 1) == 0:
            assert bandit.probabilities().tolist() == pytest.approx([1 / 3] * 3, abs=1e-15)
        decision = bandit.choose()
        bandit.update(decision, loss=float(decision.arm == 0))
    assert bandit.probabilities()[0] < 1 / 3


def test_doubling_drops_feedback_for_an_epoch_that_is_over() -> None:
    bandit = wk.Bandit(wk.SIExp3(eta="doubling"), 3, seed=1)
    decisions = [bandit.choose() for _ in range(8)]  # the eighth starts an epoch
    for decision in decisions[:7]:
        bandit.update(decision, loss=1.0)
    assert not bandit.state.losses.any()
    bandit.update(decisions[7], loss=1.0)
    assert bandit.state.losses.any()


def test_bounds_are_the_theorems() -> None:
    T, K = 10_000, 5
    pairs = math.log(K * (K - 1))
    best = wk.SIExp3(eta="horizon", horizon=T, exploration=0.0).bound(T, K)
    assert best.paper == pytest.approx(2 * math.sqrt(2 * math.log(K) * T * K))
    assert best.sharpened == pytest.approx(2 * math.sqrt(T * pairs))
    assert best.sharpened <= 2 * math.sqrt(2 * T * math.log(K))
    sqrt = wk.SIExp3(eta="sqrt", exploration=0.0).bound(T, K).sharpened
    assert sqrt == pytest.approx((pairs + 2) * math.sqrt(T) + 1)
    assert wk.SIExp3(eta=0.1, exploration=0.5).bound(T, K).sharpened == pytest.approx(pairs / 0.1 + 1.5 * 0.1 * T)
    doubling = wk.SIExp3(eta="doubling", exploration=0.0).bound(2**13 - 1, K).sharpened
    assert doubling <= 2 * math.sqrt(pairs * 2**13) / (math.sqrt(2) - 1)
    assert wk.SIExp3().bound(0, 1) == wk.SIExp3().bound(0, 1, awake_total=0)


def test_fewer_awake_arms_make_the_papers_bound_smaller_only() -> None:
    few, many = (wk.SIExp3(eta="sqrt").bound(1000, 10, awake_total=n) for n in (2_000, 10_000))
    assert few.paper < many.paper
    assert few.sharpened == many.sharpened


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 7), st.floats(1.0, 5e4))
def test_the_law_survives_any_losses(seed: int, n_arms: int, scale: float) -> None:
    policy = wk.SIExp3(eta=1.0)
    state = policy.start(n_arms)
    rng = np.random.default_rng(seed)
    state.losses[:] = rng.normal(scale=scale, size=(n_arms, n_arms))
    awake = rng.random(n_arms) < 0.7
    awake[seed % n_arms] = True
    p = policy.probabilities(state, awake)
    assert (p >= 0).all()
    assert not p[~awake].any()
    assert p.sum() == pytest.approx(1.0, abs=1e-12)


def test_exploration_tames_a_rare_draw_on_the_column_only() -> None:
    """With gamma, a rare arm's estimate is at most l / gamma; the row of the played arm is as in the paper."""
    probabilities = np.array([1e-12, 1.0 - 1e-12])
    for exploration, column in ((0.0, 1e12), (1.0, 1.0 / (1e-12 + 0.5))):
        bandit = wk.Bandit(wk.SIExp3(eta=0.5, exploration=exploration), 2, seed=0)
        decision = bandit.choose()._replace(arm=0, probability=1e-12, probabilities=probabilities)
        bandit.update(decision, loss=1.0)
        assert bandit.state.losses[1, 0] == pytest.approx(column, rel=1e-9)
        assert bandit.state.losses[0, 1] == -1.0


def test_sb_exp3_centres_its_losses() -> None:
    bandit = wk.Bandit(wk.SBExp3(), 3, seed=0)
    decision = bandit.choose([0, 2])
    bandit.update(decision, loss=0.75)
    other = 2 - decision.arm
    assert bandit.state.losses[decision.arm] == pytest.approx(0.75 / 0.5 - 0.75)
    assert bandit.state.losses[[other, 1]].tolist() == [-0.75, 0.0]


def test_internal_regret_under_dependence_is_small_where_external_policies_fail() -> None:
    """On the paper's dependent world, where no ordering is good, SI-EXP3 beats SB-EXP3 and UCB by far."""
    sets = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 1]], np.bool_)
    values = np.array([[0, 0.5, 0], [0, 0.5, 1], [1, 0, 0], [0, 0, 1]])
    which = np.random.default_rng(0).integers(4, size=20_000)
    losses = {
        type(policy).__name__: values[which][
            np.arange(20_000), wk.play(policy, sets[which], values[which], np.random.default_rng(1))
        ].sum()
        for policy in (wk.SIExp3(), wk.SBExp3(), wk.SleepingUCB(), wk.PerSet(wk.SBExp3()))
    }
    assert losses["SIExp3"] < 0.1 * losses["SBExp3"]
    assert losses["SIExp3"] < 0.1 * losses["SleepingUCB"]
    assert losses["PerSet"] < 0.1 * losses["SBExp3"]
