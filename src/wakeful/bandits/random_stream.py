"""The random stream of a bandit: uniform numbers drawn in blocks, saved and restored between any two."""

from collections.abc import Iterator
from operator import length_hint
from typing import Any, Literal

import numpy as np

from wakeful.inputs import whole

SAVED: Literal["saved"] = "saved"  # as a seed: go on with the random numbers of the file
Seed = int | np.random.SeedSequence | Literal["saved"] | None

DRAWN_AT_ONCE = 256  # one call for many numbers: a fifth of the time of a call for each


class Stream:
    """The numbers that `numpy.random.default_rng(seed).random()` would give one by one."""

    _left: Iterator[float]

    def __init__(self, seed: Seed) -> None:
        self._bits = np.random.PCG64(checked_seed(seed))
        self._generator = np.random.Generator(self._bits)
        self._refill()

    def draw(self) -> float:
        """Return the next number, uniform on [0, 1)."""
        for u in self._left:
            return u
        self._refill()
        return next(self._left)

    def put_back(self, *uniforms: float) -> None:
        """Put numbers just drawn back, in the same order, because no decision was made with them."""
        self._left = iter([*uniforms, *self._left])

    def branch(self, number: int) -> "Stream":
        """Return another stream, which depends on this one's position and on `number` alone."""
        now = self.state["state"]
        return Stream(np.random.SeedSequence([now["state"], now["inc"], number]))

    @property
    def state(self) -> Any:
        """The position of the stream as plain numbers, independent of the size of a block."""
        bits = np.random.PCG64()
        bits.state = self._origin
        return bits.advance(DRAWN_AT_ONCE - length_hint(self._left)).state

    @state.setter
    def state(self, state: Any) -> None:
        self._bits.state = state
        self._refill()

    def _refill(self) -> None:
        self._origin = self._bits.state
        block: list[float] = self._generator.random(DRAWN_AT_ONCE).tolist()
        self._left = iter(block)


def checked_seed(seed: Any) -> Any:
    """Return a seed of an accepted type."""
    if seed is None or isinstance(seed, np.random.SeedSequence):
        return seed
    return whole("seed", seed, "a whole number from 0, a SeedSequence, or None", 0)
