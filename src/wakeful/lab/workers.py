"""Runs the units of a simulation on threads, on processes, or on an executor that the caller passed.

A unit that fails does not affect the others: its error, even one that cannot be sent between processes, or the loss of
its worker process is the answer for that unit alone.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import Pipe, connection, parent_process
from multiprocessing.reduction import ForkingPickler
from typing import Any

from wakeful.inputs import must_be
from wakeful.lab.unit import Outcome, Unit, run_unit

MOST_POOLS = 16  # process pools started in one simulation, if units keep ending their workers

Answer = tuple[int, Outcome | BaseException]  # the position of a unit, and its outcome or its error
Answers = Generator[Answer, None, None]
LOST = "its worker process ended twice without an answer: killed, out of memory, or a crash in compiled code"
GIVEN_UP = "the executor gave it up: was it closed, or its cluster restarted?"


def answers(units: Sequence[Unit], executor: Executor | None, workers: int) -> Answers:
    """Do every unit and yield its outcome or its error, in the order in which units finish.

    Without an executor: threads for compiled policies, processes for units in plain Python. Close the iterator to
    stop the work.
    """
    if executor is not None:
        return _all_at_once(executor, attempt, units)
    if any(unit.steps for unit in units) and workers > 1:
        return _on_processes(units, workers)
    return _on_threads(units, workers)


def an_executor(given: Any) -> Executor | None:
    """Return an executor, or None for this machine; a client of Dask brings its own."""
    if given is None or isinstance(given, Executor):
        return given
    if callable(getattr(given, "get_executor", None)):
        executor: Executor = given.get_executor()
        return executor
    if not callable(getattr(given, "submit", None)):
        rule = "a concurrent.futures.Executor, or a Client of Dask"
        raise TypeError(must_be("executor", rule, given))
    return given  # type: ignore[no-any-return]  # it looks like one


def attempt(unit: Unit) -> Outcome:
    """Return the outcome of a unit, or raise an error that can be sent to another process."""
    try:
        return run_unit(unit)
    except Exception as problem:
        if _travels(problem):
            raise
        raise RuntimeError(f"{type(problem).__name__}: {problem}") from None


def _travels(problem: Exception) -> bool:
    """Whether an error can be sent to another process unchanged."""
    try:
        return type(ForkingPickler.loads(ForkingPickler.dumps(problem))) is type(problem)
    except Exception:  # whatever the class of a user's error does when it is copied
        return False


def _all_at_once(pool: Executor, work: Callable[..., Outcome], units: Sequence[Unit], *stop: Any) -> Answers:
    """Submit every unit; take back what has not begun when the work is stopped."""
    pending = {_submitted(pool, work, unit, *stop): n for n, unit in enumerate(units)}
    try:
        for future in as_completed(pending):
            yield pending[future], _answer(future)
    finally:
        for future in pending:
            future.cancel()


def _on_threads(units: Sequence[Unit], workers: int) -> Answers:
    """Do the units on threads, which check a flag that stops them."""
    stop = threading.Event()
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from _all_at_once(pool, run_unit, units, stop)
        finally:
            stop.set()


def _on_processes(units: Sequence[Unit], workers: int) -> Answers:
    """Do the units on processes; units that were running when a process was lost are done again, one by one."""
    waiting = deque(range(len(units)))
    pools = 0
    while waiting and pools < MOST_POOLS:
        lost = yield from _on_one_pool(units, waiting, workers)
        pools += 1
        for n in lost:
            again = (yield from _on_one_pool(units, deque([n]), 1)) if pools < MOST_POOLS else [n]
            pools += 1
            if again:
                yield n, RuntimeError(LOST)
    for n in waiting:
        yield n, RuntimeError(f"not done: {MOST_POOLS} times worker processes ended without an answer")


def _on_one_pool(units: Sequence[Unit], waiting: deque[int], workers: int) -> Generator[Answer, None, list[int]]:
    """Do what is `waiting` until all is done or a process is lost; return the units that were under way then.

    No more units are submitted than can run at once, so that few are affected when a process is lost.
    """
    ear, mouth = Pipe(duplex=False)
    running: dict[Future[Outcome], int] = {}
    with ear, mouth, ProcessPoolExecutor(workers, initializer=_listen, initargs=(ear,)) as pool:
        try:
            while waiting or running:
                while waiting and len(running) <= workers:
                    n = waiting.popleft()
                    running[_submitted(pool, attempt, units[n])] = n
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    if isinstance(future.exception(), BrokenProcessPool):
                        return list(running.values())
                    yield running.pop(future), _answer(future)
        except BaseException:
            mouth.send_bytes(b"stop")
            raise
    return []


def _listen(ear: Any) -> None:
    """End a worker process as soon as it is told to or its parent is gone; the parent alone handles interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    ends = [ear] if parent is None else [ear, parent.sentinel]

    def end() -> None:
        connection.wait(ends)  # the message is not read, so that all workers see it
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def _submitted(pool: Executor, work: Callable[..., Outcome], *arguments: Any) -> Future[Outcome]:
    """Return the future of a unit; if the executor refuses the unit, the future holds that error."""
    try:
        return pool.submit(work, *arguments)
    except Exception as problem:
        refused: Future[Outcome] = Future()
        refused.set_exception(problem)
        return refused


def _answer(future: Future[Outcome]) -> Outcome | BaseException:
    """Return the outcome of a unit, or its error."""
    try:
        problem = future.exception()
    except CancelledError:
        return RuntimeError(GIVEN_UP)
    return future.result() if problem is None else problem
