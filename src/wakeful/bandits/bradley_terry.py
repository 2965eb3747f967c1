"""Strengths of arms from the results of duels: the models of Bradley and Terry, and of Davidson where there are ties.

In a duel of i and j let `d = s_i - s_j`, plus the side effect if i is known to have stood on the left, or minus it if j
has. Davidson (1970): i wins, j wins, or nobody does, with probabilities proportional to `exp(d / 2)`, `exp(-d / 2)` and
`v`. Where no ties are reported, v is zero: Bradley and Terry (1952). Where the sides are not known, or one side won
every duel (as in a list that names the winner first), there is no side effect.

A weak normal prior keeps everything finite: unbeaten arms, arms that never met, arms that never played. The most likely
values are found by Newton's method, since the logarithm of the posterior is concave; errors come from its curvature.
"""

from typing import Any, NamedTuple

import numpy as np

from wakeful.bandits.levels import normal_quantile
from wakeful.numerics.arrays import Floats, Ints, Mask

STRENGTH_PRIOR = 2.0  # standard deviation of a strength before any duel
SIDE_PRIOR = 2.0  # of the side effect
TIE_PRIOR = 5.0  # of the logarithm of v
MOST_NEWTON_STEPS = 200
LONGEST_MOVE, LAST_MOVE = 2.0, 1e-7  # of a step of Newton's method; after the last one, errors are its square
SIDED, UNSIDED, NO_TIES = range(3)  # kinds of results: first on the left; sides unknown; of battles, without ties


class PairResults(NamedTuple):
    """Sums of results: one entry for each pair and kind, as often as you like."""

    first: Ints  # (N,), positions of arms
    second: Ints  # (N,)
    first_wins: Floats  # (N,)
    second_wins: Floats  # (N,)
    ties: Floats  # (N,)
    kind: Ints  # (N,): `SIDED`, `UNSIDED` or `NO_TIES`

    @property
    def duels(self) -> Floats:
        """How many duels each entry sums up."""
        return self.first_wins + self.second_wins + self.ties


class Strengths(NamedTuple):
    """The most likely strengths, side effect and logarithm of v, and their covariance, in this order."""

    values: Floats  # (K + 2,)
    covariance: Floats  # (K + 2, K + 2); zero for a side effect or ties that are not in the model
    has_side: bool
    has_ties: bool

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return self.values.size - 2


class Outcomes(NamedTuple):
    """What the model says of each entry: probabilities, and the logarithm of what they were divided by."""

    first: Floats
    second: Floats
    tie: Floats
    log_total: Floats


def from_matrix(wins: Floats) -> PairResults:
    """Return the results that a K x K matrix of wins holds, row over column: no sides, and ties already shared."""
    first, second = np.nonzero(np.triu(wins + wins.T, 1))
    kinds = np.full(first.size, NO_TIES)
    return PairResults(first, second, wins[first, second], wins[second, first], np.zeros(first.size), kinds)


def fit_strengths(results: PairResults, n_arms: int) -> Strengths:
    """Return the most likely strengths of arms under the prior, given the results of duels.

    >>> fitted = fit_strengths(from_matrix(np.array([[0.0, 30.0], [10.0, 0.0]])), 2)
    >>> fitted.values.round(3)
    array([ 0.54, -0.54,  0.  ,  0.  ])
    """
    results = merged(results, n_arms)
    kind, ties = results.kind, results.ties
    sided = kind == SIDED
    has_side = bool(results.first_wins[sided].sum() > 0.0 and results.second_wins[sided].sum() > 0.0)
    has_ties = bool(ties.sum() > 0.0)
    on_left = sided * float(has_side)
    may_tie = (kind != NO_TIES) & has_ties
    precision = np.full(n_arms + 2, STRENGTH_PRIOR**-2)
    precision[n_arms:] = SIDE_PRIOR**-2, TIE_PRIOR**-2
    values = np.zeros(n_arms + 2)
    fit = _log_posterior(values, results, on_left, may_tie, precision)
    for _ in range(MOST_NEWTON_STEPS):
        slope, curvature = _derivatives(values, results, on_left, may_tie, precision)
        move = np.linalg.solve(curvature, slope).astype(np.float64, copy=False)
        move *= min(1.0, LONGEST_MOVE / max(float(np.abs(move).max()), LONGEST_MOVE))
        settled = float(np.abs(move).max()) < LAST_MOVE
        values, fit = _uphill(values, move, fit, results, on_left, may_tie, precision)
        if settled:
            break
    covariance = np.linalg.inv(curvature).astype(np.float64, copy=False)
    for position, there in ((n_arms, has_side), (n_arms + 1, has_ties)):
        if not there:
            covariance[position, :] = covariance[:, position] = 0.0
    return Strengths(values, covariance, has_side, has_ties)


