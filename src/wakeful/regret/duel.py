"""Regrets of duels, as functions of the arms chosen, the pairs allowed, and the preferences.

A history is `choices` (T, M), the arms of each round by index; `pairs`, a symmetric (K, K) mask of the allowed ones,
or one for each round, (T, K, K); and `preferences`, (K, K) or (T, K, K), `P[i, j]` the probability that i beats j.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wakeful.duels.pairs import checked_pairs, checked_preferences
from wakeful.inputs import must_be, numbers, truths, whole
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import call_compiled, kernel

NO_ROUND = -1  # what `_forbidden` and `_best_awake` answer where there is no such round


class DuelRegret(NamedTuple):
    """The regret of each round, and the sum until then."""

    per_round: Floats
    cumulative: Floats

    @property
    def value(self) -> float:
        """The sum over all rounds."""
        return float(self.cumulative[-1]) if self.cumulative.size else 0.0


def dueling(choices: ArrayLike, pairs: ArrayLike, preferences: ArrayLike) -> DuelRegret:
    """Return the internal sleeping duel regret, the paper's R^SI-DB, of sets of M arms as of pairs.

    Each arm of the set S is compared with the best arm that was allowed in its place:
    `r_t = 1/M sum_m [max_k Pr(k wins | S - m + k) - Pr(m wins | S)]`, over the arms k that may meet all of S - m, and
    `Pr(k wins | S) = 2/(M(M-1)) sum_{j in S - k} P(k, j)`. Of two arms that is
    `1/2 (max_{k in A(i)} P(k, i) + max_{k in A(j)} P(k, j) - 1)`.

    >>> path = np.array([[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 1], [0, 1, 1, 0]], bool)  # 1 - 2 - 4 - 3
    >>> u = np.array([10.1, 10.0, 0.15, 0.1])
    >>> dueling([[2, 3], [0, 1]], path, u[:, np.newaxis] / (u[:, np.newaxis] + u)).per_round.round(3)
    array([0.195, 0.   ])
    """
    laws, law, arms = _checked_history(choices, preferences)
    masks = truths("pairs", pairs, "a (K, K) or (T, K, K) array of booleans")
    sets, which = _table("pairs", masks, checked_pairs, len(arms), laws.shape[1])
    bad = call_compiled(_forbidden, sets, which, arms)
    if bad != NO_ROUND:
        found = f"{tuple(arms[bad].tolist())} in round {bad}"
        raise ValueError(must_be("choices", "arms that may all meet each other", found))
    regrets = np.empty(len(arms))
    add_regrets(sets, which, laws, law, arms, regrets)
    return DuelRegret(regrets, np.cumsum(regrets))


def sleeping_dueling(choices: ArrayLike, awake: ArrayLike, preferences: ArrayLike) -> DuelRegret:
    """Return the sleeping duel regret of Saha & Gaillard (2021), of the best awake arm: the one that beats all others.

    `r_t = 1/2 (P(best, i) + P(best, j) - 1)`, the mean of `P(best, k) - 1/2` over the arms k chosen. `awake` is (K,)
    or (T, K). Where arms have a total order and all pairs of awake arms are allowed it is `dueling`.

    >>> sleeping_dueling([[0, 1]], [True, True, False], [[0.5, 0.75, 0.9], [0.25, 0.5, 0.6], [0.1, 0.4, 0.5]]).value
    0.125
    """
    laws, law, arms = _checked_history(choices, preferences)
    n_arms = laws.shape[1]
    mask = truths("awake", awake, f"a ({n_arms},) or (T, {n_arms}) array of booleans")
    if mask.shape not in {(n_arms,), (len(arms), n_arms)}:
        raise ValueError(must_be("awake", f"of shape {(n_arms,)} or {(len(arms), n_arms)}", mask.shape))
    rounds = np.broadcast_to(mask, (len(arms), n_arms)).copy()
    if not np.take_along_axis(rounds, arms, axis=1).all():
        raise ValueError(must_be("choices", "arms that were awake", choices))
    return _against_best(rounds, laws, law, arms)


def condorcet(choices: ArrayLike, preferences: ArrayLike) -> DuelRegret:
    """Return the regret against the Condorcet winner, the arm that beats all others; all arms are awake.

    >>> condorcet([[0, 1], [1, 1]], [[0.5, 0.7], [0.3, 0.5]]).cumulative
    array([0.1, 0.3])
    """
    laws, law, arms = _checked_history(choices, preferences)
    return _against_best(np.ones((len(arms), laws.shape[1]), np.bool_), laws, law, arms)


def add_regrets(pair_sets: Mask, which: Ints, preferences: Floats, law: Ints, choices: Ints, out: Floats) -> None:
    """Write the regret of each round of a block into `out`, as `dueling` defines it; nothing is checked."""
    call_compiled(_add_regrets, pair_sets, which, preferences, law, choices, out)


def theorem_two(rounds: ArrayLike, n_arms: int) -> Floats:
    """Return the paper's bound on Sparring SI-EXP3, `2 K^2 sqrt(2 T K log K)`: false for some sets of pairs.

    >>> theorem_two([600_000], 4).round()  # on `worlds.PathDuels` the regret is about 116,000
    array([82546.])
    """
    T, K = _checked_horizon(rounds, n_arms)
    return np.asarray(2.0 * K**2 * np.sqrt(2.0 * T * K * np.log(K)))


def theorem_two_sharpened(rounds: ArrayLike, n_arms: int) -> Floats:
    """Return `K(K-1) sqrt(T log(K(K-1)))`, proved for all pairs of awake arms and a total order of arms.

    >>> theorem_two_sharpened([600_000], 4).round()
    array([14653.])
    """
    T, K = _checked_horizon(rounds, n_arms)
    return np.asarray(K * (K - 1) * np.sqrt(T * np.log(K * (K - 1))))


def _against_best(awake: Mask, laws: Floats, law: Ints, arms: Ints) -> DuelRegret:
    """Return by how much the best awake arm of each round beats the arms chosen more often than 1/2, on average."""
    best = np.empty(len(arms), np.int64)
    bad = call_compiled(_best_awake, awake, laws, law, best)
    if bad != NO_ROUND:
        raise ValueError(must_be("preferences", "such that one awake arm beats all others", f"none in round {bad}"))
    regrets = laws[law[:, np.newaxis], best[:, np.newaxis], arms].mean(axis=1) - 0.5
    return DuelRegret(regrets, np.cumsum(regrets))


def _checked_horizon(rounds: ArrayLike, n_arms: int) -> tuple[Floats, int]:
    """Return numbers of rounds and of arms."""
    times = numbers("rounds", rounds, "numbers of rounds")
    if not (times >= 0.0).all():
        raise ValueError(must_be("rounds", "numbers of rounds", rounds))
    return times, whole("n_arms", n_arms, "a number of arms, at least 2", 2)


def _checked_history(choices: ArrayLike, preferences: ArrayLike) -> tuple[Floats, Ints, Ints]:
    """Return the preference matrices, the one of each round, and the arms chosen."""
    rule = "a (T, M) array of indices of arms, M at least 2"
    numbers("choices", choices, rule)
    arms = np.asarray(choices)
    if arms.ndim != 2 or arms.shape[1] < 2 or arms.dtype.kind not in "iu":
        raise ValueError(must_be("choices", rule, choices))
    given = numbers("preferences", preferences, "a (K, K) or (T, K, K) array of numbers")
    laws, law = _table("preferences", given, checked_preferences, len(arms))
    if not ((arms >= 0) & (arms < laws.shape[1])).all():
        raise ValueError(must_be("choices", f"indices from 0 to {laws.shape[1] - 1}", choices))
    return laws, law, np.ascontiguousarray(arms, np.int64)


def _table(
    name: str, given: NDArray[Any], checked: Callable[..., Any], rounds: int, n_arms: int | None = None
) -> tuple[Any, Ints]:
    """Return checked matrices, one for all rounds or one for each, and the row of each round."""
    if given.ndim != 3:
        return checked(given, n_arms)[np.newaxis], np.zeros(rounds, np.int64)
    if len(given) != rounds:
        raise ValueError(must_be(name, f"one matrix for all rounds, or {rounds}", f"{len(given)} matrices"))
    return np.array([checked(matrix, n_arms) for matrix in given], given.dtype).reshape(given.shape), np.arange(rounds)


def _forbidden(pair_sets: Mask, which: Ints, choices: Ints) -> int:
    """Return the first round whose arms may not all meet each other."""
    rounds, size = choices.shape
    for t in range(rounds):
        for m in range(size):
            for n in range(m):
                if not pair_sets[which[t], choices[t, m], choices[t, n]]:
                    return t
    return NO_ROUND


def _best_awake(awake: Mask, preferences: Floats, law: Ints, best: Ints) -> int:
    """Write the awake arm that beats all others into `best`; return the first round without one.

    Of several, which are even with each other, the one that beats the others by most: the first in a total order.
    """
    rounds, n_arms = awake.shape
    for t in range(rounds):
        best[t], most = -1, -1.0
        for k in range(n_arms):
            total, beats = 0.0, awake[t, k]
            for j in range(n_arms):
                if awake[t, j]:
                    total += preferences[law[t], k, j]
                    beats &= preferences[law[t], k, j] >= 0.5
            if beats and total > most:
                best[t], most = k, total
        if best[t] < 0:
            return t
    return NO_ROUND


def _add_regrets(pair_sets: Mask, which: Ints, preferences: Floats, law: Ints, choices: Ints, out: Floats) -> None:
    """Write the regrets of all rounds."""
    lost = np.empty(pair_sets.shape[1])
    for t in range(choices.shape[0]):
        out[t] = round_regret(pair_sets, which[t], preferences, law[t], choices, t, lost)


@kernel
def round_regret(pair_sets: Mask, s: int, preferences: Floats, law: int, choices: Ints, t: int, lost: Floats) -> float:
    """Return the regret of the arms of round `t` on the pair set `s`; `lost`, (K,), is room to work in.

    An arm wins more if the others beat it less: so `lost` sums rows, which are contiguous, and no column is read.
    """
    n_arms, size = pair_sets.shape[1], choices.shape[1]
    total = 0.0
    for m in range(size):
        lost[:] = 0.0  # by each arm in place m, against the others; infinity where it may not stand there
        for n in range(size):
            if n != m:
                c = choices[t, n]
                for k in range(n_arms):
                    beaten = preferences[law, c, k]
                    lost[k] += beaten if pair_sets[s, c, k] else np.inf  # no branch to mispredict
        own = least = lost[choices[t, m]]
        for k in range(n_arms):
            least = lost[k] if lost[k] < least else least
        total += own - least
    regret: float = total * 2.0 / (size * size * (size - 1))
    return regret
