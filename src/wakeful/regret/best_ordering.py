"""The best ordering of the arms in hindsight, from what every arm would have gained on every awake set.

There are two exact methods, both without trying K! orderings: dynamic programming over subsets of arms, O(2^K K^2), up
to 20 arms; and over subsets of awake sets, up to 20 distinct ones. With more arms, the arms are first divided into
groups: if no arm of B ever gained more than an arm of A that was awake too, then A comes before B. Groups of more than
20 arms on more than 20 sets are searched; the result is then an interval.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import call_compiled, kernel

MOST_ARMS_EXACT = 20  # two to the power of this is how many subsets an exact answer is built from
MOST_SWEEPS = 100  # over all arms, of the search for a better place for each


class Found(NamedTuple):
    """An ordering, best arm first, its gain, and an upper bound on the gain of any ordering."""

    ordering: tuple[int, ...]
    value: float
    upper: float


def best_ordering(awake: Mask, gains: Floats) -> Found:
    """Return the ordering whose first awake arms gain most: `sum_S gains[S, first awake arm of S]`.

    Parameters:
        awake: (M, K), the distinct awake sets, none of them empty
        gains: (M, K), what each arm would have gained over the rounds with that set

    >>> best_ordering(np.array([[True, True], [True, False]]), np.array([[0.0, 0.75], [0.0, 0.0]]))
    Found(ordering=(1, 0), value=0.75, upper=0.75)
    """
    if awake.shape[1] <= MOST_ARMS_EXACT:
        best = _by_arms(awake, gains)
        value = _gain(awake, gains, best)
        return Found(tuple(best.tolist()), value, value)
    order: list[int] = []
    slack = 0.0
    for arms, sets in _independent_groups(awake, gains, np.arange(awake.shape[1]), np.arange(awake.shape[0])):
        here = np.ix_(sets, arms)
        best, short = _solved(np.ascontiguousarray(awake[here]), np.ascontiguousarray(gains[here]))
        order += arms[best].tolist()
        slack += short
    value = _gain(awake, gains, np.array(order, np.int64))
    return Found(tuple(order), value, value + slack)


def _independent_groups(awake: Mask, gains: Floats, arms: Ints, sets: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield groups of arms, better ones first, each with the sets on which it is the first group awake.

    The groups are the strongly connected components of "i gained more than j on some set with both awake";
    the sets that a component decides are gone for those behind it, which may cut them further.
    """
    if arms.size <= MOST_ARMS_EXACT:
        yield arms, sets
        return
    reach = _reach(awake[np.ix_(sets, arms)], gains[np.ix_(sets, arms)])
    first = (reach & reach.T).argmax(axis=1)
    for label in sorted(set(first.tolist()), key=lambda k: (-reach[k].sum(), k)):
        members = arms[first == label]
        decided = awake[np.ix_(sets, members)].any(axis=1)
        if members.size == arms.size:
            yield arms, sets[decided]
        else:
            yield from _independent_groups(awake, gains, members, sets[decided])
        sets = sets[~decided]


def _reach(awake: Mask, gains: Floats) -> Mask:
    """Return the reflexive, transitive closure of "i gained more than j on some set with both awake"."""
    n_arms = awake.shape[1]
    reach = np.eye(n_arms, dtype=np.bool_)
    for i in range(n_arms):
        both = awake[:, i]
        reach[i] |= (awake[both] & (gains[both] < gains[both, i : i + 1])).any(axis=0)
    for k in range(n_arms):
        reach |= reach[:, k : k + 1] & reach[k]
    return reach


def _solved(awake: Mask, gains: Floats) -> tuple[Ints, float]:
    """Return the best ordering of one group, and how much more a better one could gain at most."""
    if awake.shape[1] <= MOST_ARMS_EXACT:
        return _by_arms(awake, gains), 0.0
    sets, which = np.unique(awake, axis=0, return_inverse=True)
    sums = np.zeros(sets.shape)
    np.add.at(sums, which.ravel(), gains)
    if len(sets) <= MOST_ARMS_EXACT:
        return _by_sets(sets, sums), 0.0
    order = _search(sets, sums)
    most = float(np.where(sets, sums, -np.inf).max(axis=1).sum())
    return order, max(most - _gain(sets, sums, order), 0.0)


def _gain(awake: Mask, gains: Floats, order: Ints) -> float:
    """Return what an ordering gains over all sets."""
    chosen = np.empty(awake.shape[0], np.int64)
    call_compiled(_first, awake, order, chosen)
    return float(np.take_along_axis(gains, chosen[:, np.newaxis], axis=1).sum())


def _by_arms(awake: Mask, gains: Floats) -> Ints:
    """Build the best order of every set of arms from those of its subsets."""
    n_arms = awake.shape[1]
    behind, best = np.zeros((n_arms, 1 << max(n_arms - 1, 0))), np.full(1 << n_arms, -np.inf)
    last, order = np.zeros(1 << n_arms, np.int8), np.empty(n_arms, np.int64)
    call_compiled(_order_arms, awake, gains, behind, best, last, order)
    return order


def _by_sets(awake: Mask, gains: Floats) -> Ints:
    """Build the best arms for every collection of awake sets from those of its subcollections."""
    n_sets, n_arms = awake.shape
    codes = (awake.T.astype(np.int64) << np.arange(n_sets)).sum(axis=1)
    best, front = np.zeros(1 << n_sets), np.zeros(1 << n_sets, np.int64)
    call_compiled(_order_sets, codes, gains, best, front)
    order, rest = [], (1 << n_sets) - 1
    while rest:
        order.append(int(front[rest]))
        rest &= ~int(codes[order[-1]])
    return np.array(order + [k for k in range(n_arms) if k not in order], np.int64)


