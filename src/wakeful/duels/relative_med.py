"""RelativeMED, after RMED: an arm is tried as long as its losses do not rule out that it is the best."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeful.duels.kernels import DuelKernels, partners
from wakeful.duels.policy import DuelingPolicy
from wakeful.duels.win_counts import (
    KeepsWins,
    PairState,
    divergence,
    evidence,
    pair_learn,
    pair_remember,
    record,
    share_best,
)
from wakeful.inputs import real
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import log, power
from wakeful.policies.learning_rates import LARGEST_RATE
from wakeful.policies.spec import set_frozen
from wakeful.policies.ucb import TIE


@dataclass(frozen=True)
class RelativeMED(KeepsWins, DuelingPolicy):
    """An empirical-divergence policy after RMED1 (Komiyama, Honda, Kashima, Nakagawa 2015), for allowed pairs only.

    The evidence that i is not the best is `I_i = sum n_ij KL(mu_ij, 1/2)` over the allowed rivals j that i loses to
    (`mu_ij = wins_ij / n_ij < 1/2`). The champion c is any arm with `I_c - min I <= log t + f`, `f = slack K^1.01`
    for K arms to draw from. Its challenger is an arm with the least evidence against it, if c loses to that arm or to
    none (c itself, if that is allowed); otherwise the arm that c loses to most. If c beats all its partners and may not
    meet itself, the challenger is any partner j with `n_jc KL(mu_jc, max mu_c) <= log t + f` (as in DMED).

    Pairs that never met count as even, in place of RMED1's first round of all pairs; and candidates are drawn
    evenly, not from lists, because a state must be a sum. Where the pairs are not all those of a set, its regret can
    be linear, as that of `RelativeUCB`.

    Parameters:
        slack: the factor of f; 0.3 is the paper's

    >>> RelativeMED().start(n_arms=3).wins.shape
    (3, 3)
    """

    slack: float = 0.3

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(self, slack=real("slack", self.slack, f"zero or more, at most {LARGEST_RATE:g}", 0.0, LARGEST_RATE))

    @property
    def kernels(self) -> DuelKernels:
        """The compiled functions of this policy."""
        return DuelKernels(_med_law, pair_learn, pair_remember)


@kernel
def _med_law(parameters: Any, state: PairState, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
    """Give equal probability to the arms with little evidence against them, then to the champion's challengers."""
    budget = log(state.clock[0] + 1.0) + parameters.slack * power(float(awake.size), 1.01)
    if chosen.size > 0:
        _med_challengers(state.wins, pairs, awake, chosen[0], budget, p)
    else:
        least = np.inf
        for k in awake:
            p[k] = evidence(state.wins, pairs, k)
            least = min(least, p[k])
        for k in awake:
            p[k] = int(p[k] <= least + budget + TIE)
    share_best(awake, p)


@kernel
def _med_challengers(wins: Floats, pairs: Mask, awake: Ints, champion: int, budget: float, p: Floats) -> None:
    """Write the scores of those who may meet the champion into `p`."""
    losing, strongest = False, 0.0
    for k in awake:
        p[k], _ = record(wins, k, champion)
        strongest = max(strongest, p[k])
        losing |= k != champion and p[k] >= 0.5 - TIE
    leading = _leaders(wins, pairs, awake)
    for i in range(awake.size):
        k = awake[i]
        leading[i] &= not losing or (k != champion and p[k] >= 0.5 - TIE)
    if leading.any():
        for i in range(awake.size):
            p[awake[i]] = int(leading[i])
    elif losing:
        for k in awake:
            p[k] -= int(k == champion)  # below all others
    else:
        for k in awake:
            mean, n = record(wins, k, champion)
            p[k] = int(n * divergence(mean, strongest) <= budget + TIE)


@kernel
def _leaders(wins: Floats, pairs: Mask, awake: Ints) -> Mask:
    """Return which of `awake` have the least evidence against them, of all arms that have a partner."""
    everybody = np.empty(len(pairs), np.int64)
    n = partners(pairs, awake[:0], everybody)
    least = np.inf
    against = np.zeros(len(pairs))
    for k in everybody[:n]:
        against[k] = evidence(wins, pairs, k)
        least = min(least, against[k])
    return against[awake] <= least + TIE * (1.0 + least)
