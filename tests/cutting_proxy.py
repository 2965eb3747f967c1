"""A proxy in front of a real service that cuts connections after any byte of the request or of the answer."""

import random
import selectors
import socket
import socketserver
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

LONGEST_REQUEST, LONGEST_ANSWER = 260, 700  # bytes, about: cuts are drawn below them
RESET = struct.pack("ii", 1, 0)  # closing a socket with this setting resets its connection


@dataclass
class Cutting:
    """Where the proxy listens, and what it has done so far: connections cut in the request, in the answer, or whole."""

    port: int = 0
    done: Counter[str] = field(default_factory=Counter)


@contextmanager
def cutting(port: int, seed: int) -> Iterator[Cutting]:
    """Yield a proxy; of three connections about one is cut in its request, one in its answer, and one is not."""
    found, lock, rng = Cutting(), threading.Lock(), random.Random(seed)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with lock:
                where = rng.choice(["request", "answer", "whole"])
                after = rng.randrange(LONGEST_REQUEST if where == "request" else LONGEST_ANSWER)
                is_reset = rng.random() < 0.5
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as service:
                is_cut = _relay(self.request, service, where, after)
                with lock:
                    found.done[where if is_cut else "whole"] += 1
                if is_cut and is_reset:
                    for one in (self.request, service):
                        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 200

        def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
            """Close a connection without the polite end that would come before a reset."""
            self.close_request(request)

    with Server(("127.0.0.1", 0), Handler) as server:
        found.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


def _relay(client: socket.socket, service: socket.socket, where: str, after: int) -> bool:
    """Pass bytes on until one side ends or so many have passed in one direction; return whether they had."""
    left = {"request": after if where == "request" else None, "answer": after if where == "answer" else None}
    with selectors.DefaultSelector() as selector:
        selector.register(client, selectors.EVENT_READ, ("request", service))
        selector.register(service, selectors.EVENT_READ, ("answer", client))
        while True:
            for key, _ in selector.select():
                direction, other = key.data
                data = key.fileobj.recv(65536)  # type: ignore[union-attr]  # a socket
                if not data:
                    return False
                limit = left[direction]
                if limit is not None and len(data) >= limit:
                    other.sendall(data[:limit])
                    return True
                other.sendall(data)
                left[direction] = None if limit is None else limit - len(data)
