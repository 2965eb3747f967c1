"""`OneWrite`: a connection that sends the head and the body of an answer together, with one system call, not two."""

import asyncio
from typing import Any


class OneWrite:
    """A transport that keeps the first part of what is written until the second comes, or the loop turns."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._kept = b""
        self._has_ended = False  # whether it was said that this was all
        self.is_closing = transport.is_closing  # found at once: it is asked for each answer

    def write(self, data: bytes) -> None:
        """Keep data, or send it after what was kept; what comes after the end is for nobody."""
        if self._has_ended or self.is_closing():
            return
        if self._kept:
            data, self._kept = self._kept + data, b""
            self._transport.write(data)
        else:
            self._kept = data
            self._loop.call_soon(self.flush)

    def send(self, data: bytes) -> None:
        """Send data at once: all of an answer."""
        self.flush()
        self._transport.write(data)

    def flush(self) -> None:
        """Send what is kept."""
        if self._kept:
            data, self._kept = self._kept, b""
            if not self.is_closing():
                self._transport.write(data)

    def close(self) -> None:
        """Send what is kept, and close."""
        self.flush()
        self._transport.close()

    def write_eof(self) -> None:
        """Send what is kept, and say that this was all."""
        self.flush()
        self._has_ended = True
        self._transport.write_eof()

    def get_write_buffer_size(self) -> int:
        """Return how many bytes the client has not taken yet."""
        return len(self._kept) + int(self._transport.get_write_buffer_size())

    def __getattr__(self, name: str) -> Any:
        """Return everything else as the transport has it."""
        return getattr(self._transport, name)
