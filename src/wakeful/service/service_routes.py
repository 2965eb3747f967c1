"""Routes about the service itself: health, metrics, its documentation and its page."""

from typing import Any

from wakeful.service.answers import DATA_POLICY, JSON, SECURITY, Content
from wakeful.service.metrics import PROMETHEUS_TEXT, StoreNow
from wakeful.service.operations import Call, Operation, Service
from wakeful.service.readings import Health
from wakeful.service.refusals import Refused
from wakeful.service.requests import LookAll
from wakeful.service.views import all_states

METRICS = ((b"content-type", PROMETHEUS_TEXT), (b"cache-control", b"no-store"), DATA_POLICY, *SECURITY)
EVENTS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy should pass events on as they come
    DATA_POLICY,
    *SECURITY,
)


async def show_health(service: Service, call: Call) -> tuple[int, Any]:
    """Say whether the service is ready: its store answers."""
    is_ready = service.desk.is_ready
    return 200 if is_ready else 503, Health("ready" if is_ready else "unavailable", service.store, service.version)


async def show_metrics(service: Service, call: Call) -> tuple[int, Any]:
    """Return what is measured, as Prometheus reads it."""
    try:
        states = await service.desk.ask(LookAll(all_states))
    except Refused:  # the store does not answer; that is what the metrics say
        states = []
    service.metrics.listeners = service.changes.listeners
    desk = service.desk
    store = StoreNow(desk.is_ready, desk.waiting, desk.changes, list(desk.batch_sizes))
    return 200, Content(service.metrics.text(states, store), METRICS)


async def listen(service: Service, call: Call) -> tuple[int, Any]:
    """Send the bandits whenever something has changed, at most once a second, as server-sent events."""
    return 200, service.changes.listen()


async def show_openapi(service: Service, call: Call) -> tuple[int, Any]:
    """Return this document."""
    return 200, Content(service.document, JSON)


async def show_docs(service: Service, call: Call) -> tuple[int, Any]:
    """Return the page on which every route can be tried."""
    return _page(service, call, "docs.html")


async def show_page(service: Service, call: Call) -> tuple[int, Any]:
    """Return the page that shows all bandits."""
    return _page(service, call, "index.html")


async def show_file(service: Service, call: Call) -> tuple[int, Any]:
    """Return a script or a style of the pages."""
    return _page(service, call, call.path[0])


def _page(service: Service, call: Call, name: str) -> tuple[int, Any]:
    """Return a file of the pages."""
    return service.pages.answer(name, call.headers.get(b"if-none-match", b""))


SERVICE_ROUTES = (
    Operation("GET", "/health", show_health, (), {200: Health, 503: Health}),
    Operation("GET", "/metrics", show_metrics, ("read",), {200: str}, media="text/plain"),
    Operation("GET", "/v1/changes", listen, ("read",), {200: str}, media="text/event-stream"),
    Operation("GET", "/openapi.json", show_openapi, (), {200: dict[str, Any]}),
    Operation("GET", "/docs", show_docs, (), {200: str}, media="text/html"),
    Operation("GET", "/", show_page, (), {200: str}, media="text/html"),
    Operation("GET", "/static/{file}", show_file, (), {200: str}, media="*/*", problems=("not_found",)),
)
