"""Dueling policies with one fault each, for `check_dueling_policy` to find; in a module, for its other process.

All build on `Even` or `GreedyDuels`, which pass.
"""

import random
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import njit

import wakeful as wk
from own_duel_policy import GreedyDuels, Wins
from own_policy import EpsilonGreedy


class Counts(NamedTuple):
    counts: Any


class Even(wk.DuelingPolicy):
    """Everybody alike; no dataclass yet."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return Counts(np.zeros(n_arms))

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        p[awake] = 1.0 / awake.size

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        state.counts[pick.arms] += 1.0


@dataclass(frozen=True)
class Sound(Even):
    """Nothing wrong with it."""


@dataclass(frozen=True)
class Gambling(Even):
    """Counts at a decision what its coin says, which nobody who counts it later can know."""

    def remember(self, state: Any, awake: Any, chosen: Any, p: Any, arm: int, coin: float) -> float:
        state.counts[0] += coin > 0.75
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


@dataclass(frozen=True)
class Unhashed(Even):
    """Two that are equal have two hashes."""

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True)
class Nested(Even):
    """JSON knows no tuples inside of tuples."""

    pairs: tuple[tuple[int, int], ...] = ((0, 1),)


def local_policy() -> wk.DuelingPolicy:
    """Return a policy whose class has no name in its module."""

    @dataclass(frozen=True)
    class Local(Even):
        pass

    return Local()


# State


@dataclass(frozen=True)
class Unnamed(Even):
    """A tuple without names."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return (np.zeros(n_arms),)


@dataclass(frozen=True)
class Listed(Even):
    """A list in place of a named tuple."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return [np.zeros(n_arms)]


@dataclass(frozen=True)
class Numbered(Even):
    """A number in place of an array."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return Counts(0.0)


@dataclass(frozen=True)
class Pointed(Even):
    """An array without a dimension."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return Counts(np.array(0.0))


@dataclass(frozen=True)
class Worded(Even):
    """An array of anything."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return Counts(np.zeros(n_arms, object))


@dataclass(frozen=True)
class Shared(Even):
    """All its bandits count in one array."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return Counts(_shared(n_arms))


@cache
def _shared(n_arms: int) -> Any:
    return np.zeros(n_arms)


@dataclass(frozen=True)
class Cramped(Even):
    """Says three arms at a time where nothing is said."""

    def start(self, n_arms: int, size: int = 3) -> Any:
        return Counts(np.zeros((size, n_arms)))

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        state.counts[0, pick.arms] += 1.0


@dataclass(frozen=True)
class Logging(Even):
    """Writes down all it ever played, in an array that doubles when it is full."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return Counts(np.zeros(256))

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        state.counts[0] += 1.0
        if state.counts[0] == state.counts.size:
            state.counts.resize(2 * state.counts.size, refcheck=False)


@dataclass(frozen=True)
class Endless(Even):
    """Counts without end."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return Counts(np.full(n_arms, np.inf))


# Probabilities


@dataclass(frozen=True)
class Everybody(Even):
    """The second arm is any that is awake, whether it may meet the first or not."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        here = np.flatnonzero(pairs.any(axis=1))
        p[awake] = 1.0 / awake.size
        p[here] += 1e-12 * (chosen.size > 0)


@dataclass(frozen=True)
class Negative(Even):
    """Takes from one arm what it never had."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        p[awake[-1]] = 2.0
        p[awake[0]] -= 1.0


@dataclass(frozen=True)
class Undefined(Even):
    """Not a number where arms may meet themselves."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        p[awake] = np.nan if pairs.diagonal().all() else 1.0 / awake.size


@dataclass(frozen=True)
class Excessive(Even):
    """A millionth too much, with many arms."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        p[awake] = (1.0 + 1e-6 * (p.size > 6)) / awake.size


@dataclass(frozen=True)
class Impure(Even):
    """Counts the questions."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        state.counts[0] += 1.0
        super().law(state, pairs, awake, chosen, coin, p)


