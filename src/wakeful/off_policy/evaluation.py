"""`Evaluation`: what `evaluate` found, as text, data frame, Markdown, LaTeX, figure and file."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from wakeful.bandits.tables import Column, Table
from wakeful.inputs import must_be
from wakeful.lab import tables
from wakeful.logs.parquet import arrow

KIND = "wakeful evaluation"
TITLES = {
    "dr": "doubly robust",
    "ips": "inverse propensity scores",
    "snips": "self-normalised inverse propensity scores",
    "replay": "rejection replay",
    "direct": "direct method, biased",
}
INTERVAL_TITLES = {"bernstein": "empirical Bernstein", "normal": "normal"}


class EvaluationRow(NamedTuple):
    """What is estimated for one policy: its mean loss, an interval, and how much the log says about it."""

    policy: str
    value: float
    low: float
    high: float
    effective_sample_size: float
    largest_weight: float
    warning: str


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _round(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.1f}"


COLUMNS = (
    Column("policy", "policy", number=False),
    Column("value", "loss", _number),
    Column("low", "low", _number),
    Column("high", "high", _number),
    Column("effective_sample_size", "effective rounds", _round),
    Column("largest_weight", "largest weight", _round),
    Column("warning", "warning", number=False),
)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The mean loss that each policy would have had on a log; prints as a table.

    Parameters:
        rows: one for each policy, in the order given
        rounds: how many rows the log has
        logged: the mean loss of the decisions in the log
        log: what the log is called
        policies: their names and how they print
        estimator: which one it is
        interval: of which kind
        level: of the intervals
        seed: of the coins
        skipped: how many rows of the log were wrong and left out
        duplicates: how many were left out since their id was there before
    """

    rows: tuple[EvaluationRow, ...]
    rounds: int
    logged: float
    log: str
    policies: Mapping[str, str]
    estimator: str
    interval: str
    level: float
    seed: int
    skipped: int = 0
    duplicates: int = 0

    def __len__(self) -> int:
        """Return how many policies there are."""
        return len(self.rows)

    def __iter__(self) -> Iterator[EvaluationRow]:
        """Yield the rows."""
        return iter(self.rows)

    def __getitem__(self, key: int | str) -> EvaluationRow:
        """Return the row at a position, or that of a policy by its name."""
        if isinstance(key, str):
            for row in self.rows:
                if row.policy == key:
                    return row
            raise KeyError(must_be("policy", f"one of {', '.join(map(repr, self.policies))}", key))
        return self.rows[key]

    @property
    def title(self) -> str:
        """What the table is about."""
        kind = (
            f", {100.0 * self.level:g} % {INTERVAL_TITLES[self.interval]} intervals"
            if self.estimator != "direct"
            else ""
        )
        where = f"mean loss in {self.rounds:,} rounds of {self.log}, where it was {self.logged:.4f}"
        return f"{where}; {TITLES[self.estimator]}{kind}{self._left_out()}"

    def _left_out(self) -> str:
        """Return which rows of the log are not in it, if any."""
        counts = {"that are wrong": self.skipped, "with an id that was there before": self.duplicates}
        parts = [f"{count:,} row{'s' * (count != 1)} {which}" for which, count in counts.items() if count]
        return f"; without {' and '.join(parts)}" if parts else ""

    def __repr__(self) -> str:
        """Return the title and the table."""
        return f"{self.title}\n{self._table().to_text()}"

    def _table(self) -> Table:
        columns = COLUMNS if any(row.warning for row in self.rows) else COLUMNS[:-1]
        return Table(columns, [row[: len(columns)] for row in self.rows], self.title)

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas, or of polars where only that is installed."""
        return Table(COLUMNS, self.rows).to_frame()

    def to_markdown(self) -> str:
        """Return a table in Markdown."""
        return self._table().to_markdown()

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return a page of HTML, with warnings below the table, and write it to `path` if that is given."""
        notes = tuple(f"{row.policy}: {row.warning}." for row in self.rows if row.warning)
        return Table(COLUMNS[:-1], [row[:-1] for row in self.rows], self.title, notes).to_html(path)

    def to_latex(self) -> str:
        """Return a table in LaTeX, with the rules of booktabs."""
        return self._table().to_latex()

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the estimates with their intervals; return the figure, and write it to `path` if one is given."""
        try:
            from wakeful.off_policy import plots
        except ImportError:
            raise ImportError("figures need the extra 'lab': pip install 'wakeful[lab]'") from None
        return plots.intervals(self.rows, self.logged, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rows to a `.parquet` file, with everything else in its metadata, or to a `.csv` file."""
        kind = Path(path).suffix
        if kind == ".csv":
            Table(COLUMNS, self.rows).to_csv(path)
        elif kind == ".parquet":
            pa, _ = arrow()
            columns = {
                column.name: list(cells) for column, cells in zip(COLUMNS, zip(*self.rows, strict=True), strict=True)
            }
            about = {name: value for name, value in asdict(self).items() if name != "rows"}
            tables.write(path, pa.table(columns).replace_schema_metadata({KIND: json.dumps(about)}))
        else:
            raise ValueError(must_be("path", "a file that ends in .parquet or .csv", str(path)))
