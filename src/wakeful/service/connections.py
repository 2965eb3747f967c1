"""Connections within limits: how many there are, how long a request may take to arrive, an answer to be read."""

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from wakeful.service.answers import Headers, refusal
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
    lines = [b"%s: %s\r\n" % header for header in (*headers, *more)]
    return b"".join([b"HTTP/1.1 %d %s\r\n" % (status, HTTPStatus(status).phrase.encode()), *lines, b"\r\n", body])


BUSY = raw_answer(Refused("unavailable", "too many connections are open; try again"))
NOT_HTTP = raw_answer(Refused("bad_request", "the request must be HTTP/1.1"))
TOO_LONG = raw_answer(Refused("too_large", f"path and headers must be at most {MOST_HEAD:,} bytes"))
TOO_SLOW = raw_answer(Refused("timeout", "the request must arrive faster"))


class Limits:
    """Limits of all connections together, and who is over them.

    Parameters:
        connections: how many may be open
        seconds: for a request to arrive, and for an answer to be read
    """

    def __init__(self, connections: int, seconds: float) -> None:
        self.connections, self.seconds = connections, seconds
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
        self._refused = False
        self._since: float | None = None  # when the request began that is arriving now
        self._head: int | None = None  # bytes of a head that is arriving now
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
        """Send a last answer, unless one has begun, and close soon: so long, what the client sends is thrown away.

        Closing at once would reset the connection of a client that is still sending, before it has read the answer.
        """
        self._refused, limits = True, self._limits
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            self.transport.write(answer)
        if limits.lingering >= MOST_LINGERING or not self.transport.can_write_eof():
            self.transport.close()
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
            if self._head > MOST_HEAD:
                self._end_with(TOO_LONG)

    def on_message_begin(self) -> None:
        """Note when a request began to arrive."""
        self._since, self._head = self.loop.time(), 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Note that the head of a request has arrived."""
        self._head = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that a request has arrived."""
        self._since = None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._end_with(NOT_HTTP)

    def check(self, now: float) -> None:
        """Close the connection if its request, or the reading of its answer, takes too long."""
        if self._refused:
            return
        if self._since is not None and now - self._since > self._limits.seconds:
            self._since = None
            self._end_with(TOO_SLOW)
            return
        unread = self.transport.get_write_buffer_size()
        if not unread or unread != self._unread:
            self._unread, self._unread_since = unread, now
        elif now - self._unread_since > self._limits.seconds:
            self.transport.abort()
