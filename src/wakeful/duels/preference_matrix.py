"""The hypothesis of `AutoPairs` that preferences are any matrix: best replies from win counts alone.

Nothing is learned of one pair from another.
"""

import numpy as np

from wakeful.duels.win_counts import divergence
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel

HALF_WIN = 0.5  # added to the wins of both sides of a pair
EQUAL_EVIDENCE = 1e-9  # nats: evidence that differs by less is equal
NEARLY_ONE = 1.0 - 1e-12  # no arm is taken to win more often, however many duels it has won
SURE = 50.0  # nats: the most evidence that a pair can have for being stable


@kernel
def chance(wins: Floats, i: int, j: int) -> float:
    """Return the estimated probability that i beats j; 1/2 against itself."""
    if i == j:
        return 0.5
    return float(min((wins[i, j] + HALF_WIN) / (wins[i, j] + wins[j, i] + 2.0 * HALF_WIN), NEARLY_ONE))


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
        return float(m * divergence(1.0 - q, 0.5))
    middle = (n * p + m * q) / (n + m)
    return float(n * divergence(p, middle) + m * divergence(1.0 - q, 1.0 - middle))


@kernel
def lead_evidence(wins: Floats, pairs: Mask, awake: Ints, p: Floats) -> None:
    """Write into `p` what speaks against each awake arm being the one to draw first.

    That is one of two that are best replies to each other: one such pair is enough, so the surer it is of one, the more
    speaks against all other arms.
    """
    replies = best_replies(wins, pairs, awake)
    for i in awake:
        j = replies[i]
        p[i] = no_better(wins, i, replies[j], j)
    first, most = _most_settled(wins, pairs, awake, replies, p)
    for k in awake:
        if k not in (first, replies[first]):
            p[k] += most


@kernel
def _most_settled(wins: Floats, pairs: Mask, awake: Ints, replies: Ints, p: Floats) -> tuple[int, float]:
    """Return the arm whose pair with its reply is most surely stable, of those with no evidence in `p`; and how surely.

    What speaks for a pair is what speaks against the likeliest better reply to one of the two.
    """
    first, most = awake[0], -1.0
    for i in awake:
        if p[i] == 0.0:
            j, least = replies[i], SURE
            for k in awake:
                if pairs[i, k] and k != j:
                    least = min(least, no_better(wins, k, j, i))
                if pairs[j, k] and k != i:
                    least = min(least, no_better(wins, k, i, j))
            if least > most + EQUAL_EVIDENCE:
                first, most = i, least
    return first, max(most, 0.0)


@kernel
def reply_evidence(wins: Floats, awake: Ints, j: int, p: Floats) -> None:
    """Write into `p` what speaks against each awake arm being the best reply to j."""
    best = awake[0]
    for k in awake:
        if chance(wins, k, j) > chance(wins, best, j):
            best = k
    for k in awake:
        p[k] = no_better(wins, k, best, j)
