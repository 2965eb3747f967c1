"""The events of a log as JSON: arms by name, probabilities as numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wakeful.service import events as e
from wakeful.service.messages import EventList

MOST_NUMBERS = 500_000  # probabilities in one answer, about; what is left comes with the next
KIND: dict[type, str] = {
    e.Created: "created",
    e.Configured: "configured",
    e.ArmAdded: "arm_added",
    e.ArmRetired: "arm_retired",
    e.ArmRevived: "arm_revived",
    e.Decided: "decided",
    e.Dueled: "dueled",
    e.Answered: "answered",
    e.Expired: "expired",
    e.Late: "late",
    e.Recorded: "recorded",
    e.DuelRecorded: "duel_recorded",
}


def log_part(after: int, limit: int, ledger: Any, reader: Any) -> tuple[tuple[str, ...], list[tuple[int, Any]]]:
    """Return the names of arms, and events after a number."""
    return tuple(ledger.bandit.arms), reader.events(after, limit)


def event_list(names: Sequence[str], found: Sequence[tuple[int, Any]], after: int) -> EventList:
    """Return events as JSON; fewer than were found, if they hold very many numbers."""
    made, numbers = [], 0
    for number, event in found:
        row = event_row(names, number, event)
        made.append(row)
        numbers += len(row.get("awake") or ()) + sum(map(len, row.get("allowed", ())))
        if numbers > MOST_NUMBERS:
            break
    return EventList(made, made[-1]["number"] if made else after)


def event_row(names: Sequence[str], number: int, event: e.AnyEvent) -> dict[str, Any]:
    """Return one event as JSON."""
    fields = {field: getattr(event, field) for field in event.__struct_fields__}
    row: dict[str, Any] = {"number": number, "kind": KIND[type(event)], **fields}
    match event:
        case e.Created():
            row["bandit_kind"] = event.kind
            row["kind"] = KIND[e.Created]
            row |= event.policy
        case e.ArmRetired() | e.ArmRevived():
            row["arm"] = names[event.arm]
        case e.Decided():
            row |= _decided(names, number, event)
        case e.Dueled():
            row |= _dueled(names, number, event)
        case e.Recorded():
            row |= {"arm": names[event.arm], "awake": _names(names, event.awake, event.n_arms)}
        case e.DuelRecorded():
            awake = None if event.awake is None else _names(names, event.awake, event.n_arms)
            row |= {"left": names[event.left], "right": names[event.right], "awake": awake}
    for hidden in ("n_arms", "laws"):
        row.pop(hidden, None)
    return row


def _decided(names: Sequence[str], number: int, event: e.Decided) -> dict[str, Any]:
    """Return what is special about a decision."""
    awake, p = _names(names, event.awake, event.n_arms), numbers_in(event.probabilities)
    arm = names[event.arm]
    chance = p[awake.index(arm)]
    return {
        "id": event.id or f"d{number}",
        "awake": awake,
        "probabilities": p,
        "arm": arm,
        "probability": chance,
    }


def _dueled(names: Sequence[str], number: int, event: e.Dueled) -> dict[str, Any]:
    """Return what is special about a duel."""
    arms = [names[arm] for arm in event.arms]
    left, right = [arms[place] for place in event.shown or (0, 1)]
    return {
        "id": event.id or f"d{number}",
        "arms": arms,
        "allowed": [_names(names, bits, event.n_arms) for bits in event.allowed],
        "probabilities": [numbers_in(row) for row in event.laws],
        "left": left,
        "right": right,
    }


def _names(names: Sequence[str], bits: bytes, n_arms: int) -> list[str]:
    """Return the names of a set of arms."""
    return [names[k] for k in np.flatnonzero(e.unpacked(bits, n_arms)).tolist()]


def numbers_in(data: bytes) -> list[float]:
    """Return the numbers that bytes of an event hold."""
    numbers: list[float] = np.frombuffer(data, "<f8").tolist()
    return numbers
