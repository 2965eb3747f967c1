"""StablePair: seeks a pair of mutual best replies, for any set of allowed pairs; proof in `docs/stable-pair.md`."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.duels.kernels import DuelKernels
from wakeful.duels.policy import DuelingPolicy
from wakeful.duels.win_counts import KeepsWins, PairState, pair_learn, pair_remember
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import log, power

CHARGE = 2.0  # a pair is played if it can cost at most this many times its own radius
LEVEL = 0.6  # of the confidence bounds, times log t: above 1/2, so that bounds that fail cost less than sqrt(T)
SPARE = 0.18  # factor of the slack, the cost at which any pair may be played
OFTEN, TRIALS, STUDY, AHEAD = 2000.0, 3.0, 5.0, 0.08  # when the slack of a pair ends: see `_untried`
CIRCLE_PLAYS = 4.0  # how often the pair with the largest radius of a circle is played, times (rounds per pair)^(2/3)
UNPLAYED = 1.5  # the index of a pair that never met: above all others
ROUNDOFF = 1e-12  # differences below this are rounding errors


@dataclass(frozen=True)
class StablePair(KeepsWins, DuelingPolicy):
    """Look for a pair in which each arm is the best reply to the other, whatever pairs are allowed.

    Preferences must have a total order that does not depend on what is awake; then the best arm that has a partner and
    its best partner are such a pair, which has no regret. U_ij is an upper confidence bound of P(i, j), lowered where
    the part of the order that is already certain implies less; the reply to j is the allowed arm with the largest U_ij.
    From the arm that is surely not the best reply to the fewest partners, go from reply to reply and play the first
    pair whose regret cannot exceed its own uncertainty. If the replies go in a circle, some reply must be wrong: the
    pair of the circle with the largest radius is played now and then, otherwise the one with the smallest regret bound.

    Its expected regret is of the order K^2 sqrt(T log T) + K^(2/3) T^(2/3) sqrt(log T) at most, against adaptive
    adversaries, without the second part if replies never go in a circle; no policy has sqrt(T) on all graphs. It fails
    if preferences have no total order, even if one arm beats all others, and if they depend on what is awake
    (`worlds.CategoryDuels`): use `AutoPairs` there. Ties go to the lower index.

    >>> StablePair().start(n_arms=3).wins.shape
    (3, 3)
    """

    symmetric: ClassVar[bool] = False  # ties go to the lower index

    @property
    def kernels(self) -> DuelKernels:
        """The compiled functions of this policy."""
        return DuelKernels(_law, pair_learn, pair_remember)


class Replies(NamedTuple):
    """For every arm j: the allowed arm with the largest U against it, and that U."""

    arm: Ints  # (K,), -1 where j has no partner
    most: Floats  # (K,)


@kernel
def _law(parameters: Any, state: PairState, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
    """Play an arm and its reply; each further arm of a battle has the largest smallest index against those chosen."""
    t = state.clock[0] + 1
    level = LEVEL * log(float(max(t, 2)))
    upper = indices(state.wins, level)
    if chosen.size == 0:
        p[_first(state.wins, t, level, pairs, upper)] = 1.0
        return
    if chosen.size == 1:
        close_order(upper)
        p[_replies(upper, pairs).arm[chosen[0]]] = 1.0
        return
    best, most = awake[0], -np.inf
    for k in awake:
        worst = np.inf
        for c in chosen:
            worst = min(worst, upper[k, c])
        if worst > most:
            best, most = k, worst
    p[best] = 1.0


@kernel
def indices(wins: Floats, level: float) -> Floats:
    """Return U: upper confidence bounds of "row beats column", by Massart's inequality; U_ii = 1/2.

    U solves `(U - m)^2 = 2 x (1 - x) level / n` with `x = (m + 2 U) / 3`: no wider than Hoeffding's, much narrower
    where the mean m is near 0 or 1.
    """
    n_arms = len(wins)
    upper = np.full((n_arms, n_arms), UNPLAYED)
    for i in range(n_arms):
        upper[i, i] = 0.5
        for j in range(i):
            n = wins[i, j] + wins[j, i]
            if n > 0.0:
                mean, b = wins[i, j] / n, level / n
                scale = 1.0 + 8.0 * b / 9.0
                half = (1.0 - 2.0 * mean) * b * 2.0 / 3.0
                spread = math.sqrt(half * half + 2.0 * b * mean * (1.0 - mean) * scale)
                upper[i, j] = mean + (spread + half) / scale
                upper[j, i] = 1.0 - mean + (spread - half) / scale  # the same for the mean of the other
    return upper


@kernel
def _radii(upper: Floats) -> Floats:
    """Return half the width of the confidence interval of each pair."""
    n_arms = len(upper)
    radii = np.empty((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(n_arms):
            radii[i, j] = max(0.5 * (upper[i, j] + upper[j, i] - 1.0), 0.0)
    return radii


@kernel
def _leader(wins: Floats, upper: Floats, pairs: Mask) -> int:
    """Return the arm that is surely not the best reply to the fewest of its partners; of equals the one that won most.

    It surely is not the best reply to j if some other partner of j surely beats j more often, or j itself does.
    """
    n_arms = len(upper)
    leader, fewest, most = -1, n_arms + 1, -np.inf
    floors = np.full(n_arms, 0.5)
    for j in range(n_arms):
        for k in range(n_arms):
            if pairs[j, k]:
                floors[j] = max(floors[j], 1.0 - upper[j, k])
    for i in range(n_arms):
        lost, partners, net = 0, 0, 0.0
        for j in range(n_arms):
            net += wins[i, j] - wins[j, i]
            partners += int(pairs[i, j])
            lost += int(pairs[i, j] and upper[i, j] < floors[j])
        if partners > 0 and (lost < fewest or (lost == fewest and net > most)):
            leader, fewest, most = i, lost, net
    return leader


@kernel
def close_order(upper: Floats) -> None:
    """Lower U by the order that it makes certain.

    y is surely better than x if `1 - U[w, y] > U[x, w]` for some w. Whatever x may reach, y may then too, and the other
    way round: `U[x, w] <= U[y, w]` and `U[w, y] <= U[w, x]`. Using one y for each x achieves most of that.
    """
    n_arms = len(upper)
    better, order = _better_arms(upper)
    for x in order:
        y = better[x]
        if y >= 0:
            for w in range(n_arms):
                upper[x, w] = min(upper[x, w], upper[y, w])
    for x in order[::-1]:
        y = better[x]
        if y >= 0:
            for w in range(n_arms):
                upper[w, y] = min(upper[w, y], upper[w, x])


@kernel
def _better_arms(upper: Floats) -> tuple[Ints, Ints]:
    """Return for each arm one that is surely better, -1 if there is none, and the arms by how much is better."""
    n_arms = len(upper)
    strongest, least = np.empty(n_arms, np.int64), np.empty(n_arms)  # against each arm, and what that one surely wins
    for w in range(n_arms):
        strongest[w] = w
        for y in range(n_arms):
            if upper[w, y] < upper[w, strongest[w]]:
                strongest[w] = y
        least[w] = 1.0 - upper[w, strongest[w]]
    losses, better = np.zeros(n_arms, np.int64), np.full(n_arms, -1)
    for x in range(n_arms):
        for w in range(n_arms):
            losses[x] += int(least[w] > upper[x, w])
    for x in range(n_arms):
        if losses[x] > 0:
            for w in range(n_arms):
                y = strongest[w]
                if least[w] > upper[x, w] and (better[x] < 0 or losses[y] < losses[better[x]]):
                    better[x] = y
    return better, np.argsort(losses, kind="mergesort")


@kernel
def _replies(upper: Floats, pairs: Mask) -> Replies:
    """Return the best reply to each arm; of equals the first."""
    n_arms = len(upper)
    arm, most = np.full(n_arms, -1), np.full(n_arms, -1.0)
    for j in range(n_arms):
        for i in range(n_arms):
            if pairs[i, j] and upper[i, j] > most[j]:
                arm[j], most[j] = i, upper[i, j]
    return Replies(arm, most)


@kernel
def _cost(replies: Replies, i: int) -> float:
    """Return a bound on the regret of i and its reply: half of the sum of both largest U, minus one half."""
    return float(0.5 * (replies.most[i] + replies.most[replies.arm[i]] - 1.0))


@kernel
def _half_partners(pairs: Mask) -> float:
    """Return half the partners of an arm, in the mean over those that have one."""
    n_arms = 0
    for k in range(len(pairs)):
        n_arms += int(pairs[k].any())
    return float(0.5 * pairs.sum() / n_arms)


@kernel
def _first(wins: Floats, t: int, level: float, pairs: Mask, upper: Floats) -> int:
    """Return the arm whose reply is played against it."""
    leader, radii = _leader(wins, upper, pairs), _radii(upper)
    close_order(upper)
    replies = _replies(upper, pairs)
    slack = SPARE * _half_partners(pairs) * math.sqrt(level * 0.5 * pairs.sum() / t)
    i = leader
    for _ in range(len(wins) + 1):
        j = replies.arm[i]
        if _cost(replies, i) <= max(CHARGE * radii[i, j], slack) + ROUNDOFF:
            by_slack = _cost(replies, i) > CHARGE * radii[i, j] + ROUNDOFF
            return j if by_slack and _untried(wins, level, i, j, replies) else i
        i = j
    return _of_circle(wins, t, i, leader, radii, replies)


@kernel
def _untried(wins: Floats, level: float, i: int, j: int, replies: Replies) -> bool:
    """Whether j must meet its reply before i and j may go on by the slack: i and j met often, j and its reply did not.

    Three times is enough, more only if the reply wins clearly more often against j than i does.
    """
    k = replies.arm[j]
    often, n = wins[i, j] + wins[j, i], wins[j, k] + wins[k, j]
    if k == i or often < OFTEN:
        return False
    ahead = (wins[k, j] + 0.5) / (n + 1.0) - (wins[i, j] + 0.5) / (often + 1.0)
    return bool(n < TRIALS or (n < STUDY * level and ahead > AHEAD))


@kernel
def _of_circle(wins: Floats, t: int, i: int, leader: int, radii: Floats, replies: Replies) -> int:
    """Return an arm of the circle of replies that `i` is on, or the leader where its pair can cost no more."""
    n_arms = len(wins)
    widest, cheapest, k = i, i, replies.arm[i]
    while k != i:
        if radii[k, replies.arm[k]] > radii[widest, replies.arm[widest]]:
            widest = k
        if _cost(replies, k) < _cost(replies, cheapest):
            cheapest = k
        k = replies.arm[k]
    other = replies.arm[widest]
    if wins[widest, other] + wins[other, widest] < CIRCLE_PLAYS * power(2.0 * t / (n_arms * (n_arms - 1.0)), 2.0 / 3.0):
        return widest
    return leader if _cost(replies, leader) <= 2.0 * radii[widest, other] + ROUNDOFF else cheapest
