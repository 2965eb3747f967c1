"""`Results`: the regrets that a simulation found, with summaries, comparisons, plots and files."""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wakeful import files
from wakeful.bandits.tables import Column, Table
from wakeful.inputs import must_be, one_of, whole
from wakeful.lab import tables
from wakeful.limits import MAX_BYTES
from wakeful.logs.parquet import arrow
from wakeful.numerics.arrays import Floats, Ints

KIND = "wakeful results"
FIGURES = (".png", ".svg", ".pdf")  # the kinds of files that figures are written to


class Row(NamedTuple):
    """One policy's regret at the last round, over the runs; rank 1 has the smallest mean."""

    rank: int
    policy: str
    mean: float
    standard_error: float
    lower_quartile: float
    median: float
    upper_quartile: float
    quantile_90: float
    worst: float


class Summary(Sequence[Row]):
    """The rows of all policies, best first; prints as a table."""

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        self.title = title
        self._rows = tuple(rows)

    def __getitem__(self, index: Any) -> Any:
        """Return a row, or a tuple of rows for a slice."""
        return self._rows[index]

    def __len__(self) -> int:
        """Return how many policies there are."""
        return len(self._rows)

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas, or of polars where only that is installed."""
        return summary_table(self.title, self._rows).to_frame()

    def to_markdown(self) -> str:
        """Return a Markdown table."""
        return summary_table(self.title, self._rows).to_markdown()

    def to_latex(self) -> str:
        """Return a LaTeX `tabular`, with the rules of the package booktabs."""
        return summary_table(self.title, self._rows).to_latex()

    def _repr_html_(self) -> str:
        """Show a table in notebooks."""
        return summary_table(self.title, self._rows).to_html(whole_page=False)

    def __repr__(self) -> str:
        """Return an aligned table."""
        wide = max(len(row.policy) for row in self._rows)
        heads = ["mean", "+-", "25 %", "median", "75 %", "90 %", "worst"]
        lines = [self.title, " " * (wide + 4) + "".join(f"{head:>11}" for head in heads)]
        for row in self._rows:
            numbers = "".join(f"{number:>z11,.1f}" for number in row[2:])
            lines.append(f"{row.rank:>2}  {row.policy:<{wide}}{numbers}")
        return "\n".join(lines)


def summary_table(title: str, rows: Sequence[Any]) -> Table:
    """Return rows of a summary as a table, those of several worlds with the name of the world in front."""
    known: dict[str, Column] = {
        "world": Column("world", "world", number=False),
        "rank": Column("rank", "rank"),
        "policy": Column("policy", "policy", number=False),
    }
    heads = {"standard_error": "+-", "lower_quartile": "25 %", "upper_quartile": "75 %", "quantile_90": "90 %"}
    columns = [known.get(n) or Column(n, heads.get(n, n), _one_decimal) for n in rows[0]._fields]
    return Table(tuple(columns), rows, title)


def _one_decimal(value: float) -> str:
    """Return a regret as people read it; nothing if it is unknown."""
    return "" if math.isnan(value) else f"{value:z,.1f}"


class Comparison(NamedTuple):
    """The regret of one policy less that of another, run by run: they played the same rounds."""

    difference: float
    standard_error: float
    low: float
    high: float
    confidence: float
    share_lower: float  # of the runs in which the first one had less regret


def growth_exponent(checkpoints: ArrayLike, mean: ArrayLike, since: float = 0.25) -> float:
    """Return the exponent a of `T^a` with which a mean regret grew over the last part of the horizon.

    `a = log(R_T / R_s) / log(T / s)`, s about `since` T. A regret that is not positive at T has not grown: its exponent
    is 0. One that is positive at T only has an infinite one, and one that is known once has none (NaN).

    >>> growth_exponent([1, 4, 16], [10.0, 20.0, 40.0])
    0.5
    """
    marks, values = np.asarray(checkpoints, np.float64), np.asarray(mean, np.float64)
    if marks.size < 2:
        return math.nan
    at = min(int(np.searchsorted(marks, since * marks[-1])), marks.size - 2)
    if values[-1] <= 0.0:
        return 0.0
    if values[at] <= 0.0:
        return math.inf
    return math.log(values[-1] / values[at]) / math.log(marks[-1] / marks[at])


@dataclass(frozen=True, eq=False)
class Results:
    """Regrets of policies in a world, at checkpoints, for every run.

    Parameters:
        policies: their names and how they print
        world: how it prints
        rounds: T
        runs: how many
        seed: of the whole simulation
        checkpoints: the rounds at which regrets are known, the last one is T
        regrets: for each notion an array (policies, runs, checkpoints)
        internal: for each policy the mean over runs of the K x K internal regrets at T, if they were asked for
    """

    policies: Mapping[str, str]
    world: str
    rounds: int
    runs: int
    seed: int
    checkpoints: Ints
    regrets: Mapping[str, Floats]
    internal: Floats

    def final(self, regret: str, policy: str) -> Floats:
        """Return the regret at the last round, one number for each run."""
        return self.curve(regret, policy)[:, -1]

    def curve(self, regret: str, policy: str) -> Floats:
        """Return the regret of every run at every checkpoint, an array (runs, checkpoints)."""
        one_of("regret", regret, self.regrets)
        one_of("policy", policy, self.policies)
        curves: Floats = self.regrets[regret][list(self.policies).index(policy)]
        return curves

    def main(self, regret: str | None = None) -> str:
        """Return `regret`; if it is None, policy regret if it was kept, else the first regret that was kept."""
        if regret is not None:
            return one_of("regret", regret, self.regrets)
        return "policy" if "policy" in self.regrets else next(iter(self.regrets))

    def summary(self, regret: str | None = None) -> Summary:
        """Return mean, standard error and quantiles of each policy's regret at the last round, best first."""
        regret = self.main(regret)
        rows = []
        for policy in self.policies:
            values = self.final(regret, policy)
            error = float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.nan
            quantiles = map(float, np.quantile(values, [0.25, 0.5, 0.75, 0.9, 1.0]))
            rows.append(Row(0, policy, float(values.mean()), error, *quantiles))
        rows.sort(key=lambda row: row.mean)
        title = f"{regret} regret after {self.rounds:,} rounds of {self.world}, {self.runs} runs, seed {self.seed}"
        return Summary(title, [row._replace(rank=n) for n, row in enumerate(rows, 1)])

    def compare(self, first: str, second: str, regret: str | None = None, confidence: float = 0.95) -> Comparison:
        """Return the paired difference of two policies with its confidence interval (Student's t)."""
        if not 0.0 < confidence < 1.0:
            raise ValueError(must_be("confidence", "between 0 and 1", confidence))
        if self.runs < 2:
            raise ValueError(must_be("runs", "at least 2 for a comparison", self.runs))
        from scipy.special import stdtrit

        regret = self.main(regret)
        gaps = self.final(regret, first) - self.final(regret, second)
        mean, error = float(gaps.mean()), float(gaps.std(ddof=1)) / math.sqrt(gaps.size)
        reach = float(stdtrit(gaps.size - 1, 0.5 + confidence / 2.0)) * error
        return Comparison(mean, error, mean - reach, mean + reach, confidence, float((gaps < 0).mean()))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one record for every regret, policy, run and checkpoint."""
        for regret, curves in self.regrets.items():
            for policy, runs in zip(self.policies, curves, strict=True):
                for run, values in enumerate(runs):
                    for checkpoint, value in zip(self.checkpoints, values, strict=True):
                        yield {
                            "regret": regret,
                            "policy": policy,
                            "run": run,
                            "round": int(checkpoint),
                            "value": float(value),
                        }

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas, or of polars where only that is installed."""
        columns = self._columns()
        try:
            import pandas as pd
        except ImportError:
            import polars as pl

            return pl.DataFrame(columns)
        return pd.DataFrame(columns)

    def plot(self, regret: str | None = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Draw the regret curves with their quartiles; return the figure, and write it to `path` if one is given."""
        try:
            from wakeful.lab import plots
        except ImportError:
            raise ImportError("figures need the extra 'lab': pip install 'wakeful[lab]'") from None
        figure = plots.regret_curves(self, self.main(regret), **options)
        if path is not None:
            plots.save(figure, path)
        return figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to `path`: as Parquet if it ends in `.parquet`, else as a zip of arrays."""
        if Path(path).suffix == ".parquet":
            self._save_parquet(path)
        else:
            files.write(path, *self.parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> "Results":
        """Read what `save` wrote, if it takes at most `max_bytes` of memory."""
        if Path(path).suffix == ".parquet":
            return cls._load_parquet(path, max_bytes)
        return files.read(path, KIND, cls.from_parts, max_bytes)

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what `save` writes: a header of plain values, and arrays by name."""
        arrays = {f"regret {name}": values for name, values in self.regrets.items()}
        return self._header(), {"checkpoints": self.checkpoints, "internal": self.internal, **arrays}

    def _header(self) -> dict[str, Any]:
        names = ("policies", "world", "rounds", "runs", "seed")
        header = {name: getattr(self, name) for name in names}
        return {"kind": KIND, **header, "policies": dict(self.policies), "regrets": list(self.regrets)}

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, Any]) -> "Results":
        """Return the results that `parts` described, if all fits."""
        names = ("policies", "world", "rounds", "runs", "seed")
        about = {name: header[name] for name in names}
        for name, least in (("rounds", 1), ("runs", 1), ("seed", 0)):
            whole(name, about[name], f"a whole number from {least}", least)
        if not isinstance(about["policies"], dict) or not isinstance(about["world"], str):
            raise TypeError(must_be("policies and world", "names", (about["policies"], about["world"])))
        regrets = {name: arrays[f"regret {name}"] for name in header["regrets"]}
        checkpoints, internal = arrays["checkpoints"], arrays["internal"]
        if checkpoints.dtype != np.int64 or checkpoints.ndim != 1 or not checkpoints.size:
            raise ValueError(must_be("checkpoints", "a row of whole numbers", checkpoints))
        if not regrets or (np.diff(checkpoints, prepend=0) < 1).any() or checkpoints[-1] != about["rounds"]:
            raise ValueError(must_be("checkpoints", f"rising up to {about['rounds']}", checkpoints))
        shape = (len(header["policies"]), header["runs"], checkpoints.size)
        if any(values.shape != shape or values.dtype != np.float64 for values in regrets.values()):
            raise ValueError(must_be("regrets", f"arrays of shape {shape}", {k: v.shape for k, v in regrets.items()}))
        return cls(**about, checkpoints=checkpoints, regrets=regrets, internal=internal)

    def _columns(self) -> dict[str, Any]:
        """Return the rows as columns, without a Python loop over them."""
        shape = (len(self.regrets), len(self.policies), self.runs, self.checkpoints.size)
        grid = np.indices(shape).reshape(4, -1)
        return {
            "regret": np.array(list(self.regrets))[grid[0]],
            "policy": np.array(list(self.policies))[grid[1]],
            "run": grid[2],
            "round": self.checkpoints[grid[3]],
            "value": np.stack(list(self.regrets.values())).ravel(),
        }

    def _save_parquet(self, path: str | os.PathLike[str]) -> None:
        pa, _ = arrow()
        about = json.dumps({**self._header(), "internal": self.internal.tolist(), "sealed": True})
        tables.write(path, pa.table(self._columns()).replace_schema_metadata({KIND: about}))

    @classmethod
    def _load_parquet(cls, path: str | os.PathLike[str], max_bytes: int) -> "Results":
        header, columns = tables.read(path, KIND, ("value", "round"), max_bytes)
        try:
            shape = (len(header["regrets"]), len(header["policies"]), header["runs"], -1)
            values = columns["value"].reshape(shape)
            arrays = {f"regret {name}": array for name, array in zip(header["regrets"], values, strict=True)}
            arrays["checkpoints"] = columns["round"][: values.shape[-1]]
            internal = np.array(header["internal"], np.float64)
            arrays["internal"] = internal if internal.size else np.zeros((shape[1], 0, 0))
            return cls.from_parts(header, arrays)
        except (KeyError, TypeError, ValueError) as problem:
            rule = "a Parquet file that Results.save wrote, complete and unchanged"
            raise ValueError(must_be("path", rule, str(path)) + f": {problem}") from problem


def checked_figure(name: str, path: str | os.PathLike[str]) -> Path:
    """Return `path` if a figure can be written to a file of that name; `name` is how the caller calls it."""
    if Path(path).suffix.lower() not in FIGURES:
        raise ValueError(must_be(name, f"a file that ends in {', '.join(FIGURES)}", str(path)))
    return Path(path)
