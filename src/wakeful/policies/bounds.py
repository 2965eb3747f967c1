"""Lower confidence bounds of the losses of arms, and what is played by them, for all readings of `Auto` at once.

Arrays hold all readings of an arm one after the other, then those of the next arm: a step that is carried out for all
readings is a loop over neighbours, which the compiler vectorises.
"""

import math

import numpy as np

from wakeful.numerics.arrays import Floats
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import LOWEST, exponentiate, take_logs

LEAST_BY_RIVAL, MOST_OF_LEAST = 5.0, 50.0  # c in the width of bounds: for each rival of an arm, and at most
STEEPNESS = 40.0  # nats less that an arm is played for each nat that its mean is beyond the lowest bound
MOST_STEPS_TO_BOUNDS, CLOSE_ENOUGH = 50, 1e-9  # of Newton's method; each squares the error
LEAST_BOUND = 1e-300  # a normal number, so that it has a logarithm


@kernel
def by_arm(readings: int, values: Floats) -> Floats:
    """Return what is given for all arms of a reading, then all of the next, for all readings of an arm, and so on."""
    size = values.size // readings
    turned = np.empty(values.size)
    for m in range(readings):
        for i in range(size):
            turned[i * readings + m] = values[m * size + i]
    return turned


@kernel
def sums(readings: int, values: Floats) -> Floats:
    """Return for each reading the sum of its values over all arms."""
    total = np.zeros(readings)
    for start in range(0, values.size, readings):
        for m in range(readings):
            total[m] += values[start + m]
    return total


@kernel
def odds_by_bounds(readings: int, spread: float, n: Floats, mean: Floats) -> Floats:
    """Return what readings play, up to a factor for each: mostly the arm with the lowest bound.

    The bound b of an arm of mean m, observed n times, is like that of KL-UCB (Garivier, Cappé 2011): `n kl(m, b) = w`,
    but with N observations of all awake arms `w = log(c + N / (a n))`: the smaller the share of an arm, the wider its
    bound. c is `5 (|S| - 1)`, 50 at most: the more rivals an arm has, the likelier it is that one was lucky. There are
    at least two arms.

    Parameters:
        spread: a
    """
    totals, least = sums(readings, n), min(LEAST_BY_RIVAL * (n.size // readings - 1), MOST_OF_LEAST)
    width, free, won = np.empty(n.size), np.empty(n.size), np.empty(n.size)
    for start in range(0, n.size, readings):
        for m in range(readings):
            i = start + m
            width[i], free[i], won[i] = least + totals[m] / (spread * n[i]), mean[i], 1.0 - mean[i]
    take_logs(width)
    take_logs(free)
    take_logs(won)
    for start in range(0, n.size, readings):
        for m in range(readings):
            i = start + m
            free[i] = n[i] * (mean[i] * free[i] + (1.0 - mean[i]) * won[i]) - width[i]
    losing, winning = _lowest_bounds(readings, n, mean, width, free)
    odds, lowest = np.empty(n.size), np.full(readings, np.inf)
    for start in range(0, n.size, readings):
        for m in range(readings):
            i = start + m
            odds[i] = free[i] - n[i] * (mean[i] * losing[m] + (1.0 - mean[i]) * winning[m])
            lowest[m] = min(lowest[m], odds[i])  # that of the lowest bound: zero, but for rounding
    for start in range(0, n.size, readings):
        for m in range(readings):
            odds[start + m] = max(-STEEPNESS * (odds[start + m] - lowest[m]), LOWEST)
    exponentiate(odds)
    return odds


@kernel
def _lowest_bounds(readings: int, n: Floats, mean: Floats, width: Floats, free: Floats) -> tuple[Floats, Floats]:
    """Return log b and log(1 - b) of the lowest bound b of each reading.

    The bound of an arm is where `free - n (m log b + (1 - m) log(1 - b))`, which is `n kl(m, b) - w`, is zero. That is
    convex in log b, so from the second on Newton's steps come from below, and the least of the steps of all arms goes
    beyond no bound. They start from bounds of Wilson (1927), which have chi-square in place of kl.
    """
    bounds, tops = np.ones(readings), np.ones(readings)
    for start in range(0, n.size, readings):
        for m in range(readings):
            i = start + m
            share = 2.0 * width[i] / n[i]
            root = math.sqrt(share * mean[i] * (1.0 - mean[i]) + 0.25 * share * share)
            bounds[m] = min(bounds[m], mean[i] * mean[i] / (mean[i] + 0.5 * share + root))
            tops[m] = min(tops[m], mean[i] * (1.0 - CLOSE_ENOUGH))
    steps, losing, winning = np.empty(readings), np.empty(readings), np.empty(readings)
    for _ in range(MOST_STEPS_TO_BOUNDS):
        _log_chances(bounds, tops, losing, winning)
        steps[:] = -LOWEST
        for start in range(0, n.size, readings):
            for m in range(readings):
                i = start + m
                beyond = free[i] - n[i] * (mean[i] * losing[m] + (1.0 - mean[i]) * winning[m])
                steps[m] = min(steps[m], beyond * (1.0 - bounds[m]) / (n[i] * (mean[i] - bounds[m])))
        longest = 0.0
        for m in range(readings):
            longest = max(longest, abs(steps[m]))
            steps[m] = max(steps[m], LOWEST)
        exponentiate(steps)
        for m in range(readings):
            bounds[m] *= steps[m]
        if longest < CLOSE_ENOUGH:
            break
    _log_chances(bounds, tops, losing, winning)
    return losing, winning


@kernel
def _log_chances(bounds: Floats, tops: Floats, losing: Floats, winning: Floats) -> None:
    """Write the logarithms of the bounds, kept between the least one and their tops, and of what is left to 1."""
    for m in range(bounds.size):
        bounds[m] = min(max(bounds[m], LEAST_BOUND), tops[m])
        losing[m], winning[m] = bounds[m], 1.0 - bounds[m]
    take_logs(losing)
    take_logs(winning)
