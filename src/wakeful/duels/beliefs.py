"""What `AutoPairs` learns: three hypotheses predict every duel before they are told who won; `docs/auto-pairs.md`."""

from typing import Any, NamedTuple

import numpy as np

from wakeful.duels.kernels import Pick
from wakeful.duels.preference_matrix import HALF_WIN
from wakeful.duels.strengths import (
    Later,
    find_variance,
    log_score,
    make_changes,
    nothing_later,
    observe,
    observe_apart,
    predicted,
)
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.awake_sets import count, find
from wakeful.numerics.compile import kernel

ONE_STRENGTH, FREE, BY_AWAKE_SET = range(3)  # the hypotheses
FARTHEST_BEHIND = 7.0  # nats behind the best that a hypothesis can be at most: it comes back where it predicts better
SETS = 64  # awake sets with strengths of their own


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


@kernel
def learn(parameters: Any, state: BeliefState, pick: Pick, shares: Floats) -> None:
    """Let every hypothesis predict who wins, then tell it."""
    awake = pick.awake[0, : pick.sizes[0]]
    row = find(state.sets, state.set_counts, awake, SETS)
    if row >= 0:
        count(state.sets, state.set_counts, row, awake)
    later = nothing_later(state.strengths.size)
    for a in range(pick.arms.size):
        for b in range(a):
            weight = shares[a] + shares[b]
            if pick.arms[a] != pick.arms[b] and weight > 0.0:
                _learn_pair(state, row, pick.arms[a], pick.arms[b], shares[a] / weight, weight, later)
    make_changes(state.covariance, later)


@kernel
def learn_log(parameters: Any, state: BeliefState, arms: Ints, shares: Floats, awake_sets: Mask, awake: Ints) -> None:
    """Learn many duels as `learn` does one by one, to the last bit, with fewer passes through the covariance."""
    later, row = nothing_later(state.strengths.size), -1
    for t in range(awake.size):
        if t == 0 or awake[t] != awake[t - 1]:
            here = np.flatnonzero(awake_sets[awake[t]])
            row = find(state.sets, state.set_counts, here, SETS)
        if row >= 0:
            count(state.sets, state.set_counts, row, here)
        lost = 1.0 - shares[t]
        weight = lost + (1.0 - lost)
        _learn_pair(state, row, arms[t, 1], arms[t, 0], lost / weight, weight, later)
    make_changes(state.covariance, later)
    state.clock[0] += awake.size


@kernel
def _learn_pair(state: BeliefState, row: int, i: int, j: int, share: float, weight: float, later: Later) -> None:
    """Learn that of `weight` duels i won `share` over j."""
    mean, wins, scores = state.strengths, state.wins, state.scores
    variance = find_variance(state.covariance, later, i, j)
    pooled = predicted(mean[i] - mean[j], variance)
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
    observe(mean, state.covariance, i, j, variance, share, weight, later)
    _rescore(scores)


@kernel
def _rescore(scores: Floats) -> None:
    """Count scores from the highest, and let none be more than FARTHEST_BEHIND below it.

    A hypothesis that is as far behind as that is still played now and then, so that duels which only it would try can
    bring it back.
    """
    top = scores.max()
    for hypothesis in range(3):
        scores[hypothesis] = max(scores[hypothesis] - top, -FARTHEST_BEHIND)
