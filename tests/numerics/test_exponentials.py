"""Exponentials and logarithms in plain arithmetic are those of each number, to the last place."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from wakeful.numerics.exponentials import LOWEST, exact_log, exp, exponentiate, log, log1p, power, take_logs

WIDE = np.random.default_rng(5)


def error(found: Any, exact: Any) -> float:
    """The largest error, in units of the last place."""
    return float(np.max(np.abs(found - exact) / np.spacing(np.abs(exact.astype(np.float64)))))


def test_every_exponential_is_right_to_one_unit_in_the_last_place() -> None:
    rng = np.random.default_rng(3)
    spread = [
        LOWEST * rng.uniform(-1.0, 1.0, 100_000),
        -np.exp(-40.0 * rng.random(50_000)),
        np.log(2.0) * -np.arange(0.0, 1000.0),
    ]
    x = np.append(np.concatenate(spread), [0.0, -0.0, LOWEST])
    x = x[x >= LOWEST]
    found = x.copy()
    exponentiate(found)
    assert error(found, np.exp(x.astype(np.longdouble))) < 1.0


def test_many_logarithms_at_once_have_the_bits_of_each_alone() -> None:
    x = np.concatenate(
        [
            np.exp(WIDE.uniform(-708.0, 709.0, 3001)),
            1.0 + np.arange(-50, 51) * 2.0**-52,
            [2.0**-1022, np.finfo(np.float64).max],
        ]
    )
    found = x.copy()
    take_logs(found)
    assert found.tolist() == [log(value) for value in x.tolist()]


NUMBERS: list[tuple[Callable[[float], float], Any, Any]] = [
    (exp, np.exp, np.append(WIDE.uniform(-708.0, 709.7, 3000), WIDE.uniform(-1.0, 1.0, 3000))),
    (log, np.log, np.append(np.exp(WIDE.uniform(-708.0, 709.0, 3000)), WIDE.uniform(0.5, 2.0, 3000))),
    (log, np.log, np.append(1.0 + np.arange(-50, 51) * 2.0**-52, np.arange(1.0, 300.0))),
    (log1p, np.log1p, np.append(np.exp(WIDE.uniform(-40.0, 40.0, 3000)), WIDE.uniform(-1.0, 1.0, 3000))),
]


@pytest.mark.parametrize(("ours", "exact", "x"), NUMBERS)
def test_one_number_at_a_time_is_right_too(ours: Callable[[float], float], exact: Any, x: Any) -> None:
    found = np.array([ours(value) for value in x.tolist()])
    assert error(found, exact(x.astype(np.longdouble))) < 1.0


def test_the_ends_are_those_of_the_library() -> None:
    assert [exp(x) for x in (0.0, -800.0, -math.inf, 800.0, math.inf)] == [1.0, 0.0, 0.0, math.inf, math.inf]
    assert [exp(x) for x in (-745.1, -740.0, -720.0)] == [math.exp(x) for x in (-745.1, -740.0, -720.0)]
    assert [log(x) for x in (1.0, 0.0, math.inf)] == [0.0, -math.inf, math.inf]
    assert log(5e-324) == pytest.approx(math.log(5e-324), rel=1e-15)
    assert [log1p(x) for x in (0.0, -1.0, 1e-300, math.inf)] == [0.0, -math.inf, 1e-300, math.inf]
    assert all(map(math.isnan, (exp(math.nan), log(math.nan), log(-1.0), log1p(-2.0), log1p(math.nan))))


def test_powers_and_exact_logarithms() -> None:
    assert power(7.0, 1.01) == pytest.approx(7.0**1.01, rel=1e-15)
    assert [exact_log(n) for n in (1, 2, 0.75, 10)] == [math.log(n) for n in (1, 2, 0.75, 10)]


def test_small_cases_are_exact() -> None:
    x = np.array([0.0, -0.0, -1e-300])
    exponentiate(x)
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_they_never_fall_as_numbers_rise() -> None:
    x = -np.linspace(0.34, 0.36, 200_001)[::-1]  # around log(2) / 2, where k changes
    exponentiate(x)
    assert (np.diff(x) >= 0.0).all()
