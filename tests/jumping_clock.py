"""A command with another clock: `python jumping_clock.py FILE python -m wakeful ARGUMENTS`, see `Clock`."""

import mmap
import struct
import sys
import time
from pathlib import Path

SECONDS = struct.Struct("d")


class Clock:
    """A clock that is as many seconds ahead as a file says at each moment; a process that is started again has it too.

    Parameters:
        path: of the file; who makes the clock may change it with `set`
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(SECONDS.pack(0.0))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), SECONDS.size)
        self._now = time.time

    def set(self, ahead: float) -> None:
        """Let it be so many seconds ahead of the real time, or behind."""
        SECONDS.pack_into(self._shared, 0, ahead)

    def __call__(self) -> float:
        return self._now() + float(SECONDS.unpack_from(self._shared)[0])


if __name__ == "__main__":
    time.time = Clock(Path(sys.argv[1]))  # before anything is imported that keeps the real one
    from wakeful.cli import main

    sys.exit(main(sys.argv[sys.argv.index("wakeful") + 1 :]))
