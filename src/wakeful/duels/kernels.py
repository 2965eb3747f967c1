"""Compiled entry points of a dueling policy: one choice, one decision to count, one update, a whole run."""

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from wakeful.duels.pairs import winner
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import bind_kernels, kernel
from wakeful.policies.kernels import CLOSE, COIN, FINE, FLOOR, NO_MEMO, NOT_A_LAW, NOT_DRAWN, bound_types, draw


class Pick(NamedTuple):
    """The arms drawn so far in a round, one position after the other, and what each was drawn from."""

    arms: Ints  # (M,)
    awake: Ints  # (M, K): the arms that could be drawn, in the first `sizes` columns
    sizes: Ints  # (M,)
    laws: Floats  # (M, K)
    memos: Floats  # (M,): the policy's memo for each position


NO_LAW = -2  # what `_play` writes as an arm where a policy's probabilities are invalid

# Bound into the templates below: the parameters' and the state's named tuples, and the kernels of a policy.
N_PARAMETERS = 0
Parameters: Any = tuple
State: Any = tuple
law: Any = None
learn: Any = None


@kernel
def remember(parameters: Any, state: Any, awake: Ints, chosen: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count one position of a decision in `state` and return its memo; by default nothing."""
    return 0.0


class DuelKernels(NamedTuple):
    """The compiled functions of a dueling policy.

    `law(parameters, state, pairs, awake, chosen, coin, p)` fills `p`, which is zero, with the probabilities of the next
    arm: one of `awake` (sorted indices), given those `chosen` before; `coin` is uniform, for random probabilities.
    `learn(parameters, state, pick, shares)` adds one feedback: `shares[m]` is how much of the win went to position m.
    `remember(parameters, state, awake, chosen, p, arm, coin)` counts one position and returns its memo; the memo may
    depend on the coin, what is counted in the state may not.
    `learn_log(parameters, state, arms, shares, awake_sets, awake)`, if there is one, counts many duels that others
    arranged and learns them, as `remember` and `learn` do one by one, in less time: the left arm `arms[t, 0]` had
    `shares[t]` of the win over `arms[t, 1]` where `awake_sets[awake[t]]`, a mask, could be drawn.
    """

    law: Callable[..., None]
    learn: Callable[..., None]
    remember: Callable[..., float] = remember
    learn_log: Callable[..., None] | None = None

    def bound(self) -> dict[str, Callable[..., Any]]:
        """Return those that there are by name."""
        return {name: function for name, function in self._asdict().items() if function is not None}

    @property
    def counts_decisions(self) -> bool:
        """Whether choosing an arm changes the state."""
        return self.remember is not remember


def empty_pick(size: int, n_arms: int) -> Pick:
    """Return a pick to be filled."""
    room = np.zeros((size, n_arms), np.int64)
    return Pick(np.zeros(size, np.int64), room, np.zeros(size, np.int64), np.zeros((size, n_arms)), np.zeros(size))


@kernel
def partners(pairs: Mask, chosen: Ints, awake: Ints) -> int:
    """Write the arms that may be drawn next, those with a partner or the partners of all chosen; return how many."""
    n_arms = len(pairs)
    n = 0
    for k in range(n_arms):
        fits = chosen.size > 0
        for c in chosen:
            fits &= pairs[c, k]
        if chosen.size == 0:
            for j in range(n_arms):
                if pairs[k, j]:
                    fits = True
                    break
        awake[n] = k
        n += int(fits)
    return n


@kernel
def share_win(preferences: Floats, arms: Ints, coin: float, shares: Floats) -> None:
    """Write a share of one for the winner into `shares`, of zero for the others."""
    shares[:] = 0.0
    shares[winner(preferences, arms, coin)] = 1.0


def _fill(parameters: Any, state: Any, pairs: Mask, uniforms: Floats, pick: Pick) -> int:
    """Fill `pick` with two uniforms per position; return the first position whose probabilities are invalid, or -1.

    A whole decision is counted in the state, an invalid one is not.
    """
    size = pick.arms.size
    pick.laws[:] = 0.0
    for m in range(size):
        chosen = pick.arms[:m]
        pick.sizes[m] = partners(pairs, chosen, pick.awake[m])
        awake, p = pick.awake[m, : pick.sizes[m]], pick.laws[m]
        law(parameters, state, pairs, awake, chosen, uniforms[2 * m], p)
        total, everywhere = 0.0, 0.0
        for k in awake:
            total += p[k] if p[k] >= 0.0 else np.nan
        for x in p:
            everywhere += x
        if not (abs(total - 1.0) <= CLOSE and everywhere == total):
            return m
        pick.arms[m], pick.memos[m] = draw(p, awake, uniforms[2 * m + 1])
    for m in range(size):  # only now, when all arms are drawn: a decision is counted as a whole or not at all
        awake, coin = pick.awake[m, : pick.sizes[m]], pick.memos[m]
        pick.memos[m] = remember(parameters, state, awake, pick.arms[:m], pick.laws[m], pick.arms[m], coin)
    return -1


fill: Any = _fill  # bound: `_fill` with the policy's own kernels


def _choose(pairs: Mask, uniforms: Floats, pick: Pick, fields: tuple[Any, ...]) -> int:
    """Do what `_fill` does."""
    answer: int = fill(Parameters(*fields[:N_PARAMETERS]), State(*fields[N_PARAMETERS:]), pairs, uniforms, pick)
    return answer


@kernel
def fault(pick: Pick, allowed: Mask, probabilities: Floats) -> int:
    """Return what is wrong: `FINE` if each arm can be drawn from its row of probabilities, zero except on `allowed`.

    The awake arms are filled in from `allowed`, (M, K) booleans.
    """
    for m in range(pick.arms.size):
        p, arm = pick.laws[m], pick.arms[m]
        total = 0.0
        n = 0
        for k in range(p.size):
            if not 0.0 <= p[k] <= 1.0 + CLOSE or (p[k] > 0.0 and not allowed[m, k]):
                return NOT_A_LAW
            total += p[k]
            pick.awake[m, n] = k
            n += int(allowed[m, k])
        pick.sizes[m] = n
        if abs(total - 1.0) > CLOSE:
            return NOT_A_LAW
        if p[arm] != probabilities[m] or p[arm] < FLOOR:
            return NOT_DRAWN
        if not 0.0 <= pick.memos[m] < np.inf:
            return NO_MEMO
    return FINE


def _admit(pick: Pick, allowed: Mask, probabilities: Floats, fields: tuple[Any, ...]) -> int:
    """Count a decision that another copy made, unless there is a fault in it."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    answer: int = fault(pick, allowed, probabilities)
    if answer == FINE:
        for m in range(pick.arms.size):
            awake = pick.awake[m, : pick.sizes[m]]
            remember(parameters, state, awake, pick.arms[:m], pick.laws[m], pick.arms[m], COIN)
    return answer


def _update(pick: Pick, allowed: Mask, probabilities: Floats, shares: Floats, fields: tuple[Any, ...]) -> int:
    """Add one feedback to the state, unless there is a fault in the decision."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    answer: int = fault(pick, allowed, probabilities)
    if answer == FINE:
        learn(parameters, state, pick, shares)
    return answer


def _play(
    pair_sets: Mask, which: Ints, preferences: Floats, laws: Ints, coins: Floats,
    rng: np.random.Generator, choices: Ints, pick: Pick, fields: tuple[Any, ...],
) -> None:  # fmt: skip
    """Play one round for every row of `choices`, with immediate feedback."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    size = pick.arms.size
    uniforms, shares = np.empty(2 * size), np.empty(size)
    for t in range(which.size):
        for n in range(2 * size):
            uniforms[n] = rng.random()
        if fill(parameters, state, pair_sets[which[t]], uniforms, pick) >= 0:
            choices[t, 0] = NO_LAW
            return
        for m in range(size):
            choices[t, m] = pick.arms[m]
        share_win(preferences[laws[t]], pick.arms, coins[t], shares)
        learn(parameters, state, pick, shares)


_TEMPLATES = {"choose": _choose, "admit": _admit, "update": _update, "play": _play}


@cache
def compiled_step(name: str, label: str, kernels: DuelKernels, parameters: Any, state: Any) -> Any:
    """Bind the kernels of the policy called `label` into the template called `name`."""
    own, types = kernels.bound(), bound_types(parameters, state)
    own_fill = bind_kernels(_fill, f"{label}.duel_fill", own, keep=False, inline="always", **types)
    nogil = name == "play"
    return bind_kernels(_TEMPLATES[name], f"{label}.duel_{name}", own, nogil=nogil, fill=own_fill, **types)


def plain_step(name: str, policy: Any, parameters: Any, state: Any) -> Callable[..., Any]:
    """Return a template in plain Python around the methods of a policy without kernels."""
    methods = {
        "law": lambda _, *rest: policy.law(*rest),
        "remember": lambda _, *rest: policy.remember(*rest),
        "learn": lambda _, *rest: policy.learn(*rest),
        **bound_types(parameters, state),
    }
    own_fill = FunctionType(_fill.__code__, {**_fill.__globals__, **methods}, "fill")
    template = _TEMPLATES[name]
    return FunctionType(template.__code__, {**template.__globals__, **methods, "fill": own_fill}, name)


_INTS, _FLOATS, _PAIRS = np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1), np.bool_)
_PICK = empty_pick(2, 1)
DUEL_EXAMPLES: dict[str, tuple[Any, ...]] = {  # arguments of the types each template is compiled for, without `fields`
    "choose": (_PAIRS, _FLOATS, _PICK),
    "admit": (_PICK, _PAIRS, _FLOATS),
    "update": (_PICK, _PAIRS, _FLOATS, _FLOATS),
    "play": (
        _PAIRS[np.newaxis], _INTS, np.zeros((1, 1, 1)), _INTS, _FLOATS,
        np.random.default_rng(0), np.zeros((1, 2), np.int64), _PICK,
    ),
}  # fmt: skip
