"""Progress of long work: two bars on a terminal, a line now and then where the output is a file or a pipe."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TextIO

EVERY = 10.0  # seconds between two lines
Move = Callable[[int, int], None]


class Shown(Protocol):
    """What shows how far the work is."""

    def part(self, name: str, weight: int) -> AbstractContextManager[Move | None]:
        """Yield a function that tells how far one experiment is; at its end the whole has moved by `weight`."""


class Bars:
    """Two bars that move together, one for all of the work and one for the experiment that is running, or none."""

    def __init__(self, overall: Any = None, current: Any = None) -> None:
        self._overall, self._current = overall, current

    @contextmanager
    def part(self, name: str, weight: int) -> Iterator[Move | None]:
        """Yield what moves the bars through one experiment; at its end the overall bar has moved by `weight`."""
        if self._overall is None:
            yield None
            return
        start = self._overall.n
        self._current.reset(total=1)
        self._current.set_description_str(name)

        def move(done: int, total: int) -> None:
            self._current.total = total
            self._current.update(done - self._current.n)
            self._overall.update(start + weight * done / total - self._overall.n)

        yield move
        move(1, 1)


class Lines:
    """A line at the start, and then one each time that `every` seconds have passed."""

    def __init__(
        self, total: int, stream: TextIO, every: float = EVERY, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total, self._stream, self._every, self._clock = total, stream, every, clock
        self._done, self._began, self._due = 0.0, clock(), clock()

    @contextmanager
    def part(self, name: str, weight: int) -> Iterator[Move | None]:
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
            share = 100.0 * self._done / self._total
            self._stream.write(f"wakeful reproduce: {share:3.0f} % after {now - self._began:.0f} s, now {name}\n")
            self._stream.flush()
            self._due = now + self._every


@contextmanager
def bars(total: int, quiet: bool) -> Iterator[Shown]:
    """Yield what shows so much work on stderr: bars on a terminal, else lines, and nothing if `quiet`."""
    if quiet:
        yield Bars()
        return
    tqdm = _tqdm() if sys.stderr.isatty() else None
    if tqdm is None:
        yield Lines(total, sys.stderr)
        return
    form = "{desc:<24} {percentage:3.0f} %|{bar}| {elapsed}<{remaining}"
    with (
        tqdm(total=total, desc="wakeful reproduce", position=0, bar_format=form, leave=False) as overall,
        tqdm(total=1, position=1, bar_format=form, leave=False) as current,
    ):
        yield Bars(overall, current)


def _tqdm() -> Any:
    """Return the progress bar of tqdm, which the extra 'lab' brings, or None."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm
