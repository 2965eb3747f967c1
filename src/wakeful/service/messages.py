"""What travels over HTTP as JSON: the bodies of requests and of answers, as types that check themselves."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

MOST_SERVED_ARMS = 2_000  # of one bandit
LONGEST_SERVED_NAME = 200  # characters: of a bandit, an arm, a group
LONGEST_ID = 200  # characters of a decision's id
MOST_ITEMS = 1_000  # decisions or feedbacks in one request

Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_SERVED_NAME)]
Id = Annotated[str, Meta(min_length=1, max_length=LONGEST_ID)]
Share = Annotated[float, Meta(ge=0, le=1)]
Names = Annotated[list[Name], Meta(min_length=1, max_length=MOST_SERVED_ARMS)]
Seconds = Annotated[float, Meta(gt=0, le=1e10)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Body(Struct, forbid_unknown_fields=True):
    """The body of a request; a field that it does not have is refused."""


class NewBandit(Body):
    """A bandit to make: its arms, how it chooses, and what happens without feedback.

    `wait` is how many seconds a decision waits for feedback; after that `default_loss` is recorded, or nothing.
    """

    arms: Names
    kind: Literal["bandit", "dueling"] = "bandit"
    policy: str | None = None
    parameters: dict[str, Any] = {}
    seed: Seed | None = None
    wait: Seconds | None = None
    default_loss: Share | None = None


class Changes(Body):
    """Settings of a bandit to change; what is left out stays."""

    wait: Seconds | UnsetType | None = UNSET
    default_loss: Share | UnsetType | None = UNSET


class NewArm(Body):
    """An arm to add, or a retired one to revive."""

    name: Name


class NewDecision(Body):
    """What is available now. `id` makes a repeated request return the same decision.

    The fields after `id` are for duels: `pairs` that may meet, or `groups` of arms that meet only arms of other groups
    (or, with `within`, only their own); `distinct`: two different arms; `group`: what the duel belongs to.
    """

    awake: Names | None = None
    id: Id | None = None
    distinct: bool = False
    pairs: Annotated[list[tuple[Name, Name]], Meta(min_length=1, max_length=100_000)] | None = None
    groups: dict[str, Name] | None = None
    within: bool = False
    group: Name | None = None


class Feedback(Body):
    """How a decision went: `loss` or `reward`; of a duel the `winner`: left, right, tie, or the name of an arm."""

    loss: Share | None = None
    reward: Share | None = None
    winner: Name | None = None


class FeedbackOf(Body):
    """How one of several decisions went."""

    decision: Id
    loss: Share | None = None
    reward: Share | None = None
    winner: Name | None = None


class Batch(Body):
    """Several decisions and feedbacks at once; the decisions are made first."""

    decisions: Annotated[list[NewDecision], Meta(max_length=MOST_ITEMS)] = []
    feedback: Annotated[list[FeedbackOf], Meta(max_length=MOST_ITEMS)] = []


class NewRecord(Body):
    """A decision that somebody else made, or a duel that somebody else arranged (`left`, `right`, `winner`)."""

    arm: Name | None = None
    awake: Names | None = None
    probability: Share | None = None
    loss: Share | None = None
    reward: Share | None = None
    left: Name | None = None
    right: Name | None = None
    winner: Name | None = None
    group: Name | None = None


class Records(Body):
    """Decisions that somebody else made, in their order; all are learned, or none."""

    records: Annotated[list[NewRecord], Meta(min_length=1, max_length=MOST_ITEMS)]


class Answer(Struct):
    """The body of an answer."""


class DecisionMade(Answer):
    """The arm that was chosen, and with which probability."""

    id: str
    arm: str
    probability: float


class DuelMade(Answer):
    """The arms of a duel, and the probability of drawing them in this order and showing them in these places."""

    id: str
    left: str
    right: str
    probability: float


class FeedbackTaken(Answer):
    """What became of feedback: `counted`; `known` (the same was given before); `late` (logged, not learned)."""

    id: str
    status: Literal["counted", "known", "late"]


class ArmState(Answer):
    """An arm; a retired one is never chosen, and keeps what was learned of it."""

    name: str
    retired: bool


class BanditState(Answer):
    """A bandit, and how much has happened to it."""

    name: str
    kind: str
    policy: str
    parameters: dict[str, Any]
    arms: list[ArmState]
    decisions: int
    feedback: int
    pending: int
    expired: int
    late: int
    events: int
    wait: float | None
    default_loss: float | None
    created: float


class BanditList(Answer):
    """All bandits."""

    bandits: list[BanditState]


class FeedbackSeen(Answer):
    """Feedback that was counted, or what the service recorded when the wait was over."""

    time: float
    expired: bool = False
    loss: float | None = None
    winner: str | None = None


class DecisionState(Answer):
    """All that was logged of a decision; `probabilities` are of the arms in `awake`."""

    id: str
    number: int
    time: float
    arm: str
    probability: float
    awake: list[str]
    probabilities: list[float]
    memo: float
    versions: str
    state: Literal["pending", "answered", "expired"]
    feedback: FeedbackSeen | None


class DuelState(Answer):
    """All that was logged of a duel; for each arm drawn, whom it was drawn from and with which probabilities."""

    id: str
    number: int
    time: float
    left: str
    right: str
    probability: float
    arms: list[str]
    allowed: list[list[str]]
    probabilities: list[list[float]]
    memos: list[float]
    group: str | None
    versions: str
    state: Literal["pending", "answered", "expired"]
    feedback: FeedbackSeen | None


class Recorded(Answer):
    """How many decisions of others were learned."""

    records: int


class EventList(Answer):
    """Events of a bandit's log, and the number of the last one, to go on after."""

    events: list[dict[str, Any]]
    last: int


class Problem(Answer):
    """Why a request was refused: a code, one sentence, and the field that was wrong."""

    code: str
    message: str
    field: str | None = None


class Error(Answer):
    """The answer to every request that was refused."""

    error: Problem


class DecisionResult(Answer, omit_defaults=True):
    """What became of one decision of a batch: its own status, as HTTP numbers it, and the decision or the error."""

    status: int
    id: str | None = None
    arm: str | None = None
    left: str | None = None
    right: str | None = None
    probability: float | None = None
    error: Problem | None = None


class FeedbackResult(Answer, omit_defaults=True):
    """What became of one feedback of a batch: its own status; `outcome` is what `FeedbackTaken` calls its status."""

    status: int
    id: str | None = None
    outcome: Literal["counted", "known", "late"] | None = None
    error: Problem | None = None


class BatchResult(Answer):
    """The results of a batch, in the order of the request."""

    decisions: list[DecisionResult]
    feedback: list[FeedbackResult]
