"""Random draws that worlds share: awake sets that are not empty, families of sets, and losses."""

import math

import numpy as np

from wakeful.numerics.arrays import Floats, Mask

CHUNK = 256  # rounds whose awake sets an adaptive world draws at once


class Sleepers:
    """Arms that are awake independently with given probabilities, conditioned on at least one arm being awake.

    One uniform number u per arm decides both: the arm is awake if `u < rate`; then `u / rate` is uniform, so the arm
    loses 1 if `u < rate * m`, which has probability m.
    """

    def __init__(self, rng: np.random.Generator, rates: Floats, size: int) -> None:
        self._rng, self._rates = rng, rates
        self._u = np.empty((size, rates.size))  # written again and again: fresh memory costs more than the numbers
        self._ones = np.ones(rates.size, np.bool_)

    def awake(self) -> Mask:
        """Draw which arms are awake in the next rounds."""
        awake: Mask = self._rng.random(out=self._u) < self._rates
        empty = np.flatnonzero(~(awake @ self._ones))  # the product is `any`, but faster
        if empty.size:
            self._u[empty] = _given_one_awake(self._rng, self._rates, empty.size)
            awake[empty] = self._u[empty] < self._rates
        return awake

    def losses(self, means: Floats) -> Floats:
        """Return losses of 0 and 1 in the rounds drawn last; 0 for arms that are asleep."""
        return (self._u < self._rates * means).astype(np.float64)


def _given_one_awake(rng: np.random.Generator, rates: Floats, size: int) -> Floats:
    """Return uniforms conditioned on at least one arm being awake: draw the first awake arm, then those after it."""
    chances = np.cumsum(rates * np.append(1.0, np.cumprod(1.0 - rates)[:-1]))
    first = np.searchsorted(chances, rng.random(size) * chances[-1], side="right")
    first = np.minimum(first, rates.size - 1)[:, np.newaxis]
    u = rng.random((size, rates.size))
    own = np.minimum(np.take_along_axis(u, first, 1) * rates[first], np.nextafter(rates[first], 0.0))
    np.put_along_axis(u, first, own, 1)
    u[np.arange(rates.size) < first] = 1.0
    return u


def awake_sets(rng: np.random.Generator, n_sets: int, n_arms: int, smallest: int) -> Mask:
    """Return (n_sets, K) sets, each uniform among those of at least `smallest` arms.

    This is the distribution of including each arm with probability 1/2 and redrawing sets that are too small.
    """
    sizes = np.arange(smallest, n_arms + 1)
    chances = np.array([math.comb(n_arms, size) / 2**n_arms for size in sizes.tolist()])
    chosen = rng.choice(sizes, n_sets, p=chances / chances.sum())
    order = rng.permuted(np.tile(np.arange(n_arms), (n_sets, 1)), axis=1)
    sets: Mask = order < chosen[:, np.newaxis]
    return sets


def bernoulli(rng: np.random.Generator, means: Floats) -> Floats:
    """Return losses of 0 and 1 with these means, in an array of their shape."""
    return (rng.random(means.shape) < means).astype(np.float64)


def repeated(row: Floats, size: int) -> Floats:
    """Return `size` copies of `row`."""
    return np.tile(row, (size, 1))
