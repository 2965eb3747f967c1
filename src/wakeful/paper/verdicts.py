"""Computes verdicts: confidence intervals, and rules that turn them into one of four verdicts.

Every rule is monotone: a wider interval around the same mean never turns a verdict into HOLDS or into FAILS, so that
fewer runs can say less than many, and never more.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wakeful.inputs import must_be, numbers
from wakeful.lab.results import Results, growth_exponent
from wakeful.numerics.arrays import Floats
from wakeful.paper.contents import FAILS, HOLDS, IN_PART, UNTESTED, VERDICTS

CONFIDENCE = 0.95
LINEAR = 0.9  # an exponent of growth above which a regret is called linear
ROOT, NEXT = 1 / 2, 2 / 3  # exponents: the square root, and the next rate that policies of this field have
HALFWAY = (ROOT + NEXT) / 2  # an exponent below it is nearer to 1/2; lower terms bend a curve at any finite horizon


RULE_ROOT = "the whole 95 % interval of the exponent nearer to 1/2 than to 2/3; it fails if all of it is above 2/3"


class Interval(NamedTuple):
    """A mean and what it lies between, with 95 % confidence; of one run alone the ends are not known."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Print the mean and both ends."""
        return f"{short(self.mean)} [{short(self.low)}, {short(self.high)}]"


def short(value: float) -> str:
    """Return a number with as many digits as one reads: none after the point from 100 on, three below 1.

    >>> short(1234.5), short(0.12345), short(7.0), short(99.9999999999)
    ('1,234', '0.123', '7', '100')
    """
    if not math.isfinite(value):
        return "?"
    near = 0.0 + round(value, 6)
    size = abs(near)
    digits = 0 if size >= 100 or near.is_integer() else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{near:,.{digits}f}"


def interval(values: ArrayLike) -> Interval:
    """Return the mean of some runs and its confidence interval (Student's t).

    >>> print(interval([1.0, 2.0, 3.0]))
    2 [-0.484, 4.48]
    """
    sample = numbers("values", values, "one number for each run")
    if sample.ndim != 1 or sample.size == 0:
        raise ValueError(must_be("values", "one number for each run", values))
    mean = float(sample.mean())
    if sample.size < 2:
        return Interval(mean, -math.inf, math.inf)
    reach = _reach(sample.size) * float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return Interval(mean, mean - reach, mean + reach)


def gap(results: Results, first: str, second: str, regret: str | None = None) -> Interval:
    """Return the paired difference of two policies' regrets at the last round, the first less the second."""
    kept = results.main(regret)
    return interval(results.final(kept, first) - results.final(kept, second))


def growth(checkpoints: ArrayLike, curves: Floats, since: float = 0.25) -> Interval:
    """Return the exponent a of `T^a` with which a mean regret grew over the last part of the horizon.

    `a = log(R_T / R_s) / log(T / s)`, R the means over runs, s about `since` T; the interval is the jackknife's, which
    leaves out one run at a time. A regret that is surely not positive at T has not grown: its exponent is 0. Where it
    is not sure that both means are positive, there is no telling, and the interval has no ends.

    Parameters:
        checkpoints: the rounds at which the regret is known
        curves: (runs, checkpoints)
        since: the share of the horizon before which growth does not count

    >>> t = np.arange(1, 101)
    >>> print(growth(t, np.sqrt([t, t, t])))
    0.500 [0.500, 0.500]
    """
    marks = numbers("checkpoints", checkpoints, "numbers of rounds")
    runs, total = len(curves), curves.sum(axis=0)
    exponent = growth_exponent(marks, total / runs, since)
    start = interval(curves[:, min(int(np.searchsorted(marks, since * marks[-1])), marks.size - 2)])
    end = interval(curves[:, -1])
    if end.high <= 0.0:
        return Interval(exponent, exponent, exponent)
    if min(start.low, end.low) <= 0.0 or marks.size < 2:
        return Interval(exponent, -math.inf, math.inf)
    left_out = np.array([growth_exponent(marks, (total - own) / (runs - 1), since) for own in curves])
    error = math.sqrt((runs - 1) / runs * float(((left_out - left_out.mean()) ** 2).sum()))
    reach = _reach(runs) * error
    return Interval(exponent, exponent - reach, exponent + reach)


def is_less(difference: Interval) -> str:
    """Judge "the first is less": HOLDS if the whole interval of the difference is below 0, FAILS if it is above.

    >>> is_less(Interval(-3.0, -5.0, -1.0)), is_less(Interval(1.0, -1.0, 3.0)), is_less(Interval(2.0, 1.0, 3.0))
    ('holds', 'holds in part', 'does not hold')
    """
    if difference.high < 0.0:
        return HOLDS
    return FAILS if difference.low > 0.0 else IN_PART


