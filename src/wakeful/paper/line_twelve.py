"""Two readings of Algorithm 1 where the learning rate changes over time: line 12 as printed, and the sum of losses.

Line 12 multiplies weights by `exp(-eta_t lhat_t)`, so that old losses keep their old, large rates. Equation
(deftildeqt) takes `exp(-eta_t sum of lhat)`. With a constant rate they are the same. Here are both, literally, for
two arms that never sleep, of which the best switches after a quarter of the rounds.
"""

from typing import NamedTuple

import numpy as np

from wakeful.entries import Floats, Ints
from wakeful.inputs import must_be, whole
from wakeful.paper.bench import Bench
from wakeful.results import Results

PRINTED, SUMMED = "line 12: weights multiplied", "losses summed"
LEAST = 1e-300  # below which a probability is not divided by


class Switch(NamedTuple):
    """Internal regrets of both readings: `told` if both losses are seen, `bandit` if only that of the arm played is."""

    told: Results  # without chance: one run
    bandit: Results


def switching_losses(rounds: int) -> Floats:
    """Return the losses (T, 2): arm 1 loses nothing in the first quarter and 1 ever after, arm 2 the reverse."""
    losses = np.zeros((rounds, 2))
    losses[: rounds // 4, 1] = 1.0
    losses[rounds // 4 :, 0] = 1.0
    return losses


def probabilities(losses: Floats, runs: int, multiplied: bool, rng: np.random.Generator | None = None) -> Floats:
    """Return the probability of arm 1 in each round, (T, runs), under Algorithm 1 with `eta_t = t^-1/2`.

    Of two arms the fixed point is `p(1) = q(2 -> 1)`, `p(2) = q(1 -> 2)`; the expert i -> j, who moves all weight to
    j, loses `lhat(j)`, which is `l(k) / p(k)` for the arm k that is played and 0 for the other.

    Parameters:
        losses: (T, 2)
        runs: how many, side by side
        multiplied: whether line 12 is followed, instead of the sum of losses
        rng: what arms are drawn from; without it both losses are told, and `lhat = l`
    """
    if losses.ndim != 2 or losses.shape[1] != 2:
        raise ValueError(must_be("losses", "of shape (T, 2)", losses.shape))
    whole("runs", runs, "a number of runs, at least 1", 1)
    totals = np.zeros(
        (2, runs)
    )  # what the experts who move to arm 1 and to arm 2 lost; times the rates if `multiplied`
    firsts = np.empty((len(losses), runs))
    each = np.arange(runs)
    for t, row in enumerate(losses):
        eta = (t + 1) ** -0.5
        exponents = totals[0] - totals[1] if multiplied else eta * (totals[0] - totals[1])
        first = firsts[t] = 1.0 / (1.0 + np.exp(np.clip(exponents, -700.0, 700.0)))
        estimates = np.repeat(row[:, np.newaxis], runs, axis=1)
        if rng is not None:
            k = (rng.random(runs) >= first).astype(np.int64)
            estimates[1 - k, each] = 0.0
            estimates[k, each] /= np.maximum(np.where(k == 0, first, 1.0 - first), LEAST)
        totals += eta * estimates if multiplied else estimates
    return firsts


def internal(losses: Floats, firsts: Floats) -> Floats:
    """Return the larger of the two expected internal regrets after each round, (T, runs)."""
    gap = (losses[:, 0] - losses[:, 1])[:, np.newaxis]
    regrets = np.cumsum([firsts * gap, (firsts - 1.0) * gap], axis=1)
    largest: Floats = regrets.max(axis=0)
    return largest


def studied(bench: Bench) -> Switch:
    """Play both readings, told and not."""
    told = bench.kept({"study": "line 12, told"}, lambda: {"ends": _told_ends()})["ends"]
    rounds, runs = bench.size(20_000, 8_000), bench.runs or bench.size(100, 40)
    marks = np.unique(np.linspace(rounds // 50, rounds, 50).astype(np.int64))
    about = {"study": "line 12", "rounds": rounds, "runs": runs}
    bandit = bench.kept(about, lambda: {"curves": _bandit_curves(rounds, runs, marks, bench.seed)})["curves"]
    return Switch(_results(told, HORIZONS, bench.seed), _results(bandit, marks, bench.seed))


HORIZONS = np.array([1_250, 2_500, 5_000, 10_000, 20_000])  # each a game of its own: the switch is at a quarter of it


def _told_ends() -> Floats:
    """Return the regrets (2, 1, horizons) at the end of games of several lengths, with both losses told."""
    found = np.empty((2, 1, HORIZONS.size))
    for n, rounds in enumerate(HORIZONS.tolist()):
        losses = switching_losses(rounds)
        for m, multiplied in enumerate((True, False)):
            found[m, 0, n] = internal(losses, probabilities(losses, 1, multiplied))[-1, 0]
    return found


def _bandit_curves(rounds: int, runs: int, marks: Ints, seed: int) -> Floats:
    """Return the regrets (2, runs, marks) with bandit feedback."""
    losses = switching_losses(rounds)
    curves = np.empty((2, runs, marks.size))
    for m, multiplied in enumerate((True, False)):
        firsts = probabilities(losses, runs, multiplied, np.random.default_rng([seed, 12]))
        curves[m] = internal(losses, firsts)[marks - 1].T
    return curves


def _results(curves: Floats, marks: Ints, seed: int) -> Results:
    """Return curves as results, to be drawn and compared like any."""
    names = {PRINTED: "eta_t = t^-1/2, each loss times its own", SUMMED: "eta_t = t^-1/2, all losses times the last"}
    world, rounds = "two arms, the best one switches at T/4", int(marks[-1])
    return Results(names, world, rounds, curves.shape[1], seed, marks, {"internal": curves}, np.empty((2, 0, 0)))
