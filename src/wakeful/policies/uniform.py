"""Uniform: every awake arm with the same probability, for comparison."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel
from wakeful.policies.kernels import Kernels
from wakeful.policies.policy import Policy
from wakeful.policies.state_ranges import COUNTS, NOTHING, Range, Ranges


class CountState(NamedTuple):
    """How often each arm was observed; the policy does not use it, but a state must have a field."""

    counts: Floats  # (K,)


@dataclass(frozen=True)
class Uniform(Policy):
    """Play every awake arm with the same probability: the baseline that everything must beat.

    >>> import numpy as np
    >>> Uniform().probabilities(Uniform().start(4), np.array([True, False, True, False]))
    array([0.5, 0. , 0.5, 0. ])
    """

    from_others: ClassVar[str | None] = "counts"
    ranges: ClassVar[Ranges] = {"counts": COUNTS}

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_uniform_law, count_learn)

    def memo_range(self, n_arms: int) -> Range:
        """Return zero: decisions of this policy have no memo."""
        return NOTHING

    def start(self, n_arms: int) -> CountState:
        """Return no observations."""
        return CountState(np.zeros(n_arms))


@kernel
def _uniform_law(nothing: Any, state: CountState, awake: Ints, p: Floats) -> None:
    """Share one evenly."""
    for k in awake:
        p[k] = 1.0 / awake.size


@kernel
def count_learn(nothing: Any, state: CountState, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Count the observation."""
    state.counts[arm] += 1.0
