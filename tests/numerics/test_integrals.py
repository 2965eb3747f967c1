"""The integrals against exact fractions, scipy and the sum over sets; their laws; their extremes."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from reference import integrals as reference
from wakeful.numerics.integrals import beta_minimum, expected_share, log_factorial_excess

Counts = list[tuple[float, float]]
Arms = list[tuple[float, float]]


def minimum(counts: Counts) -> NDArray[np.float64]:
    ones, zeros = (np.array(column, dtype=float) for column in zip(*counts, strict=True))
    law = np.full(len(counts), np.nan)
    beta_minimum(ones, zeros, law)
    return law


def quadrature(counts: Counts) -> NDArray[np.float64]:
    return reference.beta_minimum([a for a, _ in counts], [b for _, b in counts])


def share(arms: Arms, arm: int) -> float:
    log_weights, rates = (np.array(column) for column in zip(*arms, strict=True))
    return expected_share(log_weights, rates, arm)


def summed(arms: Arms, arm: int) -> float:
    return reference.expected_share([v for v, _ in arms], [a for _, a in arms], arm)


def error(arms: Arms, arm: int) -> float:
    exact = summed(arms, arm)
    value = share(arms, arm)
    assert 0.0 <= value <= arms[arm][1]
    return abs(value - exact) / max(exact, 1e-290)


def assert_law(law: NDArray[np.float64]) -> None:
    assert np.isfinite(law).all()
    assert (law >= 0.0).all()
    assert abs(law.sum() - 1.0) <= 1e-14


small = st.integers(0, 6)
sizes = st.floats(0.0, 6.0).map(lambda d: float(round(10**d)) - 1.0)  # 0 to 1e6, even in the exponent
fractions = st.floats(0.0, 6.0).map(lambda d: d**3)
count = st.one_of(st.integers(0, 3).map(float), sizes, fractions)


@st.composite
def contested(draw: st.DrawFn) -> Counts:
    """Draw posteriors of any sharpness around one mean, so that several arms may be the smallest."""
    mean = draw(st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1e-6, 1e-3, 0.5, 0.999, 1.0])))
    arms: Counts = []
    for _ in range(draw(st.integers(2, 6))):
        n = draw(sizes)
        centre = n * mean + draw(st.floats(-4.0, 4.0)) * math.sqrt(n * mean * (1.0 - mean))
        ones = float(round(min(max(centre, 0.0), n)))
        arms.append((ones, n - ones))
    return arms


@given(st.lists(st.tuples(small, small), min_size=1, max_size=5))
@settings(deadline=None, max_examples=60)
def test_small_counts_give_the_exact_fractions(counts: list[tuple[int, int]]) -> None:
    exact = reference.exact_beta_minimum([a for a, _ in counts], [b for _, b in counts])
    assert sum(exact) == 1
    np.testing.assert_allclose(minimum(list(counts)), [float(p) for p in exact], rtol=0.0, atol=1e-10)


@given(st.one_of(contested(), st.lists(st.tuples(count, count), min_size=2, max_size=5)))
@settings(deadline=None, max_examples=80)
def test_the_chance_of_being_smallest_matches_scipy(counts: Counts) -> None:
    law = minimum(counts)
    assert_law(law)
    np.testing.assert_allclose(law, quadrature(counts), rtol=0.0, atol=5e-10)


@pytest.mark.parametrize(
    "counts",
    [
        [(0, 0), (100_000, 900_000)],
        [(0, 0)] * 9 + [(50_000, 950_000)],
        [(0, 1000), (0, 1000), (3, 1000)],
        [(1000, 0), (1000, 2), (990, 0)],
        [(0, 10**6), (20, 10**6)],
        [(10**6, 0), (10**6, 20)],
        [(500_000, 500_000), (504_000, 496_000)],
        [(30_000, 70_000), (500_000, 500_000)],
        [(2, 10**6), (0, 3), (500_000, 500_000)],
        [(0, 30), (0, 10**6)],
        [(500, 500), (480, 520), (5, 5), (0, 0), (50, 40)],
        [(0.3, 0.1), (0.5, 7.5), (0.0, 0.2)],
        [(0.01, 10**6), (0.5, 10**6)],
        [(36_197, 0.94), (7, 0.07), (166_748, 0.44)],
        [(10**9, 10**9), (10**9 - 40_000, 10**9 + 40_000)],
        [(10**9, 0), (10**9, 1), (10**9, 3)],
        [(10, 10**6)] * 15 + [(11, 10**6)],
        [(30, 100)] * 50 + [(31, 100)],
        [(0, 1000)] * 60 + [(1, 1000)] * 40,
        [(0, 0)] * 99 + [(1, 0)],
    ],
)
def test_hard_posteriors_match_scipy(counts: Counts) -> None:
    law = minimum(counts)
    assert_law(law)
    np.testing.assert_allclose(law, quadrature(counts), rtol=0.0, atol=2e-10)


@pytest.mark.parametrize("arms", [1, 2, 3, 16, 100])
@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (0, 1000), (10, 10**6), (500, 500), (10**6, 3), (10**9, 10**9)])
def test_identical_arms_share_equally(counts: tuple[float, float], arms: int) -> None:
    np.testing.assert_allclose(minimum([counts] * arms), 1.0 / arms, rtol=1e-13)


def test_a_dominant_arm_takes_all() -> None:
    np.testing.assert_array_equal(minimum([(900, 100), (100, 900), (900, 100)]), [0.0, 1.0, 0.0])


def test_two_flat_arms_and_a_sharp_one_by_hand() -> None:
    # P(sharp first) = E[(1 - X)^2], X ~ Beta(1 + a, 1 + b).
    a, b = 300_000.0, 700_000.0
    n = a + b + 2.0
    first = (1.0 + b) * (2.0 + b) / (n * (n + 1.0))
    np.testing.assert_allclose(minimum([(0, 0), (a, b), (0, 0)])[1], first, rtol=0.0, atol=2e-11)


def test_exponential_tails_are_followed_to_the_end() -> None:
    # 1 - X is nearly exponential: P(1 - X > e) = (1 - e)^1001, and a point mass at 1 - e decides.
    e = 15e-3
    sharp = (1e12 * (1.0 - e), 1e12 * e)
    np.testing.assert_allclose(minimum([(1000, 0), sharp])[0], (1.0 - e) ** 1001, rtol=1e-5, atol=0.0)


@pytest.mark.parametrize("value", [0.0, 1e-9, 0.5, 1.0, 15.0, 15.9, 16.0, 17.5, 100.0, 1e4, 1e9])
def test_factorials_lose_nothing_to_cancellation(value: float) -> None:
    exact = reference.log_factorial_excess(value)
    assert log_factorial_excess(value) == pytest.approx(exact, rel=1e-14, abs=2e-14)


@given(st.lists(st.tuples(count, count), min_size=2, max_size=8), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_relabelling_relabels_the_law(counts: Counts, random: Random) -> None:
    order = list(range(len(counts)))
    random.shuffle(order)
    np.testing.assert_allclose(minimum([counts[k] for k in order]), minimum(counts)[order], rtol=0.0, atol=1e-13)


@given(st.lists(st.tuples(st.floats(0.0, 1e9), st.floats(0.0, 1e9)), min_size=1, max_size=12))
@settings(deadline=None, max_examples=100)
def test_huge_counts_still_give_a_law(counts: Counts) -> None:
    assert_law(minimum(counts))


rate = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1e-12, 0.5, 1.0 - 1e-9, 1.0]))
scale = st.sampled_from([0.0, 1.0, 30.0, 600.0])


@st.composite
def sleepers(draw: st.DrawFn) -> Arms:
    """Draw up to eight arms; the first is awake now and then."""
    spread = draw(scale)
    arms = draw(st.lists(st.tuples(st.floats(-spread, spread), rate), min_size=1, max_size=8))
    return [(arms[0][0], max(arms[0][1], 1e-9)), *arms[1:]]


@given(sleepers())
@settings(deadline=None, max_examples=150)
def test_the_expected_share_matches_the_sum_over_sets(arms: Arms) -> None:
    if summed(arms, 0) >= 1e-290:
        assert error(arms, 0) <= 1e-12


@given(st.lists(st.tuples(st.floats(-3000.0, 3000.0), rate), min_size=1, max_size=60))
@settings(deadline=None, max_examples=100)
def test_shares_add_up_to_the_chance_that_somebody_is_awake(arms: Arms) -> None:
    total = sum(share(arms, k) for k in range(len(arms)))
    assert total == pytest.approx(1.0 - math.prod(1.0 - a for _, a in arms), rel=1e-12, abs=1e-15)


@given(st.floats(-1e6, 1e6), sleepers())
@settings(deadline=None, max_examples=50)
def test_only_weight_ratios_matter(shift: float, arms: Arms) -> None:
    arms = [(float(round(v)), a) for v, a in arms]
    moved = [(v + round(shift), a) for v, a in arms]
    assert share(moved, 0) == share(arms, 0)


@pytest.mark.parametrize(
    "arms",
    [
        [(0.0, 0.3)],
        [(0.0, 1.0)] * 10,
        [(0.0, 0.5)] * 10,
        [(0.0, 1.0), (500.0, 1.0), (499.0, 1.0), (510.0, 0.5)],
        [(0.0, 0.7), (1000.0, 1.0 - 1e-9), (900.0, 0.2)],
        [(0.0, 1.0)] + [(400.0, 1.0 - 1e-9)] * 9,
        [(0.0, 1.0)] + [(320.0, 1.0 - 2.0**-53)] * 9,  # the others' sleep is rarer than exp(-320)
        [(0.0, 0.5), (20.0, 1.0), (40.0, 1.0 - 1e-9), (60.0, 1.0 - 1e-15), (-5.0, 0.3)],
        [(0.0, 1.0), (-3000.0, 1.0), (-3000.0, 0.5), (3000.0, 0.0)],
        [(0.0, 1.0)] + [(float(v), 0.9) for v in range(-4, 5)],
        [(0.0, 1e-300), (1.0, 0.5)],
        [(0.0, 1.0), (24.0, 1e-12)],  # rare, but steep long before it counts in the mean slope
        [(0.0, 1.0), (12.0, 1e-6), (30.0, 1e-14)],
        [(0.0, 0.5), (660.0, 1.0 - 2.0**-53), (5.0, 0.5)],
    ],
)
def test_hard_shares_match_the_sum_over_sets(arms: Arms) -> None:
    assert error(arms, 0) <= 2e-13


@pytest.mark.parametrize("rates", [1.0, 1.0 - 1e-9, 0.5])
def test_a_share_too_small_for_doubles_is_zero_or_nearly(rates: float) -> None:
    value = share([(0.0, 1.0)] + [(1000.0, 1.0)] * 3 + [(4000.0, rates)] * 96, 0)
    assert 0.0 <= value <= 1e-300


def test_an_outweighed_arm_lives_on_when_the_others_sleep() -> None:
    assert share([(-4000.0, 1.0), (4000.0, 0.75), (3000.0, 0.5)], 0) == pytest.approx(0.125, rel=1e-12)
