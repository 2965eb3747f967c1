"""Answers over HTTP: bytes of JSON, the headers that go with them, and the one form of every refusal."""

import logging
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

import msgspec

from wakeful.service.messages import Error, Problem
from wakeful.service.refusals import STATUS, Refused

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

SECURITY: Headers = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
DATA_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
PAGE_POLICY = (
    b"content-security-policy",
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
)
JSON: Headers = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    DATA_POLICY,
    *SECURITY,
)
RETRY = 1  # seconds after which a request that found the service busy may be made again

encode = msgspec.json.Encoder().encode  # NaN becomes null
log = logging.getLogger("wakeful.service")


class Content(NamedTuple):
    """An answer that is not JSON: its bytes and its headers."""

    body: bytes
    headers: Headers


async def send_answer(send: Send, status: int, headers: Headers, body: bytes, *, head: bool = False) -> None:
    """Send an answer; with `head` only its headers."""
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": b"" if head else body})


def refusal(problem: Refused) -> tuple[int, Headers, bytes]:
    """Return status, headers and body of the answer to a request that was refused."""
    body = encode(Error(Problem(problem.code, problem.message, problem.field)))
    more: Headers = ()
    if problem.code in {"too_many", "unavailable"}:
        more = ((b"retry-after", b"%d" % getattr(problem, "retry_after", RETRY)),)
    elif problem.code == "unauthorized":
        more = ((b"www-authenticate", b"Bearer"),)
    return STATUS[problem.code], (*JSON, *more), body


def failure(what: str, problem: Exception) -> tuple[int, Headers, bytes]:
    """Log an exception, and return an answer that says nothing but where to find it."""
    number = secrets.token_hex(8)
    log.error("failed", exc_info=problem, extra={"about": {"id": number, "request": what}})
    return refusal(Refused("failed", f"the service failed; its log has more under the id {number}"))
