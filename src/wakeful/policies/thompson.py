"""Thompson sampling among the arms that are awake, with its exact probabilities."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel
from wakeful.numerics.integrals import beta_minimum
from wakeful.policies.kernels import Kernels
from wakeful.policies.policy import Policy
from wakeful.policies.state_ranges import Range, Ranges
from wakeful.policies.ucb import ROUNDED


class BetaState(NamedTuple):
    """How often each arm's rounded loss was one, and zero."""

    ones: Floats  # (K,)
    zeros: Floats  # (K,)


@dataclass(frozen=True)
class SleepingThompson(Policy):
    """Thompson sampling among the awake arms, with its exact probabilities.

    Losses in [0, 1] are rounded to 0 or 1 by a coin of that bias, so that Beta(1 + ones, 1 + zeros) is the
    posterior of an arm's mean loss. The awake arm whose posterior draw is lowest is played: we compute the
    chance of that, `int f_i prod_{j != i} (1 - F_j)`, and draw from it, so every decision carries its true
    probability. The coin is drawn at decision time and stored in the decision as its memo.

    >>> import numpy as np
    >>> policy = SleepingThompson()
    >>> policy.probabilities(policy.start(2), np.array([True, True])).round(9)
    array([0.5, 0.5])
    """

    from_others: ClassVar[str | None] = "counts"
    ranges: ClassVar[Ranges] = {"ones": ROUNDED, "zeros": ROUNDED}

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_beta_law, _beta_learn, _beta_remember)

    def memo_range(self, n_arms: int) -> Range:
        """Return where the coin lies."""
        return Range(0.0, 1.0)

    def start(self, n_arms: int) -> BetaState:
        """Return no observations."""
        return BetaState(np.zeros(n_arms), np.zeros(n_arms))


@kernel
def _beta_law(nothing: Any, state: BetaState, awake: Ints, p: Floats) -> None:
    """Write the chance that each awake arm's posterior draw is the lowest into `p`."""
    law = np.empty(awake.size)
    beta_minimum(state.ones[awake], state.zeros[awake], law)
    for i in range(awake.size):
        p[awake[i]] = law[i]


@kernel
def _beta_remember(nothing: Any, state: BetaState, awake: Ints, p: Floats, arm: int, coin: float) -> float:
    """Keep the coin that will round the loss."""
    return coin


@kernel
def _beta_learn(nothing: Any, state: BetaState, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Round the loss with the decision's coin and count it."""
    if memo < loss:
        state.ones[arm] += 1.0
    else:
        state.zeros[arm] += 1.0
