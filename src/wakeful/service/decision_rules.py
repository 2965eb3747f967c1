"""What requests about decisions do: choose, learn how it went, and record what has waited too long."""

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from math import isclose
from typing import Any

from wakeful.duels.duel import Duel
from wakeful.inputs import must_be
from wakeful.policies.decision import Decision
from wakeful.service import events
from wakeful.service.draws import uniforms
from wakeful.service.events import Choice
from wakeful.service.known import Known, id_of, number_of
from wakeful.service.ledger import Ledger
from wakeful.service.messages import DecisionMade, DuelMade, Feedback, FeedbackTaken, NewDecision
from wakeful.service.refusals import Refused
from wakeful.service.requests import Decide, Expire, Report
from wakeful.service.turn import Turn, versions

MOST_EXPIRED = 1_000  # at a time
SAME = 1e-12  # by how much two losses that are the same may differ


def decide(request: Decide, turn: Turn) -> tuple[DecisionMade | DuelMade, bool]:
    """Choose; the same client's id again gives the decision that it gave before."""
    ledger, body = turn.there, request.body
    own_id = body.id or ""
    if own_id:
        if number_of(own_id) is not None:
            rule = "other than 'd' and digits, which are the service's own"
            raise Refused("invalid", must_be("id", rule, own_id), "id")
        known = turn.finder.own(own_id)
        if known is not None:
            return _again(ledger, known, body), False
    made, event = _duel(ledger, body, turn.now) if ledger.kind == "dueling" else _decision(ledger, body, turn.now)
    item = turn.add(event, made=made)
    turn.finder.add(Known(item.number, event, None, late=False))
    return made_answer(own_id or f"d{item.number}", made), True


def _decision(ledger: Ledger, body: NewDecision, now: float) -> tuple[Decision, Choice]:
    """Return a new decision and its event."""
    if body.distinct or body.within or body.pairs or body.groups is not None or body.group:
        given = ((name, getattr(body, name)) for name in ("distinct", "within", "pairs", "groups", "group"))
        field, value = next((name, value) for name, value in given if value not in (None, False))
        raise Refused("invalid", must_be(field, "left out for a bandit that is not dueling", value), field)
    drawn = uniforms(ledger.created_by.seed, ledger.bandit.rounds + 1, 1)
    decision = ledger.bandit.propose(body.awake, drawn[0])
    return decision, ledger.decided(decision, body.id or "", now, versions())


def _duel(ledger: Ledger, body: NewDecision, now: float) -> tuple[Duel, Choice]:
    """Return a new duel and its event."""
    drawn = uniforms(ledger.created_by.seed, ledger.bandit.rounds + 1, 4)
    asked = {"groups": body.groups, "within": body.within, "pairs": body.pairs}
    limits = {name: value for name, value in asked.items() if value is not None and value is not False}
    duel = ledger.bandit.propose(body.awake, drawn, distinct=body.distinct, group=body.group, **limits)
    return duel, ledger.dueled(duel, body.id or "", now, versions(), limits or None)


def _again(ledger: Ledger, known: Known, body: NewDecision) -> DecisionMade | DuelMade:
    """Return the answer that was given to this id before; another set of arms is a conflict."""
    made = ledger.decision_of(known.choice)
    before = set(made.awake if isinstance(made, Decision) else chain(*made.allowed))
    is_limited = body.pairs or body.groups or body.within  # such duels leave out arms that may meet no other
    if body.awake is not None and not is_limited and set(body.awake) != before:
        raise Refused("conflict", f"the id {body.id!r} belongs to a decision with another awake set", "id")
    return made_answer(id_of(known), made)


def made_answer(decision_id: str, made: Decision | Duel) -> DecisionMade | DuelMade:
    """Return what the client is told of a decision."""
    if isinstance(made, Duel):
        return DuelMade(decision_id, made.left, made.right, made.probability)
    return DecisionMade(decision_id, made.arm, made.probability)


