"""AutoPairs: three ways to predict who wins, and the data say which of them to play by; `docs/auto-pairs.md`."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wakeful.duels.alone import first_alone, meet_themselves, raise_to_counts, second_alone
from wakeful.duels.beliefs import BY_AWAKE_SET, FARTHEST_BEHIND, FREE, ONE_STRENGTH, SETS, BeliefState, learn, learn_log
from wakeful.duels.kernels import DuelKernels
from wakeful.duels.policy import DuelingPolicy
from wakeful.duels.preference_matrix import SURE, lead_evidence, reply_evidence
from wakeful.duels.strengths import NARROW, PRIOR_DEVIATION, cautious, difference_variance, told, weaker
from wakeful.duels.win_counts import pair_remember
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.awake_sets import find
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exp
from wakeful.policies.state_ranges import COUNTS, NOTHING, TOTALS, Range, Ranges

STRENGTHS_SHARPNESS, MATRIX_SHARPNESS = 1.5, 2.0  # of probabilities: exp(-sharpness evidence)
NOT_SHARPER = 1.0  # where an arm may meet itself, which teaches nothing
HANDICAP = 3.0  # nats by which the other hypotheses start behind one strength per arm
MANY, LEAST_SHARE = 100, 0.02  # with more arms than that, hypotheses of less weight are not asked
EQUAL = 1e-9  # strengths and variances that differ by less are equal
STRENGTHS = Range(-1e4, 1e4)  # a duel moves one by less than 16, and less and less


@dataclass(frozen=True)
class AutoPairs(DuelingPolicy):
    """The policy to start with: it finds out by itself what kind of preferences it has before it.

    Three hypotheses predict every duel before it is counted: one strength per arm (Bradley-Terry); a probability for
    each pair, any matrix; strengths that depend on which arms are awake. Those that predicted best choose the arms: an
    arm's probability is proportional to `exp(-c E)`, c from 1 to 2, E the evidence that it is not the best reply. So
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
        """The compiled functions of this policy."""
        return DuelKernels(_law, learn, pair_remember, learn_log)

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
    part, alone = np.zeros(p.size), meet_themselves(pairs, awake, chosen)
    for hypothesis in range(3):
        if weights[hypothesis] > 0.0:
            part[:] = 0.0
            if hypothesis == ONE_STRENGTH:
                _strength_law(state, pairs, awake, chosen, alone, part)
            elif hypothesis == FREE:
                _free_law(state.wins, pairs, awake, chosen, alone, part)
            else:
                _set_law(state.set_strengths[row], state.set_variances[row], awake, alone, part)
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
            if weights[hypothesis] < LEAST_SHARE * weights.sum():
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
def _against(gap: float, variance: float, alone: bool) -> float:
    """Return the evidence against an arm that the strongest is ahead of by `gap`."""
    return cautious(gap, variance) if alone else weaker(gap, variance)


@kernel
def _strength_law(state: BeliefState, pairs: Mask, awake: Ints, chosen: Ints, alone: bool, p: Floats) -> None:
    """Write the law of one strength per arm: who may be the strongest to draw from.

    Where arms may meet themselves, counts alone can show that a second arm is not worth a duel, whatever strengths say.
    Once it is settled that the strongest arm and its reply are best replies to each other, who else might be strongest
    does not matter. A first arm may not be able to meet the strongest one. Where more can be learned about the two from
    its reply and that one's best reply, the reply is played in its place.
    """
    mean, covariance = state.strengths, state.covariance
    best = _strongest(mean, awake)
    for k in awake:
        p[k] = _against(mean[best] - mean[k], difference_variance(covariance, k, best), alone) if k != best else 0.0
    if chosen.size > 0:
        if alone and awake.size <= MANY:
            raise_to_counts(state.wins, pairs, awake, chosen[0], p)
        _sharpened(awake, NOT_SHARPER if alone else STRENGTHS_SHARPNESS, p)
        return
    replies = _strongest_partners(mean, pairs, awake)
    settled = _settled(mean, covariance, pairs, awake, best, replies[best])
    for k in awake:
        if k not in (best, replies[best]):
            p[k] += settled
    _sharpened(awake, NOT_SHARPER if alone else STRENGTHS_SHARPNESS, p)
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
def _free_law(wins: Floats, pairs: Mask, awake: Ints, chosen: Ints, alone: bool, p: Floats) -> None:
    """Write the law of any preference matrix: who may be one of a stable pair, then who may be its best reply."""
    if alone and chosen.size > 0:
        second_alone(wins, pairs, awake, chosen[0], p)
    elif alone:
        first_alone(wins, pairs, awake, p)
    elif chosen.size > 0:
        reply_evidence(wins, awake, chosen[0], p)
    else:
        lead_evidence(wins, pairs, awake, p)
    _sharpened(awake, NOT_SHARPER if alone else MATRIX_SHARPNESS, p)


@kernel
def _set_law(strengths: Floats, variances: Floats, awake: Ints, alone: bool, p: Floats) -> None:
    """Write the law of strengths that depend on what is awake."""
    best = _strongest(strengths, awake)
    for k in awake:
        p[k] = _against(strengths[best] - strengths[k], variances[best] + variances[k], alone) if k != best else 0.0
    _sharpened(awake, NOT_SHARPER if alone else STRENGTHS_SHARPNESS, p)
