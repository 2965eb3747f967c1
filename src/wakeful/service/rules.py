"""What each request does: the events that it adds to the log, and its answer. Refusals add nothing."""

import secrets
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from msgspec import UNSET

from wakeful.bandits.bandit import Bandit
from wakeful.bandits.dueling_bandit import DuelingBandit
from wakeful.duels.auto_pairs import AutoPairs
from wakeful.duels.duel import Duel
from wakeful.duels.policy import DuelingPolicy
from wakeful.inputs import must_be
from wakeful.policies.auto import Auto
from wakeful.policies.decision import Decision
from wakeful.policies.policy import Policy
from wakeful.service import events
from wakeful.service.draws import uniforms
from wakeful.service.events import AnyEvent, Choice, Entry
from wakeful.service.known import Finder, Known, id_of, number_of
from wakeful.service.ledger import Ledger
from wakeful.service.messages import (
    ArmState,
    BanditState,
    DecisionMade,
    DuelMade,
    Feedback,
    FeedbackTaken,
    NewBandit,
    NewDecision,
    NewRecord,
    Recorded,
)
from wakeful.service.refusals import Refused
from wakeful.service.requests import (
    AddArm,
    Configure,
    Create,
    Decide,
    Expire,
    Record,
    Report,
    RetireArm,
)

Write = Create | Configure | AddArm | RetireArm | Decide | Report | Record | Expire


class Turn:
    """One request being carried out: it adds events to a ledger, and remembers them for the store."""

    def __init__(self, ledger: Ledger | None, finder: Finder, now: float) -> None:
        self.ledger, self.finder = ledger, finder
        self.now = now if ledger is None else max(now, ledger.time)  # a clock that jumps back stands still here
        self.added: list[Entry] = []

    def begin(self, created: events.Created) -> Ledger:
        """Add the first event of a log."""
        self.ledger = Ledger(created)
        self.add(created)
        return self.ledger

    def add(self, event: AnyEvent, choice: Choice | None = None, made: Decision | Duel | None = None) -> Entry:
        """Add an event to the ledger."""
        ledger = self.there
        item = events.entry(ledger.hash, ledger.head + 1, event)
        ledger.take(item, choice, made)
        self.added.append(item)
        return item

    @property
    def there(self) -> Ledger:
        """The ledger, which there must be."""
        if self.ledger is None:
            raise Refused("not_found", "the bandit does not exist: PUT /v1/bandits/{name} makes one", "name")
        return self.ledger


def carry_out(request: Write, turn: Turn) -> Any:
    """Carry out a request; return its answer, or raise `Refused` with nothing changed."""
    try:
        return HOW[type(request)](request, turn)
    except (ValueError, TypeError) as problem:  # the library's own sentences
        raise refusal_of(problem) from None


def refusal_of(problem: Exception) -> Refused:
    """Return the refusal that passes a sentence of the library on, with the field that it names."""
    message = str(problem)
    field = message.partition(" must be ")[0]
    return Refused("invalid", message, field if field != message and " " not in field else None)


def create(request: Create, turn: Turn) -> tuple[BanditState, bool]:
    """Make a bandit, unless it is there; a different one of the same name is a conflict."""
    body = request.body
    policy = _policy(body)
    if turn.ledger is not None:
        _refuse_other(turn.ledger, body, policy)
        return state_of(turn.ledger), False
    if body.default_loss is not None and body.kind == "dueling":
        raise Refused("invalid", must_be("default_loss", "left out for duels", body.default_loss), "default_loss")
    seed = secrets.randbits(63) if body.seed is None else body.seed
    created = events.Created(
        turn.now,
        request.bandit,
        body.kind,
        policy.to_dict(),
        body.arms,
        seed,
        body.wait,
        body.default_loss,
        versions(),
    )
    return state_of(turn.begin(created)), True


def compile_for(body: NewBandit) -> None:
    """Compile what a bandit needs, by deciding once with two arms; what is wrong with it is said when it is made."""
    try:
        policy: Any = _policy(body)
        bandit: Any = (DuelingBandit if body.kind == "dueling" else Bandit)(policy, 2, 0)
        made = bandit.propose(None, [0.5] * 4 if body.kind == "dueling" else 0.5)
        bandit.admit(made)
        bandit.update(made, **({"winner": "tie"} if body.kind == "dueling" else {"loss": 0.5}))
    except (ValueError, TypeError, Refused):
        return


