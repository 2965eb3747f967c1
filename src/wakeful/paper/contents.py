"""What a report is made of: sections with figures and tables, and claims with verdicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"
UNTESTED = "not tested here"  # nothing that can happen in this setting would refute it
VERDICTS = (HOLDS, IN_PART, FAILS, UNTESTED)
VERDICT_WORDS = {  # one claim, several claims
    HOLDS: ("holds", "hold"),
    IN_PART: ("holds in part", "hold in part"),
    FAILS: ("does not hold", "do not hold"),
    UNTESTED: ("is not tested here", "are not tested here"),
}
CLAIM, QUESTION, OUR_CLAIM = "claim", "question", "ours"  # what the paper says, what it asks, what we say


@dataclass(frozen=True)
class Picture:
    """A figure in the folder `figures`, as `<name>.svg` and `<name>.png`; its caption can be read alone."""

    name: str
    caption: str  # what the figure shows
    alt: str  # what is seen, for those who do not see it
    made: str = ""  # how it was made
    narrow: bool = False  # whether there is `<name>-narrow` too, for phones


@dataclass(frozen=True)
class Table:
    """A table whose cells are text already."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Term(NamedTuple):
    """A word or symbol and what it means."""

    name: str
    text: str


@dataclass(frozen=True)
class Section:
    """A part of the report: paragraphs, then figures, then tables, then terms."""

    id: str
    title: str
    text: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    terms: tuple[Term, ...] = ()


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
    kind: str = CLAIM  # CLAIM, QUESTION or OUR_CLAIM

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as plain data, ready for JSON."""
        return asdict(self)


def counted(claims: Sequence[Claim]) -> str:
    """Return "31 claims hold, 7 do not hold": how many claims have which verdict; verdicts that none has are left out.

    >>> counted([Claim("a", "Lemma 1", "", "", HOLDS, ""), Claim("b", "Lemma 2", "", "", FAILS, "")])
    '1 claim holds, 1 does not hold'
    """
    found = {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in VERDICTS}
    parts = [f"{count} {VERDICT_WORDS[verdict][count != 1]}" for verdict, count in found.items() if count]
    if not parts:
        return "no claims"
    number, _, words = parts[0].partition(" ")
    return ", ".join([f"{number} claim{'' if number == '1' else 's'} {words}", *parts[1:]])