def report(request: Report, turn: Turn) -> FeedbackTaken:
    """Learn how a decision went, once."""
    ledger = turn.there
    known = turn.finder.get(request.decision)
    value = value_of(ledger, known.choice, request.body)
    outcome, deadline = known.outcome, known.choice.deadline
    if isinstance(outcome, events.Answered):
        if not isclose(outcome.value, value, abs_tol=SAME):  # a reward of 0.7 is a loss of 0.3, but for rounding
            raise Refused("conflict", f"decision {request.decision!r} has other feedback already", None)
        return FeedbackTaken(request.decision, "known")
    if outcome is None and (deadline is None or turn.now <= deadline):
        answered = events.Answered(turn.now, known.number, value)
        turn.add(answered, known.choice)
        turn.finder.add(Known(known.number, known.choice, answered, known.late))
        return FeedbackTaken(request.decision, "counted")
    if outcome is None:
        known = _expire(turn, known)
    if not known.late:
        turn.add(events.Late(turn.now, known.number, value))
        turn.finder.add(known._replace(late=True))
    return FeedbackTaken(request.decision, "late")


def value_of(ledger: Ledger, choice: Choice, body: Feedback) -> float:
    """Return the loss of a decision, or the left arm's share of the win."""
    if isinstance(choice, events.Dueled):
        if body.winner is None or body.loss is not None or body.reward is not None:
            given = {"loss": body.loss, "reward": body.reward, "winner": body.winner}
            raise Refused("invalid", must_be("feedback", "the winner alone, for a duel", given), "winner")
        duel = ledger.decision_of(choice)
        return share_of(body.winner, duel.left, duel.right)  # type: ignore[union-attr]  # a duel, as its event is
    if body.winner is not None:
        raise Refused("invalid", must_be("winner", "left out: this is no duel", body.winner), "winner")
    if (body.loss is None) == (body.reward is None):
        given = {"loss": body.loss, "reward": body.reward}
        raise Refused("invalid", must_be("feedback", "exactly one of loss and reward", given), "loss")
    return 1.0 - body.reward if body.loss is None else body.loss  # type: ignore[operator]  # one of them is given


def share_of(winner: str, left: str, right: str) -> float:
    """Return the left arm's share of the win; names of arms go before `left`, `right` and `tie`."""
    won = [winner == left, winner == right]
    if not any(won):
        won = [winner in {"left", "tie"}, winner in {"right", "tie"}]
    if not any(won):
        rule = f"one of {left!r}, {right!r}, 'left', 'right', 'tie'"
        raise Refused("invalid", must_be("winner", rule, winner), "winner")
    return won[0] / sum(won)


def _expire(turn: Turn, known: Known) -> Known:
    """Record that no feedback came in time."""
    value = None if isinstance(known.choice, events.Dueled) else turn.there.default_loss
    expired = events.Expired(turn.now, known.number, value)
    turn.add(expired, known.choice)
    ended = known._replace(outcome=expired)
    turn.finder.add(ended)
    return ended


def expire(request: Expire, turn: Turn) -> int:
    """Record it of all decisions whose deadline has passed."""
    due = overdue(turn.there, turn.now)
    for number in due:
        _expire(turn, turn.finder[number])
    return len(due)


def overdue(ledger: Ledger, now: float) -> list[int]:
    """Return the decisions whose deadline has passed, the first ones only: the others' turn comes next."""
    passed = max(now, ledger.time)  # as events are dated
    return list(islice((number for number, deadline in ledger.waiting.items() if deadline < passed), MOST_EXPIRED))


def decisions_asked_for(
    requests: Sequence[Any], ledgers: Mapping[str, Ledger], now: float = 0.0
) -> dict[str, tuple[list[int], list[str]]]:
    """Return, for each bandit, the numbers and own ids of the decisions that requests are about."""
    asked: dict[str, tuple[list[int], list[str]]] = {request.bandit: ([], []) for request in requests}
    for request in requests:
        numbers, own_ids = asked[request.bandit]
        if request.bandit not in ledgers:
            continue
        if isinstance(request, Report):
            number = number_of(request.decision)
            if number is not None:
                numbers.append(number)
            elif "\0" not in request.decision:  # no decision has such an id, and PostgreSQL takes no such text
                own_ids.append(request.decision)
        elif isinstance(request, Decide):
            if request.body.id:
                own_ids.append(request.body.id)
        elif isinstance(request, Expire):
            numbers += overdue(ledgers[request.bandit], now)
    return asked
