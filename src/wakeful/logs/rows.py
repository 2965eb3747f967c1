"""Rows of a log, checked and turned into arrays; rows that are wrong are found, each with its reason."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from wakeful.inputs import LONGEST_NAME, did_you_mean, must_be
from wakeful.logs.columns import Columns
from wakeful.logs.sources import Chunk, shortened
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.kernels import CLOSE, FLOOR

SEPARATOR = "|"
AWAKE_RULE = f"a list of arms, or their names joined by {SEPARATOR!r}"
MOST_NAMES = 1_000_000
MOST_CELLS = 1 << 24  # rows times arms of a block
MOST_SETS = 1 << 14  # whose positions are remembered
TRUTHS = {"true": 1.0, "false": 0.0}


class LogBlock(NamedTuple):
    """Some rows of a log: the awake set, the arm chosen, its probability and its loss, in the order of the log."""

    awake: Mask  # (n, K)
    arms: Ints  # (n,), positions in `Log.arms`
    probabilities: Floats | None  # (n,), None if the log has none
    losses: Floats  # (n,), between 0 and 1
    times: Sequence[Any] | None  # as they are in the log
    ids: Sequence[Any] | None  # as they are in the log
    lines: Ints  # (n,), where each row begins: the line of a text file, else the number of the row, from 1


class BadRowError(ValueError):
    """A row is wrong; the text says why."""


class Decoded(NamedTuple):
    """The rows of a chunk that are right, in one block or several, where they stand in it, and the faults of others.

    A block may know fewer arms than the decoder does after the chunk: those that it does not know were asleep.
    """

    parts: list[tuple[LogBlock, Ints]]
    faults: list[tuple[int, str]]  # line and reason


@dataclass
class Decoder:
    """Turns chunks into arrays; learns the names of arms unless they are fixed.

    Parameters:
        columns: which column is which
        reward_range: the rewards that are the loss 1 and the loss 0
        index: the position of each arm that is known
        fixed: whether other arms are refused
        strip: whether blanks around names are no part of them, as in text files
    """

    columns: Columns
    reward_range: tuple[float, float] | None
    index: dict[str, int] = field(default_factory=dict)
    fixed: bool = False
    strip: bool = False
    _known: dict[Any, list[int]] = field(default_factory=dict)

    def decode(self, chunk: Chunk) -> Decoded:
        """Return the rows of a chunk that are right, and the faults of the others."""
        parts: list[tuple[LogBlock, Ints]] = []
        reasons = dict(chunk.faults)
        whole = np.array([n for n in range(len(chunk.lines)) if n not in reasons], np.int64)
        size = max(1, MOST_CELLS // max(len(self.index), 1))
        left = [whole[start : start + size] for start in range(0, whole.size, size)][::-1]
        while left:  # halves, until what is wrong stands alone, and no table is too large
            rows = left.pop()
            try:
                parts.append((self._block(chunk, rows), rows))
            except BadRowError as problem:
                if rows.size == 1:
                    reasons[int(rows[0])] = str(problem)
                else:
                    left += [rows[rows.size // 2 :], rows[: rows.size // 2]]
        faults = [(int(chunk.lines[n]), reasons[n]) for n in sorted(reasons)]
        if len(parts) > 1 and whole.size * len(self.index) <= MOST_CELLS:
            kept = np.concatenate([rows for _, rows in parts])
            parts = [(joined([widened(block, len(self.index)) for block, _ in parts]), kept)]
        return Decoded(parts, faults)

    def _block(self, chunk: Chunk, rows: Ints) -> LogBlock:
        """Return these rows; raise `BadRowError` if any of them is wrong, and then learn no names."""
        whole = rows.size == len(chunk.lines)

        def column(name: str | None) -> Any:
            if name is None:
                return None
            return chunk.columns[name] if whole else [chunk.columns[name][n] for n in rows.tolist()]

        names: dict[str, int] = {}
        positions, which = self._sets(column(self.columns.awake), names)
        arms = self._arms(column(self.columns.arm), names)
        if rows.size > 1 and rows.size * (len(self.index) + len(names)) > MOST_CELLS:
            raise BadRowError(must_be("rows times arms", f"at most {MOST_CELLS:,}", rows.size))
        table = np.zeros((len(positions), len(self.index) + len(names)), np.bool_)
        sizes = np.fromiter(map(len, positions), np.int64, len(positions))
        table[np.repeat(np.arange(len(positions)), sizes), np.fromiter(chain.from_iterable(positions), np.int64)] = True
        awake = table[which]
        asleep = np.flatnonzero(~awake[np.arange(rows.size), arms])
        if asleep.size:
            arm = column(self.columns.arm)[asleep[0]]
            raise BadRowError(must_be("arm", "one of the arms that are awake in its row", shortened(arm)))
        probabilities = None
        if self.columns.probability is not None:
            probabilities = _probabilities(column(self.columns.probability))
        losses = self._losses(column(self.columns.loss or self.columns.reward))
        self.index |= names
        return LogBlock(
            awake,
            arms,
            probabilities,
            losses,
            column(self.columns.time),
            column(self.columns.id),
            chunk.lines[rows],
        )

    def _sets(self, column: Sequence[Any], names: dict[str, int]) -> tuple[list[list[int]], Ints]:
        """Return the distinct awake sets as positions, and which of them each row has; new names go to `names`."""
        kinds = set(map(type, column))
        keys: Sequence[Any] = column
        if kinds <= {list, tuple} and set(map(type, chain.from_iterable(column))) in ({str}, {int}):
            keys = list(map(tuple, column))
        elif kinds != {str}:
            keys = [value if type(value) is str else tuple(map(_name, _listed(value))) for value in column]
        distinct = {key: n for n, key in enumerate(dict.fromkeys(keys))}
        positions = [self._places(key, names) for key in distinct]
        return positions, np.fromiter(map(distinct.__getitem__, keys), np.int64, len(keys))

    def _places(self, key: Any, names: dict[str, int]) -> list[int]:
        """Return the positions of the arms of an awake set; those of sets without new arms are remembered."""
        found = self._known.get(key)
        if found is None:
            before = len(names)
            found = [self._position(name, names, "awake") for name in self._split(key)]
            if len(names) == before and not names:
                if len(self._known) >= MOST_SETS:
                    self._known.clear()
                self._known[key] = found
        return found

    def _split(self, key: Any) -> tuple[str, ...]:
        """Return the names of an awake set, if there are any and none is there twice."""
        if type(key) is str:
            listed = _literal(key) if key[:1] == "[" else None
            key = key.split(SEPARATOR) if listed is None else listed
        names = tuple(self._name(name) for name in key)
        if not names or "" in names:
            raise BadRowError(must_be("awake", AWAKE_RULE, shortened(SEPARATOR.join(names))))
        if len(set(names)) < len(names):
            raise BadRowError(must_be("awake", "without repeated arms", shortened(list(names))))
        return names

    def _name(self, value: Any) -> str:
        name = _name(value)
        return name.strip() if self.strip else name

    def _position(self, name: str, names: dict[str, int], what: str) -> int:
        """Return the position of an arm; one that is not known is new, or refused."""
        place = self.index.get(name, names.get(name))
        if place is not None:
            return place
        if self.fixed:
            raise BadRowError(must_be(what, "a known arm", shortened(name)) + did_you_mean(name, self.index))
        if len(self.index) + len(names) >= MOST_NAMES:
            raise BadRowError(must_be("arms", f"at most {MOST_NAMES:,}", shortened(name)))
        names[name] = len(self.index) + len(names)
        return names[name]

    def _arms(self, column: Sequence[Any], names: dict[str, int]) -> Ints:
        """Return the positions of the chosen arms."""
        places = {**self.index, **names} if names else self.index
        try:
            return np.fromiter(map(places.__getitem__, column), np.int64, len(column))  # names as they are, if texts
        except (KeyError, TypeError):
            pass
        found = np.empty(len(column), np.int64)
        for n, value in enumerate(column):
            place = places.get(self._name(value)) if _is_name(value) else None
            if place is None:
                raise BadRowError(must_be("arm", "one of the arms that are awake in its row", shortened(value)))
            found[n] = place
        return found

    def _losses(self, column: Sequence[Any]) -> Floats:
        """Return the losses, rewards converted."""
        if self.columns.loss is not None:
            return clipped("loss", column, 0.0, 1.0, "a number between 0 and 1")
        if self.reward_range is None:
            rule = "a number between 0 and 1 (reward_range=(low, high) is for other units)"
            return 1.0 - clipped("reward", column, 0.0, 1.0, rule)
        low, high = self.reward_range
        rewards = clipped("reward", column, low, high, f"a number in the reward_range, {low:g} to {high:g}")
        return np.clip((high - rewards) / (high - low), 0.0, 1.0)


def clipped(what: str, column: Sequence[Any], low: float, high: float, rule: str) -> Floats:
    """Return numbers between two others; those that are outside by a rounding are moved to the edge."""
    values = numbers_of(what, column, rule)
    room = CLOSE * (high - low)
    wrong = np.flatnonzero(~((values >= low - room) & (values <= high + room)))
    if wrong.size:
        raise BadRowError(must_be(what, rule, shortened(column[wrong[0]])))
    return np.clip(values, low, high)


def _probabilities(column: Sequence[Any]) -> Floats:
    """Return the probabilities of the chosen arms."""
    rule = f"a number above 0 and at most 1 (at least {FLOOR:g})"
    values = numbers_of("probability", column, rule)
    wrong = np.flatnonzero(~((values >= FLOOR) & (values <= 1.0 + CLOSE)))
    if wrong.size:
        raise BadRowError(must_be("probability", rule, shortened(column[wrong[0]])))
    return np.minimum(values, 1.0)


def numbers_of(what: str, column: Sequence[Any], rule: str) -> Floats:
    """Return a column as floats; texts of numbers are numbers, and so are true and false."""
    try:
        return np.fromiter(map(float, column), np.float64, len(column))
    except (TypeError, ValueError, OverflowError):
        pass
    found = np.empty(len(column))
    for n, value in enumerate(column):
        try:
            text = value.strip().lower() if type(value) is str else value
            found[n] = TRUTHS[text] if type(text) is str and text in TRUTHS else float(text)
        except (TypeError, ValueError, OverflowError):
            raise BadRowError(must_be(what, rule, shortened(value))) from None
    return found


def _is_name(value: Any) -> bool:
    """Whether a value can name an arm: a text or a whole number."""
    return type(value) is str or (isinstance(value, str | int | np.integer) and not isinstance(value, bool))


def _name(value: Any) -> str:
    """Return the name of an arm; whole numbers are names too."""
    if not _is_name(value):
        raise BadRowError(must_be("awake", "a list of names or whole numbers", shortened(value)))
    return str(value)


def _listed(value: Any) -> tuple[Any, ...]:
    """Return the awake set of one row as a tuple, if it is a list."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if _is_name(value):
        return (value,)
    if not isinstance(value, list | tuple) or not all(map(_is_name, value)):
        raise BadRowError(must_be("awake", AWAKE_RULE, shortened(value)))
    return tuple(value)


def _literal(text: str) -> list[Any] | None:
    """Return the list that a text such as "['tea', 'juice']" shows, as data frames write them; None if it is none."""
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def widened(block: LogBlock, n_arms: int) -> LogBlock:
    """Return a block for more arms, the new ones asleep."""
    if block.awake.shape[1] == n_arms:
        return block
    awake = np.zeros((len(block.arms), n_arms), np.bool_)
    awake[:, : block.awake.shape[1]] = block.awake
    return block._replace(awake=awake)


def joined(blocks: Sequence[LogBlock]) -> LogBlock:
    """Return blocks of the same arms as one."""
    arrays: dict[str, Any] = {}
    for name, values in zip(LogBlock._fields, zip(*blocks, strict=True), strict=True):
        if values[0] is None:
            arrays[name] = None
        elif name in {"times", "ids"}:
            arrays[name] = list(chain.from_iterable(values))
        else:
            arrays[name] = np.concatenate(values)
    return LogBlock(**arrays)


def taken(block: LogBlock, rows: Any) -> LogBlock:
    """Return some rows of a block: a slice, or positions."""
    places = range(len(block.arms))[rows] if isinstance(rows, slice) else rows.tolist()

    def part(values: Sequence[Any] | None) -> Sequence[Any] | None:
        return None if values is None else [values[n] for n in places]

    p = block.probabilities
    return LogBlock(
        block.awake[rows],
        block.arms[rows],
        None if p is None else p[rows],
        block.losses[rows],
        part(block.times),
        part(block.ids),
        block.lines[rows],
    )


def natural_order(names: Iterable[str]) -> list[str]:
    """Return names in their order: numbers by size if all are, else alphabetically."""
    found = list(names)
    if all(_is_number(name) for name in found):
        return sorted(found, key=lambda name: (int(name), name))
    return sorted(found)


def _is_number(name: str) -> bool:
    return name.removeprefix("-").isdecimal() and name.isascii() and len(name) <= LONGEST_NAME
