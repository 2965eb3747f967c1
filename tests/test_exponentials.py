"""exp of many numbers at once is exp of each."""

import numpy as np

from wakeful.exponentials import LOWEST, exponentiate


def test_every_exponential_is_right_to_one_unit_in_the_last_place() -> None:
    rng = np.random.default_rng(3)
    spread = [LOWEST * rng.random(50_000), -np.exp(-40.0 * rng.random(50_000)), np.log(2.0) * -np.arange(0.0, 1000.0)]
    x = np.append(np.concatenate(spread), [0.0, -0.0, LOWEST])
    x = x[x >= LOWEST]
    found = x.copy()
    exponentiate(found)
    exact = np.exp(x.astype(np.longdouble))
    assert float(np.max(np.abs(found - exact) / np.spacing(exact.astype(np.float64)))) < 1.0


def test_small_cases_are_exact() -> None:
    x = np.array([0.0, -0.0, -1e-300])
    exponentiate(x)
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_they_never_fall_as_numbers_rise() -> None:
    x = -np.linspace(0.34, 0.36, 200_001)[::-1]  # around log(2) / 2, where k changes
    exponentiate(x)
    assert (np.diff(x) >= 0.0).all()
