"""Rows of a log, checked and turned into arrays; rows that are wrong are found, each with its reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from wakeful.inputs import UNICODE_RULE, did_you_mean, is_unicode, must_be
from wakeful.logs.blocks import LogBlock
from wakeful.logs.chunks import Chunk, shortened
from wakeful.logs.columns import Columns
from wakeful.logs.values import (
    AWAKE_SET_RULE,
    BadValueError,
    Faults,
    awake_names,
    chances_of,
    clipped,
    is_name,
    name_of,
)
from wakeful.numerics.arrays import Floats, Ints, Mask

MOST_NAMES = 1_000_000
MOST_CELLS = 1 << 24  # rows times arms of a block
MOST_KNOWN_SETS = 1 << 14  # whose positions are remembered
MOST_POSITIONS = 1 << 22  # of all sets that are remembered


class Decoded(NamedTuple):
    """The rows of a chunk that are right, in one block or several, where they stand in it, and the faults of others."""

    parts: Iterator[tuple[LogBlock, Ints]]  # made one by one, so that no more than one is in memory
    faults: list[tuple[int, str]]  # line and reason


class Checked(NamedTuple):
    """Rows of a chunk, checked; those with a fault have no meaning."""

    sets: list[list[int]]  # the distinct awake sets, as positions
    which: Ints  # (n,), the set of each row
    arms: Ints  # (n,)
    probabilities: Floats | None
    losses: Floats
    names: dict[str, int]  # the new arms


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
    _positions: int = 0  # of all that are known

    def decode(self, chunk: Chunk) -> Decoded:
        """Return the rows of a chunk that are right, and the faults of the others."""
        reasons = dict(chunk.faults)
        rows = _others(len(chunk.lines), reasons)
        found, faults = self._rows_checked(chunk, rows)
        if faults:  # once more without them: names of arms that only wrong rows have are no names
            reasons |= {int(rows[n]): reason for n, reason in faults.items()}
            rows = _others(len(chunk.lines), reasons)
            found, _ = self._rows_checked(chunk, rows)
        self.index |= found.names
        return Decoded(self._parts(chunk, rows, found), [(int(chunk.lines[n]), reasons[n]) for n in sorted(reasons)])

    def _rows_checked(self, chunk: Chunk, rows: Ints) -> tuple[Checked, Faults]:
        """Return these rows, and what is wrong with some of them."""
        faults, names = Faults(), dict[str, int]()
        sets, which = self._sets(_column(chunk, rows, self.columns.awake), names, faults)
        arms = self._arms(_column(chunk, rows, self.columns.arm), sets, which, names, faults)
        probabilities = None
        if self.columns.probability is not None:
            given = _column(chunk, rows, self.columns.probability)
            alone = np.fromiter(map(len, sets), np.int64, len(sets))[which] == 1
            probabilities = chances_of(given, alone, faults)
        losses = self._losses(_column(chunk, rows, self.columns.loss or self.columns.reward), faults)
        return Checked(sets, which, arms, probabilities, losses, names), faults

    def _parts(self, chunk: Chunk, rows: Ints, found: Checked) -> Iterator[tuple[LogBlock, Ints]]:
        """Yield blocks of the rows, each of so few that its table of awake arms is not too large."""
        n_arms = len(self.index)
        size = max(1, MOST_CELLS // max(n_arms, 1))
        times, ids = (_column(chunk, rows, name) for name in (self.columns.time, self.columns.id))
        for start in range(0, rows.size, size):
            part = slice(start, start + size)
            used, which = np.unique(found.which[part], return_inverse=True)
            block = LogBlock(
                _masks([found.sets[n] for n in used.tolist()], n_arms)[which],
                found.arms[part],
                None if found.probabilities is None else found.probabilities[part],
                found.losses[part],
                None if times is None else times[part],
                None if ids is None else ids[part],
                chunk.lines[rows[part]],
            )
            yield block, rows[part]

    def _sets(self, column: Sequence[Any], names: dict[str, int], faults: Faults) -> tuple[list[list[int]], Ints]:
        """Return the distinct awake sets as positions, and which of them each row has; new names go to `names`."""
        kinds = set(map(type, column))
        keys: Sequence[Any] = column
        if kinds <= {list, tuple} and set(map(type, chain.from_iterable(column))) in ({str}, {int}):
            keys = list(map(tuple, column))
        elif kinds != {str}:
            keys = [value if type(value) is str else _key(value) for value in column]
        distinct = {key: n for n, key in enumerate(dict.fromkeys(keys))}
        which = np.fromiter(map(distinct.__getitem__, keys), np.int64, len(keys))
        positions, wrong = [], dict[int, str]()
        for n, key in enumerate(distinct):
            try:
                positions.append([] if key is None else self._places(key, names))
            except BadValueError as problem:
                wrong[n] = str(problem)
                positions.append([])
        if None in distinct or wrong:
            bad = np.flatnonzero(np.isin(which, [distinct.get(None, -1), *wrong]))
            faults.add(bad.tolist(), lambda n: wrong.get(int(which[n])) or _no_set(column[n]))
        return positions, which

    def _places(self, key: Any, names: dict[str, int]) -> list[int]:
        """Return the positions of the arms of an awake set; those of sets without new arms are remembered."""
        found = self._known.get(key)
        if found is None:
            found = [self._position(name, names) for name in awake_names(key, self.strip)]
            if not names:
                self._positions += len(found)
                if len(self._known) >= MOST_KNOWN_SETS or self._positions > MOST_POSITIONS:
                    self._known.clear()
                    self._positions = len(found)
                self._known[key] = found
        return found

    def _position(self, name: str, names: dict[str, int]) -> int:
        """Return the position of an arm; one that is not known is new, or refused."""
        place = self.index.get(name, names.get(name))
        if place is not None:
            return place
        if self.fixed:
            raise BadValueError(must_be("awake", "a known arm", shortened(name)) + did_you_mean(name, self.index))
        if not is_unicode(name):
            raise BadValueError(must_be("awake", UNICODE_RULE, shortened(name)))
        if len(self.index) + len(names) >= MOST_NAMES:
            raise BadValueError(must_be("arms", f"at most {MOST_NAMES:,}", shortened(name)))
        names[name] = len(self.index) + len(names)
        return names[name]

    def _arms(
        self, column: Sequence[Any], sets: list[list[int]], which: Ints, names: dict[str, int], faults: Faults
    ) -> Ints:
        """Return the positions of the chosen arms, each of which must be in the awake set of its row."""
        places = {**self.index, **names} if names else self.index
        try:
            found = np.fromiter(map(places.__getitem__, column), np.int64, len(column))  # names as they are, if texts
        except (KeyError, TypeError):
            given = (places.get(name_of(value, self.strip), -1) if is_name(value) else -1 for value in column)
            found = np.fromiter(given, np.int64, len(column))
        members = list(map(frozenset, sets))
        pairs = zip(found.tolist(), which.tolist(), strict=True)
        asleep = [n for n, (arm, w) in enumerate(pairs) if arm not in members[w]]
        rule = "one of the arms that are awake in its row"
        faults.add(asleep, lambda n: must_be("arm", rule, shortened(column[n])))
        return found

    def _losses(self, column: Sequence[Any], faults: Faults) -> Floats:
        """Return the losses, rewards converted."""
        if self.columns.loss is not None:
            return clipped("loss", column, (0.0, 1.0), "a number between 0 and 1", faults)
        if self.reward_range is None:
            rule = "a number between 0 and 1 (reward_range=(low, high) is for other units)"
            return 1.0 - clipped("reward", column, (0.0, 1.0), rule, faults)
        low, high = self.reward_range
        rule = f"a number in the reward_range, {low:g} to {high:g}"
        rewards = clipped("reward", column, (low, high), rule, faults)
        return np.clip((high - rewards) / (high - low), 0.0, 1.0)


def _others(n_rows: int, faults: Mapping[int, str]) -> Ints:
    """Return the positions of the rows that have no fault."""
    return np.array([n for n in range(n_rows) if n not in faults], np.int64) if faults else np.arange(n_rows)


def _column(chunk: Chunk, rows: Ints, name: str | None) -> Any:
    """Return some rows of a column."""
    if name is None:
        return None
    column = chunk.columns[name]
    return column if rows.size == len(chunk.lines) else [column[n] for n in rows.tolist()]


def _masks(sets: list[list[int]], n_arms: int) -> Mask:
    """Return sets of positions as masks."""
    table = np.zeros((len(sets), n_arms), np.bool_)
    sizes = np.fromiter(map(len, sets), np.int64, len(sets))
    table[np.repeat(np.arange(len(sets)), sizes), np.fromiter(chain.from_iterable(sets), np.int64)] = True
    return table


def _no_set(value: Any) -> str:
    """Return what is wrong with a value that is no awake set."""
    return must_be("awake", AWAKE_SET_RULE, shortened(value))


def _key(value: Any) -> tuple[str, ...] | None:
    """Return the awake set of one row as names, if it is a list or a single one."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if is_name(value):
        return (str(value),)
    return tuple(map(str, value)) if isinstance(value, list | tuple) and all(map(is_name, value)) else None
