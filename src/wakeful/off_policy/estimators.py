"""Estimates of the mean loss that a policy would have had, from weights and losses of logged rows, with intervals.

Row t has a weight `w_t = q_t(arm) / p_t`: the policy's probability of the logged arm over that of who logged it. Let
f_t(k) be a prediction of the loss of arm k made before row t. The terms that are averaged:

"ips"     inverse propensity scores, `w_t l_t`
"snips"   the same, self-normalised: `sum w_t l_t / sum w_t`
"dr"      doubly robust, `sum_k q_t(k) f_t(k) + w_t (l_t - f_t(arm))`
"direct"  `sum_k q_t(k) f_t(k)`: biased, as good as the predictions are
"replay"  the losses of the rows in which the policy chose what was logged

Everything is a running sum, so a log of any length needs no memory.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeful.numerics.arrays import Floats

ESTIMATORS = ("dr", "ips", "snips", "replay", "direct")
INTERVALS = ("bernstein", "normal")
BETS = (1.0 / 16.0, 1.0 / 4.0, 1.0 / 2.0, 1.0, 2.0, 4.0)  # times the best rate for a variance of one
LARGEST_BET = 0.9


@dataclass
class LowerSum:
    """Running sums for a lower bound of `sum of E[X_t | past]`, X_t not negative, valid for any number of rows.

    For `0 <= b < 1` and any prediction x_t in [0, 1] made before X_t, `exp(b (X_t - E X_t) - psi(b) (X_t - x_t)^2)`,
    with `psi(b) = -log(1 - b) - b`, has a mean of at most one given the past (Fan, Grama and Liu 2015). Products of
    these, averaged over several b, exceed 1 / a with a chance of at most a. X_t may be as large as it likes.
    """

    rows: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, values: Floats) -> None:
        """Add some X_t; each is predicted by the mean of those before it, at most one."""
        before = self.total + np.concatenate([[0.0], np.cumsum(values)[:-1]])
        counts = self.rows + np.arange(values.size)
        guesses = np.clip((before + 0.5) / (counts + 1.0), 0.0, 1.0)
        self.squares += float(np.sum((values - guesses) ** 2))
        self.total += float(values.sum())
        self.rows += values.size

    def bound(self, chance: float) -> float:
        """Return a number that the mean of E[X_t | past] is below with a probability of at most `chance`."""
        best = math.sqrt(2.0 * math.log(1.0 / chance) / self.rows)
        bets = np.minimum(np.array(BETS) * best, LARGEST_BET)
        penalties = (-np.log1p(-bets) - bets) * self.squares
        low, high = 0.0, self.total
        for _ in range(200):
            middle = 0.5 * (low + high)
            log_terms = bets * (self.total - middle) - penalties
            top = log_terms.max()
            evidence = top + math.log(float(np.exp(log_terms - top).mean()))
            low, high = (low, middle) if evidence <= math.log(1.0 / chance) else (middle, high)
        return min(high / self.rows, 1.0)


@dataclass
class Sums:
    """Running sums over the rows of a log, for one policy; `replay` counts only the rows that it was given."""

    rows: int = 0
    weights: float = 0.0
    square_weights: float = 0.0
    largest: float = 0.0
    weighted: float = 0.0  # w l
    weighted_square: float = 0.0  # w^2 l
    square: float = 0.0  # w^2 l^2
    robust: float = 0.0
    robust_square: float = 0.0
    predicted: float = 0.0

    def __post_init__(self) -> None:
        """Start the sums for intervals that always hold."""
        self.losses, self.rewards = LowerSum(), LowerSum()

    def add(self, w: Floats, losses: Floats, expected: Floats, predicted: Floats) -> None:
        """Add rows: weights, losses, predictions of the policy's loss, and of the loss of the logged arm."""
        if not w.size:
            return
        self.rows += w.size
        self.weights += float(w.sum())
        self.square_weights += float(w @ w)
        self.largest = max(self.largest, float(w.max()))
        terms = w * losses
        self.weighted += float(terms.sum())
        self.weighted_square += float(w @ terms)
        self.square += float(terms @ terms)
        robust = expected + w * (losses - predicted)
        self.robust += float(robust.sum())
        self.robust_square += float(robust @ robust)
        self.predicted += float(expected.sum())
        self.losses.add(terms)
        self.rewards.add(w * (1.0 - losses))

    @property
    def effective(self) -> float:
        """The effective sample size, `(sum w)^2 / sum w^2`: as good as so many rows of the policy's own."""
        return self.weights**2 / self.square_weights if self.square_weights > 0.0 else 0.0

    def value(self, estimator: str) -> float:
        """Return the estimate; NaN where there is nothing to average."""
        if self.rows == 0 or (estimator == "snips" and self.weights == 0.0):
            return math.nan
        sums: dict[str, Any] = {"dr": self.robust, "direct": self.predicted}
        if estimator == "snips":
            return self.weighted / self.weights
        return float(sums.get(estimator, self.weighted) / self.rows)

    def interval(self, estimator: str, kind: str, level: float) -> tuple[float, float]:
        """Return the ends of an interval for the mean loss, within [0, 1]; the whole of it where nothing is known."""
        value = self.value(estimator)
        if estimator == "direct" or math.isnan(value):
            return (math.nan, math.nan) if estimator == "direct" else (0.0, 1.0)
        if kind == "bernstein":
            low, high = self.losses.bound(0.5 - level / 2.0), 1.0 - self.rewards.bound(0.5 - level / 2.0)
        else:
            reach = _quantile(level, self.effective) * self._error(estimator, value)
            low, high = value - reach, value + reach
        if low > high:  # no mean loss fits: the logged probabilities are not those of the choices
            return 0.0, 1.0
        inside = min(max(value, 0.0), 1.0)  # an estimate may leave the interval, and even [0, 1]
        return max(min(low, inside), 0.0), min(max(high, inside), 1.0)

    def _error(self, estimator: str, value: float) -> float:
        """Return the standard error of an estimate."""
        n = self.rows
        if estimator == "dr":
            spread = self.robust_square - n * value**2
        elif estimator == "snips":  # of w (l - value), over the mean weight
            spread = self.square - 2.0 * value * self.weighted_square + value**2 * self.square_weights
            spread /= (self.weights / n) ** 2
        else:
            spread = self.square - n * value**2
        return math.sqrt(max(spread, 0.0) / max(n - 1, 1) / n)


def _quantile(level: float, effective: float) -> float:
    """Return the quantile of Student's t with as many degrees of freedom as the effective sample size gives."""
    from scipy.special import stdtrit

    return float(stdtrit(max(effective - 1.0, 1.0), 0.5 + level / 2.0))