@dataclass(frozen=True)
class Meddling(Even):
    """Lets everybody meet himself, once it was asked."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        super().law(state, pairs, awake, chosen, coin, p)
        if chosen.size:
            np.fill_diagonal(pairs, True)


@dataclass(frozen=True)
class Moody(Even):
    """Answers with other probabilities once in so many questions."""

    every: int = 4

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        asked = vars(self).get("asked", 0) + 1
        object.__setattr__(self, "asked", asked)
        p[awake] = 1.0 / awake.size if asked % self.every else (awake + 1.0) / (awake + 1.0).sum()


@dataclass(frozen=True)
class Unmemorable(Even):
    """A memo that is none."""

    def remember(self, state: Any, awake: Any, chosen: Any, p: Any, arm: int, coin: float) -> float:
        return -1.0


@dataclass(frozen=True)
class Scribbling(Even):
    """Leaves something in what it learns from: an array of the pick, or the shares."""

    field: str = "laws"

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        array = shares if self.field == "shares" else getattr(pick, self.field)
        array[...] = array[..., ::-1].copy() + 1


# Battles


@dataclass(frozen=True)
class Paired(Even):
    """Knows no third arm."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        if chosen.size < 2:
            super().law(state, pairs, awake, chosen, coin, p)


class Seats(NamedTuple):
    seats: Any


@dataclass(frozen=True)
class Roomy(Even):
    """Duels otherwise where there is room for more."""

    symmetric: ClassVar[bool] = False

    def start(self, n_arms: int, size: int = 2) -> Any:
        return Seats(np.zeros((size, n_arms)))

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        weights = awake + 1.0 if len(state.seats) > 2 else np.ones(awake.size)
        p[awake] = weights / weights.sum()

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        state.seats[0, pick.arms] += 1.0


# Chance, and what is not in the state


class RandomStart(GreedyDuels):
    """Begins with wins from a stream that is nobody's."""

    symmetric: ClassVar[bool] = False

    def start(self, n_arms: int, size: int = 2) -> Wins:
        return Wins(np.array([[random.random() for _ in range(n_arms)] for _ in range(n_arms)]))

    def grow(self, state: Any, n_arms: int, size: int = 2) -> Any:
        return state if len(state.wins) == n_arms else self.start(n_arms, size)


@dataclass(frozen=True)
class Hoarding(Even):
    """Keeps the pick that it learned from, and prefers the last arm while something is in there."""

    symmetric: ClassVar[bool] = False

    def start(self, n_arms: int, size: int = 2) -> Any:
        object.__setattr__(self, "kept", np.zeros(1))
        return super().start(n_arms, size)

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        p[awake[-1] if vars(self)["kept"].any() else awake[0]] = 1.0

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        object.__setattr__(self, "kept", pick.laws)


class Secretive(GreedyDuels):
    """Keeps what it learned in itself, where no file finds it."""

    def start(self, n_arms: int, size: int = 2) -> Wins:
        object.__setattr__(self, "secret", super().start(n_arms))
        return super().start(n_arms)

    def law(self, state: Wins, *rest: Any) -> None:
        super().law(vars(self)["secret"], *rest)

    def learn(self, state: Wins, *rest: Any) -> None:
        super().learn(vars(self)["secret"], *rest)


# Feedback


class LastWord(GreedyDuels):
    """A moving average: what comes last counts most."""

    def learn(self, state: Wins, pick: wk.Pick, shares: Any) -> None:
        state.wins[...] *= 0.9
        super().learn(state, pick, shares)


