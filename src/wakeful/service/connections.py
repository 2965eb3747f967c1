"""Connections within limits: how many there are, how long a request may take to arrive, an answer to be read."""

import asyncio
from typing import Any

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from wakeful.service.answers import Headers, refusal
from wakeful.service.lane import LONGEST_PATH, Exchange, Found, Lane, lines_of
from wakeful.service.refusals import Refused
from wakeful.service.transports import OneWrite

LINGER = 1.0  # seconds for a refused client to read why
MOST_LINGERING = 200  # refused connections that wait for that
EVERY = 0.5  # seconds between two looks at all connections
MOST_HEAD = 65_536  # bytes before the body of a request: its path and its headers


def raw_answer(problem: Refused) -> bytes:
    """Return a whole answer as bytes, for a connection whose request is not read to its end."""
    status, headers, body = refusal(problem)
    more: Headers = ((b"content-length", b"%d" % len(body)), (b"connection", b"close"))
    return b"%s%s\r\n%s" % (STATUS_LINE[status], lines_of((*headers, *more)), body)


BUSY = raw_answer(Refused("unavailable", "too many connections are open; try again"))
NOT_HTTP = raw_answer(Refused("bad_request", "the request must be HTTP/1.1"))
PATH_TOO_LONG = raw_answer(Refused("path_too_long", f"the path must be shorter than {MOST_HEAD:,} bytes"))
TOO_LONG = raw_answer(Refused("too_large", f"path and headers must be at most {MOST_HEAD:,} bytes"))
TOO_SLOW = raw_answer(Refused("timeout", "the request must arrive faster"))


class Limits:
    """Limits of all connections together, and who is over them.

    Parameters:
        connections: how many may be open
        seconds: for a request to arrive, and for an answer to be read
        lane: the short way of the requests that come most often
    """

    def __init__(self, connections: int, seconds: float, lane: Lane) -> None:
        self.connections, self.seconds, self.lane = connections, seconds, lane
        self.open: set[LimitedProtocol] = set()
        self.lingering = 0

    def protocol(self, *arguments: Any, **options: Any) -> "LimitedProtocol":
        """Return a new connection."""
        return LimitedProtocol(self, *arguments, **options)

    async def watch(self) -> None:
        """Close connections that are too slow, for ever."""
        while True:
            await asyncio.sleep(EVERY)
            now = asyncio.get_running_loop().time()
            for connection in list(self.open):
                connection.check(now)


