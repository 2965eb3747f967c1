"""The common part of dueling policies that count how often each arm beat each other arm.

All of them look only at pairs that may be played, and all choose a champion first and then whom it meets. Of a battle,
every arm after the champion is chosen as the challenger of a duel is, among those that are left.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.duels.kernels import Pick
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import log
from wakeful.policies.state_ranges import COUNTS, NOTHING, TOTALS, Range, Ranges
from wakeful.policies.ucb import TIE


class KeepsWins:
    """What dueling policies share whose state is `PairState`: wins of each arm over each other one, and a clock."""

    from_others: ClassVar[str | None] = "counts"
    ranges: ClassVar[Ranges] = {"wins": TOTALS, "clock": COUNTS}

    def memo_range(self, n_arms: int) -> Range:
        """Return zero: decisions of this policy have no memo."""
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
    """Replace the scores in `p` by equal probabilities of the highest ones; return how many those are."""
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
    """Return the evidence that i is not the best: a log-likelihood from its losses to allowed rivals."""
    total = 0.0
    for j in range(len(pairs)):
        if pairs[i, j] and 2.0 * wins[i, j] < wins[i, j] + wins[j, i]:
            mean, n = record(wins, i, j)
            total += n * divergence(mean, 0.5)
    return total
