"""Text files, plain or compressed, of which no line can take all memory."""

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wakeful import atomic
from wakeful.inputs import must_be

LONGEST_LINE = 1 << 25  # bytes
READ_AHEAD = 1 << 18  # bytes that are read at a time


class Measured(io.RawIOBase):
    """The bytes of another file; counts them, and refuses a line that is too long before it is read to its end."""

    def __init__(self, file: Any, path: str) -> None:
        self._file, self._path = file, path
        self._line = 0  # bytes of the line that has not ended yet
        self.bytes = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; raise if no line ends in very many of them."""
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._line = len(data) - end - 1 + (self._line if end < 0 else 0)
        self.bytes += len(data)
        if self._line > LONGEST_LINE:
            raise ValueError(must_be("path", f"a text file of lines of at most {LONGEST_LINE:,} bytes", self._path))
        return len(data)


@contextmanager
def open_text(path: str | os.PathLike[str]) -> Iterator[tuple[io.TextIOWrapper, Measured]]:
    """Yield a text file in UTF-8, and what measures it; compressed if its name ends in `.gz`.

    What is wrong with its bytes is said in one sentence.
    """
    shown = str(path)
    with atomic.open_regular(path) as file:
        plain: Any = gzip.GzipFile(fileobj=file) if Path(path).suffix == ".gz" else file
        measured = Measured(plain, shown)
        try:
            yield io.TextIOWrapper(io.BufferedReader(measured, READ_AHEAD), "utf-8-sig", newline=""), measured
        except UnicodeDecodeError as problem:
            place = f"line {_wrong_line(path)} of {shown}"
            raise ValueError(must_be(place, "text in UTF-8", problem.object[problem.start : problem.end])) from problem
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            rule = "a file compressed by gzip, complete and unchanged"
            raise ValueError(must_be("path", rule, shown) + f": {problem}") from problem


def _wrong_line(path: str | os.PathLike[str]) -> int:
    """Return which line of a text file is the first that is not in UTF-8; read in parts, as a line may be long."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    feeds = returns = 0  # lines end in line feeds, or in carriage returns if there is nothing else
    right = True
    with atomic.open_regular(path) as file:
        source: Any = gzip.GzipFile(fileobj=file) if Path(path).suffix == ".gz" else file
        while right and (data := source.read(READ_AHEAD)):
            try:
                decoder.decode(data)
            except UnicodeDecodeError as problem:
                data, right = problem.object[: problem.start], False
            feeds, returns = feeds + data.count(b"\n"), returns + data.count(b"\r")
    return 1 + (feeds or returns)


def stamp(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Return what changes when a file does: its size and time."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns
