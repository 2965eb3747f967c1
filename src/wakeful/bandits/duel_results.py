"""Results of duels that somebody else arranged: read from files, tables and lists, in chunks of rows."""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wakeful.bandits.duel_rows import DuelColumns, DuelReader, DuelRows
from wakeful.bandits.others import checked_probability
from wakeful.inputs import must_be
from wakeful.logs.chunks import Source, shortened
from wakeful.logs.columns import PROPENSITIES, Kind, find_columns
from wakeful.logs.duplicates import SeenIds
from wakeful.logs.sources import TableSource, file_source, is_table
from wakeful.numerics.arrays import Floats, Ints, Mask

RESULTS = Kind(
    DuelColumns._fields,
    (("left",), ("right",), ("winner",)),
    "left, right and winner",
    {"probability": PROPENSITIES, "group": frozenset(), "awake": frozenset(), "id": frozenset()},
)
RESULTS_RULE = "a data frame, an Arrow table, a mapping of columns, a list of rows, or the path of a file"
ROW_RULE = "(left, right, winner) or (left, right, winner, group), or all rows mappings"


class Problem(NamedTuple):
    """A row that was not learned: where it is, and why."""

    line: int
    reason: str


class Learned(NamedTuple):
    """What `DuelingBandit.learn` did: how many duels it learned, which rows it skipped, which arms it added.

    `duplicates` are rows with an id that was there before.
    """

    duels: int
    skipped: tuple[Problem, ...] = ()
    added: tuple[Hashable, ...] = ()
    duplicates: int = 0

    def __str__(self) -> str:
        """Say it in a sentence."""
        counts = (self.duels, "duel"), (len(self.skipped), "row"), (len(self.added), "arm"), (self.duplicates, "row")
        duels, rows, arms, twice = (f"{n:,} {what}{'s' * (n != 1)}" for n, what in counts)
        more = f"; left out {twice} with an id that was there before" if self.duplicates else ""
        return f"Learned {duels}; skipped {rows}; added {arms}{more}."


class ReadResults(NamedTuple):
    """All results that are right, in terms of positions, and what else there was."""

    arms: Ints  # (T, 2): left and right
    outcomes: Floats  # (T, 3): won by left, by right, tie
    probabilities: Floats | None  # (T,)
    awake_sets: Mask  # (A, K)
    awake: Ints  # (T,)
    groups: list[Hashable]  # (T,), or empty if no duel has one
    added: list[Hashable]  # names of new arms, whose positions follow those of the known ones
    problems: list[Problem]
    duplicates: int


def results_source(results: Any) -> Source:
    """Return the rows of results: of a file, a table, or a list."""
    if isinstance(results, str | os.PathLike):
        return file_source(results)
    if is_table(results):
        return TableSource(results, "results", "results")
    if isinstance(results, bytes) or not isinstance(results, Iterable):
        raise TypeError(must_be("results", RESULTS_RULE, results))
    return TableSource(_by_column(list(results)), "results", "results")


def _by_column(rows: list[Any]) -> dict[str, list[Any]]:
    """Return the columns of rows that are mappings, or tuples of left, right, winner and perhaps a group."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(name for row in rows for name in row if isinstance(name, str))
        return {name: [row.get(name) for row in rows] for name in names}
    for line, row in enumerate(rows, 1):
        if not isinstance(row, tuple | list) or len(row) not in (3, 4):
            raise TypeError(must_be(f"row {line} of results", ROW_RULE, shortened(row)))
    names = dict.fromkeys(DuelColumns._fields[:4])
    return {name: [row[n] if n < len(row) else None for row in rows] for n, name in enumerate(names)}


def find_duel_columns(source: Source, given: Mapping[str, str | None] | None) -> DuelColumns:
    """Return which column is which."""
    return DuelColumns(**find_columns(source.names, given, RESULTS))  # type: ignore[arg-type]  # left and right are there


def read_results(source: Source, columns: DuelColumns, names: Sequence[Hashable], add: bool, skip: bool) -> ReadResults:
    """Return all rows that are right and not there before; raise at the first one that is wrong, or skip it.

    Parameters:
        source: of the rows
        columns: which column is which
        names: of the known arms
        add: whether other arms are new, and no fault
        skip: whether wrong rows are skipped
    """
    reader, seen = DuelReader(names, add, source.is_text), SeenIds()
    parts: list[DuelRows] = []
    problems: list[Problem] = []
    duplicates = 0
    for chunk in source.chunks(list(dict.fromkeys(name for name in columns if name is not None))):
        rows, where, faults = reader.read(chunk, columns)
        found = [Problem(int(chunk.lines[n]), faults[n]) for n in sorted(faults)]
        if found and not skip:
            raise ValueError(f"{source.unit} {found[0].line} of {source.label}: {found[0].reason}")
        problems += found
        if columns.id is not None:
            fresh = np.flatnonzero(seen.fresh([chunk.columns[columns.id][n] for n in where.tolist()]))
            duplicates += len(where) - fresh.size
            rows = rows.taken(fresh)
        parts.append(rows)
    return _joined(parts, reader)._replace(problems=problems, duplicates=duplicates)


def read_one(
    names: Sequence[Hashable], left: Any, right: Any, winner: Any, group: Any, probability: Any, awake: Any
) -> ReadResults:
    """Return a single result of known arms."""
    reader = DuelReader(names, add_arms=False)
    row = reader.row(left, right, winner, group, awake)
    chance = checked_probability(probability)
    return _joined([reader.rows([row], None if chance is None else np.array([chance]))], reader)


def _joined(parts: list[DuelRows], reader: DuelReader) -> ReadResults:
    """Return all parts as one."""
    groups = [group for part in parts for group in part.groups]
    chances = [part.probabilities for part in parts if part.probabilities is not None]
    return ReadResults(
        np.concatenate([np.zeros((0, 2), np.int64), *(part.arms for part in parts)]),
        np.concatenate([np.zeros((0, 3)), *(part.outcomes for part in parts)]),
        np.concatenate(chances) if chances else None,
        reader.awake_sets(),
        np.concatenate([np.zeros(0, np.int64), *(part.awake for part in parts)]),
        groups if any(group is not None for group in groups) else [],
        reader.added(),
        [],
        0,
    )
