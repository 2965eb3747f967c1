"""What a report is made of: sections with figures and tables, and claims with verdicts."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"
UNTESTED = "not tested here"  # nothing that can happen in this setting would refute it
VERDICTS = (HOLDS, IN_PART, FAILS, UNTESTED)
CLAIM, QUESTION, OURS = "claim", "question", "ours"  # what the paper says, what it asks, what we say


@dataclass(frozen=True)
class Picture:
    """A figure in the folder `figures`, as `<name>.svg` and `<name>.png`; its caption can be read alone."""

    name: str
    caption: str
    alt: str  # what is seen, for those who do not see it


@dataclass(frozen=True)
class Table:
    """A table whose cells are text already."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A part of the report: paragraphs, then figures, then tables."""

    id: str
    title: str
    text: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()


class Drawn(NamedTuple):
    """A section, and how to draw its figures, by name."""

    section: Section
    figures: Mapping[str, Callable[[], Any]]


@dataclass(frozen=True)
class Claim:
    """Something the paper says, or asks, or we say, and what we found."""

    id: str
    where: str  # in the paper
    claim: str
    measured: str  # one sentence with the numbers, for people
    verdict: str  # one of VERDICTS: computed, never typed in
    reason: str
    numbers: dict[str, Any] = field(default_factory=dict)  # the same for programs: values, intervals, seeds
    kind: str = CLAIM  # CLAIM, QUESTION or OURS

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as plain data, ready for JSON."""
        return asdict(self)
