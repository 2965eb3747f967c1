"""What can be read of a bandit, as JSON: reports, rankings, explanations. Numbers that are not known are null."""

from wakeful.service.messages import Answer

Number = float | None


class Interval(Answer):
    """An estimate and the ends of its interval."""

    value: Number
    low: Number
    high: Number


class ArmReading(Answer):
    """One arm of a report: `wakeful.bandits.report.ArmReport`."""

    arm: str
    awake: int
    chosen: int
    feedback: int
    pending: int
    mean_loss: Number
    low: Number
    high: Number
    probability: Number
    retired: bool


class ReportReading(Answer):
    """What a bandit has seen and learned: `Bandit.report`."""

    title: str
    decisions: int
    loss: Number
    uniform_loss: Number
    gain: Interval
    level: float
    words: str
    notes: list[str]
    arms: list[ArmReading]


class CandidateReading(Answer):
    """One arm that was awake at a decision: its probability then and now, and its record until now."""

    arm: str
    probability: Number
    probability_now: Number
    chosen: int
    feedback: int
    mean_loss: Number
    low: Number
    high: Number


class ExplanationReading(Answer):
    """Why a decision was made: `Bandit.explain`; the most likely arm comes first."""

    id: str
    title: str
    arm: str
    probability: float
    words: str
    notes: list[str]
    arms: list[CandidateReading]


class RankReading(Answer):
    """One arm of a ranking: `wakeful.bandits.ranked_arms.Rank`."""

    rank: int
    arm: str
    strength: Number
    low: Number
    high: Number
    wins: float
    duels: float
    ties: float
    best_rank: int
    worst_rank: int
    retired: bool


class RankingReading(Answer):
    """The arms of a dueling bandit, strongest first: `DuelingBandit.ranking`."""

    title: str
    scale: str
    level: float
    group: str | None
    rows: list[RankReading]
    side_effect: Interval | None
    tie_rate: Interval | None
    notes: list[str]
    groups: list[str]


class Probabilities(Answer):
    """The probabilities with which a bandit would choose now, if these arms were awake."""

    awake: list[str]
    probabilities: list[float]


class Gains(Answer):
    """Estimated gains had the column's arm been played instead of the row's; errors are standard errors."""

    arms: list[str]
    gains: list[list[Number]]
    errors: list[list[Number]]


class Wins(Answer):
    """How often the row's arm beat the column's; a tie counts one half for each."""

    arms: list[str]
    wins: list[list[float]]


class Health(Answer):
    """Whether the service is ready: its store answers."""

    status: str
    store: str
    version: str