class LimitedProtocol(HttpToolsProtocol):
    """A connection of uvicorn within limits."""

    def __init__(self, limits: Limits, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._refused = self._ended = (
            False  # whether what the client sends is thrown away, whether the last answer is sent
        )
        self._last: bytes | None = None  # the last answer, as long as answers to earlier requests come before it
        self._whole: Any = None  # the newest request of which all has arrived
        self._running: Any = None  # the request that uvicorn is answering; those behind it wait for their turn
        self.url = b""
        self._since: float | None = None  # when the request began that is arriving now
        self._head: int | None = None  # bytes of a head that is arriving now
        self._idle: float | None = None  # since when there is no request
        self._unread, self._unread_since = 0, 0.0  # bytes that the client has not taken yet, and since when so many

    def connection_made(self, transport: Any) -> None:
        """Take a connection, or say that there are too many."""
        limits = self._limits
        if len(limits.open) < limits.connections:
            super().connection_made(OneWrite(transport, self.loop))  # type: ignore[arg-type]  # as good as one
            limits.open.add(self)
            self._since = self.loop.time()
            return
        self.transport = transport
        self._end_with(BUSY)

    def _end_with(self, answer: bytes) -> None:
        """Send a last answer, after those that whole requests before it still wait for, and read no more."""
        self._refused = True
        self._since = self._head = self._idle = None
        if self._whole is None or self._whole.response_started:
            self._send_last(answer)
            return
        self._last = answer
        if self.cycle is not self._whole:  # it waits for its turn, which must not come: the rest of it never will
            self.pipeline.popleft()

    def _send_last(self, answer: bytes) -> None:
        """Send a last answer, unless one has begun, and close soon.

        Closing at once would reset the connection of a client that is still sending, before it has read the answer.
        """
        self._ended, limits = True, self._limits
        if not any(c is not None and c.response_started and not c.response_complete for c in (self._whole, self.cycle)):
            self.transport.write(answer)
        if limits.lingering >= MOST_LINGERING or not self.transport.can_write_eof():
            self.transport.close()
            self.loop.call_later(LINGER, self.transport.abort)  # if the client has not read what came before, either
            return
        limits.lingering += 1
        self.transport.write_eof()
        self.loop.call_later(LINGER, self._end_lingering)

    def _end_lingering(self) -> None:
        """Close a refused connection."""
        self._limits.lingering -= 1
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        if self in self._limits.open:
            self._limits.open.remove(self)
            if self._running is not None and not self._running.response_complete:  # uvicorn tells the newest one only
                self._running.disconnected = True
                self._running.message_event.set()
            super().connection_lost(exc)

    def eof_received(self) -> None:
        """Go on as uvicorn does."""
        if not self._refused:
            super().eof_received()

    def data_received(self, data: bytes) -> None:
        """Read a request; what a refused client sends is thrown away."""
        if self._refused:
            return
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > MOST_HEAD and not self._refused:
                self._end_with(TOO_LONG if len(self.url) < MOST_HEAD else PATH_TOO_LONG)

    def on_message_begin(self) -> None:
        """Note when a request began to arrive."""
        self._since, self._head, self._idle = self.loop.time(), 0, None
        self.url, self.headers, self.expect_100_continue = b"", [], False

    def on_headers_complete(self) -> None:
        """Send a request on its way: the short one, or uvicorn's."""
        self._head = self._idle = None
        if len(self.url) >= MOST_HEAD:  # which parsers of paths refuse, or get wrong
            raise HttpParserError("path too long")
        found, headers = self._short_way()
        if found is not None:
            keep_alive = self.parser.should_keep_alive()
            client = self._limits.lane.client_of(self.client, self.headers)
            self.cycle = Exchange(self, found, headers, client, keep_alive=keep_alive)  # type: ignore[assignment]  # like one
            return
        url, given, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers += given  # the list that the scope has, too
        super().on_headers_complete()
        if not self.pipeline:
            self._running = self.cycle

    def _short_way(self) -> tuple[Found | None, dict[bytes, bytes]]:
        """Return who answers a request on the short way, if it can go there, and its headers."""
        parser, cycle = self.parser, self.cycle
        headers: dict[bytes, bytes] = {}
        if (
            parser.get_method() != b"POST"
            or not (cycle is None or cycle.response_complete)  # another one is being answered
            or self.flow.write_paused
            or parser.get_http_version() != "1.1"
            or parser.should_upgrade()
            or len(self.url) > LONGEST_PATH
            or not self.url.isascii()
        ):
            return None, headers
        found = self._limits.lane.find(self.url)
        if found is not None:
            headers.update(self.headers)
            if not self._limits.lane.takes(headers):
                found = None
        return found, headers

    def on_body(self, body: bytes) -> None:
        """Keep a part of a body."""
        if isinstance(self.cycle, Exchange):
            self.cycle.body += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that a request has arrived."""
        self._since, self._whole = None, self.cycle
        if isinstance(self.cycle, Exchange):
            self.cycle.hand_in(self._limits.lane.desk)
        else:
            super().on_message_complete()
        if self.cycle.response_complete:  # it was answered before all of it had arrived
            self._idle = self.loop.time()

    def on_response_complete(self) -> None:
        """Go on with the next request; if there is none yet, note since when: uvicorn would start a timer each time."""
        if self.pipeline or self.transport.is_closing():
            self._running = self.pipeline[-1][0] if self.pipeline else None
            super().on_response_complete()
        else:
            self.server_state.total_requests += 1
            self.flow.resume_reading()
            if self._last is not None:
                self._send_last(self._last)
            elif self._since is None:  # else one is arriving
                self._idle = self.loop.time()

    @property
    def can_send(self) -> bool:
        """Whether answers may still be sent."""
        return not self._ended and not self.transport.is_closing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, or has a path that is too long."""
        self._end_with(NOT_HTTP if len(self.url) < MOST_HEAD else PATH_TOO_LONG)

    def check(self, now: float) -> None:
        """Close the connection if its request, or the reading of its answer, takes too long."""
        if self._ended:
            return
        if self._since is not None and now - self._since > self._limits.seconds:
            self._since = None
            self._end_with(TOO_SLOW)
            return
        if self._idle is not None and now - self._idle > self.timeout_keep_alive:
            self._idle = None  # from now on it is enough that what was sent is being read
            self.transport.close()
        unread = self.transport.get_write_buffer_size()
        if not unread or unread != self._unread:
            self._unread, self._unread_since = unread, now
        elif now - self._unread_since > self._limits.seconds:
            self.transport.abort()
