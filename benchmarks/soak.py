"""The faults of the tests, for long: `make soak`. Each line says what was done to the service and what its log holds.

    PYTHONPATH=tests python benchmarks/soak.py [--kills 200] [--postgres-kills 50] [--minutes 3] [--sequences 1000]
                                               [--examples 100] [--connections 10000] [--events 1e6] [--only NAME ...]

Nothing may be lost and nothing counted twice, no answer may be that of a broken service, and whoever behaves well is
served; an assertion ends the run otherwise. The last two measure how long a log
of so many events takes to open and to verify, in seconds and in seconds of CPU, and how much memory a service on SQLite
holds after a tenth, half and all of as many requests over 32 connections, each one decision or one feedback.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import service as bench
from databases import postgres_database, sqlite_database
from service_clock import clock_jumps
from service_crowd import crowded
from service_cuts import cuts
from service_disk import in_small_file_system
from service_load import Say, Served, kills, restarts, silently
from service_machine import run_machine
from slow_clients import slow_clients
from wakeful.service.engine import Engine
from wakeful.service.messages import Feedback, NewBandit, NewDecision
from wakeful.service.requests import Create, Decide, Report
from wakeful.service.stores import open_store

STEPS = 60  # requests in a sequence, at most
ALLOWED = 1000  # connections at once, in the part that opens many more


def killed_on_sqlite(folder: Path, options: argparse.Namespace) -> str:
    events = kills(str(folder / "wakeful.db"), options.kills, seed=11, folder=folder)
    return f"{options.kills} times SIGKILL: {events:,} events"


def killed_on_postgres(folder: Path, options: argparse.Namespace) -> str:
    with bench.postgres(None) as url:
        events = kills(url, options.postgres_kills, seed=12, folder=folder, processes=3, pause=10.0)
    return f"three processes, {options.postgres_kills} times SIGKILL, one SIGSTOP of 10 s: {events:,} events"


def restarted_postgres(folder: Path, options: argparse.Namespace) -> str:
    with bench.started_postgres() as server:
        events = restarts(server, server.get_uri(), 10, seed=13, folder=folder)
    return f"10 restarts: {events:,} events"


def full_disk(folder: Path, options: argparse.Namespace) -> str:
    small = folder / "small"
    small.mkdir()
    events = [int(in_small_file_system(small)) for _ in range(5)]
    return f"5 times full: {sum(events):,} events"


def cut_connections(folder: Path, options: argparse.Namespace) -> str:
    cut = cuts(
        str(folder / "wakeful.db"), 60 * options.minutes, seed=14, folder=folder, clients=8, step=1, say=progress()
    )
    return f"{cut.in_requests:,} cut in their request, {cut.in_answers:,} in their answer: {cut.events:,} events"


def jumping_clock(folder: Path, options: argparse.Namespace) -> str:
    jumps = int(60 * options.minutes)
    events = clock_jumps(str(folder / "wakeful.db"), jumps, seed=15, folder=folder, say=progress())
    return f"{jumps} jumps of an hour, a SIGKILL after each third: {events:,} events"


def any_order(folder: Path, options: argparse.Namespace) -> str:
    run_machine(sqlite_database, options.sequences, STEPS, same_each_time=False)
    with bench.started_postgres() as server:
        on_postgres = options.sequences // 10
        run_machine(partial(postgres_database, server.get_uri()), on_postgres, STEPS, same_each_time=False)
    return f"{options.sequences:,} sequences of up to {STEPS} requests on SQLite, {on_postgres:,} on PostgreSQL"


def made_requests(folder: Path, options: argparse.Namespace) -> str:
    tests = Path(__file__).parent.parent / "tests" / "service" / "test_openapi.py"
    command = [sys.executable, "-m", "pytest", str(tests), "-k", "keeps_to_it", "-q", "--timeout=3600"]
    done = subprocess.run(
        command,
        env={**os.environ, "WAKEFUL_EXAMPLES": str(options.examples)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return f"{options.examples} requests of each operation, made from the OpenAPI document: no 5xx, all as it says"


def slow(folder: Path, options: argparse.Namespace) -> str:
    rounds = max(2, int(6 * options.minutes))
    found = slow_clients(str(folder / "wakeful.db"), rounds, 50, seed=16, folder=folder, say=progress())
    memory = ", ".join(f"{size / 2**20:.0f}" for size in found.memory)
    return (
        f"{found.connections:,} connections that do not read or send slowly; others waited {found.slowest:.2f} s at "
        f"most, {memory} MiB before, after the first and after the last round: {found.events:,} events"
    )


def crowd(folder: Path, options: argparse.Namespace) -> str:
    found = crowded(str(folder / "wakeful.db"), options.connections, ALLOWED, turns=10, folder=folder, say=progress())
    return (
        f"{options.connections:,} connections at once: {found.served:,} served, {found.refused:,} told to come again, "
        f"{found.slowest:.2f} s at most inside, {found.memory / 2**20:.0f} MiB: {found.events:,} events"
    )


def progress() -> Say:
    """Return what tells somebody at a terminal how far it is."""
    if not sys.stderr.isatty():
        return silently
    return lambda text: print(f"\r{text}\033[K", end="\r", file=sys.stderr, flush=True)


def long_log(folder: Path, options: argparse.Namespace) -> str:
    url = str(folder / "wakeful.db")
    filled = fill(url, int(options.events))
    began = Spent()
    engine = Engine(open_store(url))
    opened = str(began)
    assert engine.ledgers["shop"].head >= options.events
    engine.close()
    began = Spent()
    subprocess.run([sys.executable, "-m", "wakeful", "verify", "--db", url], check=True, stdout=subprocess.DEVNULL)
    return f"{filled:,} events: opened in {opened} (at most 5), verified in {began} (at most 60)"


class Spent:
    """The time since it was made, in seconds and in seconds of CPU of this process and those that it has awaited."""

    def __init__(self) -> None:
        self.began = self._now()

    def _now(self) -> tuple[float, float]:
        return time.perf_counter(), sum(os.times()[:4])

    def __str__(self) -> str:
        seconds, cpu = (now - then for now, then in zip(self._now(), self.began, strict=True))
        return f"{seconds:.1f} s, {cpu:.1f} s of CPU"


def fill(url: str, events: int) -> int:
    """Write a log of decisions and feedback, and leave it as a crash does; return the number of its events."""
    engine, rng = Engine(open_store(url)), random.Random(1)
    arms = [f"arm {k}" for k in range(10)]
    engine.run([Create("shop", NewBandit(arms=arms, seed=1))])
    while engine.ledgers["shop"].head < events:
        made = engine.run([Decide("shop", NewDecision(awake=rng.sample(arms, 5))) for _ in range(200)])
        engine.run([Report("shop", answer.id, Feedback(loss=float(rng.random() < 0.5))) for answer, _ in made])
    head = engine.ledgers["shop"].head
    engine.store.close()  # events since the last snapshot are to be folded when it is opened
    return head


def flat_memory(folder: Path, options: argparse.Namespace) -> str:
    service = Served(str(folder / "wakeful.db"), log=folder / "log").start()
    try:
        bench.bandits([service.port])
        assert service.process is not None
        pid, done, found = service.process.pid, 0.0, []
        for share in (0.1, 0.5, 1.0):
            while done < share * options.events:
                done += 5.0 * bench.load(service.port, [pid], bench.pairs("shop10", bench.arms_of(10)), 5.0).rate
            status = Path(f"/proc/{pid}/status").read_text()
            found.append(f"{int(status.split('VmRSS:')[1].split()[0]) / 1024:.0f} MiB after {done:,.0f}")
    finally:
        service.stop()
    return f"{', '.join(found)} requests"


PARTS: dict[str, Callable[[Path, argparse.Namespace], str]] = {
    "killed-on-sqlite": killed_on_sqlite,
    "killed-on-postgres": killed_on_postgres,
    "restarted-postgres": restarted_postgres,
    "full-disk": full_disk,
    "cut-connections": cut_connections,
    "jumping-clock": jumping_clock,
    "any-order": any_order,
    "made-requests": made_requests,
    "slow-clients": slow,
    "crowd": crowd,
    "long-log": long_log,
    "flat-memory": flat_memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, kind, default, meaning in (
        ("--kills", int, 200, "times SIGKILL on SQLite"),
        ("--postgres-kills", int, 50, "times SIGKILL on PostgreSQL"),
        ("--minutes", float, 3.0, "for connections that are cut, for clocks that jump and for slow clients, each"),
        ("--sequences", int, 1000, "of requests in any order; a tenth of them again on PostgreSQL"),
        ("--examples", int, 100, "requests of each operation, made from the OpenAPI document"),
        ("--connections", int, 10_000, "at once"),
        ("--events", float, 1e6, "in the log that is opened and verified, and requests while memory is measured"),
    ):
        parser.add_argument(name, type=kind, default=default, help=f"{meaning} ({default:,})")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS), help="these parts (all)")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    for name in options.only:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            said = PARTS[name](Path(folder), options)
        print(f"{name:20} {said} [{time.perf_counter() - began:.0f} s]", flush=True)


if __name__ == "__main__":
    main()
