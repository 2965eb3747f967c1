"""`Audit`: checks the events of a log one after another, and computes every decision again from the state before it.

A log that passes is what the rules of the service make of some requests: its hashes are a chain, its columns say what
its bodies say, times never go back, every decision is the one that its state and its random numbers give, and feedback
comes once, for a decision of this log, while it may.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from msgspec import MsgspecError

from wakeful.duels.duel import Duel
from wakeful.policies.decision import Decision
from wakeful.service.draws import uniforms
from wakeful.service.events import (
    BEGINNING,
    Answered,
    AnyEvent,
    Choice,
    Created,
    Decided,
    Dueled,
    Entry,
    Expired,
    Late,
    chained,
    decode,
    encode,
)
from wakeful.service.ledger import Ledger
from wakeful.service.turn import versions

ACROSS_VERSIONS = 1e-9  # how far probabilities computed by other versions may be from ours
CHOICES = (Decided, Dueled)
NUMBERS = {"probabilities", "laws", "memo", "memos"}  # fields that may differ in their last digits between versions


class Wrong(Exception):  # noqa: N818 (what was found, not what failed)
    """The first event of a log that is wrong, and what is wrong with it."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(f"event {number}: {what}")
        self.number, self.what = number, what


class LogRow(NamedTuple):
    """A row of the table of events, as it was found."""

    number: int
    own_id: str | None
    about: int | None
    body: bytes
    hash: bytes


class Audit:
    """Checks one log.

    Parameters:
        name: of the bandit
        ledger: that the log begins with, if its first events are in an archive
        waiting: the bodies of decisions before that which still waited for feedback then, by number

    Attributes:
        ledger: the fold of all events so far
        is_exact: whether all of them were computed by the versions that are installed now
    """

    def __init__(self, name: str, ledger: Ledger | None = None, waiting: dict[int, bytes] | None = None) -> None:
        self.name, self.ledger = name, ledger
        self.begins_after = self.head = 0 if ledger is None else ledger.head
        self.hash = BEGINNING if ledger is None else ledger.hash
        self.waiting = {} if waiting is None else dict(waiting)
        self.is_exact, self.decisions = True, 0
        self._expired: set[int] = set()  # whose late feedback may still come
        self._versions = versions()

    def take(self, row: LogRow) -> None:
        """Check the next event and fold it, or raise `Wrong`."""
        number, own_id, about, body, found = row
        if number != self.head + 1:
            raise Wrong(self.head + 1, f"it is missing: event {number} comes next")
        digest = chained(self.hash, number, body)
        if found != digest:
            raise Wrong(number, "its hash does not follow from its body and the hash before it")
        try:
            item = Entry(number, decode(body), body, digest)
        except MsgspecError as problem:
            raise Wrong(number, f"its body cannot be read: {problem}") from None
        if item.own_id != own_id or item.about != about:
            raise Wrong(number, f"its body says own_id {item.own_id!r} and about {item.about}, its row does not")
        try:
            self._fold(item)
        except Wrong:
            raise
        except Exception as problem:  # whatever a damaged log makes the library say
            raise Wrong(number, f"it cannot be folded: {problem}") from problem
        self.head, self.hash = number, digest

    def _fold(self, item: Entry) -> None:
        """Fold an event whose place in the chain is right."""
        event, ledger = item.event, self.ledger
        if (ledger is None) != isinstance(event, Created):
            raise Wrong(item.number, "the first event of a log, and no other, makes the bandit")
        if ledger is None:
            ledger = self._begun(event)
        if not event.time >= ledger.time:
            raise Wrong(item.number, f"its time {event.time} is before that of the event before it, {ledger.time}")
        choice, made = None, None
        if isinstance(event, CHOICES):
            made = self._made_again(ledger, item, event)
            self.waiting[item.number] = item.body
        elif isinstance(event, Answered | Expired):
            choice = self._ended(ledger, item.number, event)
        elif isinstance(event, Late):
            self._check_late(item.number, event)
        ledger.take(item, choice, made)

    def _begun(self, event: AnyEvent) -> Ledger:
        """Return the ledger that the first event begins."""
        assert isinstance(event, Created)
        if event.name != self.name:
            raise Wrong(1, f"it makes a bandit called {event.name!r}, not {self.name!r}")
        self.is_exact = event.versions == self._versions
        self.ledger = Ledger(event)
        return self.ledger

    def _made_again(self, ledger: Ledger, item: Entry, event: Choice) -> Decision | Duel | None:
        """Return the decision of an event, computed from the state before it, if it is exactly the one that is there.

        Return nothing if it was computed by other versions and is close.
        """
        self.decisions += 1
        self.is_exact = self.is_exact and event.versions == self._versions
        made: Decision | Duel
        made, again = REPEAT[type(event)](ledger, event)
        if encode(again) == item.body:
            return made
        for field in event.__struct_fields__:
            found, expected = getattr(event, field), getattr(again, field)
            if found != expected and (self.is_exact or field not in NUMBERS or not _close(found, expected)):
                raise Wrong(item.number, f"its {field} is not what the state before it gives")
        return None

    def _ended(self, ledger: Ledger, number: int, event: Answered | Expired) -> Choice:
        """Return the decision whose wait an event ends, if it may."""
        body = self.waiting.pop(event.decision, None)
        if body is None:
            raise Wrong(number, f"it is about event {event.decision}, which is no decision that waits for feedback")
        choice: Any = decode(body)
        if isinstance(event, Answered):
            if choice.deadline is not None and event.time > choice.deadline:
                raise Wrong(number, f"feedback for decision {event.decision} was counted after its deadline")
            return choice  # type: ignore[no-any-return]
        default = None if isinstance(choice, Dueled) else ledger.default_loss
        if choice.deadline is None or event.time <= choice.deadline:
            raise Wrong(number, f"decision {event.decision} expired before its deadline")
        if event.value != default:
            raise Wrong(number, f"decision {event.decision} expired with {event.value}, the default loss is {default}")
        self._expired.add(event.decision)
        return choice  # type: ignore[no-any-return]

    def _check_late(self, number: int, event: Late) -> None:
        """Check that feedback which was not learned is about a decision that had expired, and the first such."""
        if event.decision in self._expired:
            self._expired.remove(event.decision)
        elif event.decision > self.begins_after:
            raise Wrong(number, f"it is late feedback about event {event.decision}, which has not expired or has some")


