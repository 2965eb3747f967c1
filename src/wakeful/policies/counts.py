"""Counts of decisions and feedback that a bandit keeps beside the state of its policy, whatever the policy is.

They are one array of floats, because that is what compiled code takes fastest: row k holds the sums of arm k. Where a
policy estimates switch gains, K more columns hold the variances of these estimates: had j been played when i was, the
loss would have been l(j); its estimate is `l p(i) / p(j)` when j is played, and nothing else. The difference has, given
what came before, the variance `l(j)^2 (p(i) + p(i)^2 / p(j))`, estimated by `l^2 w (1 + w)`, `w = p(i) / p(j)`, when j
is played.

Uniform play would have lost, in a round with awake arms S, the mean of their losses. Its estimate, after arm k was
drawn with probability p(k) and lost l, is `w(k) l` with `w(k) = 1 / (|S| p(k))` for arms that were likely enough,
`|S| p(k) >= LIKELY`; the others, whose weights would be huge, have `w(k) = 0` and count with their mean loss (a
"switch" estimator). So a policy that gives an arm probability zero is no exception. Given what came before, the
estimated gain of the round, `(w(k) - 1) l`, has at most the variance `sum_k p(k) (w(k) - 1)^2 l(k)^2`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel

TIMES_AWAKE, CHOSEN, ANSWERED = range(3)  # columns: how often the arm was awake, was chosen, and had feedback
LOSS, SQUARE, UNIFORM = range(3, 6)  # sums of l, l^2 and w(k) l when the arm was chosen
UNLIKELY, VARIANCE = range(6, 8)  # sums, when it was awake, of 1 / |S| where it was unlikely, and of p(k) (w(k) - 1)^2
WIDTH = 8
LIKELY = 0.1  # the share of 1 / |S| that a probability must have for a loss to be divided by it
NO_COUNTS: Floats = np.zeros((0, WIDTH))  # for those who do not count


def start_counts(n_arms: int, switches: bool) -> Floats:
    """Return the counts of `n_arms` arms before the first decision; with `switches`, with room for squared gains."""
    return np.zeros((n_arms, WIDTH + (n_arms if switches else 0)))


def grown_counts(counts: Floats, n_arms: int) -> Floats:
    """Return the same counts for `n_arms` arms, the new ones without any."""
    grown = start_counts(n_arms, counts.shape[1] > WIDTH)
    grown[: counts.shape[0], : counts.shape[1]] = counts
    return grown


def decision_counted(counts: Floats, awake: Iterable[int], arm: int) -> None:
    """Count a decision for `arm` among the arms `awake`."""
    if counts.shape[0] > 0:
        for k in awake:
            counts[k, TIMES_AWAKE] += 1.0
        counts[arm, CHOSEN] += 1.0


def feedback_counted(counts: Floats, awake: Sequence[int] | Ints, p: Floats, arm: int, loss: float) -> None:
    """Count the loss of a decision for `arm`, which was drawn from `p` on the arms `awake`."""
    if counts.shape[0] == 0:
        return
    share = 1.0 / len(awake)
    least = LIKELY * share
    for k in awake:
        if p[k] < least:
            counts[k, UNLIKELY] += share
            counts[k, VARIANCE] += p[k]
        else:
            counts[k, VARIANCE] += (share / p[k] - 1.0) * (share - p[k])
    counts[arm, ANSWERED] += 1.0
    counts[arm, LOSS] += loss
    counts[arm, SQUARE] += loss * loss
    if p[arm] >= least:
        counts[arm, UNIFORM] += loss * share / p[arm]
    if counts.shape[1] > WIDTH and loss > 0.0:
        for k in awake:
            if k != arm:
                weight = p[k] / p[arm]
                counts[k, WIDTH + arm] += loss * loss * weight * (1.0 + weight)


count_decision: Any = kernel(decision_counted)
count_feedback: Any = kernel(feedback_counted)
