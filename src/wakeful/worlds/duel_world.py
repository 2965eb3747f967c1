"""The classes of worlds of duels: they say which pairs are allowed and who wins, with the same coins for all policies.

An oblivious world is drawn in blocks of rounds, as bandit worlds are. An adaptive one reacts to what was played.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from wakeful.inputs import instance_of, whole
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.worlds.world import AnyWorld, checked_run


class DuelBlock(NamedTuple):
    """T rounds, whose masks of pairs and preferences are rows of two tables, since few of them differ.

    The coin of a round decides the winner: left beats right if `coin < preferences[left, right]`.
    """

    pair_sets: Mask  # (N, K, K), each symmetric, with at least one pair
    which: Ints  # (T,), the row of `pair_sets` of each round
    preferences: Floats  # (M, K, K), P[i, j] + P[j, i] = 1
    law: Ints  # (T,), the row of `preferences` of each round
    coins: Floats  # (T,), uniform on [0, 1)


class AnyDuelWorld(AnyWorld):
    """What every world of duels has, whether drawn in blocks or adaptive."""

    @property
    def size(self) -> int:
        """How many arms are chosen in a round; more than two must be different ones."""
        return 2


class DuelWorld(AnyDuelWorld):
    """A source of rounds that does not depend on the learner; subclass it as a frozen dataclass.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Even(DuelWorld):
    ...     n_arms: int = 2
    ...     def blocks(self, rng, rounds):
    ...         return steady(rng, rounds, np.ones((2, 2), bool), np.full((2, 2), 0.5))
    >>> next(Even().blocks(np.random.default_rng(0), 3)).coins.shape
    (3,)
    """

    @property
    def length(self) -> int | None:
        """How many rounds there are, or None where they never end."""
        return None

    @abstractmethod
    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Yield blocks of `rounds` rounds, the last one perhaps shorter; all chance comes from `rng`, the run's own."""


class AdaptiveDuelRun(ABC):
    """One run of an adaptive world: `pairs`, `preferences` and `played` are called in turn, once a round."""

    @abstractmethod
    def pairs(self) -> Mask:
        """Return the pairs of the next round, (K, K), symmetric, at least one."""

    @abstractmethod
    def preferences(self) -> Floats:
        """Return the preferences of this round, (K, K): the probability that row beats column."""

    @abstractmethod
    def played(self, arms: Sequence[int]) -> None:
        """Learn which arms were chosen in this round."""


class AdaptiveDuelWorld(AnyDuelWorld):
    """A world that sees what was played before it says which pairs are allowed next; a round at a time."""

    @abstractmethod
    def start(self, rng: np.random.Generator) -> AdaptiveDuelRun:
        """Return a run whose chance comes from `rng`."""


def a_duel_world(value: object) -> DuelWorld | AdaptiveDuelWorld:
    """Return `value` if it is a world of duels, else say what is wrong with it."""
    rule = "a DuelWorld such as worlds.UtilityDuels(), or an AdaptiveDuelWorld"
    world: DuelWorld | AdaptiveDuelWorld = instance_of("world", value, (DuelWorld, AdaptiveDuelWorld), rule)
    return world


def checked_rounds(rng: np.random.Generator, rounds: int) -> None:
    """Refuse anything but a random generator and a number of rounds."""
    checked_run(rng)
    whole("rounds", rounds, "a whole number from 1", 1)


def steady(rng: np.random.Generator, rounds: int, pairs: Mask, preferences: Floats) -> Iterator[DuelBlock]:
    """Yield rounds that differ only in their coins."""
    tables = pairs[np.newaxis], preferences[np.newaxis]
    return drawn(rng, rounds, lambda: tables)


def drawn(rng: np.random.Generator, rounds: int, tables: Callable[[], tuple[Mask, Floats]]) -> Iterator[DuelBlock]:
    """Yield rounds without end, each with a random one of the pair sets that `tables` returns for its block.

    Where `tables` returns as many preference matrices as pair sets, each set has its own; else all have the first.
    """
    while True:
        pair_sets, preferences = tables()
        which = rng.integers(len(pair_sets), size=rounds)
        law = which if len(preferences) == len(pair_sets) else np.zeros(rounds, np.int64)
        yield DuelBlock(pair_sets.copy(), which, preferences.copy(), law, rng.random(rounds))
