"""One question to the service, and how often and how long it is asked: all that the two clients have in common.

Nothing here sends or sleeps. `attempts` says what to do next, and is told what came of it.
"""

import math
import re
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from random import SystemRandom
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from wakeful.service.client.errors import Failed, ServiceError, Unavailable, service_error
from wakeful.service.messages import Error

Answer = TypeVar("Answer")
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between tries, doubled each time
SHORTEST_TRY = 0.05  # seconds
NOTHING_DONE = frozenset({408, 429})  # the service refused before it did anything
jitter = SystemRandom().uniform


@dataclass(frozen=True)
class Question(Generic[Answer]):
    """A request, and how its answer is read.

    Parameters:
        method, path: of HTTP; the path begins after the address of the service
        read: turns the body of a good answer into what the caller gets
        body: JSON, if there is any
        repeats: whether asking twice does what asking once does, so that it may be asked again without an answer
    """

    method: str
    path: str
    read: Callable[[bytes], Answer]
    body: bytes | None = None
    repeats: bool = True


class Limits(NamedTuple):
    """How long one question may take, all tries included, and how often it is asked again."""

    address: str
    timeout: float
    retries: int


class Reply(NamedTuple):
    """An answer."""

    status: int
    body: bytes
    retry_after: str | None = None


class NoReply(NamedTuple):
    """No answer came: why, and whether the service may have seen the request."""

    reason: str
    was_sent: bool


class Try(NamedTuple):
    """Send the request of a question, and wait so many seconds for its answer."""

    question: Question[Any]
    seconds: float


class Pause(NamedTuple):
    """Wait so many seconds."""

    seconds: float


Steps = Generator[Try | Pause, Reply | NoReply | None, Answer]  # what to do, what came of it, what it comes to


def attempts(
    question: Question[Answer],
    limits: Limits,
    now: Callable[[], float] = time.monotonic,
    draw: Callable[[float, float], float] = jitter,
) -> Steps[Answer]:
    """Yield what to do next, until there is an answer, which is returned, or no hope, which raises.

    A try may take half of the time that is left, so that a service which hangs is asked once more; the last may take
    all of it, and so may a question that is not asked twice.
    """
    begin, tries = now(), 0
    end = begin + limits.timeout
    while True:
        tries += 1
        left = max(SHORTEST_TRY, end - now())
        is_last = tries > limits.retries or not question.repeats
        outcome = yield Try(question, left if is_last else left / 2)
        assert outcome is not None  # it is what a try comes to
        try:
            return read_outcome(question, outcome)
        except Unavailable as problem:
            pause = max(_asked_pause(outcome), _own_pause(tries, draw))
            if tries > limits.retries or now() + pause >= end or not _may_repeat(question, outcome):
                if isinstance(outcome, NoReply):
                    raise _silence(question, outcome, limits.address, tries, now() - begin) from None
                raise problem from None
        yield Pause(pause)


def read_outcome(question: Question[Answer], outcome: Reply | NoReply) -> Answer:
    """Return what an answer says, or raise its error."""
    if isinstance(outcome, NoReply):
        raise Unavailable(outcome.reason)
    if not 200 <= outcome.status < 300:
        raise _error(outcome)
    try:
        return question.read(outcome.body)
    except msgspec.DecodeError as problem:
        sentence = f"the answer to {question.method} {question.path} must be the service's: {problem}"
        raise Failed(sentence, "", outcome.status) from None


def _error(reply: Reply) -> ServiceError:
    """Return the error of an answer, in the service's words if they are its own."""
    try:
        found = msgspec.json.decode(reply.body, type=Error).error
    except msgspec.DecodeError:  # a proxy, or another server
        return service_error(reply.status, "", f"the answer has status {reply.status} and is none of the service's own")
    return service_error(reply.status, found.code, found.message, found.field)


def _silence(question: Question[Any], outcome: NoReply, address: str, tries: int, seconds: float) -> Unavailable:
    """Return the error for a question that nobody answered."""
    times = "1 try" if tries == 1 else f"{tries} tries"
    open_end = "" if question.repeats or not outcome.was_sent else "; whether it was carried out is not known"
    return Unavailable(f"no answer from {address} after {times} in {seconds:.1f} seconds: {outcome.reason}{open_end}")


def _may_repeat(question: Question[Any], outcome: Reply | NoReply) -> bool:
    """Whether asking again can do no harm."""
    if question.repeats:
        return True
    return outcome.status in NOTHING_DONE if isinstance(outcome, Reply) else not outcome.was_sent


def _own_pause(tries: int, draw: Callable[[float, float], float]) -> float:
    """Return how long to wait after so many tries: twice as long each time, and not all clients equally long."""
    most = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(tries - 1, 30))
    return draw(most / 2, most)


def _asked_pause(outcome: Reply | NoReply) -> float:
    """Return how many seconds the service wants to be left alone; `Retry-After` is a number of them, or a time."""
    text = outcome.retry_after if isinstance(outcome, Reply) else None
    if text is None:
        return 0.0
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) else 0.0
