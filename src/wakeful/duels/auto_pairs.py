"""AutoPairs: three ways to predict who wins, and the data say which of them to play by; `docs/auto-pairs.md`."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.duels.kernels import DuelKernels, Pick
from wakeful.duels.policy import DuelingPolicy
from wakeful.duels.replies import (
    HALF_WIN,
    SURE,
    lead_evidence,
    raise_to_counts,
    reply_evidence,
)
from wakeful.duels.strengths import (
    NARROW,
    PRIOR_DEVIATION,
    difference_variance,
    log_score,
    observe,
    observe_apart,
    predicted,
    told,
    weaker,
)
from wakeful.duels.win_counts import pair_remember
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.awake_sets import count, find
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exp
from wakeful.policies.state_ranges import COUNTS, NOTHING, TOTALS, Range, Ranges

ONE_STRENGTH, FREE, BY_AWAKE_SET = range(3)  # the hypotheses
SHARPNESS, FREE_SHARPNESS = 1.5, 2.0  # of probabilities: exp(-sharpness evidence)
HANDICAP = 5.0  # nats by which the other hypotheses start behind one strength per arm
FARTHEST_BEHIND = 7.0  # nats behind the best that a hypothesis can be at most: it comes back where it predicts better
SETS = 64  # awake sets with strengths of their own
MANY, NEGLIGIBLE = 100, 0.02  # with more arms than that, hypotheses of less weight are not asked
EQUAL = 1e-9  # strengths and variances that differ by less are equal
STRENGTHS = Range(-1e4, 1e4)  # a duel moves one by less than 16, and less and less


class BeliefState(NamedTuple):
    """What each hypothesis has learned, and how well it predicted."""

    strengths: Floats  # (K,): one for each arm, its mean
    covariance: Floats  # (K, K): of the strengths, the lower triangle
    wins: Floats  # (K, K): row beat column
    set_strengths: Floats  # (N, K): one for each awake set and arm
    set_variances: Floats  # (N, K)
    sets: Mask  # (N, K)
    set_counts: Ints  # (N,): duels in each set
    scores: Floats  # (3,): sums of log scores, less the highest, FARTHEST_BEHIND below it at most
    clock: Ints  # rounds


@dataclass(frozen=True)
class AutoPairs(DuelingPolicy):
    """The policy to start with: it finds out by itself what kind of preferences it has before it.

    Three hypotheses predict every duel before it is counted: one strength per arm (Bradley-Terry); a probability for
    each pair, any matrix; strengths that depend on which arms are awake. Those that predicted best choose the arms: an
    arm's probability is proportional to `exp(-c E)`, c from 1.5 to 2, E the evidence that it is not the best reply. So
    probabilities are exact, in closed form, and calls without feedback differ.

    Its state depends on the order of feedback, a little: strengths are learned one duel at a time. No regret bound is
    proven; `StablePair` has one. Ties go to the lower index.

    >>> AutoPairs().start(n_arms=3).strengths
    array([0., 0., 0.])
    """

    symmetric: ClassVar[bool] = False  # ties go to the lower index
    order_free: ClassVar[bool] = False
    from_others: ClassVar[str | None] = "counts"
    ranges: ClassVar[Ranges] = {
        "strengths": STRENGTHS,
        "covariance": Range(-(PRIOR_DEVIATION**2), PRIOR_DEVIATION**2),
        "set_strengths": STRENGTHS,
        "wins": TOTALS,
        "set_variances": Range(NARROW, PRIOR_DEVIATION**2),
        "set_counts": COUNTS,
        "scores": Range(-FARTHEST_BEHIND, 0.0),
        "clock": COUNTS,
    }

    @property
    def kernels(self) -> DuelKernels:
        """The compiled half."""
        return DuelKernels(_law, _learn, pair_remember)

    def memo_range(self, n_arms: int) -> Range:
        """Return zero: it notes nothing."""
        return NOTHING

    def start(self, n_arms: int, size: int = 2) -> BeliefState:
        """Return no duels, and most belief in one strength per arm."""
        return BeliefState(
            np.zeros(n_arms),
            np.eye(n_arms) * PRIOR_DEVIATION**2,
            np.zeros((n_arms, n_arms)),
            np.zeros((SETS, n_arms)),
            np.full((SETS, n_arms), PRIOR_DEVIATION**2),
            np.zeros((SETS, n_arms), np.bool_),
            np.zeros(SETS, np.int64),
            np.array([0.0, -HANDICAP, -HANDICAP]),
            np.zeros(1, np.int64),
        )

    def beliefs(self, state: BeliefState) -> dict[str, float]:
        """Return how much each hypothesis counts: what it says, and its weight; weights add up to one.

        >>> list(AutoPairs().beliefs(AutoPairs().start(3)))
        ['one strength per arm', 'any preference matrix', 'strengths that depend on what is awake']
        """
        weights = np.exp(state.scores)
        weights[BY_AWAKE_SET] *= np.count_nonzero(state.set_counts) > 1
        names = ("one strength per arm", "any preference matrix", "strengths that depend on what is awake")
        return dict(zip(names, (weights / weights.sum()).tolist(), strict=True))


@kernel
def _law(parameters: Any, state: BeliefState, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
    """Write the laws of the hypotheses, weighted by how well they predicted."""
    row = find(state.sets, state.set_counts, awake if chosen.size == 0 else _players(pairs), SETS)
    weights = _weights(state, row, awake.size)
    part = np.zeros(p.size)
    for hypothesis in range(3):
        if weights[hypothesis] > 0.0:
            part[:] = 0.0
            if hypothesis == ONE_STRENGTH:
                _strength_law(state, pairs, awake, chosen, part)
            elif hypothesis == FREE:
                _free_law(state.wins, pairs, awake, chosen, part)
            else:
                _set_law(state.set_strengths[row], state.set_variances[row], awake, part)
            for k in awake:
                p[k] = min(p[k] + weights[hypothesis] * part[k], 1.0)  # sums of rounded parts can exceed one


@kernel
def _players(pairs: Mask) -> Ints:
    """Return the arms that have a partner."""
    n_arms, n = len(pairs), 0
    players = np.empty(n_arms, np.int64)
    for k in range(n_arms):
        for j in range(n_arms):
            if pairs[k, j]:
                players[n] = k
                n += 1
                break
    return players[:n]


@kernel
def _weights(state: BeliefState, row: int, n_awake: int) -> Floats:
    """Return how much each hypothesis counts; nothing depends on what is awake where only one set was seen."""
    weights, seen = np.empty(3), 0
    for hypothesis in range(3):
        weights[hypothesis] = exp(state.scores[hypothesis])
    for n in state.set_counts:
        seen += int(n > 0)
    if row < 0 or seen < 2:
        weights[BY_AWAKE_SET] = 0.0
    if n_awake > MANY:
        for hypothesis in range(3):
            if weights[hypothesis] < NEGLIGIBLE * weights.sum():
                weights[hypothesis] = 0.0
    weights /= weights.sum()
    return weights


@kernel
def _sharpened(awake: Ints, sharpness: float, p: Floats) -> None:
    """Turn evidence against each awake arm into probabilities."""
    least, total = np.inf, 0.0
    for k in awake:
        least = min(least, p[k])
    for k in awake:
        p[k] = exp(-sharpness * (p[k] - least))
        total += p[k]
    for k in awake:
        p[k] /= total


@kernel
def _strongest(strengths: Floats, awake: Ints) -> int:
    """Return the arm with the largest mean strength; of equals the first."""
    best = awake[0]
    for k in awake:
        if strengths[k] > strengths[best] + EQUAL:
            best = k
    return int(best)


@kernel
def _strength_law(state: BeliefState, pairs: Mask, awake: Ints, chosen: Ints, p: Floats) -> None:
    """Write the law of one strength per arm: who may be the strongest to draw from.

    Where arms may meet themselves, counts alone can show that a second arm is not worth a duel, whatever strengths say.
    Once it is settled that the strongest arm and its reply are best replies to each other, who else might be strongest
    does not matter. A first arm may not be able to meet the strongest one. Where more can be learned about the two from
    its reply and that one's best reply, the reply is played in its place.
    """
    mean, covariance = state.strengths, state.covariance
    best = _strongest(mean, awake)
    for k in awake:
        p[k] = 0.0 if k == best else weaker(mean[best] - mean[k], difference_variance(covariance, k, best))
    if chosen.size > 0:
        if awake.size <= MANY:
            raise_to_counts(state.wins, pairs, awake, chosen[0], p)
        _sharpened(awake, SHARPNESS, p)
        return
    replies = _strongest_partners(mean, pairs, awake)
    settled = _settled(mean, covariance, pairs, awake, best, replies[best])
    for k in awake:
        if k not in (best, replies[best]):
            p[k] += settled
    _sharpened(awake, SHARPNESS, p)
    given = p.copy()
    for i in awake:
        j = replies[i]
        rival = replies[j]
        if rival not in (i, j):
            there = told(covariance, mean, i, rival, j, rival)
            if there > told(covariance, mean, i, rival, i, j) * (1.0 + EQUAL) + EQUAL:
                p[i] -= given[i]
                p[j] += given[i]
    for k in awake:
        p[k] = max(p[k], 0.0)


@kernel
def _settled(mean: Floats, covariance: Floats, pairs: Mask, awake: Ints, i: int, j: int) -> float:
    """Return the evidence that i and j are best replies to each other: that against the likeliest better reply."""
    least = SURE
    for k in awake:
        if pairs[i, k] and k != j:
            least = min(least, weaker(mean[j] - mean[k], difference_variance(covariance, j, k)))
        if pairs[j, k] and k != i:
            least = min(least, weaker(mean[i] - mean[k], difference_variance(covariance, i, k)))
    return least


@kernel
def _strongest_partners(mean: Floats, pairs: Mask, awake: Ints) -> Ints:
    """Return for each awake arm its strongest partner; of equals the first."""
    replies = np.full(mean.size, -1)
    order = awake[np.argsort(-mean[awake], kind="mergesort")]
    for k in awake:
        for n in range(order.size):
            if pairs[k, order[n]]:
                replies[k] = order[n]
                for j in order[n + 1 :]:
                    if mean[j] < mean[order[n]] - EQUAL:
                        break
                    if pairs[k, j] and j < replies[k]:
                        replies[k] = j
                break
    return replies


@kernel
def _free_law(wins: Floats, pairs: Mask, awake: Ints, chosen: Ints, p: Floats) -> None:
    """Write the law of any preference matrix: who may be one of a stable pair, then who may be its best reply."""
    if chosen.size > 0:
        reply_evidence(wins, pairs, awake, chosen[0], p)
    else:
        lead_evidence(wins, pairs, awake, p)
    _sharpened(awake, FREE_SHARPNESS, p)


@kernel
def _set_law(strengths: Floats, variances: Floats, awake: Ints, p: Floats) -> None:
    """Write the law of strengths that depend on what is awake."""
    best = _strongest(strengths, awake)
    for k in awake:
        p[k] = 0.0 if k == best else weaker(strengths[best] - strengths[k], variances[best] + variances[k])
    _sharpened(awake, SHARPNESS, p)


@kernel
def _learn(parameters: Any, state: BeliefState, pick: Pick, shares: Floats) -> None:
    """Let every hypothesis predict who wins, then tell it."""
    awake = pick.awake[0, : pick.sizes[0]]
    row = find(state.sets, state.set_counts, awake, SETS)
    if row >= 0:
        count(state.sets, state.set_counts, row, awake)
    room = np.empty(state.strengths.size)
    for a in range(pick.arms.size):
        for b in range(a):
            weight = shares[a] + shares[b]
            if pick.arms[a] != pick.arms[b] and weight > 0.0:
                _learn_pair(state, row, pick.arms[a], pick.arms[b], shares[a] / weight, weight, room)
                _rescore(state.scores)


@kernel
def _learn_pair(state: BeliefState, row: int, i: int, j: int, share: float, weight: float, room: Floats) -> None:
    """Learn that of `weight` duels i won `share` over j."""
    mean, wins, scores = state.strengths, state.wins, state.scores
    pooled = predicted(mean[i] - mean[j], difference_variance(state.covariance, i, j))
    free = (wins[i, j] + HALF_WIN) / (wins[i, j] + wins[j, i] + 2.0 * HALF_WIN)
    own = pooled
    if row >= 0:
        here, variances = state.set_strengths[row], state.set_variances[row]
        own = predicted(here[i] - here[j], variances[i] + variances[j])
        observe_apart(here, variances, i, j, share, weight)
    if wins[i, j] + wins[j, i] > 0.0:  # of a pair that never met, a matrix says nothing
        scores[ONE_STRENGTH] += weight * log_score(pooled, share)
        scores[FREE] += weight * log_score(free, share)
        scores[BY_AWAKE_SET] += weight * log_score(own, share)
    wins[i, j] += weight * share
    wins[j, i] += weight * (1.0 - share)
    observe(mean, state.covariance, i, j, share, weight, room)


@kernel
def _rescore(scores: Floats) -> None:
    """Count scores from the highest, and let none be more than FARTHEST_BEHIND below it.

    A hypothesis that is as far behind as that is still played now and then, so that duels which only it would try can
    bring it back.
    """
    top = scores.max()
    for hypothesis in range(3):
        scores[hypothesis] = max(scores[hypothesis] - top, -FARTHEST_BEHIND)
