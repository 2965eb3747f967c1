"""The classes of worlds: sources of awake sets and losses, the same for every policy.

An oblivious world does not depend on the learner. It is drawn in blocks of rounds: `blocks(rng, size)` first draws the
parameters of this run, then yields `Block`s. An adaptive world sees the learner's probabilities and reacts to them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from wakeful.inputs import instance_of, must_be, whole
from wakeful.numerics.arrays import Floats, Mask


class Block(NamedTuple):
    """Some rounds: the awake arms, the losses of all arms, and their expected losses given the awake set."""

    awake: Mask  # (size, K), at least one arm in every row
    losses: Floats  # (size, K), in [0, 1] where awake
    expected: Floats | None = None  # (size, K), or None where the world does not know


class AnyWorld(ABC):
    """What every world has, whether of bandits or of duels, whether drawn in blocks or adaptive."""

    printable: ClassVar[bool] = True  # prints as the code that makes it

    @property
    @abstractmethod
    def n_arms(self) -> int:
        """How many arms there are."""


class World(AnyWorld):
    """A source of rounds that does not depend on the learner; subclass it as a frozen dataclass.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Coins(World):
    ...     n_arms: int = 2
    ...     def blocks(self, rng, size):
    ...         while True:
    ...             yield Block(np.ones((size, 2), bool), rng.integers(2, size=(size, 2)).astype(float))
    >>> next(Coins().blocks(np.random.default_rng(0), 3)).losses.shape
    (3, 2)
    """

    expected_by_set: ClassVar[bool] = False  # whether `expected` is known and in a run depends on the awake set alone

    @property
    def length(self) -> int | None:
        """How many rounds there are, or None where they never end."""
        return None

    @abstractmethod
    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Yield blocks of `size` rounds, the last one perhaps shorter; all chance comes from `rng`, the run's own."""


class AdaptiveRun(ABC):
    """One run of an adaptive world: `awake` and `losses` are called in turn, once a round."""

    @abstractmethod
    def awake(self) -> Mask:
        """Return which arms are awake in the next round, at least one."""

    @abstractmethod
    def losses(self, probabilities: Floats) -> Floats:
        """Return the losses of this round, given the probabilities from which the learner is about to draw."""


class AdaptiveWorld(AnyWorld):
    """A world that sees the learner's probabilities before it sets the losses; a round at a time."""

    @abstractmethod
    def start(self, rng: np.random.Generator) -> AdaptiveRun:
        """Return a run whose chance comes from `rng`."""


def a_world(value: object) -> World | AdaptiveWorld:
    """Return `value` if it is a world, else say what is wrong with it."""
    rule = "a World such as worlds.Stochastic(), or an AdaptiveWorld"
    world: World | AdaptiveWorld = instance_of("world", value, (World, AdaptiveWorld), rule)
    return world


def checked_run(rng: np.random.Generator, size: int = 1) -> None:
    """Refuse anything but a random generator and a number of rounds."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(must_be("rng", "a numpy.random.Generator", rng))
    whole("size", size, "a whole number from 1", 1)


def forever(draw: Callable[[], Block]) -> Iterator[Block]:
    """Yield what `draw` returns, again and again."""
    while True:
        yield draw()


def cut(rounds: Block, size: int) -> Iterator[Block]:
    """Yield all `rounds` in blocks of `size`, as copies, which the caller may change."""
    for start in range(0, len(rounds.awake), size):
        part = slice(start, start + size)
        expected = None if rounds.expected is None else rounds.expected[part].copy()
        yield Block(rounds.awake[part].copy(), rounds.losses[part].copy(), expected)
