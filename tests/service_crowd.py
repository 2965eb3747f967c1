"""Thousands of connections at once: those within the limit are served, the others are told to come again."""

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import crowd
from processes import running
from raw_http import answers, check_refusal, connection, decision
from service_load import Journal, Say, call, check, create, served, silently, verify

PART = 2500  # connections of one process: below the limit of open files that most systems have


class Crowded(NamedTuple):
    """What became of a crowd."""

    served: int
    refused: int
    slowest: float  # seconds for an answer to one of those inside, while all others were open
    memory: int  # bytes of the service, at most
    events: int


def crowded(url: str, number: int, limit: int, *, turns: int, folder: Path, say: Say = silently) -> Crowded:
    """Open so many connections to a service that allows `limit`; those inside ask again, so many times."""
    journal = Journal()
    with served(url, log=folder / "service.log", options=["--max-connections", str(limit)]) as service:
        create(service.port, "shop", "bandit")
        files = service.files
        with ExitStack() as stack:
            parts = [_part(stack, service.port, n, min(PART, number - first)) for n, first in _parts(number)]
            first = _counted(parts, journal, say, f"{number:,} connections")
            assert (len(first.served), first.refused) == (limit, number - limit), first.lost[:3]
            inside = [_again(parts, journal, say, turn, limit) for turn in range(1, turns + 1)]
            with connection(f"http://127.0.0.1:{service.port}") as late:
                late.sendall(decision("shop"))
                check_refusal(answers(late, 1)[0], 503, "unavailable")
        service.until_files(files)
        assert call(service.port, "GET", "/health")[0] == 200
        memory = service.memory("VmHWM")
    verify(url)
    events = check(url, "shop", journal)
    return Crowded(len(first.served), first.refused, max(counts.slowest for counts in inside), memory, events)


def _parts(number: int) -> list[tuple[int, int]]:
    """Return the number of each process, and of its first connection."""
    return list(enumerate(range(0, number, PART)))


def _part(stack: ExitStack, port: int, name: int, number: int) -> "subprocess.Popen[Any]":
    """Start a process that is a part of the crowd."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return stack.enter_context(running(crowd.__file__, str(port), f"part{name}", str(number), **pipes))


def _counted(parts: "list[subprocess.Popen[Any]]", journal: Journal, say: Say, what: str) -> crowd.Counts:
    """Return what became of all, and note the decisions in the journal."""
    say(what)
    total = crowd.Counts()
    for part in parts:
        assert part.stdout is not None
        counts = crowd.Counts(**json.loads(part.stdout.readline()))
        total.served += counts.served
        total.lost += counts.lost
        total.refused += counts.refused
        total.slowest = max(total.slowest, counts.slowest)
    journal.asked.update(total.served)
    journal.decided.update({id: {} for id in total.served})
    assert not total.lost, f"{len(total.lost):,} connections got no answer: {total.lost[:3]}"
    return total


def _again(parts: "list[subprocess.Popen[Any]]", journal: Journal, say: Say, turn: int, limit: int) -> crowd.Counts:
    """Let those inside ask again, and check that all of them are served."""
    for part in parts:
        assert part.stdin is not None
        part.stdin.write("again\n")
        part.stdin.flush()
    counts = _counted(parts, journal, say, f"{limit:,} inside ask again: {turn}")
    assert len(counts.served) == limit
    return counts
