"""Decisions that a log holds, found by their ids."""

from collections.abc import Iterable
from typing import NamedTuple

from wakeful.inputs import must_be
from wakeful.service.events import Choice, Outcome
from wakeful.service.refusals import Refused


class Known(NamedTuple):
    """A decision that the log holds: its event number, its event, how its wait ended, and whether late news came."""

    number: int
    choice: Choice
    outcome: Outcome | None
    late: bool


class Finder:
    """The decisions that requests of a batch are about, by number of event and by the client's own id.

    Events before the number `first` are in an archive, but for decisions that waited for feedback then.
    """

    def __init__(self, found: Iterable[Known] = (), first: int = 1) -> None:
        self._first = first
        self._by_number: dict[int, Known] = {}
        self._by_id: dict[str, int] = {}
        for known in found:
            self.add(known)

    def add(self, known: Known) -> None:
        """Remember a decision, or what has become of it."""
        self._by_number[known.number] = known
        if known.choice.id:
            self._by_id[known.choice.id] = known.number

    def own(self, own_id: str) -> Known | None:
        """Return the decision with a client's own id, if there is one."""
        number = self._by_id.get(own_id)
        return None if number is None else self._by_number[number]

    def __getitem__(self, number: int) -> Known:
        """Return the decision of an event number."""
        return self._by_number[number]

    def get(self, decision_id: str) -> Known:
        """Return the decision with an id, the service's or a client's own, or refuse."""
        number = number_of(decision_id)
        known = self._by_number.get(number) if number is not None else self.own(decision_id)
        if known is None:
            archived = "" if self._first == 1 else f"; events before number {self._first} were moved to an archive"
            sentence = must_be("id", "that of a decision of this bandit", decision_id)
            if number is not None and 0 < number < self._first:
                sentence, archived = (
                    f"decision {decision_id!r} was moved to an archive: nothing more is learned of it",
                    "",
                )
            raise Refused("not_found", sentence + archived, "id")
        return known


def number_of(decision_id: str) -> int | None:
    """Return the event number in an id that the service made, or None for a client's own id."""
    digits = decision_id[1:]
    if decision_id[:1] == "d" and digits.isascii() and digits.isdigit() and len(digits) <= 18:
        return int(digits)
    return None


def id_of(known: Known) -> str:
    """Return the id of a decision: the client's own, or the service's."""
    return known.choice.id or f"d{known.number}"
