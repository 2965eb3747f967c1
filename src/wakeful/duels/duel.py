"""`Duel`: the arms of a duel, and all that its feedback needs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from wakeful.inputs import must_be, real
from wakeful.numerics.arrays import Floats
from wakeful.policies.kernels import CLOSE


class Duel(NamedTuple):
    """One duel (or battle) and all that its feedback needs; `to_dict` and `from_dict` convert it for JSON.

    Parameters:
        arms: the arms chosen: left, right, and the rest of a battle
        probabilities: with which each was drawn, given those before it
        allowed: the arms that each was drawn from, in the order of the bandit's arms
        laws: one row for each arm chosen: the probabilities of all arms from which it was drawn
        clock: the number of this duel, counted from one
        memos: for each arm chosen, a number that the policy needs again at feedback
        policy: the full name of the policy that decided, such as `Sparring[SIExp3]`; empty if it is unknown
    """

    arms: tuple[Any, ...]
    probabilities: tuple[float, ...]
    allowed: tuple[tuple[Any, ...], ...]
    laws: Floats
    clock: int
    memos: tuple[float, ...]
    policy: str = ""

    @property
    def left(self) -> Any:
        """The arm on the left."""
        return self.arms[0]

    @property
    def right(self) -> Any:
        """The arm on the right."""
        return self.arms[1]

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
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Duel":
        """Return the duel that `to_dict` wrote; whether it fits a bandit, its `update` checks."""
        if not isinstance(record, Mapping) or {"policy", *record} != set(cls._fields):
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
        return (self.arms, self.probabilities, self.allowed, self.clock, self.memos, self.policy)
