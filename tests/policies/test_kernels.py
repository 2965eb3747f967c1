"""How an arm is drawn, at the edges of its probabilities, and when it is the only one."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy import stats

import wakeful as wk
from policy_cases import CASES
from small_worlds import BELOW_ONE, ints
from wakeful.policies.kernels import FLOOR, draw

LAW = np.array([0.0, 0.1, 0.25, 0.0, 0.4, 0.25])
AWAKE = ints(1, 2, 3, 4, 5)


def test_every_arm_is_drawn_on_its_own_stretch_of_the_unit_interval() -> None:
    n = 20_000
    arms = [draw(LAW, AWAKE, (i + 0.5) / n)[0] for i in range(n)]
    assert np.bincount(arms, minlength=6).tolist() == [0, 2_000, 5_000, 0, 8_000, 5_000]
    assert arms == sorted(arms)


def test_what_is_left_of_the_draw_is_where_it_fell_in_the_stretch() -> None:
    assert draw(LAW, AWAKE, 0.0) == (1, 0.0)
    for arm, start, coin in ((2, 0.1, 0.75), (4, 0.35, 0.125), (5, 0.75, 0.5)):
        assert draw(LAW, AWAKE, start + LAW[arm] * coin) == pytest.approx((arm, coin), abs=1e-14)


def test_frequencies_and_coins_are_those_of_chance() -> None:
    """Chi-squared at the level of one in a thousand: arms follow the law, coins are uniform whatever the arm."""
    n, bins = 40_000, 10
    drawn = [draw(LAW, AWAKE, u) for u in np.random.default_rng(5).random(n)]
    arms = np.array([arm for arm, _ in drawn])
    coins = np.array([coin for _, coin in drawn])
    likely = np.flatnonzero(LAW)
    assert stats.chisquare([(arms == k).sum() for k in likely], n * LAW[likely]).pvalue > 1e-3
    table = np.array([np.histogram(coins[arms == k], bins, (0.0, 1.0))[0] for k in likely])
    assert table.sum() == n
    assert stats.chi2_contingency(table).pvalue > 1e-3
    for row in table:
        assert stats.chisquare(row).pvalue > 1e-3


@pytest.mark.parametrize("u", [0.0, 1e-300, 1e-18, 0.5, 1.0 - 1e-15, BELOW_ONE])
def test_an_arm_below_the_floor_is_never_drawn(u: float) -> None:
    p = np.array([FLOOR * 0.999, 1.0, 5e-324, 0.0])
    arm, coin = draw(p, ints(0, 1, 2, 3), u)
    assert arm == 1
    assert 0.0 <= coin < 1.0


def test_an_arm_at_the_floor_can_be_drawn() -> None:
    assert draw(np.array([FLOOR, 1.0]), ints(0, 1), FLOOR / 2) == (0, 0.5)


@pytest.mark.parametrize("short", [2.0**-53, 2.0**-52, 1e-12, 1e-10])
def test_a_draw_past_the_end_is_that_of_the_last_arm_which_can_be_drawn(short: float) -> None:
    p = np.array([0.5, 0.0, 0.5 - short, 0.0, 1e-19, 0.0])
    assert math.fsum(p[:4]) < 1.0
    arm, coin = draw(p, ints(0, 1, 2, 4, 5), BELOW_ONE)
    assert arm == 2
    assert 0.0 <= coin < 1.0


def test_a_law_that_rounding_left_short_of_one_is_drawn_to_its_end() -> None:
    """Ten times a tenth is 1 - 2^-53 when added up, which the largest uniform number is not below."""
    p = np.full(10, 0.1)
    assert sum(p.tolist()) == BELOW_ONE
    assert draw(p, ints(*range(10)), BELOW_ONE) == (9, BELOW_ONE)
    p[9] -= 2.0**-53
    assert sum(p.tolist()) == 1.0 - 2.0**-52
    assert draw(p, ints(*range(10)), BELOW_ONE) == (9, BELOW_ONE)


@settings(max_examples=300, deadline=None)
@given(
    some.lists(some.one_of(some.just(0.0), some.floats(1e-30, 1.0)), min_size=1, max_size=8),
    some.one_of(some.floats(0.0, BELOW_ONE), some.just(BELOW_ONE)),
    some.data(),
)
def test_a_draw_is_always_of_an_awake_arm_that_can_be_drawn(weights: list[float], u: float, data: Any) -> None:
    awake = data.draw(some.sets(some.integers(0, len(weights) - 1), min_size=1).map(sorted))
    p = np.zeros(len(weights))
    p[awake] = np.array(weights)[awake]
    if p.sum() < 1e-9:
        p[awake[0]] = 1.0
    p /= p.sum()
    arm, coin = draw(p, ints(*awake), u)
    assert arm in awake
    assert p[arm] >= FLOOR
    assert 0.0 <= coin < 1.0


def alone(policy: wk.Policy) -> wk.Policy:
    """Return `policy` as it can be for one arm."""
    return wk.FixedOrdering((0,)) if isinstance(policy, wk.FixedOrdering) else policy


@pytest.mark.parametrize("policy", [alone(case.policy) for case in CASES], ids=repr)
def test_one_arm_is_enough(policy: wk.Policy) -> None:
    bandit = wk.Bandit(policy, ["only"], seed=0)
    rng = np.random.default_rng(1)
    for _ in range(70):
        decision = bandit.choose()
        assert (decision.arm, decision.probability, decision.probabilities.tolist()) == ("only", 1.0, [1.0])
        bandit.update(decision, loss=float(rng.random()))
    assert all(np.isfinite(array).all() for array in bandit.state)
    awake = np.array([[True], [False], [True]])
    assert wk.play(policy, awake, np.ones((3, 1)), np.random.default_rng(2)).tolist() == [0, -1, 0]
    bandit.add_arm("other")
    p = bandit.probabilities()
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    assert bandit.choose(["other"]).arm == "other"
