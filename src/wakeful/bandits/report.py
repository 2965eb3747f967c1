"""`Report`: what a bandit has seen and learned, arm by arm. `Explanation`: why one decision was made."""

import math
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from wakeful.bandits.estimates import Interval, gain_over_uniform, mean_interval, pending
from wakeful.bandits.levels import z_score
from wakeful.bandits.tables import MARKDOWN, Column, Table
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.counts import ANSWERED, CHOSEN, LOSS, TIMES_AWAKE
from wakeful.policies.decision import Decision

MEANS_ARE_BIASED = (
    "Means of arms that a bandit chose are biased: it leaves an arm after bad luck, so that the means of arms which it "
    "left look somewhat worse than they are."
)
MINOR = frozenset({"awake", "feedback", "pending", "probability_now"})  # columns that a phone leaves out
HOW_INTERVALS = "Intervals of mean losses are Wilson's, at {}."
HOW_GAIN = (
    "The loss of uniform play is estimated from the reported losses, each weighted by 1 / (|S| p), where p is the "
    "probability of its arm and |S| the number of awake arms; arms with |S| p < 0.1 count with their mean loss in "
    "decisions in which they were that unlikely."
)


class ArmReport(NamedTuple):
    """One arm: how often it was awake, was chosen, had feedback and waits for it; its mean loss; its probability now.

    The mean loss is between `low` and `high`, all three NaN without feedback. The probability is the one with which the
    arm would be chosen now, if all arms that are not retired were awake.
    """

    arm: Hashable
    awake: int
    chosen: int
    feedback: int
    pending: int
    mean_loss: float
    low: float
    high: float
    probability: float
    retired: bool


class Candidate(NamedTuple):
    """One arm that was awake at a decision: its probability then and now, and its record until now."""

    arm: Hashable
    probability: float
    probability_now: float
    chosen: int
    feedback: int
    mean_loss: float
    low: float
    high: float


