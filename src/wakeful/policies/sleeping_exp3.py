"""Ordering regret under random availability: Sleeping-EXP3 and Sleeping-EXP3G (Saha, Gaillard, Valko 2020).

Both play `p(i)` proportional to `exp(-eta_t L[i])` on the awake arms and divide the observed loss by how
often the arm would have been played on average over awake sets, `L[k] += l / (qbar_t(k) + lambda_t)`. They
differ in that average: over the sets seen so far, or over sets of independently awake arms.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from wakeful.inputs import whole
from wakeful.limits import claim
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.awake_sets import count, fewest, find
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exp
from wakeful.numerics.integrals import expected_share
from wakeful.policies.kernels import FLOOR, Kernels
from wakeful.policies.learning_rates import (
    CONSTANT,
    LARGEST_RATE,
    ROUNDS,
    Rate,
    checked_eta,
    checked_exploration,
    gibbs,
    rate_at,
)
from wakeful.policies.policy import Policy
from wakeful.policies.spec import set_frozen
from wakeful.policies.state_ranges import COUNTS, ESTIMATES, MOST, Range, Ranges

ONE_AT_A_TIME = 1e-15  # the sum of the frequencies is above one by less: by rounding alone
CONVERGED = 1e-15  # relative step at which Newton's method has arrived
MOST_STEPS = 100  # it halves the distance at the very least, and that distance is below 2^53 times the root
SHARE_ROUNDING = 1e-9  # how far above one a mean of shares may be
SMALLEST_SUM = 1e-280  # a sum of weights below this is redone with a shift of its own


class SetsState(NamedTuple):
    """Estimated losses, and how often each awake set was seen."""

    losses: Floats  # (K,)
    clock: Ints  # decisions
    sets: Mask  # (max_sets, K)
    counts: Ints  # (max_sets,)


@dataclass(frozen=True)
class SleepingExp3G(Policy):
    """Sleeping-EXP3G: small ordering regret when awake sets are i.i.d. and independent of the losses.

    `qbar_t(k)` is the mean over the awake sets S_1, ..., S_t of the chance to play k under the current
    weights. A count per distinct set makes a round cost O(distinct sets x K), whatever t is.

    Parameters:
        eta: the learning rate: a constant, or `"sqrt"`, t^-1/2
        exploration: `lambda_t = exploration * eta_t`
        max_sets: how many distinct sets are counted; when there are more, a new one takes the place, and
            the count, of the rarest (the Space-Saving rule: no count is off by more than t / max_sets)

    >>> SleepingExp3G(max_sets=4).start(n_arms=2).counts
    array([0, 0, 0, 0])
    """

    eta: float | str = "sqrt"
    exploration: float = 1.0
    max_sets: int = 1024

    schedules: ClassVar[tuple[str, ...]] = ("sqrt",)
    from_others: ClassVar[str | None] = "weights"
    ranges: ClassVar[Ranges] = {"losses": ESTIMATES, "clock": COUNTS, "counts": COUNTS}

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(self, eta=checked_eta(self.eta, self.schedules), exploration=checked_exploration(self.exploration))
        set_frozen(self, max_sets=whole("max_sets", self.max_sets, "a number of sets, at least 1", 1))

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_law, _learn, _remember_sets)

    def memo_range(self, n_arms: int) -> Range:
        """Return what losses may be divided by."""
        return _propensities(self.parameters(n_arms))

    def start(self, n_arms: int) -> SetsState:
        """Return no losses and no sets."""
        claim("max_sets", self.max_sets, self.max_sets * (n_arms + np.dtype(np.int64).itemsize))
        sets = np.zeros((self.max_sets, n_arms), np.bool_)
        return SetsState(np.zeros(n_arms), np.zeros(1, np.int64), sets, np.zeros(self.max_sets, np.int64))

    def parameters(self, n_arms: int) -> Rate:
        """Return the schedule."""
        return _rate(self.eta, self.exploration)


class RatesState(NamedTuple):
    """Estimated losses, and how often each arm was awake."""

    losses: Floats  # (K,)
    clock: Ints  # decisions
    seen: Ints  # (K,)


@dataclass(frozen=True)
class SleepingExp3(Policy):
    """Sleeping-EXP3: small ordering regret when every arm is awake independently of the others.

    `qbar_t(k)` is the probability of playing k, given that at least one arm is awake, if arm j is awake with
    probability a_j, independently of the others: a sum over 2^K sets, computed as one integral,
    `a_k / c int_0^inf p_k exp(-u p_k) prod_{j != k} (1 - a_j + a_j exp(-u p_j)) du`, `c = 1 - prod_j (1 - a_j)`.
    Rounds in which no arm is awake are never seen, so the observed frequency of arm j is `a_j / c`, not a_j. The
    probability c that at least one arm is awake is the root of `c = 1 - prod_j (1 - frequency_j c)`.

    Parameters:
        eta: the learning rate: a constant, or `"sqrt"`, t^-1/2
        exploration: `lambda_t = exploration * eta_t`

    >>> SleepingExp3().start(n_arms=2).seen
    array([0, 0])
    """

    eta: float | str = "sqrt"
    exploration: float = 1.0

    schedules: ClassVar[tuple[str, ...]] = ("sqrt",)
    from_others: ClassVar[str | None] = "weights"
    ranges: ClassVar[Ranges] = {"losses": ESTIMATES, "clock": COUNTS, "seen": COUNTS}

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(self, eta=checked_eta(self.eta, self.schedules), exploration=checked_exploration(self.exploration))

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_law, _learn, _remember_rates)

    def memo_range(self, n_arms: int) -> Range:
        """Return what losses may be divided by."""
        return _propensities(self.parameters(n_arms))

    def start(self, n_arms: int) -> RatesState:
        """Return no losses and no arm seen."""
        return RatesState(np.zeros(n_arms), np.zeros(1, np.int64), np.zeros(n_arms, np.int64))

    def parameters(self, n_arms: int) -> Rate:
        """Return the schedule."""
        return _rate(self.eta, self.exploration)


def _propensities(rate: Rate) -> Range:
    """Return what losses may be divided by: a share, which may be too small for a number, and lambda_t."""
    least_rate = rate.numerator / math.sqrt(MOST) if rate.counter == ROUNDS else rate.numerator
    return Range(rate.exploration * least_rate, 2.0 * LARGEST_RATE**2)


def _rate(eta: float | str, exploration: float) -> Rate:
    """Return `"sqrt"` or a constant as a schedule."""
    if isinstance(eta, str):
        return Rate(1.0, ROUNDS, float(exploration))
    return Rate(float(eta), CONSTANT, float(exploration))


@kernel
def _law(rate: Rate, state: SetsState, awake: Ints, p: Floats) -> None:
    """Write p(i) proportional to exp(-eta L[i]) into `p`."""
    gibbs(state.losses, rate_at(rate, state.clock[0] + 1, 0), awake, p)


@kernel
def _learn(rate: Rate, state: SetsState, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Add the estimate; the memo is what it is divided by."""
    state.losses[arm] += loss / max(memo, FLOOR)


