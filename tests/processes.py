"""Processes that a test starts, ended whatever happens; `conftest` sees to it that they hear an interrupt."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def running(*arguments: str, **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Yield a Python process with these arguments; it is killed at the end if it is still there."""
    process = subprocess.Popen([sys.executable, *arguments], **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
