"""Dueling policies that keep one count for each ordered pair of arms: how often the one beat the other.

All of them look only at pairs that may be played, and all choose a champion first and then whom it meets. Of a battle,
every arm after the champion is chosen as the challenger of a duel is, among those that are left.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.compile import kernel
from wakeful.duel_policy import DuelingPolicy, DuelKernels, Pick, partners
from wakeful.entries import Floats, Ints, Mask
from wakeful.exponentials import log, power
from wakeful.index import TIE
from wakeful.inputs import real
from wakeful.rates import LARGEST_RATE, checked_factor
from wakeful.recipe import settle
from wakeful.state_ranges import COUNTS, NOTHING, TOTALS, Range, Ranges


class KeepsWins:
    """What dueling policies share whose state is `PairState`: wins of each arm over each other one, and a clock."""

    ranges: ClassVar[Ranges] = {"wins": TOTALS, "clock": COUNTS}

    def memo_range(self, n_arms: int) -> Range:
        """Return zero: it notes nothing."""
        return NOTHING

    def start(self, n_arms: int, size: int = 2) -> "PairState":
        """Return no duels."""
        return no_duels(n_arms)


class PairState(NamedTuple):
    """How often each arm beat each other one, ties shared, and how many rounds were decided."""

    wins: Floats  # (K, K): row beat column
    clock: Ints  # rounds


def no_duels(n_arms: int) -> PairState:
    """Return the state before the first round."""
    return PairState(np.zeros((n_arms, n_arms)), np.zeros(1, np.int64))


@dataclass(frozen=True)
class RelativeUCB(KeepsWins, DuelingPolicy):
    """RUCB (Zoghi, Whiteson, Munos, de Rijke 2014), restricted to the pairs that may be played.

    With `U_ij = wins_ij / n_ij + sqrt(constant log t / n_ij)`, infinite for pairs that never met, `U_ii = 1/2`:
    the champion c is any arm with `U_cj >= 1/2` against every allowed rival j, any awake arm if there is none; its
    challenger is the allowed partner with the largest `U_jc`. All ties are shared evenly. So c meets itself where it
    may and nobody can plausibly beat it. RUCB's own champion is sticky (its set B); here it is not, because that
    would depend on the order of past rounds, and a state must be a sum.

    This is not SlDB-UCB (Saha, Gaillard 2021) and does not inherit its bound. Where the pairs are not all those of
    a set, two arms that never meet can both be unbeaten, and its regret can be linear: `StablePair` is for that.

    Parameters:
        constant: the constant under the root, alpha in the paper, whose bound needs more than 1/2

    >>> RelativeUCB().start(n_arms=3).wins.shape
    (3, 3)
    """

    constant: float = 0.51

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        settle(
            self,
            constant=checked_factor("constant", self.constant),
        )

    @property
    def kernels(self) -> DuelKernels:
        """The compiled half."""
        return DuelKernels(_ucb_law, pair_learn, pair_remember)


@dataclass(frozen=True)
class RelativeMED(KeepsWins, DuelingPolicy):
    """An empirical-divergence policy after RMED1 (Komiyama, Honda, Kashima, Nakagawa 2015), for allowed pairs only.

    The evidence that i is not the best is `I_i = sum n_ij KL(mu_ij, 1/2)` over the allowed rivals j that i loses to
    (`mu_ij = wins_ij / n_ij < 1/2`). The champion c is any arm with `I_c - min I <= log t + f`, `f = slack K^1.01`
    for K arms to draw from. Its challenger is an arm with the least evidence against it, if c loses to that one or to
    nobody: c itself where it may; else the one that c loses to most. If c beats all its partners and may not meet
    itself, we go on in the same way (as DMED does): any partner j with `n_jc KL(mu_jc, max mu_c) <= log t + f`.

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
        settle(self, slack=real("slack", self.slack, f"zero or more, at most {LARGEST_RATE:g}", 0.0, LARGEST_RATE))

    @property
    def kernels(self) -> DuelKernels:
        """The compiled half."""
        return DuelKernels(_med_law, pair_learn, pair_remember)


@dataclass(frozen=True)
class UniformPairs(KeepsWins, DuelingPolicy):
    """Play every allowed ordered pair with the same probability: the baseline that everything must beat.

    Left is drawn in proportion to its number of partners, right evenly among them, and so are the rest of a battle.

    >>> UniformPairs().start(n_arms=3).wins.shape
    (3, 3)
    """

    @property
    def kernels(self) -> DuelKernels:
        """The compiled half."""
        return DuelKernels(_uniform_law, pair_learn, pair_remember)


