"""A service under load while things go wrong, and the proof afterwards that nothing was lost and nothing counted twice.

Clients keep a journal of what they asked and what was acknowledged, and repeat what was not, under the same id. At the
end the log must hold every decision and feedback that was acknowledged, exactly once and with the answer that was
given, and nothing that nobody asked for.
"""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wakeful.service.events import BEGINNING, Answered, Decided, Dueled, chained
from wakeful.service.folding import fold
from wakeful.service.store import Store
from wakeful.service.stores import open_store

ARMS = [f"arm {k}" for k in range(6)]
COMPILING = 280.0  # seconds for a policy to be compiled, on a machine that does much else
PATIENCE = 60.0  # seconds for a service to come up, and for a request to be answered in the end

Say = Callable[[str], None]  # tells somebody who waits how far it is


def silently(_: str) -> None:
    """Say nothing."""


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Served:
    """A service process, which can be killed, paused and started again at the same port."""

    url: str
    port: int = field(default_factory=free_port)
    options: Sequence[str] = ()
    log: Path | None = None
    before: Sequence[str] = ()  # a command that runs the service, such as one that limits it
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Served":
        """Start it, and wait until it answers."""
        command = [*self.before, sys.executable, "-m", "wakeful", "serve", "--db", self.url, "--port", str(self.port)]
        output = subprocess.DEVNULL if self.log is None else self.log.open("ab")
        self.process = subprocess.Popen([*command, *self.options], stdout=output, stderr=output)
        if self.log is not None:
            output.close()  # type: ignore[union-attr]  # a file then
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            if call(self.port, "GET", "/health", timeout=2.0)[0] == 200:
                return self
            time.sleep(0.05)
        said = "" if self.log is None else self.log.read_text()[-2000:]
        self.stop()
        raise AssertionError(f"the service did not start: {said}")

    def kill(self) -> None:
        """End it as a crash does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """End it as an operator does, if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.stop()

    def stop(self) -> int:
        """End it as an operator does; return its exit code."""
        assert self.process is not None
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def pause(self, seconds: float) -> None:
        """Let it stand still for a while."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self.process.pid, signal.SIGCONT)

    def memory(self, field: str = "VmRSS") -> int:
        """Return how many bytes of memory it has; `VmHWM`: had at most."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(status.split(f"{field}:")[1].split()[0])

    def until_files(self, most: int) -> None:
        """Wait until it has at most so many files and connections open."""
        end = time.monotonic() + PATIENCE
        while (found := self.files) > most:
            assert time.monotonic() < end, f"{found} files are open, and at most {most} should be"
            time.sleep(0.1)

    @property
    def files(self) -> int:
        """How many files and connections it has open."""
        assert self.process is not None
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


@contextmanager
def served(url: str, **options: Any) -> Iterator[Served]:
    """Yield a running service, which is ended at the end."""
    service = Served(url, **options)
    try:
        yield service.start()
    finally:
        service.end()


def call(port: int, method: str, path: str, body: Any = None, timeout: float = 5.0) -> tuple[int, Any]:
    """Return status and body of an answer; the status is 0 if there was none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if not text and answer.status != 204:  # a head that was cut is taken for a whole one
            return 0, None
        return answer.status, json.loads(text) if text else None
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None
    finally:
        connection.close()


@dataclass
class Journal:
    """What clients asked for, and what was acknowledged."""

    asked: set[str] = field(default_factory=set)
    decided: dict[str, dict[str, Any]] = field(default_factory=dict)
    tried: dict[str, float] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)


class Clients:
    """Threads that decide and report until they are stopped, each with ids of its own."""

    def __init__(self, ports: Sequence[int], bandit: str, kind: str, number: int, seed: int) -> None:
        self.ports, self.bandit, self.kind = ports, bandit, kind
        self.journal = Journal()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(n, seed)) for n in range(number)]

    def __enter__(self) -> "Clients":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Let all finish what they began, so that every request was acknowledged in the end."""
        assert self.journal.wrong or all(thread.is_alive() for thread in self._threads), "a client gave up"
        self._stop.set()
        for thread in self._threads:
            thread.join(2 * PATIENCE)
            assert not thread.is_alive()

    def _work(self, client: int, seed: int) -> None:
        rng = random.Random(f"{seed} {client}")
        turn = 0
        while not self._stop.is_set():
            turn += 1
            id = f"{client}-{seed}-{turn}"
            body = {"id": id} if self.kind == "bandit" else {"id": id, "distinct": True}
            self.journal.asked.add(id)
            answer = self._insist(rng, "decisions", body, {200, 201})
            if answer is None:
                return
            self.journal.decided[id] = answer
            if rng.random() < 0.8:
                loss = rng.choice([0.0, 0.25, 1.0])
                value = {"loss": loss} if self.kind == "bandit" else {"winner": "left" if loss < 0.5 else "right"}
                self.journal.tried[id] = loss if self.kind == "bandit" else float(loss < 0.5)
                for _ in range(rng.choice([1, 1, 1, 2])):
                    if self._insist(rng, f"decisions/{id}/feedback", value, {200}) is None:
                        return
                self.journal.reported.add(id)

    def _insist(self, rng: random.Random, path: str, body: Any, good: set[int]) -> Any:
        """Send a request until it is answered; an answer that is neither good nor 503 is wrong."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            status, answer = call(rng.choice(self.ports), "POST", f"/v1/bandits/{self.bandit}/{path}", body)
            if status in good:
                return answer
            if status not in {0, 503}:
                self.journal.wrong.append(f"{path} {body}: {status} {answer}")
                return None
            time.sleep(0.02 if status == 0 else 0.1)
        self.journal.wrong.append(f"{path} {body}: no answer for {PATIENCE} seconds")
        return None


def create(port: int, bandit: str, kind: str, **more: Any) -> Any:
    """Make a bandit, and return its state."""
    policy = "SIExp3" if kind == "bandit" else "UniformPairs"
    body = {"arms": ARMS, "kind": kind, "policy": policy, "seed": 1, **more}
    status, answer = call(port, "PUT", f"/v1/bandits/{bandit}", body, timeout=COMPILING)
    assert status in {200, 201}, answer
    return answer


def work_for(seconds: float, clients: Clients, say: Say = silently) -> None:
    """Let clients work for so long, and say each second how much they have done."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0.0:
        say(f"{len(clients.journal.decided):,} decisions, {left:.0f} s to go")
        time.sleep(min(1.0, left))


