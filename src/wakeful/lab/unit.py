"""`Unit`: one policy in one world over a range of runs, and the function that does the work of a unit.

A run draws its world from one stream and its choices from another, the same for every policy. A world is drawn in
blocks whose size depends on the number of arms alone, so a run is the same wherever it is done.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from wakeful.duels.policy import step
from wakeful.inputs import must_be
from wakeful.lab.bandit_unit import bandit_rounds
from wakeful.lab.duel_unit import DuelTally, duel_regrets
from wakeful.numerics.arrays import Floats
from wakeful.numerics.fingerprint import fingerprint, say_once
from wakeful.numerics.sources import NotIdentifiedError
from wakeful.policies.play import runner
from wakeful.regret.tally import Tally
from wakeful.worlds import AdaptiveWorld
from wakeful.worlds.duel_world import AdaptiveDuelWorld, DuelWorld

CELLS = 1 << 16  # rounds times arms in a block: small enough for the cache of a core
MOST_ENTRIES = 1 << 22  # numbers that a run keeps for distinct awake sets, 32 MiB: all sets of up to 17 arms

Outcome = dict[str, Floats]  # what a unit found: its curves, and its sum of internal regrets


@dataclass(frozen=True)
class Unit:
    """One policy in one world over the runs `first`, ..., `last - 1`."""

    policy: Any
    world: Any
    rounds: int
    seed: int
    first: int
    last: int
    regrets: tuple[str, ...]
    checkpoints: tuple[int, ...]
    pseudo: bool = True

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of its curves: runs, regrets, checkpoints."""
        return self.last - self.first, len(self.regrets), len(self.checkpoints)

    @property
    def duels(self) -> bool:
        """Whether it is about duels."""
        return isinstance(self.world, DuelWorld | AdaptiveDuelWorld)

    @property
    def steps(self) -> bool:
        """Whether its rounds are played one at a time, in Python."""
        return self.policy.kernels is None or isinstance(self.world, AdaptiveWorld | AdaptiveDuelWorld)

    @property
    def cost(self) -> int:
        """Its rounds over all its runs."""
        return self.rounds * (self.last - self.first)

    @cached_property
    def key(self) -> str | None:
        """A name that two units share only if they do the same work with the same code; None if that is unknown."""
        try:
            return fingerprint(run_unit, np, *(getattr(self, field.name) for field in fields(self)))[:32]
        except NotIdentifiedError as problem:
            say_once(f"results of {self.policy!r} in {self.world!r} are not stored", problem)
            return None


def run_unit(unit: Unit, stop: threading.Event | None = None) -> Outcome:
    """Return the curves (runs, regrets, checkpoints) of a unit and the sum over its runs of the internal regrets.

    Once `stop` is set, it stops after the current block, or within a few rounds in plain Python.
    """

    def look() -> None:
        if stop is not None and stop.is_set():
            raise InterruptedError("the simulation was interrupted")

    n_arms = unit.world.n_arms
    curves = np.empty(unit.shape)
    internal = np.zeros((n_arms, n_arms) if "internal" in unit.regrets else (0, 0))
    for n, run in enumerate(range(unit.first, unit.last)):
        tally = _tally(unit)
        mark = 0
        done = 0
        for piece in _pieces(unit, run, look):
            tally.add(*piece)
            done += piece[-1].size
            if done == unit.checkpoints[mark]:
                values = tally.values()
                curves[n, :, mark] = [values[name] for name in unit.regrets]
                mark += 1
        if done < unit.rounds:
            raise ValueError(must_be("rounds", f"at most the {done} that {unit.world!r} has", unit.rounds))
        if "internal" in unit.regrets:
            internal += tally.internal_matrix()
    return {"curves": curves, "internal": internal}


def _tally(unit: Unit) -> Any:
    """Return a new tally for a run, whose memory does not grow with its rounds where the world never ends."""
    if unit.duels:
        return DuelTally(unit.world.n_arms, unit.regrets)
    endless = getattr(unit.world, "length", None) is None  # a world that ends is in memory anyway
    by_set = unit.pseudo and getattr(unit.world, "expected_by_set", False)
    return Tally(unit.world.n_arms, unit.regrets, MOST_ENTRIES if endless else None, by_set)


def compile_for(unit: Unit) -> None:
    """Compile what a unit needs of its policy."""
    n_arms = unit.world.n_arms
    if unit.duels:
        step(unit.policy, "play", unit.policy.start(n_arms, unit.world.size), n_arms)
    else:
        runner(unit.policy, unit.policy.start(n_arms), n_arms)


def streams(seed: int, run: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the two random streams of a run: the world's, and the learner's, which is the same for every policy."""
    world, learner = (np.random.SeedSequence(seed, spawn_key=(run, part)) for part in range(2))
    return np.random.default_rng(world), np.random.default_rng(learner)


Piece = tuple[Any, ...]  # arrays with a row for each round: what a tally adds


def _pieces(unit: Unit, run: int, look: Callable[[], None]) -> Iterator[Piece]:
    """Yield the rounds of one run in pieces, none of which reaches over a checkpoint."""
    marks = iter(unit.checkpoints)
    mark, done = next(marks), 0
    for piece in _played(unit, run, look):
        start, size = 0, piece[-1].size
        while start < size:
            look()
            stop = min(size, start + mark - done)
            yield tuple(array[start:stop] for array in piece)
            done, start = done + stop - start, stop
            if done == mark:
                mark = next(marks, unit.rounds)


def _played(unit: Unit, run: int, look: Callable[[], None]) -> Iterator[Piece]:
    """Let the policy play the rounds of a run, or as many as the world has, in blocks.

    Of bandits: which arms were awake, the losses that regrets are about, the choices. Of duels: the regrets.
    """
    world_stream, learner_stream = streams(unit.seed, run)
    if unit.duels:
        return duel_regrets(unit.policy, unit.world, world_stream, learner_stream, unit.rounds, look)
    size = max(16, CELLS // unit.world.n_arms)
    given = (world_stream, learner_stream, unit.rounds, size, unit.pseudo, look)
    return bandit_rounds(unit.policy, unit.world, *given)
