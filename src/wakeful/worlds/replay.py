"""Replay: a world of given rounds, from arrays or from a log with one row for each awake arm of each round."""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from wakeful import atomic
from wakeful.inputs import LONGEST_NAME, did_you_mean, must_be, whole
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.rounds import checked_awake, checked_numbers, refuse_nobody, refuse_outside
from wakeful.policies.spec import set_frozen
from wakeful.worlds.world import Block, World, checked_run, cut

COLUMNS = ("round", "arm", "loss")
MAX_CELLS = 1 << 24  # rounds times arms of a log, unless a caller says otherwise: some 300 MB while it is read
ROW_CELLS = 8  # a row takes as much memory as so many cells, so a table that is this full is no larger than its log
CELLS_RULE = "a number of cells, at least 1"
Reader = Callable[[Any, str], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Replay(World):
    """The same given rounds in every run, as many as there are.

    Parameters:
        awake: (T, K) booleans, at least one true in every row
        losses: (T, K) numbers in [0, 1] where awake: of all awake arms, since a regret compares with all of them
        expected: (T, K) expected losses given the awake set, if known
        arms: the names of the arms; by default their indices

    >>> world = Replay([[True, False], [True, True]], [[0.5, 0.0], [0.0, 1.0]])
    >>> world
    <Replay of 2 rounds, 2 arms>
    >>> [block.losses.tolist() for block in world.blocks(np.random.default_rng(0), 1)]
    [[[0.5, 0.0]], [[0.0, 1.0]]]
    """

    printable: ClassVar[bool] = False

    awake: Mask
    losses: Floats
    expected: Floats | None = None
    arms: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        """Keep read-only copies."""
        awake = checked_awake("awake", self.awake).copy()
        if not len(awake):
            raise ValueError(must_be("awake", "of one or more rounds", self.awake))
        refuse_nobody("awake", awake)
        losses = _zero_asleep("losses", self.losses, awake)
        expected = None if self.expected is None else _zero_asleep("expected", self.expected, awake)
        n_arms = awake.shape[1]
        arms = tuple(range(n_arms) if self.arms is None else self.arms)
        if len(arms) != n_arms or len(set(arms)) != n_arms:
            raise ValueError(must_be("arms", f"{n_arms} distinct names", self.arms))
        for array in (awake, losses) if expected is None else (awake, losses, expected):
            array.setflags(write=False)
        set_frozen(self, awake=awake, losses=losses, expected=expected, arms=arms)

    @classmethod
    def from_csv(cls, path: str | Path, max_cells: int = MAX_CELLS) -> "Replay":
        """Return the rounds of a text file with the columns round, arm and loss.

        Rounds are whole numbers and played in rising order, whatever the order of rows. Arms are sorted; where all
        their names are whole numbers, they are numbers. A log of few rows for its many rounds and arms, which would
        take more than `max_cells` entries as a table of rounds and arms, is refused.
        """
        rounds, arms, losses = _read_csv(path)
        if all(name and name.strip().removeprefix("-").isdecimal() for name in arms):
            arms = _parsed("arm", arms, int, "a whole number")
        numbered = _parsed("round", rounds, int, "a whole number")
        return cls._from_log(numbered, arms, _parsed("loss", losses, float, "a number"), max_cells)

    @classmethod
    def from_parquet(cls, path: str | Path, max_cells: int = MAX_CELLS) -> "Replay":
        """Return the rounds of a Parquet file with the columns round, arm and loss; needs pyarrow or polars.

        `max_cells` is as in `from_csv`; a row counts as much as eight cells while it is read.
        """
        table = _read_parquet(path, whole("max_cells", max_cells, CELLS_RULE, 1) // ROW_CELLS)
        _check_header(tuple(table))
        return cls._from_log(table["round"], table["arm"], table["loss"], max_cells)

    @classmethod
    def _from_log(cls, rounds: Sequence[Any], arms: Sequence[Any], losses: Sequence[Any], max_cells: int) -> "Replay":
        """Return the rounds of a log, each column a list."""
        if not len(rounds):
            raise ValueError(must_be("log", "of at least one row", rounds))
        if not all(isinstance(name, int) for name in arms) and not all(isinstance(name, str) and name for name in arms):
            odd = next(name for name in arms if not isinstance(name, str) or not name)
            raise TypeError(must_be("arm", "a name or a whole number in every row, all of one kind", odd))
        if not all(isinstance(number, int) for number in rounds):
            raise TypeError(must_be("round", "a whole number in every row", set(map(type, rounds))))
        times, names = sorted(set(rounds)), sorted(set(arms))
        _check_cells(len(rounds), len(times), len(names), max_cells)
        turn, place = ({value: n for n, value in enumerate(values)} for values in (times, names))
        t, k = np.array([turn[number] for number in rounds]), np.array([place[name] for name in arms])
        awake = np.zeros((len(times), len(names)), np.bool_)
        awake[t, k] = True
        if awake.sum() < k.size:
            raise ValueError(must_be("log", "of one row for each arm of a round", _twice(rounds, arms)))
        _refuse_chosen_only(awake)
        values = np.zeros(awake.shape)
        values[t, k] = [np.nan if loss is None else loss for loss in losses]
        return cls(awake, values, arms=tuple(names))

    def __eq__(self, other: object) -> bool:
        """Compare arrays exactly, also the losses of arms that are asleep."""
        if not isinstance(other, Replay):
            return NotImplemented
        same = np.array_equal(self.awake, other.awake) and np.array_equal(self.losses, other.losses)
        return same and self.arms == other.arms and _same(self.expected, other.expected)

    def __hash__(self) -> int:
        """Hash the names and which arms were awake."""
        return hash((self.arms, self.awake.tobytes()))

    def __repr__(self) -> str:
        """Say how much there is; the arrays themselves are too long."""
        return f"<Replay of {self.length} rounds, {self.n_arms} arms>"

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return int(self.awake.shape[1])

    @property
    def length(self) -> int:
        """How many rounds there are."""
        return len(self.awake)

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Yield the given rounds; nothing is random."""
        checked_run(rng, size)
        return cut(Block(self.awake, self.losses, self.expected), size)


def _zero_asleep(name: str, values: Any, awake: Mask) -> Floats:
    """Return a copy of numbers in [0, 1] where awake, 0 elsewhere."""
    array = checked_numbers(name, values, awake)
    refuse_outside(name, array, awake)
    return np.where(awake, array, 0.0)


def _same(one: Floats | None, other: Floats | None) -> bool:
    """Whether both are missing or equal."""
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _check_header(names: Sequence[str]) -> None:
    """Refuse a log without the three columns."""
    for column in COLUMNS:
        if column not in names:
            close = [name for name in names if did_you_mean(name, [column])]
            hint = f" (is it {close[0]!r}?)" if close else ""
            raise ValueError(must_be("columns", "round, arm and loss", list(names)) + hint)


def _check_cells(rows: int, rounds: int, arms: int, max_cells: int) -> None:
    """Raise an error for a log that is small but would be a very large table of rounds and arms."""
    most = max(whole("max_cells", max_cells, CELLS_RULE, 1), ROW_CELLS * rows)
    if rounds * arms > most:
        rule = f"of at most {most:,} cells, rounds times arms (max_cells raises the limit)"
        raise ValueError(must_be("log", rule, f"{rounds:,} rounds of {arms:,} arms in {rows:,} rows"))


def _refuse_chosen_only(awake: Mask) -> None:
    """Raise for a log of several arms with one row in every round: all but the chosen arm would seem asleep."""
    if awake.shape[1] > 1 and awake.sum() == len(awake):
        rule = "of one row for each awake arm of a round, not only for the one that was chosen"
        why = "with no other arm every policy has regret 0; wk.Log and wk.evaluate are for logs of decisions"
        raise ValueError(must_be("log", rule, "one row in every round") + f": {why}")


def _read_csv(path: str | Path) -> tuple[list[Any], ...]:
    """Return the three columns of a text file, as texts."""
    columns: tuple[list[Any], ...] = ([], [], [])
    with atomic.open_regular(path) as file, TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text)
        try:
            header = next(reader, [])
            _check_header(header)
            places = [header.index(name) for name in COLUMNS]
            for row in filter(None, reader):
                for column, place in zip(columns, places, strict=True):
                    column.append(row[place] if place < len(row) else None)
        except csv.Error as problem:
            raise ValueError(must_be(f"line {reader.line_num}", "of a text file of columns", str(path))) from problem
        except UnicodeDecodeError as problem:
            raise ValueError(must_be("path", "a text file in UTF-8", str(path))) from problem
    return columns


def _parsed(name: str, texts: Sequence[Any], kind: Callable[[Any], Any], rule: str) -> list[Any]:
    """Return the texts as numbers; line 1 is the header."""
    found = []
    for line, text in enumerate(texts, start=2):
        try:
            found.append(kind(text))
        except (TypeError, ValueError):
            shown = text if text is None or len(text) <= LONGEST_NAME else text[:LONGEST_NAME] + "..."
            raise ValueError(must_be(f"{name} in line {line}", rule, shown)) from None
    return found


def _twice(rounds: Sequence[Any], arms: Sequence[Any]) -> str:
    """Name the first arm that is twice in a round."""
    seen: set[tuple[Any, Any]] = set()
    for pair in zip(rounds, arms, strict=True):
        if pair in seen:
            return f"arm {pair[1]!r} twice in round {pair[0]}"
        seen.add(pair)
    return "nothing"


def _read_parquet(path: str | Path, most_rows: int) -> dict[str, list[Any]]:
    """Return the columns as lists, read by whichever library is there, if there are not too many rows."""
    for module, (count, columns) in _READERS.items():
        try:
            library = import_module(module)
        except ImportError:
            continue
        return _read_columns(library, str(path), count, columns, most_rows)
    raise ImportError("reading Parquet needs pyarrow or polars: pip install pyarrow")


def _read_columns(library: Any, path: str, count: Reader, columns: Reader, most_rows: int) -> dict[str, list[Any]]:
    """Return the columns of a Parquet file; whatever a library says of a broken one, it is one sentence."""
    with atomic.open_regular(path):  # that there is none is the system's own error
        pass
    try:
        rows: int = count(library, path)
        if rows <= most_rows:
            found: dict[str, list[Any]] = columns(library, path)
            return found
    except Exception as problem:
        raise ValueError(must_be("path", "a Parquet file, complete and unchanged", path) + f": {problem}") from problem
    rule = f"of at most {most_rows:,} rows (max_cells, {ROW_CELLS} for each row, raises the limit)"
    raise ValueError(must_be("log", rule, f"{rows:,} rows"))


_READERS: dict[str, tuple[Reader, Reader]] = {
    "pyarrow.parquet": (
        lambda library, path: library.read_metadata(path).num_rows,
        lambda library, path: library.read_table(path, page_checksum_verification=True).to_pydict(),
    ),
    "polars": (
        lambda library, path: library.scan_parquet(path).select(library.len()).collect().item(),
        lambda library, path: library.read_parquet(path).to_dict(as_series=False),
    ),
}
