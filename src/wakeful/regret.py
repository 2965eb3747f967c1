"""Regrets: functions of a history, that is of who was awake, what was lost, and what was chosen.

A history is three arrays: `awake` (T, K), `losses` (T, K), `choices` (T,) with -1 where nobody was awake.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wakeful.entries import Floats, Ints, Mask
from wakeful.inputs import must_be, numbers, truths

MOST_ARMS = 20  # two to the power of this is how many sets the best ordering is built from


class BestOrdering(NamedTuple):
    """The regret against the best fixed ordering of the arms, and that ordering, best arm first."""

    value: float
    ordering: tuple[int, ...]


def internal(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> Floats:
    """Return the (K, K) sleeping internal regrets, `R(i -> j) = sum_t (l_t(i) - l_t(j)) 1{k_t = i, j awake}`.

    >>> internal([[True, True], [True, False]], [[1.0, 0.25], [0.5, 0.0]], [0, 0])
    array([[0.  , 0.75],
           [0.  , 0.  ]])
    """
    mask, values, arms = _history(awake, losses, choices)
    played = np.zeros(mask.shape)
    played[np.arange(arms.size), arms] = 1.0
    own = np.take_along_axis(values, arms[:, np.newaxis], axis=1)
    regrets: Floats = played.T @ np.where(mask, own - np.where(mask, values, 0.0), 0.0)
    return regrets


def external(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> Floats:
    """Return the (K,) sleeping external regrets, `R(k) = sum_t (l_t(k_t) - l_t(k)) 1{k awake}`.

    >>> external([[True, True], [True, False]], [[1.0, 0.25], [0.5, 0.0]], [0, 0])
    array([0.  , 0.75])
    """
    regrets: Floats = internal(awake, losses, choices).sum(axis=0)
    return regrets


def ordering(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> BestOrdering:
    """Return the regret against the best ordering in hindsight, found without trying all K! of them.

    What arm k loses right behind the set U of better arms is its loss over rounds with k awake and U asleep,
    so the best order of every set follows from those of its subsets: O(2^K K) sums.

    >>> ordering([[True, True], [True, False]], [[1.0, 0.25], [0.5, 0.0]], [0, 0])
    BestOrdering(value=0.75, ordering=(1, 0))
    """
    mask, values, arms = _history(awake, losses, choices)
    n_arms = mask.shape[1]
    if n_arms > MOST_ARMS:
        raise ValueError(must_be("awake", f"of at most {MOST_ARMS} arms for the best ordering", n_arms))
    sets, inverse = np.unique(mask, axis=0, return_inverse=True)
    totals = np.zeros(sets.shape)
    np.add.at(totals, inverse.ravel(), np.where(mask, values, 0.0))
    codes = sets @ (1 << np.arange(n_arms))
    best = np.full(1 << n_arms, np.inf)
    last = np.zeros(1 << n_arms, np.int64)
    best[0] = 0.0
    for better in range(1 << n_arms):
        left = totals[(codes & better) == 0].sum(axis=0)
        for k in range(n_arms):
            union = better | 1 << k
            if union != better and best[better] + left[k] < best[union]:
                best[union], last[union] = best[better] + left[k], k
    found: list[int] = []
    rest = (1 << n_arms) - 1
    while rest:
        found.insert(0, int(last[rest]))
        rest ^= 1 << found[0]
    own = float(np.take_along_axis(values, arms[:, np.newaxis], axis=1).sum())
    return BestOrdering(own - float(best[-1]), tuple(found))


def _history(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> tuple[Mask, Floats, Ints]:
    """Return the rounds with somebody awake as arrays that belong together, else say what does not fit."""
    mask = truths("awake", awake, "a (T, K) array of truth values")
    if mask.ndim != 2:
        raise ValueError(must_be("awake", "a (T, K) array of truth values", awake))
    values = numbers("losses", losses, "a (T, K) array of numbers")
    if values.shape != mask.shape:
        raise ValueError(must_be("losses", f"of the shape of awake, {mask.shape}", values.shape))
    if not np.isfinite(values[mask]).all():
        raise ValueError(must_be("losses", "finite where awake", losses))
    arms = np.asarray(choices)
    if arms.shape != mask.shape[:1] or not np.issubdtype(arms.dtype, np.integer):
        raise ValueError(must_be("choices", f"{mask.shape[0]} indices of arms", choices))
    somebody = mask.any(axis=1)
    mask, values, arms = mask[somebody], values[somebody], arms[somebody]
    if ((arms < 0) | (arms >= mask.shape[1])).any() or not mask[np.arange(arms.size), arms].all():
        raise ValueError(must_be("choices", "arms that were awake", choices))
    return mask, values, arms.astype(np.int64)
