"""Double Thompson sampling for duels: a champion from one posterior draw, its challenger from another."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wakeful.duels.kernels import DuelKernels
from wakeful.duels.policy import DuelingPolicy
from wakeful.duels.win_counts import KeepsWins, PairState, pair_learn, pair_remember, plausible_share, share_best, upper
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exact_log, exp, log
from wakeful.policies.learning_rates import checked_factor
from wakeful.policies.spec import set_frozen
from wakeful.policies.ucb import TIE

# SplitMix64 cut to 62 bits: no sum or product overflows, so it is the same in compiled code and in plain Python.
BITS, HALF = 2**62 - 1, 2**31 - 1
HASH_STRIDE, FIRST, SECOND = 0x1E3779B97F4A7C15, 0x3F58476D1CE4E5B9, 0x14D049BB133111EB
LOG_4, LOG_5 = exact_log(4.0), exact_log(5.0)


@dataclass(frozen=True)
class DoubleThompson(KeepsWins, DuelingPolicy):
    """Double Thompson sampling (Wu, Liu 2016), restricted to the pairs that may be played.

    Of the arms that plausibly beat the largest share of their allowed rivals (`U_ij >= 1/2`, `U` as in
    `RelativeUCB`), the champion c beats the largest share in one draw from the posterior, Beta(1 + wins_ij,
    1 + wins_ji) for each pair. Its challenger has the largest chance to beat c in a second draw, itself having 1/2
    where it may; arms that surely beat c (lower bound above 1/2) come last. Where the pairs are not all those of a
    set, its regret can be linear, as that of `RelativeUCB`.

    The draws are made from the decision's own coin. The probabilities it writes are those *given that coin*: one arm,
    or several tied in the share of rivals they beat. So the probabilities of its decisions are not propensities, and
    relabelling the arms gives the same draws only in distribution: it is not `symmetric`.

    Parameters:
        constant: the constant under the root of the bounds; the paper's bound needs more than 1/2

    >>> DoubleThompson().start(n_arms=3).wins.shape
    (3, 3)
    """

    symmetric: ClassVar[bool] = False

    constant: float = 0.51

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(
            self,
            constant=checked_factor("constant", self.constant),
        )

    @property
    def kernels(self) -> DuelKernels:
        """The compiled functions of this policy."""
        return DuelKernels(_thompson_law, pair_learn, pair_remember)


@kernel
def times(x: int, y: int) -> int:
    """Return x y modulo 2^62, from products of halves."""
    across = (x >> 31) * (y & HALF) + (x & HALF) * (y >> 31)
    return ((x & HALF) * (y & HALF) + ((across & HALF) << 31)) & BITS


@kernel
def scramble(z: int) -> int:
    """Return another number of 62 bits, a different one for each."""
    z = times(z ^ (z >> 30), FIRST)
    z = times(z ^ (z >> 27), SECOND)
    return z ^ (z >> 31)


@kernel
def inside(z: int) -> float:
    """Return a number in (0, 1) for one of 62 bits."""
    return ((scramble(z) >> 10) + 0.5) * 2.0**-52


@kernel
def beta_draw(wins: Floats, i: int, j: int, coin: float) -> float:
    """Draw the chance that i beats j from its posterior, Beta(1 + wins_ij, 1 + wins_ji), by Cheng's algorithm BA.

    Each ordered pair has a stream of its own for each coin, so it does not matter which others are drawn.
    """
    seed = scramble(scramble(int(coin * 2.0**53) + HASH_STRIDE) ^ (i * (HALF + 1) + j))
    a, b = 1.0 + wins[i, j], 1.0 + wins[j, i]
    total = a + b
    beta = 1.0 if min(a, b) <= 1.0 else math.sqrt((total - 2.0) / (2.0 * a * b - total))
    while True:
        second = (seed + HASH_STRIDE) & BITS
        u, v, seed = inside(seed), inside(second), (second + HASH_STRIDE) & BITS
        logit = beta * log(u / (1.0 - u))
        w, z, r = a * exp(logit), u * u * v, (a + 1.0 / beta) * logit - LOG_4
        if r + a - w >= 5.0 * z - 1.0 - LOG_5 or r + total * log(total / (b + w)) >= log(z):
            return float(w / (b + w))  # the first test implies the second, and needs no logarithm


@kernel
def _thompson_law(
    parameters: Any, state: PairState, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats
) -> None:
    """Put one on the champion of a posterior draw, then on its strongest challenger in another."""
    spread = parameters.constant * log(state.clock[0] + 1.0)
    if chosen.size > 0:
        champion = chosen[0]
        for k in awake:
            p[k] = 0.5 if k == champion else beta_draw(state.wins, k, champion, coin)
            p[k] -= int(upper(state.wins, champion, k, spread) < 0.5 - TIE)  # a sure winner
    else:
        for k in awake:
            p[k] = plausible_share(state.wins, pairs, k, spread)
        if share_best(awake, p) > 1:
            _break_ties(state.wins, pairs, awake, coin, p)
    share_best(awake, p)


@kernel
def _break_ties(wins: Floats, pairs: Mask, awake: Ints, coin: float, p: Floats) -> None:
    """Add to the score of every tied arm the share of its rivals that it beats in one draw."""
    tied, rivals, beaten = p > 0.0, np.zeros(p.size), np.zeros(p.size)
    for m in range(awake.size):
        i = awake[m]
        for j in awake[m + 1 :]:
            if pairs[i, j] and (tied[i] or tied[j]):
                rivals[i] += 1.0
                rivals[j] += 1.0
                beaten[i if beta_draw(wins, i, j, coin) > 0.5 else j] += 1.0
    for k in awake:
        if tied[k]:
            p[k] += beaten[k] / rivals[k] if rivals[k] > 0.0 else 1.0
