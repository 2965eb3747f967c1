"""Worlds of duels that differ in which pairs are allowed: awake sets, random graphs, a path, an adversary.

All have utilities, as `UtilityDuels` does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wakeful.duels.pairs import distinct_pairs
from wakeful.inputs import must_be, real, whole
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.spec import set_frozen
from wakeful.worlds.draws import Sleepers
from wakeful.worlds.duel_world import (
    AdaptiveDuelRun,
    AdaptiveDuelWorld,
    DuelBlock,
    DuelWorld,
    checked_rounds,
    drawn,
    steady,
)
from wakeful.worlds.duels import by_utility, utilities
from wakeful.worlds.world import checked_run

SETS_OF_BLOCK = 256  # how many sets of awake arms or of pairs are drawn for a block


@dataclass(frozen=True)
class SleepingDuels(DuelWorld):
    """Random arms are awake, at least one; any two awake arms may meet, also an arm itself: `A = S x S`.

    The setting of Saha & Gaillard (2021). A block draws 256 awake sets (one per round if it is shorter), and each
    round has one of them at random.

    Parameters:
        n_arms: K
        rate: the probability of being awake
    """

    n_arms: int = 10
    rate: float = 0.5

    def __post_init__(self) -> None:
        """Check both."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 1", 1))
        set_frozen(self, rate=real("rate", self.rate, "above 0 and at most 1", 0.0, 1.0, above=True))

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw the utilities of the run, then awake sets."""
        checked_rounds(rng, rounds)
        preferences = by_utility(utilities(rng, self.n_arms))[np.newaxis]
        sleepers = Sleepers(rng, np.full(self.n_arms, self.rate), min(rounds, SETS_OF_BLOCK))

        def tables() -> tuple[Mask, Floats]:
            awake = sleepers.awake()
            return awake[:, :, np.newaxis] & awake[:, np.newaxis], preferences

        return drawn(rng, rounds, tables)


@dataclass(frozen=True)
class GraphDuels(DuelWorld):
    """Allowed pairs are the edges of a random connected graph.

    Arms come in random order and each is joined to a random one before it; any other pair is allowed with
    probability `density`. If graphs are redrawn, a block has 256 of them (one per round if it is shorter), and
    each round has one of them at random.

    Parameters:
        n_arms: K, at least 2
        density: the probability of a pair that is not needed to connect the graph
        redrawn: whether graphs change from round to round, instead of one for each run
    """

    n_arms: int = 10
    density: float = 0.3
    redrawn: bool = True

    def __post_init__(self) -> None:
        """Check all three."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 2", 2))
        set_frozen(self, density=real("density", self.density, "between 0 and 1", 0.0, 1.0))
        if not isinstance(self.redrawn, bool):
            raise TypeError(must_be("redrawn", "True or False", self.redrawn))

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw the utilities of the run, then graphs."""
        checked_rounds(rng, rounds)
        preferences = by_utility(utilities(rng, self.n_arms))
        if not self.redrawn:
            return steady(rng, rounds, connected_graphs(rng, 1, self.n_arms, self.density)[0], preferences)
        n_graphs = min(rounds, SETS_OF_BLOCK)
        graphs = preferences[np.newaxis]
        return drawn(rng, rounds, lambda: (connected_graphs(rng, n_graphs, self.n_arms, self.density), graphs))


@dataclass(frozen=True)
class PathDuels(DuelWorld):
    """The path 1 - 2 - 4 - 3 with utilities (10.1, 10, 0.15, 0.1): a counterexample to the paper's Theorem 2.

    Sparring SI-EXP3 ends up playing the pair (3, 4), with a regret of 0.195 per round. Its left player learns that 3 is
    best against 4, but the right player must play 4 only because the left one plays 3.
    """

    @property
    def n_arms(self) -> int:
        """Four arms."""
        return 4

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw coins."""
        checked_rounds(rng, rounds)
        pairs = np.zeros((4, 4), np.bool_)
        pairs[[0, 1, 3], [1, 3, 2]] = True
        return steady(rng, rounds, pairs | pairs.T, by_utility(np.array([10.1, 10.0, 0.15, 0.1])))


@dataclass(frozen=True)
class StubbornPairs(AdaptiveDuelWorld):
    """An adversary who withdraws the pairs that were played most, as long as the others keep the graph connected.

    Parameters:
        n_arms: K, at least 3
        withdrawn: the share of withdrawn pairs among those that can be, K(K-1)/2 - (K-1) in number; 1 leaves a tree

    >>> run = StubbornPairs(3).start(np.random.default_rng(0))
    >>> run.pairs().sum() // 2, run.played((0, 1)), run.pairs()[0, 1]
    (np.int64(2), None, np.False_)
    """

    n_arms: int = 6
    withdrawn: float = 1.0

    def __post_init__(self) -> None:
        """Check both numbers."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 3", 3))
        set_frozen(self, withdrawn=real("withdrawn", self.withdrawn, "between 0 and 1", 0.0, 1.0))

    def start(self, rng: np.random.Generator) -> AdaptiveDuelRun:
        """Return a run whose utilities come from `rng`."""
        checked_run(rng)
        spare = (self.n_arms - 1) * (self.n_arms - 2) // 2
        return _Stubborn(by_utility(utilities(rng, self.n_arms)), round(self.withdrawn * spare))


class _Stubborn(AdaptiveDuelRun):
    """One run of `StubbornPairs`."""

    def __init__(self, preferences: Floats, n_withdrawn: int) -> None:
        self._preferences, self._n_withdrawn = preferences, n_withdrawn
        self._edges = np.argwhere(np.triu(distinct_pairs(len(preferences))))
        self._counts = np.zeros(preferences.shape, np.int64)

    def pairs(self) -> Mask:
        """Return all pairs except those played most; of ties, the last in lexicographic order are withdrawn first."""
        left, right = self._edges[np.argsort(self._counts[tuple(self._edges.T)], kind="stable")].T
        spare = [n for n, needed in enumerate(_spanning(left.tolist(), right.tolist())) if not needed]
        kept = np.delete(np.arange(left.size), spare[len(spare) - self._n_withdrawn :])
        mask = np.zeros(self._counts.shape, np.bool_)
        mask[left[kept], right[kept]] = True
        return mask | mask.T

    def preferences(self) -> Floats:
        """Return the same in every round."""
        return self._preferences.copy()

    def played(self, arms: Sequence[int]) -> None:
        """Count the pair."""
        left, right = sorted(arms)
        self._counts[left, right] += 1


def connected_graphs(rng: np.random.Generator, n_graphs: int, n_arms: int, density: float) -> Mask:
    """Return (n_graphs, K, K) random connected graphs: a random tree each, other pairs with probability `density`."""
    graphs = np.triu(rng.random((n_graphs, n_arms, n_arms)) < density, 1)
    order = rng.permuted(np.tile(np.arange(n_arms), (n_graphs, 1)), axis=1)
    before = rng.integers(np.arange(1, n_arms), size=(n_graphs, n_arms - 1))
    graphs[np.arange(n_graphs)[:, np.newaxis], order[:, 1:], np.take_along_axis(order, before, axis=1)] = True
    symmetric: Mask = graphs | graphs.transpose(0, 2, 1)
    return symmetric


def _spanning(left: list[int], right: list[int]) -> Iterator[bool]:
    """Yield for each edge whether it connects two parts that were not connected before: Kruskal's tree."""
    group = {k: {k} for k in (*left, *right)}
    for i, j in zip(left, right, strict=True):
        apart = group[i] is not group[j]
        if apart:
            group[i] |= group[j]
            group.update(dict.fromkeys(group[j], group[i]))
        yield apart
