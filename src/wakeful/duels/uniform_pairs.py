"""UniformPairs: every allowed pair with the same probability, for comparison."""

from dataclasses import dataclass
from typing import Any

from wakeful.duels.kernels import DuelKernels
from wakeful.duels.policy import DuelingPolicy
from wakeful.duels.win_counts import KeepsWins, PairState, pair_learn, pair_remember
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel


@dataclass(frozen=True)
class UniformPairs(KeepsWins, DuelingPolicy):
    """Play every allowed ordered pair with the same probability: the baseline that everything must beat.

    Left is drawn in proportion to its number of partners, right evenly among them, and so are the rest of a battle.

    >>> UniformPairs().start(n_arms=3).wins.shape
    (3, 3)
    """

    @property
    def kernels(self) -> DuelKernels:
        """The compiled functions of this policy."""
        return DuelKernels(_uniform_law, pair_learn, pair_remember)


@kernel
def _uniform_law(
    parameters: Any, state: PairState, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats
) -> None:
    """Write probabilities proportional to the number of partners for the first arm, equal ones for later arms."""
    total = 0.0
    for k in awake:
        p[k] = 1.0 if chosen.size > 0 else float(pairs[k].sum())
        total += p[k]
    for k in awake:
        p[k] /= total
