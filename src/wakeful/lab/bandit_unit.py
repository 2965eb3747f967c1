"""Plays one run of a bandit world: blocks of rounds in the compiled loop, or an adaptive world round by round.

No more rounds are played than asked for: a block is cut before it is played.
"""

from collections.abc import Callable, Iterator

import numpy as np

from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.play import runner
from wakeful.policies.policy import Policy
from wakeful.worlds import AdaptiveWorld, World
from wakeful.worlds.blocks import checked_awake_now, checked_block, checked_losses_now

STRIDE = 64  # rounds in plain Python between two checks whether to stop

Rounds = tuple[Mask, Floats, Ints]  # which arms were awake, the losses that regrets are about, the choices


def bandit_rounds(
    policy: Policy,
    world: World | AdaptiveWorld,
    world_stream: np.random.Generator,
    learner_stream: np.random.Generator,
    rounds: int,
    size: int,
    pseudo: bool,
    look: Callable[[], None],
) -> Iterator[Rounds]:
    """Let a policy play `rounds` rounds, or as many as the world lasts; yield them in blocks of at most `size`.

    Parameters:
        policy: what plays
        world: where
        world_stream: where the world's chance comes from
        learner_stream: where the policy's choices come from
        rounds: how many to play
        size: of the blocks in which the world is drawn
        pseudo: whether to yield expected losses where the world knows them
        look: called now and then; it raises an error to stop the work
    """
    state = policy.start(world.n_arms)
    play_on = runner(policy, state, world.n_arms)
    if policy.kernels is None:
        play_on = _in_strides(play_on, look)
    if isinstance(world, AdaptiveWorld):
        law = lambda awake: policy.probabilities(state, awake)  # noqa: E731  # of the state as it is then
        yield from _answered(law, play_on, world, world_stream, learner_stream, rounds, size, look)
        return
    for block in world.blocks(world_stream, size):
        mask, values, expected = checked_block(block, world.n_arms, rounds)
        choices = play_on(mask, values, learner_stream)
        yield mask, expected if expected is not None and pseudo else values, choices
        rounds -= choices.size
        if rounds == 0:
            return


Player = Callable[[Mask, Floats, np.random.Generator], Ints]


def _in_strides(play_on: Player, look: Callable[[], None]) -> Player:
    """Return the same player, which calls `look` every few rounds."""

    def play_and_look(awake: Mask, losses: Floats, rng: np.random.Generator) -> Ints:
        choices = np.empty(len(awake), np.int64)
        for start in range(0, len(awake), STRIDE):
            part = slice(start, start + STRIDE)
            look()
            choices[part] = play_on(awake[part], losses[part], rng)
        return choices

    return play_and_look


def _answered(
    law: Callable[[Mask], Floats],
    play_on: Player,
    world: AdaptiveWorld,
    world_stream: np.random.Generator,
    learner_stream: np.random.Generator,
    rounds: int,
    size: int,
    look: Callable[[], None],
) -> Iterator[Rounds]:
    """Let the policy and an adaptive world play against each other, one round at a time."""
    run = world.start(world_stream)
    for start in range(0, rounds, size):
        left = min(size, rounds - start)
        awake, losses = np.empty((left, world.n_arms), np.bool_), np.empty((left, world.n_arms))
        choices = np.empty(left, np.int64)
        for t in range(left):
            if t % STRIDE == 0:
                look()
            awake[t] = checked_awake_now(run.awake(), world.n_arms)
            losses[t] = checked_losses_now(run.losses(law(awake[t])), awake[t])
            choices[t] = play_on(awake[t : t + 1], losses[t : t + 1], learner_stream)[0]
        yield awake, losses, choices
