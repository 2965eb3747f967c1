"""The faults of the tests, for long: `make soak`. Each line says what was done to the service and what its log holds.

    PYTHONPATH=tests python benchmarks/soak.py [--kills 200] [--postgres-kills 50] [--events 1e6] [--only NAME ...]

Nothing may be lost and nothing counted twice; an assertion ends the run otherwise. The last two measure how long a log
of so many events takes to open and to verify, and whether memory stays flat over as many requests.
"""

import argparse
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
    began = time.perf_counter()
    engine = Engine(open_store(url))
    opened = time.perf_counter() - began
    assert engine.ledgers["shop"].head >= options.events
    engine.close()
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "wakeful", "verify", "--db", url], check=True, stdout=subprocess.DEVNULL)
    verified = time.perf_counter() - began
    return f"{filled:,} events: opened in {opened:.1f} s (at most 5), verified in {verified:.0f} s (at most 60)"


def fill(url: str, events: int) -> int:
    """Write a log of decisions and feedback; return the number of its events."""
    engine, rng = Engine(open_store(url)), random.Random(1)
    arms = [f"arm {k}" for k in range(10)]
    engine.run([Create("shop", NewBandit(arms=arms, seed=1))])
    while engine.ledgers["shop"].head < events:
        made = engine.run([Decide("shop", NewDecision(awake=rng.sample(arms, 5))) for _ in range(200)])
        engine.run([Report("shop", answer.id, Feedback(loss=float(rng.random() < 0.5))) for answer, _ in made])
    head = engine.ledgers["shop"].head
    engine.close()
    return head


def flat_memory(folder: Path, options: argparse.Namespace) -> str:
    service = Served(str(folder / "wakeful.db"), log=folder / "log").start()
    try:
        found = []
        bench.bandits([service.port])
        assert service.process is not None
        pid = service.process.pid
        for _ in range(2):
            done = 0.0
            while done < options.events / 2:
                done += 5.0 * bench.load(service.port, [pid], bench.pairs("shop10", bench.arms_of(10)), 5.0).rate
            status = Path(f"/proc/{pid}/status").read_text()
            found.append(int(status.split("VmRSS:")[1].split()[0]) / 1024)
    finally:
        service.stop()
    return f"{found[0]:.0f} MiB after half of {options.events:,.0f} requests, {found[1]:.0f} after all"


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