def _search(awake: Mask, gains: Floats) -> Ints:
    """Choose one arm after the other, each losing least on the remaining sets; then move arms while that helps."""
    order = _greedy(awake, gains)
    for _ in range(MOST_SWEEPS):
        if not call_compiled(_sweep, awake, gains, order):
            break
    return order


def _greedy(awake: Mask, gains: Floats) -> Ints:
    """Return the arms in the order in which each loses least, against the best arm, on the remaining sets."""
    most = np.where(awake, gains, -np.inf).max(axis=1, keepdims=True)
    waste = np.where(awake, most - gains, 0.0)
    left, order = np.ones(awake.shape[0], np.bool_), np.empty(awake.shape[1], np.int64)
    placed = np.zeros(awake.shape[1], np.bool_)
    for n in range(order.size):
        order[n] = np.where(placed, np.inf, waste[left].sum(axis=0)).argmin()
        placed[order[n]] = True
        left &= ~awake[:, order[n]]
    return order


def _first(awake: Mask, order: Ints, chosen: Ints) -> None:
    """Write the first arm of `order` awake in each set into `chosen`."""
    for s in range(awake.shape[0]):
        chosen[s] = order[_place(awake, s, order, -1)]


@kernel
def _place(awake: Mask, s: int, order: Ints, but: int) -> int:
    """Return the place in `order` of the first arm awake in set `s`, other than arm `but`; K if there is none."""
    for n in range(order.size):
        if awake[s, order[n]] and order[n] != but:
            return n
    return order.size


def _order_arms(awake: Mask, gains: Floats, behind: Floats, best: Floats, last: Any, order: Ints) -> None:
    """Fill `behind`, `best` and `last` for every set of arms; write the best ordering into `order`.

    What arm k gains right behind the arms U, `behind[k, U]`, is its gain on sets with k awake and U asleep.
    """
    n_arms = order.size
    for s in range(awake.shape[0]):
        code = 0
        for k in range(n_arms):
            code |= int(awake[s, k]) << k
        for k in range(n_arms):
            if awake[s, k]:
                behind[k, _without(code, k)] += gains[s, k]
    for k in range(n_arms):
        _sum_subsets(behind, k)
    best[0] = 0.0
    top = behind.shape[1] - 1
    for arms in range(1, best.size):
        for k in range(n_arms):
            if arms >> k & 1:
                gain = best[arms ^ 1 << k] + behind[k, top ^ _without(arms, k)]
                if gain > best[arms]:
                    best[arms], last[arms] = gain, k
    arms = best.size - 1
    for n in range(n_arms):
        order[n_arms - 1 - n] = last[arms]
        arms ^= 1 << int(last[arms])


@kernel
def _without(arms: int, k: int) -> int:
    """Return the bits of `arms` with bit `k` cut out and those above it one place lower."""
    low = (1 << k) - 1
    return arms & low | (arms >> 1) & ~low


@kernel
def _sum_subsets(values: Floats, k: int) -> None:
    """Add to every entry of row `k` those of its proper subsets, in place."""
    size = values.shape[1]
    bit = 1
    while bit < size:
        for base in range(0, size, 2 * bit):
            for code in range(base, base + bit):
                values[k, code + bit] += values[k, code]
        bit *= 2


def _order_sets(codes: Ints, gains: Floats, best: Floats, front: Ints) -> None:
    """Fill `best` and `front`, the gain and the first arm of the best ordering, for every collection of sets."""
    for rest in range(1, best.size):
        best[rest] = -np.inf
        for k in range(codes.size):
            decided = rest & codes[k]
            if decided:
                gain = best[rest ^ decided]
                s = 0
                while decided >> s:
                    if decided >> s & 1:
                        gain += gains[s, k]
                    s += 1
                if gain > best[rest]:
                    best[rest], front[rest] = gain, k


def _sweep(awake: Mask, gains: Floats, order: Ints) -> bool:
    """Move every arm to its best place in `order`, given the others; return whether any gained by it."""
    n_arms = order.size
    moved = False
    edge = np.empty(n_arms + 1)
    for k in range(n_arms):
        edge[:] = 0.0  # edge[n]: what arm k gains over the n-th arm, on the sets for which that arm is the first awake
        for s in range(awake.shape[0]):
            if awake[s, k]:
                n = _place(awake, s, order, k)
                if n < n_arms:
                    edge[n] += gains[s, k] - gains[s, order[n]]
        moved |= _move_arm(order, k, edge)
    return moved


@kernel
def _move_arm(order: Ints, k: int, edge: Floats) -> bool:
    """Move arm `k` in front of the place from which the sum of `edge` is largest; return whether that gained."""
    n_arms = order.size
    old = 0
    while order[old] != k:
        old += 1
    new, best, total, now = n_arms, 0.0, 0.0, 0.0
    for n in range(n_arms - 1, -1, -1):
        total += edge[n]
        if n == old:
            now = total
        if total > best:
            new, best = n, total
    if not best > now + 1e-12 * (abs(best) + abs(now)):
        return False
    if new > old:
        new -= 1
        for n in range(old, new):
            order[n] = order[n + 1]
    else:
        for n in range(old, new, -1):
            order[n] = order[n - 1]
    order[new] = k
    return True
