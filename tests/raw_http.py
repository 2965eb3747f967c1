"""HTTP byte by byte: connections to a service, and the answers that come over them."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

HEAD = b"POST /v1/bandits/%s/decisions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


def decision(bandit: str, body: bytes = b"{}") -> bytes:
    """Return a request for a decision."""
    return HEAD % bandit.encode() + b"content-length: %d\r\n\r\n%s" % (len(body), body)


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


def check_refusal(answer: bytes, status: int, code: str) -> None:
    """Check that an answer is a refusal in the form of all refusals."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), answer
    assert b"x-content-type-options: nosniff" in head
    assert status != 503 or b"\r\nretry-after: 1" in head
    assert json.loads(body)["error"]["code"] == code
