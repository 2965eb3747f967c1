"""Clients that never read, or send a byte at a time: many of them at once, while others want to be served."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from raw_http import check_refusal, connection, decision, until_closed
from service_load import COMPILING, PATIENCE, Clients, Say, Served, call, check, create, served, silently, verify

BIG = [f"{n:04d}" * 40 for n in range(2000)]  # names of arms: an answer that lists them is longer than buffers
ASKED = b"GET /v1/bandits/big HTTP/1.1\r\nhost: localhost\r\n\r\n" * 40
TIMEOUT = 5  # seconds for a request to arrive, and for an answer to be read
STEP = 0.25  # seconds between two bytes of a slow request
CLIENTS = 4  # that behave well meanwhile
KEPT = 4  # answers that may be in memory for a client that never reads, copies too; it has asked for 40
GROWN = 1.05  # how much of the memory after half of the rounds there may be after all


@contextmanager
def never_reading(address: str) -> Iterator[socket.socket]:
    """Yield a connection over which 14 megabytes were asked for, none of which are read."""
    with connection(address) as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.sendall(ASKED)
        yield silent


class Slow(NamedTuple):
    """What slow clients did to a service."""

    connections: int
    memory: list[int]  # bytes: before, and at most, after half of the rounds and after all
    slowest: float  # seconds for a decision of another client
    events: int


def slow_clients(url: str, rounds: int, number: int, *, seed: int, folder: Path, say: Say = silently) -> Slow:
    """Open so many connections that never read and as many that send slowly, again and again; others are served."""
    options = ["--read-timeout", str(TIMEOUT), "--max-connections", str(3 * number)]
    with served(url, log=folder / "service.log", options=options) as service:
        create(service.port, "shop", "bandit")
        create(service.port, "big", "bandit", arms=BIG, policy="Uniform")
        status, answer = call(service.port, "GET", "/v1/bandits/big", timeout=COMPILING)
        assert status == 200
        memory, slowest = [service.memory()], 0.0
        files = service.files
        with Clients([service.port], "shop", "bandit", CLIENTS, seed) as clients:
            for n in range(rounds):
                say(f"round {n + 1} of {rounds}: {len(clients.journal.decided):,} decisions of others")
                slowest = max(slowest, _round(service, number, files))
                memory.append(service.memory("VmHWM"))
        service.until_files(files + CLIENTS)
    found = [memory[0], memory[rounds // 2], memory[-1]]
    assert found[2] - found[0] < KEPT * number * len(json.dumps(answer)), f"too much memory: {memory}"
    assert found[2] < GROWN * found[1], f"memory grows: {memory}"
    verify(url)
    return Slow(2 * number * rounds, found, slowest, check(url, "shop", clients.journal))


def _round(service: Served, number: int, files: int) -> float:
    """Be slow over many connections until the service has closed them all; return the longest that another waited."""
    address, request, slowest = f"http://127.0.0.1:{service.port}", decision("shop"), 0.0
    with ExitStack() as stack:
        silent = [stack.enter_context(never_reading(address)) for _ in range(number)]
        slow = [stack.enter_context(connection(address)) for _ in range(number)]
        began, sent = time.monotonic(), 0
        while time.monotonic() - began < TIMEOUT - 1.0:
            for client in slow:
                client.sendall(request[sent : sent + 1])
            sent += 1
            asked = time.monotonic()
            assert call(service.port, "GET", "/v1/bandits/shop", timeout=PATIENCE)[0] == 200
            slowest = max(slowest, time.monotonic() - asked)
            time.sleep(STEP)
        for client in slow:
            check_refusal(until_closed(client), 408, "timeout")
        service.until_files(files + CLIENTS)  # before the silent ones end their connections
        assert len(silent) == number
    return slowest
