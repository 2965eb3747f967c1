"""Lower bounds of arms: Newton's method finds what bisection finds, whatever the counts and means are."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wakeful.policies.bounds import LEAST_BOUND, STEEPNESS, odds_by_bounds

ARMS = st.lists(
    st.tuples(st.floats(0.0, 6.0), st.floats(0.0, 1.0), st.sampled_from([0.0, 1e-3, 1.0])), min_size=2, max_size=14
)


def kl(m: float, b: float) -> float:
    return m * math.log(m / b) + (1.0 - m) * math.log((1.0 - m) / (1.0 - b))


def bisected(spread: float, n: Any, mean: Any) -> Any:
    """Return how many nats each arm is beyond the lowest bound."""
    width = [math.log(min(5.0 * (len(n) - 1), 50.0) + sum(n) / (spread * k)) for k in n]
    bound = 1.0
    for count, m, w in zip(n, mean, width, strict=True):
        low, high = math.log(LEAST_BOUND), math.log(m)
        for _ in range(200):
            middle = (low + high) / 2.0
            low, high = (middle, high) if count * kl(m, math.exp(middle)) > w else (low, middle)
        bound = min(bound, math.exp(high))
    return np.array([count * kl(m, bound) - w for count, m, w in zip(n, mean, width, strict=True)])


@settings(deadline=None)  # compiling takes a second
@given(ARMS, st.floats(1.0, 1000.0), st.floats(1.0, 100.0))
@example([(0.2 * k, 0.5, 1.0) for k in range(14)], 1.0, 7.0)  # so many arms that bounds grow no wider by more
def test_odds_are_those_of_bounds_found_by_bisection(arms: Any, strength: float, spread: float) -> None:
    prior = 1.0 - 0.5 / strength
    seen = [10.0**size for size, _, _ in arms]
    lost = [size * (rate + (1.0 - rate) * rare) for size, (_, rate, rare) in zip(seen, arms, strict=True)]
    n = np.array(seen) + strength
    mean = np.minimum((np.array(lost) + strength * prior) / n, 1.0 - 1e-9)
    expected = bisected(spread, n.tolist(), mean.tolist())
    found = np.log(odds_by_bounds(1, spread, n, mean)) / -STEEPNESS
    near = expected - expected.min() < 15.0  # beyond 700 / 40, all odds are the least there are
    np.testing.assert_allclose(found[near], (expected - expected.min())[near], rtol=1e-6, atol=1e-6)


def test_readings_do_not_mix() -> None:
    n, mean = np.array([5.0, 50.0, 7.0, 9.0]), np.array([0.5, 0.4, 0.9, 0.6])
    together = odds_by_bounds(2, 2.0, n, mean)  # two arms, two readings each
    for m in range(2):
        alone = odds_by_bounds(1, 2.0, n[m::2].copy(), mean[m::2].copy())
        np.testing.assert_allclose(together[m::2], alone, rtol=1e-12)  # which takes its own number of steps


@pytest.mark.parametrize("count", [1e-9, 1.0, 1e20, 1e200])
@pytest.mark.parametrize("mean", [1e-9, 0.5, 1.0 - 1e-9])
def test_there_are_odds_whatever_was_counted(count: float, mean: float) -> None:
    odds = odds_by_bounds(1, 1.0, np.array([count, 1.0, 3.0]), np.array([mean, 0.5, mean]))
    assert np.isfinite(odds).all()
    assert odds.max() == 1.0
