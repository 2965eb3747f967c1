"""Learn from duels that somebody else arranged: results, folded into the state of a dueling policy one after another.

As with bandits (`policies/spectate.py`) there are two kinds of policies (`DuelingPolicy.from_others`):

"counts"
    The policy counts who beat whom, or what each side lost. Who arranged the duel does not matter: it is counted as if
    the policy had arranged it.
"weights"
    The policy adds estimates `f(q, i, j, l)` for each side that are linear in its loss l, and unbiased if the left
    arm i and then the right arm j are drawn from its own probabilities, `q(i, j) = q(i) q(j | i)`. Here the pair was
    drawn with probability m(i, j), positive wherever q is. So both losses are multiplied by `w = q(i, j) / m(i, j)`:

    sum_ij m(i, j) f(q, i, j, w l) = sum_ij q(i, j) f(q, i, j, l).

    Given the state, one result adds in expectation what the policy's own duel would have added.

In both cases a result counts as a duel of two different arms, and the clock counts it.
"""

from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from wakeful.duels.kernels import DuelKernels, Pick, empty_pick
from wakeful.duels.policy import DuelingPolicy
from wakeful.inputs import must_be
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import bind_kernels, kernel, specialised
from wakeful.policies.kernels import bound_types, is_drawable
from wakeful.policies.policy import LAW
from wakeful.policies.spec import full_name
from wakeful.policies.spectate import BY_COUNTS, BY_WEIGHTS

SMALLEST = 1e-6  # a smaller probability of the policy's own is taken to be this, so that no loss is lost in rounding

N_PARAMETERS = 0  # bound: how many of `fields` are parameters
Parameters: Any = tuple  # bound: the named tuple of parameters
State: Any = tuple  # bound: the named tuple of state arrays
law: Any = None  # bound: the kernels of the policy
learn: Any = None
remember: Any = None
learn_log: Any = None


class Fights(NamedTuple):
    """The results of T duels of two different arms, in terms of positions, in the order in which they are learned."""

    arms: Ints  # (T, 2): left and right
    shares: Floats  # (T,): how much of the win went to the left arm
    probabilities: Floats  # (T,): with which each pair was chosen, left arm first; one where that is unknown
    awake_sets: Mask  # (A, K): the different awake sets
    awake: Ints  # (T,): which of them
    coins: Floats  # (T, 2): uniform numbers, for policies that round losses with a coin


def refuse_without(policy: DuelingPolicy, has_probabilities: bool) -> None:
    """Raise unless the policy can learn from duels of others, whose probabilities may be unknown."""
    if policy.from_others not in {BY_COUNTS, BY_WEIGHTS}:
        rule = "one that can learn from duels that others arranged (its from_others is 'counts' or 'weights')"
        raise ValueError(must_be("policy", rule, policy))
    if policy.from_others == BY_WEIGHTS and not has_probabilities:
        rule = f"given, since {policy!r} divides losses by it (policies that count wins, such as StablePair(), do not)"
        raise ValueError(must_be("probability of the pair", rule, None))


