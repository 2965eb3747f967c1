"""Plays one run of a bandit world: blocks of rounds in the compiled loop, or an adaptive world round by round.

No more rounds are played than asked for: a block is cut before it is played.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wakeful.inputs import must_be, numbers, truths
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import call_compiled
from wakeful.policies.play import runner
from wakeful.policies.policy import Policy
from wakeful.worlds import AdaptiveWorld, Block, World

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
        mask, values, expected = _trusted(world, block, rounds)
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
            awake[t] = _awake(world, run.awake())
            losses[t] = _losses(world, run.losses(law(awake[t])), awake[t])
            choices[t] = play_on(awake[t : t + 1], losses[t : t + 1], learner_stream)[0]
        yield awake, losses, choices


def _awake(world: AdaptiveWorld, awake: Any) -> Mask:
    """Return which arms are awake in the next round of an adaptive world, if its answer is valid."""
    rule = f"{world.n_arms} booleans from {world!r}, true somewhere"
    mask = truths("awake", awake, rule)
    if mask.shape != (world.n_arms,) or not mask.any():
        raise ValueError(must_be("awake", rule, awake))
    return mask


def _losses(world: AdaptiveWorld, losses: Any, awake: Mask) -> Floats:
    """Return the losses of a round of an adaptive world, if its answer is valid."""
    rule = f"{world.n_arms} numbers from {world!r}, between 0 and 1 where awake"
    values = numbers("losses", losses, rule)
    if values.shape != awake.shape or not (((values >= 0.0) & (values <= 1.0)) | ~awake).all():
        raise ValueError(must_be("losses", rule, losses))
    return values


def _trusted(world: Any, block: Any, most: int) -> Block:
    """Return the first `most` rounds of a block as compiled code takes them, if it is what a world must yield."""
    if not isinstance(block, Block):
        raise TypeError(must_be("block", f"a Block from {world!r}", block))
    mask = truths("block.awake", block.awake, f"booleans from {world!r}")
    values = numbers("block.losses", block.losses, f"numbers from {world!r}")
    known = block.expected is not None
    expected = numbers("block.expected", block.expected, f"numbers from {world!r}") if known else values
    shapes = mask.shape, values.shape, expected.shape
    if mask.ndim != 2 or mask.shape[1] != world.n_arms or not len(mask) or len(set(shapes)) > 1:
        rule = f"of arrays (rounds, {world.n_arms}), with one or more rounds, from {world!r}"
        raise ValueError(must_be("block", rule, shapes))
    mask, values = np.ascontiguousarray(mask[:most]), np.ascontiguousarray(values[:most])
    if not call_compiled(_sound, mask, values):
        rule = f"rounds from {world!r} in which an arm is awake, whose losses are between 0 and 1"
        raise ValueError(must_be("block", rule, block))
    return Block(mask, values, expected[:most] if known else None)


def _sound(awake: Mask, losses: Floats) -> bool:
    """Whether an arm is awake in every round, with losses between 0 and 1; no branch to mispredict."""
    nobody, wild = False, False
    for t in range(len(awake)):
        somebody = False
        for k in range(awake.shape[1]):
            somebody |= awake[t, k]
            wild |= awake[t, k] & (not (losses[t, k] >= 0.0) & (losses[t, k] <= 1.0))
        nobody |= not somebody
    return not (nobody | wild)
