"""Limits of the memory that files and other outside data may take, checked before anything is allocated."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from wakeful.inputs import must_be, whole

MAX_BYTES = 1 << 28  # 256 MiB: what a file may take in memory unless a caller says otherwise
SMALL_STATE = 2  # arms of a small state that is made to estimate the size of larger ones

_allowed: ContextVar[float] = ContextVar("allowed", default=math.inf)


@contextmanager
def at_most(max_bytes: int) -> Iterator[None]:
    """Limit the states that are made inside this block to `max_bytes` bytes; elsewhere there is no limit."""
    token = _allowed.set(whole("max_bytes", max_bytes, "a number of bytes, at least 1", 1))
    try:
        yield
    finally:
        _allowed.reset(token)


def claim(name: str, value: Any, n_bytes: int) -> None:
    """Raise an error if the `n_bytes` bytes that `value` needs are more than the current limit."""
    allowed = _allowed.get()
    if n_bytes > allowed:
        rule = f"such that a state takes at most {allowed:,} bytes, not {n_bytes:,} (max_bytes raises the limit)"
        raise MemoryError(must_be(name, rule, value))


def state_bytes(start: Callable[[int], Any], n_arms: int) -> int:
    """Return about how many bytes `start(n_arms)` will take, without calling it where there are many arms.

    Each dimension of an array of a state is constant or grows linearly with the arms: two small states show which.
    """
    if n_arms <= SMALL_STATE:
        return sum(array.nbytes for array in start(n_arms))
    try:
        one, two = start(SMALL_STATE), start(SMALL_STATE - 1)
    except ValueError:  # a policy for one number of arms, which its own parameters name
        return 0
    total = 0
    for large, small in zip(one, two, strict=True):
        sides = (a + (a - b) * (n_arms - SMALL_STATE) for a, b in zip(large.shape, small.shape, strict=True))
        total += math.prod(sides) * large.itemsize
    return total
