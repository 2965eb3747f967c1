"""Both integrals, literally: exact fractions, fine quadrature over scipy's incomplete beta, a sum over sets."""

import itertools
from fractions import Fraction
from math import comb

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy import special

Polynomial = list[Fraction]


def product(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the coefficients of p(x) q(x), lowest degree first."""
    coefficients = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            coefficients[i + j] += a * b
    return coefficients


def bernstein(k: int, n: int) -> Polynomial:
    """Return x^k (1 - x)^(n - k)."""
    return [Fraction(0)] * k + [Fraction((-1) ** i * comb(n - k, i)) for i in range(n - k + 1)]


def beta_density(ones: int, zeros: int) -> Polynomial:
    """Return (n + 1) C(n, ones) x^ones (1 - x)^zeros, n = ones + zeros."""
    n = ones + zeros
    return [(n + 1) * comb(n, ones) * c for c in bernstein(ones, n)]


def beta_survival(ones: int, zeros: int) -> Polynomial:
    """Return P(Beta(1 + ones, 1 + zeros) > x) = P(Binomial(ones + zeros + 1, x) <= ones)."""
    n = ones + zeros + 1
    terms = [[comb(n, k) * c for c in bernstein(k, n)] for k in range(ones + 1)]
    return [sum(column, Fraction(0)) for column in zip(*terms, strict=True)]


def exact_beta_minimum(ones: list[int], zeros: list[int]) -> list[Fraction]:
    """Return P_i = integral f_i prod_{j != i} (1 - F_j) in exact arithmetic: whole counts make it a polynomial."""
    law = []
    for i in range(len(ones)):
        integrand = beta_density(ones[i], zeros[i])
        for j in range(len(ones)):
            if j != i:
                integrand = product(integrand, beta_survival(ones[j], zeros[j]))
        law.append(sum((c / (d + 1) for d, c in enumerate(integrand)), Fraction(0)))
    return law


def beta_minimum(ones: list[float], zeros: list[float]) -> NDArray[np.float64]:
    """Return the same by 16 Gauss points between all neighbouring quantiles, two a decade, of all arms."""
    tail = np.concatenate([np.logspace(-15, -1, 29), np.linspace(0.2, 0.8, 7)])
    edges = [np.array([0.0, 1.0])]
    for a, b in set(zip(ones, zeros, strict=True)):
        edges += [special.betaincinv(a + 1, b + 1, tail), special.betainccinv(a + 1, b + 1, tail)]
    edge = np.unique(np.concatenate(edges))
    node, weight = np.polynomial.legendre.leggauss(16)
    width = np.diff(edge)[:, None]
    x = (edge[:-1, None] + width * (node + 1.0) / 2.0).ravel()
    dx = (width * weight / 2.0).ravel()
    law = np.empty(len(ones))
    survival = [special.betaincc(a + 1, b + 1, x) for a, b in zip(ones, zeros, strict=True)]
    for i, (a, b) in enumerate(zip(ones, zeros, strict=True)):
        mode = (a + 1e-300) / (a + b + 2e-300)  # f(x) / f(mode): x^a itself would cancel badly at a = 1e9
        left = special.xlog1py(a, (x - mode) / mode)
        right = special.xlog1py(b, (mode - x) / max(1.0 - mode, 1e-300))
        mass = np.exp(left + right) * dx
        others = np.prod([s for j, s in enumerate(survival) if j != i], axis=0)
        law[i] = np.sum(mass * others) / np.sum(mass)
    return law


def log_factorial_excess(count: float) -> float:
    """Return log(count!) - count log(count) + count, in 50 digits."""
    with mpmath.workdps(50):
        n = mpmath.mpf(count)
        return float(mpmath.loggamma(n + 1) - (n * mpmath.log(n) if n > 0 else 0) + n)


def expected_share(log_weights: list[float], rates: list[float], arm: int) -> float:
    """Return sum over S containing arm of P(S) w_arm / sum_{j in S} w_j, 2^(K-1) sets, in 50 digits."""
    others = [j for j in range(len(rates)) if j != arm]
    with mpmath.workdps(50):
        weight = [mpmath.exp(mpmath.mpf(v)) for v in log_weights]
        rate = [mpmath.mpf(a) for a in rates]
        total = mpmath.mpf(0)
        for awake in itertools.product([False, True], repeat=len(others)):
            chance, mass = rate[arm], weight[arm]
            for j, is_awake in zip(others, awake, strict=True):
                chance *= rate[j] if is_awake else 1 - rate[j]
                mass += weight[j] if is_awake else 0
            total += chance * weight[arm] / mass
        return float(total)
