"""Progress on a terminal: a bar for all of the work, and one for the experiment that is running."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Bars:
    """Two bars that move together, or nothing where there is no terminal."""

    def __init__(self, overall: Any = None, current: Any = None) -> None:
        self._overall, self._current = overall, current

    @contextmanager
    def part(self, name: str, weight: int) -> Iterator[Callable[[int, int], None] | None]:
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


@contextmanager
def bars(total: int, quiet: bool) -> Iterator[Bars]:
    """Yield bars for so much work."""
    if quiet or not sys.stderr.isatty():
        yield Bars()
        return
    try:
        from tqdm import tqdm
    except ImportError:  # the extra 'lab' brings it
        yield Bars()
        return
    form = "{desc:<24} {percentage:3.0f} %|{bar}| {elapsed}<{remaining}"
    with (
        tqdm(total=total, desc="wakeful reproduce", position=0, bar_format=form, leave=False) as overall,
        tqdm(total=1, position=1, bar_format=form, leave=False) as current,
    ):
        yield Bars(overall, current)
