"""Methods of a bandit of the service, with the names that `Bandit` has: choose, update, report, learn and more."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal
from uuid import uuid4

from wakeful.bandits.feedback import loss_of
from wakeful.bandits.others import checked_probability
from wakeful.bandits.report import Report
from wakeful.bandits.switch_gains import SwitchGains
from wakeful.inputs import must_be, one_of
from wakeful.numerics.arrays import Floats
from wakeful.service.client import bandit_methods as bandits
from wakeful.service.client import pages
from wakeful.service.client.attempts import Steps
from wakeful.service.client.decisions import Made, RemoteDecision, id_in
from wakeful.service.client.errors import Invalid
from wakeful.service.client.remote import Remote, names_in
from wakeful.service.messages import Answer, DecisionState, FeedbackTaken
from wakeful.service.readings import ExplanationReading, Gains, Probabilities, ReportReading

Status = Literal["counted", "known", "late"]
Known = Made | Mapping[str, Any] | str  # a decision, its to_dict(), or its id
WRONG_KIND = "a dueling bandit has duels: open it with dueling_bandit instead of bandit"


class AnyMade(Answer):
    """A decision or a duel, whichever the service made."""

    id: str
    probability: float
    arm: str | None = None
    left: str | None = None
    right: str | None = None


read_made = bandits.decoder(AnyMade)
read_taken = bandits.decoder(FeedbackTaken)


def choose(self: Remote, awake: Iterable[str] | None = None, *, id: str | None = None) -> Steps[RemoteDecision]:
    """Choose one of the arms `awake`, by name; nothing: all that are not retired.

    The decision is in the service's log when this returns. With an `id` of your own, asking again, also from another
    process, returns the same decision; without one the client makes one up, so that it can ask again by itself.
    """
    found = yield from self.ask("POST", ("decisions",), read_made, body=question_of(awake, id))
    return decision_of(found)


def choose_many(self: Remote, awake_sets: Iterable[Iterable[str] | None]) -> Steps[list[RemoteDecision]]:
    """Choose once for each awake set, with few requests; all are made with what was learned before.

    If some are refused, the error has the others in its `results`.
    """
    asked = [question_of(awake) for awake in awake_sets]
    return (yield from bandits.run_batch(self, "decisions", asked, decision_of))


def update(self: Remote, decision: Known, *, loss: float | None = None, reward: float | None = None) -> Steps[Status]:
    """Tell the `loss` of a decision, or its `reward`, which is 1 - loss; both lie in [0, 1].

    Returns `"counted"`; `"known"` if the same was told before; or `"late"` if the wait for it was over: then it is
    logged and not learned. The decision may also be its `to_dict()`, or its id.
    """
    return (yield from tell(self, decision, {"loss": loss_of(loss, reward)}))


def update_many(
    self: Remote,
    decisions: Sequence[Known],
    *,
    losses: Sequence[float] | None = None,
    rewards: Sequence[float] | None = None,
) -> Steps[list[Status]]:
    """Tell the losses, or the rewards, of many decisions with few requests; return what `update` returns of each.

    If some are refused, the error has the others in its `results`.
    """
    if losses is not None and rewards is None:
        lost = [loss_of(loss, None) for loss in losses]
    elif rewards is not None and losses is None:
        lost = [loss_of(None, reward) for reward in rewards]
    else:
        given = {"losses": losses, "rewards": rewards}
        raise ValueError(must_be("feedback", "exactly one of losses and rewards", given))
    return (yield from tell_many(self, [(made, {"loss": loss}) for made, loss in zip(decisions, lost, strict=True)]))


def probabilities(self: Remote, awake: Iterable[str] | None = None) -> Steps[Floats]:
    """Return the probabilities of the next choice, an array of length K, exactly 0.0 if asleep; change nothing."""
    query = None if awake is None else {"awake": names_in("awake", awake)}
    found = yield from self.ask("GET", ("probabilities",), bandits.decoder(Probabilities), query=query)
    return pages.probabilities_of(found, (yield from bandits.arms(self)))


def switch_gains(self: Remote) -> Steps[SwitchGains]:
    """Return the K x K array of estimated gains, had j been played whenever i was and j was awake."""
    return pages.gains_of((yield from self.ask("GET", ("switch-gains",), bandits.decoder(Gains))))


def report(self: Remote, level: float = 0.95) -> Steps[Report]:
    """Return what was seen and learned, arm by arm, with intervals of this `level`."""
    query = {"level": level}
    return pages.report_of((yield from self.ask("GET", ("report",), bandits.decoder(ReportReading), query=query)))


def explain(self: Remote, decision: Known, level: float = 0.95) -> Steps[pages.RemoteExplanation]:
    """Return why a decision was made: how likely each awake arm was, what is known of it, what the policy says."""
    parts, read = ("decisions", id_in(decision), "explanation"), bandits.decoder(ExplanationReading)
    found = yield from self.ask("GET", parts, read, query={"level": level})
    return pages.explanation_of(found, level)


def decision(self: Remote, decision: Known) -> Steps[DecisionState]:
    """Return all that was logged of a decision: the awake set, the probabilities, the time, what became of it."""
    return (yield from self.ask("GET", ("decisions", id_in(decision)), bandits.decoder(DecisionState)))


def record(
    self: Remote,
    arm: str,
    *,
    awake: Iterable[str] | None = None,
    probability: float | None = None,
    loss: float | None = None,
    reward: float | None = None,
) -> Steps[None]:
    """Learn from one decision that somebody else made; the parameters are those of `Bandit.record`.

    It is not asked again after a doubtful failure, because the service would take it for another decision.
    """
    made = {"arm": arm, "probability": checked_probability(probability), "loss": loss_of(loss, reward)}
    yield from bandits.send_records(self, [{**made, "awake": None if awake is None else names_in("awake", awake)}])


def learn(self: Remote, log: Any, *, unknown_arms: str = "refuse") -> Steps[int]:
    """Learn from a log of decisions that somebody else made, and return how many they were.

    They are sent in parts, each of which is learned as a whole or not at all; see `record` about failures.

    Parameters:
        log: a `wk.Log`, the path of a file, or a table, as `Bandit.learn` takes them
        unknown_arms: `"refuse"` a log with an arm that the bandit does not have, or `"add"` such arms
    """
    from wakeful.logs.log import as_log

    one_of("unknown_arms", unknown_arms, ("refuse", "add"))
    given = as_log(log)
    if unknown_arms == "add":
        yield from bandits.ensure_arms(self, given.arms)
    else:
        known = set((yield from bandits.arms(self)))
        unknown = [name for name in given.arms if name not in known]
        if unknown:
            rule = "of arms that this bandit has (unknown_arms='add' adds others)"
            raise ValueError(must_be("log", rule, unknown[0]))
    return (yield from bandits.send_records(self, _records(given)))


def _records(log: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a log as the service takes them."""
    for block in log.blocks():
        chances = [None] * len(block.arms) if block.probabilities is None else block.probabilities.tolist()
        rows = zip(block.awake, block.arms.tolist(), block.losses.tolist(), chances, strict=True)
        for awake, arm, loss, chance in rows:
            here = [log.arms[k] for k in awake.nonzero()[0].tolist()]
            yield {"arm": log.arms[arm], "awake": here, "loss": loss, "probability": chance}


def question_of(awake: Iterable[str] | None, id: str | None = None, **options: Any) -> dict[str, Any]:
    """Return the body that asks for a decision; it always has an id, so that it can be sent again."""
    body = {"id": str(uuid4()) if id is None else id, **options}
    return body if awake is None else {**body, "awake": names_in("awake", awake)}


def decision_of(found: Any) -> RemoteDecision:
    """Return the decision that the service made."""
    if found.arm is None:
        raise Invalid(WRONG_KIND, "invalid")
    return RemoteDecision(found.arm, found.probability, found.id)


def tell(self: Remote, decision: Known, feedback: Mapping[str, Any]) -> Steps[Status]:
    """Give the feedback of one decision, and return its status."""
    taken = yield from self.ask("POST", ("decisions", id_in(decision), "feedback"), read_taken, body=feedback)
    return taken.status


def tell_many(self: Remote, told: Iterable[tuple[Known, Mapping[str, Any]]]) -> Steps[list[Status]]:
    """Give the feedback of many decisions, and return their statuses."""
    items = [{"decision": id_in(made), **feedback} for made, feedback in told]
    return (yield from bandits.run_batch(self, "feedback", items, lambda found: found.outcome))
