"""`simulate`: policies against a world, on any executor, with results that do not depend on it.

The work is cut into units, each one policy over a range of runs. A run draws its world from a stream of its own
and its choices from another, the same for every policy, so that policies are compared on the same rounds and adding
one changes nothing for the others.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wakeful import files
from wakeful.entries import Floats, Ints, Mask
from wakeful.inputs import must_be, one_of, whole
from wakeful.play import runner
from wakeful.policy import Policy, a_policy
from wakeful.results import Results
from wakeful.tally import REGRETS, Tally
from wakeful.worlds.world import AdaptiveWorld, World

Progress = Callable[[int, int], None]  # rounds done, rounds in all
Outcome = dict[str, Floats]  # what a unit found: its curves, and its sum of internal regrets

CELLS = 1 << 16  # rounds times arms in a block: small enough for the cache of a core
UNIT_SECONDS = 0.5  # how long a unit should take: long beside what it costs to send one anywhere
KIND = "wakeful unit"


@dataclass(frozen=True)
class Unit:
    """One policy in one world over the runs `first`, ..., `last - 1`."""

    policy: Policy
    world: Any
    rounds: int
    seed: int
    first: int
    last: int
    regrets: tuple[str, ...]
    checkpoints: tuple[int, ...]

    @property
    def cost(self) -> int:
        """Its rounds over all its runs."""
        return self.rounds * (self.last - self.first)

    def key(self) -> str:
        """Return a name that two units share only if they do the same work."""
        about = {field.name: _identity(getattr(self, field.name)) for field in fields(self)}
        return hashlib.sha256(json.dumps([about, CELLS], sort_keys=True).encode()).hexdigest()[:32]


class SimulationError(RuntimeError):
    """Units failed; the message names the first one, its runs and its seed, and the cause is its error."""


def simulate(
    policies: Mapping[str, Policy] | Iterable[Policy] | Policy,
    world: World | AdaptiveWorld,
    rounds: int,
    runs: int = 50,
    seed: int = 0,
    regrets: Iterable[str] = ("policy", "external", "internal"),
    checkpoints: Iterable[int] | None = None,
    executor: Executor | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Results:
    """Play every policy in `runs` runs of `rounds` rounds and return their regrets.

    Regrets are of expected losses where the world knows them (pseudo-regrets), else of the losses drawn. The result
    is the same, bit for bit, for any executor, any number of workers and any order of completion.

    Parameters:
        policies: by name; without names they are called as they print
        world: where awake sets and losses come from
        rounds: T
        runs: how many independent runs
        seed: of the whole simulation
        regrets: which notions to keep: "policy", "ordering", "external", "internal", "swap"
        checkpoints: rounds at which to note the regrets; by default about a hundred
        executor: anything like `concurrent.futures.Executor`, Dask's `client.get_executor()` too; by default all cores
        store: a folder in which every finished unit is kept at once, and looked up before it is done again
        progress: called with the rounds done and the rounds in all
        jobs: how many units at a time without an executor

    >>> from wakeful import SIExp3, SleepingUCB
    >>> from wakeful.worlds import Dependent
    >>> results = simulate({"SI": SIExp3(), "UCB": SleepingUCB()}, Dependent(), rounds=1000, runs=4)
    >>> [row.policy for row in results.summary("policy")]
    ['SI', 'UCB']
    """
    named = _named(policies)
    _check_world(world, rounds, runs, seed)
    kept = tuple(one_of("regrets", name, REGRETS) for name in regrets)
    marks = _checkpoints(checkpoints, rounds)
    units = [u for policy in named.values() for u in _units(policy, world, rounds, runs, seed, kept, marks)]
    outcomes = _all_outcomes(units, executor, jobs, store, progress)
    shape = (len(named), runs, len(kept), len(marks))
    curves = np.concatenate([outcome["curves"] for outcome in outcomes]).reshape(shape)
    internal = np.stack([outcome["internal"] for outcome in outcomes])
    internal = internal.reshape(len(named), -1, *internal.shape[1:]).sum(axis=1) / runs
    return Results(
        policies={name: repr(policy) for name, policy in named.items()},
        world=repr(world),
        rounds=rounds,
        runs=runs,
        seed=seed,
        checkpoints=np.array(marks, np.int64),
        regrets={name: np.ascontiguousarray(curves[:, :, n]) for n, name in enumerate(kept)},
        internal=internal,
    )


def run_unit(unit: Unit) -> Outcome:
    """Return the curves (runs, regrets, checkpoints) of a unit and the sum over its runs of the internal regrets."""
    n_arms = unit.world.n_arms
    curves = np.empty((unit.last - unit.first, len(unit.regrets), len(unit.checkpoints)))
    internal = np.zeros((n_arms, n_arms))
    for n, run in enumerate(range(unit.first, unit.last)):
        tally = Tally(n_arms, unit.regrets)
        mark = 0
        done = 0
        for awake, losses, choices in _pieces(unit, run):
            tally.add(awake, losses, choices)
            done += choices.size
            if done == unit.checkpoints[mark]:
                values = tally.values()
                curves[n, :, mark] = [values[name] for name in unit.regrets]
                mark += 1
        if done < unit.rounds:
            raise ValueError(must_be("rounds", f"at most the {done} that {unit.world!r} has", unit.rounds))
        if "internal" in unit.regrets:
            internal += tally.internal_matrix()
    return {"curves": curves, "internal": internal}


def streams(seed: int, run: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the two random streams of a run: the world's, and the learner's, which is the same for every policy."""
    world, learner = (np.random.SeedSequence(seed, spawn_key=(run, part)) for part in range(2))
    return np.random.default_rng(world), np.random.default_rng(learner)


