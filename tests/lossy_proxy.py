"""A proxy in front of a real service that loses answers, or gives others, as a test says."""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Passed(NamedTuple):
    """A request that came by, and the answer of the service, or the one to give instead; status 0: none."""

    method: str
    path: str
    body: bytes
    status: int
    answer: bytes
    headers: dict[str, str]


@contextmanager
def proxied(port: int, change: Callable[[Passed], Passed | None]) -> Iterator[str]:
    """Yield the address of a proxy; `change` returns what the client gets, or None if its connection is cut."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=240)
            connection.request(self.command, self.path, body, headers)
            found = connection.getresponse()
            passed = Passed(self.command, self.path, body, found.status, found.read(), {})
            connection.close()
            given = change(passed)
            if given is None:
                self.close_connection = True
                return
            self.send_response(given.status)
            for name, value in given.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(given.answer)))
            self.end_headers()
            self.wfile.write(given.answer)

        do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = pass_on  # noqa: N815 (names that the server looks for)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
