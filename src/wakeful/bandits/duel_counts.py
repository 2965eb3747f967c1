"""How often each arm beat each other one, on which side and in which group: what a ranking is made of."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wakeful.bandits.bradley_terry import NO_TIES, PairResults
from wakeful.inputs import DIGITS_RULE, UNICODE_RULE, did_you_mean, has_few_digits, is_unicode, must_be
from wakeful.numerics.arrays import Floats, Ints
from wakeful.policies.state_ranges import TOTALS

COUNT_COLUMNS = 7  # of the saved table: group, first, second, kind, wins of the first, wins of the second, ties
TELLING = 20  # decided duels, of which one side cannot have won all by chance
GROUP_RULE = "a string or a whole number"

Key = tuple[int, int, int, int]  # group, first, second, kind


class Outcome(NamedTuple):
    """How one duel of two arms ended: shares of wins, or a tie, which sum to one."""

    first: float
    second: float
    tie: float = 0.0


TIED = Outcome(0.0, 0.0, 1.0)


class DuelCounts:
    """Sums of results for each group, pair and kind; only what has been played takes memory."""

    def __init__(self) -> None:
        self.groups: list[Hashable] = [None]  # by number; the first stands for duels without a group
        self._number: dict[Hashable, int] = {None: 0}
        self._sums: dict[Key, list[float]] = {}

    def add(self, group: Hashable, first: int, second: int, kind: int, outcome: Outcome) -> None:
        """Count one duel; an arm that meets itself teaches nothing."""
        if first == second:
            return
        key = (self._numbered(group), first, second, kind)
        try:
            sums = self._sums[key]
        except KeyError:
            sums = self._sums[key] = [0.0, 0.0, 0.0]
        sums[0] += outcome[0]
        sums[1] += outcome[1]
        sums[2] += outcome[2]

    def add_many(self, groups: Sequence[Hashable], arms: Ints, kind: int, outcomes: Floats) -> None:
        """Count T duels: their groups, or none for all; (T, 2) positions; (T, 3) wins of the first, second, ties."""
        names = list(dict.fromkeys(groups)) or [None]
        place = {name: n for n, name in enumerate(names)}
        numbers = np.array([place[name] for name in groups], np.int64) if len(groups) else np.zeros(len(arms), np.int64)
        width = int(arms.max(initial=0)) + 1
        keys, inverse = np.unique((numbers * width + arms[:, 0]) * width + arms[:, 1], return_inverse=True)
        sums = [np.bincount(inverse, outcomes[:, n], keys.size).tolist() for n in range(3)]
        for key, *counts in zip(keys.tolist(), *sums, strict=True):
            self.add(names[key // width // width], key // width % width, key % width, kind, Outcome(*counts))

    def of_group(self, group: Hashable) -> PairResults:
        """Return the results of one group."""
        if group is None or group not in self._number:
            known = self.groups[1:]
            rule = f"one of {', '.join(map(repr, known))}" if known else "left out: no duel has had a group"
            raise ValueError(must_be("group", rule, group) + did_you_mean(group, known))
        return self._results(self._number[group])

    def overall(self) -> PairResults:
        """Return the results of all groups together."""
        return self._results(None)

    def _numbered(self, group: Hashable) -> int:
        """Return the number of a group, a new one if it was not there."""
        try:
            return self._number[group]
        except KeyError:
            self.groups.append(group)
            self._number[group] = len(self.groups) - 1
            return len(self.groups) - 1

    def _results(self, group: int | None) -> PairResults:
        rows = np.array([[*key[1:], *sums] for key, sums in self._sums.items() if group in {None, key[0]}])
        rows = rows.reshape(-1, COUNT_COLUMNS - 1)
        first, second, kind = (rows[:, n].astype(np.int64) for n in range(3))
        return PairResults(first, second, rows[:, 3], rows[:, 4], rows[:, 5], kind)

    def to_array(self) -> Floats:
        """Return all sums as a table, sorted, so that the same counts are the same bytes."""
        rows = [[*key, *sums] for key, sums in sorted(self._sums.items())]
        return np.array(rows, np.float64).reshape(-1, COUNT_COLUMNS)

    @classmethod
    def from_array(cls, table: Any, groups: Any, n_arms: int) -> "DuelCounts":
        """Return the counts that `to_array` and `groups` describe, or refuse what they cannot have been."""
        if not isinstance(groups, list) or len(set(groups)) != len(groups):
            raise ValueError(must_be("groups", "a list of different names", groups))
        named = [checked_group(group) for group in groups]
        if isinstance(table, np.ndarray) and table.size == 0:
            table = np.zeros((0, COUNT_COLUMNS))  # an empty list has no columns
        shaped = isinstance(table, np.ndarray) and table.dtype == np.float64 and table.ndim == 2
        if not shaped or table.shape[1] != COUNT_COLUMNS or not TOTALS.holds(table):
            raise ValueError(must_be("duel_counts", f"a table of {COUNT_COLUMNS} columns that holds {TOTALS}", table))
        keys, limits = table[:, :4], [len(groups) + 1, n_arms, n_arms, NO_TIES + 1]
        if (keys % 1).any() or (keys >= limits).any() or (keys[:, 1] == keys[:, 2]).any():
            raise ValueError(must_be("duel_counts", "of known arms and groups", keys))
        counts = cls()
        for group in named:
            counts._numbered(group)
        for row in table.tolist():
            group, first, second, kind = map(int, row[:4])
            counts.add(counts.groups[group], first, second, kind, Outcome(*row[4:]))
        return counts

    @classmethod
    def from_wins(cls, wins: Floats) -> "DuelCounts":
        """Return what a matrix of wins holds, as saved by earlier versions: no sides, and ties already shared."""
        counts = cls()
        first, second = np.nonzero(np.triu(wins + wins.T, 1))
        for i, j in zip(first.tolist(), second.tolist(), strict=True):
            counts.add(None, i, j, NO_TIES, Outcome(float(wins[i, j]), float(wins[j, i])))
        return counts


def checked_group(group: Any) -> Hashable:
    """Return the name of a group, if a file can hold it, or None."""
    if group is not None and type(group) not in (str, int):
        raise TypeError(must_be("group", GROUP_RULE, group))
    if type(group) is str and not is_unicode(group):
        raise ValueError(must_be("group", UNICODE_RULE, group))
    if type(group) is int and not has_few_digits(group):
        raise ValueError(must_be("group", DIGITS_RULE, group))
    return group  # type: ignore[no-any-return]  # as just checked


def refuse_one_sided(outcomes: Floats) -> None:
    """Raise if one side won every one of many duels: then the winner is named first, and the sides are not known."""
    left, right = outcomes[:, 0].sum(), outcomes[:, 1].sum()
    if min(left, right) == 0.0 and max(left, right) >= TELLING:
        rule = "won now and then by either side, or sides=False where left and right are no sides"
        raise ValueError(must_be("results", rule, f"{left:g} wins on the left, {right:g} on the right"))
