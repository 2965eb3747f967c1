"""Sums and intervals: against the literal estimators, against their definition, and with weights of any size."""

import math
from itertools import product

import numpy as np
import pytest

from reference import estimators as literal
from wakeful.numerics.arrays import Floats, Ints
from wakeful.off_policy.estimators import BETS, LowerSum, Sums
from wakeful.off_policy.predictions import ArmMeans


def drawn(n: int, k: int) -> tuple[Ints, Floats, Floats, Floats]:
    """Return arms, losses, probabilities and laws of random rounds."""
    rng = np.random.default_rng(1)
    pi = rng.dirichlet(np.ones(k), n)
    return rng.integers(k, size=n), rng.random(n), rng.uniform(0.1, 1.0, n), pi


def test_sums_in_parts_are_the_literal_estimators() -> None:
    n, k = 500, 4
    arms, losses, p, pi = drawn(n, k)
    table = ArmMeans(k).predict(arms, losses)
    np.testing.assert_allclose(table, literal.arm_means(arms.tolist(), losses.tolist(), k), rtol=1e-12)
    sums, rows = Sums(), np.arange(n)
    for part in (slice(0, 1), slice(1, 1), slice(1, 333), slice(333, n)):
        own = pi[rows, arms][part]
        expected, predicted = (pi * table).sum(axis=1)[part], table[rows, arms][part]
        sums.add(own / p[part], losses[part], expected, predicted)
    given = arms.tolist(), losses.tolist(), p.tolist(), pi.tolist()
    assert sums.value("ips") == pytest.approx(literal.ips(*given), abs=1e-9)
    assert sums.value("snips") == pytest.approx(literal.snips(*given), abs=1e-9)
    assert sums.value("dr") == pytest.approx(literal.dr(*given, table.tolist()), abs=1e-9)
    assert sums.value("direct") == pytest.approx(literal.direct(pi.tolist(), table.tolist()), abs=1e-9)
    w = pi[rows, arms] / p
    assert sums.effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert (sums.largest, sums.rows) == (w.max(), n)
    for estimator, terms in (("ips", w * losses), ("snips", w * (losses - sums.value("snips")) / w.mean())):
        low, high = sums.interval(estimator, "normal", 0.95)
        assert (high - low) / 2 == pytest.approx(1.96 * terms.std() / math.sqrt(n), rel=0.02)


def test_the_bound_is_where_the_average_of_the_bets_reaches_one_over_the_chance() -> None:
    rng = np.random.default_rng(0)
    values = rng.exponential(0.5, 400)
    whole, parts = LowerSum(), LowerSum()
    whole.add(values)
    parts.add(values[:7])
    parts.add(values[7:])
    assert parts.total == pytest.approx(whole.total)
    assert parts.squares == pytest.approx(whole.squares)
    guess, squares = 0.5, 0.0
    for n, x in enumerate(values):
        squares += (x - min(guess, 1.0)) ** 2
        guess = (values[: n + 1].sum() + 0.5) / (n + 2)
    assert whole.squares == pytest.approx(squares)
    found = whole.bound(0.025)
    bets = np.minimum(np.array(BETS) * math.sqrt(2 * math.log(40) / 400), 0.9)
    terms = np.exp(bets * (whole.total - 400 * found) - (-np.log(1 - bets) - bets) * squares)
    assert terms.mean() == pytest.approx(40.0, rel=1e-6)
    assert 0.3 < found < values.mean()


def test_every_bet_has_a_mean_of_at_most_one_whatever_the_sizes() -> None:
    """The inequality that the bound rests on, for two values of any size, exactly."""
    for high, chance, guess, bet in product(
        (0.5, 1.0, 3.0, 1000.0), (0.001, 0.1, 0.9), (0.0, 0.4, 1.0), (0.01, 0.3, 0.9)
    ):
        mean = chance * high
        psi = -math.log(1.0 - bet) - bet
        total = sum(
            c * math.exp(bet * (x - mean) - psi * (x - guess) ** 2) for x, c in ((high, chance), (0.0, 1.0 - chance))
        )
        assert total <= 1.0 + 1e-12


def test_intervals_know_nothing_where_there_is_nothing() -> None:
    assert math.isnan(Sums().value("dr"))
    assert Sums().interval("dr", "bernstein", 0.95) == (0.0, 1.0)
    sums, zeros = Sums(), np.zeros(50)
    sums.add(zeros, zeros + 0.5, zeros, zeros)
    assert math.isnan(sums.value("snips"))
    assert sums.effective == 0.0
    assert sums.interval("snips", "normal", 0.95) == (0.0, 1.0)
    assert sums.interval("ips", "bernstein", 0.95) == (0.0, 1.0)
    assert all(map(math.isnan, sums.interval("direct", "normal", 0.95)))


def test_intervals_stay_in_the_unit_interval_and_hold_the_estimate() -> None:
    sums, ones = Sums(), np.ones(20)
    sums.add(30.0 * ones, ones, ones, ones)
    assert sums.value("ips") == 30.0
    for kind in ("normal", "bernstein"):
        low, high = sums.interval("ips", kind, 0.95)
        assert 0.0 <= low <= high == 1.0
