"""Results of duels that somebody else arranged: read from files, tables and lists, checked row by row."""

import csv
import math
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from io import TextIOWrapper
from typing import Any, NamedTuple

import numpy as np

from wakeful import atomic
from wakeful.bandits.duel_counts import GROUP_RULE, TIED, Outcome
from wakeful.inputs import LONGEST_NAME, did_you_mean, must_be
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.kernels import FLOOR

NEEDED = ("left", "right", "winner")
RESULT_COLUMNS = (*NEEDED, "group", "probability", "awake")
RESULTS_RULE = "a data frame, an Arrow table, a mapping of columns, a list of rows, or the path of a CSV file"
WINNER_RULE = "the name of the left or the right arm, 'left', 'right' or 'tie'"
BETWEEN_NAMES = "|"  # between the names of awake arms in a text
TELLING = 20  # decided duels, of which one side cannot have won all by chance


class Problem(NamedTuple):
    """A row that was not learned: where it is, and why."""

    line: int
    reason: str


class Learned(NamedTuple):
    """What `DuelingBandit.learn` did: how many duels it learned, which rows it skipped, which arms it added."""

    duels: int
    skipped: tuple[Problem, ...] = ()
    added: tuple[Hashable, ...] = ()

    def __str__(self) -> str:
        """Say it in a sentence."""
        duels, rows, arms = (
            f"{n:,} {what}{'s' * (n != 1)}"
            for n, what in ((self.duels, "duel"), (len(self.skipped), "row"), (len(self.added), "arm"))
        )
        return f"Learned {duels}; skipped {rows}; added {arms}."


class ResultColumns(NamedTuple):
    """Results by column, as they came."""

    values: dict[str, Sequence[Any]]
    lines: Sequence[int]
    unit: str  # "line" of a file, or "row", or nothing where there is one row alone
    is_text: bool  # whether every value is a text


class ReadResults(NamedTuple):
    """Results in terms of positions."""

    arms: Ints  # (T, 2): left and right
    outcomes: Floats  # (T, 3): won by left, by right, tie
    probabilities: Floats | None  # (T,)
    awake_sets: Mask  # (A, K)
    awake: Ints  # (T,)
    groups: list[Hashable]  # (T,), or empty if no duel has one
    added: list[Hashable]  # names of new arms, whose positions follow those of the known ones
    problems: list[Problem]


def read_columns(results: Any) -> ResultColumns:
    """Return results by column; nothing is checked but that there are rows and the columns that are needed."""
    if isinstance(results, str | os.PathLike):
        return _from_csv(results)
    if isinstance(results, Mapping) or hasattr(results, "columns") or hasattr(results, "column_names"):
        names = list(results) if isinstance(results, Mapping) else _names(results)
        _check_names(names)
        values: dict[str, Sequence[Any]] = {name: _listed(results[name]) for name in RESULT_COLUMNS if name in names}
        if len({len(column) for column in values.values()}) > 1:
            raise ValueError(must_be("results", "columns of the same length", {k: len(v) for k, v in values.items()}))
        return ResultColumns(values, range(1, len(values["left"]) + 1), "row", False)
    if isinstance(results, bytes) or not isinstance(results, Iterable):
        raise TypeError(must_be("results", RESULTS_RULE, results))
    return _from_rows(list(results))


def _names(table: Any) -> list[Any]:
    """Return what the columns are called: an Arrow table has another word for it."""
    return list(getattr(table, "column_names", None) or table.columns)


