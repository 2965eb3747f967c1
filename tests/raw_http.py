"""HTTP byte by byte: connections to a service, and the answers that come over them."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


@contextmanager
def connection(address: str) -> Iterator[socket.socket]:
    """Yield a connection to the service."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), timeout=60) as found:
        yield found


def until_closed(client: socket.socket) -> bytes:
    """Return all that the service sends before it closes the connection."""
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    return b"".join(parts)


def answers(client: socket.socket, number: int) -> list[bytes]:
    """Return so many answers, each with its head, or fewer if the service closes the connection before."""
    received = b""
    found: list[bytes] = []
    while len(found) < number:
        head, end, rest = received.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if end and length and len(rest) >= int(length[1]):
            found.append(received[: len(head) + 4 + int(length[1])])
            received = received[len(found[-1]) :]
        elif part := client.recv(65536):
            received += part
        else:
            break
    return found
