"""`Batch`: requests that are carried out together, and how far that has come."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wakeful.service.events import Entry
from wakeful.service.requests import Look, LookAll, Request
from wakeful.service.store import StoreError


@dataclass
class Batch:
    """Requests that are carried out together, and their answers."""

    requests: list[Request]
    answers: list[Any]
    names: set[str] = field(default_factory=set)  # of the bandits that they change
    appended: int = 0
    writes: int = 0
    added: dict[str, list[Entry]] = field(default_factory=dict)  # events for the log of each
    is_open: bool = False  # whether there is something to commit
    is_done: bool = False  # whether it was committed
    is_halfway: bool = False  # the transaction has begun, and goes on in the thread
    is_apart: bool = False  # whether each request gets a transaction of its own
    broken_by: Exception | None = None  # before the commit: each request gets a transaction of its own then
    failed_by: StoreError | None = None  # at the commit

    def add(self, requests: Iterable[Request]) -> None:
        """Let requests that may change something come along."""
        self.requests += requests
        self.writes = len(self.requests)
        self.answers = [None] * self.writes


def writes_of(requests: Sequence[Request]) -> list[tuple[int, Any]]:
    """Return the requests that may change something, each with its place."""
    return [(n, request) for n, request in enumerate(requests) if not isinstance(request, Look | LookAll)]
