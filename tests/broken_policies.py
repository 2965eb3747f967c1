"""Policies with one fault each, for `check_policy` to find; in a module, because its other process imports them.

Those that could be sound but for their fault build on `EpsilonGreedy`, `Even`, `Faulty` or `Boastful`, which pass.
"""

import math
import random
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import njit

import wakeful as wk
from own_policy import EpsilonGreedy, Means
from wakeful.policies.policy import Guarantee
from wakeful.policies.spec import Nothing


class Counts(NamedTuple):
    counts: Any


class Even(wk.Policy):
    """Everybody alike; no dataclass yet."""

    def start(self, n_arms: int) -> Any:
        return Counts(np.zeros(n_arms))

    def probabilities(self, state: Any, awake: Any) -> Any:
        return awake / awake.sum()

    def update(self, state: Any, decision: wk.Decision, loss: float) -> None:
        state.counts[decision.arm] += 1


@dataclass(frozen=True)
class Sound(Even):
    """Nothing wrong with it."""


@dataclass(frozen=True)
class Gambling(Even):
    """Counts at a decision what its coin says, which nobody who counts it later can know."""

    def remember(self, state: Any, decision: Any, coin: float) -> float:
        state.counts[0] += int(coin > 0.75)
        return 0.0


# Parameters


@dataclass(unsafe_hash=True)
class Thawed(Even):
    """Its parameters can be changed."""

    share: float = 0.5


@dataclass(frozen=True, repr=False)
class Misprinted(Even):
    """Does not print its parameter."""

    share: float = 0.5

    def __repr__(self) -> str:
        return "Misprinted()"


@dataclass(frozen=True, repr=False)
class Unprinted(Even):
    """Prints as no code at all."""

    def __repr__(self) -> str:
        return "<a policy>"


@dataclass(frozen=True)
class Unhashed(Even):
    """Two that are equal have two hashes."""

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True)
class Nested(Even):
    """JSON knows no tuples inside of tuples."""

    pairs: tuple[tuple[int, int], ...] = ((0, 1),)


def local_policy() -> wk.Policy:
    """Return a policy whose class has no name in its module."""

    @dataclass(frozen=True)
    class Local(Even):
        pass

    return Local()


# State


@dataclass(frozen=True)
class Listed(Even):
    """A list in place of a named tuple."""

    def start(self, n_arms: int) -> Any:
        return [np.zeros(n_arms)]


class Shelf(list[Any]):
    _fields = ("counts",)


@dataclass(frozen=True)
class Labelled(Even):
    """A list with names, still no tuple."""

    def start(self, n_arms: int) -> Any:
        return Shelf([np.zeros(n_arms)])


@dataclass(frozen=True)
class Unnamed(Even):
    """A tuple without names."""

    def start(self, n_arms: int) -> Any:
        return (np.zeros(n_arms),)


@dataclass(frozen=True)
class Numbered(Even):
    """A number in place of an array."""

    def start(self, n_arms: int) -> Any:
        return Counts(0.0)


@dataclass(frozen=True)
class Pointed(Even):
    """An array without a dimension."""

    def start(self, n_arms: int) -> Any:
        return Counts(np.array(0.0))


@dataclass(frozen=True)
class Shared(Even):
    """All its bandits count in one array."""

    def start(self, n_arms: int) -> Any:
        return Counts(_shared(n_arms))


@cache
def _shared(n_arms: int) -> Any:
    return np.zeros(n_arms)


class Log(NamedTuple):
    length: Any
    arms: Any


@dataclass(frozen=True)
class Logging(Even):
    """Writes down all it ever played, in an array that doubles when it is full."""

    def start(self, n_arms: int) -> Any:
        return Log(np.zeros(1, np.int64), np.zeros(256, np.int64))

    def update(self, state: Any, decision: wk.Decision, loss: float) -> None:
        if state.length[0] == state.arms.size:
            state.arms.resize(2 * state.arms.size, refcheck=False)
        state.arms[state.length[0]] = decision.arm
        state.length[0] += 1

    def grow(self, state: Any, n_arms: int) -> Any:
        return state


# Probabilities