Piece = tuple[Mask, Floats, Ints]  # awake, the losses that regrets are about, choices


def _pieces(unit: Unit, run: int) -> Iterator[Piece]:
    """Yield the rounds of one run in pieces, none of which reaches over a checkpoint."""
    marks = iter(unit.checkpoints)
    left = goal = next(marks)
    for awake, losses, choices in _played(unit, run):
        start = 0
        while start < choices.size:
            stop = min(choices.size, start + left)
            yield awake[start:stop], losses[start:stop], choices[start:stop]
            left, start = left - (stop - start), stop
            if left == 0:
                last, goal = goal, next(marks, unit.rounds)
                left = goal - last
                if left == 0:
                    return


def _played(unit: Unit, run: int) -> Iterator[Piece]:
    """Let the policy play blocks of rounds, for ever or as long as the world lasts."""
    world_stream, learner_stream = streams(unit.seed, run)
    n_arms = unit.world.n_arms
    size = max(16, CELLS // n_arms)
    if isinstance(unit.world, AdaptiveWorld):
        yield from _answered(unit, world_stream, learner_stream, size)
        return
    play_on = runner(unit.policy, unit.policy.start(n_arms), n_arms)
    for awake, losses, expected in unit.world.blocks(world_stream, size):
        mask, values = _trusted(unit.world, awake, losses)
        choices = play_on(mask, values, learner_stream)
        yield mask, values if expected is None else expected, choices


def _trusted(world: Any, awake: Any, losses: Any) -> tuple[Mask, Floats]:
    """Return a block of somebody's world in the form that compiled code takes, whose shapes belong together."""
    mask, values = np.ascontiguousarray(awake, np.bool_), np.ascontiguousarray(losses, np.float64)
    if mask.ndim != 2 or mask.shape[1] != world.n_arms or values.shape != mask.shape:
        shapes = mask.shape, values.shape
        raise ValueError(must_be("block", f"two arrays (rounds, {world.n_arms}) from {world!r}", shapes))
    return mask, values


def _answered(
    unit: Unit, world_stream: np.random.Generator, learner_stream: np.random.Generator, size: int
) -> Iterator[Piece]:
    """Let the policy and an adaptive world play against each other, one round at a time."""
    n_arms = unit.world.n_arms
    state = unit.policy.start(n_arms)
    play_on = runner(unit.policy, state, n_arms)
    world = unit.world.start(world_stream)
    while True:
        awake, losses = np.empty((size, n_arms), np.bool_), np.empty((size, n_arms))
        choices = np.empty(size, np.int64)
        for t in range(size):
            awake[t] = world.awake()
            losses[t] = world.losses(unit.policy.probabilities(state, awake[t]))
            choices[t] = play_on(awake[t : t + 1], losses[t : t + 1], learner_stream)[0]
        yield awake, losses, choices


def _all_outcomes(
    units: list[Unit],
    executor: Executor | None,
    jobs: int | None,
    store: str | os.PathLike[str] | None,
    progress: Progress | None,
) -> list[Outcome]:
    """Do every unit that is not in the store yet; fail at the end if one failed."""
    folder = None if store is None else Path(store)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    found = [_stored(folder, unit) for unit in units]
    failed: dict[int, BaseException] = {}
    left = [n for n, outcome in enumerate(found) if outcome is None]
    total = sum(unit.cost for unit in units)
    done = total - sum(units[n].cost for n in left)
    _compile(units[n] for n in left)
    with _pool(executor, units, jobs) as pool:
        pending = {pool.submit(run_unit, units[n]): n for n in left}
        try:
            for future in as_completed(pending):
                n = pending[future]
                problem = future.exception()
                if problem is not None:
                    failed[n] = problem
                else:
                    found[n] = future.result()
                    _keep(folder, units[n], found[n])
                done += units[n].cost
                if progress is not None:
                    progress(done, total)
        except BaseException:
            _cancel(pending)
            raise
    if failed:
        raise _failure(units, failed) from failed[min(failed)]
    return [outcome for outcome in found if outcome is not None]


def _failure(units: list[Unit], failed: Mapping[int, BaseException]) -> SimulationError:
    """Return the error that names the first unit that failed."""
    unit, problem = units[min(failed)], failed[min(failed)]
    about = f"{unit.policy!r} in {unit.world!r}, runs {unit.first} to {unit.last - 1}, seed {unit.seed}"
    return SimulationError(f"{len(failed)} of {len(units)} units failed, first {about}: {problem}")


def _compile(units: Iterable[Unit]) -> None:
    """Compile every policy once before the work is spread, so that not every worker does it."""
    for policy, n_arms in {(unit.policy, unit.world.n_arms) for unit in units}:
        runner(policy, policy.start(n_arms), n_arms)


def _cancel(pending: Iterable[Future[Any]]) -> None:
    """Take back what has not begun."""
    for future in pending:
        future.cancel()


@contextmanager
def _pool(executor: Executor | None, units: list[Unit], jobs: int | None) -> Iterator[Executor]:
    """Yield the executor given, else one for all cores: threads for compiled policies, processes for others."""
    if executor is not None:
        yield executor
        return
    workers = len(os.sched_getaffinity(0)) if jobs is None else whole("jobs", jobs, "at least 1", 1)
    plain = any(unit.policy.kernels is None or isinstance(unit.world, AdaptiveWorld) for unit in units)
    with ProcessPoolExecutor(workers) if plain and workers > 1 else ThreadPoolExecutor(workers) as pool:
        yield pool


def _stored(folder: Path | None, unit: Unit) -> Outcome | None:
    """Return the outcome of a unit that was kept before, if there is a file of it and it is whole."""
    if folder is None or not (folder / f"{unit.key()}.unit").exists():
        return None
    return files.read(folder / f"{unit.key()}.unit", KIND, lambda header, arrays: arrays)


def _keep(folder: Path | None, unit: Unit, outcome: Outcome | None) -> None:
    """Write the outcome of a unit, whole or not at all."""
    if folder is not None and outcome is not None:
        about = {"kind": KIND, "policy": repr(unit.policy), "world": repr(unit.world), "runs": [unit.first, unit.last]}
        files.write(folder / f"{unit.key()}.unit", about, outcome)


def _identity(value: Any) -> Any:
    """Return plain data that tells two values apart: arrays by their bytes, dataclasses by their fields."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    if is_dataclass(value):
        return [
            type(value).__qualname__,
            {field.name: _identity(getattr(value, field.name)) for field in fields(value)},
        ]
    return list(map(_identity, value)) if isinstance(value, tuple | list) else repr(value)


def _named(policies: Any) -> dict[str, Policy]:
    """Return the policies by name, those without one by how they print."""
    if isinstance(policies, Policy | type):
        policies = [policies]
    pairs = policies.items() if isinstance(policies, Mapping) else [(repr(p), p) for p in policies]
    named = {str(name): a_policy(policy) for name, policy in pairs}
    if not named or len(named) < len(pairs):
        raise ValueError(must_be("policies", "at least one, under names that differ", policies))
    return named


def _check_world(world: Any, rounds: Any, runs: Any, seed: Any) -> None:
    """Refuse what is no world, and numbers that make no sense."""
    if not isinstance(world, World | AdaptiveWorld):
        raise TypeError(must_be("world", "a World such as wakeful.worlds.Dependent()", world))
    whole("rounds", rounds, "a number of rounds, at least 1", 1)
    whole("runs", runs, "a number of runs, at least 1", 1)
    whole("seed", seed, "a whole number from 0", 0)
    length = getattr(world, "length", None)
    if length is not None and rounds > length:
        raise ValueError(must_be("rounds", f"at most the {length} that the world has", rounds))


def _checkpoints(checkpoints: Iterable[int] | None, rounds: int) -> tuple[int, ...]:
    """Return the rounds to note regrets at, in order, the last one among them."""
    if checkpoints is None:
        steps = np.concatenate([np.geomspace(1, rounds, 40), np.linspace(1, rounds, 61)])
        return tuple(np.unique(np.rint(steps).astype(np.int64)).tolist())
    given = {whole("checkpoints", mark, f"rounds from 1 to {rounds}", 1) for mark in checkpoints}
    if given and max(given) > rounds:
        raise ValueError(must_be("checkpoints", f"rounds from 1 to {rounds}", max(given)))
    return tuple(sorted(given | {rounds}))


def _units(
    policy: Policy,
    world: Any,
    rounds: int,
    runs: int,
    seed: int,
    regrets: tuple[str, ...],
    checkpoints: tuple[int, ...],
) -> Iterator[Unit]:
    """Yield units of about `UNIT_SECONDS` each, by a rule that knows nothing of the machine."""
    plain = policy.kernels is None or isinstance(world, AdaptiveWorld)
    seconds = rounds * (5e-5 if plain else 5e-7 * (1.0 + world.n_arms / 50.0) ** 2)
    each = max(1, min(runs, round(UNIT_SECONDS / seconds)))
    for first in range(0, runs, each):
        yield Unit(policy, world, rounds, seed, first, min(first + each, runs), regrets, checkpoints)
