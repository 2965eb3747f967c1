"""Worlds of duels with different preferences: utilities, scores, ratings, given matrices, cycles."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wakeful import atomic
from wakeful.duels.pairs import all_pairs, checked_pairs, checked_preferences, checked_size, distinct_pairs
from wakeful.inputs import must_be, numbers, one_of, real, whole
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.spec import set_frozen
from wakeful.worlds.duel_world import DuelBlock, DuelWorld, checked_rounds, drawn, steady

LOW, HIGH = 1.0, 50.0  # between which utilities are drawn, as in the authors' code


@dataclass(frozen=True)
class UtilityDuels(DuelWorld):
    """Every arm has a utility, `u ~ U(1, 50)` drawn for each run, and i beats j with probability `u_i / (u_i + u_j)`.

    All arms are awake. This is the paper's experiment "non-repeating arms".

    Parameters:
        n_arms: K
        distinct: whether the two arms of a duel must differ
        size: how many arms are chosen in a round; more than two must differ

    >>> next(UtilityDuels(3).blocks(np.random.default_rng(0), 1)).preferences.round(2)
    array([[[0.5 , 0.69, 0.91],
            [0.31, 0.5 , 0.83],
            [0.09, 0.17, 0.5 ]]])
    """

    n_arms: int = 4
    distinct: bool = True
    size: int = 2

    def __post_init__(self) -> None:
        """Check that so many arms can be chosen."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 1", 1))
        _check_pairs(self, self.n_arms)

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw the utilities of the run, then coins."""
        checked_rounds(rng, rounds)
        return steady(rng, rounds, _mask(self.n_arms, self.distinct), by_utility(utilities(rng, self.n_arms)))


@dataclass(frozen=True)
class CategoryDuels(DuelWorld):
    """Preferences that depend on the awake arms: in each round one random arm r sleeps and determines the utilities.

    These are (1, ..., K) moved r places to the right, r = 0, ..., K - 1: the best arm is the one before arm r,
    in a circle. The arms of a duel differ. This is the paper's experiment "categories"; no order of the arms holds in
    every round.

    Parameters:
        n_arms: K, at least 3

    >>> block = next(CategoryDuels(3).blocks(np.random.default_rng(0), 1))
    >>> block.pair_sets[0].astype(int)  # without the first arm
    array([[0, 0, 0],
           [0, 0, 1],
           [0, 1, 0]])
    >>> block.preferences[0, 1, 2]
    np.float64(0.4)
    """

    n_arms: int = 4

    def __post_init__(self) -> None:
        """Check the number of arms."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 3", 3))

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw the arm that sleeps in each round."""
        checked_rounds(rng, rounds)
        awake = distinct_pairs(self.n_arms)  # row r: all but r
        pair_sets = awake[:, :, np.newaxis] & awake[:, np.newaxis] & awake
        rotations = [np.roll(np.arange(1.0, self.n_arms + 1.0), r) for r in range(self.n_arms)]
        preferences = np.array([by_utility(u) for u in rotations])
        return drawn(rng, rounds, lambda: (pair_sets, preferences))


@dataclass(frozen=True)
class PlackettLuce(DuelWorld):
    """Given scores: i beats j with probability `s_i / (s_i + s_j)`.

    Parameters:
        scores: one positive number for each arm
        distinct: whether the two arms of a duel must differ
        size: how many arms are chosen in a round; more than two must differ

    >>> next(PlackettLuce([3, 1]).blocks(np.random.default_rng(0), 1)).preferences
    array([[[0.5 , 0.75],
            [0.25, 0.5 ]]])
    """

    scores: ArrayLike
    distinct: bool = True
    size: int = 2

    def __post_init__(self) -> None:
        """Keep plain numbers."""
        rule = "numbers above 0 and at most 1e300, one for each arm"
        set_frozen(self, scores=_row("scores", self.scores, rule, np.nextafter(0.0, 1.0), 1e300))
        _check_pairs(self, self.n_arms)

    @property
    def n_arms(self) -> int:
        """As many arms as scores."""
        return np.size(self.scores)

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw coins."""
        checked_rounds(rng, rounds)
        return steady(rng, rounds, _mask(self.n_arms, self.distinct), by_utility(np.array(self.scores)))