@cache
def compile_records(policy: Policy | DuelingPolicy) -> None:
    """Compile what a bandit needs to learn from decisions of others, by learning from one with two arms."""
    try:
        if isinstance(policy, DuelingPolicy):
            DuelingBandit(policy, 2, 0).record(0, 1, winner="tie", probability=0.25)
        else:
            Bandit(policy, 2, 0).record(0, probability=0.5, loss=0.5)
    except (ValueError, TypeError):  # said when it is asked for
        return


def _policy(body: NewBandit) -> Policy | DuelingPolicy:
    """Return the policy that a body names, by default the one to start with."""
    kind: Any = DuelingPolicy if body.kind == "dueling" else Policy
    default: Any = AutoPairs() if body.kind == "dueling" else Auto()
    if body.policy is None and not body.parameters:
        return default  # type: ignore[no-any-return]
    name = body.policy or type(default).__name__
    policy = kind.from_dict({"policy": name, "parameters": body.parameters})
    if not isinstance(policy, kind):
        raise Refused("invalid", must_be("policy", f"one for a {body.kind} bandit", name), "policy")
    return policy  # type: ignore[no-any-return]


def _refuse_other(ledger: Ledger, body: NewBandit, policy: Policy | DuelingPolicy) -> None:
    """Refuse a bandit that is not the one which was made under its name."""
    made = ledger.created_by
    same = (made.kind, made.policy, made.arms) == (body.kind, policy.to_dict(), body.arms)
    same = same and (made.wait, made.default_loss) == (body.wait, body.default_loss)
    if not same or body.seed not in (None, made.seed):
        raise Refused("conflict", f"a different bandit has the name {ledger.name!r}", "name")


def configure(request: Configure, turn: Turn) -> BanditState:
    """Change settings, if they change."""
    ledger, body = turn.there, request.body
    wait = ledger.wait if body.wait is UNSET else body.wait
    loss = ledger.default_loss if body.default_loss is UNSET else body.default_loss
    if loss is not None and ledger.kind == "dueling":
        raise Refused("invalid", must_be("default_loss", "left out for duels", loss), "default_loss")
    if (wait, loss) != (ledger.wait, ledger.default_loss):
        turn.add(events.Configured(turn.now, wait, loss))
    return state_of(ledger)


def add_arm(request: AddArm, turn: Turn) -> tuple[BanditState, bool]:
    """Add an arm, or revive it if it is retired."""
    ledger = turn.there
    position = ledger.positions.get(request.arm)
    if position is None:
        turn.add(events.ArmAdded(turn.now, request.arm))
    elif request.arm in ledger.bandit.retired:
        turn.add(events.ArmRevived(turn.now, position))
    else:
        return state_of(ledger), False
    return state_of(ledger), True


def retire_arm(request: RetireArm, turn: Turn) -> BanditState:
    """Retire an arm; one that is retired stays so."""
    ledger = turn.there
    position = ledger.positions.get(request.arm)
    if position is None:
        raise Refused("not_found", must_be("arm", "one of this bandit's arms", request.arm), "arm")
    if request.arm not in ledger.bandit.retired:
        turn.add(events.ArmRetired(turn.now, position))
    return state_of(ledger)


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
    if body.distinct or body.within or body.pairs or body.groups or body.group:
        field = next(name for name in ("distinct", "within", "pairs", "groups", "group") if getattr(body, name))
        raise Refused("invalid", must_be(field, "left out for a bandit that is not dueling", True), field)
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
    if body.awake is not None and isinstance(made, Decision) and set(body.awake) != set(made.awake):
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
    value = _value(ledger, known.choice, request.body)
    outcome, deadline = known.outcome, known.choice.deadline
    if isinstance(outcome, events.Answered):
        if outcome.value != value:
            raise Refused("conflict", f"decision {request.decision!r} has other feedback already", None)
        return FeedbackTaken(request.decision, "known")
    if outcome is None and (deadline is None or turn.now <= deadline):
        answered = events.Answered(turn.now, known.number, value)
        turn.add(answered, known.choice)
        turn.finder.add(known._replace(outcome=answered))
        return FeedbackTaken(request.decision, "counted")
    if outcome is None:
        known = _expire(turn, known)
    if not known.late:
        turn.add(events.Late(turn.now, known.number, value))
        turn.finder.add(known._replace(late=True))
    return FeedbackTaken(request.decision, "late")


