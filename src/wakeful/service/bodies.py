"""Bodies of requests: read within limits, and decoded so strictly that no two readers could understand them apart."""

import json
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET

from wakeful.inputs import must_be
from wakeful.service.answers import Receive
from wakeful.service.refusals import Refused
from wakeful.service.sentences import refused_value

Kind = TypeVar("Kind", bound=msgspec.Struct)
MEDIA = b"application/json"
SINGLE = (None, True, False, UNSET)  # defaults that there is one of, so that `is` tells whether another was given


class TooLong(Refused):
    """A body that is longer than allowed."""

    def __init__(self, most: int) -> None:
        super().__init__("too_large", f"body must be at most {most:,} bytes")


class Gone(Exception):  # noqa: N818 (nothing failed here)
    """The client went away before its request was complete."""


def check_head(headers: Mapping[bytes, bytes], most: int) -> None:
    """Refuse a request whose headers say that its body is no JSON, or longer than `most` bytes."""
    media = headers.get(b"content-type", b"")
    if media != MEDIA:
        check_media(media)
    if b"content-encoding" in headers:
        given = headers[b"content-encoding"].decode("latin-1")
        raise Refused("unsupported_type", must_be("Content-Encoding", "left out", given), "Content-Encoding")
    said = headers.get(b"content-length")
    if said is not None and (not said.isdigit() or int(said) > most):
        raise TooLong(most)


async def read_body(receive: Receive, headers: Mapping[bytes, bytes], most: int) -> bytes:
    """Return the body of a request, if it is JSON by its header and has at most `most` bytes."""
    check_head(headers, most)
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Gone
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        if len(body) > most:
            raise TooLong(most)
        return body
    return await _rest(receive, bytearray(body), most)


async def _rest(receive: Receive, body: bytearray, most: int) -> bytes:
    """Return a body that comes in several parts."""
    while len(body) <= most:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    if len(body) > most:
        raise TooLong(most)
    return bytes(body)


def check_media(given: bytes) -> None:
    """Refuse any type but JSON in UTF-8: a web page elsewhere cannot send that without asking first."""
    media, _, rest = given.lower().partition(b";")
    wanted = rest.strip() in {b"", b"charset=utf-8", b'charset="utf-8"'}
    if media.strip() != MEDIA or not wanted:
        raise Refused(
            "unsupported_type", must_be("Content-Type", "application/json", given.decode("latin-1")), "Content-Type"
        )


class BodyDecoder(Generic[Kind]):
    """Decodes the JSON of one type; each fault is refused with its own sentence."""

    def __init__(self, kind: type[Kind]) -> None:
        self.kind = kind
        self._decode = msgspec.json.Decoder(kind).decode
        fields = msgspec.structs.fields(kind)
        self._single = [(f.name, f.default) for f in fields if f.required or any(f.default is one for one in SINGLE)]

    def __call__(self, body: bytes) -> Kind:
        """Return what the body says."""
        try:
            found = self._decode(body)
        except msgspec.ValidationError as problem:
            fault = _fault(body)  # whatever comes after a wrong value, a body must be JSON
            raise refused_value(self.kind, body, problem) if fault is None else _malformed(fault) from None
        except (ValueError, RecursionError):
            raise _malformed(_fault(body)) from None
        colons = body.count(b":")
        if colons > 1 and colons != self._given(found):
            refuse_duplicates(body)
        return found

    def _given(self, found: Kind) -> int:
        """Return how many fields were given at least: with as many colons, none of them was given twice."""
        return sum(getattr(found, name) is not default for name, default in self._single)


def refuse_duplicates(body: bytes) -> None:
    """Refuse an object with two values for one key: which of them holds is for every reader to guess."""
    try:
        json.loads(body, object_pairs_hook=_unique)
    except RecursionError:
        raise _malformed(_fault(body)) from None


def _unique(pairs: list[tuple[str, Any]]) -> None:
    """Refuse pairs of which two have the same key."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise Refused("bad_request", must_be("keys of an object", "given once each", key), key[:200])
        seen.add(key)


def _malformed(fault: str | None) -> Refused:
    """Return why a body is no JSON; if Python's own reader finds nothing, it is what that reader lets pass."""
    return Refused("bad_request", fault or "text must be Unicode, got half of a surrogate pair")


def _fault(body: bytes) -> str | None:
    """Return in a sentence why these bytes are no JSON, as Python's own reader sees it, or None."""
    sentence = None
    try:
        json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as problem:
        sentence = f"body must be UTF-8, got another byte at position {problem.start}"
    except RecursionError:
        sentence = "body must be nested less deeply"
    except Refused as problem:
        sentence = problem.message
    except json.JSONDecodeError as problem:
        sentence = f"body must be JSON: {problem.msg} at position {problem.pos}"
    except ValueError:  # a whole number with thousands of digits
        sentence = "numbers must be of fewer digits"
    return sentence if body.strip() else "body must be JSON, got nothing"


def _no_number(name: str) -> None:
    """Refuse what some writers of JSON take for numbers."""
    raise Refused("bad_request", must_be("numbers", "finite", name))
