"""What the service reports, ranks and explains, in the classes that the library has for it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from wakeful.bandits.estimates import Interval
from wakeful.bandits.ranked_arms import Estimate, Rank, RankedArms
from wakeful.bandits.report import ArmReport, Candidate, Page, Report, report_columns, shown_report
from wakeful.bandits.switch_gains import SwitchGains, named_gains
from wakeful.bandits.tables import Table
from wakeful.numerics.arrays import Floats
from wakeful.service import readings


@dataclass(frozen=True, repr=False)
class RemoteExplanation(Page):
    """Why the service decided as it did: the arms that were awake, the most likely first, and what is known of each.

    Parameters:
        id, arm, probability: the decision
        arms: a row for each arm that was awake
        words: what the policy itself says, if it says anything
    """

    id: str
    arm: str
    probability: float
    arms: tuple[Candidate, ...]
    words: str


class RemoteRanking(RankedArms):
    """The arms of a dueling bandit of the service, strongest first; prints as a table.

    Parameters:
        found: what the service answered
    """

    def __init__(self, found: readings.RankingReading) -> None:
        super().__init__([Rank(*_values(row)) for row in found.rows], found.scale, found.level)
        self.side_effect = _estimate(found.side_effect)
        self.tie_rate = _estimate(found.tie_rate)
        self.groups = tuple(found.groups)
        self._notes = tuple(found.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the page says below the table."""
        return self._notes


def report_of(found: readings.ReportReading) -> Report:
    """Return a report that prints as the library's own."""
    return shown_report(
        found.title,
        found.notes,
        tuple(ArmReport(*_values(arm)) for arm in found.arms),
        found.decisions,
        loss=_number(found.loss),
        uniform=_number(found.uniform_loss),
        gain=Interval(*_values(found.gain)),
        level=found.level,
        words=found.words,
    )


def explanation_of(found: readings.ExplanationReading, level: float) -> RemoteExplanation:
    """Return an explanation that prints as the library's own."""
    arms, notes = tuple(Candidate(*_values(arm)) for arm in found.arms), tuple(found.notes)
    table = Table(report_columns(Candidate, level), arms, found.title, notes)
    return RemoteExplanation(found.title, table, notes, found.id, found.arm, found.probability, arms, found.words)


def gains_of(found: readings.Gains) -> SwitchGains:
    """Return switch gains with the names of the arms and standard errors."""
    return named_gains(_matrix(found.gains), tuple(found.arms), _matrix(found.errors))


def probabilities_of(found: readings.Probabilities, arms: Sequence[str]) -> Floats:
    """Return the probabilities of all arms, exactly 0.0 if asleep."""
    known = dict(zip(found.awake, found.probabilities, strict=True))
    return np.array([known.get(name, 0.0) for name in arms])


def _matrix(rows: Sequence[Sequence[float | None]]) -> Floats:
    """Return a square array."""
    return np.array([[_number(value) for value in row] for row in rows], np.float64).reshape(len(rows), -1)


def _values(row: msgspec.Struct) -> tuple[Any, ...]:
    """Return the fields of a row, NaN where a number is not known."""
    return tuple(math.nan if value is None else value for value in msgspec.structs.astuple(row))


def _estimate(found: readings.Interval | None) -> Estimate | None:
    """Return an estimate with its interval, if there is one."""
    return None if found is None else Estimate(*_values(found))


def _number(value: float | None) -> float:
    """Return a number, NaN if it is not known."""
    return math.nan if value is None else value
