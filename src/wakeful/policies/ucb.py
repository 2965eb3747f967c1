"""Sleeping UCB: the awake arm with the lowest lower confidence bound of its mean loss."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import log
from wakeful.policies.kernels import Kernels
from wakeful.policies.learning_rates import checked_factor
from wakeful.policies.policy import Guarantee, Policy, checked_horizon_of
from wakeful.policies.spec import set_frozen
from wakeful.policies.state_ranges import COUNTS, NOTHING, TOTALS, Range, Ranges

ROUNDED = Range(0.0, 1e12)  # rounded losses of an arm: as many as its posterior is integrated for
TIE = 1e-12  # indices closer than this are tied, so that the order of a sum's terms cannot break a tie


class MeanState(NamedTuple):
    """How often each arm was observed, and the sum of its losses."""

    counts: Floats  # (K,)
    losses: Floats  # (K,)
    clock: Ints  # decisions


class Width(NamedTuple):
    """The constant of the confidence width."""

    constant: float


@dataclass(frozen=True)
class SleepingUCB(Policy):
    """AUER (Kleinberg, Niculescu-Mizil, Sharma 2010): the awake arm with the lowest plausible loss.

    Plays `argmin mean(i) - sqrt(constant log t / n(i))`, arms never observed first, ties at random. For
    losses drawn independently of what is awake; where they depend on it, its regret is linear.

    Parameters:
        constant: the constant under the root; 8 is AUER's

    >>> import numpy as np
    >>> policy = SleepingUCB()
    >>> policy.probabilities(policy.start(3), np.array([True, False, True]))
    array([0.5, 0. , 0.5])
    """

    constant: float = 8.0

    from_others: ClassVar[str | None] = "counts"
    ranges: ClassVar[Ranges] = {"counts": COUNTS, "losses": TOTALS, "clock": COUNTS}

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(
            self,
            constant=checked_factor("constant", self.constant),
        )

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_ucb_law, _mean_learn, _mean_remember)

    def memo_range(self, n_arms: int) -> Range:
        """Return zero: decisions of this policy have no memo."""
        return NOTHING

    def start(self, n_arms: int) -> MeanState:
        """Return no observations."""
        return MeanState(np.zeros(n_arms), np.zeros(n_arms), np.zeros(1, np.int64))

    def parameters(self, n_arms: int) -> Width:
        """Return the constant."""
        return Width(float(self.constant))

    def guarantee(self, rounds: int, n_arms: int, awake_total: int) -> Guarantee | None:
        """Return the bound on ordering regret that holds without gaps, for i.i.d. losses and a constant >= 2.

        While every mean is inside its width, an arm played for the n-th time costs at most twice that width:
        `sum_i sum_n 2 sqrt(c log T / n) <= 4 sqrt(c K T log T)`; one play of each arm and the rounds in which
        a mean is outside cost at most `K (1 + pi^2 / 3)`.
        """
        checked_horizon_of(rounds, n_arms, awake_total)
        if self.constant < 2.0:
            return None
        spread = 4.0 * math.sqrt(self.constant * n_arms * rounds * math.log(max(rounds, 2)))
        return Guarantee("ordering", "iid", spread + n_arms * (1.0 + math.pi**2 / 3.0))


@kernel
def _ucb_law(width: Width, state: MeanState, awake: Ints, p: Floats) -> None:
    """Share one evenly among the awake arms with the lowest index."""
    log_t = log(state.clock[0] + 1.0)
    least = np.inf
    for k in awake:
        p[k] = -np.inf
        if state.counts[k] > 0:
            n = state.counts[k]
            p[k] = state.losses[k] / n - math.sqrt(width.constant * log_t / n)
        least = min(least, p[k])
    ties = 0
    for k in awake:
        p[k] = 1.0 if p[k] <= least + TIE else 0.0
        ties += p[k] > 0.0
    for k in awake:
        p[k] /= ties


@kernel
def _mean_remember(width: Width, state: MeanState, awake: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count the decision."""
    state.clock[0] += 1
    return 0.0


@kernel
def _mean_learn(width: Width, state: MeanState, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Count the observation and add its loss."""
    state.counts[arm] += 1.0
    state.losses[arm] += loss
