"""`check_duel_world`: the checks that every world of duels must pass, as `check_world` for bandits."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from wakeful.duels.pairs import checked_pairs, checked_preferences, checked_size
from wakeful.inputs import require
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.suite import run_checks
from wakeful.worlds.blocks import checked_duel_block
from wakeful.worlds.checks import (
    ADAPTIVE_ROUNDS,
    BLOCKS,
    SIZES,
    check_is_data,
    check_length,
    check_own_arrays,
    check_repeatable,
    equal,
    global_chance,
    require_block,
)
from wakeful.worlds.duel_world import AdaptiveDuelWorld, DuelBlock, DuelWorld, a_duel_world

TYPES = (np.bool_, np.int64, np.float64, np.int64, np.float64)  # of the arrays of a block


def check_duel_world(world: DuelWorld | AdaptiveDuelWorld) -> None:
    """Run every check on `world`; raise `AssertionError` at the first that fails, naming it.

    >>> from wakeful.worlds.duels import UtilityDuels
    >>> check_duel_world(UtilityDuels(4))
    """
    a_duel_world(world)
    checks: tuple[Callable[[Any], None], ...] = CHECKS if isinstance(world, DuelWorld) else ADAPTIVE_CHECKS
    run_checks("world", world, (check_is_data, *checks))


def check_blocks(world: DuelWorld) -> None:
    """Blocks have the right shapes and types; so many arms can be chosen in every round; preferences add up to 1."""
    for rounds in SIZES:
        blocks = list(islice(world.blocks(np.random.default_rng(1), rounds), BLOCKS))
        require(blocks, "there must be at least one block")
        for block in blocks:
            require_block(block, DuelBlock, TYPES)
            checked_duel_block(block, world.n_arms, world.size)
        for block in blocks if world.length is None else blocks[:-1]:
            require(len(block.coins) == rounds, f"a block must have {rounds} rounds, got {len(block.coins)}")
        last = len(blocks[-1].coins)
        require(last <= rounds, f"a block must have at most {rounds} rounds, got {last}")


def check_rounds(world: AdaptiveDuelWorld) -> None:
    """So many arms can be chosen in every round, and preferences add up to 1."""
    for pairs, preferences in _rounds(world, 1):
        checked_size(world.size, checked_pairs(pairs, world.n_arms))
        checked_preferences(preferences, world.n_arms)


def check_adaptive_repeatable(world: AdaptiveDuelWorld) -> None:
    """The same seed and the same choices give the same rounds, whatever other runs are under way."""
    alone = list(_rounds(world, 3))
    with global_chance():
        mixed = [one for one, _ in zip(_rounds(world, 3), _rounds(world, 4), strict=True)]
    for first, second in zip(alone, mixed, strict=True):
        require(equal(first, second), "the same seed and choices must give the same rounds")


CHECKS: tuple[Callable[[DuelWorld], None], ...] = (check_blocks, check_length, check_repeatable, check_own_arrays)
ADAPTIVE_CHECKS: tuple[Callable[[AdaptiveDuelWorld], None], ...] = (check_rounds, check_adaptive_repeatable)


def _rounds(world: AdaptiveDuelWorld, seed: int) -> Iterator[tuple[Mask, Floats]]:
    """Yield rounds in which the arms are chosen at random."""
    run, chance = world.start(np.random.default_rng(seed)), np.random.default_rng(6)
    for _ in range(ADAPTIVE_ROUNDS):
        pairs, preferences = np.array(run.pairs()), np.array(run.preferences())
        yield pairs, preferences
        allowed = np.argwhere(pairs) if world.size == 2 else [np.flatnonzero(pairs.any(axis=1))]
        arms = chance.permutation(allowed[int(chance.integers(len(allowed)))])[: world.size]
        run.played(tuple(arms.tolist()))
