"""Rows of duels that somebody else arranged, checked and turned into positions; each that is wrong has its reason."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from wakeful.bandits.arms import BOOLEANS
from wakeful.bandits.duel_counts import TIED, Outcome, checked_group
from wakeful.inputs import DIGITS_RULE, UNICODE_RULE, did_you_mean, has_few_digits, is_unicode, must_be
from wakeful.limits import MAX_BYTES
from wakeful.logs.chunks import Chunk, shortened
from wakeful.logs.values import AWAKE_SET_RULE, Faults, awake_names, chances_of, is_missing
from wakeful.numerics.arrays import Floats, Ints, Mask

WINNER_RULE = "the name of the left or the right arm, 'left', 'right' or 'tie'"
TIE_WORDS = frozenset({"draw", "drawn", "tied", "equal", "even", "both", "neither", "none", "nobody", "no one"})
WORDS = {"left": Outcome(1.0, 0.0), "right": Outcome(0.0, 1.0), "tie": TIED}


class DuelColumns(NamedTuple):
    """The name of the column for each role of a result; None if there is none."""

    left: str
    right: str
    winner: str
    group: str | None
    probability: str | None
    awake: str | None
    time: str | None
    id: str | None


class DuelRows(NamedTuple):
    """Results in terms of positions."""

    arms: Ints  # (T, 2): left and right
    outcomes: Floats  # (T, 3): won by left, by right, tie
    probabilities: Floats | None  # (T,)
    awake: Ints  # (T,): the number of the awake set; zero stands for all arms
    groups: list[Hashable]  # (T,)

    def taken(self, rows: Ints) -> "DuelRows":
        """Return some of them."""
        p = self.probabilities
        groups = [self.groups[n] for n in rows.tolist()]
        return DuelRows(self.arms[rows], self.outcomes[rows], None if p is None else p[rows], self.awake[rows], groups)


class DuelReader:
    """Turns rows into positions; the names of new arms are collected, or refused.

    Parameters:
        names: of the arms that are known
        add_arms: whether others are new arms, and no fault
        is_text: whether all values are texts, as in CSV: blanks around them mean nothing, and digits may be a number
    """

    def __init__(self, names: Sequence[Hashable], add_arms: bool, is_text: bool = False) -> None:
        self._position = {name: k for k, name in enumerate(names)}
        self._known = len(names)
        self._add = add_arms
        self._is_text = is_text
        self._digits = is_text and bool(names) and all(type(name) is int for name in names)
        self._sets: dict[frozenset[int], int] = {}
        self._outcomes: dict[Outcome, int] = {}

    def added(self) -> list[Hashable]:
        """Return the names of the new arms, whose positions follow those of the known ones."""
        return list(self._position)[self._known :]

    def awake_sets(self) -> Mask:
        """Return the awake sets by number; the first one is that of all arms."""
        if (1 + len(self._sets)) * len(self._position) > MAX_BYTES:
            rule = f"of few enough different sets for a table of at most {MAX_BYTES:,} bytes"
            raise ValueError(must_be("awake", rule, f"{len(self._sets):,} sets of {len(self._position):,} arms"))
        sets = np.ones((1 + len(self._sets), len(self._position)), np.bool_)
        for members, n in self._sets.items():
            sets[n] = False
            sets[n, list(members)] = True
        return sets

    def read(self, chunk: Chunk, columns: DuelColumns) -> tuple[DuelRows, Ints, dict[int, str]]:
        """Return the rows of a chunk that are right, where they stand in it, and what is wrong with the others."""
        faults = Faults(chunk.faults)
        chances = None
        if columns.probability is not None:
            given = chunk.columns[columns.probability]
            chances = chances_of(given, np.zeros(len(given), np.bool_), faults)
        kept, places = [], []
        for n, row in enumerate(self._fields(chunk, columns)):
            if n not in faults:
                before = len(self._position)
                try:
                    kept.append(self.row(*row))
                    places.append(n)
                except (TypeError, ValueError) as problem:
                    for name in list(self._position)[before:]:
                        del self._position[name]
                    faults[n] = str(problem)
        where = np.array(places, np.int64)
        return self.rows(kept, None if chances is None else chances[where]), where, faults

    def rows(self, kept: list[tuple[int, int, int, Hashable, int]], chances: Floats | None) -> DuelRows:
        """Return what `row` returned for many rows, as arrays."""
        lefts, rights, outcomes, groups, awake = zip(*kept, strict=True) if kept else ((),) * 5
        table = np.array(list(self._outcomes) or [TIED], np.float64)
        arms = np.array([lefts, rights], np.int64).T.copy()
        return DuelRows(arms, table[np.array(outcomes, np.int64)], chances, np.array(awake, np.int64), list(groups))

    def _fields(self, chunk: Chunk, columns: DuelColumns) -> Iterator[tuple[Any, ...]]:
        """Yield left, right, winner, group and awake set of each row, without blanks around texts of a file."""
        nothing = [None] * len(chunk.lines)
        names = columns.left, columns.right, columns.winner, columns.group, columns.awake
        found = [nothing if name is None else chunk.columns[name] for name in names]
        if self._is_text:
            found = [[value and value.strip() for value in column] for column in found]
        return zip(*found, strict=True)

    def row(self, left: Any, right: Any, winner: Any, group: Any, awake: Any) -> tuple[int, int, int, Hashable, int]:
        """Return one row: positions of the arms, numbers of the outcome and of the awake set, and the group."""
        if self._digits:
            left, right, winner = map(_number, (left, right, winner))
        i, j = self._of("left", left), self._of("right", right)
        if i == j:
            raise ValueError(must_be("right", "another arm than left", shortened(right)))
        outcome = outcome_of(left, right, _share(winner) if self._is_text else winner)
        number = self._outcomes.setdefault(outcome, len(self._outcomes))
        named = None if group is None else group_of(group)
        return i, j, number, named, 0 if awake is None else self._awake_set(awake, i, j)

    def _of(self, what: str, name: Any) -> int:
        """Return the position of an arm, a new one if it may be added."""
        if type(name) is str and name in self._position:
            return self._position[name]
        if is_missing(name) or type(name) in BOOLEANS:
            raise ValueError(must_be(what, "the name of an arm", name))
        try:
            found = self._position.get(name)
        except TypeError:
            raise TypeError(must_be(what, "the name of an arm", shortened(name))) from None
        if found is not None:
            return found
        if not self._add:
            known = list(self._position)
            shown = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
            rule = f"among the arms {shown}"
            raise ValueError(must_be(what, rule, shortened(name)) + did_you_mean(name, known))
        if type(name) not in (str, int):
            raise TypeError(must_be(what, "a string or a whole number to be added as an arm", name))
        if type(name) is str and not is_unicode(name):
            raise ValueError(must_be(what, UNICODE_RULE, shortened(name)))
        if type(name) is int and not has_few_digits(name):
            raise ValueError(must_be(what, DIGITS_RULE, name))
        return self._position.setdefault(name, len(self._position))

    def _awake_set(self, awake: Any, i: int, j: int) -> int:
        """Return the number of an awake set; zero stands for all arms."""
        if is_missing(awake):
            return 0
        if isinstance(awake, str):
            names: Any = awake_names(awake, self._is_text)
            names = map(_number, names) if self._digits else names
        elif isinstance(awake, list | tuple | np.ndarray):
            names = list(awake)
        else:
            raise TypeError(must_be("awake", AWAKE_SET_RULE, shortened(awake)))
        members = frozenset(self._of("awake", name) for name in names)
        if not {i, j} <= members:
            raise ValueError(must_be("awake", "a set with both arms of the duel", shortened(awake)))
        return self._sets.setdefault(members, len(self._sets) + 1)


def outcome_of(left: Any, right: Any, winner: Any) -> Outcome:
    """Return how a duel ended: `winner` is a name, `"left"`, `"right"`, `"tie"`, or the left arm's share as a float."""
    if isinstance(winner, str | float | int | np.number) and type(winner) is not bool and not is_missing(winner):
        if winner == left:
            return WORDS["left"]
        if winner == right:
            return WORDS["right"]
        if isinstance(winner, float | np.floating) and 0.0 <= winner <= 1.0:
            return TIED if winner == 0.5 else Outcome(float(winner), 1.0 - float(winner))
        if isinstance(winner, str) and winner in WORDS:
            return WORDS[winner]
    hint = did_you_mean(winner, [left, right, *WORDS])
    if isinstance(winner, str) and winner.lower() in TIE_WORDS:
        hint = " (did you mean 'tie'?)"
    raise ValueError(must_be("winner", f"{WINNER_RULE}, or the left arm's share", shortened(winner)) + hint)


def group_of(group: Any) -> Hashable:
    """Return the name of a group; nothing, a blank or a missing value is no group."""
    return None if is_missing(group) else checked_group(group)


def _number(text: Any) -> Any:
    """Return a whole number for its digits: in a file, names of arms that are numbers are texts."""
    digits = isinstance(text, str) and text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20
    return int(text) if digits else text


def _share(text: Any) -> Any:
    """Return the share that a text in a file tells, such as 0.75; whole numbers may be names of arms."""
    if isinstance(text, str) and "." in text:
        try:
            return float(text)
        except ValueError:
            pass
    return text
