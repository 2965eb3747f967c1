"""Rounds that are given: arrays, or a log with one row for each awake arm of each round."""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from wakeful.entries import Floats, Mask
from wakeful.inputs import did_you_mean, must_be, numbers, truths
from wakeful.worlds.world import Block, World, checked_run, cut, settle

COLUMNS = ("round", "arm", "loss")


@dataclass(frozen=True, eq=False, repr=False)
class Replay(World):
    """The same given rounds in every run, as many as there are.

    Parameters:
        awake: (T, K) truth values, somebody in every row
        losses: (T, K) numbers in [0, 1] where awake: of all awake arms, since a regret compares with all of them
        expected: (T, K) expected losses given who is awake, where known
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
        """Keep own copies that nobody can write to."""
        awake = truths("awake", self.awake, "a (T, K) array of truth values").copy()
        if awake.ndim != 2 or awake.size == 0:
            raise ValueError(must_be("awake", "a (T, K) array of truth values", self.awake))
        nobody = np.flatnonzero(~awake.any(axis=1))
        if nobody.size:
            raise ValueError(must_be("awake", "true somewhere in every row", f"nobody in row {nobody[0]}"))
        losses = _checked("losses", self.losses, awake)
        expected = None if self.expected is None else _checked("expected", self.expected, awake)
        n_arms = awake.shape[1]
        arms = tuple(range(n_arms) if self.arms is None else self.arms)
        if len(arms) != n_arms or len(set(arms)) != n_arms:
            raise ValueError(must_be("arms", f"{n_arms} distinct names", self.arms))
        for array in (awake, losses) if expected is None else (awake, losses, expected):
            array.setflags(write=False)
        settle(self, awake=awake, losses=losses, expected=expected, arms=arms)

    @classmethod
    def from_csv(cls, path: str | Path) -> "Replay":
        """Return the rounds of a text file with the columns round, arm and loss.

        Rounds are whole numbers and played in rising order, whatever the order of rows. Arms are sorted; where all
        their names are whole numbers, they are numbers.
        """
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            _check_header(reader.fieldnames or ())
            rows = list(reader)
        arms = [row["arm"] for row in rows]
        if all(name and name.strip().removeprefix("-").isdecimal() for name in arms):
            arms = list(map(int, arms))
        rounds = _parsed("round", [row["round"] for row in rows], int, "a whole number")
        return cls._from_log(rounds, arms, _parsed("loss", [row["loss"] for row in rows], float, "a number"))

    @classmethod
    def from_parquet(cls, path: str | Path) -> "Replay":
        """Return the rounds of a Parquet file with the columns round, arm and loss; needs pyarrow or polars."""
        table = _read_parquet(path)
        _check_header(tuple(table))
        return cls._from_log(*(table[name] for name in COLUMNS))

    @classmethod
    def _from_log(cls, rounds: Sequence[Any], arms: Sequence[Any], losses: Sequence[Any]) -> "Replay":
        """Return the rounds of a log, each column a list."""
        if not len(rounds):
            raise ValueError(must_be("log", "of at least one row", rounds))
        if not all(isinstance(name, int) for name in arms) and not all(isinstance(name, str) and name for name in arms):
            raise TypeError(must_be("arm", "a name or a whole number in every row, all of one kind", set(arms)))
        if not all(isinstance(number, int) for number in rounds):
            raise TypeError(must_be("round", "a whole number in every row", set(map(type, rounds))))
        times, t = np.unique(np.array(rounds, np.int64), return_inverse=True)
        names = sorted(set(arms))
        place = {name: k for k, name in enumerate(names)}
        k = np.array([place[name] for name in arms])
        awake = np.zeros((times.size, len(names)), np.bool_)
        awake[t, k] = True
        if awake.sum() < k.size:
            raise ValueError(must_be("log", "of one row for each arm of a round", _twice(rounds, arms)))
        values = np.zeros(awake.shape)
        values[t, k] = [np.nan if loss is None else loss for loss in losses]
        return cls(awake, values, arms=tuple(names))

    def __eq__(self, other: object) -> bool:
        """Compare arrays exactly, sleepers' losses too."""
        if not isinstance(other, Replay):
            return NotImplemented
        same = np.array_equal(self.awake, other.awake) and np.array_equal(self.losses, other.losses)
        return same and self.arms == other.arms and _same(self.expected, other.expected)

    def __hash__(self) -> int:
        """Hash the names and who was awake."""
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
        """Yield the rounds as they are; there is no chance in it."""
        checked_run(rng, size)
        return cut(Block(self.awake, self.losses, self.expected), size)


def _checked(name: str, values: Any, awake: Mask) -> Floats:
    """Return a copy of numbers in [0, 1] where awake, 0 elsewhere."""
    array = numbers(name, values, "a (T, K) array of numbers")
    if array.shape != awake.shape:
        raise ValueError(must_be(name, f"of the shape of awake, {awake.shape}", array.shape))
    wrong = np.argwhere(awake & ~((array >= 0.0) & (array <= 1.0)))
    if wrong.size:
        raise ValueError(must_be(name, "between 0 and 1 where awake", float(array[tuple(wrong[0])])))
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


def _parsed(name: str, texts: Sequence[Any], kind: Callable[[Any], Any], rule: str) -> list[Any]:
    """Return the texts as numbers; line 1 is the header."""
    found = []
    for line, text in enumerate(texts, start=2):
        try:
            found.append(kind(text))
        except (TypeError, ValueError):
            raise ValueError(must_be(f"{name} in line {line}", rule, text)) from None
    return found


def _twice(rounds: Sequence[Any], arms: Sequence[Any]) -> str:
    """Name the first arm that is twice in a round."""
    seen: set[tuple[Any, Any]] = set()
    for pair in zip(rounds, arms, strict=True):
        if pair in seen:
            return f"arm {pair[1]!r} twice in round {pair[0]}"
        seen.add(pair)
    return "nothing"


def _read_parquet(path: str | Path) -> dict[str, list[Any]]:
    """Return the columns as lists, read by whichever library is there."""
    for module, columns in _READERS.items():
        try:
            library = import_module(module)
        except ImportError:
            continue
        return columns(library, str(path))
    raise ImportError("reading Parquet needs pyarrow or polars: pip install pyarrow")


_READERS: dict[str, Callable[[Any, str], dict[str, list[Any]]]] = {
    "pyarrow.parquet": lambda library, path: library.read_table(path).to_pydict(),
    "polars": lambda library, path: library.read_parquet(path).to_dict(as_series=False),
}