@kernel
def _remember_sets(rate: Rate, state: SetsState, awake: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count the decision and its awake set; the memo is qbar_t(arm) + lambda_t."""
    state.clock[0] += 1
    row = find(state.sets, state.counts, awake)
    if row < 0:
        row = fewest(state.counts)
    count(state.sets, state.counts, row, awake)
    eta = rate_at(rate, state.clock[0], 0)
    least = state.losses.min()
    weights = np.empty(state.losses.size)
    for k in range(weights.size):
        weights[k] = exp(-eta * (state.losses[k] - least))
    total = 0.0
    for row in range(state.counts.size):
        if state.counts[row] > 0 and state.sets[row, arm]:
            total += state.counts[row] * _share(weights, state.losses, eta, state.sets[row], arm)
    return float(min(total / state.clock[0], 1.0 + SHARE_ROUNDING) + rate.exploration * eta)


@kernel
def _share(weights: Floats, losses: Floats, eta: float, members: Mask, arm: int) -> float:
    """Return the chance to play `arm` when `members` are awake; shifted anew if `weights` underflow there."""
    total = 0.0
    for k in range(members.size):
        total += weights[k] if members[k] else 0.0  # a choice of numbers, not of ways: no branch is mispredicted
    if total >= SMALLEST_SUM:
        return float(weights[arm] / total)
    total = 0.0  # relative to the arm itself
    for k in range(members.size):
        if members[k]:
            total += exp(min(eta * (losses[arm] - losses[k]), 700.0))
    return 1.0 / total


@kernel
def _remember_rates(rate: Rate, state: RatesState, awake: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count the decision and its awake arms; the memo is qbar_t(arm) + lambda_t."""
    state.clock[0] += 1
    for k in awake:
        state.seen[k] += 1
    eta = rate_at(rate, state.clock[0], 0)
    share = conditional_share(-eta * state.losses, state.seen / state.clock[0], arm)
    return float(min(share, 1.0) + rate.exploration * eta)


@kernel
def conditional_share(log_weights: Floats, frequencies: Floats, arm: int) -> float:
    """Return the probability of playing `arm`, if arm j is awake in a share `frequencies[j]` of the rounds seen."""
    chance = nonempty_chance(frequencies)
    if chance <= 0.0:
        return float(frequencies[arm])  # only one arm is ever awake at a time
    return expected_share(log_weights, np.minimum(frequencies * chance, 1.0), arm) / chance


@kernel
def nonempty_chance(frequencies: Floats) -> float:
    """Return the probability c of any arm being awake, if arm j is in a share `frequencies[j]` of such rounds.

    It is the positive root of `1 - prod_j (1 - frequencies[j] c) - c`, a concave function: Newton's method comes down
    to it from c = 1. If never two arms were awake, the frequencies sum to one and there is none: zero.
    """
    if frequencies.max() >= 1.0:
        return 1.0
    if frequencies.sum() <= 1.0 + ONE_AT_A_TIME:
        return 0.0
    chance = 1.0
    for _ in range(MOST_STEPS):
        somebody, nobody, slope = 0.0, 1.0, 0.0
        for a in frequencies:
            somebody += nobody * a * chance  # 1 - nobody, without its rounding
            nobody *= 1.0 - a * chance
            slope += a / (1.0 - a * chance)
        descent = 1.0 - slope * nobody
        if descent <= 0.0:
            break  # so close to zero that rounding decides
        step = (chance - somebody) / descent
        chance = max(chance - step, 0.0)
        if step <= CONVERGED * chance:
            break
    return chance
