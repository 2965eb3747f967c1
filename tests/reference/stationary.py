"""The stationary law of a Markov chain in 50-digit arithmetic, whose exponents have no bounds."""

from collections.abc import Sequence
from typing import Any

import mpmath

DIGITS = 50


def rates(log_weights: Sequence[Sequence[float]]) -> list[list[Any]]:
    """exp(log_weights) off the diagonal, 0 on it."""
    n = len(log_weights)
    with mpmath.workdps(DIGITS):
        return [
            [mpmath.exp(mpmath.mpf(log_weights[i][j])) if i != j else mpmath.mpf(0) for j in range(n)] for i in range(n)
        ]


def stationary(log_weights: Sequence[Sequence[float]]) -> list[Any]:
    """Censor the chain on fewer and fewer states, then bring the states back one by one."""
    n = len(log_weights)
    rate = rates(log_weights)
    with mpmath.workdps(DIGITS):
        for k in range(n - 1, 0, -1):
            leaving = mpmath.fsum(rate[k][:k])
            for i in range(k):
                for j in range(k):
                    if i != j:
                        rate[i][j] += rate[i][k] * rate[k][j] / leaving
                rate[i][k] /= leaving
        weight = [mpmath.mpf(1)]
        for k in range(1, n):
            weight.append(mpmath.fsum(weight[i] * rate[i][k] for i in range(k)))
        total = mpmath.fsum(weight)
        return [w / total for w in weight]


def imbalance(log_weights: Sequence[Sequence[float]], law: Sequence[Any]) -> Any:
    """Largest relative difference between what leaves a state and what enters it; 0 defines the law."""
    n = len(log_weights)
    rate = rates(log_weights)
    with mpmath.workdps(DIGITS):
        worst = mpmath.mpf(0)
        for j in range(n):
            out = law[j] * mpmath.fsum(rate[j])
            into = mpmath.fsum(law[i] * rate[i][j] for i in range(n))
            if out != into:
                worst = max(worst, abs(out - into) / out)
        return worst


def relative_error(law: Sequence[float], exact: Sequence[Any]) -> float:
    """Largest relative error among the entries of at least 1e-290."""
    with mpmath.workdps(DIGITS):
        return float(max(abs(mpmath.mpf(p) / q - 1) for p, q in zip(law, exact, strict=True) if q >= 1e-290))


def total_variation(law: Sequence[float], exact: Sequence[Any]) -> float:
    """Half the sum of the absolute errors."""
    with mpmath.workdps(DIGITS):
        return float(mpmath.fsum(abs(mpmath.mpf(p) - q) for p, q in zip(law, exact, strict=True)) / 2)