def _listed(column: Any) -> list[Any]:
    """Return a column of any library as a list of plain values."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _check_names(names: Sequence[Any]) -> None:
    """Raise unless the columns that are needed are there, each once; suggest what was meant."""
    for name in NEEDED:
        if name not in names:
            close = [other for other in names[:1000] if isinstance(other, str) and did_you_mean(other, [name])]
            hint = f" (is {close[0]!r} the {name}?)" if close else ""
            shown = [other if len(str(other)) <= LONGEST_NAME else "..." for other in names[:20]]
            raise ValueError(must_be("results", "rows with the columns left, right and winner", shown) + hint)
    for name in RESULT_COLUMNS:
        if names.count(name) > 1:
            raise ValueError(must_be("results", f"rows with one column called {name}", names.count(name)))


def _from_csv(path: str | os.PathLike[str]) -> ResultColumns:
    """Return the columns of a text file with a header."""
    held: list[list[Any]] = []
    lines: list[int] = []
    with atomic.open_regular(path) as file, TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text)
        try:
            names = [name.strip() for name in next(reader, [])]
            _check_names(names)
            places = {name: names.index(name) for name in RESULT_COLUMNS if name in names}
            for row in filter(None, reader):
                held.append([row[place] if place < len(row) else None for place in places.values()])
                lines.append(reader.line_num)
        except csv.Error as problem:
            raise ValueError(must_be(f"line {reader.line_num}", "of a text file of columns", str(path))) from problem
        except UnicodeDecodeError as problem:
            raise ValueError(must_be("results", "a text file in UTF-8", str(path))) from problem
    columns = zip(*held, strict=True) if held else [() for _ in places]
    return ResultColumns(dict(zip(places, columns, strict=True)), lines, "line", True)


def _from_rows(rows: list[Any]) -> ResultColumns:
    """Return the columns of rows that are mappings, or tuples of left, right, winner and perhaps a group."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        _check_names(names)
        kept = [name for name in RESULT_COLUMNS if name in names]
        return ResultColumns(
            {name: [row.get(name) for row in rows] for name in kept}, range(1, len(rows) + 1), "row", False
        )
    for line, row in enumerate(rows, 1):
        if not isinstance(row, tuple | list) or len(row) not in (3, 4):
            rule = "(left, right, winner) or (left, right, winner, group), or all rows mappings"
            raise TypeError(must_be(f"row {line} of results", rule, row))
    values: dict[str, Sequence[Any]] = {
        name: [row[n] if n < len(row) else None for row in rows] for n, name in enumerate((*NEEDED, "group"))
    }
    return ResultColumns(values, range(1, len(rows) + 1), "row", False)


class Reader:
    """Turns rows into positions; the names of new arms are collected, or refused."""

    def __init__(self, names: Sequence[Hashable], add_arms: bool) -> None:
        self._position = {name: k for k, name in enumerate(names)}
        self._known = len(names)
        self._add = add_arms
        self._whole = bool(names) and all(type(name) is int for name in names)
        self._sets: dict[Any, int] = {}
        self._members: list[frozenset[int]] = []

    def read(self, columns: ResultColumns, skip: bool) -> ReadResults:
        """Return all rows that are right; raise at the first one that is wrong, or skip it."""
        values, problems = columns.values, []
        kept: list[tuple[int, int, Outcome, Any, Any, int]] = []
        nothing = [None] * len(columns.lines)
        rest = [values.get(name, nothing) for name in ("group", "probability", "awake")]
        fields = zip(columns.lines, *(values[name] for name in NEEDED), *rest, strict=True)
        for line, left, right, winner, group, probability, awake in fields:
            before = len(self._position)
            try:
                kept.append(self._row(left, right, winner, group, probability, awake, columns))
            except (TypeError, ValueError) as problem:
                for name in list(self._position)[before:]:
                    del self._position[name]
                if not skip:
                    place = f"{columns.unit} {line} of results: " if columns.unit else ""
                    raise type(problem)(f"{place}{problem}") from None
                problems.append(Problem(line, str(problem)))
        return self._results(kept, "probability" in values, problems)

    def _row(
        self, left: Any, right: Any, winner: Any, group: Any, probability: Any, awake: Any, columns: ResultColumns
    ) -> tuple[int, int, Outcome, Any, Any, int]:
        """Return one row in terms of positions."""
        if columns.is_text and self._whole:
            left, right, winner = map(_number, (left, right, winner))
        i, j = self._of("left", left), self._of("right", right)
        if i == j:
            raise ValueError(must_be("right", "another arm than left", right))
        outcome = outcome_of(left, right, winner)
        chance = None if "probability" not in columns.values else _probability(probability, columns.is_text)
        named = None if group is None else _group(group)
        return i, j, outcome, named, chance, 0 if awake is None else self._awake_set(awake, i, j)

    def _of(self, what: str, name: Any) -> int:
        """Return the position of an arm, a new one if it may be added."""
        if type(name) is str and name in self._position:
            return self._position[name]
        if _missing(name) or isinstance(name, bool) or name == "":
            raise ValueError(must_be(what, "the name of an arm", name))
        try:
            found = self._position.get(name)
        except TypeError:
            raise TypeError(must_be(what, "the name of an arm", name)) from None
        if found is not None:
            return found
        if not self._add:
            known = list(self._position)
            shown = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
            raise ValueError(must_be(what, f"among the arms {shown}", name) + did_you_mean(name, known))
        if type(name) not in (str, int):
            raise TypeError(must_be(what, "a string or a whole number to be added as an arm", name))
        return self._position.setdefault(name, len(self._position))

    def _awake_set(self, awake: Any, i: int, j: int) -> int:
        """Return the number of an awake set; zero stands for all arms."""
        if _missing(awake) or awake == "":
            return 0
        names = awake.split(BETWEEN_NAMES) if isinstance(awake, str) else awake
        if not isinstance(names, list | tuple | np.ndarray):
            raise TypeError(must_be("awake", f"a list of arm names, or names joined by {BETWEEN_NAMES}", awake))
        if isinstance(awake, str) and self._whole:
            names = map(_number, names)
        members = frozenset(self._of("awake", name) for name in names)
        if not {i, j} <= members:
            raise ValueError(must_be("awake", "a set with both arms of the duel", awake))
        if members not in self._sets:
            self._sets[members] = len(self._sets) + 1
            self._members.append(members)
        return self._sets[members]

    def _results(self, kept: list[Any], has_probabilities: bool, problems: list[Problem]) -> ReadResults:
        """Return rows as arrays."""
        sets = np.ones((1 + len(self._members), len(self._position)), np.bool_)
        for n, members in enumerate(self._members, 1):
            sets[n] = False
            sets[n, list(members)] = True
        lefts, rights, outcomes, groups, chances, awake = zip(*kept, strict=True) if kept else ((),) * 6
        return ReadResults(
            np.array([lefts, rights], np.int64).T.copy(),
            np.array(outcomes, np.float64).reshape(-1, 3),
            np.array(chances, np.float64) if has_probabilities else None,
            sets,
            np.array(awake, np.int64),
            list(groups) if any(group is not None for group in groups) else [],
            list(self._position)[self._known :],
            problems,
        )