@dataclass(frozen=True)
class Page:
    """Sentences and a table, as text, Markdown, HTML and a data frame."""

    title: str
    table: Table
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """Return a text with an aligned table."""
        return "\n".join([self.title, "", self.table.to_text(), "", *self.notes])

    def __repr__(self) -> str:
        """Return the same: it is what a console shows."""
        return str(self)

    def to_markdown(self) -> str:
        """Return Markdown: a line, a table, and sentences; what Markdown would take for marks is escaped."""
        title, *notes = (text.translate(MARKDOWN) for text in (self.title, *self.notes))
        return "\n\n".join([f"**{title}**", self.table.to_markdown(), *notes]) + "\n"

    def to_html(self, path: str | os.PathLike[str] | None = None, *, whole_page: bool = True) -> str:
        """Return a page of HTML that needs no other file; write it to `path` as well, if that is given.

        With `whole_page=False`, return only the part that belongs into the body of another page.
        """
        return self.table.to_html(path, whole_page=whole_page)

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas, or of polars where only that is installed."""
        return self.table.to_frame()

    def _repr_html_(self) -> str:
        """Show it in notebooks."""
        return self.to_html(whole_page=False)


@dataclass(frozen=True, repr=False)
class Report(Page):
    """What a bandit has seen and learned; `docs/report.md` says how the numbers are made.

    Parameters:
        arms: a row for each arm
        decisions: how many were made or recorded
        loss: the mean of all losses that were reported
        uniform_loss: an estimate of what choosing uniformly among the awake arms would have lost instead
        gain: the difference, with its interval
        level: of all intervals
        words: what the policy itself says, if it says anything
    """

    arms: tuple[ArmReport, ...]
    decisions: int
    loss: float
    uniform_loss: float
    gain: Interval
    level: float
    words: str


@dataclass(frozen=True, repr=False)
class Explanation(Page):
    """Why a decision was made: the arms that were awake, the most likely first, and what is known of each.

    Parameters:
        decision: what is explained
        arms: a row for each arm that was awake
        words: what the policy itself says, if it says anything
    """

    decision: Decision
    arms: tuple[Candidate, ...]
    words: str


def make_report(
    policy: str,
    names: Sequence[Hashable],
    retired: Mask,
    counts: Floats,
    p: Floats,
    decisions: int,
    words: str,
    level: float,
) -> Report:
    """Return the report of a bandit with these names, counts and probabilities `p`, if all are awake."""
    z = z_score(level)
    waiting = pending(counts)
    arms = tuple(
        ArmReport(
            name,
            int(counts[TIMES_AWAKE, k]),
            int(counts[CHOSEN, k]),
            int(counts[ANSWERED, k]),
            int(waiting[k]),
            *mean_interval(float(counts[ANSWERED, k]), float(counts[LOSS, k]), z),
            float(p[k]),
            bool(retired[k]),
        )
        for k, name in enumerate(names)
    )
    found = gain_over_uniform(counts, z)
    answered, awaited = sum(arm.feedback for arm in arms), sum(arm.pending for arm in arms)
    title = f"{policy}: {decisions:,} decisions, {answered:,} with feedback, {awaited:,} pending"
    notes = [*_uncounted(arms, decisions), *_gain_notes(found.loss, found.uniform, found.gain, level)]
    notes += [words] if words else []
    notes += [f"{HOW_INTERVALS.format(_percent(level))} {MEANS_ARE_BIASED}"]
    return shown_report(
        title, notes, arms, decisions, loss=found.loss, uniform=found.uniform, gain=found.gain, level=level, words=words
    )


def shown_report(
    title: str,
    notes: Iterable[str],
    arms: tuple[ArmReport, ...],
    decisions: int,
    *,
    loss: float,
    uniform: float,
    gain: Interval,
    level: float,
    words: str,
) -> Report:
    """Return a report with its table, from what was computed here or elsewhere."""
    said, gone = tuple(notes), frozenset(k for k, arm in enumerate(arms) if arm.retired)
    table = Table(report_columns(ArmReport, level), arms, title, said, gone)
    return Report(title, table, said, arms, decisions, loss, uniform, gain, level, words)


def make_explanation(
    decision: Decision, p: Floats, positions: Sequence[int], now: Floats, counts: Floats, words: str, level: float
) -> Explanation:
    """Return why a decision was made; `p` and `now` are the probabilities of all arms then and now."""
    z = z_score(level)
    arms = [
        Candidate(
            name,
            float(p[k]),
            float(now[k]),
            int(counts[CHOSEN, k]),
            int(counts[ANSWERED, k]),
            *mean_interval(float(counts[ANSWERED, k]), float(counts[LOSS, k]), z),
        )
        for name, k in zip(decision.awake, positions, strict=True)
    ]
    arms.sort(key=lambda arm: -arm.probability)
    title = f"Decision {decision.clock:,}: {decision.arm!r}, with probability {_share(decision.probability)}"
    notes = (*_why(decision, arms), *([words] if words else []), HOW_INTERVALS.format(_percent(level)))
    return Explanation(
        title, Table(report_columns(Candidate, level), arms, title, notes), notes, decision, tuple(arms), words
    )


def _why(decision: Decision, arms: Sequence[Candidate]) -> list[str]:
    """Return in sentences how likely the arm was, and what is known of it."""
    chosen = next(arm for arm in arms if arm.arm == decision.arm)
    top = arms[0]
    if len(arms) == 1:
        how = f"No other arm was awake, so {chosen.arm!r} was chosen."
    elif top.probability - arms[-1].probability < 1e-12:
        how = f"All {len(arms)} awake arms were equally likely."
    elif chosen.probability == top.probability:
        how = f"{chosen.arm!r} was the most likely of {len(arms)} awake arms."
    else:
        how = (
            f"{top.arm!r} was the most likely of {len(arms)} awake arms ({_share(top.probability)}); {chosen.arm!r} "
            "was drawn in spite of that, which is how other arms are explored."
        )
    return [how, *_records(chosen, arms)]


def _records(chosen: Candidate, arms: Sequence[Candidate]) -> list[str]:
    """Return sentences about the losses of the arm chosen, and of the best other one."""
    known = [arm for arm in arms if arm.arm != chosen.arm and arm.feedback]
    if not chosen.feedback:
        said = f"No feedback for {chosen.arm!r} is known yet."
    else:
        lost = _decimals(chosen.mean_loss)
        said = f"{chosen.arm!r} lost {lost} on average so far, over {chosen.feedback:,} of its decisions."
    if not known:
        return [said]
    other = min(known, key=lambda arm: arm.mean_loss)
    lost = f"{other.arm!r} with {_decimals(other.mean_loss)}, over {other.feedback:,}"
    return [said, f"Of the other awake arms, the one with the smallest mean loss is {lost}."]


def _gain_notes(loss: float, uniform: float, gain: Interval, level: float) -> list[str]:
    """Return sentences about the loss, and what uniform play would have lost."""
    if math.isnan(loss):
        return ["No feedback yet."]
    value, low, high = map(_decimals, gain)
    return [
        f"Mean loss {_decimals(loss)}. Uniform play would have lost about {_decimals(uniform)}: a gain of {value} a "
        f"decision, {_percent(level)} interval {low} to {high}. {HOW_GAIN}"
    ]


def _uncounted(arms: Sequence[ArmReport], decisions: int) -> list[str]:
    """Return a sentence about decisions that were made by a version that did not count."""
    earlier = decisions - sum(arm.chosen for arm in arms)
    return (
        [f"{earlier:,} earlier decisions were made by a version of Wakeful that did not count them."]
        if earlier > 0
        else []
    )


def report_columns(kind: Any, level: float) -> tuple[Column, ...]:
    """Return the columns of a table with rows of this kind."""
    known: dict[str, tuple[str, Callable[[Any], str]]] = {
        "mean_loss": ("mean loss", _decimals),
        "low": (f"{_percent(level)} from", _decimals),
        "high": ("to", _decimals),
        "probability": ("share now" if kind is ArmReport else "probability", _share),
        "probability_now": ("now", _share),
        "retired": ("", lambda gone: "retired" if gone else ""),
    }
    count: tuple[Callable[[Any], str]] = ("{:,}".format,)
    made = [Column("arm", "arm", number=False)]
    for name in kind._fields[1:]:
        head, show = known.get(name, (name, *count))
        made.append(Column(name, head, show, number=name != "retired", minor=name in MINOR))
    return tuple(made)


def _decimals(value: float) -> str:
    """Return a number with three decimals, or nothing if it is unknown."""
    return "" if math.isnan(value) else f"{value:z.3f}"


def _share(value: float) -> str:
    """Return a probability with three decimals, or as a power of ten where that would say zero."""
    return f"{value:.0e}" if 0.0 < value < 0.0005 else _decimals(value)


def _percent(level: float) -> str:
    """Return a level as people write it."""
    return f"{100.0 * level:.10g} %"