@dataclass(frozen=True)
class BradleyTerry(DuelWorld):
    """Given ratings: i beats j with probability `1 / (1 + exp((r_j - r_i) / scale))`.

    Parameters:
        ratings: one number for each arm, the log-odds of beating an arm rated 0 where `scale` is 1
        scale: how many points are one unit of log-odds; Elo ratings have `400 / log(10)`, about 173.7
        distinct: whether the two arms of a duel must differ
        size: how many arms are chosen in a round; more than two must differ

    >>> elo = BradleyTerry([1600, 1200], scale=400 / np.log(10))
    >>> next(elo.blocks(np.random.default_rng(0), 1)).preferences.round(4)  # ten to one
    array([[[0.5   , 0.9091],
            [0.0909, 0.5   ]]])
    """

    ratings: ArrayLike
    scale: float = 1.0
    distinct: bool = True
    size: int = 2

    def __post_init__(self) -> None:
        """Keep plain numbers."""
        rule = "numbers between -1e100 and 1e100, one for each arm"
        set_frozen(self, ratings=_row("ratings", self.ratings, rule, -1e100, 1e100))
        set_frozen(self, scale=real("scale", self.scale, "from 1e-100", 1e-100))
        _check_pairs(self, self.n_arms)

    @property
    def n_arms(self) -> int:
        """As many arms as ratings."""
        return np.size(self.ratings)

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw coins."""
        checked_rounds(rng, rounds)
        ratings = np.array(self.ratings)
        odds = (ratings[:, np.newaxis] - ratings) / self.scale
        preferences = (1.0 + np.tanh(odds / 2)) / 2  # the logistic function; no exponential that overflows
        return steady(rng, rounds, _mask(self.n_arms, self.distinct), preferences)


@dataclass(frozen=True)
class Preferences(DuelWorld):
    """Any given preferences and pairs, the same in every round.

    Parameters:
        matrix: (K, K), the probability that the arm of the row beats that of the column, or the path of its file
        pairs: `"distinct"`, `"all"`, or a symmetric (K, K) mask such as `group_pairs` returns
        size: how many arms are chosen in a round; more than two must differ

    >>> Preferences([[0.5, 0.7], [0.3, 0.5]])
    Preferences(matrix=((0.5, 0.7), (0.3..., 0.5)), pairs='distinct', size=2)
    """

    matrix: ArrayLike
    pairs: ArrayLike = "distinct"
    size: int = 2

    def __post_init__(self) -> None:
        """Keep plain numbers and booleans, which compare and print."""
        matrix = checked_preferences(_read(self.matrix) if isinstance(self.matrix, str | Path) else self.matrix)
        pairs = self.pairs
        if not isinstance(pairs, str):
            pairs = tuple(map(tuple, checked_pairs(pairs, len(matrix)).tolist()))
        set_frozen(self, matrix=tuple(map(tuple, matrix.tolist())), pairs=pairs)
        set_frozen(self, size=checked_size(self.size, self._mask()))

    @classmethod
    def from_file(
        cls, path: str | Path, pairs: ArrayLike = "distinct", size: int = 2, counts: bool = False
    ) -> "Preferences":
        """Return the preferences of a text file: one row per line, numbers separated by blanks, tabs or commas.

        Parameters:
            path: of the file
            pairs: as above
            size: as above
            counts: whether the file holds how often the row beat the column, instead of probabilities; two arms
                that never met beat each other with probability 1/2
        """
        matrix = _read(path)
        return cls(_shares(matrix) if counts else matrix, pairs, size)

    @property
    def n_arms(self) -> int:
        """As many arms as rows."""
        return len(np.asarray(self.matrix))

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw coins."""
        checked_rounds(rng, rounds)
        return steady(rng, rounds, self._mask(), np.array(self.matrix))

    def _mask(self) -> Mask:
        """Return which pairs are allowed."""
        if not isinstance(self.pairs, str):
            return np.array(self.pairs)
        return _mask(self.n_arms, one_of("pairs", self.pairs, ("distinct", "all")) == "distinct")


