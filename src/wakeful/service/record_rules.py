"""What a request about decisions of others does: learn from all of them, or from none."""

from typing import Any

from msgspec.structs import asdict

from wakeful.inputs import must_be
from wakeful.service import events
from wakeful.service.decision_rules import share_of, value_of
from wakeful.service.events import AnyEvent
from wakeful.service.ledger import Ledger
from wakeful.service.messages import Feedback, NewRecord, Recorded
from wakeful.service.refusals import Refused
from wakeful.service.requests import Record
from wakeful.service.turn import Turn

NO_DUEL = events.Decided(0.0, "", 1, b"", b"", 0, 1, 0.0, None, "")  # what feedback of a recorded decision is about


def record(request: Record, turn: Turn) -> Recorded:
    """Learn from decisions of others; all are checked on a copy first, so that either all are learned or none."""
    ledger = turn.there
    made = [_recorded(ledger, body, turn.now, n) for n, body in enumerate(request.body)]
    trial = Turn(Ledger.from_bytes(ledger.to_bytes()), turn.finder, turn.now)
    for event in made:
        trial.add(event)
    for event in made:
        turn.add(event)
    return Recorded(len(made))


def _recorded(ledger: Ledger, body: NewRecord, now: float, position: int) -> AnyEvent:
    """Return the event of a decision or duel of others; refusals name the field of the record at this position."""
    try:
        return (_duel_recorded if ledger.kind == "dueling" else _decision_recorded)(ledger, body, now)
    except Refused as problem:
        field = f"records[{position}]" + (f".{problem.field}" if problem.field else "")
        raise Refused(problem.code, problem.message, field) from None


def _decision_recorded(ledger: Ledger, body: NewRecord, now: float) -> AnyEvent:
    """Return the event of a decision of others."""
    if body.arm is None or body.left is not None or body.right is not None or body.winner is not None:
        raise Refused("invalid", must_be("record", "arm, awake, probability, and loss or reward", _given(body)))
    awake = _known_set(ledger, body.awake)
    arm, loss = _position(ledger, body.arm), value_of(ledger, NO_DUEL, Feedback(body.loss, body.reward))
    return events.Recorded(now, arm, len(ledger.names), awake, body.probability, loss)


def _duel_recorded(ledger: Ledger, body: NewRecord, now: float) -> AnyEvent:
    """Return the event of a duel of others."""
    if body.left is None or body.right is None or body.winner is None or body.arm is not None:
        raise Refused("invalid", must_be("record", "left, right and winner, for duels", _given(body)))
    left, right = _position(ledger, body.left), _position(ledger, body.right)
    share = share_of(body.winner, body.left, body.right)
    awake = None if body.awake is None else _known_set(ledger, body.awake)
    return events.DuelRecorded(now, left, right, share, body.group, body.probability, len(ledger.names), awake)


def _given(body: NewRecord) -> dict[str, Any]:
    """Return the fields of a record that were given."""
    return {name: value for name, value in asdict(body).items() if value is not None}


def _position(ledger: Ledger, arm: str) -> int:
    """Return the position of an arm, or refuse."""
    if arm not in ledger.positions:
        raise Refused("invalid", must_be("arm", "one of this bandit's arms", arm), "arm")
    return ledger.positions[arm]


def _known_set(ledger: Ledger, awake: list[str] | None) -> bytes:
    """Return a set of arms as bits; nothing: all that are not retired."""
    retired = set(ledger.bandit.retired)
    names = [name for name in ledger.names if name not in retired] if awake is None else awake
    positions = sorted({_position(ledger, name) for name in names})
    if len(positions) != len(names):
        raise Refused("invalid", must_be("awake", "without repeated arms", names), "awake")
    return ledger.bits_of(tuple(ledger.names[k] for k in positions))[0]
