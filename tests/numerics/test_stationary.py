"""The stationary law against 50-digit arithmetic, at every scale of the log-weights."""

import importlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray

from reference import stationary as reference
from wakeful.numerics.stationary import solve, stationary

Floats = NDArray[np.float64]
module = importlib.import_module("wakeful.numerics.stationary")  # the package may give the name to the function


def check(log_weights: Floats, law: Floats | None = None) -> None:
    """A law, each entry of at least 1e-290 right to 1e-12 of itself, and the others absolutely."""
    law = stationary(log_weights) if law is None else law
    exact = reference.stationary(log_weights.tolist())
    assert (law >= 0.0).all()
    assert abs(math.fsum(law) - 1.0) <= 8 * np.finfo(float).eps
    assert reference.relative_error(law.tolist(), exact) <= 1e-12
    assert all(p <= 2e-290 for p, q in zip(law, exact, strict=True) if q < 1e-290)


def gaussian(rng: np.random.Generator, n: int, sd: float) -> Floats:
    return sd * rng.standard_normal((n, n))


def shifted_rows(rng: np.random.Generator, n: int, sd: float) -> Floats:
    return gaussian(rng, n, sd / 10) + sd * rng.standard_normal((n, 1))


def sparse(rng: np.random.Generator, n: int, sd: float) -> Floats:
    return gaussian(rng, n, sd) - 10 * sd * (rng.random((n, n)) < 0.6)


def reversible(rng: np.random.Generator, n: int, sd: float) -> Floats:
    """Rates far apart, law close to uniform: every state counts."""
    symmetric = gaussian(rng, n, sd)
    return symmetric + symmetric.T + rng.standard_normal((n, 1))


def tied(rng: np.random.Generator, n: int, sd: float) -> Floats:
    """Few distinct scales, so that sums have many terms of the same size."""
    return sd * rng.integers(-3, 2, (n, n)) + rng.standard_normal((n, n))


FAMILIES = [gaussian, shifted_rows, sparse, reversible, tied]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sd", [0.1, 1.0, 10.0, 40.0, 80.0, 150.0])
def test_every_entry_is_right(family: Callable[..., Floats], sd: float) -> None:
    rng = np.random.default_rng(7)
    for n in [*range(1, 13), *range(2, 9), *range(3, 7)]:
        check(family(rng, n, sd))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sd", [500.0, 1500.0, 5000.0])
def test_the_law_is_right_at_any_scale(family: Callable[..., Floats], sd: float) -> None:
    rng = np.random.default_rng(8)
    for n in [*range(1, 13), *range(2, 9)]:
        log_weights = family(rng, n, sd)
        law = stationary(log_weights)
        exact = reference.stationary(log_weights.tolist())
        assert reference.total_variation(law.tolist(), exact) <= 1e-11
        check(log_weights, law)


@pytest.mark.parametrize("sd", [1.0, 60.0, 1000.0])
@pytest.mark.parametrize("n", [30, 60])
def test_larger_chains(n: int, sd: float) -> None:
    rng = np.random.default_rng(n)
    check(gaussian(rng, n, sd))
    check(reversible(rng, n, sd))


