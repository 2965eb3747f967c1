"""The service as an ASGI application: every request becomes a call of its operation, every outcome an answer."""

from collections.abc import Iterable, Sequence
from typing import Any

from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.routing import Route, Router

from wakeful.service.access import Access, Token
from wakeful.service.answers import Receive, Scope, Send, encode, refusal, send_answer
from wakeful.service.changes import Changes
from wakeful.service.endpoints import Endpoint, Resource
from wakeful.service.lane import Lane
from wakeful.service.metrics import Metrics
from wakeful.service.openapi import WAKEFUL_VERSION, document
from wakeful.service.operations import Service
from wakeful.service.pages import Pages
from wakeful.service.refusals import Refused
from wakeful.service.routes import OPERATIONS
from wakeful.service.settings import Settings


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
        self.lane = Lane(desk, endpoints, settings)
        by_path: dict[str, list[Endpoint]] = {}
        for endpoint in endpoints:
            by_path.setdefault(endpoint.operation.path, []).append(endpoint)
        routes = [Route(path, Resource(found, self._other)) for path, found in by_path.items()]
        self._router = Router(routes, redirect_slashes=False, default=self._nothing_here)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the two that come most often are found without the router."""
        raw: bytes = scope["raw_path"]
        found = self.lane.find(raw) if scope["method"] == "POST" else None
        if found is not None:
            await found[0].answer(scope, receive, send, found[1])
            return
        scope["path"] = raw.decode("latin-1")  # names are taken apart before percent signs are resolved
        await self._router(scope, receive, send)

    async def _nothing_here(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to a path that is no route."""
        self._other.count(404, 0.0)
        status, headers, body = refusal(Refused("not_found", "no route has this path; /docs has all", "path"))
        await send_answer(send, status, headers, body, head=scope["method"] == "HEAD")


class Origins(CORSMiddleware):
    """Starlette's answers to web pages of other origins; refusals have the form of all others."""

    def preflight_response(self, request_headers: Any) -> Response:
        """Answer a browser that asks whether it may send a request."""
        answer = super().preflight_response(request_headers)
        if answer.status_code == 200:
            return answer
        status, headers, body = refusal(Refused("bad_request", bytes(answer.body).decode(), "Origin"))
        return Response(body, status, {name.decode(): value.decode() for name, value in headers})


def with_origins(app: Any, origins: Sequence[str]) -> Any:
    """Return an application that web pages of other origins may use; without any, as it is."""
    if not origins:
        return app
    return Origins(
        app,
        allow_origins=list(origins),
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["authorization", "content-type"],
        expose_headers=["retry-after"],
    )
