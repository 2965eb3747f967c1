"""Policies that keep counts per arm: sleeping UCB, sleeping Thompson sampling; and uniform play."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.compile import kernel
from wakeful.entries import Floats, Ints, Kernels
from wakeful.exponentials import log
from wakeful.integrals import beta_minimum
from wakeful.policy import Guarantee, Policy, checked_horizon_of
from wakeful.rates import checked_factor
from wakeful.recipe import settle
from wakeful.state_ranges import COUNTS, NOTHING, TOTALS, Range, Ranges

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

    ranges: ClassVar[Ranges] = {"counts": COUNTS, "losses": TOTALS, "clock": COUNTS}

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        settle(
            self,
            constant=checked_factor("constant", self.constant),
        )

    @property
    def kernels(self) -> Kernels:
        """The compiled half."""
        return Kernels(_ucb_law, _mean_learn, _mean_remember)

    def memo_range(self, n_arms: int) -> Range:
        """Return zero: it notes nothing."""
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


class BetaState(NamedTuple):
    """How often each arm's rounded loss was one, and zero."""

    ones: Floats  # (K,)
    zeros: Floats  # (K,)


@dataclass(frozen=True)
class SleepingThompson(Policy):
    """Thompson sampling among the awake arms, with its exact law.

    Losses in [0, 1] are rounded to 0 or 1 by a coin of that bias, so that Beta(1 + ones, 1 + zeros) is the
    posterior of an arm's mean loss. The awake arm whose posterior draw is lowest is played: we compute the
    chance of that, `int f_i prod_{j != i} (1 - F_j)`, and draw from it, so every decision carries its true
    probability. The coin is drawn at decision time and travels in the decision.

    >>> import numpy as np
    >>> policy = SleepingThompson()
    >>> policy.probabilities(policy.start(2), np.array([True, True])).round(9)
    array([0.5, 0.5])
    """

    ranges: ClassVar[Ranges] = {"ones": ROUNDED, "zeros": ROUNDED}

    @property
    def kernels(self) -> Kernels:
        """The compiled half."""
        return Kernels(_beta_law, _beta_learn, _beta_remember)

    def memo_range(self, n_arms: int) -> Range:
        """Return where the coin lies."""
        return Range(0.0, 1.0)

    def start(self, n_arms: int) -> BetaState:
        """Return no observations."""
        return BetaState(np.zeros(n_arms), np.zeros(n_arms))


class CountState(NamedTuple):
    """How often each arm was observed: a policy must keep something, and this is worth a look."""

    counts: Floats  # (K,)


@dataclass(frozen=True)
class Uniform(Policy):
    """Play every awake arm with the same probability: the baseline that everything must beat.

    >>> import numpy as np
    >>> Uniform().probabilities(Uniform().start(4), np.array([True, False, True, False]))
    array([0.5, 0. , 0.5, 0. ])
    """

    ranges: ClassVar[Ranges] = {"counts": COUNTS}

    @property
    def kernels(self) -> Kernels:
        """The compiled half."""
        return Kernels(_uniform_law, count_learn)

    def memo_range(self, n_arms: int) -> Range:
        """Return zero: it notes nothing."""
        return NOTHING

    def start(self, n_arms: int) -> CountState:
        """Return no observations."""
        return CountState(np.zeros(n_arms))


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


@kernel
def _uniform_law(nothing: Any, state: CountState, awake: Ints, p: Floats) -> None:
    """Share one evenly."""
    for k in awake:
        p[k] = 1.0 / awake.size


@kernel
def count_learn(nothing: Any, state: CountState, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Count the observation."""
    state.counts[arm] += 1.0