def decomposable(n: int, gap: float) -> Floats:
    """Two groups of states, inside which all goes fast; between them one rate in e^gap."""
    log_weights = np.add.outer(np.arange(n) / 7.0, -np.arange(n) / 3.0)
    log_weights[: n // 2, n // 2 :] -= gap
    log_weights[n // 2 :, : n // 2] -= gap
    return log_weights


def ladder(n: int, up: float, down: float, elsewhere: float) -> Floats:
    """Rate e^up to the next state, e^down to the one before, e^elsewhere to all others."""
    steps = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where(steps == -1, up, np.where(steps == 1, down, elsewhere))


def one_entry(n: int, value: float) -> Floats:
    log_weights = np.zeros((n, n))
    log_weights[1, 0] = value
    return log_weights


def one_row(n: int, value: float) -> Floats:
    log_weights = np.zeros((n, n))
    log_weights[n // 2] = value
    return log_weights


def cycle(n: int, fast: float, slow: float) -> Floats:
    """Round and round: e^fast and e^slow by turns, next to nothing off the cycle."""
    log_weights = np.full((n, n), -5000.0)
    for i in range(n):
        log_weights[i, (i + 1) % n] = (fast, slow)[i % 2]
    return log_weights


EXTREMES = {
    **{f"decomposable {n} {gap}": decomposable(n, gap) for n in (4, 9) for gap in (30.0, 290.0, 310.0, 735.0, 800.0)},
    **{f"upward {n}": ladder(n, 0.0, -200.0, -290.0) for n in (4, 6, 12, 30)},
    **{f"downward {n}": ladder(n, -200.0, 0.0, -290.0) for n in (4, 6, 12, 30)},
    **{f"hidden rungs {n}": ladder(n, -120.0, 0.0, -299.0) for n in (4, 6, 12)},
    **{f"one entry {n} {value}": one_entry(n, value) for n in (2, 3, 4, 8) for value in (1e4, 700.0, -700.0, -1e4)},
    **{f"one row {n} {value}": one_row(n, value) for n in (2, 3, 4, 8) for value in (-2000.0, -50.0, 2000.0)},
    **{f"all equal {n} {value}": np.full((n, n), value) for n in (1, 2, 3, 4, 12, 40) for value in (0.0, -3e4)},
    **{f"cycle {n}": cycle(n, 700.0, -700.0) for n in (2, 3, 4, 5, 8, 11)},
    **{f"edge {low}": one_entry(6, low) for low in (-299.9, -300.0, -300.1)},
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(name: str) -> None:
    check(EXTREMES[name])


def test_absurd_log_weights_still_give_a_law() -> None:
    rng = np.random.default_rng(3)
    for n in (2, 3, 4, 7):
        for scale in (1e7, 1e16, 1e100, 1e300, np.finfo(float).max):
            law = stationary(scale * rng.choice([-1.0, -0.9, 0.0, 0.3, 1.0], (n, n)))
            assert (law >= 0.0).all()
            assert law.sum() == pytest.approx(1.0, abs=1e-15)


def test_a_common_offset_costs_nothing() -> None:
    log_weights = np.random.default_rng(5).integers(-900, 900, (9, 9)) / 64.0
    assert stationary(log_weights + 2.0**40) == pytest.approx(stationary(log_weights), rel=1e-13)


@some.composite
def chains(draw: some.DrawFn) -> Floats:
    """Log-weights on a grid of 1/64, so that shifting them is exact, from a few far-apart scales."""
    n = draw(some.integers(1, 8))
    scales = draw(some.lists(some.sampled_from([0, -1, 40, -120, -310, 700, -700, -4000]), min_size=1, max_size=3))
    scale = draw(some.lists(some.sampled_from(scales), min_size=n * n, max_size=n * n))
    fine = draw(some.lists(some.integers(-2000, 2000), min_size=n * n, max_size=n * n))
    rows = draw(some.lists(some.integers(-500, 500), min_size=n, max_size=n))
    log_weights: Floats = (np.array(scale) + np.array(fine) / 64.0).reshape(n, n)
    return log_weights + np.array(rows, dtype=np.float64)[:, None]


@settings(deadline=None, max_examples=300)
@given(chains())
def test_structured_chains(log_weights: Floats) -> None:
    check(log_weights)


def same(law: Floats, other: Floats) -> bool:
    return bool(np.allclose(law, other, rtol=1e-12, atol=1e-290))


@settings(deadline=None, max_examples=100)
@given(chains(), some.data())
def test_invariance(log_weights: Floats, data: some.DataObject) -> None:
    n = len(log_weights)
    law = stationary(log_weights)
    assert same(stationary(log_weights + data.draw(some.integers(-5000, 5000))), law)
    order = np.array(data.draw(some.permutations(range(n))))
    assert same(stationary(log_weights[np.ix_(order, order)]), law[order])
    i, speed = data.draw(some.integers(0, n - 1)), data.draw(some.integers(-30, 30))
    faster = log_weights.copy()
    faster[i] += speed
    expected = law.copy()
    expected[i] *= math.exp(-speed)
    assert same(stationary(faster), expected / expected.sum())


@pytest.mark.parametrize("sd", [1.0, 20.0, 150.0])
@pytest.mark.parametrize("n", [5, 12, 33, 36])
def test_blocks_of_states(n: int, sd: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCKED_FROM", 2)
    monkeypatch.setattr(module, "BLOCK", 4)
    rng = np.random.default_rng(n)
    check(gaussian(rng, n, sd))
    check(shifted_rows(rng, n, sd))
    check(decomposable(n, 2 * sd))
    check(ladder(n, 0.0, -10 * sd, -11 * sd))


def test_blocks_fall_back_only_where_they_must(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCKED_FROM", 2)
    monkeypatch.setattr(module, "BLOCK", 4)
    for gap in (310.0, 735.0, 800.0):
        check(decomposable(9, gap))
    monkeypatch.setattr(module, "_solve_wide", None)
    check(np.random.default_rng(1).standard_normal((9, 9)) + 1e4 * (np.arange(9.0) % 2)[:, None])


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="minutes without the compiler")
@pytest.mark.parametrize("n", [module.BLOCKED_FROM, module.BLOCKED_FROM + 1])
def test_blocks_at_their_own_size(n: int) -> None:
    log_weights = 20.0 * np.random.default_rng(n).standard_normal((n, n))
    loops, wide = np.empty(n), np.empty(n)
    solve(log_weights.copy(), loops)
    module._solve_wide(log_weights, wide)
    assert stationary(log_weights) == pytest.approx(wide, rel=1e-12, abs=0.0)
    assert loops == pytest.approx(wide, rel=1e-12, abs=0.0)


def test_wide_numbers_are_right_to_the_last_digits() -> None:
    rng = np.random.default_rng(2)
    for sd in (1.0, 100.0, 5000.0):
        for n in (4, 9):
            law = np.empty(n)
            log_weights = reversible(rng, n, sd)
            module._solve_wide(log_weights, law)
            assert reference.relative_error(law.tolist(), reference.stationary(log_weights.tolist())) <= 1e-14


def test_the_two_parts_of_the_logarithm_of_the_radix() -> None:
    with mpmath.workdps(40):
        rest = mpmath.log(mpmath.mpf(module.RADIX)) - mpmath.mpf(module.LOG_RADIX)
        assert abs(rest - mpmath.mpf(module.LOG_RADIX_REST)) < 1e-26
    assert (module.LOG_RADIX * 2.0**33).is_integer()


def test_rows_far_apart_need_no_wide_numbers() -> None:
    log_weights = np.random.default_rng(1).standard_normal((6, 6)) + 1e4 * np.arange(6.0)[:, None]
    assert module._shift(log_weights, np.empty(6))


def test_the_reference_balances() -> None:
    rng = np.random.default_rng(4)
    for family in FAMILIES:
        for n in (1, 2, 3, 6, 10):
            log_weights = family(rng, n, 300.0).tolist()
            assert reference.imbalance(log_weights, reference.stationary(log_weights)) < 1e-45


def test_solve_ignores_the_diagonal() -> None:
    rng = np.random.default_rng(6)
    for sd in (1.0, 1000.0):
        for n in (1, 2, 3, 4, 9):
            log_weights = gaussian(rng, n, sd)
            expected = stationary(log_weights)
            np.fill_diagonal(log_weights, np.nan)
            before, law = log_weights.copy(), np.empty(n)
            assert stationary(log_weights).tolist() == expected.tolist()
            assert np.array_equal(log_weights, before, equal_nan=True)  # it works on a copy
            solve(log_weights, law)
            assert law.tolist() == expected.tolist()


def test_any_layout_and_any_real_type() -> None:
    log_weights = np.random.default_rng(9).integers(-5, 5, (6, 6))
    expected = stationary(log_weights.astype(float)).tolist()
    for same_values in (
        log_weights,
        log_weights.tolist(),
        log_weights.astype(np.float32),
        np.asfortranarray(log_weights),
    ):
        assert stationary(same_values).tolist() == expected
    assert stationary(np.repeat(log_weights, 2, axis=1)[:, ::2]).tolist() == expected


@pytest.mark.parametrize(
    ("given_value", "error", "message"),
    [
        ([[0, 1]], ValueError, r"^log_weights.shape must be \(n, n\) with n >= 1, got \(1, 2\)$"),
        ([0, 1], ValueError, r"^log_weights.shape must be \(n, n\) with n >= 1, got \(2,\)$"),
        (np.empty((0, 0)), ValueError, r"^log_weights.shape must be \(n, n\) with n >= 1, got \(0, 0\)$"),
        ([[0, math.nan], [0, 0]], ValueError, r"^log_weights\[0, 1\] must be finite, got nan$"),
        ([[0, 0], [-math.inf, 0]], ValueError, r"^log_weights\[1, 0\] must be finite, got -inf$"),
        ([["a"]], TypeError, r"^log_weights must be real numbers, got dtype\('<U1'\)$"),
        ([[1j]], TypeError, r"^log_weights must be real numbers, got dtype\('complex128'\)$"),
        ([[None]], TypeError, r"^log_weights must be real numbers, got dtype\('O'\)$"),
    ],
)
def test_errors_at_the_door(given_value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        stationary(given_value)


UNCOMPILED = """
import json, sys
from wakeful.numerics.stationary import stationary
print(json.dumps([stationary(matrix).tolist() for matrix in json.load(sys.stdin)]))
"""


def test_the_same_without_the_compiler() -> None:
    rng = np.random.default_rng(10)
    matrices = [family(rng, n, sd) for family in FAMILIES for n in (2, 3, 4, 8) for sd in (1.0, 60.0, 900.0)]
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", UNCOMPILED],
        input=json.dumps([matrix.tolist() for matrix in matrices]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    for matrix, law in zip(matrices, json.loads(answer.stdout), strict=True):
        assert same(np.array(law), stationary(matrix))
