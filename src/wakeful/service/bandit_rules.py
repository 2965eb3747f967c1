"""What requests about a bandit itself do: make it, change its settings, add and retire its arms."""

import secrets
from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import UNSET

from wakeful.bandits.bandit import Bandit
from wakeful.bandits.dueling_bandit import DuelingBandit
from wakeful.duels.auto_pairs import AutoPairs
from wakeful.duels.policy import DuelingPolicy
from wakeful.inputs import must_be, shown
from wakeful.policies.auto import Auto
from wakeful.policies.policy import Policy
from wakeful.service import events
from wakeful.service.ledger import Ledger
from wakeful.service.messages import MOST_SERVED_ARMS, ArmState, BanditState, NewBandit
from wakeful.service.refusals import Refused
from wakeful.service.requests import AddArm, Configure, Create, RetireArm
from wakeful.service.turn import Turn, versions


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
    except (ValueError, TypeError, MemoryError, Refused):
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
    if name in (Policy if kind is DuelingPolicy else DuelingPolicy).imported():
        what = "duels" if kind is DuelingPolicy else "bandits"
        raise Refused("invalid", must_be("policy", f"one for {what} where kind is {body.kind!r}", name), "policy")
    return kind.from_dict({"policy": name, "parameters": body.parameters})  # type: ignore[no-any-return]


def _refuse_other(ledger: Ledger, body: NewBandit, policy: Policy | DuelingPolicy) -> None:
    """Refuse a bandit that is not the one which was made under its name, and say what is different."""
    made = ledger.created_by
    compared: list[tuple[str, Any, Any]] = [("kind", made.kind, body.kind)]
    compared += [(field, made.policy[field], given) for field, given in policy.to_dict().items()]
    compared += [(field, getattr(made, field), getattr(body, field)) for field in ("arms", "wait", "default_loss")]
    wrong = [(field, f"{shown(before)}, as", given) for field, before, given in compared if before != given]
    if body.seed not in (None, made.seed):
        wrong.append(("seed", "left out, or the one that", body.seed))  # theirs is nobody's business
    for field, rule, given in wrong:
        sentence = must_be(field, f"{rule} it was made with", given)
        raise Refused("conflict", f"a different bandit has the name {ledger.name!r}: {sentence}", field)


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
    if position is None and len(ledger.names) >= MOST_SERVED_ARMS:
        raise Refused("invalid", must_be("arms", f"at most {MOST_SERVED_ARMS}", len(ledger.names) + 1), "arms")
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
