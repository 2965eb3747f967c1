"""Runs the service: opens the store, listens, stops gracefully; logs are lines of JSON."""

import asyncio
import gc
import json
import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn

from wakeful import atomic
from wakeful.inputs import must_be
from wakeful.service.access import Token, read_tokens
from wakeful.service.connections import Limits
from wakeful.service.desk import Desk
from wakeful.service.http import App, with_origins
from wakeful.service.settings import TOKENS, Settings, is_loopback, misspelt

log = logging.getLogger("wakeful.service")
SPARE_FILES = 300  # open files beside connections: refused ones that linger, the store, listening sockets, logs
LONGEST_TOKEN_FILE = 1_000_000  # bytes


class JsonLines(logging.Formatter):
    """Formats each record as one line of JSON, with the time in UTC."""

    converter = staticmethod(time.gmtime)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "about", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class Server(uvicorn.Server):
    """A server of uvicorn that ends streams when it stops, and returns then instead of dying of the signal."""

    def __init__(self, config: uvicorn.Config, stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._stopping = stopping

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop: no new connections, and what was accepted is answered."""
        log.info("stopping")
        self._stopping()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGINT and SIGTERM, while the server runs in the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        wanted = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


Started = Callable[[str, Callable[[], None]], None]


def run(settings: Settings, environment: Mapping[str, str], started: Started) -> None:
    """Serve until a signal says stop.

    Once the service is ready, `started` is called with its address and a function that stops it, from any thread.
    """
    tokens = known_tokens(settings, environment)
    if not tokens and not is_loopback(settings.host):
        rule = f"a loopback address where there are no tokens ({TOKENS} or --token-file)"
        raise ValueError(must_be("--host", rule, settings.host))
    with (
        logs_as_json(settings.log_level),
        closing(listen(settings.host, settings.port)) as listening,
        asyncio.Runner(loop_factory=_loop_factory()) as runner,
    ):
        for sentence in misspelt(environment):
            log.warning(sentence)
        runner.run(serve(settings, tokens, listening, started))


async def serve(settings: Settings, tokens: Iterable[Token], listening: socket.socket, started: Started) -> None:
    """Serve on a socket until told to stop."""
    desk = await Desk.open(settings.db, most_waiting=settings.queue)
    gc.collect()
    gc.freeze()  # what there is by now stays; looking through it again and again would take milliseconds each time
    try:
        app = App(desk, settings, tokens)
        limits = Limits(_most_connections(settings.max_connections), settings.read_timeout, app.lane)
        server = Server(_config(settings, with_origins(app, settings.origins), limits), app.changes.stop)
        watching = asyncio.create_task(limits.watch())
        telling = asyncio.create_task(_tell(server, address_of(listening), started))
        await server.serve([listening])
        watching.cancel()
        telling.cancel()
    finally:
        await desk.close()
        log.info("stopped")


async def _tell(server: Server, address: str, started: Started) -> None:
    """Say that the service is ready, once it is."""

    def stop() -> None:
        server.should_exit = True

    while not server.started:
        await asyncio.sleep(0.01)
    log.info("started", extra={"about": {"address": address}})
    started(address, stop)


def _config(settings: Settings, app: Any, limits: Limits) -> uvicorn.Config:
    """Return how uvicorn runs."""
    return uvicorn.Config(
        app,
        http=limits.protocol,  # type: ignore[arg-type]  # whatever makes a protocol will do
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        timeout_keep_alive=settings.keep_alive,
        timeout_graceful_shutdown=settings.stop_timeout,
    )


def known_tokens(settings: Settings, environment: Mapping[str, str]) -> tuple[Token, ...]:
    """Return the tokens of the environment and of a file."""
    found = read_tokens(environment.get(TOKENS, "").replace(";", "\n"), TOKENS)
    if settings.token_file:
        text = atomic.read_bytes(Path(settings.token_file), LONGEST_TOKEN_FILE).decode("utf-8")
        listed = read_tokens(text, "--token-file")
        if not listed:
            raise ValueError(must_be("--token-file", "a file with at least one token", settings.token_file))
        found += listed
    return found


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say in one sentence why there is none."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
    except OSError as problem:
        raise ValueError(must_be("--host", "an address of this machine", host) + f": {problem}") from None
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(2048)
    except OSError as problem:
        listening.close()
        raise OSError(f"cannot listen on {host} port {port}: {problem.strerror or problem}") from None
    listening.setblocking(False)
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the URL of a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def logs_as_json(level: str) -> Iterator[None]:
    """Write all logs of Wakeful, and errors of the server below it, to standard error, as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    loggers = {logging.getLogger("wakeful"): level.upper(), logging.getLogger("uvicorn"): "ERROR"}
    before = [(logger, logger.handlers, logger.propagate, logger.level) for logger in loggers]
    for logger, lowest in loggers.items():
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(lowest)
    try:
        yield
    finally:
        for logger, handlers, propagate, lowest_before in before:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(lowest_before)


def _most_connections(wanted: int) -> int:
    """Return how many connections may be open, given how many files this process may open."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < wanted + SPARE_FILES and soft != resource.RLIM_INFINITY:
            most = wanted + SPARE_FILES if hard == resource.RLIM_INFINITY else min(hard, wanted + SPARE_FILES)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            return max(most - SPARE_FILES, 1)
    return wanted


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the faster event loop, where there is one."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
