"""`Endpoint`: answers the requests of one operation; `Resource`: those of one path."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

from wakeful.service.access import Access
from wakeful.service.answers import (
    JSON,
    SECURITY,
    Content,
    Headers,
    Receive,
    Scope,
    Send,
    encode,
    failure,
    log,
    refusal,
    send_answer,
)
from wakeful.service.bodies import BodyDecoder, Gone, check_head, read_body
from wakeful.service.changes import END, Listener
from wakeful.service.metrics import Meter
from wakeful.service.names import name_in_path
from wakeful.service.operations import Call, Operation, Service
from wakeful.service.queries import NoQuery, QueryDecoder
from wakeful.service.refusals import Refused
from wakeful.service.service_routes import EVENTS
from wakeful.service.settings import Settings

BODILESS = frozenset({204, 304})  # statuses of answers that have no body, and no length


class Endpoint:
    """Answers the requests of one operation; an ASGI application."""

    def __init__(self, operation: Operation, service: Service, access: Access, settings: Settings) -> None:
        self.operation, self._service, self._access, self._settings = operation, service, access, settings
        self._run = operation.run
        self._fields = re.findall(r"\{(\w+)\}", operation.path)
        self._body = None if operation.body is None else BodyDecoder(operation.body)
        self._query = QueryDecoder(operation.query or NoQuery)
        self._meter = service.metrics.meter(operation.method, operation.path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that the router found."""
        found = scope["path_params"]
        await self.answer(scope, receive, send, [found[field] for field in self._fields])

    async def answer(self, scope: Scope, receive: Receive, send: Send, names: Sequence[str]) -> None:
        """Answer a request with these names in its path, percent signs not yet resolved."""
        started = perf_counter()
        outcome: Any
        try:
            outcome = await self._outcome(scope, receive, names)
        except Gone:
            return
        except Exception as problem:
            outcome = problem
        else:
            if isinstance(outcome[1], Listener):
                self._meter.count(outcome[0], perf_counter() - started)
                await stream(receive, send, outcome[1], head=scope["method"] == "HEAD")
                return
        status, headers, content = self.told(outcome)
        self.count(scope["method"], scope["raw_path"], scope["client"], status, perf_counter() - started)
        if status in BODILESS:
            await send({"type": "http.response.start", "status": status, "headers": _without_type(headers)})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send_answer(send, status, headers, content, head=scope["method"] == "HEAD")

    async def _outcome(self, scope: Scope, receive: Receive, names: Sequence[str]) -> tuple[int, Any]:
        """Check a request and carry it out."""
        headers = dict(scope["headers"])
        path = self._path(headers, scope["client"], names)
        query = self._query(scope["query_string"])
        body = None
        if self._body is not None:
            body = self._body(await read_body(receive, headers, self._settings.max_body))
        return await self._run(self._service, Call(path, query, body, headers))

    def _path(self, headers: Mapping[bytes, bytes], client: Any, names: Sequence[str]) -> list[str]:
        """Return the names in a path, if whoever asks may do so."""
        if self.operation.scopes:
            self._access.check(headers, client, self.operation.scopes)
        return [name_in_path(field, name) for field, name in zip(self._fields, names, strict=True)]

    def path_of(self, headers: Mapping[bytes, bytes], client: Any, names: Sequence[str]) -> list[str]:
        """Return the names in the path of a request of a `Direct` operation, after all checks but those of its body."""
        path = self._path(headers, client, names)
        check_head(headers, self._settings.max_body)
        return path

    def asked(self, path: list[str], headers: Mapping[bytes, bytes], content: bytes) -> Any:
        """Return what the desk is asked for by such a request, or refuse its body."""
        body = self._body(content)  # type: ignore[misc]  # such operations have one
        return self.operation.direct.ask(Call(path, None, body, headers))  # type: ignore[union-attr]

    def answered(self, answer: Any) -> tuple[int, Headers, bytes]:
        """Return status, headers and body of what the desk answers to `asked`, an exception too."""
        return self.told(answer if isinstance(answer, Exception) else self.operation.direct.answer(answer))  # type: ignore[union-attr]

    def told(self, outcome: tuple[int, Any] | Exception) -> tuple[int, Headers, bytes]:
        """Return status, headers and body of an answer: from its status and content, or from an exception."""
        try:
            if not isinstance(outcome, Exception):
                status, found = outcome
                if isinstance(found, Content):
                    return status, found.headers, found.body
                return status, JSON, encode(found)
        except Exception as problem:
            outcome = problem
        if isinstance(outcome, Refused):
            return refusal(outcome)
        return failure(f"{self.operation.method} {self.operation.path}", outcome)

    def count(self, method: str, path: bytes, client: Any, status: int, seconds: float) -> None:
        """Count a request that is being answered, and log it if that is wanted."""
        self._meter.count(status, seconds)
        if self._settings.log_requests:
            log_request(method, path, client, status, seconds)


class Resource:
    """All operations of one path; an ASGI application that knows which methods there are."""

    def __init__(self, endpoints: Iterable[Endpoint], meter: Meter) -> None:
        self._endpoints = {endpoint.operation.method: endpoint for endpoint in endpoints}
        if "GET" in self._endpoints:
            self._endpoints["HEAD"] = self._endpoints["GET"]
        self._allow = (b"allow", ", ".join([*sorted(self._endpoints), "OPTIONS"]).encode())
        self._meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the operation of the method answer."""
        method = scope["method"]
        endpoint = self._endpoints.get(method)
        if endpoint is not None:
            await endpoint(scope, receive, send)
        elif method == "OPTIONS":
            self._meter.count(204, 0.0)
            await send({"type": "http.response.start", "status": 204, "headers": [self._allow, *SECURITY]})
            await send({"type": "http.response.body", "body": b""})
        else:
            self._meter.count(405, 0.0)
            allowed = self._allow[1].decode()
            problem = Refused("method_not_allowed", f"method must be one of {allowed}, got {method!r}")
            status, headers, body = refusal(problem)
            await send_answer(send, status, (*headers, self._allow), body)


async def stream(receive: Receive, send: Send, listener: Listener, *, head: bool) -> None:
    """Send events until the client or the service goes away."""
    gone = asyncio.ensure_future(_gone(receive))
    try:
        await send({"type": "http.response.start", "status": 200, "headers": list(EVENTS)})
        while not head:
            coming = asyncio.ensure_future(listener.event())
            await asyncio.wait((coming, gone), return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                coming.cancel()
                return
            if coming.result() == END:
                break
            await send({"type": "http.response.body", "body": coming.result(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        listener.close()


async def _gone(receive: Receive) -> None:
    """Return when the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass


def log_request(method: str, path: bytes, client: Any, status: int, seconds: float) -> None:
    """Log one request: not its query and not its headers, which may hold what is nobody's business."""
    about = {
        "method": method,
        "path": path.decode("latin-1"),
        "status": status,
        "seconds": round(seconds, 6),
        "client": client[0] if client else None,
    }
    log.info("request", extra={"about": about})


def _without_type(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer without a body."""
    return [header for header in headers if header[0] != b"content-type"]
