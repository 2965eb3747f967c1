"""What holds for every test: its children can be interrupted, and it has the same name in every process.

And what tests in several rooms use: one process without the compiler.
"""

import gc
import re
import signal
from collections.abc import Iterator

import pytest

from uncompiled_process import Ask, uncompiled_process
from wakeful.checks import uncompiled

gc.set_threshold(100_000, 20, 20)  # collecting tests and compiling make many objects and little garbage

for interrupt in (signal.SIGINT, signal.SIGQUIT):  # a shell that starts a job in the background ignores both
    if signal.getsignal(interrupt) is signal.SIG_IGN:
        signal.signal(interrupt, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test that is named after the address of an object: two workers could not agree who runs it."""
    for item in items:
        if re.search(r" at 0x[0-9A-Fa-f]", item.nodeid):
            raise pytest.UsageError(f"{item.nodeid} must have the same name in every process: ids=stable_id gives it")


def pytest_collection_finish() -> None:
    """Leave thousands of collected tests out of every garbage collection: compiling makes and drops many objects."""
    gc.freeze()


@pytest.fixture(scope="session")
def process_without_compiler() -> Iterator[Ask]:
    """Yield a function that plays policies in another process."""
    with uncompiled_process() as ask:
        yield ask


@pytest.fixture
def one_uncompiled_process(process_without_compiler: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `check_uncompiled` take the same process for all policies."""
    monkeypatch.setattr(uncompiled, "run_uncompiled", process_without_compiler)
