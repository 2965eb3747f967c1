"""The short way of the requests that come most often: decisions and feedback, one in a request.

An ASGI application costs a task, a dictionary and several messages for each request. `Lane` does without: a connection
hands a whole request to its endpoint, which makes the same checks and asks the desk, and the answer of the desk is
written at once. Requests with anything unusual about them take the ordinary way, and get the same answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from time import perf_counter
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from wakeful.service.answers import Headers
from wakeful.service.endpoints import Endpoint
from wakeful.service.settings import Settings

LONGEST_PATH = 8_000  # bytes; names of 200 characters need less
LONGEST_BODY = 65_536  # bytes; longer ones arrive in parts, which uvicorn slows down
UNUSUAL = frozenset({b"expect", b"transfer-encoding", b"upgrade"})  # headers that uvicorn sees to

Found = tuple[Endpoint, tuple[str, ...]]  # who answers a request, and the names in its path


class Lane:
    """Finds the requests that can go the short way.

    Parameters:
        desk: carries them out
        endpoints: all of them; those of `Direct` operations are taken
        settings: how long a body may be, which proxies are believed, and whether there are other origins: where there
            are, headers are added to every answer, so that all requests take the ordinary way
    """

    def __init__(self, desk: Any, endpoints: Iterable[Endpoint], settings: Settings) -> None:
        self.desk = desk
        self._longest = -1 if settings.origins else min(settings.max_body, LONGEST_BODY)
        self._proxies = ProxyHeadersMiddleware(_no_app, list(settings.proxies)) if settings.proxies else None
        direct = {e.operation.path: e for e in endpoints if e.operation.direct is not None}
        self._decide, self._feedback = (
            direct[f"/v1/bandits/{{name}}/decisions{end}"] for end in ("", "/{id}/feedback")
        )

    def find(self, path: bytes) -> Found | None:
        """Return who answers a POST to this path, if it is one of those that come most often."""
        if path.startswith(b"/v1/bandits/") and b"?" not in path and b"#" not in path:
            parts = path.decode("latin-1").split("/")
            if len(parts) == 5 and parts[4] == "decisions":
                return self._decide, (parts[3],)
            if len(parts) == 7 and parts[6] == "feedback" and parts[4] == "decisions":
                return self._feedback, (parts[3], parts[5])
        return None

    def takes(self, headers: Mapping[bytes, bytes]) -> bool:
        """Whether a request with these headers can go the short way."""
        length = headers.get(b"content-length", b"")
        return UNUSUAL.isdisjoint(headers) and len(length) < 6 and length.isdigit() and int(length) <= self._longest

    def client_of(self, client: Any, headers: Sequence[tuple[bytes, bytes]]) -> Any:
        """Return who asks: whoever is connected, or whom a proxy that is believed names in its headers."""
        if self._proxies is None:
            return client
        scope: Any = {"type": "http", "scheme": "http", "client": client, "headers": headers}
        with suppress(StopIteration):  # the middleware changes the scope, and has nothing to wait for
            self._proxies(scope, None, None).send(None)  # type: ignore[arg-type]
        return scope["client"]


async def _no_app(*_: Any) -> None:
    """Do nothing."""


class NoEvent:
    """An event that nobody waits for."""

    @staticmethod
    def set() -> None:
        """Do nothing."""


class Exchange:
    """One request on the short way, and its answer; for uvicorn it is a cycle of request and response.

    Parameters:
        connection: where it came from
        found: who answers it
        headers: of the request
        client: who asks
        keep_alive: whether the connection stays open
    """

    __slots__ = (
        "_client",
        "_connection",
        "_endpoint",
        "_headers",
        "_names",
        "_path",
        "_started",
        "body",
        "disconnected",
        "keep_alive",
        "more_body",
        "response_complete",
        "response_started",
    )
    message_event = NoEvent

    def __init__(
        self, connection: Any, found: Found, headers: dict[bytes, bytes], client: Any, *, keep_alive: bool
    ) -> None:
        self._connection, self._headers, self._client, self.keep_alive = connection, headers, client, keep_alive
        self._endpoint, names = found
        self._names: list[str] = []  # in its path, once they are checked
        self._path, self._started = connection.url, perf_counter()
        self.body = b""
        self.more_body = True
        self.disconnected = self.response_started = self.response_complete = False
        self._begin(names)

    def _begin(self, names: tuple[str, ...]) -> None:
        """Check all but the body, which may not have arrived; what is wrong is answered without it."""
        try:
            self._names = self._endpoint.path_of(self._headers, self._client, names)
        except Exception as problem:
            self._refuse(problem)

    def hand_in(self, desk: Any) -> None:
        """Hand in the request, which is complete, unless it was refused."""
        self.more_body = False
        if self._names:
            try:
                desk.hand_in(self._endpoint.asked(self._names, self._headers, self.body), self)
            except Exception as problem:
                self._refuse(problem)

    def _refuse(self, problem: Exception) -> None:
        """Answer in the next turn of the loop, as the ordinary way does: now a parser may be at work."""
        self._connection.loop.call_soon(self.set_result, problem)

    def done(self) -> bool:
        """Whether it is answered."""
        return self.response_complete

    def set_result(self, answer: Any) -> None:
        """Send the answer of the desk, or an exception as one."""
        endpoint, connection = self._endpoint, self._connection
        status, headers, content = endpoint.answered(answer)
        endpoint.count("POST", self._path, self._client, status, perf_counter() - self._started)
        self.response_started = self.response_complete = True
        if self.disconnected or not connection.can_send:
            return
        date = connection.server_state.default_headers
        end = b"\r\n" if self.keep_alive else b"connection: close\r\n\r\n"
        connection.transport.send(
            b"%s%s%scontent-length: %d\r\n%s%s"
            % (STATUS_LINE[status], lines_of(tuple(date)), lines_of(headers), len(content), end, content)
        )
        if not self.keep_alive:
            connection.transport.close()
        connection.on_response_complete()


@lru_cache(maxsize=64)
def lines_of(headers: Headers) -> bytes:
    """Return headers as they are sent."""
    return b"".join([b"%s: %s\r\n" % header for header in headers])
