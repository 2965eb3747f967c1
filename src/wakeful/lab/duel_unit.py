"""Plays one run of a world of duels: blocks of rounds in the compiled loop, or an adaptive world round by round."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from wakeful.duels.kernels import NO_LAW, empty_pick
from wakeful.duels.pairs import checked_size
from wakeful.duels.policy import DuelingPolicy, step
from wakeful.inputs import must_be, numbers, one_of, truths
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import call_compiled
from wakeful.policies.policy import LAW
from wakeful.regret.duel import add_regrets
from wakeful.worlds.duel_world import AdaptiveDuelWorld, DuelBlock

DUEL_REGRETS = ("dueling",)
ROUNDS = 16384  # of a block: enough to forget what a block costs, few enough for the cache of a core
STRIDE = 64  # rounds in plain Python between two looks at whether to stop


class DuelTally:
    """The regret of duels that come in blocks of rounds."""

    def __init__(self, n_arms: int, regrets: Iterable[str] = DUEL_REGRETS) -> None:
        self.n_arms = n_arms
        self.regrets = tuple(one_of("regrets", name, DUEL_REGRETS) for name in regrets)
        self._sum = 0.0

    def add(self, regrets: Floats) -> None:
        """Add the regrets of some rounds."""
        self._sum += float(regrets.sum())

    def values(self) -> dict[str, float]:
        """Return the regrets asked for."""
        return dict.fromkeys(self.regrets, self._sum)


def duel_regrets(
    policy: DuelingPolicy,
    world: Any,
    world_stream: np.random.Generator,
    learner_stream: np.random.Generator,
    rounds: int,
    look: Callable[[], None],
) -> Iterator[tuple[Floats]]:
    """Let a policy play `rounds` rounds, or as many as the world lasts; yield the regret of each, in blocks.

    `look` is called now and then and raises an error to stop the work.
    """
    state = policy.start(world.n_arms, world.size)
    play_on = step(policy, "play", state, world.n_arms)
    fields, pick = policy.fields(state, world.n_arms), empty_pick(world.size, world.n_arms)
    stride = ROUNDS if policy.kernels is not None else STRIDE

    def regrets(block: DuelBlock) -> tuple[Floats, Ints]:
        choices = np.zeros((block.which.size, world.size), np.int64)
        for start in range(0, len(choices), stride):
            look()
            part = slice(start, start + stride)
            play_on(*_part(block, part), learner_stream, choices[part], pick, fields)
            if (choices[part, 0] == NO_LAW).any():
                raise ValueError(must_be(f"probabilities of {policy!r}", LAW, pick.laws))
        found = np.empty(block.which.size)
        add_regrets(*block[:4], choices, found)
        return found, choices

    if isinstance(world, AdaptiveDuelWorld):
        run = world.start(world_stream)
        which = np.zeros(1, np.int64)
        for _ in range(rounds):
            masks, laws = np.asarray(run.pairs())[np.newaxis], np.asarray(run.preferences())[np.newaxis]
            block = _trusted(world, DuelBlock(masks, which, laws, which, world_stream.random(1)), 1)
            found, choices = regrets(block)
            run.played(choices[0].tolist())
            yield (found,)
        return
    for block in world.blocks(world_stream, ROUNDS):
        found, _ = regrets(_trusted(world, block, rounds))
        yield (found,)
        rounds -= found.size
        if rounds == 0:
            return


def _part(block: DuelBlock, part: slice) -> DuelBlock:
    """Return some of the rounds of a block."""
    return DuelBlock(block.pair_sets, block.which[part], block.preferences, block.law[part], block.coins[part])


def _trusted(world: Any, block: Any, most: int) -> DuelBlock:
    """Return the first `most` rounds of a block as compiled code takes them, if it is what a world must yield."""
    if not isinstance(block, DuelBlock):
        raise TypeError(must_be("block", f"a DuelBlock from {world!r}", block))
    rule = f"from {world!r}"
    found = DuelBlock(
        np.ascontiguousarray(truths("block.pair_sets", block.pair_sets, f"booleans {rule}")),
        _rows("block.which", block.which, rule),
        np.ascontiguousarray(numbers("block.preferences", block.preferences, f"numbers {rule}")),
        _rows("block.law", block.law, rule),
        np.ascontiguousarray(numbers("block.coins", block.coins, f"numbers {rule}")),
    )
    shape = (world.n_arms, world.n_arms)
    shapes = found.pair_sets.shape[1:], found.preferences.shape[1:]
    if shapes != (shape, shape):
        raise ValueError(must_be("block", f"tables of {shape} matrices {rule}", shapes))
    if found.coins.ndim != 1 or not found.which.shape == found.law.shape == found.coins.shape or not found.coins.size:
        sizes = found.which.shape, found.law.shape, found.coins.shape
        raise ValueError(must_be("block", f"a row and a coin for each of one or more rounds {rule}", sizes))
    found = _part(found, slice(most))
    if not call_compiled(_sound, *found):
        words = "symmetric pairs, somebody to play, preferences that sum to one, rows of the tables, coins in [0, 1)"
        raise ValueError(must_be("block", f"{words} {rule}", block))
    if world.size > 2:
        for pairs in found.pair_sets:
            checked_size(world.size, pairs)
    return found


def _rows(name: str, rows: Any, rule: str) -> Ints:
    """Return rows of a table, one for each round."""
    found = np.asarray(rows)
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise TypeError(must_be(name, f"whole numbers, one for each round, {rule}", rows))
    return np.ascontiguousarray(found, np.int64)


def _sound(pair_sets: Mask, which: Ints, preferences: Floats, law: Ints, coins: Floats) -> bool:
    """Whether the tables hold what they should, and every round a row of each."""
    n_arms = pair_sets.shape[1]
    for s in range(len(pair_sets)):
        anybody = False
        for i in range(n_arms):
            for j in range(n_arms):
                anybody |= pair_sets[s, i, j]
                if pair_sets[s, i, j] != pair_sets[s, j, i]:
                    return False
        if not anybody:
            return False
    for s in range(len(preferences)):
        for i in range(n_arms):
            for j in range(n_arms):
                p = preferences[s, i, j]
                if not (0.0 <= p <= 1.0 and abs(p + preferences[s, j, i] - 1.0) <= 1e-9):
                    return False
    fine = True
    for t in range(which.size):
        fine &= (0 <= which[t] < len(pair_sets)) and (0 <= law[t] < len(preferences)) and (0.0 <= coins[t] < 1.0)
    return fine
