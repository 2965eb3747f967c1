"""A process killed at every line of a writer, one line after the other: what is left must be whole."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def killed_at_every_line(save: Callable[[int], Any], load: Callable[[], int], folder: Path, watched: set[str]) -> str:
    """Save number 1, then try to save number 2 in children that are killed at the next line of `watched` files.

    Returns how many were killed, how often the file was still number 1 or already number 2, and how many of the
    children left another file behind. `load` raises where a file is not whole.
    """
    killed, found, rests = 0, {1: 0, 2: 0}, 0
    kept = {path.name for path in folder.iterdir()}
    while _is_killed(lambda: save(2), killed + 1, watched):
        killed += 1
        found[load()] += 1
        left = [path for path in folder.iterdir() if path.name not in kept]
        rests += bool(left)
        for path in left:
            path.unlink()
        save(1)
    return f"{killed} {found[1]} {found[2]} {rests}"


def _is_killed(act: Callable[[], Any], line: int, watched: set[str]) -> bool:
    """Whether a child that is to be killed at the given line of the watched files gets as far as that line."""
    child = os.fork()
    if child == 0:
        left = line

        def trace(frame: Any, event: str, argument: Any) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in watched:
                return None
            left -= event == "line"
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        act()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])
