"""The rounds that `check_policy` plays: with exact sums of losses, and three worlds for stated bounds.

`check_dueling_policy` has as many arms and the same tolerance.
"""

from typing import Any

import numpy as np

from wakeful import regret
from wakeful.numerics.arrays import Floats, Mask

BOUND_ROUNDS = 2_000
N_ARMS = 4
EXACT = 1e-9  # probabilities that should be equal differ by rounding only


def rounds_of(rounds: int, n_arms: int, seed: int) -> tuple[Mask, Floats]:
    """Return awake sets in which every arm occurs, and losses that are multiples of 1/64 (their sums are exact)."""
    rng = np.random.default_rng([seed, 99])
    awake = rng.random((rounds, n_arms)) < 0.6
    awake[np.arange(rounds), rng.integers(n_arms, size=rounds)] = True
    return awake, rng.integers(65, size=(rounds, n_arms)) / 64.0


def _iid(rng: np.random.Generator) -> tuple[Mask, Floats]:
    awake = rng.random((BOUND_ROUNDS, N_ARMS)) < 0.6
    losses = (rng.random((BOUND_ROUNDS, N_ARMS)) < rng.random(N_ARMS)).astype(np.float64)
    return awake, losses


def _dependent(rng: np.random.Generator) -> tuple[Mask, Floats]:
    """Which arm is good depends on which arms are awake."""
    sets = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 1]], np.bool_)
    values = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0.5], [1, 1, 0.5, 0]], np.float64)
    which = rng.integers(len(sets), size=BOUND_ROUNDS)
    return sets[which], values[which]


def _switching(rng: np.random.Generator) -> tuple[Mask, Floats]:
    """The best arm changes after a quarter of the rounds; all arms are awake."""
    losses = np.full((BOUND_ROUNDS, N_ARMS), 0.5)
    losses[: BOUND_ROUNDS // 4, 0] = 0.0
    losses[BOUND_ROUNDS // 4 :, 0], losses[BOUND_ROUNDS // 4 :, 1] = 1.0, 0.0
    return np.ones((BOUND_ROUNDS, N_ARMS), np.bool_), losses


WORLDS = {"iid": _iid, "dependent": _dependent, "switching": _switching}


def regret_of(name: str, awake: Mask, losses: Floats, choices: Any) -> Any:
    """Return the regret called `name`, as an array."""
    if name == "ordering":
        return np.array([regret.ordering(awake, losses, choices).value])
    return {"internal": regret.internal, "external": regret.external}[name](awake, losses, choices)
