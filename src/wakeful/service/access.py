"""Who may ask what: bearer tokens with scopes, names of this server, and how many requests a second."""

import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import Any, NamedTuple

from wakeful.inputs import must_be, one_of
from wakeful.service.refusals import Refused

SCOPES = ("decide", "feedback", "read", "admin")
SHORTEST_TOKEN = 16  # characters
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST_CLIENTS = 10_000  # whose requests are counted; the one that was silent longest is forgotten first
TOKEN = re.compile(r"(?:(?![#,;])[!-~])+")  # what could as well be a comment or the end of a token is refused


class Token(NamedTuple):
    """The hash of a token, and what its bearer may do."""

    digest: bytes
    scopes: frozenset[str]


class TooMany(Refused):
    """More requests than are allowed; after `retry_after` seconds there is room for another."""

    def __init__(self, rate: float, retry_after: int) -> None:
        super().__init__("too_many", f"requests must be at most {rate:g} a second; wait {retry_after} s")
        self.retry_after = retry_after


def read_tokens(text: str, source: str) -> tuple[Token, ...]:
    """Return the tokens of a text, one a line, each followed by its scopes, if not all; `#` after a space is a comment.

    >>> [sorted(token.scopes) for token in read_tokens("0123456789abcdef decide feedback  # the shop", "file")]
    [['decide', 'feedback']]
    """
    found = []
    for line in text.splitlines():
        token, *rest = re.sub(r"(^|\s)#.*", "", line).split(maxsplit=1) or [""]
        if not token:
            continue
        if len(token) < SHORTEST_TOKEN or not TOKEN.fullmatch(token):
            rule = f"at least {SHORTEST_TOKEN} visible characters of ASCII other than '#', ',' and ';'"
            raise ValueError(must_be(f"tokens in {source}", rule, f"{len(token)} characters"))  # never the token itself
        scopes = " ".join(rest).replace(",", " ").split()
        for scope in scopes:
            one_of(f"scopes in {source}", scope, SCOPES)
        found.append(Token(_digest(token.encode()), frozenset(scopes or SCOPES)))
    return tuple(found)


class Access:
    """Decides whether a request is allowed.

    Parameters:
        tokens: that are known; without any, every request is allowed that names one of `hosts`
        hosts: names of this server, checked while there are no tokens, so that no web page can reach it by a name of
            its own (DNS rebinding)
        rate, burst: how many requests a second each token or address may make, and how many at once; 0: any number
        clock: seconds
    """

    def __init__(
        self,
        tokens: Iterable[Token] = (),
        *,
        hosts: Iterable[str] = LOOPBACK,
        rate: float = 0.0,
        burst: int = 100,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tokens = tuple(tokens)
        self._hosts = {host.lower().encode() for host in hosts}
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()  # what is left, and when that was

    def check(self, headers: Mapping[bytes, bytes], client: Any, needed: Iterable[str]) -> None:
        """Refuse a request that may not be made; `client` is its address and port."""
        bearer = self._bearer(headers) if self._tokens else None
        if self._rate:  # wrong tokens count for the address, however many are tried
            self._count(str(client[0] if client else "").encode() if bearer is None else bearer.digest)
        if self._tokens:
            _check_token(bearer, needed)
        elif _host(headers.get(b"host", b"")) not in self._hosts:
            known = ", ".join(sorted(host.decode() for host in self._hosts))
            sentence = must_be("Host", f"one of {known} where no token is asked for", _shown(headers))
            raise Refused("forbidden", sentence, "Host")

    def _bearer(self, headers: Mapping[bytes, bytes]) -> Token | None:
        """Return the token of a request, if it is known."""
        kind, _, given = headers.get(b"authorization", b"").partition(b" ")
        digest, found = _digest(given.strip()), None
        for token in self._tokens:  # all of them, whichever it is
            if compare_digest(token.digest, digest):
                found = token
        return found if kind.lower() == b"bearer" else None

    def _count(self, key: bytes) -> None:
        """Take one request from what a token or an address has left."""
        now = self._clock()
        left, then = self._buckets.get(key, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        if left < 1.0:
            raise TooMany(self._rate, math.ceil((1.0 - left) / self._rate))
        self._buckets[key] = left - 1.0, now
        self._buckets.move_to_end(key)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)


def _check_token(bearer: Token | None, needed: Iterable[str]) -> None:
    """Refuse a request whose token is unknown, or does not have all scopes that it needs."""
    if bearer is None:
        raise Refused("unauthorized", "Authorization must be 'Bearer' and a token that is known", "Authorization")
    for scope in needed:
        if scope not in bearer.scopes:
            has = ", ".join(map(repr, sorted(bearer.scopes)))
            sentence = f"token must be one with the scope {scope!r}, got one with {has}"
            raise Refused("forbidden", sentence, "Authorization")


def _digest(token: bytes) -> bytes:
    """Return the hash by which a token is known."""
    return sha256(token).digest()


def _host(given: bytes) -> bytes:
    """Return the name in a `Host` header, without its port."""
    if given.startswith(b"["):
        return given[1:].partition(b"]")[0].lower()
    return given.partition(b":")[0].lower()


def _shown(headers: Mapping[bytes, bytes]) -> str:
    """Return the `Host` header as text."""
    return headers.get(b"host", b"").decode("latin-1")
