"""Regrets as they are defined: loops over rounds, over all K! orderings, all swaps, all policies."""

import itertools
from collections.abc import Mapping, Sequence

Rows = Sequence[Sequence[float]]


def internal(awake: Sequence[Sequence[bool]], losses: Rows, choices: Sequence[int]) -> list[list[float]]:
    """R(i -> j): what was lost by playing i, and would not have been by playing j, where j was awake."""
    K = len(awake[0])
    R = [[0.0] * K for _ in range(K)]
    for S, loss, k in zip(awake, losses, choices, strict=True):
        for i in range(K):
            for j in range(K):
                if k == i and S[j]:
                    R[i][j] += loss[i] - loss[j]
    return R


def external(awake: Sequence[Sequence[bool]], losses: Rows, choices: Sequence[int]) -> list[float]:
    """R(k): what was lost more than by arm k, over the rounds in which k was awake."""
    K = len(awake[0])
    R = [0.0] * K
    for S, loss, played in zip(awake, losses, choices, strict=True):
        for k in range(K):
            if S[k]:
                R[k] += loss[played] - loss[k]
    return R


def of_ordering(
    awake: Sequence[Sequence[bool]], losses: Rows, choices: Sequence[int], ordering: Sequence[int]
) -> float:
    """What was lost more than by always playing the first awake arm of `ordering`."""
    total = 0.0
    for S, loss, played in zip(awake, losses, choices, strict=True):
        if any(S):
            first = next(k for k in ordering if S[k])
            total += loss[played] - loss[first]
    return total


def ordering(awake: Sequence[Sequence[bool]], losses: Rows, choices: Sequence[int]) -> float:
    """The largest of these over all orderings."""
    K = len(awake[0])
    return max(of_ordering(awake, losses, choices, order) for order in itertools.permutations(range(K)))


def of_swap(awake: Sequence[Sequence[bool]], losses: Rows, choices: Sequence[int], swap: Sequence[int]) -> float:
    """What was lost more than by playing `swap[i]` in place of i, where it was awake."""
    total = 0.0
    for S, loss, k in zip(awake, losses, choices, strict=True):
        if any(S) and S[swap[k]]:
            total += loss[k] - loss[swap[k]]
    return total


def swap(awake: Sequence[Sequence[bool]], losses: Rows, choices: Sequence[int]) -> float:
    """The largest of these over all K^K functions from arms to arms."""
    K = len(awake[0])
    return max(of_swap(awake, losses, choices, f) for f in itertools.product(range(K), repeat=K))


def of_policy(
    awake: Sequence[Sequence[bool]], losses: Rows, choices: Sequence[int], policy: Mapping[tuple[int, ...], int]
) -> float:
    """What was lost more than by playing `policy[S]` whenever S was awake."""
    total = 0.0
    for S, loss, k in zip(awake, losses, choices, strict=True):
        if any(S):
            arm = policy[tuple(i for i in range(len(S)) if S[i])]
            assert S[arm]
            total += loss[k] - loss[arm]
    return total


def policy(awake: Sequence[Sequence[bool]], losses: Rows, choices: Sequence[int]) -> float:
    """The largest of these over all maps from the sets there were to their arms."""
    sets = sorted({tuple(i for i in range(len(S)) if S[i]) for S in awake} - {()})
    return max(
        of_policy(awake, losses, choices, dict(zip(sets, arms, strict=True))) for arms in itertools.product(*sets)
    )
