"""Worlds whose losses change: the best arm switches, means drift, or an adversary sees the probabilities."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeful.inputs import must_be, real, whole
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.spec import set_frozen
from wakeful.worlds.draws import CHUNK, Sleepers
from wakeful.worlds.world import AdaptiveRun, AdaptiveWorld, Block, World, checked_run


@dataclass(frozen=True)
class SwitchingBest(World):
    """One arm is better than the others, and after each period the best arm changes.

    The best arm loses 1 with probability `(1 - gap) / 2`, every other with `(1 + gap) / 2`. After each `period`
    rounds the best arm is another one at random. Arms are awake independently of each other, always at least one.

    Parameters:
        n_arms: K, at least 2
        period: how many rounds an arm stays best
        gap: by how much it is better
        rate: the probability of being awake
    """

    n_arms: int = 5
    period: int = 1000
    gap: float = 0.5
    rate: float = 0.8

    def __post_init__(self) -> None:
        """Check all four."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 2", 2))
        set_frozen(self, period=whole("period", self.period, "a whole number from 1", 1))
        set_frozen(self, gap=real("gap", self.gap, "between 0 and 1", 0.0, 1.0))
        _set_rate(self, self.rate)

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the best arm of each period and the rounds."""
        checked_run(rng, size)
        return self._draw(rng, size)

    def _draw(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        sleepers = Sleepers(rng, np.full(self.n_arms, self.rate), size)
        best, left = int(rng.integers(self.n_arms)), self.period
        while True:
            periods = (np.arange(size) + self.period - left) // self.period  # counted from the one that is running
            moves = rng.integers(1, self.n_arms, size=int(periods[-1]))
            arms = (best + np.append(0, np.cumsum(moves))) % self.n_arms
            means = np.where(np.arange(self.n_arms) == arms[periods, np.newaxis], 1.0 - self.gap, 1.0 + self.gap) / 2
            yield Block(sleepers.awake(), sleepers.losses(means), means)
            best, left = int(arms[-1]), left + int(periods[-1]) * self.period - size


@dataclass(frozen=True)
class LateBloomer(World):
    """Two arms, always awake: the first always loses 1/2, the second 1 until round `change` and 0 from then on.

    A policy that believes what it has seen stays with the first arm for longer and longer: its external regret
    grows by 1/2 a round from round 2 `change` on, until it tries the second arm again. With a coin, a policy that
    weighs memories of several lengths learns to trust the longest one first.

    Parameters:
        change: how many rounds the second arm loses 1
        coin: whether the first arm loses 0 or 1 with probability 1/2 each, instead of 1/2

    >>> next(LateBloomer(change=2).blocks(np.random.default_rng(0), 3)).losses
    array([[0.5, 1. ],
           [0.5, 1. ],
           [0.5, 0. ]])
    """

    change: int = 2000
    coin: bool = False

    def __post_init__(self) -> None:
        """Check both."""
        set_frozen(self, change=whole("change", self.change, "a whole number from 0", 0))
        if not isinstance(self.coin, bool):
            raise TypeError(must_be("coin", "True or False", self.coin))

    @property
    def n_arms(self) -> int:
        """Two arms."""
        return 2

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Count rounds, and throw the coin."""
        checked_run(rng, size)
        return self._draw(rng, size)

    def _draw(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        start = 0
        while True:
            second = np.where(np.arange(start, start + size) < self.change, 1.0, 0.0)
            means = np.column_stack([np.full(size, 0.5), second])
            losses = means.copy()
            if self.coin:
                losses[:, 0] = rng.random(size) < 0.5
            yield Block(np.ones((size, 2), np.bool_), losses, means)
            start += size


@dataclass(frozen=True)
class Ambush(World):
    """The last arm is awake alone and always loses, for so long that no memory of it is left but a bad one.

    Until round `change` the last arm is awake in half of the rounds, alone, and loses 1; in the other rounds the other
    arms are awake independently of each other, at least one, and lose 0 or 1 with probability 1/2. From round `change`
    on the last arm is awake beside them and loses 0. A policy that believes what it has seen never tries it: its
    external regret grows by 1/2 a round.

    Parameters:
        n_arms: K, at least 2
        change: how many rounds the last arm loses 1
        rate: the probability of the other arms being awake

    >>> block = next(Ambush(n_arms=2, change=4, rate=1.0).blocks(np.random.default_rng(1), 6))
    >>> block.awake.astype(int)
    array([[1, 0],
           [1, 0],
           [0, 1],
           [1, 0],
           [1, 1],
           [1, 1]])
    """

    n_arms: int = 6
    change: int = 2000
    rate: float = 0.8

    def __post_init__(self) -> None:
        """Check all three."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 2", 2))
        set_frozen(self, change=whole("change", self.change, "a whole number from 0", 0))
        _set_rate(self, self.rate)

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the rounds."""
        checked_run(rng, size)
        return self._draw(rng, size)

    def _draw(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        others = Sleepers(rng, np.full(self.n_arms - 1, self.rate), size)
        start = 0
        while True:
            early = np.arange(start, start + size) < self.change
            alone = early & (rng.random(size) < 0.5)
            means = np.full((size, self.n_arms), 0.5)
            means[:, -1] = early
            awake = np.column_stack([others.awake() & ~alone[:, np.newaxis], alone | ~early])
            losses = np.column_stack([others.losses(means[:, :-1]), early])
            yield Block(awake, losses, means)
            start += size


@dataclass(frozen=True)
class Drifting(World):
    """Mean losses walk at random: normal steps, reflected at 0 and 1; they start from U(0, 1).

    Losses are 0 or 1. Arms are awake independently of each other, always at least one.

    Parameters:
        n_arms: K
        step: the standard deviation of a step
        rate: the probability of being awake
    """

    n_arms: int = 5
    step: float = 0.01
    rate: float = 0.8

    def __post_init__(self) -> None:
        """Check all three."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 1", 1))
        set_frozen(self, step=real("step", self.step, "between 0 and 1", 0.0, 1.0))
        _set_rate(self, self.rate)

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the walk and the rounds."""
        checked_run(rng, size)
        return self._draw(rng, size)

    def _draw(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        sleepers = Sleepers(rng, np.full(self.n_arms, self.rate), size)
        now = rng.random(self.n_arms)
        while True:
            steps = self.step * rng.standard_normal((size, self.n_arms))
            walk = (now + np.cumsum(steps, axis=0)) % 2.0
            means = np.minimum(walk, 2.0 - walk)  # a walk on a circle of length 2, folded: reflection at both ends
            now = walk[-1]
            yield Block(sleepers.awake(), sleepers.losses(means), means)


@dataclass(frozen=True)
class Spiteful(AdaptiveWorld):
    """An adversary who sees the learner's probabilities: the likeliest arm (the first if tied) loses 1, others 0.

    Arms are awake independently of each other, always at least one.

    Parameters:
        n_arms: K
        rate: the probability of being awake

    >>> Spiteful(3).start(np.random.default_rng(0)).losses(np.array([0.2, 0.5, 0.3]))
    array([0., 1., 0.])
    """

    n_arms: int = 5
    rate: float = 0.8

    def __post_init__(self) -> None:
        """Check both."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 1", 1))
        _set_rate(self, self.rate)

    def start(self, rng: np.random.Generator) -> AdaptiveRun:
        """Return a run whose awake sets come from `rng`."""
        checked_run(rng)
        return _Spite(Sleepers(rng, np.full(self.n_arms, self.rate), CHUNK))


class _Spite(AdaptiveRun):
    """One run of `Spiteful`."""

    def __init__(self, sleepers: Sleepers) -> None:
        self._rows = _rows(sleepers)

    def awake(self) -> Mask:
        """Return the set of the next round."""
        return next(self._rows)

    def losses(self, probabilities: Floats) -> Floats:
        """Return 1 for the arm with the largest probability, 0 for the others."""
        losses = np.zeros(probabilities.size)
        losses[probabilities.argmax()] = 1.0
        return losses


def _rows(sleepers: Sleepers) -> Iterator[Mask]:
    """Yield the awake arms of one round after another, without end."""
    while True:
        yield from sleepers.awake()


def _set_rate(world: Any, rate: Any) -> None:
    """Keep the probability of being awake as a plain number."""
    set_frozen(world, rate=real("rate", rate, "above 0 and at most 1", 0.0, 1.0, above=True))
