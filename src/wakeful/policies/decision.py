"""`Decision`: the arm chosen, and all that its feedback needs."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from wakeful.inputs import must_be, real
from wakeful.numerics.arrays import Floats
from wakeful.policies.kernels import CLOSE


class Decision(NamedTuple):
    """One choice and all that its feedback needs; `to_dict` and `from_dict` convert it for JSON.

    For a `Bandit`, arms are names; for a policy's own `update`, they are indices.

    Parameters:
        arm: the arm chosen
        probability: with which it was chosen
        awake: the arms that were available, in the order of the bandit's arms
        probabilities: of all arms at decision time, zero on arms that are asleep
        clock: the number of this decision, counted from one
        memo: a number that the policy needs again at feedback (a learning rate, a propensity, a coin)
        policy: the full name of the policy that decided, such as `PerSet[SIExp3]`; empty if it is unknown
    """

    arm: Any
    probability: float
    awake: tuple[Any, ...]
    probabilities: Floats
    clock: int
    memo: float
    policy: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain numbers and lists, ready for JSON; exact, not rounded."""
        return {**self._asdict(), "awake": list(self.awake), "probabilities": self.probabilities.tolist()}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Decision":
        """Return the decision that `to_dict` wrote; whether it fits a bandit, its `update` checks."""
        if not isinstance(record, Mapping) or {"policy", *record} != set(cls._fields):
            raise ValueError(must_be("decision", f"a record of {', '.join(cls._fields)}", record))
        for field in ("awake", "probabilities"):
            if not isinstance(record[field], list | tuple):
                raise TypeError(must_be(f"decision.{field}", "a list", record[field]))
        p = [real("decision.probabilities", x, "between 0 and 1", 0.0, 1.0 + CLOSE) for x in record["probabilities"]]
        return cls(**{**record, "probabilities": np.array(p, np.float64), "awake": tuple(record["awake"])})

    def __eq__(self, other: object) -> bool:
        """Compare field by field, arrays exactly."""
        if not isinstance(other, Decision):
            return NotImplemented
        return np.array_equal(self.probabilities, other.probabilities) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        """Negate `==`; the method of tuples cannot compare arrays."""
        return not self == other

    def __hash__(self) -> int:
        """Hash everything but the array."""
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (self.arm, self.probability, self.awake, self.clock, self.memo, self.policy)


# A decision from the class and the seven fields at once: half the time of `Decision(...)`.
new_decision = cast(Callable[[type[Decision], tuple[Any, ...]], Decision], tuple.__new__)
