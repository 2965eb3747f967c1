"""The lower bound of docs/stable-pair.md on the regret of every policy on general pairs, with its constants.

On the circle 1-2-3-4-5-1 two preference matrices, A and C, are hard to tell apart for a policy that plays well. Let a
policy have expected regret at most R under both. What it sees under A differs from what it would see under C by a
divergence of at most `q R`, where q is the largest divergence that a regret of 1 buys. By Bretagnolle and Huber the
chances of playing the pair 34 in at most half of the rounds under A, and in more under C, sum to at least `exp(-q R) /
2`. Either mistake costs `T D / 4`. So `2 R >= T D / 8 exp(-q R)`.
"""

import math

import numpy as np

from wakeful import regret
from wakeful.numerics.arrays import Floats

CIRCLE = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0))
SAFE = (2, 3)  # the pair that costs nothing under A, and D/2 under C
ORDERS = ((2, 0, 3, 1, 4), (0, 4, 2, 3, 1))  # of the arms under A and under C, best first


def models(small: float, large: float) -> tuple[Floats, Floats]:
    """Return the preferences A and C for D = `small` and d = `large`; arms count from 0."""
    one = {(2, 0): 0.5 + small / 2, (2, 3): 0.5 + small, (0, 3): 0.5 + small, (2, 1): 0.8 + large}
    one |= {(2, 4): 0.8 + large, (0, 1): 0.8 - small, (0, 4): 0.8}
    two = {(0, 4): 0.8, (0, 2): 0.8, (0, 3): 0.8, (0, 1): 0.8, (4, 2): 0.5 + small, (2, 3): 0.5 + small}
    two |= {(4, 3): 0.5 + 2 * small, (4, 1): 0.8, (2, 1): 0.8, (3, 1): 0.65}
    return _matrix(one), _matrix(two)


def _matrix(chances: dict[tuple[int, int], float]) -> Floats:
    """Return the matrix with these entries, their complements, and 1/2 elsewhere."""
    found = np.full((5, 5), 0.5)
    for (i, j), chance in chances.items():
        found[i, j], found[j, i] = chance, 1.0 - chance
    return found


def ordered(preferences: Floats, order: tuple[int, ...]) -> bool:
    """Whether each arm wins at least as often against every arm as the next one of the order."""
    return bool((np.diff(preferences[list(order)], axis=0) <= 1e-12).all())


def least_regret(rounds: float) -> float:
    """Return a regret that every policy has under A or under C, for `D = T^(-3/7)` and `d = T^(-2/7)`.

    >>> least_regret(1e16) / least_regret(1e14) > 100**0.56  # faster than the square root
    True
    """
    small, large = rounds ** (-3 / 7), rounds ** (-2 / 7)
    first, second = models(small, large)
    pairs = np.zeros((5, 5), np.bool_)
    for i, j in CIRCLE:
        pairs[i, j] = pairs[j, i] = True
    costs = [regret.dueling(CIRCLE, pairs, model).per_round for model in (first, second)]
    safe = CIRCLE.index(SAFE)
    told = np.array([_divergence(first[pair], second[pair]) for pair in CIRCLE])
    wrong = min(float(np.delete(costs[0], safe).min()), float(costs[1][safe]))
    others = [n for n in range(len(CIRCLE)) if told[n] > 0.0]
    price = max(float(told[n] / costs[0][n]) for n in others)
    return _solved(rounds * wrong / 8.0, price)


def _solved(scale: float, price: float) -> float:
    """Return the R with `R = scale exp(-price R)`, by bisection."""
    low, high = 0.0, scale
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if middle < scale * math.exp(-price * middle) else (low, middle)
    return low


def _divergence(one: float, two: float) -> float:
    """Return the Kullback-Leibler divergence of a coin with chance `one` from one with chance `two`."""
    return 0.0 if one == two else one * math.log(one / two) + (1.0 - one) * math.log((1.0 - one) / (1.0 - two))
