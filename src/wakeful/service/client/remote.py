"""`Remote`, a bandit of the service as a client sees it, and how its methods are asked: blocking, or awaited.

A method is written once, as a function of a `Remote` that yields steps. `blocking` and `awaiting` make methods of it.
"""

import math
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import quote, urlencode

import msgspec
import numpy as np

from wakeful.inputs import must_be
from wakeful.service.client.attempts import Answer, Limits, Question, Steps, attempts
from wakeful.service.client.exchanges import Awaiting, Blocking
from wakeful.service.messages import MOST_ITEMS

Given = ParamSpec("Given")
MOST_SENT = 500_000  # of one request: half of what the service takes unless told otherwise


class Remote:
    """A bandit of the service.

    Parameters:
        name: of the bandit
        limits: where the service is, and how patient to be
    """

    def __init__(self, name: str, limits: Limits) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(must_be("name", "the name of a bandit", name))
        self.name, self.limits = name, limits

    def __repr__(self) -> str:
        """Say which bandit of which service it is."""
        return f"<{type(self).__name__} {self.name!r} at {self.limits.address}>"

    def ask(
        self,
        method: str,
        parts: Iterable[str],
        read: Callable[[bytes], Answer],
        *,
        body: Any = None,
        query: Any = None,
        repeats: bool = True,
        patience: float = 1.0,
    ) -> Steps[Answer]:
        """Ask the service about this bandit, and return the answer as `read` returns it.

        Parameters:
            method, parts, query, body: of the request; the parts of its path come after the name of the bandit
            read, repeats: see `Question`
            patience: how many times the usual time it may take
        """
        path = "/".join(["/v1/bandits", *(in_path(part) for part in (self.name, *parts))])
        path += f"?{urlencode(query, doseq=True)}" if query else ""
        sent = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body, enc_hook=plain)
        limits = self.limits._replace(timeout=patience * self.limits.timeout)
        return (yield from attempts(Question(method, path, read, sent, repeats), limits))


class BlockingRemote(Remote):
    """A bandit whose methods wait for the service."""

    def __init__(self, name: str, limits: Limits, exchange: Blocking) -> None:
        super().__init__(name, limits)
        self.run = exchange.run


class AwaitingRemote(Remote):
    """A bandit whose methods are awaited."""

    def __init__(self, name: str, limits: Limits, exchange: Awaiting) -> None:
        super().__init__(name, limits)
        self.run = exchange.run


def blocking(
    method: Callable[Concatenate[Remote, Given], Steps[Answer]],
) -> Callable[Concatenate[BlockingRemote, Given], Answer]:
    """Return the method that waits for the service."""

    @wraps(method)
    def wait(self: BlockingRemote, /, *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        return self.run(method(self, *args, **kwargs))

    return wait


def awaiting(
    method: Callable[Concatenate[Remote, Given], Steps[Answer]],
) -> Callable[Concatenate[AwaitingRemote, Given], Coroutine[Any, Any, Answer]]:
    """Return the method that is awaited."""

    @wraps(method)
    async def wait(self: AwaitingRemote, /, *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        return await self.run(method(self, *args, **kwargs))

    return wait


def in_path(name: str) -> str:
    """Return a name as a part of a path.

    >>> in_path("a/b"), in_path("..")
    ('a%2Fb', '%2E%2E')
    """
    return name.replace(".", "%2E") if name in {".", ".."} else quote(name, safe="")


def names_in(what: str, given: Iterable[str]) -> list[str]:
    """Return a list of names."""
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    names = list(given) if several else [None]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(must_be(what, "a list of names", given))
    return [str(name) for name in names]  # NumPy has texts of its own


def finite(what: str, value: Any) -> Any:
    """Return a value, unless it is a number that JSON does not have: it would arrive as nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(must_be(what, "finite", value))
    return value


def plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(must_be("values in a request", "texts, numbers, lists or mappings", value))


def lists_of(field: str, items: Iterable[Any]) -> Iterator[tuple[int, bytes]]:
    """Yield bodies with a list of items under `field`, none too long for a request, and how many items each has."""
    parts: list[bytes] = []
    size = 0
    for item in items:
        text = msgspec.json.encode(item, enc_hook=plain)
        if parts and (len(parts) == MOST_ITEMS or size + len(text) > MOST_SENT):
            yield len(parts), _listed(field, parts)
            parts, size = [], 0
        parts.append(text)
        size += len(text) + 1
    if parts:
        yield len(parts), _listed(field, parts)


def _listed(field: str, parts: list[bytes]) -> bytes:
    """Return the JSON of an object with one list."""
    return b'{"%b":[%b]}' % (field.encode(), b",".join(parts))
