"""`Operation`: what can be asked over HTTP by one method at one path; and what its function is given."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wakeful.service.changes import Changes
from wakeful.service.metrics import Metrics
from wakeful.service.pages import Pages
from wakeful.service.turn import refusal_of

MOST_COMPUTING = 2  # readings that are computed at the same time


class Call(NamedTuple):
    """A request that has passed all checks: the names in its path, its query, its body and its headers."""

    path: Sequence[str]
    query: Any
    body: Any
    headers: Mapping[bytes, bytes]


@dataclass
class Service:
    """What the functions of operations use.

    Parameters:
        desk: carries requests out
        metrics: counts
        changes: tells listeners what has changed
        pages: the files of the page
        document: the OpenAPI document
        store, version: what `/health` says
        computing: how many readings are computed at the same time
    """

    desk: Any
    metrics: Metrics
    changes: Changes
    pages: Pages
    document: bytes
    store: str
    version: str
    computing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_COMPUTING))

    async def compute(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function returns that may take long; errors of the library are refusals."""
        async with self.computing:
            try:
                return await asyncio.to_thread(function, *arguments)
            except (ValueError, TypeError) as problem:
                raise refusal_of(problem) from None


Handler = Callable[[Service, Call], Awaitable[tuple[int, Any]]]


class Direct(NamedTuple):
    """An operation that asks the desk one thing, in two steps, between which nobody has to wait in a task.

    Parameters:
        ask: returns what the desk is asked, or refuses
        answer: returns the status, and what becomes JSON, given what the desk answers
    """

    ask: Callable[[Call], Any]
    answer: Callable[[Any], tuple[int, Any]]


class Operation(NamedTuple):
    """One method at one path.

    Parameters:
        method, path: as HTTP has them; names in the path stand in braces
        run: answers with a status and what becomes JSON (or a `Content`); its name and its docstring are those in the
            OpenAPI document
        scopes: that a token needs; none: no token is asked for
        answers: the type of the answer by status, None where there is no body
        body: the type of the body, if there is one
        query: the type of the query, if there is one
        media: what the answer is
        problems: the codes of refusals that are special to it
        direct: `run` in two steps, where requests may go the short way
    """

    method: str
    path: str
    run: Handler
    scopes: tuple[str, ...]
    answers: dict[int, Any]
    body: Any = None
    query: Any = None
    media: str = "application/json"
    problems: tuple[str, ...] = ()
    direct: Direct | None = None
