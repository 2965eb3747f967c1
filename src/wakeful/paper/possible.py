"""The largest regret that any policy can have in a world; a bound above it cannot be tested there."""

from functools import cache

import numpy as np

from wakeful import regret
from wakeful.inputs import one_of
from wakeful.numerics.arrays import Floats, Mask
from wakeful.worlds import DuelBlock, DuelWorld, World

SAMPLE_ROUNDS, SAMPLE_RUNS = 20_000, 16  # on which it is computed
NOTIONS = ("internal", "external", "ordering", "dueling")


@cache
def most(world: World | DuelWorld, rounds: int, notion: str) -> float:
    """Return the largest regret after so many rounds, of a policy that knows the world and looks for regret.

    It plays, in every round, the arm or the pair that adds most. Mean over 16 runs, of at most 20,000 rounds each: a
    regret that grows in proportion to the rounds from then on.

    Parameters:
        world: where
        rounds: T
        notion: of regret: "internal", "external", "ordering" or "dueling", the largest over arms

    >>> from wakeful import worlds
    >>> round(most(worlds.PathDuels(), 600_000, "dueling"))  # the pair 2 - 4 in every round
    147776
    """
    one_of("notion", notion, NOTIONS)
    size = min(rounds, SAMPLE_ROUNDS)
    return rounds * float(np.mean([_most_a_round(world, size, notion, run) for run in range(SAMPLE_RUNS)]))


def _most_a_round(world: World | DuelWorld, rounds: int, notion: str, run: int) -> float:
    """Return the largest regret a round in one run."""
    rng = np.random.default_rng(run)
    if isinstance(world, DuelWorld):
        return _dueling(next(world.blocks(rng, rounds)))
    block = next(world.blocks(rng, rounds))
    losses = block.losses if block.expected is None else block.expected
    if notion == "ordering":
        worst = np.where(block.awake, losses, -np.inf).argmax(axis=1)
        return regret.ordering(block.awake, losses, worst).value / len(losses)
    return _internal(block.awake, losses) if notion == "internal" else _external(block.awake, losses)


def _internal(awake: Mask, losses: Floats) -> float:
    """Return the largest R(i -> j) a round: arm i is played where j is awake and loses less."""
    pairs = [(i, j) for i in range(awake.shape[1]) for j in range(awake.shape[1]) if i != j]
    gains = (np.maximum(losses[:, i] - losses[:, j], 0.0)[awake[:, i] & awake[:, j]].sum() for i, j in pairs)
    return float(max(gains, default=0.0)) / len(losses)


def _external(awake: Mask, losses: Floats) -> float:
    """Return the largest R(k) a round: where k is awake, the worst awake arm is played."""
    worst = np.where(awake, losses, -np.inf).max(axis=1, keepdims=True)
    return float(np.where(awake, worst - losses, 0.0).sum(axis=0).max()) / len(losses)


def _dueling(block: DuelBlock) -> float:
    """Return the regret a round of the worst allowed pair."""
    rows, counts = np.unique(np.stack([block.which, block.law], axis=1), axis=0, return_counts=True)
    total = 0.0
    for (pairs, law), count in zip(rows, counts, strict=True):
        allowed, chances = block.pair_sets[pairs], block.preferences[law]
        reply = np.where(allowed, chances.T, 0.0).max(axis=1)  # what the best allowed opponent of each arm wins
        total += count * float(np.where(allowed, reply[:, np.newaxis] + reply - 1.0, 0.0).max()) / 2.0
    return total / len(block.which)
