"""The faults of the tests, for long: `make soak`. Each line says what was done to the service and what its log holds.

    PYTHONPATH=tests python benchmarks/soak.py [--kills 200] [--postgres-kills 50] [--events 1e6] [--only NAME ...]

Nothing may be lost and nothing counted twice; an assertion ends the run otherwise. The last two measure how long a log
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
from pathlib import Path

import service as bench
from service_disk import in_small_file_system
from service_load import Served, kills, restarts
from wakeful.service.engine import Engine
from wakeful.service.messages import Feedback, NewBandit, NewDecision
from wakeful.service.requests import Create, Decide, Report
from wakeful.service.stores import open_store


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
    "long-log": long_log,
    "flat-memory": flat_memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--postgres-kills", type=int, default=50)
    parser.add_argument("--events", type=float, default=1e6)
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    for name in options.only:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            said = PARTS[name](Path(folder), options)
        print(f"{name:20} {said} [{time.perf_counter() - began:.0f} s]", flush=True)


if __name__ == "__main__":
    main()