class Impure(EpsilonGreedy):
    """Counts the questions."""

    def start(self, n_arms: int) -> Any:
        return Asked(np.zeros(n_arms), np.zeros(n_arms), np.zeros(1))

    def probabilities(self, state: Any, awake: Any) -> Any:
        state.questions[0] += 1
        return super().probabilities(state, awake)


class Asked(NamedTuple):
    counts: Any
    losses: Any
    questions: Any


@dataclass(frozen=True)
class Moody(EpsilonGreedy):
    """Answers with other probabilities once in so many questions."""

    every: int = 2

    def probabilities(self, state: Any, awake: Any) -> Any:
        asked = vars(self).get("asked", 0) + 1
        object.__setattr__(self, "asked", asked)
        if asked % self.every:
            return super().probabilities(state, awake)
        p = awake * np.arange(1.0, awake.size + 1)
        return p / p.sum()


# Randomness, and what is not in the state


class RandomStart(EpsilonGreedy):
    """Begins with losses from a stream that is not the bandit's."""

    symmetric: ClassVar[bool] = False
    order_free: ClassVar[bool] = False

    def start(self, n_arms: int) -> Means:
        return Means(np.ones(n_arms), np.array([random.random() for _ in range(n_arms)]))


class Secretive(EpsilonGreedy):
    """Keeps what it learned in itself, where no file finds it."""

    symmetric: ClassVar[bool] = False

    def start(self, n_arms: int) -> Means:
        object.__setattr__(self, "secret", super().start(n_arms))
        return super().start(n_arms)

    def probabilities(self, state: Means, awake: Any) -> Any:
        return super().probabilities(vars(self)["secret"], awake)

    def update(self, state: Means, decision: wk.Decision, loss: float) -> None:
        super().update(vars(self)["secret"], decision, loss)


# Feedback


class LastWord(EpsilonGreedy):
    """A moving average: what comes last counts most."""

    def update(self, state: Means, decision: wk.Decision, loss: float) -> None:
        state.counts[decision.arm] = 1
        state.losses[decision.arm] += 0.1 * (loss - state.losses[decision.arm])


class Overstated(EpsilonGreedy):
    """Says that a loss may be weighted, and counts every loss as one."""

    from_others: ClassVar[str | None] = "weights"


class Misnamed(EpsilonGreedy):
    """Says something that nobody understands."""

    from_others: ClassVar[str | None] = "count"


class Elapsed(NamedTuple):
    counts: Any
    losses: Any
    last: Any


class Punctual(EpsilonGreedy):
    """Does not expect an older decision after a newer one."""

    order_free: ClassVar[bool] = False

    def start(self, n_arms: int) -> Any:
        return Elapsed(np.zeros(n_arms), np.zeros(n_arms), np.zeros(1))

    def probabilities(self, state: Any, awake: Any) -> Any:
        p = super().probabilities(state, awake)
        return p if state.last[0] >= 0 else -p

    def update(self, state: Any, decision: wk.Decision, loss: float) -> None:
        state.last[0] = decision.clock if decision.clock > state.last[0] else -math.inf


class Weights(NamedTuple):
    weights: Any


@dataclass(frozen=True)
class Doubling(wk.Policy):
    """A weight that grows with every loss, without end; where all are infinite, it plays everybody alike."""

    def start(self, n_arms: int) -> Weights:
        return Weights(np.ones(n_arms))

    def probabilities(self, state: Weights, awake: Any) -> Any:
        chance = awake / state.weights
        return chance / chance.sum() if chance.sum() > 0 else awake / awake.sum()

    def update(self, state: Weights, decision: wk.Decision, loss: float) -> None:
        with np.errstate(over="ignore"):
            state.weights[decision.arm] *= 1.0 + loss


@dataclass(frozen=True)
class Unguarded(Doubling):
    """The same, and where all are infinite, its probabilities are invalid."""

    def probabilities(self, state: Weights, awake: Any) -> Any:
        chance = awake / state.weights
        with np.errstate(invalid="ignore"):
            return chance / chance.sum()


# Arms


class Hesitant(EpsilonGreedy):
    """Probabilities that sum to a little less than one, by less than the tolerance."""

    def probabilities(self, state: Means, awake: Any) -> Any:
        return super().probabilities(state, awake) * (1.0 - 1e-10)