def outcome_of(left: Any, right: Any, winner: Any) -> Outcome:
    """Return how a duel ended: `winner` is a name, `"left"`, `"right"`, `"tie"`, or the left arm's share as a float."""
    if type(winner) is not bool and not _missing(winner):
        if winner == left:
            return _WORDS["left"]
        if winner == right:
            return _WORDS["right"]
        if isinstance(winner, float) and 0.0 <= winner <= 1.0:
            return TIED if winner == 0.5 else Outcome(float(winner), 1.0 - float(winner))
        if isinstance(winner, str) and winner in _WORDS:
            return _WORDS[winner]
    raise ValueError(must_be("winner", WINNER_RULE, winner) + did_you_mean(winner, [left, right, *_WORDS]))


_WORDS = {"left": Outcome(1.0, 0.0), "right": Outcome(0.0, 1.0), "tie": TIED}


def refuse_one_sided(outcomes: Floats) -> None:
    """Raise if one side won every one of many duels: then the winner is named first, and the sides are not known."""
    left, right = outcomes[:, 0].sum(), outcomes[:, 1].sum()
    if min(left, right) == 0.0 and max(left, right) >= TELLING:
        rule = "won now and then by either side, or sides=False where left and right are no sides"
        raise ValueError(must_be("results", rule, f"{left:g} wins on the left, {right:g} on the right"))


def _probability(value: Any, is_text: bool) -> float:
    """Return the probability of a pair."""
    rule = "above 0, at most 1"
    try:
        number = float(value) if is_text or isinstance(value, float | int | np.number) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    if not FLOOR <= number <= 1.0 or isinstance(value, bool):
        raise ValueError(must_be("probability", rule, value))
    return number


def _group(group: Any) -> Hashable:
    """Return the name of a group; nothing, a blank or a missing value is no group."""
    if _missing(group) or group == "":
        return None
    if type(group) not in (str, int):
        raise TypeError(must_be("group", GROUP_RULE, group))
    return group  # type: ignore[no-any-return]  # as just checked


def _number(text: Any) -> Any:
    """Return a whole number for its digits: in a file, names of arms that are numbers are texts."""
    digits = isinstance(text, str) and text.strip().removeprefix("-").isdecimal()
    return int(text) if digits else text


def _missing(value: Any) -> bool:
    """Whether this is what tables have where there is nothing: None, NaN, NA."""
    if type(value) is str:
        return False
    if value is None:
        return True
    return (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in {"NAType", "NaTType"}
