"""Zero-sum games with sleeping actions, and the Nash equilibrium of every sub-game.

A game is the row player's losses; the column player loses one minus that. Opponents are worlds: see
`worlds.NashOpponent`, `worlds.BestResponse` and `worlds.self_play`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wakeful.inputs import must_be, numbers, truths, whole
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.policy import is_law

EXPLOITABLE = 1e-9  # a pair of strategies that can be exploited for more is not called an equilibrium
TOLERANCE = 1e-10  # of the linear programme, on losses stretched to [0, 1]; HiGHS takes no smaller one


class Nash(NamedTuple):
    """An equilibrium: probabilities of each player, zero on actions that are asleep, and the row player's loss."""

    row: Floats
    column: Floats
    value: float


@dataclass(frozen=True, eq=False, repr=False)
class Game:
    """A zero-sum game; actions of either player may sleep.

    Parameters:
        losses: what the row player loses when she plays the row and the other the column, in [0, 1]

    >>> rock_paper_scissors().nash([True, True, False], [True, True, False]).row  # without Scissors: Paper
    array([0., 1., 0.])
    """

    losses: Floats

    def __post_init__(self) -> None:
        """Keep a read-only copy."""
        losses = numbers("losses", self.losses, "a matrix of numbers").copy()
        if losses.ndim != 2 or losses.size == 0:
            raise ValueError(must_be("losses", "a matrix of numbers", self.losses))
        if not ((losses >= 0.0) & (losses <= 1.0)).all():
            raise ValueError(must_be("losses", "between 0 and 1", self.losses))
        losses.setflags(write=False)
        object.__setattr__(self, "losses", losses)

    def __eq__(self, other: object) -> bool:
        """Compare the losses exactly."""
        return np.array_equal(self.losses, other.losses) if isinstance(other, Game) else NotImplemented

    def __hash__(self) -> int:
        """Hash the losses; adding zero makes both zeros the same."""
        return hash((self.losses.shape, (self.losses + 0.0).tobytes()))

    def __repr__(self) -> str:
        """Print as the code that makes the game."""
        return f"Game({self.losses.tolist()!r})"

    def nash(self, awake_rows: ArrayLike | None = None, awake_columns: ArrayLike | None = None) -> Nash:
        """Return an equilibrium of the sub-game of the awake actions, by linear programme; by default all are awake.

        The row player's probabilities x minimise v under `x L <= v` in every awake column; the column player's are the
        dual solution. If there are several equilibria, one of them is returned.
        """
        rows, columns = self._awake(awake_rows, awake_columns)
        row, column = np.zeros(rows.size), np.zeros(columns.size)
        row[rows], column[columns] = _equilibrium(self.losses[np.ix_(rows, columns)])
        gap = self.exploitability(row, column, rows, columns)
        if gap > EXPLOITABLE:
            raise ArithmeticError(must_be("the exploitability of an equilibrium", f"at most {EXPLOITABLE}", gap))
        return Nash(row, column, float(row @ self.losses @ column))

    def exploitability(
        self,
        row: ArrayLike,
        column: ArrayLike,
        awake_rows: ArrayLike | None = None,
        awake_columns: ArrayLike | None = None,
    ) -> float:
        """Return the sum of what both players would gain by best responses: `max_j (row L)_j - min_i (L column)_i`.

        >>> rock_paper_scissors().exploitability([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
        1.0
        """
        rows, columns = self._awake(awake_rows, awake_columns)
        x = _checked_law("row", row, rows)
        y = _checked_law("column", column, columns)
        return float(gaps(self.losses, x, y, rows, columns))

    def _awake(self, rows: ArrayLike | None, columns: ArrayLike | None) -> tuple[Mask, Mask]:
        n_rows, n_columns = self.losses.shape
        return _checked_mask("awake_rows", rows, n_rows), _checked_mask("awake_columns", columns, n_columns)