class Unwelcoming(EpsilonGreedy):
    """Has no probability for an arm that comes later."""

    def probabilities(self, state: Means, awake: Any) -> Any:
        return super().probabilities(state, awake) * np.where(state.counts < 0, -1.0, 1.0)

    def grow(self, state: Means, n_arms: int) -> Means:
        grown: Means = super().grow(state, n_arms)
        grown.counts[-1] = -1
        return grown


class Partial(EpsilonGreedy):
    """Of two arms that are equally good, it likes the first."""

    def probabilities(self, state: Means, awake: Any) -> Any:
        means = np.where(awake, state.losses / np.maximum(state.counts, 1), np.inf)
        p = self.epsilon * awake / awake.sum()
        p[np.argmin(means)] += 1 - self.epsilon
        return p


# Kernels

SOUND, ON_SLEEPERS, NEGATIVE, TOO_MUCH, SCRIBBLES, OVERFLOWS, MISSPOKEN, MISTAUGHT = range(8)


@njit(cache=True)
def faulty_law(parameters: Any, state: Any, awake: Any, p: Any) -> None:
    """Play the arms that were played less, but for the fault."""
    total = 0.0
    for k in awake:
        total += 1.0 / (1.0 + state.counts[k])
    for k in awake:
        p[k] += 1.0 / (1.0 + state.counts[k]) / total
    first, last = awake[0], awake[-1]
    if parameters.fault == ON_SLEEPERS:
        for k in range(p.size):
            p[k] = 1.0 / p.size
    elif parameters.fault == NEGATIVE and first != last:
        p[last] += 2.0 * p[first]
        p[first] *= -1.0
    elif parameters.fault == TOO_MUCH:
        p[first] += 1e-6
    elif parameters.fault == OVERFLOWS:
        key = 1
        for _ in range(50):
            key = key * 31 + 7  # soon beyond 64 bits, where only compiled code starts again from below
        if key % 3 == 0:
            for k in awake:
                p[k] = 1.0 if k == first else 0.0


@njit(cache=True)
def faulty_learn(parameters: Any, state: Any, awake: Any, p: Any, arm: int, memo: float, loss: float) -> None:
    """Count; one fault is to leave something in `p`."""
    state.counts[arm] += 1.0
    if parameters.fault == SCRIBBLES:
        for k in range(p.size):
            p[k] = 1.0


@dataclass(frozen=True)
class Faulty(wk.Policy):
    """A fault inside of a kernel."""

    fault: int = SOUND

    symmetric: ClassVar[bool] = False  # some faults prefer an end of the list
    kernels = wk.Kernels(faulty_law, faulty_learn)

    def start(self, n_arms: int) -> Counts:
        return Counts(np.zeros(n_arms))


class Contradictory(Faulty):
    """Kernels and plain methods, one of which means something else."""

    def probabilities(self, state: Any, awake: Any) -> Any:
        p = awake / (1.0 + state.counts)
        if self.fault == MISSPOKEN:
            p[awake] = p[awake][::-1]
        return p / p.sum()

    def update(self, state: Any, decision: wk.Decision, loss: float) -> None:
        state.counts[decision.arm] += 2.0 if self.fault == MISTAUGHT else 1.0


# Promises


@dataclass(frozen=True)
class Boastful(wk.Policy):
    """Plays everybody alike, and promises what one likes."""

    regret: str
    losses: str
    bound: float

    kernels = wk.Uniform().kernels

    def start(self, n_arms: int) -> Any:
        return wk.Uniform().start(n_arms)

    def parameters(self, n_arms: int) -> Nothing:
        return Nothing()

    def guarantee(self, rounds: int, n_arms: int, awake_total: int) -> Guarantee | None:
        return Guarantee(self.regret, self.losses, self.bound)


class Fleeting(Boastful):
    """Promises something only where nobody sleeps."""

    def guarantee(self, rounds: int, n_arms: int, awake_total: int) -> Guarantee | None:
        return super().guarantee(rounds, n_arms, awake_total) if awake_total == rounds * n_arms else None
