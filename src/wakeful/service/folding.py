"""Folds logs into ledgers. The chain of hashes is checked on the way: an event that does not follow is not learned."""

import logging
from collections.abc import Sequence
from typing import Any

from wakeful.service.events import Answered, Choice, Entry, Expired, chained
from wakeful.service.known import Finder
from wakeful.service.ledger import Ledger
from wakeful.service.store import DamagedLogError, Row, Store

log = logging.getLogger("wakeful.service")
EVENTS_AT_ONCE = 5_000  # events in memory at a time


def fold(ledger: Ledger | None, store: Store, row: Row, to: int | None = None) -> Ledger:
    """Fold events of a log into a ledger, or into a new one, up to a number or to its end."""
    after = 0 if ledger is None else ledger.head
    last = row.head if to is None else to
    while after < last:
        entries = list(store.entries(row, after, min(last, after + EVENTS_AT_ONCE)))
        if len(entries) != min(last, after + EVENTS_AT_ONCE) - after:
            raise DamagedLogError(f"the log of {row.name!r} has a gap after event {after}")
        if ledger is None:
            ledger = Ledger(entries[0].event)  # type: ignore[arg-type]  # the first event is a Created
        here = {item.number: item.event for item in entries}
        asked = {item.event.decision for item in entries if isinstance(item.event, Answered | Expired)}
        finder = Finder(store.find(row, asked - set(here)))
        tail: list[tuple[Entry, Any]] = []
        for item in entries:
            choice = None
            if isinstance(item.event, Answered | Expired):
                choice = here.get(item.event.decision) or finder[item.event.decision].choice
            tail.append((item, choice))
        follow(ledger, row, tail)
        after += len(entries)
    if ledger is None or (last == row.head and not is_at_end(ledger, row)):
        raise DamagedLogError(f"the log of {row.name!r} does not end with the hash that it should")
    return ledger


def restored(row: Row, found: tuple[int, bytes, bytes] | None) -> Ledger | None:
    """Return the ledger of a snapshot; None if there is none, or none that can be read and the whole log is there."""
    if found is None:
        return None
    number, _, data = found
    try:
        return Ledger.from_bytes(data)
    except Exception as problem:  # bytes from outside can fail in any way
        sentence = f"the snapshot of {row.name!r} at {number} cannot be read: {problem}"
        if row.first > 1:
            raise DamagedLogError(sentence) from problem
        log.warning(sentence)
        return None


def follow(ledger: Ledger, row: Row, tail: Sequence[tuple[Entry, Choice | None]]) -> None:
    """Fold the next events of a log, each with the decision that it is about, if they follow from those before them."""
    head, digest = ledger.head, ledger.hash
    for (number, _, body, found), _ in tail:
        if number != head + 1:
            raise DamagedLogError(f"the log of {row.name!r} has a gap after event {head}")
        if found != chained(digest, number, body):
            raise DamagedLogError(f"event {number} of {row.name!r} is wrong: wakeful verify says more")
        head, digest = number, found
    ledger.take_all(tail)


def is_at_end(ledger: Ledger, row: Row) -> bool:
    """Whether a ledger is the fold of the whole log."""
    return ledger.head == row.head and ledger.hash == row.hash