@dataclass(frozen=True)
class CyclicDuels(DuelWorld):
    """Arms in a circle: each beats the nearer half of the others with probability `win`; there is no best one.

    Arm i beats i + 1, ..., i + floor((K - 1) / 2), modulo K; if K is even, P is 1/2 against the arm opposite. Every arm
    is beaten by some arm, so each pair costs `win - 1/2` per round, whatever a policy does. The arms of a duel differ.

    Parameters:
        n_arms: K, at least 3
        win: from 1/2 to 1

    >>> next(CyclicDuels(3, win=0.75).blocks(np.random.default_rng(0), 1)).preferences
    array([[[0.5 , 0.75, 0.25],
            [0.25, 0.5 , 0.75],
            [0.75, 0.25, 0.5 ]]])
    """

    n_arms: int = 3
    win: float = 0.8

    def __post_init__(self) -> None:
        """Check both numbers."""
        set_frozen(self, n_arms=whole("n_arms", self.n_arms, "a whole number from 3", 3))
        set_frozen(self, win=real("win", self.win, "between 1/2 and 1", 0.5, 1.0))

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
        """Draw coins."""
        checked_rounds(rng, rounds)
        ahead = (np.arange(self.n_arms) - np.arange(self.n_arms)[:, np.newaxis]) % self.n_arms
        side = np.where(ahead == 0, 0, np.sign(self.n_arms - 2 * ahead))
        return steady(rng, rounds, distinct_pairs(self.n_arms), 0.5 + (self.win - 0.5) * side)


def utilities(rng: np.random.Generator, n_arms: int) -> Floats:
    """Draw the utilities of a run."""
    return rng.uniform(LOW, HIGH, n_arms)


def by_utility(values: Floats) -> Floats:
    """Return the preferences `u_i / (u_i + u_j)`."""
    preferences: Floats = values[:, np.newaxis] / (values[:, np.newaxis] + values)
    return preferences


def _mask(n_arms: int, distinct: bool) -> Mask:
    """Return all pairs, or those of two different arms."""
    return distinct_pairs(n_arms) if distinct else all_pairs(n_arms)


def _check_pairs(world: Any, n_arms: int) -> None:
    """Check whether arms must differ, and that so many can be chosen."""
    if not isinstance(world.distinct, bool):
        raise TypeError(must_be("distinct", "True or False", world.distinct))
    set_frozen(world, size=checked_size(world.size, _mask(n_arms, world.distinct)))


def _row(name: str, values: Any, rule: str, low: float, high: float) -> tuple[float, ...]:
    """Return a row of numbers from `low` to `high`."""
    row = numbers(name, values, rule)
    if row.ndim != 1 or row.size == 0 or not ((row >= low) & (row <= high)).all():
        raise ValueError(must_be(name, rule, values))
    return tuple(row.tolist())


def _read(path: str | Path) -> list[list[float]]:
    """Return the rows of numbers of a text file; empty lines do not count."""
    rows = []
    with atomic.open_regular(path) as file:
        text = file.read().decode("utf-8-sig")
    for n, line in enumerate(text.splitlines(), start=1):
        try:
            words = line.split(",") if "," in line else line.split()
            rows.append([float(word) for word in words])
        except ValueError:
            raise ValueError(must_be(f"line {n} of {path}", "numbers", line)) from None
    return [row for row in rows if row]


def _shares(wins: Any) -> Floats:
    """Return `wins / (wins + losses)`, 1/2 where there are neither."""
    rule = "a (K, K) array of numbers of wins, from 0"
    counts = numbers("counts", wins, rule)
    if counts.ndim != 2 or counts.shape != counts.T.shape or not ((counts >= 0.0) & np.isfinite(counts)).all():
        raise ValueError(must_be("counts", rule, wins))
    met = counts + counts.T
    shares: Floats = np.divide(counts, met, out=np.full(counts.shape, 0.5), where=met > 0.0)
    return shares
