"""How much memory data from outside may ask for: checked before anything is allocated, and a caller can raise it."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from wakeful.inputs import must_be, whole

MAX_BYTES = 1 << 28  # 256 MiB: what a file may take in memory unless a caller says otherwise

_allowed: ContextVar[float] = ContextVar("allowed", default=math.inf)


@contextmanager
def at_most(max_bytes: int) -> Iterator[None]:
    """Refuse to start states of more than `max_bytes` bytes within the block; elsewhere there is no limit."""
    token = _allowed.set(whole("max_bytes", max_bytes, "a number of bytes, at least 1", 1))
    try:
        yield
    finally:
        _allowed.reset(token)


def claim(name: str, value: Any, n_bytes: int) -> None:
    """Refuse `value` if what it asks for, `n_bytes` bytes, is more than allowed here."""
    allowed = _allowed.get()
    if n_bytes > allowed:
        rule = f"such that a state takes at most {allowed:,} bytes, not {n_bytes:,} (max_bytes raises the limit)"
        raise ValueError(must_be(name, rule, value))


def state_bytes(start: Callable[[int], Any], n_arms: int) -> int:
    """Return how many bytes `start(n_arms)` will take, without calling it.

    Every side of an array of a state is constant or grows by as much with each arm: two small states tell which.
    """
    one, two = start(1), start(2)
    total = 0
    for small, large in zip(one, two, strict=True):
        sides = (a + (b - a) * (n_arms - 1) for a, b in zip(small.shape, large.shape, strict=True))
        total += math.prod(sides) * small.itemsize
    return total
