"""Best replies from win counts alone: any preference matrix, nothing is learned of one pair from another."""

import numpy as np

from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import log

HALF_WIN = 0.5  # added to the wins of both sides of a pair


@kernel
def chance(wins: Floats, i: int, j: int) -> float:
    """Return the estimated probability that i beats j; 1/2 against itself."""
    if i == j:
        return 0.5
    return float((wins[i, j] + HALF_WIN) / (wins[i, j] + wins[j, i] + 2.0 * HALF_WIN))


@kernel
def divergence(p: float, q: float) -> float:
    """Return KL(p, q) of two coins, q being neither 0 nor 1."""
    total = p * log(p / q) if p > 0.0 else 0.0
    total += (1.0 - p) * log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return max(total, 0.0)


@kernel
def best_replies(wins: Floats, pairs: Mask, awake: Ints) -> Ints:
    """Return for each awake arm the partner that beats it most often, of equals the first; -1 for the others."""
    replies = np.full(len(pairs), -1)
    for j in awake:
        most = -1.0
        for i in range(len(pairs)):
            if pairs[j, i] and chance(wins, i, j) > most:
                most, replies[j] = chance(wins, i, j), i
    return replies


@kernel
def no_better(wins: Floats, i: int, best: int, j: int) -> float:
    """Return the evidence that i beats j less often than `best` does: a ratio of likelihoods, in nats."""
    if i == best:
        return 0.0
    p, q = chance(wins, i, j), chance(wins, best, j)
    if p >= q:
        return 0.0
    n = wins[i, j] + wins[j, i] + 2.0 * HALF_WIN
    m = wins[best, j] + wins[j, best] + 2.0 * HALF_WIN
    if best == j:
        return float(n * divergence(p, 0.5))
    if i == j:
        return float(m * divergence(q, 0.5))
    middle = (n * p + m * q) / (n + m)
    return float(n * divergence(p, middle) + m * divergence(q, middle))


@kernel
def beaten(wins: Floats, pairs: Mask, i: int) -> float:
    """Return the evidence that i does not win half of its duels against every partner."""
    total = 0.0
    for k in range(len(pairs)):
        if pairs[i, k] and wins[k, i] > wins[i, k]:
            n = wins[k, i] + wins[i, k]
            total += n * divergence(wins[k, i] / n, 0.5)
    return total


@kernel
def lead_evidence(wins: Floats, pairs: Mask, awake: Ints, replies: Ints, p: Floats) -> None:
    """Write into `p` what speaks against each awake arm being one of a stable pair."""
    for i in awake:
        j = replies[i]
        if pairs[i, i] and pairs[j, j]:  # then only an arm that nobody beats is one of a stable pair
            p[i] = beaten(wins, pairs, i)
        else:
            p[i] = no_better(wins, i, replies[j], j)


@kernel
def reply_evidence(wins: Floats, awake: Ints, j: int, p: Floats) -> None:
    """Write into `p` what speaks against each awake arm being a best reply to j."""
    best = awake[0]
    for k in awake:
        if chance(wins, k, j) > chance(wins, best, j):
            best = k
    for k in awake:
        p[k] = no_better(wins, k, best, j)
