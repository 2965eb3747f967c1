"""The five bandit worlds of the paper's experiments."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wakeful.inputs import must_be, whole
from wakeful.policies.spec import set_frozen
from wakeful.worlds.draws import Sleepers, awake_sets, bernoulli, repeated
from wakeful.worlds.games import random_game, rock_paper_scissors
from wakeful.worlds.opponents import NashOpponent
from wakeful.worlds.world import Block, World, checked_run, forever

PAIRS_AND_ALL = ((0, 1), (0, 1, 2), (0, 2), (1, 2))  # the awake sets of the dependent world and of the game


@dataclass(frozen=True)
class Stochastic(World):
    """Independent losses and availabilities: arm k is awake with probability a_k and loses 1 with probability mu_k.

    Both are drawn from U(0, 1) for each run. Rounds in which no arm is awake are redrawn.

    Parameters:
        n_arms: K

    >>> world = Stochastic(3)
    >>> next(world.blocks(np.random.default_rng(1), 2)).awake
    array([[False,  True,  True],
           [ True, False,  True]])
    """

    expected_by_set: ClassVar[bool] = True

    n_arms: int = 10

    def __post_init__(self) -> None:
        """Check the number of arms."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 1", 1))

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the means and rates of the run, then its rounds."""
        checked_run(rng, size)
        means, rates = (
            rng.random(self.n_arms),
            1.0 - rng.random(self.n_arms),
        )  # a rate is never zero: such an arm would never be awake

        arms = Sleepers(rng, rates, size)
        return forever(lambda: Block(arms.awake(), arms.losses(means), repeated(means, size)))


@dataclass(frozen=True)
class Dependent(World):
    """Losses that are a function of the awake set, one of four at random; the best policy loses nothing.

    | awake | losses |
    |---|---|
    | {1, 2} | 0, 1/2, - |
    | {1, 2, 3} | 0, 1/2, 1 |
    | {1, 3} | 1, -, 0 |
    | {2, 3} | -, 0, 1 |
    """

    expected_by_set: ClassVar[bool] = True

    @property
    def n_arms(self) -> int:
        """Three arms."""
        return 3

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw sets uniformly and look up their losses."""
        checked_run(rng, size)
        sets = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 1]], np.bool_)
        losses = np.array([[0.0, 0.5, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

        def draw() -> Block:
            which = rng.integers(len(sets), size=size)
            return Block(sets[which], losses[which], losses[which])

        return forever(draw)


@dataclass(frozen=True)
class RockPaperScissors(World):
    """The game against an opponent who plays the Nash equilibrium of the sub-game of the awake actions.

    The awake set, the same for both, is one of {1, 2}, {1, 2, 3}, {1, 3}, {2, 3} at random. Losses are 0, 1/2, 1.
    """

    expected_by_set: ClassVar[bool] = True

    @property
    def n_arms(self) -> int:
        """Rock, Paper and Scissors."""
        return 3

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw sets uniformly, and the opponent's actions."""
        return NashOpponent(rock_paper_scissors(), PAIRS_AND_ALL).blocks(rng, size)


@dataclass(frozen=True)
class RandomDependent(World):
    """Random sets, each with random mean losses of its own: both are drawn for each run.

    Sets include every arm with probability 1/2, empty ones are redrawn; means are U(0, 1); losses are 0 or 1. Two sets
    may be equal: expected losses given the awake set are then the mean of both.

    Parameters:
        n_arms: K
        n_sets: how many sets there are, one of them at random in each round
    """

    expected_by_set: ClassVar[bool] = True

    n_arms: int = 5
    n_sets: int = 5

    def __post_init__(self) -> None:
        """Check both numbers."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 1", 1))
        set_frozen(self, n_sets=whole("n_sets", self.n_sets, "a whole number from 1", 1))

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the sets and means of the run, then its rounds."""
        checked_run(rng, size)
        sets = awake_sets(rng, self.n_sets, self.n_arms, smallest=1)
        means = rng.random((self.n_sets, self.n_arms))
        same = (sets[:, np.newaxis] == sets).all(axis=2).astype(np.float64)
        expected = same / same.sum(axis=1, keepdims=True) @ means

        def draw() -> Block:
            which = rng.integers(self.n_sets, size=size)
            return Block(sets[which], bernoulli(rng, means[which]), expected[which])

        return forever(draw)


@dataclass(frozen=True)
class RandomGame(World):
    """A random symmetric game against an opponent who plays the Nash equilibrium of the sub-game.

    For each run the game is a `games.random_game`, and the sets include every action with probability 1/2, those
    of fewer than two actions being redrawn.

    Parameters:
        n_arms: K, the number of actions of either player
        n_sets: how many awake sets there are, one of them at random in each round
        bernoulli: losses of 0 and 1, drawn with the game's losses as means, instead of these themselves
    """

    expected_by_set: ClassVar[bool] = True

    n_arms: int = 10
    n_sets: int = 4
    bernoulli: bool = False

    def __post_init__(self) -> None:
        """Check all three."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 2", 2))
        set_frozen(self, n_sets=whole("n_sets", self.n_sets, "a whole number from 1", 1))
        if not isinstance(self.bernoulli, bool):
            raise TypeError(must_be("bernoulli", "True or False", self.bernoulli))

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the game and sets of the run, then its rounds."""
        checked_run(rng, size)
        game = random_game(self.n_arms, rng)
        drawn = awake_sets(rng, self.n_sets, self.n_arms, smallest=2)
        sets = tuple(tuple(np.flatnonzero(row).tolist()) for row in drawn)
        return NashOpponent(game, sets, self.bernoulli).blocks(rng, size)
