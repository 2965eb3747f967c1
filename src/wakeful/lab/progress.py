"""Progress of long work: bars on a terminal, a line now and then where the output is a file or a pipe."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Protocol, TextIO

LINE_PERIOD = 10.0  # seconds between two lines
Progress = Callable[[int, int], None]  # takes how much is done, and how much there is to do


class Shown(Protocol):
    """What shows how far the work is."""

    def part(self, name: str, weight: int) -> AbstractContextManager[Progress | None]:
        """Yield a function that tells how far one experiment is; at its end the whole has moved by `weight`."""


class Bars:
    """A bar for all of the work, and if there is one, a bar for the experiment that is running; or no bar at all."""

    def __init__(self, overall: Any = None, current: Any = None) -> None:
        self._overall, self._current = overall, current

    @contextmanager
    def part(self, name: str, weight: int) -> Iterator[Progress | None]:
        """Yield what moves the bars through one experiment; at its end the overall bar has moved by `weight`."""
        if self._overall is None:
            yield None
            return
        start = self._overall.n
        if self._current is not None:
            self._current.reset(total=1)
            self._current.set_description_str(name)

        def move(done: int, total: int) -> None:
            if self._current is not None:
                self._current.total = total
                self._current.update(done - self._current.n)
            self._overall.update(start + weight * done / total - self._overall.n)

        yield move
        move(1, 1)


class Lines:
    """A line `first` seconds after the start, and then one each time that `every` seconds have passed."""

    def __init__(
        self,
        title: str,
        total: int,
        stream: TextIO,
        first: float = 0.0,
        every: float = LINE_PERIOD,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title, self._total, self._stream, self._every, self._clock = title, total, stream, every, clock
        self._done, self._began = 0.0, clock()
        self._due = self._began + first

    @contextmanager
    def part(self, name: str, weight: int) -> Iterator[Progress | None]:
        """Yield what tells how far one experiment is; at its end `weight` of the work is done."""
        start = self._done

        def move(done: int, total: int) -> None:
            self._done = start + weight * done / total
            self._tell(name)

        move(0, 1)
        yield move
        move(1, 1)

    def _tell(self, name: str) -> None:
        """Write a line if it is time for one."""
        now = self._clock()
        if now >= self._due:
            share, at = 100.0 * self._done / self._total, f", now {name}" if name else ""
            self._stream.write(f"{self._title}: {share:3.0f} % after {now - self._began:.0f} s{at}\n")
            self._stream.flush()
            self._due = now + self._every


@contextmanager
def bars(title: str, total: int, quiet: bool) -> Iterator[Shown]:
    """Yield what shows so much work in parts on stderr: two bars on a terminal, else lines, and nothing if `quiet`."""
    tqdm = _tqdm()
    if quiet:
        yield Bars()
    elif tqdm is None:
        yield Lines(title, total, sys.stderr)
    else:
        with tqdm(total=total, desc=title, position=0) as overall, tqdm(total=1, position=1) as current:
            yield Bars(overall, current)


@contextmanager
def bar(title: str, quiet: bool) -> Iterator[Progress | None]:
    """Yield a function that tells how far work of one part is; if short, it ends before the first line is written."""
    tqdm = _tqdm()
    if quiet:
        yield None
    elif tqdm is None:
        with Lines(title, 1, sys.stderr, first=LINE_PERIOD, every=LINE_PERIOD).part("", 1) as move:
            yield move
    else:
        with tqdm(total=1, desc=title) as overall, Bars(overall).part("", 1) as move:
            yield move


def _tqdm() -> Any:
    """Return what makes bars on stderr, or None if it is no terminal or tqdm, of the extra 'lab', is missing."""
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return partial(tqdm, bar_format="{desc:<24} {percentage:3.0f} %|{bar}| {elapsed}<{remaining}", leave=False)
