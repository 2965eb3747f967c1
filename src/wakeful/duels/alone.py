"""`AutoPairs` where all arms may meet themselves: which duels are worth their cost, if preferences are any matrix.

A pair costs the mean *exposure* of its two arms: how far above 1/2 the partner that beats it most often is. So the best
choice is the least exposed arm against itself. That teaches nothing, and everything else is paid for.
"""

import math

import numpy as np

from wakeful.duels.preference_matrix import chance
from wakeful.duels.win_counts import divergence, evidence, record
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import log

LIKELIER = 5.0  # nats by which preferences in which one arm beats all others are likelier than the rest, at first


@kernel
def meet_themselves(pairs: Mask, awake: Ints, chosen: Ints) -> bool:
    """Whether every awake arm may meet itself, and the one chosen first, if any, too."""
    for k in awake:
        if not pairs[k, k]:
            return False
    return chosen.size == 0 or bool(pairs[chosen[0], chosen[0]])


@kernel
def exposure(wins: Floats, pairs: Mask, i: int, without: int) -> float:
    """Return how far above 1/2 a partner of i, other than `without`, beats it; zero if none does."""
    most = 0.0
    for k in range(len(pairs)):
        if pairs[i, k] and k != without:
            most = max(most, chance(wins, k, i) - 0.5)
    return most


@kernel
def surpassed(wins: Floats, k: int, i: int, bar: float) -> float:
    """Return the evidence that k beats i more often than `bar`."""
    mean, n = record(wins, k, i)
    return float(n * divergence(1.0 - mean, 1.0 - bar))


@kernel
def _least_evidence(wins: Floats, pairs: Mask, awake: Ints, without: int) -> float:
    """Return the evidence that none of the awake arms, `without` one, beats all others: the least against one."""
    least = np.inf
    for i in awake:
        if i != without:
            least = min(least, evidence(wins, pairs, i))
    return least


@kernel
def first_alone(wins: Floats, pairs: Mask, awake: Ints, p: Floats) -> None:
    """Write into `p` what speaks against each awake arm being the one to draw first.

    That is an arm that beats all others; or, if there might be none, the least exposed.
    """
    least = np.inf
    for i in awake:
        least = min(least, exposure(wins, pairs, i, -1))
    handicap = max(LIKELIER - _least_evidence(wins, pairs, awake, -1), 0.0)
    for i in awake:
        total = handicap
        for k in range(len(pairs)):
            if pairs[i, k]:
                total += surpassed(wins, k, i, 0.5 + least)
        p[i] = min(total, evidence(wins, pairs, i))


@kernel
def second_alone(wins: Floats, pairs: Mask, awake: Ints, j: int, p: Floats) -> None:
    """Write into `p` what speaks against each awake arm being the one to meet j.

    That is j itself, unless some k beats it so often that another arm would be the better choice: by more than k is
    beaten itself, by others than j, and than each third arm is. If j surely beats all others, this matters only if no
    arm does. And k is worth a duel if k might be the arm that beats all others.
    """
    own, other = evidence(wins, pairs, j), _least_evidence(wins, pairs, awake, j)
    handicap = min(max(LIKELIER - min(own, other), 0.0), max(other - own, 0.0))
    least, second, where = np.inf, np.inf, -1
    for k in awake:
        if k != j:
            value = exposure(wins, pairs, k, -1)
            if value < least:
                least, second, where = value, least, k
            else:
                second = min(second, value)
    for k in awake:
        if k != j:
            bar = 0.5 + min(exposure(wins, pairs, k, j), second if k == where else least)
            mean, n = record(wins, k, j)
            p[k] = min(n * divergence(mean, bar) + handicap, evidence(wins, pairs, k)) + _dear(wins, pairs, k, j)
            p[j] += surpassed(wins, k, j, bar)


@kernel
def _dear(wins: Floats, pairs: Mask, k: int, j: int) -> float:
    """Return how many nats a duel of k and j costs more than it can gain; zero if it does not.

    After n duels the probability is known up to about 1 / 2 sqrt(n), and no more can be gained by knowing it better.
    """
    n = wins[k, j] + wins[j, k]
    ratio = math.sqrt(n) * (exposure(wins, pairs, k, j) - exposure(wins, pairs, j, -1))
    return log(ratio) if ratio > 1.0 else 0.0


@kernel
def raise_to_counts(wins: Floats, pairs: Mask, awake: Ints, j: int, p: Floats) -> None:
    """Raise the evidence in `p` against arms meeting j by what duels cost, and to that of counts."""
    counted = np.zeros(p.size)
    second_alone(wins, pairs, awake, j, counted)
    for k in awake:
        if k != j:
            p[k] = max(p[k] + _dear(wins, pairs, k, j), counted[k])
