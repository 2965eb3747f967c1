"""Strengths by the definition: the logarithm of the posterior, one duel after the other, maximised by scipy."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

Result = tuple[int, int, str, bool]  # first, second, "first" or "second" or "tie", whether the first is on the left


def log_posterior(values: NDArray[np.float64], results: Sequence[Result], side: bool, ties: bool) -> float:
    """Return the sum over duels of log P(result), and of the logarithms of normal densities without constants."""
    *strengths, effect, log_v = map(float, values)
    total: float = -sum(s * s for s in strengths) / (2 * 2.0**2) - effect**2 / (2 * 2.0**2) - log_v**2 / (2 * 5.0**2)
    for first, second, outcome, on_left in results:
        gap = strengths[first] - strengths[second] + (effect if side and on_left else 0.0)
        weights = {"first": math.exp(gap / 2), "second": math.exp(-gap / 2), "tie": math.exp(log_v) if ties else 0.0}
        total += math.log(weights[outcome] / sum(weights.values()))
    return total


def most_likely(n_arms: int, results: Sequence[Result], side: bool, ties: bool) -> NDArray[np.float64]:
    """Return the K strengths, the side effect and log v with the largest posterior."""
    found = optimize.minimize(
        lambda values: -log_posterior(values, results, side, ties), np.zeros(n_arms + 2), method="BFGS", tol=1e-9
    )
    return np.asarray(found.x)


def curvature(values: NDArray[np.float64], results: Sequence[Result], side: bool, ties: bool) -> NDArray[np.float64]:
    """Return minus the second derivatives, by finite differences."""
    size, step = values.size, 1e-3
    unit = np.eye(size) * step
    found = np.zeros((size, size))
    for a in range(size):
        for b in range(size):
            corners = [values + unit[a] + unit[b], values + unit[a] - unit[b], values - unit[a] + unit[b]]
            corners.append(values - unit[a] - unit[b])
            f = [log_posterior(corner, results, side, ties) for corner in corners]
            found[a, b] = -(f[0] - f[1] - f[2] + f[3]) / (4 * step * step)
    return found
