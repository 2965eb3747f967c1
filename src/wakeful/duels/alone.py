"""`AutoPairs` where all arms may meet themselves: which duels are worth their cost, if preferences are any matrix.

A pair costs the mean *exposure* of its two arms: how far above 1/2 the partner that beats it most often is. So the best
choice is the least exposed arm against itself. That teaches nothing, and everything else is paid for.
"""

import math
from typing import NamedTuple

import numpy as np

from wakeful.duels.preference_matrix import EQUAL_EVIDENCE, chance
from wakeful.duels.win_counts import divergence, evidence, record
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exp, log

LIKELIER = 5.0  # nats by which preferences in which one arm beats all others are likelier than the rest, at first
LEAST_COST = 1e-12  # of a duel: no duel is taken to cost less, so that logarithms are finite


class Standing(NamedTuple):
    """Who beat whom how often, and what that says of every arm."""

    wins: Floats  # (K, K): row beat column
    pairs: Mask  # (K, K): who may meet
    awake: Ints  # arms that may be drawn
    exposures: Floats  # (K,): how far above 1/2 the partner is that beats the arm most often
    doubts: Floats  # (K,): the evidence, in nats, that the arm does not beat all others


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
def standing(wins: Floats, pairs: Mask, awake: Ints) -> Standing:
    """Return what the counts say of every arm, also of those that were drawn already and are no longer in `awake`."""
    exposures, doubts = np.zeros(len(pairs)), np.zeros(len(pairs))
    for i in range(len(pairs)):
        exposures[i], doubts[i] = exposure(wins, pairs, i, -1), evidence(wins, pairs, i)
    return Standing(wins, pairs, awake, exposures, doubts)


@kernel
def _exposure_to_others(now: Standing, k: int, j: int) -> float:
    """Return the exposure of k to arms other than j."""
    if chance(now.wins, j, k) - 0.5 < now.exposures[k]:
        return float(now.exposures[k])
    return exposure(now.wins, now.pairs, k, j)


@kernel
def _least_of_others(values: Floats, awake: Ints, j: int, k: int) -> float:
    """Return the smallest value of the awake arms other than j and k; infinity if there are none."""
    least = np.inf
    for i in awake:
        if i not in (j, k):
            least = min(least, values[i])
    return least


@kernel
def _exceeded(now: Standing, i: int, bar: float) -> float:
    """Return the evidence that partners of i beat it more often than `bar`."""
    total = 0.0
    for k in range(len(now.pairs)):
        if now.pairs[i, k]:
            total += surpassed(now.wins, k, i, bar)
    return total


@kernel
def first_alone(wins: Floats, pairs: Mask, awake: Ints, p: Floats) -> None:
    """Write into `p` what speaks against each awake arm being the one to draw first.

    That is an arm that beats all others; or, if there might be none, the least exposed.
    """
    now = standing(wins, pairs, awake)
    bar = 0.5 + _least_of_others(now.exposures, awake, -1, -1)
    handicap = max(LIKELIER - _least_of_others(now.doubts, awake, -1, -1), 0.0)
    for i in awake:
        p[i] = min(handicap + _exceeded(now, i, bar), now.doubts[i])


@kernel
def _worth(now: Standing, i: int, k: int) -> float:
    """Return how much a duel with k can teach, for its cost, about whether i beats all others.

    If k beats i with probability 1/2 + g, n duels tell it by about `2 n g^2` nats; g may be larger by `1 / 2 sqrt(n)`
    than it seems.
    """
    mean, n = record(now.wins, k, i)
    g = max(mean - 0.5, 0.0) + 0.5 / math.sqrt(n + 1.0)
    return float(g * g / max((now.exposures[i] + now.exposures[k]) / 2.0, LEAST_COST))


@kernel
def _taught(now: Standing, i: int, k: int) -> float:
    """Return the logarithm of what a duel with k is expected to teach about i, for its cost.

    The more evidence there is that k loses to i, the less is expected.
    """
    return log(_worth(now, i, k)) - surpassed(now.wins, i, k, 0.5)


