"""Bradley-Terry strengths, learned one duel at a time: i beats j with probability `sigmoid(s_i - s_j)`.

What is known of the strengths is a normal distribution. After a duel it is the normal distribution that has the mode
and the curvature of the exact posterior (Laplace's approximation). A duel tells something of one difference only, so
that the covariance changes by a matrix of rank one: O(K^2). Only its lower triangle is kept.
"""

import math
from typing import NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exact_log, exp, log

PRIOR_DEVIATION = 4.0  # standard deviation of a strength before any duel
NARROW = 1e-12  # no variance of a difference is taken to be smaller
WIDEST_GAP = 30.0  # beyond it, the weaker of two arms wins once in 1e13 duels
STEEP = 1e-3  # gaps below it: the evidence is quadratic in the gap
NEWTON_STEPS, LONGEST_STEP, SETTLED = 50, 2.0, 1e-10  # of Newton's method: how many, how long, when to stop
AT_ONCE = 4  # changes of a covariance that are made in one pass, as `make_changes` is written
LEAST_CHANCE = 1e-12  # that a prediction gives to anything
LOG_OF_TWO = exact_log(2.0)


@kernel
def sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)), without overflow."""
    small = exp(-abs(x))
    return 1.0 / (1.0 + small) if x >= 0.0 else small / (1.0 + small)


@kernel
def entry(covariance: Floats, i: int, j: int) -> float:
    """Return an entry of a symmetric matrix that is kept as its lower triangle."""
    return float(covariance[i, j] if i >= j else covariance[j, i])


@kernel
def difference_variance(covariance: Floats, i: int, j: int) -> float:
    """Return the variance of s_i - s_j."""
    return float(max(covariance[i, i] + covariance[j, j] - 2.0 * entry(covariance, i, j), NARROW))


@kernel
def predicted(gap: float, variance: float) -> float:
    """Return the probability that the first of two arms wins, for a difference of strengths with this distribution."""
    chance = sigmoid(gap / math.sqrt(1.0 + math.pi / 8.0 * variance))  # MacKay's approximation
    return min(max(chance, LEAST_CHANCE), 1.0 - LEAST_CHANCE)


@kernel
def log_score(chance: float, share: float) -> float:
    """Return how well a win was predicted of which the first arm had `share`: the logarithm of its probability."""
    return share * log(chance) + (1.0 - share) * log(1.0 - chance)


@kernel
def posterior(gap: float, variance: float, share: float, weight: float) -> tuple[float, float]:
    """Return how far the mode of a difference moves, in variances, and by how much its precision grows.

    Before: normal with mean `gap`. Seen: `weight` duels, `share` of them won by the first arm.
    """
    mode = gap
    for _ in range(NEWTON_STEPS):
        chance = sigmoid(mode)
        slope = (gap - mode) / variance + weight * (share - chance)
        step = slope / (1.0 / variance + weight * chance * (1.0 - chance))
        mode += min(max(step, -LONGEST_STEP), LONGEST_STEP)
        if abs(step) < SETTLED:
            break
    chance = sigmoid(mode)
    return (mode - gap) / variance, weight * chance * (1.0 - chance)


class Later(NamedTuple):
    """Changes of a covariance that are put off: several at once need one pass through the matrix instead of several.

    Each lowers entry (k, n), where k >= n, by `steps[k] directions[n]`. They are made one after the other, so that
    nothing is rounded otherwise than if none had been put off.
    """

    directions: Floats  # (AT_ONCE, K)
    steps: Floats  # (AT_ONCE, K)
    rows: Floats  # (2, K): the covariances of the two arms of a duel with all others, as they are by now
    waiting: Ints  # how many changes there are


@kernel
def nothing_later(n_arms: int) -> Later:
    """Return room for changes."""
    return Later(np.empty((AT_ONCE, n_arms)), np.empty((AT_ONCE, n_arms)), np.empty((2, n_arms)), np.zeros(1, np.int64))


@kernel
def _covariances(covariance: Floats, later: Later, i: int, row: Floats) -> None:
    """Write the covariances of arm i with all arms into `row`, as they are with the changes made."""
    n_arms = row.size
    for k in range(n_arms):
        row[k] = entry(covariance, i, k)
    for m in range(later.waiting[0]):
        x, steps = later.directions[m], later.steps[m]
        for k in range(i + 1):
            row[k] -= steps[i] * x[k]
        for k in range(i + 1, n_arms):
            row[k] -= steps[k] * x[i]


@kernel
def find_variance(covariance: Floats, later: Later, i: int, j: int) -> float:
    """Return the variance of s_i - s_j with the changes made, and keep the covariances of i and j for `observe`."""
    one, other = later.rows
    _covariances(covariance, later, i, one)
    _covariances(covariance, later, j, other)
    return float(max(one[i] + other[j] - 2.0 * one[j], NARROW))


@kernel
def observe(
    mean: Floats, covariance: Floats, i: int, j: int, variance: float, share: float, weight: float, later: Later
) -> None:
    """Learn from `weight` duels, `share` of them won by i over j, after `find_variance` of the two."""
    m, (one, other) = later.waiting[0], later.rows
    x, steps = later.directions[m], later.steps[m]
    shift, precision = posterior(mean[i] - mean[j], variance, share, weight)
    gain = precision / (1.0 + precision * variance)
    for k in range(mean.size):
        x[k] = one[k] - other[k]
        mean[k] += shift * x[k]
        steps[k] = gain * x[k]
    later.waiting[0] += 1
    if later.waiting[0] == AT_ONCE:
        make_changes(covariance, later)


@kernel
def make_changes(covariance: Floats, later: Later) -> None:
    """Make the changes that were put off: a full load in one pass, others one by one."""
    x, steps, waiting = later.directions, later.steps, later.waiting[0]
    for k in range(len(covariance)):
        row = covariance[k]
        if waiting == AT_ONCE:
            a, b, c, d = steps[0, k], steps[1, k], steps[2, k], steps[3, k]
            for n in range(k + 1):
                row[n] = (((row[n] - a * x[0, n]) - b * x[1, n]) - c * x[2, n]) - d * x[3, n]
        else:
            for m in range(waiting):
                if steps[m, k] != 0.0:
                    for n in range(k + 1):
                        row[n] -= steps[m, k] * x[m, n]
    later.waiting[0] = 0


@kernel
def observe_apart(mean: Floats, variances: Floats, i: int, j: int, share: float, weight: float) -> None:
    """Do what `observe` does for strengths that are taken to be independent: O(1)."""
    one, other = variances[i], variances[j]
    shift, precision = posterior(mean[i] - mean[j], one + other, share, weight)
    gain = precision / (1.0 + precision * (one + other))
    mean[i] += shift * one
    mean[j] -= shift * other
    variances[i] = max(one - gain * one * one, NARROW)
    variances[j] = max(other - gain * other * other, NARROW)


@kernel
def weaker(gap: float, variance: float) -> float:
    """Return the evidence that an arm is weaker than one whose strength is larger by `gap`, in nats.

    It is that of the duels between the two which would tell as much: n of them with mean p = sigmoid(gap), where
    `1 / (n p (1 - p)) = variance`, have `n KL(p, 1/2)`. For small gaps that is `gap^2 / (2 variance)`.
    """
    if gap < STEEP:
        return 0.5 * max(gap, 0.0) ** 2 / variance
    low = sigmoid(-min(gap, WIDEST_GAP))
    high = 1.0 - low
    return float((LOG_OF_TWO + high * log(high) + low * log(low)) / (high * low * variance))


@kernel
def cautious(gap: float, variance: float) -> float:
    """Return the mean of `weaker` and `gap^2 / (2 variance)`.

    After n duels that all went one way, `weaker` tends to twice the evidence, since the curvature was taken where the
    mode was after each of them, and not where it is now; the other term is too small then.
    """
    return 0.5 * (weaker(gap, variance) + 0.5 * gap * gap / variance)


@kernel
def told(covariance: Floats, mean: Floats, i: int, rival: int, left: int, right: int) -> float:
    """Return by how much a duel of `left` and `right` would lower the variance of s_i - s_rival."""
    chance = sigmoid(mean[left] - mean[right])
    precision = chance * (1.0 - chance)
    shared = entry(covariance, i, left) - entry(covariance, rival, left)
    shared -= entry(covariance, i, right) - entry(covariance, rival, right)
    return shared * shared * precision / (1.0 + precision * difference_variance(covariance, left, right))
