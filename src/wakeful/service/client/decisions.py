"""Decisions and duels of the service, as its clients have them: what was chosen, and the id that feedback needs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from wakeful.inputs import must_be

DECISION_RULE = "what choose returned, its to_dict(), or its id"


class Made:
    """What decisions and duels have in common."""

    __slots__ = ()

    id: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON: another process can give the feedback."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]  # both are dataclasses

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return what `to_dict` wrote."""
        names = list(cls.__dataclass_fields__)  # type: ignore[attr-defined]  # as above
        if not isinstance(record, Mapping) or set(record) != set(names):
            raise ValueError(must_be("decision", f"a record of {', '.join(names)}", record))
        return cls(**record)


@dataclass(frozen=True, slots=True)
class RemoteDecision(Made):
    """The arm that the service chose, with which probability, and the id under which feedback is given.

    >>> decision = RemoteDecision("tea", 0.5, "d2")
    >>> RemoteDecision.from_dict(decision.to_dict()) == decision
    True
    """

    arm: str
    probability: float
    id: str


@dataclass(frozen=True, slots=True)
class RemoteDuel(Made):
    """The two arms of a duel, the probability of choosing them in these places, and the id of the duel."""

    left: str
    right: str
    probability: float
    id: str


def id_in(decision: Made | Mapping[str, Any] | str) -> str:
    """Return the id of a decision, which may be given as such, as a dictionary, or by its id."""
    found: Any = decision
    if isinstance(decision, Made):
        found = decision.id
    elif isinstance(decision, Mapping):
        found = decision.get("id")
    if not isinstance(found, str) or not found:
        raise TypeError(must_be("decision", DECISION_RULE, decision))
    return found
