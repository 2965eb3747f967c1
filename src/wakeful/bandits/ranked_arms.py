"""`RankedArms`: arms by strength, as rows that print as a table, wherever the strengths were computed."""

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from wakeful.bandits.tables import Column, Table

HEADS = {"log": "strength", "elo": "Elo", "probability": "beats the mean"}


class Rank(NamedTuple):
    """One arm of a ranking.

    Parameters:
        rank: its place, the strongest arm having 1; arms that have not played come last
        arm: its name
        strength: on the scale of the ranking, less the mean of the arms that it can be compared with
        low, high: the ends of the interval of its strength
        wins: how often it won; results without sides and ties count a tie as half
        duels: how often it played
        ties: how often nobody won
        best_rank, worst_rank: between them is its true rank, with the confidence of the ranking
        retired: whether it is retired
    """

    rank: int
    arm: Any
    strength: float
    low: float
    high: float
    wins: float
    duels: float
    ties: float = 0.0
    best_rank: int = 1
    worst_rank: int = 1
    retired: bool = False


class Estimate(NamedTuple):
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float


class RankedArms(Sequence[Rank]):
    """The arms, strongest first; prints as a table, and has `to_frame`, `to_csv`, `to_markdown` and `to_html`."""

    def __init__(self, ranks: Sequence[Rank], scale: str, level: float) -> None:
        self._ranks = tuple(ranks)
        self.scale, self.level = scale, level

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """What the page says below the table."""

    def __getitem__(self, index: Any) -> Any:
        """Return one rank, or a tuple of them for a slice."""
        return self._ranks[index]

    def __len__(self) -> int:
        """Return how many arms there are."""
        return len(self._ranks)

    def __repr__(self) -> str:
        """Return an aligned table; if it is empty, why."""
        return self._table().to_text() if self._ranks else "\n".join(self.notes)

    def to_frame(self) -> Any:
        """Return a data frame of pandas, or of polars where only that is installed; one column for each field."""
        return self._data().to_frame()

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the same columns as comma-separated text; write it to `path` as well, if that is given."""
        return self._data().to_csv(path)

    def to_markdown(self) -> str:
        """Return the printed table in Markdown."""
        return self._table().to_markdown()

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, title: str = "Leaderboard", whole_page: bool = True
    ) -> str:
        """Return the printed table as a page of HTML that needs no other file.

        Parameters:
            path: where to write it as well, if it is given
            title: of the page
            whole_page: if False, return only the part that belongs into the body of another page
        """
        return self._table(str(title)).to_html(path, whole_page=whole_page)

    def _data(self) -> Table:
        """Return all fields as a table."""
        return Table(tuple(Column(name, name) for name in Rank._fields), self._ranks)

    def _table(self, title: str = "") -> Table:
        """Return what people read."""
        digits = "{:z,.0f}".format if self.scale == "elo" else "{:z.3f}".format
        columns = [
            Column("rank", ""),
            Column("arm", "", number=False),
            Column("strength", HEADS[self.scale], digits),
            Column("low", f"{100 * self.level:g} % from", digits),
            Column("high", "to", digits),
            Column("best_rank", "ranks", _ranks_shown),
            Column("wins", "wins", count_shown, minor=True),
            Column("ties", "ties", count_shown, minor=True),
            Column("duels", "duels", count_shown, minor=True),
            Column("retired", "", lambda gone: "retired" if gone else ""),
        ]
        rows = [
            [(r.best_rank, r.worst_rank) if c.name == "best_rank" else getattr(r, c.name) for c in columns]
            for r in self
        ]
        kept = [n for n, c in enumerate(columns) if c.name not in {"ties", "retired"} or any(row[n] for row in rows)]
        faint = frozenset(n for n, r in enumerate(self) if r.retired)
        shown = [[row[n] for n in kept] for row in rows]
        return Table(tuple(columns[n] for n in kept), shown, title, self.notes, faint)


def _ranks_shown(ends: tuple[int, int]) -> str:
    """Return "3" or "3 to 5"."""
    return f"{ends[0]}" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def count_shown(count: float) -> str:
    """Return a number of duels, with a fraction only if it has one."""
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"
