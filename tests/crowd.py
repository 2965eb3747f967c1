"""A part of a crowd: `python crowd.py PORT NAME NUMBER` opens so many connections and asks for a decision over each.

It prints a line of JSON, `Counts`, when each of them has its first answer, and again for each line that it reads: those
who were served ask again. It ends, and with it all connections, when there are no more lines.
"""

import json
import resource
import selectors
import socket
import sys
import time
from dataclasses import asdict, dataclass, field

from raw_http import check_refusal, decision

PATIENCE = 60.0  # seconds for all answers
SPARE = 100  # files that a process opens beside its connections


@dataclass
class Counts:
    """What became of the connections."""

    served: list[str] = field(default_factory=list)  # ids of decisions
    refused: int = 0
    lost: list[str] = field(default_factory=list)  # why, of those that were neither
    slowest: float = 0.0  # seconds for an answer


@dataclass
class Member:
    """One connection, and what has come over it since it asked last."""

    connection: socket.socket
    request: bytes = b""
    answer: bytes = b""
    asked: float = 0.0

    def ask(self, id: str) -> None:
        """Be about to ask for a decision with this id."""
        self.request, self.answer, self.asked = decision("shop", b'{"id": "%s"}' % id.encode()), b"", time.monotonic()

    def go_on(self, counts: Counts, id: str) -> str:
        """Send and read what is there; return what has become of it: `served`, `refused`, `lost` or nothing yet."""
        try:
            if self.request:
                self.connection.send(self.request)  # less than what any buffer takes
                self.request = b""
        except BlockingIOError:
            return ""
        except OSError:
            self.request = b""  # it was refused before it asked: why may be there to read
        try:
            part = self.connection.recv(65536)
        except BlockingIOError:
            return ""
        except OSError as problem:
            return self._ended(counts, str(problem))
        self.answer += part
        if self.answer.startswith(b"HTTP/1.1 201 ") and self.answer.endswith(b"}"):
            counts.served.append(id)
            return "served"
        return "" if part else self._ended(counts, "closed")

    def _ended(self, counts: Counts, why: str) -> str:
        """Count a connection that the service has closed."""
        try:
            check_refusal(self.answer, 503, "unavailable")
        except (AssertionError, ValueError):
            counts.lost.append(f"{why} after {self.answer!r}")
            return "lost"
        counts.refused += 1
        return "refused"


def ask_all(members: dict[str, Member], turn: int) -> tuple[Counts, dict[str, Member]]:
    """Let all ask once and read their answers; return what became of them, and those who were served."""
    counts, inside = Counts(), {}
    with selectors.DefaultSelector() as selector:
        for name, member in members.items():
            member.ask(f"{name}-{turn}")
            selector.register(member.connection, selectors.EVENT_READ | selectors.EVENT_WRITE, name)
        end = time.monotonic() + PATIENCE
        while selector.get_map() and time.monotonic() < end:
            for key, _ in selector.select(1.0):
                member = members[key.data]
                became = member.go_on(counts, f"{key.data}-{turn}")
                if became:
                    selector.unregister(member.connection)
                elif not member.request:
                    selector.modify(member.connection, selectors.EVENT_READ, key.data)
                if became == "served":
                    inside[key.data] = member
                    counts.slowest = max(counts.slowest, time.monotonic() - member.asked)
        counts.lost += [f"no answer for {PATIENCE} seconds"] * len(selector.get_map())
    return counts, inside


def main(port: int, name: str, number: int) -> None:
    """Be so many clients of a service."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (number + SPARE, hard))
    everybody = {}
    for n in range(number):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", port))
        everybody[f"{name}-{n}"] = Member(connection)
    inside, turn = everybody, 0
    while True:
        counts, inside = ask_all(inside, turn)
        print(json.dumps(asdict(counts)), flush=True)
        turn += 1
        if not sys.stdin.readline():
            return


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
