"""Awake sets and losses for small tests, and the arrays they are made of."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

BELOW_ONE = 1.0 - 2.0**-53  # the largest number that a uniform draw can be


def ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def world(rounds: int, n_arms: int, seed: int, rate: float = 0.5) -> tuple[Mask, Floats]:
    """Awake sets that are never empty, and losses."""
    rng = np.random.default_rng(seed)
    awake = rng.random((rounds, n_arms)) < rate
    awake[np.arange(rounds), rng.integers(n_arms, size=rounds)] = True
    return awake, rng.random((rounds, n_arms))
