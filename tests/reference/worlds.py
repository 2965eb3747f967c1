"""Worlds and games as they are defined: laws by enumeration, tables as printed, games solved in fractions."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Set = tuple[int, ...]  # sorted arms, the first one is 0

# Section "Experiments": awake set -> losses of its arms.
DEPENDENT: dict[Set, dict[int, float]] = {
    (0, 1): {0: 0.0, 1: 0.5},
    (0, 1, 2): {0: 0.0, 1: 0.5, 2: 1.0},
    (0, 2): {0: 1.0, 2: 0.0},
    (1, 2): {1: 0.0, 2: 1.0},
}
# The same section: the row player's loss, before it is moved to [0, 1].
P = ((0, 1, -1), (-1, 0, 1), (1, -1, 0))
# The awake sets of the game, and what the opponent plays there.
ROCK_PAPER_SCISSORS: dict[Set, tuple[float, float, float]] = {
    (0, 1): (0.0, 1.0, 0.0),
    (0, 1, 2): (1 / 3, 1 / 3, 1 / 3),
    (0, 2): (1.0, 0.0, 0.0),
    (1, 2): (0.0, 0.0, 1.0),
}
# The corrected example of Appendix A.1: awake set -> losses, and what the learner plays.
ORDERING_NOT_EXTERNAL: dict[Set, tuple[dict[int, float], int]] = {
    (0, 1): ({0: 0.0, 1: 1.0}, 1),
    (1, 2): ({1: 0.0, 2: 1.0}, 1),
    (2, 3): ({2: 0.0, 3: 1.0}, 2),
    (1, 3): ({1: 1.0, 3: 0.0}, 3),
}


def awake_law(rates: Sequence[float], smallest: int = 1) -> dict[Set, float]:
    """Return the law of independent arms, given that at least `smallest` are awake: over all 2^K sets."""
    law: dict[Set, float] = {}
    for pattern in itertools.product([False, True], repeat=len(rates)):
        chance = math.prod(a if here else 1 - a for a, here in zip(rates, pattern, strict=True))
        if sum(pattern) >= smallest:
            law[tuple(k for k, here in enumerate(pattern) if here)] = chance
    total = sum(law.values())
    return {S: chance / total for S, chance in law.items()}


def next_law(S: Set, K: int, sleep: float, wake: float) -> dict[Set, float]:
    """Return the law of the next awake set of on/off chains, given that it is not empty."""
    return awake_law([1 - sleep if k in S else wake for k in range(K)])


def rested(losses: Sequence[Sequence[float]], rest: int) -> list[list[bool]]:
    """Return who has not lost in the last `rest` rounds; where that is nobody, all."""
    awake = []
    for t in range(len(losses)):
        row = [all(losses[s][k] == 0 for s in range(max(t - rest, 0), t)) for k in range(len(losses[0]))]
        awake.append(row if any(row) else [True] * len(row))
    return awake


def cycling(rounds: int, K: int, n_awake: int) -> list[list[bool]]:
    """Return the arms t, ..., t + n_awake - 1 modulo K of each round t."""
    return [[k in {(t + n) % K for n in range(n_awake)} for k in range(K)] for t in range(rounds)]


def game_value(losses: Sequence[Sequence[float]]) -> Fraction:
    """Return the value exactly, by trying all square sub-matrices (Shapley and Snow).

    With all losses positive, some invertible sub-matrix M gives the value 1 / (1 M^-1 1) and optimal strategies of
    both players on its rows and columns.
    """
    A = [[Fraction(x) + 1 for x in row] for row in losses]
    rows, columns = range(len(A)), range(len(A[0]))
    for size in range(1, min(len(A), len(A[0])) + 1):
        for R in itertools.combinations(rows, size):
            for C in itertools.combinations(columns, size):
                y = _solve([[A[i][j] for j in C] for i in R])
                x = _solve([[A[i][j] for i in R] for j in C])
                if x is None or y is None or sum(x) <= 0 or min(x) < 0 or min(y) < 0:
                    continue
                v = 1 / sum(x, Fraction(0))
                worst = max(sum(v * x[n] * A[i][j] for n, i in enumerate(R)) for j in columns)
                best = min(sum(v * y[n] * A[i][j] for n, j in enumerate(C)) for i in rows)
                if worst == best == v:
                    return v - 1
    raise AssertionError("every game has a value")


def _solve(M: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the solution of M z = 1 by elimination, or None where there is not exactly one."""
    n = len(M)
    rows = [[*row, Fraction(1)] for row in M]
    for c in range(n):
        pivot = next((r for r in range(c, n) if rows[r][c] != 0), None)
        if pivot is None:
            return None
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for r in range(n):
            if r != c:
                rows[r] = [a - rows[r][c] * b for a, b in zip(rows[r], rows[c], strict=True)]
    return [row[-1] for row in rows]


def two_by_two(a: float, b: float, c: float, d: float) -> float:
    """Return the value of ((a, b), (c, d)): a saddle point if there is one, else the mixed formula."""
    low, high = max(min(a, c), min(b, d)), min(max(a, b), max(c, d))  # the columns' best, the rows' best
    return high if low == high else (a * d - b * c) / (a + d - b - c)


def exploitability(
    losses: Sequence[Sequence[float]], x: Sequence[float], y: Sequence[float], rows: Set, columns: Set
) -> float:
    """Return what both would gain in sum by best responses."""
    worst = max(sum(x[i] * losses[i][j] for i in rows) for j in columns)
    best = min(sum(y[j] * losses[i][j] for j in columns) for i in rows)
    return worst - best


def self_play(losses: Any, players: Any, awake: Any, uniforms: Any) -> tuple[list[int], list[int], list[Any]]:
    """Return the choices of both players and their laws; a player has the methods law, decided, learn."""
    chosen: tuple[list[int], list[int]] = ([], [])
    laws = []
    for t, row in enumerate(awake):
        S = [k for k in range(len(row)) if row[k]]
        moves = []
        for player, u in zip(players, uniforms[t], strict=True):
            p = player.law(S)
            before = 0.0
            for k in S:
                if u < before + p[k]:
                    break
                before += p[k]
            moves.append((k, p, player.decided(S, p, k, (u - before) / p[k])))
        loss = losses[moves[0][0]][moves[1][0]]
        for player, (k, p, note), own in zip(players, moves, (loss, 1.0 - loss), strict=True):
            player.learn(S, p, k, note, own)
        for arms, (k, _, _) in zip(chosen, moves, strict=True):
            arms.append(k)
        laws.append([p for _, p, _ in moves])
    return *chosen, laws
