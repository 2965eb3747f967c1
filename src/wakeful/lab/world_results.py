"""`WorldResults`: what a simulation found in several worlds, with one summary, one figure and one file."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from wakeful import files
from wakeful.inputs import must_be, one_of
from wakeful.lab.results import Results, Summary, summary_table
from wakeful.limits import MAX_BYTES

KIND = "wakeful results of worlds"


class WorldRow(NamedTuple):
    """One policy's regret in one world at the last round, over the runs; rank 1 has the smallest mean there."""

    world: str
    rank: int
    policy: str
    mean: float
    standard_error: float
    lower_quartile: float
    median: float
    upper_quartile: float
    quantile_90: float
    worst: float


class WorldSummary(Sequence[WorldRow]):
    """The rows of all worlds, in each the best policy first; prints as a table for each world."""

    def __init__(self, parts: Mapping[str, Summary]) -> None:
        self._parts = dict(parts)
        self._rows = tuple(WorldRow(world, *row) for world, summary in parts.items() for row in summary)

    def __getitem__(self, index: Any) -> Any:
        """Return a row, or a tuple of rows for a slice."""
        return self._rows[index]

    def __len__(self) -> int:
        """Return how many rows there are: worlds times policies."""
        return len(self._rows)

    def __repr__(self) -> str:
        """Return an aligned table for each world."""
        return "\n\n".join(map(repr, self._parts.values()))

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas, or of polars where only that is installed."""
        return summary_table("", self._rows).to_frame()

    def to_markdown(self) -> str:
        """Return a Markdown table of all worlds."""
        return summary_table("", self._rows).to_markdown()

    def to_latex(self) -> str:
        """Return a LaTeX `tabular` of all worlds, with the rules of the package booktabs."""
        return summary_table("", self._rows).to_latex()

    def _repr_html_(self) -> str:
        """Show a table in notebooks."""
        return summary_table("", self._rows).to_html(whole_page=False)


@dataclass(frozen=True, eq=False)
class WorldResults(Mapping[str, Results]):
    """The results in each world, by its name.

    >>> from wakeful import SIExp3, SleepingUCB, simulate
    >>> from wakeful.worlds import Dependent, Stochastic
    >>> results = simulate([SIExp3(), SleepingUCB()], {"D": Dependent(), "S": Stochastic()}, rounds=1e3, runs=2)
    >>> list(results), len(results.summary("policy"))
    (['D', 'S'], 4)
    """

    worlds: Mapping[str, Results]

    def __getitem__(self, world: str) -> Results:
        """Return the results in one world."""
        return self.worlds[one_of("world", world, self.worlds)]

    def __iter__(self) -> Iterator[str]:
        """Return the names of the worlds."""
        return iter(self.worlds)

    def __len__(self) -> int:
        """Return how many worlds there are."""
        return len(self.worlds)

    def summary(self, regret: str | None = None) -> WorldSummary:
        """Return mean, standard error and quantiles of each policy's regret at the last round, world by world."""
        return WorldSummary({name: results.summary(regret) for name, results in self.worlds.items()})

    def to_frame(self) -> Any:
        """Return one row for every world, regret, policy, run and checkpoint, as a data frame."""
        parts = []
        for name, results in self.worlds.items():
            frame = results.to_frame()
            parts.append(frame.assign(world=name) if hasattr(frame, "assign") else _with_world(frame, name))
        try:
            import pandas as pd
        except ImportError:
            import polars as pl

            return pl.concat(parts)
        return pd.concat(parts, ignore_index=True)

    def plot(self, regret: str | None = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Draw a panel for each world under one legend; return the figure, and write it to `path` if one is given.

        `columns=2` sets two panels side by side; other options are those of a single figure, such as `loglog`.
        """
        try:
            from wakeful.lab import plots
        except ImportError:
            raise ImportError("figures need the extra 'lab': pip install 'wakeful[lab]'") from None
        figure = plots.curve_panels(list(self.worlds.items()), regret, **options)
        if path is not None:
            plots.save(figure, path)
        return figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one zip file of arrays."""
        if Path(path).suffix == ".parquet":
            rule = "a file of another kind; for Parquet use to_frame().to_parquet(path), or save each world by itself"
            raise ValueError(must_be("path", rule, str(path)))
        headers, arrays = {}, {}
        for n, (name, results) in enumerate(self.worlds.items()):
            headers[name], own = results.parts()
            arrays.update({f"{n} {field}": array for field, array in own.items()})
        files.write(path, {"kind": KIND, "worlds": headers}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> "WorldResults":
        """Read what `save` wrote, if it takes at most `max_bytes` of memory."""
        return files.read(path, KIND, cls._restored, max_bytes)

    @classmethod
    def _restored(cls, header: dict[str, Any], arrays: dict[str, Any]) -> "WorldResults":
        found = {}
        for n, (name, about) in enumerate(header["worlds"].items()):
            mark = f"{n} "
            own = {field.removeprefix(mark): array for field, array in arrays.items() if field.startswith(mark)}
            found[name] = Results.from_parts(about, own)
        return cls(found)


def _with_world(frame: Any, name: str) -> Any:
    """Return a frame of polars with a column for the world."""
    import polars as pl

    return frame.with_columns(pl.lit(name).alias("world"))