def merged(results: PairResults, n_arms: int) -> PairResults:
    """Return the same results with one entry for each pair and kind."""
    keys = (results.first * n_arms + results.second) * 3 + results.kind
    found, place = np.unique(keys, return_inverse=True)
    wins, losses, ties = (_sums(place, counts, found.size) for counts in results[2:5])
    return PairResults(found // 3 // n_arms, found // 3 % n_arms, wins, losses, ties, found % 3)


def _sums(places: Ints, weights: Floats, size: int) -> Floats:
    """Return the sum of the weights at each place; floats also where there are none."""
    return np.bincount(places, weights, size).astype(np.float64, copy=False)


def _uphill(values: Floats, move: Floats, fit: float, *model: Any) -> tuple[Floats, float]:
    """Return the values after a move, or half of it and so on until the posterior is not smaller than before."""
    for _ in range(60):
        found = _log_posterior(values + move, *model)
        if found >= fit - 1e-12 * abs(fit):
            return values + move, found
        move = move / 2.0
    return values, fit


def _outcomes(values: Floats, results: PairResults, on_left: Floats, may_tie: Mask) -> Outcomes:
    """Return what the model says of each entry."""
    n_arms = values.size - 2
    half = 0.5 * (values[results.first] - values[results.second] + values[n_arms] * on_left)
    tie = np.where(may_tie, values[n_arms + 1], -np.inf)
    most = np.maximum(np.abs(half), tie)
    first, second, both = np.exp([half - most, -half - most, tie - most])
    total = first + second + both
    return Outcomes(first / total, second / total, both / total, most + np.log(total))


def _log_posterior(values: Floats, results: PairResults, on_left: Floats, may_tie: Mask, precision: Floats) -> float:
    """Return the logarithm of the posterior, but for a constant."""
    n_arms = values.size - 2
    half = 0.5 * (values[results.first] - values[results.second] + values[n_arms] * on_left)
    said = half * (results.first_wins - results.second_wins) + values[n_arms + 1] * results.ties
    said -= results.duels * _outcomes(values, results, on_left, may_tie).log_total
    return float(said.sum() - 0.5 * (precision * values**2).sum())


def _derivatives(
    values: Floats, results: PairResults, on_left: Floats, may_tie: Mask, precision: Floats
) -> tuple[Floats, Floats]:
    """Return the slope of the logarithm of the posterior, and its curvature with the sign changed."""
    size, duels = values.size, results.duels
    n_arms, first, second = size - 2, results.first, results.second
    outcomes = _outcomes(values, results, on_left, may_tie)
    half_gap = 0.5 * (outcomes.first - outcomes.second)
    pull = 0.5 * (results.first_wins - results.second_wins) - duels * half_gap
    slope = _sums(first, pull, size) - _sums(second, pull, size) - precision * values
    slope[n_arms] += (pull * on_left).sum()
    slope[n_arms + 1] += (results.ties - duels * outcomes.tie).sum()
    spread = duels * (0.25 * (outcomes.first + outcomes.second) - half_gap**2)  # of the gap
    mixed = -duels * half_gap * outcomes.tie  # of the gap and a tie
    met = _sums(first * size + second, spread, size * size).reshape(size, size)
    curvature = -met - met.T
    places = np.arange(size)
    curvature[places, places] += _sums(first, spread, size) + _sums(second, spread, size) + precision
    for place, weights in ((n_arms, spread * on_left), (n_arms + 1, mixed)):
        across = _sums(first, weights, size) - _sums(second, weights, size)
        curvature[place, :n_arms] += across[:n_arms]
        curvature[:n_arms, place] += across[:n_arms]
    curvature[n_arms, n_arms] += (spread * on_left).sum()
    curvature[n_arms, n_arms + 1] = curvature[n_arms + 1, n_arms] = (mixed * on_left).sum()
    curvature[n_arms + 1, n_arms + 1] += (duels * outcomes.tie * (1.0 - outcomes.tie)).sum()
    return slope, curvature


def main_component(results: PairResults, n_arms: int) -> Mask:
    """Return which arms belong to the part of the graph of duels that has played most; none if nobody has.

    Arms of different parts are comparable by the prior alone.
    """
    label = np.arange(n_arms)
    while True:
        lowest = label.copy()
        np.minimum.at(lowest, results.first, label[results.second])
        np.minimum.at(lowest, results.second, label[results.first])
        lowest = lowest[lowest]
        if np.array_equal(lowest, label):
            break
        label = lowest
    played = _sums(label[results.first], results.duels, n_arms)
    main: Mask = (label == np.argmax(played)) & bool(played.any())
    return main


def totals(results: PairResults, n_arms: int) -> tuple[Floats, Floats, Floats]:
    """Return the wins, ties and duels of every arm."""
    first, second = results.first, results.second
    wins = _sums(first, results.first_wins, n_arms) + _sums(second, results.second_wins, n_arms)
    ties = _sums(first, results.ties, n_arms) + _sums(second, results.ties, n_arms)
    duels = _sums(first, results.duels, n_arms) + _sums(second, results.duels, n_arms)
    return wins, ties, duels


def relative_strengths(fitted: Strengths, results: PairResults) -> tuple[Floats, Floats]:
    """Return the strengths less the mean of the main component, and the standard errors of these differences."""
    n_arms = fitted.n_arms
    strengths, covariance = fitted.values[:n_arms], fitted.covariance[:n_arms, :n_arms]
    main = main_component(results, n_arms)
    if not main.any():
        return strengths, np.sqrt(np.diag(covariance))
    shared = covariance[:, main].mean(axis=1)  # with the mean
    variances = np.diag(covariance) - 2.0 * shared + shared[main].mean()
    return strengths - strengths[main].mean(), np.sqrt(np.maximum(variances, 0.0))


def rank_intervals(fitted: Strengths, shown: Ints, level: float) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of each arm shown, by comparing it with each other one."""
    values, covariance = fitted.values[shown], fitted.covariance[np.ix_(shown, shown)]
    others = max(shown.size - 1, 1)
    z = normal_quantile(1.0 - 0.5 * (1.0 - level) / others)
    gaps = values[:, np.newaxis] - values
    variances = np.diag(covariance)[:, np.newaxis] + np.diag(covariance) - 2.0 * covariance
    reach = z * np.sqrt(np.maximum(variances, 0.0))
    np.fill_diagonal(reach, np.inf)
    return 1 + (gaps < -reach).sum(axis=1), shown.size - (gaps > reach).sum(axis=1)
