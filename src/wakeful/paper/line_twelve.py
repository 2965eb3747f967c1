"""Two readings of Algorithm 1 where the learning rate changes over time: line 12 as printed, and the sum of losses.

Line 12 multiplies weights by `exp(-eta_t lhat_t)`, so that old losses keep their old, large rates. Equation
(deftildeqt) takes `exp(-eta_t sum of lhat)`. With a constant rate they are the same. Here are both, literally, for
two arms that never sleep, one of which loses 1 in each round, and two adversaries.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from wakeful.inputs import whole
from wakeful.lab.results import Results
from wakeful.numerics.arrays import Floats, Ints
from wakeful.paper.settings import Settings

MULTIPLIED, SUMMED = "line 12: weights multiplied", "losses summed"
LEAST = 1e-300  # below which a probability is not divided by
STEEPEST = 700.0  # beyond which the exponential overflows
SWITCH_HORIZONS = np.array(
    [1_250, 2_500, 5_000, 10_000, 20_000]
)  # each a game of its own: the switch is at a quarter of it

Adversary = Callable[[int, Floats], Floats]  # round (from 0) and log p(1)/p(2) of each run: what arm 1 loses in each


class Switch(NamedTuple):
    """Internal regrets R(1 -> 2) of both readings."""

    told: Results  # a best arm that switches, both losses told: no chance, one run
    held: Results  # an adversary who reacts, bandit feedback


def switching(rounds: int) -> Adversary:
    """Return an adversary under whom arm 1 is better by 1 in the first quarter, and worse by 1 from then on."""
    return lambda t, odds: np.full(odds.shape, float(4 * t >= rounds))


def holding(rounds: int) -> Adversary:
    """Return an adversary who holds the odds of arm 1 at T/4: arm 1 loses while they are above.

    Now and then arm 2 is played all the same, and its loss, over a probability of 4/T, lifts the odds so far that
    later, smaller rates take long to bring them down.
    """
    return lambda t, odds: (odds >= math.log(rounds / 4)).astype(np.float64)


def played(
    adversary: Adversary, rounds: int, runs: int, multiplied: bool, rng: np.random.Generator | None = None
) -> tuple[Floats, Floats]:
    """Return p(1) and what 1 -> 2 would have gained, both (T, runs), under Algorithm 1 with `eta_t = t^-1/2`.

    Of two arms the fixed point is `p(1) = q(2 -> 1)`, `p(2) = q(1 -> 2)`; the expert i -> j, who moves all weight to
    j, loses `lhat(j)`, which is `l(k) / p(k)` for the arm k that is played and 0 for the other.

    Parameters:
        adversary: what arm 1 loses; arm 2 loses 1 less that
        rounds: T
        runs: how many, side by side
        multiplied: whether line 12 is followed, instead of the sum of losses
        rng: what arms are drawn from; without it both losses are told, and `lhat = l`
    """
    whole("rounds", rounds, "a number of rounds, at least 1", 1)
    whole("runs", runs, "a number of runs, at least 1", 1)
    lead = np.zeros(runs)  # of the loss of 2 -> 1 over that of 1 -> 2; each loss times its rate if `multiplied`
    firsts, gains = np.empty((rounds, runs)), np.empty((rounds, runs))
    for t in range(rounds):
        eta = (t + 1) ** -0.5
        odds = np.clip(-lead if multiplied else -eta * lead, -STEEPEST, STEEPEST)
        first = firsts[t] = 1.0 / (1.0 + np.exp(-odds))
        loss = adversary(t, odds)
        gains[t] = first * (2.0 * loss - 1.0)
        estimate = 2.0 * loss - 1.0
        if rng is not None:
            one = rng.random(runs) < first
            estimate = np.where(one, loss, loss - 1.0) / np.maximum(np.where(one, first, 1.0 - first), LEAST)
        lead += eta * estimate if multiplied else estimate
    return firsts, gains


def run_study(settings: Settings) -> Switch:
    """Let both readings play both adversaries."""
    told = settings.kept({"study": "line 12, told"}, lambda: {"ends": _told_ends()})["ends"]
    rounds, runs = settings.size(20_000, 5_000), settings.runs or settings.size(400, 200)
    marks = np.unique(np.linspace(rounds // 50, rounds, 50).astype(np.int64))
    about = {"study": "line 12, held", "rounds": rounds, "runs": runs}
    held = settings.kept(about, lambda: {"curves": _held_curves(rounds, runs, marks, settings.seed)})["curves"]
    return Switch(_results(told, SWITCH_HORIZONS, settings.seed), _results(held, marks, settings.seed))


def bound(rounds: int) -> float:
    """Return what theory allows the sum of losses, `(log(K(K-1)) + 2) sqrt(T)` for two arms and `eta_t = t^-1/2`.

    >>> round(bound(10_000))
    269
    """
    return (math.log(2.0) + 2.0) * math.sqrt(rounds)


def _told_ends() -> Floats:
    """Return the regrets (2, 1, horizons) at the end of games of several lengths, with both losses told."""
    found = np.empty((2, 1, SWITCH_HORIZONS.size))
    for n, rounds in enumerate(SWITCH_HORIZONS.tolist()):
        for m, multiplied in enumerate((True, False)):
            found[m, 0, n] = played(switching(rounds), rounds, 1, multiplied)[1].sum()
    return found


def _held_curves(rounds: int, runs: int, marks: Ints, seed: int) -> Floats:
    """Return the regrets (2, runs, marks) with bandit feedback."""
    curves = np.empty((2, runs, marks.size))
    for m, multiplied in enumerate((True, False)):
        gains = played(holding(rounds), rounds, runs, multiplied, np.random.default_rng([seed, 12]))[1]
        curves[m] = np.cumsum(gains, axis=0)[marks - 1].T
    return curves


def _results(curves: Floats, marks: Ints, seed: int) -> Results:
    """Return curves as results, to be drawn and compared like any."""
    names = {MULTIPLIED: "eta_t = t^-1/2, each loss times its own", SUMMED: "eta_t = t^-1/2, all losses times the last"}
    world, rounds = "two arms, one of which loses", int(marks[-1])
    return Results(names, world, rounds, curves.shape[1], seed, marks, {"internal": curves}, np.empty((2, 0, 0)))
