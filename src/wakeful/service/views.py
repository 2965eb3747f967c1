"""Reading functions: what a ledger or a log holds, in the types that travel as JSON.

Those that `Look` takes run where decisions are made, so they only copy what is needed; the rest is computed from the
copy, elsewhere.
"""

import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from wakeful.bandits.bandit import Bandit
from wakeful.bandits.dueling_bandit import DuelingBandit
from wakeful.duels.duel import Duel
from wakeful.inputs import must_be
from wakeful.policies.decision import Decision
from wakeful.service import readings as r
from wakeful.service.bandit_rules import state_of
from wakeful.service.event_views import numbers_in
from wakeful.service.events import Answered, Expired
from wakeful.service.known import Known, id_of
from wakeful.service.messages import BanditState, DecisionState, DuelState, FeedbackSeen
from wakeful.service.refusals import Refused

KINDS = {"bandit": "a bandit that is not dueling", "dueling": "a dueling bandit"}


class Made(NamedTuple):
    """A decision that the log holds, as it was made."""

    known: Known
    decision: Decision | Duel


def all_states(ledgers: Sequence[Any]) -> list[BanditState]:
    """Return all bandits."""
    return [state_of(ledger) for ledger in ledgers]


def bandit_state(ledger: Any, reader: Any) -> BanditState:
    """Return a bandit, and how much has happened to it."""
    return state_of(ledger)


def bandit_copy(ledger: Any, reader: Any) -> Any:
    """Return a copy of the bandit, to compute from."""
    return copy.copy(ledger.bandit)


def decision_made(decision_id: str, ledger: Any, reader: Any) -> Made:
    """Return a decision."""
    known = reader.decision(decision_id)
    return Made(known, ledger.decision_of(known.choice))


def decision_and_copy(decision_id: str, ledger: Any, reader: Any) -> tuple[Made, Any]:
    """Return a decision, and a copy of the bandit."""
    return decision_made(decision_id, ledger, reader), bandit_copy(ledger, reader)


def decision_state(made: Made) -> DecisionState | DuelState:
    """Return all that was logged of a decision."""
    known, decision = made
    choice: Any = known.choice  # of the same kind as the decision
    ended = None if known.outcome is None else type(known.outcome)
    about: Any = {
        "id": id_of(known),
        "number": known.number,
        "time": choice.time,
        "versions": choice.versions,
        "state": {None: "pending", Answered: "answered", Expired: "expired"}[ended],
        "feedback": _feedback(known, decision),
        "probability": decision.probability,
    }
    if isinstance(decision, Duel):
        return DuelState(
            left=decision.left,
            right=decision.right,
            arms=list(decision.arms),
            allowed=[list(names) for names in decision.allowed],
            probabilities=[numbers_in(row) for row in choice.laws],
            memos=list(decision.memos),
            group=choice.group,
            **about,
        )
    p = numbers_in(choice.probabilities)
    return DecisionState(arm=decision.arm, awake=list(decision.awake), probabilities=p, memo=decision.memo, **about)


def _feedback(known: Known, decision: Decision | Duel) -> FeedbackSeen | None:
    """Return what became of a decision, if anything did."""
    outcome = known.outcome
    if outcome is None:
        return None
    expired = isinstance(outcome, Expired)
    if outcome.value is None:
        return FeedbackSeen(outcome.time, expired)
    if isinstance(decision, Duel):
        return FeedbackSeen(outcome.time, expired, winner=winner_of(decision.left, decision.right, outcome.value))
    return FeedbackSeen(outcome.time, expired, loss=outcome.value)


def winner_of(left: str, right: str, share: float) -> str:
    """Return who won, given the left arm's share of the win: a name, or `tie`."""
    return {1.0: left, 0.0: right}.get(share, "tie")


def explanation(made: Made, bandit: Any, level: float) -> r.ExplanationReading:
    """Return why a decision was made."""
    _only(Bandit, bandit, "bandit")
    found = bandit.explain(made.decision, level)
    arms = [r.CandidateReading(*arm) for arm in found.arms]
    about = found.title, found.decision.arm, found.decision.probability, found.words
    return r.ExplanationReading(id_of(made.known), *about, list(found.notes), arms)


def report(bandit: Any, level: float) -> r.ReportReading:
    """Return what a bandit has seen and learned."""
    _only(Bandit, bandit, "bandit")
    found = bandit.report(level)
    return r.ReportReading(
        found.title,
        found.decisions,
        found.loss,
        found.uniform_loss,
        r.Interval(*found.gain),
        found.level,
        found.words,
        list(found.notes),
        [r.ArmReading(*arm) for arm in found.arms],
    )


def ranking(bandit: Any, scale: str, level: float, group: str | None) -> r.RankingReading:
    """Return the arms of a dueling bandit, strongest first."""
    _only(DuelingBandit, bandit, "dueling")
    if group is not None and group not in bandit.groups:
        raise Refused("not_found", must_be("group", "one that duels have had", group), "group")
    found = bandit.ranking(scale=scale, level=level, group=group)
    return r.RankingReading(
        f"{bandit.policy!r}: {bandit.rounds:,} duels",
        found.scale,
        found.level,
        group,
        [r.RankReading(*rank) for rank in found],
        _interval(found.side_effect),
        _interval(found.tie_rate),
        list(found.notes),
        [str(name) for name in bandit.groups],
    )


def probabilities(bandit: Any, awake: list[str] | None) -> r.Probabilities:
    """Return with which probabilities a bandit would choose now; nothing: all arms that are not retired are awake."""
    _only(Bandit, bandit, "bandit")
    p = bandit.probabilities(awake)
    if awake is None:
        awake = [name for name in bandit.arms if name not in set(bandit.retired)]
    places = {name: k for k, name in enumerate(bandit.arms)}
    return r.Probabilities(awake, [float(p[places[name]]) for name in awake])


def switch_gains(bandit: Any) -> r.Gains:
    """Return the estimated gains of playing another arm instead."""
    _only(Bandit, bandit, "bandit")
    found = bandit.switch_gains()
    return r.Gains(list(found.arms), np.asarray(found).tolist(), found.errors.tolist())


def wins(bandit: Any) -> r.Wins:
    """Return who beat whom."""
    _only(DuelingBandit, bandit, "dueling")
    return r.Wins(list(bandit.arms), bandit.win_matrix().tolist())


def _interval(found: Iterable[float] | None) -> r.Interval | None:
    """Return an estimate with its interval, if there is one."""
    return None if found is None else r.Interval(*found)


def _only(cls: type, bandit: Any, kind: str) -> None:
    """Refuse to read from the other kind of bandit what it does not have."""
    if not isinstance(bandit, cls):
        raise Refused("invalid", must_be("bandit", KINDS[kind], type(bandit).__name__), "name")
