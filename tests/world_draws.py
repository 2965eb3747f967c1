"""What worlds draw, and whether it has the distribution it should have."""

from collections import Counter
from itertools import islice
from typing import Any

import numpy as np

from wakeful.worlds import (
    Block,
    World,
)

SIGMAS = 5.0


def drawn(world: World, rounds: int, seed: int = 0, size: int = 1000) -> Block:
    """Return the first rounds of a run, put together from blocks."""
    blocks = list(islice(world.blocks(np.random.default_rng(seed), size), -(-rounds // size)))
    awake, losses = (np.concatenate([block[i] for block in blocks])[:rounds] for i in range(2))
    known = [block.expected for block in blocks if block.expected is not None]
    return Block(awake, losses, np.concatenate(known)[:rounds] if known else None)


def sets_of(awake: Any) -> list[tuple[int, ...]]:
    return [tuple(np.flatnonzero(row).tolist()) for row in awake]


def assert_frequencies(found: list[Any], chances: dict[Any, float]) -> None:
    """Every outcome comes as often as its chance says, and no other comes at all."""
    counts, n = Counter(found), len(found)
    assert set(counts) <= {outcome for outcome, chance in chances.items() if chance > 0}
    for outcome, chance in chances.items():
        margin = SIGMAS * np.sqrt(n * chance * (1 - chance)) + 1.0
        assert abs(counts[outcome] - n * chance) <= margin, (outcome, counts[outcome], n * chance)


def assert_means(block: Block) -> None:
    """Given each distinct awake set, the mean loss of every awake arm is the one expected."""
    assert block.expected is not None
    for row in np.unique(block.awake, axis=0):
        here = (block.awake == row).all(axis=1)
        error = (block.losses - block.expected)[here][:, row].mean(axis=0)
        assert (np.abs(error) <= SIGMAS * 0.5 / np.sqrt(here.sum()) + 1e-12).all()