def verify(url: str) -> None:
    """Let `wakeful verify` check every log of a database."""
    command = [sys.executable, "-m", "wakeful", "verify", "--db", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def check(url: str, bandit: str, journal: Journal, *, others: bool = False) -> int:
    """Check a log against a journal; return the number of its events.

    With `others`, decisions without a client's own id may be there as well.
    """
    assert not journal.wrong, journal.wrong[:3]
    store = open_store(url, reads_only=True)
    try:
        with store.transaction(writes=False):
            return _checked(store, bandit, journal, others)
    finally:
        store.close()


def _checked(store: Store, bandit: str, journal: Journal, others: bool) -> int:
    row = store.row(bandit)
    assert row is not None
    before = BEGINNING
    for expected, (number, body, found) in enumerate(store.bodies(row, 0), 1):
        before = chained(before, expected, body)
        assert (number, found) == (expected, before)
    ledger = fold(None, store, row)
    choices: dict[str, int] = {}
    ends: dict[int, float] = {}
    for item in store.entries(row, 0):
        if isinstance(item.event, Decided | Dueled) and (item.event.id or not others):
            assert item.event.id not in choices, f"{item.event.id} was decided twice"
            choices[item.event.id] = item.number
            _check_answer(ledger.decision_of(item.event), journal.decided.get(item.event.id))
        elif isinstance(item.event, Answered):
            assert item.event.decision not in ends, f"{item.event.decision} was counted twice"
            ends[item.event.decision] = item.event.value
    assert set(journal.decided) <= set(choices) <= journal.asked
    values = {id: ends[number] for id, number in choices.items() if number in ends}
    assert journal.reported <= set(values)
    assert all(journal.tried[id] == value for id, value in values.items())
    assert ledger.feedback == len(values)
    assert ledger.decisions == len(choices) or others
    return row.head


def _check_answer(made: Any, answer: dict[str, Any] | None) -> None:
    """Check that a client was told what the log says."""
    if answer is not None:
        for field_name in {"arm", "left", "right", "probability"} & set(answer):
            assert getattr(made, field_name) == answer[field_name]


def restarts(server: Any, url: str, times: int, *, seed: int, folder: Path) -> int:
    """Restart PostgreSQL under the load of two services, each time in another way; return the events logged."""
    services = [Served(url, log=folder / f"service-{n}.log") for n in range(2)]
    try:
        for service in services:
            service.start()
        create(services[0].port, "shop", "bandit")
        with Clients([service.port for service in services], "shop", "bandit", 4, seed) as clients:
            for n in range(times):
                time.sleep(0.5)
                os.kill(server.get_pid(), (signal.SIGINT, signal.SIGQUIT)[n % 2])  # fast; immediate, as in a crash
                server.get_postmaster_info().process.wait(PATIENCE)
                server.ensure_postgres_running()
            time.sleep(2.0)
    finally:
        for service in services:
            service.end()
    return check(url, "shop", clients.journal)


def kills(url: str, times: int, *, seed: int, folder: Path, processes: int = 1, pause: float = 0.0) -> int:
    """Kill services at random moments under load, and start them again; return the events that were logged.

    With several processes, one is killed at a time; with a `pause`, another one stands still for so many seconds.
    """
    rng = random.Random(seed)
    services = [Served(url, log=folder / f"service-{n}.log") for n in range(processes)]
    bandits = [("shop", "bandit"), ("arena", "dueling")]
    ports = [service.port for service in services]
    groups = [Clients(ports, bandit, kind, 4, seed) for bandit, kind in bandits]
    try:
        for service in services:
            service.start()
        for bandit, kind in bandits:
            create(services[0].port, bandit, kind)
        with groups[0], groups[1]:
            for _ in range(times):
                time.sleep(rng.uniform(0.05, 1.0))
                victim = rng.choice(services)
                victim.kill()
                victim.start()
            if pause:
                rng.choice(services).pause(pause)
            time.sleep(0.5)
    finally:
        for service in services:
            service.end()
    return sum(check(url, bandit, group.journal) for (bandit, _), group in zip(bandits, groups, strict=True))
