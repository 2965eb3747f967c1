"""The paper's relations between regrets, each computed on a history, and witnesses against others.

Relations that hold for i.i.d. losses are about pseudo-regrets: expected losses take the place of losses.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wakeful.inputs import must_be, numbers, whole
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.regret import bandit as regret
from wakeful.regret.tally import history

ROUNDING = 1e-9  # a round, by which sums of the same losses in another order may differ


class History(NamedTuple):
    """The awake arms, the losses and the choices of all rounds."""

    awake: Mask  # (T, K)
    losses: Floats  # (T, K)
    choices: Ints  # (T,), -1 where no arm was awake


class Identity(NamedTuple):
    """Two numbers for each arm that are the same: the external regrets, and the sums of internal ones."""

    history: History
    external: Floats  # (K,), by definition
    sums: Floats  # (K,), sum_i R(i -> k)

    @property
    def holds(self) -> bool:
        """Whether they are the same up to rounding."""
        return bool(np.abs(self.external - self.sums).max() <= _rounding(self.history))


class Inequality(NamedTuple):
    """Two regrets of which the first is never the larger."""

    history: History
    left: float
    right: float

    @property
    def holds(self) -> bool:
        """Whether `left <= right` up to rounding."""
        return self.left <= self.right + _rounding(self.history)


class Equality(NamedTuple):
    """Two regrets that are the same."""

    history: History
    left: float
    right: float

    @property
    def holds(self) -> bool:
        """Whether they are the same up to rounding."""
        return abs(self.left - self.right) <= _rounding(self.history)


class Witness(NamedTuple):
    """A history on which one regret is large and another is not: what each of them is."""

    history: History
    internal: float  # max R(i -> j)
    external: Floats  # (K,)
    ordering: float
    policy: float


def internal_gives_external(past: History) -> Identity:
    """Return both sides of Lemma 1, `R_ext(k) = sum_i R(i -> k)`: an identity, on every history.

    >>> internal_gives_external(external_without_ordering(6).history).holds
    True
    """
    awake, losses, choices = _awake_rounds(past)
    own = np.take_along_axis(losses, choices[:, np.newaxis], axis=1)
    external: Floats = np.where(awake, own - losses, 0.0).sum(axis=0)
    return Identity(past, external, regret.internal(*past).sum(axis=0))


def internal_bounds_ordering(past: History, means: ArrayLike) -> Inequality:
    """Return both sides of Lemma 2, for i.i.d. losses: `R_ordering <= sum_i sum_{j in D_i} R(i -> j)`.

    D_i are the arms whose mean is at most that of i; all regrets are pseudo-regrets.

    Parameters:
        past: the history; only which arms were awake and what was chosen matters
        means: (K,), the expected losses

    >>> relation = internal_bounds_ordering(external_without_ordering(6).history, [1 / 3, 2 / 3, 1])
    >>> round(relation.left, 6), round(relation.right, 6)
    (1.0, 1.0)
    """
    expected, mu = _expected(past, means)
    no_worse = mu <= mu[:, np.newaxis]
    right = float(regret.internal(*expected)[no_worse].sum())
    return Inequality(expected, regret.ordering(*expected).value, right)


def ordering_bounds_internal(past: History, means: ArrayLike) -> Inequality:
    """Return both sides of Appendix A.2, for i.i.d. losses: `max R(i -> j) <= R_ordering`, as pseudo-regrets."""
    expected, _ = _expected(past, means)
    return Inequality(expected, float(regret.internal(*expected).max()), regret.ordering(*expected).value)


def ordering_bounds_external(past: History, means: ArrayLike) -> Inequality:
    """Return both sides of section 2.2, for i.i.d. losses: `max R_ext(k) <= R_ordering`, as pseudo-regrets."""
    expected, _ = _expected(past, means)
    return Inequality(expected, float(regret.external(*expected).max()), regret.ordering(*expected).value)


def policy_is_ordering(past: History, means: ArrayLike) -> Equality:
    """Return policy and ordering pseudo-regret for i.i.d. losses: the best policy plays the best awake arm."""
    expected, _ = _expected(past, means)
    return Equality(expected, regret.policy(*expected).value, regret.ordering(*expected).value)


def policy_is_ordering_for_iid_sets(sets: ArrayLike, probabilities: ArrayLike, losses: ArrayLike) -> Equality:
    """Return both regrets for i.i.d. awake sets and any losses that do not depend on them, in expectation over sets.

    Every round meets every set, with its losses weighted by the set's probability; the learner plays the first arm
    awake. The best policy plays the awake arm whose losses sum to least, whichever the set: an ordering.

    Parameters:
        sets: (M, K) booleans, the awake sets
        probabilities: (M,), of each
        losses: (T, K)

    >>> policy_is_ordering_for_iid_sets([[True, True], [False, True]], [0.5, 0.5], [[1, 0], [0.5, 0]])[1:]
    (0.75, 0.75)
    """
    weights = numbers("probabilities", probabilities, "one for each set")
    values = numbers("losses", losses, "a (T, K) array of numbers")
    mask = np.asarray(sets)
    if mask.ndim != 2 or weights.shape != mask.shape[:1] or (weights < 0).any() or abs(weights.sum() - 1) > ROUNDING:
        raise ValueError(must_be("probabilities", "one for each set, summing to one", probabilities))
    awake = np.tile(mask, (len(values), 1))
    weighted = (values[:, np.newaxis, :] * weights[:, np.newaxis]).reshape(-1, mask.shape[1])
    choices = np.where(awake.any(axis=1), awake.argmax(axis=1), -1)
    product = History(awake, weighted, choices)
    return Equality(product, regret.policy(*product).value, regret.ordering(*product).value)


def external_without_ordering(rounds: int) -> Witness:
    """Return the paper's example of no external regret and much ordering regret, T/6, with losses k/3.

    Arms 1 and 2 are awake in the first half, 2 and 3 in the second; the learner plays 1, then 3.

    >>> witness = external_without_ordering(600)
    >>> round(witness.ordering, 6), bool(witness.external.max() < 1e-9)
    (100.0, True)
    """
    half = np.repeat([0, 1], _parts("rounds", rounds, 2))
    sets = np.array([[True, True, False], [False, True, True]])
    return _witness(History(sets[half], np.tile(np.arange(1, 4) / 3, (rounds, 1)), np.array([0, 2])[half]))


def ordering_without_external(rounds: int) -> Witness:
    """Return a history of no ordering regret and external regret T/4 against arm 1: Appendix A.1, corrected.

    Four awake sets in turn, with losses that depend on them: {1,2} loses (0,1), plays 2; {2,3} loses (0,1), plays
    2; {3,4} loses (0,1), plays 3; {2,4} loses (1,0), plays 4. The learner loses T/4, as does the best ordering.

    >>> witness = ordering_without_external(400)
    >>> witness.ordering, witness.external[0]
    (0.0, np.float64(100.0))
    """
    sets = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 1, 0, 1]], np.bool_)
    losses = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]], np.float64)
    return _in_turn(sets, losses, [1, 1, 2, 3], rounds)


def printed_ordering_without_external(rounds: int) -> Witness:
    """Return Appendix A.1 as printed, which fails: it claims R_ext(1) = T/4, and it is 0.

    Arm 1 would have gained on {1,2,3} what it would have lost on {1,3}. No external regret is positive.

    >>> witness = printed_ordering_without_external(400)
    >>> witness.ordering, witness.external
    (0.0, array([   0., -100.,    0.]))
    """
    sets = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]], np.bool_)
    losses = np.array([[0, 1, 1], [0, 1, 0.5], [1, 0.5, 0], [0.5, 1, 1]])
    return _in_turn(sets, losses, [2, 0, 2, 2], rounds)


def policy_above_ordering(rounds: int) -> Witness:
    """Return a history of no ordering regret and policy regret T/4: the losses depend on which arms are awake.

    In `ordering_without_external`, the best policy, which depends on the whole set, never loses; orderings do.

    >>> witness = policy_above_ordering(400)
    >>> witness.ordering, witness.policy
    (0.0, 100.0)
    """
    return ordering_without_external(rounds)


def _awake_rounds(past: History) -> History:
    """Return the rounds in which an arm is awake, with zero losses of arms asleep; check that `past` is a history."""
    awake, losses, choices = history(*past)
    somebody = awake.any(axis=1)
    return History(awake[somebody], np.where(awake, losses, 0.0)[somebody], choices[somebody])


def _expected(past: History, means: ArrayLike) -> tuple[History, Floats]:
    """Return the history with `means` in place of losses, and the means."""
    awake, _, choices = history(*past)
    mu = numbers("means", means, "a number for each arm")
    if mu.shape != awake.shape[1:] or not np.isfinite(mu).all():
        raise ValueError(must_be("means", f"{awake.shape[1]} finite numbers", means))
    return History(awake, np.tile(mu, (len(awake), 1)), choices), mu


def _in_turn(sets: Mask, losses: Floats, arms: list[int], rounds: int) -> Witness:
    """Return the witness in which set n comes with its losses and its arm, one after another, again and again."""
    turn = np.tile(np.arange(len(sets)), _parts("rounds", rounds, len(sets)))
    return _witness(History(sets[turn], losses[turn], np.array(arms)[turn]))


def _parts(name: str, value: int, parts: int) -> int:
    """Return how many rounds each of so many parts has, if it is a whole number."""
    number = whole(name, value, f"a multiple of {parts}", parts)
    if number % parts:
        raise ValueError(must_be(name, f"a multiple of {parts}", value))
    return number // parts


def _witness(past: History) -> Witness:
    """Return all regrets of a history."""
    matrix = regret.internal(*past)
    values = regret.ordering(*past).value, regret.policy(*past).value
    return Witness(past, float(matrix.max()), regret.external(*past), *values)


def _rounding(past: History) -> float:
    """Return how far apart sums over the rounds of a history may be."""
    return ROUNDING * (1 + len(past.choices))
