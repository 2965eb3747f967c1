"""Worlds with patterns of sleep: arms are awake in turn, sleep in spells, or sleep after a loss.

Losses are 0 or 1, independent, with means from U(0, 1) drawn for each run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wakeful.inputs import must_be, real, whole
from wakeful.numerics.arrays import Mask
from wakeful.numerics.compile import call_compiled
from wakeful.policies.spec import set_frozen
from wakeful.worlds.draws import Sleepers, bernoulli, repeated
from wakeful.worlds.world import Block, World, checked_run


@dataclass(frozen=True)
class Cycling(World):
    """Arms are awake in turn: in round t = 0, 1, ... the arms t, t + 1, ..., t + n_awake - 1, modulo K.

    Parameters:
        n_arms: K
        n_awake: how many are awake in a round

    >>> next(Cycling(3).blocks(np.random.default_rng(0), 3)).awake.astype(int)
    array([[1, 1, 0],
           [0, 1, 1],
           [1, 0, 1]])
    """

    expected_by_set: ClassVar[bool] = True

    n_arms: int = 5
    n_awake: int = 2

    def __post_init__(self) -> None:
        """Check both numbers."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 1", 1))
        set_frozen(self, n_awake=whole("n_awake", self.n_awake, "a whole number from 1", 1))
        if self.n_awake > self.n_arms:
            raise ValueError(must_be("n_awake", f"at most n_arms, {self.n_arms}", self.n_awake))

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the means of the run, then its losses."""
        checked_run(rng, size)
        return self._draw(rng, size)

    def _draw(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        expected = repeated(rng.random(self.n_arms), size)
        start = 0
        while True:
            rounds = np.arange(start, start + size)[:, np.newaxis]
            awake = (np.arange(self.n_arms) - rounds) % self.n_arms < self.n_awake
            yield Block(awake, bernoulli(rng, expected), expected.copy())
            start = (start + size) % self.n_arms


@dataclass(frozen=True)
class MarkovSleep(World):
    """Arms sleep and wake in spells: each is a chain with two states, all given that an arm is awake.

    In each round an awake arm falls asleep with probability `sleep`, a sleeping one wakes with probability `wake`,
    independently; a step that would leave no arm awake is redrawn. The first round is drawn from the stationary
    distribution, `wake / (wake + sleep)` for each arm, again given that an arm is awake.

    Parameters:
        n_arms: K
        sleep: the probability of falling asleep
        wake: the probability of waking up
    """

    expected_by_set: ClassVar[bool] = True

    n_arms: int = 5
    sleep: float = 0.05
    wake: float = 0.05

    def __post_init__(self) -> None:
        """Check all three."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 1", 1))
        set_frozen(self, sleep=real("sleep", self.sleep, "from 0 to below 1", 0.0, np.nextafter(1.0, 0.0)))
        set_frozen(self, wake=real("wake", self.wake, "above 0 and at most 1", 0.0, 1.0, above=True))

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the means of the run, then its spells and losses."""
        checked_run(rng, size)
        return self._draw(rng, size)

    def _draw(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        expected = repeated(rng.random(self.n_arms), size)
        rates = np.full(self.n_arms, self.wake / (self.wake + self.sleep))
        now = Sleepers(rng, rates, 1).awake()[0]
        while True:
            awake = np.empty((size, self.n_arms), np.bool_)
            call_compiled(_walk, rng, now, self.sleep, self.wake, awake)
            yield Block(awake, bernoulli(rng, expected), expected.copy())


@dataclass(frozen=True)
class LossDependentSleep(World):
    """An arm that lost 1 in one of the last `rest` rounds sleeps; if all arms would sleep, all are awake.

    Losses count whether or not the arm was awake or played. They are independent and identically distributed, while
    The awake arms depend on past losses: the setting in which the paper shows that small internal regret implies
    small ordering regret.

    Parameters:
        n_arms: K
        rest: how many rounds an arm sleeps after a loss
    """

    expected_by_set: ClassVar[bool] = True

    n_arms: int = 5
    rest: int = 2

    def __post_init__(self) -> None:
        """Check both numbers."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 1", 1))
        set_frozen(self, rest=whole("rest", self.rest, "a whole number from 1", 1))

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the means of the run, then its losses, from which the sets follow."""
        checked_run(rng, size)
        return self._draw(rng, size)

    def _draw(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        expected = repeated(rng.random(self.n_arms), size)
        recent = np.zeros((self.rest, self.n_arms))
        while True:
            losses = bernoulli(rng, expected)
            known = np.vstack([recent, losses])
            sums = np.cumsum(np.vstack([np.zeros(self.n_arms), known]), axis=0)
            awake: Mask = sums[self.rest : -1] == sums[: -1 - self.rest]  # no loss in the `rest` rounds before
            awake[~awake.any(axis=1)] = True
            yield Block(awake, losses, expected.copy())
            recent = known[size:]


def _walk(rng: np.random.Generator, now: Mask, sleep: float, wake: float, awake: Mask) -> None:
    """Write the chains into the rows of `awake`, the first one from `now`, which is left at the row after the last."""
    n_arms = now.size
    p = np.empty(n_arms)
    for t in range(len(awake)):
        awake[t] = now
        first, nobody = n_arms, 1.0  # the first awake arm, the probability that no arm is awake
        for k in range(n_arms):
            p[k] = 1.0 - sleep if now[k] else wake
            now[k] = rng.random() < p[k]
            first = min(first, k) if now[k] else first
            nobody *= 1.0 - p[k]
        if first == n_arms:  # draw the first awake arm given that there is one, then those after it
            target, reached, before = rng.random() * (1.0 - nobody), 0.0, 1.0
            for k in range(n_arms):
                reached += before * p[k]
                before *= 1.0 - p[k]
                if first < n_arms:
                    now[k] = rng.random() < p[k]
                elif target < reached or k == n_arms - 1:
                    first = k
                    now[k] = True
