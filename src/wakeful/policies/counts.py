"""Counts of decisions and feedback that a bandit keeps beside the state of its policy, whatever the policy is.

They are one array of floats, because that is what compiled code takes fastest: row `LOSS` holds the sums of losses,
one for each arm, and so on. Where a policy estimates switch gains, K more rows hold the variances of these estimates:
had j been played when i was, the loss would have been l(j); its estimate is `l p(i) / p(j)` when j is played, and
nothing else. The difference has, given what came before, the variance `l(j)^2 (p(i) + p(i)^2 / p(j))`, estimated by
`l^2 w (1 + w)`, `w = p(i) / p(j)`, when j is played: entry i of row `WIDTH + j`. What is added in one round stands
side by side in memory, so that the processor adds several numbers at once. Files have a row for each arm (`by_arm`).

Uniform play would have lost, in a round with awake arms S, the mean of their losses. Its estimate, after arm k was
drawn with probability p(k) and lost l, is `w(k) l` with `w(k) = 1 / (|S| p(k))` for arms that were likely enough,
`|S| p(k) >= LIKELY`; the others, whose weights would be huge, have `w(k) = 0` and count with their mean loss where they
were as unlikely (a "switch" estimator). So a policy that gives an arm probability zero is no exception. Where an arm is
unlikely it often loses more than elsewhere: these means have rows of their own. Given what came before, the
estimated gain of the round, `(w(k) - 1) l`, has at most the variance `sum_k p(k) (w(k) - 1)^2 l(k)^2`.
"""

from typing import Any

import numpy as np

from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import borrowing_kernel

TIMES_AWAKE, CHOSEN, ANSWERED = range(3)  # rows: how often the arm was awake, was chosen, and had feedback
LOSS, SQUARE, UNIFORM = range(3, 6)  # sums of l, l^2 and w(k) l when the arm was chosen
UNLIKELY, VARIANCE = range(6, 8)  # sums, when it was awake, of 1 / |S| where it was unlikely, and of p(k) (w(k) - 1)^2
RARE, RARE_LOSS = range(8, 10)  # how often an arm had feedback after it was chosen although unlikely, and those losses
WIDTH = 10
LIKELY = 0.1  # the share of 1 / |S| that a probability must have for a loss to be divided by it
FEW = 0.25  # a smaller share of awake arms is counted one by one, a larger one together with those asleep
NO_COUNTS: Floats = np.zeros((WIDTH, 0))  # for those who do not count


def start_counts(n_arms: int, switches: bool) -> Floats:
    """Return the counts of `n_arms` arms before the first decision; with `switches`, with room for squared gains."""
    return np.zeros((WIDTH + (n_arms if switches else 0), n_arms))


def grown_counts(counts: Floats, n_arms: int) -> Floats:
    """Return the same counts for `n_arms` arms, the new ones without any."""
    grown = start_counts(n_arms, counts.shape[0] > WIDTH)
    grown[: counts.shape[0], : counts.shape[1]] = counts
    return grown


def by_arm(counts: Floats) -> Floats:
    """Return counts as files have them, a row for each arm; of such counts, the ones that compiled code takes."""
    return np.ascontiguousarray(counts.T)


def with_rare(saved: Floats, width: int) -> Floats:
    """Return counts of a file that are `width` wide; those of files without the last two of WIDTH get zeros there."""
    if isinstance(saved, np.ndarray) and saved.ndim == 2 and saved.shape[1] == width - (WIDTH - RARE):
        return np.insert(saved, [RARE] * (WIDTH - RARE), 0.0, axis=1)
    return saved


def decision_counted(counts: Floats, mask: Mask, awake: Ints, arm: int) -> None:
    """Count a decision for `arm` among the arms of `mask`, `awake` by position."""
    if counts.shape[1] == 0:
        return
    times = counts[TIMES_AWAKE]
    if len(awake) < FEW * mask.size:
        for k in awake:
            times[k] += 1.0
    else:
        for k in range(mask.size):
            times[k] += mask[k]
    counts[CHOSEN, arm] += 1.0


def feedback_counted(counts: Floats, mask: Mask, awake: Ints, p: Floats, arm: int, loss: float) -> None:
    """Count the loss of a decision for `arm`, which was drawn from `p` on the arms of `mask`, `awake` by position."""
    if counts.shape[1] == 0:
        return
    share = 1.0 / len(awake)
    least = LIKELY * share
    _add_variances(counts[UNLIKELY], counts[VARIANCE], mask, awake, p, share)
    counts[ANSWERED, arm] += 1.0
    counts[LOSS, arm] += loss
    counts[SQUARE, arm] += loss * loss
    if p[arm] >= least:
        counts[UNIFORM, arm] += loss * share / p[arm]
    else:
        counts[RARE, arm] += 1.0
        counts[RARE_LOSS, arm] += loss
    if counts.shape[0] > WIDTH and loss > 0.0:
        _add_switches(counts[WIDTH + arm], awake, p, arm, loss)


@borrowing_kernel
def _add_variances(unlikely: Floats, variances: Floats, mask: Mask, awake: Ints, p: Floats, share: float) -> None:
    """Add the terms of one feedback to the rows `UNLIKELY` and `VARIANCE`; arms asleep, with p = 0, add nothing."""
    least = LIKELY * share
    if len(awake) < FEW * p.size:
        for k in awake:
            unlikely[k] += share if p[k] < least else 0.0
            variances[k] += _variance(p[k], share, least)
    else:
        for k in range(p.size):
            unlikely[k] += share if (p[k] < least) & mask[k] else 0.0
            variances[k] += _variance(p[k], share, least)


@borrowing_kernel
def _variance(chance: float, share: float, least: float) -> float:
    """Return `p (w - 1)^2`, w = 0 for an unlikely arm; without a branch, so that several are computed at once."""
    spread = (np.divide(share, max(chance, least)) - 1.0) * (share - chance)
    return spread if chance >= least else chance


@borrowing_kernel
def _add_switches(variances: Floats, awake: Ints, p: Floats, arm: int, loss: float) -> None:
    """Add the terms of one feedback to the variances of gains had `arm` been played instead of others."""
    before, square, chance = variances[arm], loss * loss, p[arm]
    if len(awake) < FEW * p.size:
        for k in awake:
            variances[k] += _switch_variance(np.divide(p[k], chance), square)
    else:
        for k in range(p.size):
            variances[k] += _switch_variance(np.divide(p[k], chance), square)
    variances[arm] = before


@borrowing_kernel
def _switch_variance(weight: float, square: float) -> float:
    """Return `l^2 w (1 + w)`."""
    return square * weight * (1.0 + weight)


count_decision: Any = borrowing_kernel(decision_counted)
count_feedback: Any = borrowing_kernel(feedback_counted)
