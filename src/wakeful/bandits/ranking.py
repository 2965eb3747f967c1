"""A ranking of arms from their wins over each other, with confidence intervals."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats

PRIOR = 2.0  # standard deviation of log-strengths before any duel: where few met, they stay near the mean
SPREAD = 1.959963984540054  # standard errors on each side of a 95 % interval
TURNS = 100


class Rank(NamedTuple):
    """One arm: its log-strength, less the mean of all, between `low` and `high` with 95 % confidence."""

    rank: int
    arm: Hashable
    strength: float
    low: float
    high: float
    wins: float
    duels: float


class Ranking(Sequence[Rank]):
    """The arms, strongest first; prints as a table."""

    def __init__(self, ranks: Sequence[Rank]) -> None:
        self._ranks = tuple(ranks)

    def __getitem__(self, index: Any) -> Any:
        """Return one rank, or a tuple of them for a slice."""
        return self._ranks[index]

    def __len__(self) -> int:
        """Return how many arms there are."""
        return len(self._ranks)

    def __repr__(self) -> str:
        """Return an aligned table."""
        wide = max(len(str(rank.arm)) for rank in self._ranks)
        heads = ("strength", "95 % from", "to", "wins", "duels")
        rows = [[f"{r[n]:.3f}" if n < 5 else f"{r[n]:,.1f}" for n in range(2, 7)] for r in self._ranks]
        widths = [max(map(len, column)) + 3 for column in zip(heads, *rows, strict=True)]
        firsts = [" " * (wide + 5), *(f"{r.rank:>3}  {r.arm!s:<{wide}}" for r in self._ranks)]
        lines = zip(firsts, (heads, *rows), strict=True)
        return "\n".join(first + "".join(f"{x:>{w}}" for x, w in zip(row, widths, strict=True)) for first, row in lines)


def ranking(names: Sequence[Hashable], wins: Floats) -> Ranking:
    """Rank arms by Bradley-Terry strengths: the odds that i beats j are exp(strength i - strength j).

    The most likely strengths under a weak normal prior, so that arms which never met are ranked too, with wide
    intervals; these come from the curvature of the likelihood. It is a summary: preferences need not be of this kind.

    >>> ranking(["a", "b"], np.array([[0.0, 30.0], [10.0, 0.0]]))
             strength   95 % from       to   wins   duels
      1  a      0.540       0.187    0.894   30.0    40.0
      2  b     -0.540      -0.894   -0.187   10.0    40.0
    """
    met = wins + wins.T
    np.fill_diagonal(met, 0.0)
    won = wins.sum(axis=1) - np.diag(wins)
    strengths = np.zeros(len(won))
    precision = np.eye(len(won)) / PRIOR**2
    for _ in range(TURNS):  # Newton: the likelihood is concave
        chances = 1.0 / (1.0 + np.exp(strengths[None, :] - strengths[:, None]))
        slope = won - (met * chances).sum(axis=1) - strengths / PRIOR**2
        weight = met * chances * (1.0 - chances)
        curvature = np.diag(weight.sum(axis=1)) - weight + precision
        move = np.linalg.solve(curvature, slope)
        strengths = strengths + move / max(1.0, float(np.abs(move).max()))
        if float(np.abs(move).max()) < 1e-10:
            break
    centred = np.eye(len(won)) - 1.0 / len(won)
    errors = np.sqrt(np.diag(centred @ np.linalg.inv(curvature) @ centred))
    strengths = strengths - strengths.mean()
    order = np.lexsort((np.arange(len(won)), -strengths))
    return Ranking(
        [
            Rank(
                place,
                names[k],
                float(strengths[k]),
                float(strengths[k] - SPREAD * errors[k]),
                float(strengths[k] + SPREAD * errors[k]),
                float(won[k]),
                float(met[k].sum()),
            )
            for place, k in enumerate(order.tolist(), 1)
        ]
    )
