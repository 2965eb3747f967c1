"""The example of section 4.1 (ii): duels between arms of different groups, some of which are asleep."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wakeful.duels.pairs import group_pairs
from wakeful.inputs import real, whole
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.spec import set_frozen
from wakeful.worlds import DuelBlock, DuelWorld
from wakeful.worlds.duel_graphs import SETS_OF_BLOCK
from wakeful.worlds.duel_world import checked_rounds, drawn
from wakeful.worlds.duels import by_utility, utilities


@dataclass(frozen=True)
class GroupDuels(DuelWorld):
    """A random instance a run: utilities, a group for each arm, and arms that are awake at random.

    Only awake arms of different groups may meet. At least two groups have arms; awake sets without a pair are redrawn.

    Parameters:
        n_arms: K, at least as many as groups
        n_groups: from which each arm's group is drawn
        rate: the probability of being awake
    """

    n_arms: int = 6
    n_groups: int = 3
    rate: float = 0.8

    def __post_init__(self) -> None:
        """Check all three."""
        set_frozen(self, n_groups=whole("n_groups", self.n_groups, "a whole number from 2", 2))
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, f"a whole number from {self.n_groups}", self.n_groups))
        set_frozen(self, rate=real("rate", self.rate, "above 0 and at most 1", 0.0, 1.0, above=True))

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw the utilities and the groups of the run, then awake sets."""
        checked_rounds(rng, rounds)
        preferences = by_utility(utilities(rng, self.n_arms))[np.newaxis]
        groups = np.concatenate([[0, 1], rng.integers(self.n_groups, size=self.n_arms - 2)])
        across = group_pairs(rng.permutation(groups).tolist())

        def tables() -> tuple[Mask, Floats]:
            return np.array([self._pairs(rng, across) for _ in range(min(rounds, SETS_OF_BLOCK))]), preferences

        return drawn(rng, rounds, tables)

    def _pairs(self, rng: np.random.Generator, across: Mask) -> Mask:
        """Return the pairs of awake arms of different groups, at least one."""
        while True:
            awake = rng.random(self.n_arms) < self.rate
            pairs: Mask = across & awake & awake[:, np.newaxis]
            if pairs.any():
                return pairs