def fold_fights(policy: DuelingPolicy, state: Any, fights: Fights) -> None:
    """Let a policy learn from duels that somebody else arranged; change `state` in place.

    The arrays are trusted, except that their results are refused by a policy that cannot learn from them.

    >>> from wakeful import UniformPairs
    >>> state = UniformPairs().start(n_arms=3)
    >>> arms, shares, everybody = np.array([[0, 1], [2, 1]]), np.array([1.0, 0.5]), np.ones((1, 3), np.bool_)
    >>> fights = Fights(arms, shares, np.ones(2), everybody, np.zeros(2, np.int64), np.zeros((2, 2)))
    >>> fold_fights(UniformPairs(), state, fights)
    >>> state.wins
    array([[0. , 1. , 0. ],
           [0. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    n_arms = fights.awake_sets.shape[1]
    weighted = policy.from_others == BY_WEIGHTS
    types: tuple[Any, Any] = type(policy.parameters(n_arms)), type(state)
    if policy.kernels is None:
        run = _plain_fold(policy, *types)
    else:
        label, fields = full_name(policy), policy.fields(state, n_arms)
        example = Fights(np.zeros((1, 2), np.int64), _ONE, _ONE, _PAIR, np.zeros(1, np.int64), np.zeros((1, 2)))
        never = {"learn_log": None} if weighted else {"law": _never_asked}  # which compiles faster
        kernels = policy.kernels._replace(**never)
        run = specialised(_compiled_fold(label, kernels, *types), label, *example, True, _PICK, _PAIR, fields)
    pick, pairs = empty_pick(2, n_arms), np.zeros((n_arms, n_arms) if weighted else (1, 1), np.bool_)
    wrong = run(*fights, weighted, pick, pairs, policy.fields(state, n_arms))
    if wrong >= 0:
        raise ValueError(must_be(f"probabilities of {policy!r}", LAW, pick.laws[wrong]))


_ONE, _PAIR, _PICK = np.zeros(1), np.zeros((1, 1), np.bool_), empty_pick(2, 1)


@kernel
def _never_asked(parameters: Any, state: Any, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
    """Take the place of the probabilities of a policy that learns from others without them."""


@cache
def _compiled_fold(label: str, kernels: DuelKernels, parameters: Any, state: Any) -> Any:
    """Bind the kernels of a policy into the loop."""
    types = bound_types(parameters, state)
    template = _fold if kernels.learn_log is None else _fold_at_once
    return bind_kernels(template, f"{label}.duel_fold", kernels.bound(), nogil=True, **types)


def _plain_fold(policy: Any, parameters: Any, state: Any) -> Any:
    """Return the loop in plain Python around the methods of a policy without kernels."""
    methods = {
        "law": lambda _, *rest: policy.law(*rest),
        "remember": lambda _, *rest: policy.remember(*rest),
        "learn": lambda _, *rest: policy.learn(*rest),
        **bound_types(parameters, state),
    }
    return FunctionType(_fold.__code__, {**_fold.__globals__, **methods}, "fold")


@kernel
def partners_of(awake: Mask, left: int, pick: Pick) -> None:
    """Write the awake arms into the first row of `pick.awake`, and those other than `left` into the second."""
    n, others = 0, 0
    for k in range(awake.size):
        if awake[k]:
            pick.awake[0, n] = k
            n += 1
            if k != left:
                pick.awake[1, others] = k
                others += 1
    pick.sizes[0], pick.sizes[1] = n, others


@kernel
def pairs_of(awake: Mask, pairs: Mask) -> None:
    """Write the mask of all pairs of two different awake arms."""
    for i in range(awake.size):
        for j in range(awake.size):
            pairs[i, j] = awake[i] and awake[j] and i != j


def _fold(
    arms: Ints, results: Floats, probabilities: Floats, awake_sets: Mask, awake: Ints, coins: Floats,
    weighted: bool, pick: Pick, pairs: Mask, fields: tuple[Any, ...],
) -> int:  # fmt: skip
    """Fold every result into the state; return the first position whose probabilities are invalid, or -1."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    shares = np.empty(2)
    laws = pick.laws
    laws[:] = 0.0
    for t in range(awake.size):
        here = awake_sets[awake[t]]
        pick.arms[0], pick.arms[1] = arms[t, 0], arms[t, 1]
        partners_of(here, pick.arms[0], pick)
        weight = 1.0
        if weighted:
            if t == 0 or awake[t] != awake[t - 1]:
                pairs_of(here, pairs)
            for m in range(2):
                allowed, arm = pick.awake[m, : pick.sizes[m]], pick.arms[m]
                law(parameters, state, pairs, allowed, pick.arms[:m], coins[t, m], laws[m])
                if not is_drawable(laws[m], allowed):
                    return m
                laws[m, arm] = max(laws[m, arm], SMALLEST)
                weight *= laws[m, arm]
            weight /= probabilities[t]
        else:
            laws[0, pick.arms[0]] = laws[1, pick.arms[1]] = 1.0
        for m in range(2):
            allowed = pick.awake[m, : pick.sizes[m]]
            pick.memos[m] = remember(parameters, state, allowed, pick.arms[:m], laws[m], pick.arms[m], coins[t, m])
        shares[0] = 1.0 - weight * (1.0 - results[t])
        shares[1] = 1.0 - weight * results[t]
        learn(parameters, state, pick, shares)
        for m in range(2):
            for k in pick.awake[m, : pick.sizes[m]]:
                laws[m, k] = 0.0
    return -1


def _fold_at_once(
    arms: Ints, results: Floats, probabilities: Floats, awake_sets: Mask, awake: Ints, coins: Floats,
    weighted: bool, pick: Pick, pairs: Mask, fields: tuple[Any, ...],
) -> int:  # fmt: skip
    """Do what `_fold` does for a policy that counts, and learns many results in less time than one by one."""
    learn_log(Parameters(*fields[:N_PARAMETERS]), State(*fields[N_PARAMETERS:]), arms, results, awake_sets, awake)
    return -1
