"""What the counts of a bandit say: mean losses, the loss of uniform play, and the gain over it, with intervals."""

import math
from typing import NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats
from wakeful.policies.counts import (
    ANSWERED,
    CHOSEN,
    LOSS,
    RARE,
    RARE_LOSS,
    SQUARE,
    UNIFORM,
    UNLIKELY,
    VARIANCE,
    WIDTH,
)
from wakeful.policies.state_ranges import COUNTS, ESTIMATES, TOTALS, Range


class Interval(NamedTuple):
    """An estimate and the ends of its interval; all NaN where there is nothing to estimate it from."""

    value: float
    low: float
    high: float


NOTHING_KNOWN = Interval(math.nan, math.nan, math.nan)
UNSEEN = 0.25  # by how much the mean loss of an arm may differ where it was unlikely, if nobody has looked there


def are_counts(counts: Floats) -> bool:
    """Whether these numbers can have been counted: whole where they count, in the range of sums elsewhere."""
    squares = Range(0.0, ESTIMATES.high**2)
    return (
        COUNTS.holds(counts[: ANSWERED + 1])
        and TOTALS.holds(counts[LOSS:UNIFORM])
        and ESTIMATES.holds(counts[UNIFORM:RARE])
        and COUNTS.holds(counts[RARE])
        and TOTALS.holds(counts[RARE_LOSS])
        and squares.holds(counts[WIDTH:])
    )


def pending(counts: Floats) -> Floats:
    """Return how many decisions of each arm wait for feedback; none where other copies made more than were counted."""
    waiting: Floats = np.maximum(counts[CHOSEN] - counts[ANSWERED], 0.0)
    return waiting


def mean_interval(n: float, total: float, z: float) -> Interval:
    """Return the mean of `n` losses that sum to `total`, with Wilson's interval.

    It is meant for losses 0 and 1; other losses of the same mean vary less, so that it is wider than they need.
    """
    if n == 0.0:
        return NOTHING_KNOWN
    mean = total / n
    centre = (mean + z * z / (2.0 * n)) / (1.0 + z * z / n)
    reach = z / (1.0 + z * z / n) * math.sqrt(mean * max(1.0 - mean, 0.0) / n + z * z / (4.0 * n * n))
    return Interval(mean, max(min(centre - reach, mean), 0.0), min(max(centre + reach, mean), 1.0))


class Gain(NamedTuple):
    """The mean loss over all feedback, what uniform play would have lost, and the difference."""

    loss: float
    uniform: float
    gain: Interval


def gain_over_uniform(counts: Floats, z: float) -> Gain:
    """Return the gain over uniform play, a round: `policies.counts` has the estimate.

    Arms that were unlikely count with the mean of what they lost when they were chosen all the same, to which their
    mean over all decisions is added as one loss. The interval adds the spread of the weighted losses and that of these
    means; what the means may be wrong by, as they come from elsewhere in part; and `z^2 / 2n`, as Wilson's does: losses
    that were all the same so far are no proof that they always are. No mean loss is larger than one, nor is the
    estimate of that of uniform play.
    """
    answered, losses, squares = counts[ANSWERED], counts[LOSS], counts[SQUARE]
    n = float(answered.sum())
    if n == 0.0:
        return Gain(math.nan, math.nan, NOTHING_KNOWN)
    means = (losses + 0.5) / (answered + 1.0)  # one loss of a half is added, for arms of which nothing is known
    second = (squares + 0.5) / (answered + 1.0)
    errors = np.sqrt(np.maximum(second - means**2, 0.0) / (answered + 1.0))
    rare, unlikely = counts[RARE], counts[UNLIKELY] / n
    means = (counts[RARE_LOSS] + means) / (rare + 1.0)
    errors = np.sqrt(rare * means * (1.0 - means) + errors**2) / (rare + 1.0)
    uniform = float(counts[UNIFORM].sum()) / n + float(unlikely @ means)
    weighted = math.sqrt(float(counts[VARIANCE] @ second)) / n
    modelled = math.sqrt(float(unlikely**2 @ errors**2))
    unseen = float(unlikely @ (UNSEEN / (rare + 1.0)))
    loss, reach = float(losses.sum()) / n, z * (weighted + modelled) + unseen + z * z / (2.0 * n)
    low, high = uniform - reach - loss, uniform + reach - loss
    if uniform - reach > 1.0:  # no mean loss fits: the logged probabilities are not those of the choices
        low = -1.0
    uniform = min(uniform, 1.0)  # an estimate may be larger
    return Gain(loss, uniform, Interval(uniform - loss, max(low, -1.0), min(high, 1.0)))


def switch_errors(counts: Floats) -> Floats:
    """Return the K x K standard errors of switch gains: the roots of their estimated variances."""
    errors: Floats = np.sqrt(counts[WIDTH:].T)
    return errors