def is_not_less(difference: Interval, margin: float) -> str:
    """Judge "the first is not less by more than the margin": HOLDS if the whole interval is above it, FAILS if none is.

    >>> is_not_less(Interval(1.0, -1.0, 3.0), 2.0), is_not_less(Interval(-50.0, -200.0, 1.0), 2.0)
    ('holds', 'holds in part')
    """
    if difference.low >= -margin:
        return HOLDS
    return FAILS if difference.high < -margin else IN_PART


def is_below(value: Interval, bound: float, most: float) -> str:
    """Judge "at most the bound": HOLDS if the whole interval is, FAILS if none of it is; without ends, neither.

    Where `most`, what any policy can have at worst, does not exceed the bound, nothing is tested.

    >>> is_below(Interval(5.0, 4.0, 6.0), 7.0, most=50.0), is_below(Interval(5.0, 4.0, 6.0), 3.0, most=50.0)
    ('holds', 'does not hold')
    >>> is_below(Interval(5.0, 4.0, 6.0), 70.0, most=50.0)
    'not tested here'
    """
    if value.low > bound:
        return FAILS
    if most <= bound:
        return UNTESTED
    return HOLDS if value.high <= bound else IN_PART


def is_linear(exponent: Interval) -> str:
    """Judge "linear": HOLDS if the whole interval of the exponent is above 0.9, FAILS if it is below."""
    if exponent.low > LINEAR:
        return HOLDS
    return FAILS if exponent.high < LINEAR else IN_PART


def is_root(exponent: Interval) -> str:
    """Judge "at most of order sqrt(T)": HOLDS if the whole interval of the exponent is nearer to 1/2 than to 2/3.

    FAILS if all of it is at least 2/3.

    >>> is_root(Interval(0.52, 0.48, 0.56)), is_root(Interval(0.75, 0.5, 0.99)), is_root(Interval(0.7, 0.68, 0.72))
    ('holds', 'holds in part', 'does not hold')
    """
    if exponent.low >= NEXT:
        return FAILS
    return HOLDS if exponent.high < HALFWAY else IN_PART


def is_sublinear(exponent: Interval) -> str:
    """Judge "sublinear": HOLDS if the whole interval of the exponent is below 0.9, FAILS if it is above."""
    if exponent.high < LINEAR:
        return HOLDS
    return FAILS if exponent.low > LINEAR else IN_PART


def is_true(answers: Iterable[bool]) -> str:
    """Judge what must be so in every case: HOLDS if it is, FAILS if it never is, IN_PART if it sometimes is."""
    return together(HOLDS if answer else FAILS for answer in answers)


def together(verdicts: Iterable[str]) -> str:
    """Join verdicts on the parts of a claim: all the same; else it fails if one does and none holds; or else in part.

    >>> together([HOLDS, HOLDS]), together([HOLDS, FAILS]), together([FAILS, IN_PART]), together([IN_PART, IN_PART])
    ('holds', 'holds in part', 'does not hold', 'holds in part')
    >>> together([HOLDS, UNTESTED]), together([FAILS, UNTESTED]), together([UNTESTED, UNTESTED])
    ('holds in part', 'does not hold', 'not tested here')
    """
    found = set(verdicts)
    if not found:
        raise ValueError(must_be("verdicts", "one or more", verdicts))
    if len(found) == 1:
        return found.pop()
    return FAILS if FAILS in found and HOLDS not in found else IN_PART


def tally(verdicts: Iterable[str]) -> dict[str, int]:
    """Return how many parts of a claim have which verdict.

    >>> tally([HOLDS, FAILS, HOLDS])
    {'holds': 2, 'holds in part': 0, 'does not hold': 1, 'not tested here': 0}
    """
    found = list(verdicts)
    return {verdict: found.count(verdict) for verdict in VERDICTS}


def compared(value: float, bound: float) -> str:
    """Return "below 163" or "above 163": on which side of a bound a value is.

    >>> compared(31.0, 163.2), compared(2.0, 1.0)
    ('below 163', 'above 1')
    """
    return f"{'below' if value <= bound else 'above'} {bound:,.0f}"


def _reach(runs: int) -> float:
    """Return how many standard errors a confidence interval reaches to either side."""
    from scipy.special import stdtrit

    return float(stdtrit(runs - 1, 0.5 + CONFIDENCE / 2.0))