class Partial(GreedyDuels):
    """Of two arms that are equally good, it likes the first."""

    def law(self, state: Wins, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        super().law(state, pairs, awake, chosen, coin, p)
        best = awake[int(np.argmax(p[awake]))]
        p[awake] = self.epsilon / awake.size
        p[best] += 1 - self.epsilon


class Decisive(GreedyDuels):
    """Knows no ties."""

    def learn(self, state: Wins, pick: wk.Pick, shares: Any) -> None:
        super().learn(state, pick, shares == [1.0, *[0.0] * len(shares)][: len(shares)])
        if 1.0 not in shares:
            raise ValueError("somebody must win")


class Backward(GreedyDuels):
    """Takes the loser for the winner."""

    def learn(self, state: Wins, pick: wk.Pick, shares: Any) -> None:
        super().learn(state, pick, shares[::-1])


class Mirrored(wk.Sparring):
    """The right side takes a win for a loss."""

    @property
    def kernels(self) -> None:
        return None

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        super().learn(state, pick, np.array([shares[0], *(1.0 - shares[1:])]))


class Condescending(GreedyDuels):
    """The best arm, against the rival that it beats most."""

    def law(self, state: Wins, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        super().law(Wins(state.wins.T) if chosen.size else state, pairs, awake, chosen, coin, p)


def mirrored() -> wk.DuelingPolicy:
    """Return one whose sides are in plain Python."""
    return Mirrored(EpsilonGreedy())


# Growth


class Forgetful(GreedyDuels):
    """Starts anew for every new arm."""

    def grow(self, state: Wins, n_arms: int, size: int = 2) -> Wins:
        return self.start(n_arms, size) if n_arms > len(state.wins) else state


class Unsettled(GreedyDuels):
    """Starts anew where there is room for more."""

    def grow(self, state: Any, n_arms: int, size: int = 2) -> Any:
        return self.start(n_arms, size) if size > 2 else super().grow(state, n_arms, size)


class Stunted(GreedyDuels):
    """Does not grow."""

    def grow(self, state: Any, n_arms: int, size: int = 2) -> Any:
        return state


class Draining(GreedyDuels):
    """Takes from the old state what it gives to the new."""

    def grow(self, state: Any, n_arms: int, size: int = 2) -> Any:
        grown = super().grow(state, n_arms, size)
        if size > 2:
            state.wins[...] += 1.0
            grown.wins[...] += 1.0
        return grown


# Streaks


@dataclass(frozen=True)
class Doubling(Even):
    """A weight that doubles with every win, without end; where some are infinite, it plays everybody alike."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return Counts(np.ones(n_arms))

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        weights = (
            state.counts[awake] / state.counts[awake].max() if np.isfinite(state.counts).all() else awake * 0 + 1.0
        )
        p[awake] = 0.5 / awake.size + 0.5 * weights / weights.sum()

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        with np.errstate(over="ignore"):
            for m, arm in enumerate(pick.arms):
                state.counts[arm] *= 2.0 ** shares[m]

    def grow(self, state: Any, n_arms: int, size: int = 2) -> Any:
        return Counts(np.append(state.counts, np.ones(n_arms - state.counts.size)))


@dataclass(frozen=True)
class Unguarded(GreedyDuels):
    """Weights that no number holds once an arm has won often."""

    def law(self, state: Wins, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            weights = np.exp(state.wins[awake].sum(axis=1))
            p[awake] = weights / weights.sum()


# Kernels

SOUND, OVERFLOWS, LEAVES, IMPURE, MISSPOKEN, MISTAUGHT, MISREMEMBERED = range(7)


@njit(cache=True)
def faulty_law(parameters: Any, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
    """Play the arms that were played less, but for the fault."""
    total = 0.0
    for k in awake:
        total += 1.0 / (1.0 + state.counts[k])
    for k in awake:
        p[k] = 1.0 / (1.0 + state.counts[k]) / total
    if parameters.fault == IMPURE:
        state.counts[0] += 1.0
    if parameters.fault == OVERFLOWS:
        key = 1
        for _ in range(50):
            key = key * 31 + 7  # soon beyond 64 bits, where only compiled code starts again from below
        if key % 3 == 0:
            for k in awake:
                p[k] = 1.0 if k == awake[0] else 0.0


@njit(cache=True)
def faulty_learn(parameters: Any, state: Any, pick: Any, shares: Any) -> None:
    """Count; one fault is to read beyond the end."""
    for arm in pick.arms:
        state.counts[arm] += 1.0
    if parameters.fault == LEAVES and state.counts[state.counts.size] < 0.0:
        state.counts[0] += 0.0


@njit(cache=True)
def faulty_remember(parameters: Any, state: Any, awake: Any, chosen: Any, p: Any, arm: int, coin: float) -> float:
    """Count nothing, which nobody knows who does not read it."""
    return 0.0


@dataclass(frozen=True)
class Faulty(wk.DuelingPolicy):
    """A fault inside of a kernel."""

    fault: int = SOUND

    kernels = wk.DuelKernels(faulty_law, faulty_learn, faulty_remember)

    def start(self, n_arms: int, size: int = 2) -> Counts:
        return Counts(np.zeros(n_arms))


class Contradictory(Faulty):
    """Kernels and plain methods, one of which means something else."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        weights = 1.0 / (1.0 + state.counts[awake])
        p[awake] = (weights[::-1] if self.fault == MISSPOKEN else weights) / weights.sum()

    def remember(self, state: Any, awake: Any, chosen: Any, p: Any, arm: int, coin: float) -> float:
        return 1.0 if self.fault == MISREMEMBERED else 0.0

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        for arm in pick.arms:
            state.counts[arm] += 2.0 if self.fault == MISTAUGHT else 1.0
