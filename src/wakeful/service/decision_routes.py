"""Routes about decisions and their feedback."""

from functools import partial
from typing import Any

import msgspec

from wakeful.service.bandit_routes import BANDIT_PATH
from wakeful.service.messages import (
    Batch,
    BatchResult,
    DecisionMade,
    DecisionResult,
    DecisionState,
    DuelMade,
    DuelState,
    Feedback,
    FeedbackOf,
    FeedbackResult,
    FeedbackTaken,
    NewDecision,
    Problem,
    Recorded,
    Records,
)
from wakeful.service.names import checked_id
from wakeful.service.operations import Call, Direct, Operation, Service
from wakeful.service.queries import LevelQuery
from wakeful.service.readings import ExplanationReading
from wakeful.service.refusals import Refused
from wakeful.service.requests import Decide, Look, Record, Report
from wakeful.service.views import decision_and_copy, decision_made, decision_state, explanation


async def decide(service: Service, call: Call) -> tuple[int, Any]:
    """Choose among the arms that are awake; the decision is on disk before this answers."""
    return _decided(await service.desk.ask(_decide(call)))


def _decide(call: Call) -> Decide:
    """Return the decision that is asked for."""
    if call.body.id is not None:
        checked_id("id", call.body.id)
    return Decide(call.path[0], call.body)


def _decided(answer: Any) -> tuple[int, Any]:
    """Return the status and the decision, which may have been made before."""
    made, is_new = answer
    return 201 if is_new else 200, made


async def give_feedback(service: Service, call: Call) -> tuple[int, Any]:
    """Say how a decision went, once; the same again changes nothing."""
    return _reported(await service.desk.ask(_report(call)))


def _report(call: Call) -> Report:
    """Return the feedback that is given."""
    name, decision = call.path
    return Report(name, decision, call.body)


def _reported(answer: Any) -> tuple[int, Any]:
    """Return the status, and what became of the feedback."""
    return 200, answer


async def run_batch(service: Service, call: Call) -> tuple[int, Any]:
    """Make several decisions and give several feedbacks at once, each with its own result; decisions come first."""
    name, body = call.path[0], call.body
    for position, wanted in enumerate(body.decisions):
        if wanted.id is not None:
            checked_id(f"decisions[{position}].id", wanted.id)
    asked: list[Any] = [Decide(name, wanted) for wanted in body.decisions]
    asked += [Report(name, given.decision, _feedback(given)) for given in body.feedback]
    found = await service.desk.ask_many(asked) if asked else []
    many = len(body.decisions)
    return 200, BatchResult([*map(_decision_result, found[:many])], [*map(_feedback_result, found[many:])])


def _feedback(given: FeedbackOf) -> Feedback:
    """Return the feedback of one of several decisions."""
    return Feedback(given.loss, given.reward, given.winner)


def _decision_result(answer: Any) -> DecisionResult:
    """Return what became of one decision of a batch."""
    if isinstance(answer, Refused):
        return DecisionResult(answer.status, error=_problem(answer))
    made, is_new = answer
    return DecisionResult(201 if is_new else 200, **msgspec.structs.asdict(made))


def _feedback_result(answer: Any) -> FeedbackResult:
    """Return what became of one feedback of a batch."""
    if isinstance(answer, Refused):
        return FeedbackResult(answer.status, error=_problem(answer))
    return FeedbackResult(200, answer.id, answer.status)


def _problem(refused: Refused) -> Problem:
    """Return why a part of a batch was refused."""
    return Problem(refused.code, refused.message, refused.field)


async def record_decisions(service: Service, call: Call) -> tuple[int, Any]:
    """Learn from decisions that somebody else made, all or none."""
    return 200, await service.desk.ask(Record(call.path[0], call.body.records))


async def show_decision(service: Service, call: Call) -> tuple[int, Any]:
    """Return all that was logged of a decision."""
    name, decision = call.path
    return 200, decision_state(await service.desk.ask(Look(name, partial(decision_made, decision))))


async def explain_decision(service: Service, call: Call) -> tuple[int, Any]:
    """Say why a decision was made, in words and numbers."""
    name, decision = call.path
    made, bandit = await service.desk.ask(Look(name, partial(decision_and_copy, decision)))
    return 200, await service.compute(explanation, made, bandit, call.query.level)


DECISION = f"{BANDIT_PATH}/decisions/{{id}}"
DECISION_ROUTES = (
    Operation(
        "POST",
        f"{BANDIT_PATH}/decisions",
        decide,
        ("decide",),
        {201: DecisionMade | DuelMade, 200: DecisionMade | DuelMade},
        body=NewDecision,
        problems=("not_found", "conflict"),
        direct=Direct(_decide, _decided),
    ),
    Operation(
        "POST",
        f"{DECISION}/feedback",
        give_feedback,
        ("feedback",),
        {200: FeedbackTaken},
        body=Feedback,
        problems=("not_found", "conflict"),
        direct=Direct(_report, _reported),
    ),
    Operation(
        "POST",
        f"{BANDIT_PATH}/batch",
        run_batch,
        ("decide", "feedback"),
        {200: BatchResult},
        body=Batch,
        problems=("not_found",),
    ),
    Operation(
        "POST",
        f"{BANDIT_PATH}/records",
        record_decisions,
        ("admin",),
        {200: Recorded},
        body=Records,
        problems=("not_found",),
    ),
    Operation("GET", DECISION, show_decision, ("read",), {200: DecisionState | DuelState}, problems=("not_found",)),
    Operation(
        "GET",
        f"{DECISION}/explanation",
        explain_decision,
        ("read",),
        {200: ExplanationReading},
        query=LevelQuery,
        problems=("not_found",),
    ),
)
