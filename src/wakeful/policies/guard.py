"""A guard against adversaries for any policy: watch the regret to every arm, and hand over to SB-EXP3 for good.

While watching, awake arms are also explored with probability `a t^(-1/3)`, t counting feedback, so that the regret to
arm k so far has the unbiased estimate `G(k) = sum over rounds with k awake of l(arm) - 1{arm = k} l / p(k)`. Its chance
fluctuations are about `sqrt(W(k))`, `W(k) = sum (1{arm = k} l / p(k))^2`. When some G(k) exceeds
`CHANCE sqrt(W(k)) + LARGE_WEIGHTS K t^(1/3) / a`, SB-EXP3 starts from nothing and plays from then on.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import log, power
from wakeful.policies.learning_rates import gibbs
from wakeful.policies.state_ranges import COUNTS, DIFFERENCES, ESTIMATES, Range, Ranges

CHANCE = 3.0  # standard deviations of the estimated regret that chance may explain
LARGE_WEIGHTS = 8.0  # largest weights of one loss that it may explain
MOST_EXPLORED = 0.5  # of the first round


class Guard(NamedTuple):
    """Estimated regrets while watching, and the weights of SB-EXP3 once it has taken over."""

    guard_gains: Floats  # (K,), the estimated gain of playing k whenever it was awake
    guard_squares: Floats  # (K,), the sum of the squares of the estimated losses of k
    guard_losses: Floats  # (K,), as in SB-EXP3
    switched: Ints  # whether SB-EXP3 plays, and awake arms less one over all of its rounds


GUARD_RANGES: Ranges = {
    "guard_gains": DIFFERENCES,
    "guard_squares": Range(0.0, ESTIMATES.high**2),
    "guard_losses": DIFFERENCES,
    "switched": COUNTS,
}


def no_guard(n_arms: int) -> Guard:
    """Return a guard that has seen nothing."""
    return Guard(np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms), np.zeros(2, np.int64))


def guard_bound(scale: float, rounds: int, n_arms: int, awake_total: int) -> float:
    """Return the bound on the expected external regret: that of exploring and watching, and that of SB-EXP3."""
    rivals = max(awake_total - rounds, 0)
    explored = n_arms / scale * (rounds + 1.0) ** (1.0 / 3.0)  # the largest weight of one loss
    watching = CHANCE * math.sqrt(0.75 * explored * (rounds + 1.0)) + LARGE_WEIGHTS * explored + 1.0
    c = math.sqrt(math.log(max(n_arms, 2)) / 2.0)
    return float(watching + (math.log(n_arms) / c + 2.0 * c) * math.sqrt(rivals) + c * c)


@kernel
def guard_law(scale: float, state: Any, awake: Ints, p: Floats) -> None:
    """Mix exploration into `p` while watching; once switched, write the probabilities of SB-EXP3."""
    if state.switched[0] > 0:
        rivals = state.switched[1] + awake.size - 1
        gibbs(state.guard_losses, math.sqrt(0.5 * log(state.guard_losses.size) / rivals), awake, p)
        return
    share = explored_share(scale, state.totals[0] + 1.0)
    for k in awake:
        p[k] = (1.0 - share) * p[k] + share / awake.size


@kernel
def explored_share(scale: float, t: float) -> float:
    """Return the probability with which round t explores."""
    return scale * power(t, -1.0 / 3.0)


@kernel
def guard_learn(scale: float, state: Any, awake: Ints, p: Floats, arm: int, loss: float) -> None:
    """Add one loss to the estimated regrets, and switch if one is too large; once switched, teach SB-EXP3."""
    if awake.size == 1:
        return
    estimate = loss / p[arm]
    if state.switched[0] > 0:
        state.switched[1] += awake.size - 1
        for i in awake:
            state.guard_losses[i] -= loss
        state.guard_losses[arm] += estimate
        return
    state.guard_gains[arm] -= estimate
    state.guard_squares[arm] += estimate * estimate
    heaviest = state.guard_gains.size / explored_share(scale, state.totals[0] + 1.0)
    for i in awake:
        state.guard_gains[i] += loss
        if state.guard_gains[i] > CHANCE * math.sqrt(state.guard_squares[i]) + LARGE_WEIGHTS * heaviest:
            state.switched[0] = 1