def decide_again(ledger: Ledger, event: Decided) -> tuple[Decision, Decided]:
    """Return the decision that a bandit makes in the place of an event, and its event."""
    drawn = uniforms(ledger.created_by.seed, ledger.bandit.rounds + 1, 1)
    made = ledger.bandit.propose(ledger.names_of(event.awake, event.n_arms)[0], drawn[0])
    return made, ledger.decided(made, event.id, event.time, event.versions)


def duel_again(ledger: Ledger, event: Dueled) -> tuple[Duel, Dueled]:
    """Return the duel that a bandit arranges in the place of an event, and its event."""
    drawn = uniforms(ledger.created_by.seed, ledger.bandit.rounds + 1, 4)
    limits = event.limits or {}
    first, second = (ledger.names_of(bits, event.n_arms) for bits in event.allowed)
    awake = None if "pairs" in limits else first[0]
    distinct = not limits and not second[1][event.arms[0]]
    made = ledger.bandit.propose(awake, drawn, distinct=bool(distinct), group=event.group, **limits)
    return made, ledger.dueled(made, event.id, event.time, event.versions, event.limits)


REPEAT: dict[type, Callable[[Ledger, Any], tuple[Any, Any]]] = {Decided: decide_again, Dueled: duel_again}


def _close(found: Any, expected: Any) -> bool:
    """Whether numbers that other versions computed are those that ours compute, but for rounding."""
    one, other = (_numbers(values) for values in (found, expected))
    return one.shape == other.shape and bool(np.all(np.abs(one - other) <= ACROSS_VERSIONS))


def _numbers(values: Any) -> Any:
    """Return the numbers of a field."""
    if isinstance(values, bytes):
        return np.frombuffer(values, "<f8")
    if isinstance(values, list) and values and isinstance(values[0], bytes):
        return np.frombuffer(b"".join(values), "<f8")
    return np.atleast_1d(np.asarray(values, np.float64))
