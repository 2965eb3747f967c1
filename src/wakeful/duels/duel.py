"""`Duel`: the arms of a duel, and all that its feedback needs."""

import math
from collections.abc import Hashable, Mapping, Sequence
from struct import Struct
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from wakeful.inputs import must_be, real, whole
from wakeful.numerics.arrays import Floats
from wakeful.policies.kernels import CLOSE

two_numbers = Struct("<2d").pack


class Duel(NamedTuple):
    """One duel (or battle) and all that its feedback needs; `to_dict` and `from_dict` convert it for JSON.

    Parameters:
        arms: the arms chosen, in the order in which they were drawn
        probabilities: with which each was drawn, given those before it
        allowed: the arms that each was drawn from, in the order of the bandit's arms
        laws: one row for each arm chosen: the probabilities of all arms from which it was drawn
        clock: the number of this duel, counted from one
        memos: for each arm chosen, a number that the policy needs again at feedback
        policy: the full name of the policy that decided, such as `Sparring[SIExp3]`; empty if it is unknown
        shown: the places of `arms`, from left to right, as a fair coin put them; empty: as they were drawn
        group: what the duel belongs to, for a ranking of each group; None: nothing
    """

    arms: tuple[Any, ...]
    probabilities: tuple[float, ...]
    allowed: tuple[tuple[Any, ...], ...]
    laws: Floats
    clock: int
    memos: tuple[float, ...]
    policy: str = ""
    shown: tuple[int, ...] = ()
    group: Hashable | None = None

    @property
    def left(self) -> Any:
        """The arm on the left."""
        return self.arms[self.shown[0] if self.shown else 0]

    @property
    def right(self) -> Any:
        """The arm on the right."""
        return self.arms[self.shown[1] if self.shown else 1]

    @property
    def in_order(self) -> tuple[Any, ...]:
        """All arms as they are shown, from left to right."""
        return tuple([self.arms[place] for place in self.shown]) if self.shown else self.arms

    @property
    def probability(self) -> float:
        """The probability of drawing these arms in this order and of showing them in these places."""
        places = math.factorial(len(self.arms)) if self.shown else 1
        return math.prod(self.probabilities) / places

    def to_dict(self) -> dict[str, Any]:
        """Return the duel as plain numbers and lists, ready for JSON; exact, not rounded."""
        return {
            "arms": list(self.arms),
            "probabilities": list(self.probabilities),
            "allowed": [list(names) for names in self.allowed],
            "laws": self.laws.tolist(),
            "clock": self.clock,
            "memos": list(self.memos),
            "policy": self.policy,
            "shown": list(self.shown),
            "group": self.group,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Duel":
        """Return the duel that `to_dict` wrote; whether it fits a bandit, its `update` checks."""
        if not isinstance(record, Mapping) or {"policy", "shown", "group", *record} != set(cls._fields):
            raise ValueError(must_be("duel", f"a record of {', '.join(cls._fields)}", record))
        lists = ("arms", "probabilities", "allowed", "laws", "memos")
        for field in lists:
            if not isinstance(record[field], list | tuple):
                raise TypeError(must_be(f"duel.{field}", "a list", record[field]))
        size = len(record["arms"])
        if size < 2 or any(len(record[field]) != size for field in lists):
            raise ValueError(must_be("duel.arms", "two or more, as many as in the other fields", record["arms"]))
        for field in ("allowed", "laws"):
            for row in record[field]:
                if not isinstance(row, list | tuple):
                    raise TypeError(must_be(f"duel.{field}", "a list of lists", record[field]))
        laws = [[real("duel.laws", x, "between 0 and 1", 0.0, 1.0 + CLOSE) for x in row] for row in record["laws"]]
        if any(len(row) != len(laws[0]) for row in laws):
            raise ValueError(must_be("duel.laws", "rows of the same length", record["laws"]))
        return cls(
            tuple(record["arms"]),
            tuple(record["probabilities"]),
            tuple(tuple(names) for names in record["allowed"]),
            np.array(laws, np.float64),
            record["clock"],
            tuple(record["memos"]),
            record.get("policy", ""),
            _places(record.get("shown", []), size),
            record.get("group"),
        )

    def __eq__(self, other: object) -> bool:
        """Compare field by field, arrays exactly."""
        if not isinstance(other, Duel):
            return NotImplemented
        return np.array_equal(self.laws, other.laws) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        """Negate `==`; the method of tuples cannot compare arrays."""
        return not self == other

    def __hash__(self) -> int:
        """Hash everything but the array."""
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (
            self.arms,
            self.probabilities,
            self.allowed,
            self.clock,
            self.memos,
            self.policy,
            self.shown,
            self.group,
        )


def shown_places(uniforms: Sequence[float]) -> tuple[int, ...]:
    """Return the places of the arms from left to right: a fair coin for two, a random order for more.

    `uniforms` are the two numbers for each arm with which the arms were drawn. Each arm gets a key from its two, and
    the arms are sorted by their keys. A key is a checksum: sums modulo 2 of bits, most of which no choice depends on.
    So every order is as likely as any other, whatever was chosen.

    >>> shown_places([0.1, 0.2, 0.3, 0.4]), shown_places([0.3, 0.4, 0.1, 0.2])
    ((0, 1), (1, 0))
    """
    keys = [crc32(two_numbers(*uniforms[n : n + 2])) for n in range(0, len(uniforms), 2)]
    if len(keys) == 2:
        return (0, 1) if keys[0] <= keys[1] else (1, 0)
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def _places(shown: Any, size: int) -> tuple[int, ...]:
    """Return the places of `size` arms, none or all of them once."""
    rule = f"the places 0 to {size - 1}, each once, or none"
    if not isinstance(shown, list | tuple):
        raise TypeError(must_be("duel.shown", "a list", shown))
    places = tuple([whole("duel.shown", place, rule, 0) for place in shown])
    if places and sorted(places) != list(range(size)):
        raise ValueError(must_be("duel.shown", rule, shown))
    return places
