"""What happens to one unit does not touch the others: errors that cannot travel, lost processes, interrupts."""

import multiprocessing
import os
import signal
import subprocess
import time
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
import wakeful.lab.simulate as lab
from own_policy import EpsilonGreedy
from processes import running
from wakeful.lab import workers
from wakeful.lab.simulate import SimulationError, simulate
from wakeful.worlds import Dependent

SMALL: dict[str, Any] = {"rounds": 60, "runs": 4, "seed": 3, "regrets": ("external",), "jobs": 2}


@pytest.fixture(autouse=True)
def one_run_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units of one run."""
    monkeypatch.setattr(lab, "UNIT_SECONDS", 1e-9)


@dataclass(frozen=True)
class Deadly(EpsilonGreedy):
    """Ends the process it works in: always, or only as long as a file is not there."""

    unless: str = ""

    def start(self, n_arms: int) -> Any:
        if multiprocessing.parent_process() is not None and not (self.unless and os.path.exists(self.unless)):
            if self.unless:
                Path(self.unless).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().start(n_arms)


class OddError(Exception):
    """Cannot be made again from what it says."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"odd: {first + second}")


@dataclass(frozen=True)
class Odd(EpsilonGreedy):
    """Fails with an error that arrives nowhere."""

    def update(self, state: Any, decision: Any, loss: float) -> None:
        raise OddError(1, 2)


def test_units_that_end_their_worker_fail_and_the_others_are_done(tmp_path: Path) -> None:
    policies = {"good": EpsilonGreedy(), "deadly": Deadly(), "better": EpsilonGreedy(0.05)}
    with pytest.raises(SimulationError, match=r"4 of 12 units failed, first Deadly\(.*its worker process ended twice"):
        simulate(policies, Dependent(), **SMALL, store=tmp_path)
    assert len(list(tmp_path.glob("*.unit"))) == 8


def test_a_worker_that_is_killed_once_changes_nothing(tmp_path: Path) -> None:
    policies = {"good": EpsilonGreedy(), "once": Deadly(unless=str(tmp_path / "killed"))}
    results = simulate(policies, Dependent(), **SMALL)
    assert (tmp_path / "killed").exists()
    assert np.array_equal(results.curve("external", "once"), results.curve("external", "good"))


def test_the_pools_that_are_started_again_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MOST_POOLS", 2)
    with pytest.raises(SimulationError, match="12 of 12 units failed"):
        simulate([Deadly(0.1), Deadly(0.2), Deadly(0.3)], Dependent(), **SMALL)


def test_an_error_that_cannot_travel_fails_its_own_units(tmp_path: Path) -> None:
    # Dask, once imported, teaches errors to travel; then the error comes as it is.
    with pytest.raises(SimulationError, match=r"4 of 8 units failed, first Odd\(.*(OddError: )?odd: 3"):
        simulate({"good": EpsilonGreedy(), "odd": Odd()}, Dependent(), **SMALL, store=tmp_path)
    assert len(list(tmp_path.glob("*.unit"))) == 4


class Restarted(Executor):
    """Gives up all work, as a Dask cluster does that is restarted, or takes none."""

    def __init__(self, closed: bool) -> None:
        self.closed = closed

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


@pytest.mark.parametrize(("closed", "words"), [(False, "the executor gave it up"), (True, "after shutdown")])
def test_an_executor_that_gives_work_up_is_named(closed: bool, words: str) -> None:
    with pytest.raises(SimulationError, match=f"4 of 4 units failed, first .*{words}"):
        simulate(wk.Uniform(), Dependent(), **SMALL, executor=Restarted(closed))


SLOW = """
import sys, time
sys.path.insert(0, {examples!r})
import wakeful as wk
from own_policy import EpsilonGreedy

class Slow(EpsilonGreedy):
    def update(self, state, decision, loss):
        time.sleep(0.05)
        print("on", flush=True)

wk.simulate(Slow(), wk.worlds.Dependent(), rounds=10**6, runs=4, jobs={jobs})
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_long_units_in_plain_python_at_once(jobs: int) -> None:
    code = SLOW.format(examples=str(Path(__file__).parents[2] / "examples"), jobs=jobs)
    with running("-c", code, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()  # type: ignore[union-attr]
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)  # units take hours
    assert process.returncode != 0


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    code = SLOW.format(examples=str(Path(__file__).parents[2] / "examples"), jobs=2)
    code = code.replace('print("on", flush=True)', "import os; print(os.getpid(), flush=True)")
    with running("-c", code, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        worker = int(process.stdout.readline())  # type: ignore[union-attr]
        process.kill()
        deadline = time.monotonic() + 30
        while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()