def _value(ledger: Ledger, choice: Choice, body: Feedback) -> float:
    """Return the loss of a decision, or the left arm's share of the win."""
    if isinstance(choice, events.Dueled):
        if body.winner is None or body.loss is not None or body.reward is not None:
            given = {"loss": body.loss, "reward": body.reward, "winner": body.winner}
            raise Refused("invalid", must_be("feedback", "the winner alone, for a duel", given), "winner")
        duel = ledger.decision_of(choice)
        return _share(body.winner, duel.left, duel.right)  # type: ignore[union-attr]  # a duel, as its event is
    if body.winner is not None:
        raise Refused("invalid", must_be("winner", "left out: this is no duel", body.winner), "winner")
    if (body.loss is None) == (body.reward is None):
        given = {"loss": body.loss, "reward": body.reward}
        raise Refused("invalid", must_be("feedback", "exactly one of loss and reward", given), "loss")
    return 1.0 - body.reward if body.loss is None else body.loss  # type: ignore[operator]  # one of them is given


def _share(winner: str, left: str, right: str) -> float:
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
    return [number for number, deadline in list(ledger.waiting.items())[:MOST_EXPIRED] if deadline < now]


MOST_EXPIRED = 1_000  # at a time


def record(request: Record, turn: Turn) -> Recorded:
    """Learn from decisions of others; all are checked on a copy first, so that either all are learned or none."""
    ledger = turn.there
    made = [_recorded(ledger, body, turn.now) for body in request.body]
    trial = Turn(Ledger.from_bytes(ledger.to_bytes()), turn.finder, turn.now)
    for event in made:
        trial.add(event)
    for event in made:
        turn.add(event)
    return Recorded(len(made))


def _recorded(ledger: Ledger, body: NewRecord, now: float) -> AnyEvent:
    """Return the event of a decision or duel of others."""
    if ledger.kind == "dueling":
        return _duel_recorded(ledger, body, now)
    if body.arm is None or body.left is not None or body.right is not None or body.winner is not None:
        raise Refused("invalid", must_be("records", "arm, awake, probability, and loss or reward", body), "records")
    awake = _known_set(ledger, body.awake)
    arm, loss = _position(ledger, body.arm), _value(ledger, _NO_DUEL, Feedback(body.loss, body.reward))
    return events.Recorded(now, arm, len(ledger.names), awake, body.probability, loss)


def _duel_recorded(ledger: Ledger, body: NewRecord, now: float) -> AnyEvent:
    """Return the event of a duel of others."""
    if body.left is None or body.right is None or body.winner is None or body.arm is not None:
        raise Refused("invalid", must_be("records", "left, right and winner, for duels", body), "records")
    left, right = _position(ledger, body.left), _position(ledger, body.right)
    share = _share(body.winner, body.left, body.right)
    awake = None if body.awake is None else _known_set(ledger, body.awake)
    return events.DuelRecorded(now, left, right, share, body.group, body.probability, len(ledger.names), awake)


_NO_DUEL = events.Decided(0.0, "", 1, b"", b"", 0, 1, 0.0, None, "")


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


def state_of(ledger: Ledger) -> BanditState:
    """Return a bandit, and how much has happened to it."""
    policy: Mapping[str, Any] = ledger.created_by.policy
    retired = set(ledger.bandit.retired)
    return BanditState(
        ledger.name,
        ledger.kind,
        policy["policy"],
        policy["parameters"],
        [ArmState(name, name in retired) for name in ledger.names],
        ledger.decisions,
        ledger.feedback,
        ledger.pending,
        ledger.expired,
        ledger.late,
        ledger.head,
        ledger.wait,
        ledger.default_loss,
        ledger.created,
    )


@cache
def versions() -> str:
    """Return what decisions depend on: the versions of the library and of what computes for it."""
    return " ".join(f"{name} {version(name)}" for name in ("wakeful", "numpy", "numba"))


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
