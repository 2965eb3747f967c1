"""What duel worlds draw, and a matrix to play."""

import math
from itertools import islice
from typing import Any

import numpy as np

from wakeful.worlds.duel_world import DuelBlock, DuelWorld

SIGMAS = 4.0
P3 = ((0.5, 0.75, 0.875), (0.25, 0.5, 0.625), (0.125, 0.375, 0.5))


def drawn(world: DuelWorld, rounds: int, seed: int = 0, size: int = 1000) -> list[DuelBlock]:
    """Return the first rounds of a run, in blocks."""
    return list(islice(world.blocks(np.random.default_rng(seed), size), -(-rounds // size)))


def per_round(blocks: list[DuelBlock]) -> tuple[Any, Any, Any]:
    """Return the pairs, preferences and coin of each round."""
    pairs = np.concatenate([block.pair_sets[block.which] for block in blocks])
    preferences = np.concatenate([block.preferences[block.law] for block in blocks])
    return pairs, preferences, np.concatenate([block.coins for block in blocks])


def assert_mean(found: Any, expected: float, sd: float) -> None:
    """The mean of independent numbers is within `SIGMAS` standard errors of what is expected."""
    values = np.asarray(found, np.float64)
    assert abs(values.mean() - expected) <= SIGMAS * sd / math.sqrt(values.size), (values.mean(), expected)
