"""Plays one run of a world of duels: blocks of rounds in the compiled loop, or an adaptive world round by round."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from wakeful.duels.kernels import NO_LAW, empty_pick
from wakeful.duels.policy import DuelingPolicy, step
from wakeful.inputs import must_be, one_of
from wakeful.lab.bandit_unit import STRIDE
from wakeful.numerics.arrays import Floats, Ints
from wakeful.policies.policy import LAW
from wakeful.regret.duel import add_regrets
from wakeful.worlds.blocks import checked_duel_block
from wakeful.worlds.duel_world import AdaptiveDuelWorld, DuelBlock

DUEL_REGRETS = ("dueling",)
BLOCK_ROUNDS = 16384  # of a block: enough to forget what a block costs, few enough for the cache of a core


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
    stride = BLOCK_ROUNDS if policy.kernels is not None else STRIDE

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
            block = DuelBlock(masks, which, laws, which, world_stream.random(1))
            found, choices = regrets(checked_duel_block(block, world.n_arms, world.size))
            run.played(choices[0].tolist())
            yield (found,)
        return
    for block in world.blocks(world_stream, BLOCK_ROUNDS):
        found, _ = regrets(checked_duel_block(block, world.n_arms, world.size, rounds))
        yield (found,)
        rounds -= found.size
        if rounds == 0:
            return


def _part(block: DuelBlock, part: slice) -> DuelBlock:
    """Return some of the rounds of a block."""
    return DuelBlock(block.pair_sets, block.which[part], block.preferences, block.law[part], block.coins[part])