def rock_paper_scissors() -> Game:
    """Return the game of the paper, losses `(1 + P) / 2`: actions are Rock, Paper, Scissors.

    >>> rock_paper_scissors()
    Game([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.5]])
    """
    return Game(np.array([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.5]]))


def random_game(n_arms: int, rng: np.random.Generator) -> Game:
    """Return a symmetric game: gains `G[i, j] ~ U(0, 1)` for i < j, `G[j, i] = 1 - G[i, j]`, `G[i, i] = 1/2`.

    The loss of i against j is `1 - G[i, j]`.
    """
    whole("n_arms", n_arms, "a whole number from 1", 1)
    gains = np.triu(rng.random((n_arms, n_arms)), 1)
    return Game(np.triu(1.0 - gains, 1) + np.triu(gains, 1).T + np.eye(n_arms) / 2)


def _equilibrium(losses: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of both players in equilibrium, all actions being awake.

    On losses that differ by as little as its tolerance, the programme may leave a gap or find nothing. Then it is
    solved again with the players' roles exchanged, and each player takes the better answer.
    """
    spread = float(losses.max() - losses.min())
    stretched = (losses - losses.min()) / (spread or 1.0)
    pairs = _programme(stretched)
    if not pairs or gaps(stretched, *pairs[0]) > EXPLOITABLE / 1000:
        pairs += [(row, column) for column, row in _programme(1.0 - stretched.T)]
    if not pairs:
        raise ArithmeticError(must_be("the linear programme of a game", "solvable", losses))
    row = min((pair[0] for pair in pairs), key=lambda x: float((x @ stretched).max()))
    column = max((pair[1] for pair in pairs), key=lambda y: float((stretched @ y).min()))
    return row, column


def _programme(losses: Floats) -> list[tuple[Floats, Floats]]:
    """Return the solution and the dual solution of `minimise v, x losses <= v`, as probabilities, if they are found."""
    from scipy.optimize import linprog

    n_rows, n_columns = losses.shape
    solved = linprog(
        c=np.append(np.zeros(n_rows), 1.0),
        A_ub=np.hstack([losses.T, -np.ones((n_columns, 1))]),
        b_ub=np.zeros(n_columns),
        A_eq=np.append(np.ones(n_rows), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n_rows + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )
    if solved.status != 0:
        return []
    laws = np.maximum(solved.x[:-1], 0.0), np.maximum(-solved.ineqlin.marginals, 0.0)
    row, column = (law / law.sum() if law.any() else np.full(law.size, 1.0 / law.size) for law in laws)
    return [(row, column)]


def gaps(
    losses: Floats, rows: Floats, columns: Floats, awake_rows: Mask | bool = True, awake_columns: Mask | bool = True
) -> Floats:
    """Return the exploitability of pairs of strategies: one pair and its awake actions in each row."""
    worst = np.where(awake_columns, rows @ losses, -np.inf).max(axis=-1)
    best = np.where(awake_rows, columns @ losses.T, np.inf).min(axis=-1)
    found: Floats = np.maximum(worst - best, 0.0)  # rounding may leave a trace below zero
    return found


def _checked_mask(name: str, awake: ArrayLike | None, size: int) -> Mask:
    """Return the mask of awake actions; by default all are awake."""
    if awake is None:
        return np.ones(size, np.bool_)
    mask = truths(name, awake, f"{size} booleans")
    if mask.shape != (size,):
        raise ValueError(must_be(name, f"{size} booleans", awake))
    if not mask.any():
        raise ValueError(must_be(name, "true somewhere", awake))
    return mask


def _checked_law(name: str, law: ArrayLike, awake: Mask) -> Floats:
    """Return probabilities of the awake actions, checked."""
    rule = "probabilities of the awake actions: non-negative, zero on arms that are asleep, summing to one"
    p = numbers(name, law, rule)
    if not is_law(p, awake):
        raise ValueError(must_be(name, rule, law))
    return p
