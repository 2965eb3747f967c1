"""The two ways to take the steps of a question over HTTP: `Blocking` for threads, `Awaiting` for asyncio."""

import asyncio
import os
import time
from collections.abc import Iterator
from typing import Any

import httpx

from wakeful.service.client.attempts import Answer, NoReply, Pause, Reply, Steps, Try

NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
JSON_HEADER = {"Content-Type": "application/json"}


class Blocking:
    """Sends and waits; threads may share it.

    Parameters:
        address: of the service
        headers: of every request
    """

    def __init__(self, address: str, headers: dict[str, str]) -> None:
        self.address = address
        self.http = httpx.Client(headers=headers)

    def run(self, steps: Steps[Answer]) -> Answer:
        """Take all steps, and return what they come to."""
        outcome: Reply | NoReply | None = None
        try:
            while True:
                step, outcome = steps.send(outcome), None
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                else:
                    outcome = self._try(step)
        except StopIteration as end:
            found: Answer = end.value
            return found

    def _try(self, step: Try) -> Reply | NoReply:
        """Send a request once."""
        try:
            return _reply(self.http.request(**_request(self.address, step)))
        except httpx.RequestError as problem:
            return _no_reply(problem, step)


class Awaiting:
    """Sends while other tasks of the event loop go on.

    Parameters:
        address: of the service
        headers: of every request
    """

    def __init__(self, address: str, headers: dict[str, str]) -> None:
        self.address = address
        self.http = httpx.AsyncClient(headers=headers)

    async def run(self, steps: Steps[Answer]) -> Answer:
        """Take all steps, and return what they come to."""
        outcome: Reply | NoReply | None = None
        try:
            while True:
                step, outcome = steps.send(outcome), None
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                else:
                    outcome = await self._try(step)
        except StopIteration as end:
            found: Answer = end.value
            return found

    async def _try(self, step: Try) -> Reply | NoReply:
        """Send a request once."""
        try:
            return _reply(await self.http.request(**_request(self.address, step)))
        except httpx.RequestError as problem:
            return _no_reply(problem, step)


def _request(address: str, step: Try) -> dict[str, Any]:
    """Return what httpx is told to send."""
    question = step.question
    body = {} if question.body is None else {"content": question.body, "headers": JSON_HEADER}
    return {"method": question.method, "url": address + question.path, "timeout": step.seconds, **body}


def _reply(answer: httpx.Response) -> Reply:
    """Return an answer."""
    return Reply(answer.status_code, answer.content, answer.headers.get("retry-after"))


def _no_reply(problem: httpx.RequestError, step: Try) -> NoReply:
    """Return why there is none."""
    if isinstance(problem, httpx.TimeoutException):
        return NoReply(f"nothing came within {step.seconds:.1f} seconds", not isinstance(problem, NOT_SENT))
    said = [_words(found) for found in _causes(problem) if isinstance(found, OSError) and found.errno]
    return NoReply(said[-1] if said else str(problem) or type(problem).__name__, not isinstance(problem, NOT_SENT))


def _words(problem: OSError) -> str:
    """Return what the system says of an error; those of looking up names have numbers of their own, below zero."""
    number = problem.errno or 0
    return os.strerror(number) if number > 0 else str(problem.strerror)


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield an exception, and those that it came from."""
    found: BaseException | None = problem
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__