@kernel
def _most_taught(now: Standing, i: int) -> float:
    """Return the logarithm of what the best duel of i is expected to teach about it, for its cost.

    Partners that seem to lose to i count as `_taught` says; that only lowers their worth, so most need no exponential.
    """
    most = 0.0
    for k in range(len(now.pairs)):
        if now.pairs[i, k] and k != i:
            worth = _worth(now, i, k)
            if worth > most:
                most = max(most, worth * exp(-surpassed(now.wins, i, k, 0.5)))
    return log(most)


@kernel
def _is_tested(now: Standing, j: int) -> bool:
    """Whether j, drawn first, is there for a test: it may beat all others, but another arm is likelier to.

    It is not if it is likelier that j was drawn as the least exposed arm, because no arm beats all others.
    """
    other = _least_of_others(now.doubts, now.awake, j, j)
    bar = 0.5 + min(_least_of_others(now.exposures, now.awake, j, j), now.exposures[j])
    none_beats_all = max(LIKELIER - other, 0.0) + _exceeded(now, j, bar)
    return bool(other + EQUAL_EVIDENCE < now.doubts[j] < none_beats_all)


@kernel
def _second(now: Standing, j: int, p: Floats) -> bool:
    """Write into `p` what speaks against each awake arm being the one to meet j; return whether j is tested."""
    tested = _is_tested(now, j)
    if tested:
        _tested_meets(now, j, p)
    else:
        _favourite_meets(now, j, p)
    return tested


@kernel
def _tested_meets(now: Standing, j: int, p: Floats) -> None:
    """Write into `p` by how much a duel of j with each awake arm teaches less, for its cost, than the best one does.

    A duel of j with itself teaches nothing.
    """
    most = _most_taught(now, j)
    for k in now.awake:
        p[k] = most - _taught(now, j, k) if k != j else np.inf


@kernel
def _favourite_meets(now: Standing, j: int, p: Floats) -> None:
    """Write into `p` what speaks against each awake arm being the one to meet j, which is not there for a test.

    That is j itself, unless some k beats it so often that another arm would be the better choice: by more than k is
    beaten itself, by others than j, and than each third arm is. Or k might be the arm that beats all others, and a duel
    with j tests that.
    """
    handicap = _handicap(now, j)
    for k in now.awake:
        if k != j:
            bar = 0.5 + min(_exposure_to_others(now, k, j), _least_of_others(now.exposures, now.awake, j, k))
            mean, n = record(now.wins, k, j)
            too_rarely, doubt = n * divergence(mean, bar) + handicap, now.doubts[k]
            if 0.0 < doubt < too_rarely:
                doubt += _most_taught(now, k) - _taught(now, k, j)
            p[k] = min(too_rarely, doubt) + _dear(now, k, j)
            p[j] += surpassed(now.wins, k, j, bar)


@kernel
def _handicap(now: Standing, j: int) -> float:
    """Return how many nats behind it is that j should not meet itself, although it seems to beat all others.

    That matters only if no arm beats all others, or another one than j does.
    """
    own, other = now.doubts[j], _least_of_others(now.doubts, now.awake, j, j)
    return float(min(max(LIKELIER - min(own, other), 0.0), max(other - own, 0.0)))


@kernel
def _dear(now: Standing, k: int, j: int) -> float:
    """Return how many nats a duel of k and j costs more than it can gain; zero if it does not.

    After n duels the probability is known up to about 1 / 2 sqrt(n), and no more can be gained by knowing it better.
    """
    n = now.wins[k, j] + now.wins[j, k]
    ratio = math.sqrt(n) * (_exposure_to_others(now, k, j) - now.exposures[j])
    return log(ratio) if ratio > 1.0 else 0.0


@kernel
def second_alone(wins: Floats, pairs: Mask, awake: Ints, j: int, p: Floats) -> None:
    """Write into `p`, which is zero, what speaks against each awake arm being the one to meet j."""
    _second(standing(wins, pairs, awake), j, p)


@kernel
def raise_to_counts(wins: Floats, pairs: Mask, awake: Ints, j: int, p: Floats) -> None:
    """Raise the evidence in `p` against arms meeting j by what duels cost, and to that of counts.

    If j is there for a test, counts alone decide whom it meets.
    """
    now, counted = standing(wins, pairs, awake), np.zeros(p.size)
    tested = _second(now, j, counted)
    for k in awake:
        if tested:
            p[k] = counted[k]
        elif k != j:
            p[k] = max(p[k] + _dear(now, k, j), counted[k])
