"""Masks of allowed pairs, preference matrices, and the rule that decides the winner.

A mask says which pairs may be played: it is symmetric, and its diagonal says which arms may meet themselves. A
preference matrix P holds the probability `P[i, j]` that i beats j, so `P[i, j] + P[j, i] = 1`.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from wakeful.inputs import must_be, numbers, truths, whole
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import kernel

SUM_ERROR = 1e-9  # how far from one P(i, j) + P(j, i) may be


def all_pairs(n_arms: int) -> Mask:
    """Return the mask of all pairs, an arm against itself included."""
    return np.ones((whole("n_arms", n_arms, "a whole number from 1", 1),) * 2, np.bool_)


def distinct_pairs(n_arms: int) -> Mask:
    """Return the mask of all pairs of two different arms.

    >>> distinct_pairs(2)
    array([[False,  True],
           [ True, False]])
    """
    return ~np.eye(whole("n_arms", n_arms, "a whole number from 2", 2), dtype=np.bool_)


def group_pairs(groups: Iterable[Any]) -> Mask:
    """Return the mask of all pairs across groups: arms i and j may meet where `groups[i] != groups[j]`.

    >>> group_pairs(["film", "film", "series"]).astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [1, 1, 0]])
    """
    labels = list(groups)
    if len(set(labels)) < 2:
        raise ValueError(must_be("groups", "the groups of all arms, two different ones at least", labels))
    return np.array([[one != other for other in labels] for one in labels], np.bool_)


def within_groups(groups: Iterable[Any], size: int = 2) -> Mask:
    """Return the mask of all pairs of two different arms of one group, of groups that have `size` arms at least.

    >>> within_groups(["film", "film", "series"]).astype(int)
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 0]])
    """
    labels = list(groups)
    counts = Counter(labels)
    if not any(count >= size for count in counts.values()):
        raise ValueError(must_be("groups", f"such that {size} arms have the same one", labels))
    mask = np.array([[one == other and counts[one] >= size for other in labels] for one in labels], np.bool_)
    np.fill_diagonal(mask, False)
    return mask


def checked_pairs(pairs: Any, n_arms: int | None = None) -> Mask:
    """Return a mask of pairs, of `n_arms` arms if that is given, else say what is wrong with it."""
    rule = "a (K, K) array of booleans" if n_arms is None else f"a ({n_arms}, {n_arms}) array of booleans"
    mask = np.ascontiguousarray(truths("pairs", pairs, rule))
    if mask.ndim != 2 or mask.shape != mask.T.shape or mask.size == 0 or n_arms not in {None, len(mask)}:
        raise ValueError(must_be("pairs", rule, pairs))
    lonely = np.argwhere(mask & ~mask.T)
    if lonely.size:
        i, j = lonely[0].tolist()
        raise ValueError(must_be("pairs", "symmetric", f"({i}, {j}) without ({j}, {i})"))
    if not mask.any():
        raise ValueError(must_be("pairs", "at least one", pairs))
    return mask


def checked_preferences(preferences: Any, n_arms: int | None = None) -> Floats:
    """Return a copy of a preference matrix in which `P[j, i]` is exactly `1 - P[i, j]`, else say what is wrong."""
    rule = "a (K, K) array of numbers" if n_arms is None else f"a ({n_arms}, {n_arms}) array of numbers"
    matrix = numbers("preferences", preferences, rule)
    if matrix.ndim != 2 or matrix.shape != matrix.T.shape or matrix.size == 0 or n_arms not in {None, len(matrix)}:
        raise ValueError(must_be("preferences", rule, preferences))
    wild = matrix[~((matrix >= 0.0) & (matrix <= 1.0))]
    if wild.size:
        raise ValueError(must_be("preferences", "between 0 and 1", float(wild[0])))
    uneven = np.argwhere(np.abs(matrix + matrix.T - 1.0) > SUM_ERROR)
    if uneven.size:
        i, j = uneven[0].tolist()
        found = f"{matrix[i, j]} + {matrix[j, i]} for ({i}, {j})"
        raise ValueError(must_be("preferences", "such that P(i, j) + P(j, i) = 1", found))
    above = np.triu(matrix, 1)
    return above + np.tril(1.0 - above.T, -1) + np.eye(len(matrix)) / 2


def checked_size(size: Any, pairs: Mask) -> int:
    """Return how many arms are chosen in a round, if so many can be, whichever of them comes first.

    More than two must differ, and that holds where the awake arms fall into groups and all pairs across groups are
    allowed, no others; each arm may be a group by itself.
    """
    number = whole("size", size, "a whole number from 2", 2)
    if number > 2:
        awake = pairs[pairs.any(axis=1)]
        across = (awake[:, np.newaxis] != awake).any(axis=2)  # arms of one group have the same partners
        if not np.array_equal(awake[:, pairs.any(axis=0)], across):
            raise ValueError(must_be("size", "2 unless the pairs are those of different arms or groups", size))
        groups = len(np.unique(awake, axis=0))
        if number > groups:
            raise ValueError(must_be("size", f"at most {groups}, the number of arms or groups that can meet", size))
    return number


@kernel
def winner(preferences: Floats, arms: Ints, coin: float) -> int:
    """Return the place of the winner among the M `arms`: a random pair of them duels, its winner wins.

    One coin, uniform on [0, 1), decides both: `x = coin * M(M-1)/2`, the pair is number `floor(x)` in lexicographic
    order, and its first arm a beats the other, b, where `x - floor(x) < P[a, b]`. Of two arms, the first wins where
    `coin < P[a, b]`.
    """
    size = arms.size
    x = coin * (size * (size - 1) // 2)
    first, second = 0, 1
    while x >= 1.0:
        x -= 1.0
        second += 1
        if second == size:
            first += 1
            second = first + 1
    return first if x < preferences[arms[first], arms[second]] else second
