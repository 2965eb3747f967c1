"""A ranking of arms from the results of their duels, with confidence intervals."""

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wakeful.bandits.bradley_terry import (
    PairResults,
    Strengths,
    fit_strengths,
    from_matrix,
    rank_intervals,
    relative_strengths,
    totals,
)
from wakeful.bandits.levels import z_score
from wakeful.bandits.ranked_arms import Estimate, Rank, RankedArms, count_shown
from wakeful.inputs import did_you_mean, must_be, one_of, real
from wakeful.numerics.arrays import Floats, Ints

ELO_FACTOR, ELO_MEAN = 400.0 / math.log(10.0), 1500.0  # 400 points are odds of ten to one
SCALES = ("log", "elo", "probability")
SIDE_OF_FIRST = {None: 0.0, "left": 1.0, "right": -1.0}


class Chance(NamedTuple):
    """The probability that one arm beats another, the ends of its interval, and the probability of a tie."""

    probability: float
    low: float
    high: float
    tie: float


class Ranking(RankedArms):
    """The arms, strongest first, those without duels last; prints as a table. `DuelingBandit.ranking` makes it.

    >>> wins = np.array([[0.0, 30.0], [10.0, 0.0]])
    >>> found = ranking(["a", "b"], wins, scale="elo", level=0.9)
    >>> [(rank.arm, round(rank.strength)) for rank in found]
    [('a', 1594), ('b', 1406)]
    >>> round(found.probability("a", "b").probability, 2)
    0.75
    """

    def __init__(
        self,
        ranks: Sequence[Rank],
        fitted: Strengths,
        position: dict[Hashable, int],
        scale: str,
        level: float,
        least: float = 0.0,
    ) -> None:
        super().__init__(ranks, scale, level)
        self._least = least  # duels that an arm must have played to be shown
        self._fitted, self._position = fitted, position
        self._z = z_score(level)

    def _why_empty(self) -> str:
        """Return why no arm is shown."""
        return f"No arm to show: none of those asked for has played at least {count_shown(self._least)} duels."

    @property
    def side_effect(self) -> Estimate | None:
        """The logarithm of the odds that the left one of two equal arms wins; None if the sides are not known."""
        return self._estimate(self._fitted.n_arms) if self._fitted.has_side else None

    @property
    def tie_rate(self) -> Estimate | None:
        """The probability that two equal arms tie, without a side effect; None if no ties were reported."""
        if not self._fitted.has_ties:
            return None
        found = self._estimate(self._fitted.n_arms + 1)
        return Estimate(*(1.0 / (1.0 + 2.0 * math.exp(-x)) for x in found))

    def probability(self, first: Hashable, second: Hashable, *, side: str | None = None) -> Chance:
        """Return the probability that one arm beats another, with an interval of the ranking's level.

        Parameters:
            first, second: names of two arms
            side: where the first one stands, `"left"` or `"right"`; without it the side effect is left out
        """
        values, n_arms = self._fitted.values, self._fitted.n_arms
        sign = 0.0 if side is None else SIDE_OF_FIRST[one_of("side", side, ("left", "right"))]
        weights = np.zeros(values.size)
        weights[self._place("first", first)] += 1.0
        weights[self._place("second", second)] -= 1.0
        weights[n_arms] = sign * self._fitted.has_side
        half = 0.5 * float(weights @ values)
        tie = math.exp(values[n_arms + 1]) if self._fitted.has_ties else 0.0
        lost = math.exp(-half)
        slopes = weights * 0.5 * (1.0 + lost / (lost + tie))  # of the logit of the probability
        slopes[n_arms + 1] = -tie / (lost + tie)
        logit = half - math.log(lost + tie)
        reach = self._z * math.sqrt(float(slopes @ self._fitted.covariance @ slopes))
        chance, low, high = map(_sigmoid, (logit, logit - reach, logit + reach))
        return Chance(chance, low, high, tie / (math.exp(half) + lost + tie))

    def _estimate(self, place: int) -> Estimate:
        """Return one of the fitted values with its interval."""
        value = float(self._fitted.values[place])
        reach = self._z * math.sqrt(float(self._fitted.covariance[place, place]))
        return Estimate(value, value - reach, value + reach)

    def _place(self, what: str, name: Any) -> int:
        """Return the position of the arm called `name`."""
        return arm_position(what, name, self._position)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the page says below the table."""
        percent = f"{100 * self.level:g} %"
        scales = {
            "log": "Strengths are log-odds: the odds that one arm beats another are exp(difference); the mean is 0.",
            "elo": "400 Elo points more are odds of ten to one; the mean is 1500.",
            "probability": "The probability to beat an arm of mean strength, ties left out.",
        }
        if not self._ranks:
            return (self._why_empty(),)
        notes = [f"{scales[self.scale]} Intervals and ranks hold with {percent} confidence for each arm."]
        if self.tie_rate is not None:
            notes.append(f"Two equal arms tie in {_percents(*self.tie_rate)} of duels.")
        if self.side_effect is not None:
            left = _percents(*map(_sigmoid, self.side_effect))
            notes.append(f"Of two equal arms, the one on the left wins {left} of duels that are no ties.")
        return tuple(notes)


def ranking(
    names: Sequence[Hashable],
    results: Floats | PairResults,
    *,
    scale: str = "log",
    level: float = 0.95,
    arms: Iterable[Hashable] | None = None,
    min_duels: float = 0,
    retired: Iterable[Hashable] = (),
) -> Ranking:
    """Rank arms by Bradley-Terry strengths: the odds that i beats j are exp(strength i - strength j).

    The strengths are the most likely ones under a weak normal prior, so that arms which never met are ranked too, with
    wide intervals. Strengths are relative to the mean of the arms that are connected by duels; an arm that has not
    played changes nothing for the others. An arm's rank lies between one more than the number of arms that are surely
    stronger, and the number of arms less those that are surely weaker. Each of its comparisons has such a level
    (Bonferroni's) that all of them together hold with probability `level`.

    It is a summary: preferences need not be of this kind.

    Parameters:
        names: of all arms
        results: of their duels, or the K x K matrix of wins, row over column
        scale: `"log"`; `"elo"`, 400 points for odds of ten to one and a mean of 1500; or `"probability"`, to beat an
            arm of mean strength
        level: of the intervals
        arms: the names of those to show and rank, if not all
        min_duels: show and rank only arms that played so many duels
        retired: the names of those to be marked

    >>> ranking(["a", "b"], np.array([[0.0, 30.0], [10.0, 0.0]]))
             strength   95 % from       to   ranks   wins   duels
    1   a       0.540       0.187    0.894       1     30      40
    2   b      -0.540      -0.894   -0.187       2     10      40
    """
    one_of("scale", scale, SCALES)
    z = z_score(level)
    table = results if isinstance(results, PairResults) else from_matrix(np.asarray(results, np.float64))
    position = {name: k for k, name in enumerate(names)}
    fitted = fit_strengths(table, len(names))
    wins, ties, duels = totals(table, len(names))
    least = real("min_duels", min_duels, "zero or more", 0.0)
    shown = _shown(position, arms, duels, least)
    strengths, errors = relative_strengths(fitted, table)
    best, worst = rank_intervals(fitted, shown, level)
    gone = {arm_position("retired", name, position) for name in retired}
    order = np.lexsort((shown, -strengths[shown], duels[shown] == 0.0))
    ranks = []
    for place, n in enumerate(order.tolist(), 1):
        k = int(shown[n])
        ends = strengths[k] - z * errors[k], strengths[k] + z * errors[k]
        strength, low, high = (_scaled(float(x), scale) for x in (strengths[k], *ends))
        won, played, tied = (float(counts[k]) for counts in (wins, duels, ties))
        among = min(int(best[n]), place), max(int(worst[n]), place)  # arms without duels stand last, whatever is likely
        ranks.append(Rank(place, names[k], strength, low, high, won, played, tied, *among, k in gone))
    return Ranking(ranks, fitted, position, scale, level, least)


def arm_position(what: str, name: Any, position: dict[Hashable, int]) -> int:
    """Return the position of the arm called `name`; `what` is how the caller calls the argument."""
    try:
        return position[name]
    except (KeyError, TypeError):
        shown = ", ".join(map(repr, list(position)[:8])) + (", ..." if len(position) > 8 else "")
        raise ValueError(must_be(what, f"among the arms {shown}", name) + did_you_mean(name, position)) from None


def _shown(position: dict[Hashable, int], arms: Any, duels: Floats, least: float) -> Ints:
    """Return the positions of the arms to show."""
    if arms is None:
        chosen = list(range(len(position)))
    elif isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
        raise TypeError(must_be("arms", "a list of arm names", arms))
    else:
        chosen = sorted({arm_position("arms", name, position) for name in arms})
    return np.array([k for k in chosen if duels[k] >= least], np.int64)


def _scaled(strength: float, scale: str) -> float:
    """Return a strength on another scale."""
    if scale == "elo":
        return ELO_MEAN + ELO_FACTOR * strength
    return _sigmoid(strength) if scale == "probability" else strength


def _sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)), without overflow."""
    small = math.exp(-abs(x))
    return 1.0 / (1.0 + small) if x >= 0.0 else small / (1.0 + small)


def _percents(value: float, low: float, high: float) -> str:
    """Return "31.0 % (29.5 to 32.4 %)"."""
    return f"{100 * value:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)"