@kernel
def count_wins(wins: Floats, pick: Pick, shares: Floats) -> None:
    """Add each position's share of the win to its arm's wins over the arm of every other position."""
    for a in range(pick.arms.size):
        for b in range(pick.arms.size):
            if a != b:
                wins[pick.arms[a], pick.arms[b]] += shares[a]


@kernel
def pair_learn(parameters: Any, state: PairState, pick: Pick, shares: Floats) -> None:
    """Count who beat whom."""
    count_wins(state.wins, pick, shares)


@kernel
def pair_remember(
    parameters: Any, state: PairState, awake: Ints, chosen: Ints, p: Floats, arm: int, coin: float
) -> float:
    """Count the round, once."""
    state.clock[0] += int(chosen.size == 0)
    return 0.0


@kernel
def share_best(awake: Ints, p: Floats) -> int:
    """Turn scores in `p` into a law, one shared evenly among the highest; return how many those are."""
    most = -np.inf
    for k in awake:
        most = max(most, p[k])
    ties = 0
    for k in awake:
        p[k] = 1.0 if p[k] >= most - TIE else 0.0
        ties += int(p[k] > 0.0)
    for k in awake:
        p[k] /= ties
    return ties


@kernel
def upper(wins: Floats, i: int, j: int, spread: float) -> float:
    """Return the highest plausible chance that i beats j: mean + sqrt(spread / n), 1/2 against itself."""
    if i == j:
        return 0.5
    n = wins[i, j] + wins[j, i]
    return float(wins[i, j] / n + math.sqrt(spread / n)) if n > 0.0 else np.inf


@kernel
def plausible_share(wins: Floats, pairs: Mask, i: int, spread: float) -> float:
    """Return the share of its allowed rivals that i may plausibly beat; one if it has none."""
    rivals, beaten = 0, 0
    for j in range(len(pairs)):
        if pairs[i, j] and j != i:
            rivals += 1
            beaten += int(upper(wins, i, j, spread) >= 0.5 - TIE)
    return beaten / rivals if rivals > 0 else 1.0


@kernel
def _ucb_law(parameters: Any, state: PairState, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
    """Share one among the unbeaten arms, then among the strongest plausible challengers of the champion."""
    spread = parameters.constant * log(state.clock[0] + 1.0)
    for k in awake:
        if chosen.size == 0:
            p[k] = int(plausible_share(state.wins, pairs, k, spread) == 1.0)
        else:
            p[k] = upper(state.wins, k, chosen[0], spread)
    share_best(awake, p)


@kernel
def record(wins: Floats, i: int, j: int) -> tuple[float, float]:
    """Return the mean of i against j, 1/2 if they never met (or are the same), and the number of their duels."""
    n = wins[i, j] + wins[j, i]
    return (wins[i, j] / n, n) if n > 0.0 else (0.5, 0.0)


@kernel
def divergence(low: float, high: float) -> float:
    """Return KL(low, high) of two coins, zero unless low < high; high is below one."""
    if low >= high - TIE:
        return 0.0
    wins = low * log(low / high) if low > 0.0 else 0.0
    return wins + (1.0 - low) * log((1.0 - low) / (1.0 - high))


@kernel
def evidence(wins: Floats, pairs: Mask, i: int) -> float:
    """Return how much speaks against i being the best: its losses to allowed rivals, as log-likelihood."""
    total = 0.0
    for j in range(len(pairs)):
        if pairs[i, j] and 2.0 * wins[i, j] < wins[i, j] + wins[j, i]:
            mean, n = record(wins, i, j)
            total += n * divergence(mean, 0.5)
    return total


@kernel
def _med_law(parameters: Any, state: PairState, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
    """Share one among the arms that little speaks against, then among the champion's challengers."""
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
            p[k] -= int(k == champion)  # below everybody else
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


@kernel
def _uniform_law(
    parameters: Any, state: PairState, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats
) -> None:
    """Write a law in proportion to the number of partners, after the first arm an even one."""
    total = 0.0
    for k in awake:
        p[k] = 1.0 if chosen.size > 0 else float(pairs[k].sum())
        total += p[k]
    for k in awake:
        p[k] /= total
