"""What each request does: the events that it adds to the log, and its answer. Refusals add nothing."""

from collections.abc import Callable
from typing import Any

from wakeful.service.bandit_rules import add_arm, configure, create, retire_arm
from wakeful.service.decision_rules import decide, expire, report
from wakeful.service.record_rules import record
from wakeful.service.refusals import Refused
from wakeful.service.requests import AddArm, Configure, Create, Decide, Expire, Record, Report, RetireArm
from wakeful.service.turn import Turn, refusal_of

Write = Create | Configure | AddArm | RetireArm | Decide | Report | Record | Expire

HOW: dict[type, Callable[[Any, Turn], Any]] = {
    Create: create,
    Configure: configure,
    AddArm: add_arm,
    RetireArm: retire_arm,
    Decide: decide,
    Report: report,
    Record: record,
    Expire: expire,
}


def carry_out(request: Write, turn: Turn) -> Any:
    """Carry out a request; return its answer, or raise `Refused` with nothing changed."""
    try:
        return HOW[type(request)](request, turn)
    except (ValueError, TypeError) as problem:  # the library's own sentences
        raise refusal_of(problem) from None
    except MemoryError:
        raise Refused("invalid", "the bandit needs more memory than there is; fewer arms or sets need less") from None
