"""The service as an ASGI application: every request becomes a call of its operation, every outcome an answer."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any

from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route, Router

from wakeful.service.access import Access, Token
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
from wakeful.service.bodies import BodyDecoder, Gone, read_body
from wakeful.service.changes import END, Changes, Listener
from wakeful.service.metrics import Meter, Metrics
from wakeful.service.names import name_in_path
from wakeful.service.openapi import WAKEFUL_VERSION, document
from wakeful.service.operations import Call, Operation, Service
from wakeful.service.pages import Pages
from wakeful.service.queries import NoQuery, QueryDecoder
from wakeful.service.refusals import Refused
from wakeful.service.routes import OPERATIONS
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
        headers: Headers = JSON
        try:
            status, found = await self._outcome(scope, receive, names)
            if isinstance(found, Content):
                content, headers = found
            elif isinstance(found, Listener):
                self._meter.count(status, perf_counter() - started)
                await stream(receive, send, found, head=scope["method"] == "HEAD")
                return
            else:
                content = encode(found)
        except Refused as problem:
            status, headers, content = refusal(problem)
        except Gone:
            return
        except Exception:
            status, headers, content = failure(f"{scope['method']} {self.operation.path}")
        seconds = perf_counter() - started
        self._meter.count(status, seconds)
        if self._settings.log_requests:
            log_request(scope, status, seconds)
        if status in BODILESS:
            await send({"type": "http.response.start", "status": status, "headers": _without_type(headers)})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send_answer(send, status, headers, content, head=scope["method"] == "HEAD")

    async def _outcome(self, scope: Scope, receive: Receive, names: Sequence[str]) -> tuple[int, Any]:
        """Check a request and carry it out."""
        headers = dict(scope["headers"])
        if self.operation.scopes:
            self._access.check(headers, scope["client"], self.operation.scopes)
        path = [name_in_path(field, name) for field, name in zip(self._fields, names, strict=True)]
        query = self._query(scope["query_string"])
        body = None
        if self._body is not None:
            body = self._body(await read_body(receive, headers, self._settings.max_body))
        return await self._run(self._service, Call(path, query, body, headers))


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


class App:
    """The ASGI application.

    Parameters:
        desk: carries requests out
        settings: limits
        tokens: of those who may ask; without any, everybody may who reaches it by one of its own names
    """

    def __init__(self, desk: Any, settings: Settings, tokens: Iterable[Token] = ()) -> None:
        access = Access(tokens, hosts=settings.hosts, rate=settings.rate, burst=settings.burst)
        self.changes = Changes(desk, most=settings.max_listeners)
        self._metrics = Metrics()
        store = str(desk.engine.store.name)
        service = Service(
            desk, self._metrics, self.changes, Pages.of_package(), encode(document(OPERATIONS)), store, WAKEFUL_VERSION
        )
        self._other = self._metrics.meter("*", "*")
        endpoints = [Endpoint(operation, service, access, settings) for operation in OPERATIONS]
        self._decide, self._feedback = (_of_path(endpoints, end) for end in ("/decisions", "/feedback"))
        by_path: dict[str, list[Endpoint]] = {}
        for endpoint in endpoints:
            by_path.setdefault(endpoint.operation.path, []).append(endpoint)
        routes = [Route(path, Resource(found, self._other)) for path, found in by_path.items()]
        self._router = Router(routes, redirect_slashes=False, default=self._nothing_here)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the two that come most often are found without the router."""
        raw: bytes = scope["raw_path"]
        if scope["method"] == "POST" and raw.startswith(b"/v1/bandits/"):
            parts = raw.decode("latin-1").split("/")
            if len(parts) == 5 and parts[4] == "decisions":
                await self._decide.answer(scope, receive, send, (parts[3],))
                return
            if len(parts) == 7 and parts[6] == "feedback" and parts[4] == "decisions":
                await self._feedback.answer(scope, receive, send, (parts[3], parts[5]))
                return
        scope["path"] = raw.decode("latin-1")  # names are taken apart before percent signs are resolved
        await self._router(scope, receive, send)

    async def _nothing_here(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to a path that is no route."""
        self._other.count(404, 0.0)
        status, headers, body = refusal(Refused("not_found", "no route has this path; /docs has all", "path"))
        await send_answer(send, status, headers, body, head=scope["method"] == "HEAD")


def with_origins(app: Any, origins: Sequence[str]) -> Any:
    """Return an application that web pages of other origins may use; without any, as it is."""
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=list(origins),
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["authorization", "content-type"],
        expose_headers=["retry-after"],
    )


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


def log_request(scope: Scope, status: int, seconds: float) -> None:
    """Log one request: not its query and not its headers, which may hold what is nobody's business."""
    about = {
        "method": scope["method"],
        "path": scope["raw_path"].decode("latin-1"),
        "status": status,
        "seconds": round(seconds, 6),
        "client": scope["client"][0] if scope["client"] else None,
    }
    log.info("request", extra={"about": about})


def _without_type(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer without a body."""
    return [header for header in headers if header[0] != b"content-type"]


def _of_path(endpoints: Iterable[Endpoint], end: str) -> Endpoint:
    """Return the endpoint whose method is POST and whose path ends so."""
    return next(e for e in endpoints if e.operation.method == "POST" and e.operation.path.endswith(end))
