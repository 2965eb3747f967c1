"""Regrets of bandits, as functions of a history: the awake arms, the losses and the choices of all rounds.

A history is three arrays: `awake` (T, K), `losses` (T, K), `choices` (T,) with -1 where no arm was awake. Losses of
arms that are asleep are ignored. With expected losses in place of losses, each of these is the pseudo-regret.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wakeful.inputs import must_be, numbers, one_of
from wakeful.numerics.arrays import Floats, Ints
from wakeful.policies.policy import Policy, a_policy
from wakeful.policies.si_exp3 import SIExp3
from wakeful.regret.tally import REGRETS, Tally, history


class BestSwap(NamedTuple):
    """The regret against the best swap function: play `swap[i]` instead of i, where it is awake."""

    value: float
    swap: tuple[int, ...]


class BestOrdering(NamedTuple):
    """The regret against the best fixed ordering of the arms, and that ordering, best arm first.

    `value` is the regret against the ordering found; no ordering gives more than `upper`, equal to `value` if exact.
    """

    value: float
    ordering: tuple[int, ...]
    upper: float

    @property
    def exact(self) -> bool:
        """Whether the ordering is the best; otherwise the best regret is between `value` and `upper`."""
        return self.upper <= self.value


class BestPolicy(NamedTuple):
    """The regret against the best map from awake sets to arms, and that map, for the sets there were."""

    value: float
    policy: Mapping[tuple[int, ...], int]


class Bounds(NamedTuple):
    """Upper bounds on the expectation of a regret, at checkpoints."""

    regret: str
    paper: Floats | None  # Theorem 1 as printed, for SI-EXP3
    sharpened: Floats  # the bound that the policy states for its own learning rate


def internal(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> Floats:
    """Return the (K, K) sleeping internal regrets, `R(i -> j) = sum_t (l_t(i) - l_t(j)) 1{k_t = i, j awake}`.

    >>> internal([[True, True], [True, False]], [[1.0, 0.25], [0.5, 0.0]], [0, 0])
    array([[0.  , 0.75],
           [0.  , 0.  ]])
    """
    return _tally("internal", awake, losses, choices).internal_matrix()


def external(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> Floats:
    """Return the (K,) sleeping external regrets, `R(k) = sum_t (l_t(k_t) - l_t(k)) 1{k awake}`.

    >>> external([[True, True], [True, False]], [[1.0, 0.25], [0.5, 0.0]], [0, 0])
    array([0.  , 0.75])
    """
    regrets: Floats = internal(awake, losses, choices).sum(axis=0)
    return regrets


def swap(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> BestSwap:
    """Return the regret against the best function of the arm played, `sum_i max_j R(i -> j)`.

    An arm that no swap would improve is not swapped, so this is never negative.

    >>> swap([[True, True], [True, True]], [[1.0, 0.25], [0.5, 1.0]], [0, 1])
    BestSwap(value=1.25, swap=(1, 0))
    """
    regrets = internal(awake, losses, choices)
    most = regrets.max(axis=1)
    best = np.where(most > 0.0, regrets.argmax(axis=1), np.arange(most.size))
    return BestSwap(float(most.sum()), tuple(best.tolist()))


def ordering(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> BestOrdering:
    """Return the regret against the best ordering, `max_s sum_t l_t(k_t) - l_t(first awake arm of s)`.

    Exact up to 20 arms. With more, exact if the arms can be divided into groups of at most 20 arms or 20 distinct
    awake sets (see `best_ordering.py`), otherwise an interval: `exact` says which.

    >>> ordering([[True, True], [True, False]], [[1.0, 0.25], [0.5, 0.0]], [0, 0])
    BestOrdering(value=0.75, ordering=(1, 0), upper=0.75)
    """
    found = _tally("ordering", awake, losses, choices).best_ordering()
    return BestOrdering(found.value, found.ordering, found.upper)


def policy(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> BestPolicy:
    """Return the regret against the best policy, `sum_S max_{k in S} sum_{t: S_t = S} l_t(k_t) - l_t(k)`.

    >>> best = policy([[True, True], [True, False]], [[1.0, 0.25], [0.5, 0.0]], [0, 0])
    >>> best.value, dict(best.policy)
    (0.75, {(0, 1): 1, (0,): 0})
    """
    tally = _tally("policy", awake, losses, choices)
    value, arms = tally.best_policy()
    sets = (tuple(np.flatnonzero(row).tolist()) for row in tally.awake_sets())
    return BestPolicy(value, MappingProxyType(dict(zip(sets, arms.tolist(), strict=True))))


def curve(name: str, awake: ArrayLike, losses: ArrayLike, choices: ArrayLike, checkpoints: ArrayLike) -> Floats:
    """Return one regret after each of `checkpoints` rounds, as one number: the largest of all pairs or arms.

    Every round is read once; each checkpoint calls `Tally.value`.

    Parameters:
        name: `"internal"`, `"external"`, `"swap"`, `"ordering"` or `"policy"`
        awake: (T, K)
        losses: (T, K)
        choices: (T,)
        checkpoints: numbers of rounds, none smaller than the one before

    >>> curve("external", [[True, True], [True, False]], [[1.0, 0.25], [0.5, 0.0]], [0, 0], [0, 1, 2])
    array([0.  , 0.75, 0.75])
    """
    mask, values, arms = history(awake, losses, choices)
    stops = _checkpoints(checkpoints, arms.size)
    tally = Tally(mask.shape[1], [one_of("name", name, REGRETS)])
    found, done = np.empty(stops.size), 0
    for n, stop in enumerate(stops.tolist()):
        tally.add(mask[done:stop], values[done:stop], arms[done:stop])
        found[n], done = tally.value(name), stop
    return found


def bound(policy: Policy, rounds: ArrayLike, n_arms: int, awake_total: ArrayLike | None = None) -> Bounds:
    """Return upper bounds on a regret of `policy`, at the checkpoints `rounds`.

    Parameters:
        policy: `SIExp3` (internal regret, two bounds), or another that states a guarantee (one)
        rounds: numbers of rounds
        n_arms: K
        awake_total: sum of |S_t| until then, by default K in every round

    >>> bounds = bound(SIExp3(eta="horizon", horizon=10_000, exploration=0.0), [100, 10_000], n_arms=10)
    >>> bounds.regret, bounds.paper.round(), bounds.sharpened.round()
    ('internal', array([ 136., 1357.]), array([214., 424.]))
    """
    stops = _checkpoints(rounds)
    totals = numbers("awake_total", stops * n_arms if awake_total is None else awake_total, "a sum of |S_t| each")
    if totals.shape != stops.shape:
        raise ValueError(must_be("awake_total", f"{stops.size} numbers, one for each checkpoint", awake_total))
    pairs = list(zip(stops.tolist(), totals.tolist(), strict=True))
    if isinstance(policy, SIExp3):
        both = [policy.bound(t, n_arms, total) for t, total in pairs]
        return Bounds("internal", np.array([b.paper for b in both]), np.array([b.sharpened for b in both]))
    stated = [a_policy(policy).guarantee(t, n_arms, int(total)) for t, total in pairs]
    known = [guarantee for guarantee in stated if guarantee is not None]
    if len(known) < stops.size or not known:
        raise ValueError(must_be("policy", "one that states a guarantee, at one checkpoint or more", policy))
    return Bounds(known[0].regret, None, np.array([guarantee.bound for guarantee in known]))


def _tally(name: str, awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> Tally:
    """Return a tally of the whole history for one regret."""
    rounds: tuple[Any, ...] = history(awake, losses, choices)
    tally = Tally(rounds[0].shape[1], [name])
    tally.add(*rounds)
    return tally


def _checkpoints(values: ArrayLike, most: int | None = None) -> Ints:
    """Return numbers of rounds in order, at most `most`, as an array."""
    rule = "numbers of rounds in order" + ("" if most is None else f", at most {most}")
    stops = np.asarray(values)
    if stops.ndim != 1 or (stops.size and stops.dtype.kind not in "iu"):
        raise TypeError(must_be("checkpoints", rule, values))
    stops = stops.astype(np.int64)
    if (stops < 0).any() or (np.diff(stops) < 0).any() or (most is not None and (stops > most).any()):
        raise ValueError(must_be("checkpoints", rule, values))
    return stops
