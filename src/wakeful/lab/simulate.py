"""`simulate`: play policies in a world on any executor; the results do not depend on which.

The work is divided into units, each of one policy over a range of runs. All policies play the same rounds, and adding
a policy does not change the results of the others.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, overload

import numpy as np

from wakeful.duels.policy import DuelingPolicy, a_dueling_policy
from wakeful.inputs import must_be, one_of, whole
from wakeful.lab.duel_unit import DUEL_REGRETS
from wakeful.lab.progress import Progress
from wakeful.lab.results import Results
from wakeful.lab.store import read_outcome, write_outcome
from wakeful.lab.unit import Outcome, Unit, compile_for
from wakeful.lab.workers import an_executor, answers
from wakeful.lab.world_results import WorldResults
from wakeful.policies.policy import Policy, a_policy
from wakeful.policies.spec import Recipe
from wakeful.regret.tally import REGRETS
from wakeful.worlds.duel_world import AdaptiveDuelWorld, DuelWorld, a_duel_world
from wakeful.worlds.world import AdaptiveWorld, World, a_world

AnyPolicy = Policy | DuelingPolicy
AnyWorld = World | AdaptiveWorld | DuelWorld | AdaptiveDuelWorld
Policies = Mapping[str, AnyPolicy] | Iterable[AnyPolicy] | AnyPolicy
DUELS = (DuelWorld, AdaptiveDuelWorld)

UNIT_SECONDS = 0.5  # how long a unit should take: much longer than sending it to a worker
SHORTEST_UNIT = 0.05  # seconds below which runs are not spread over units
FEWEST_UNITS = 16  # units that short work is cut into, so that a few cores end together
MOST_WORK = 10**12  # rounds or runs: more is taken for a typing error
MOST_REGRETS = 2 * 10**8  # regrets kept over all policies, runs and checkpoints: 1.6 GB


class SimulationError(RuntimeError):
    """Units failed; the message names the first one, its runs and its seed, and the cause is its error."""


@overload
def simulate(
    policies: Policies,
    world: AnyWorld,
    rounds: float,
    runs: float = ...,
    seed: int = ...,
    regrets: Iterable[str] | None = ...,
    checkpoints: Iterable[int] | None = ...,
    executor: Any = ...,
    store: str | os.PathLike[str] | None = ...,
    progress: Progress | None = ...,
    jobs: int | None = ...,
    pseudo: bool = ...,
) -> Results: ...


@overload
def simulate(
    policies: Policies,
    world: Mapping[str, AnyWorld] | Iterable[AnyWorld],
    rounds: float,
    runs: float = ...,
    seed: int = ...,
    regrets: Iterable[str] | None = ...,
    checkpoints: Iterable[int] | None = ...,
    executor: Any = ...,
    store: str | os.PathLike[str] | None = ...,
    progress: Progress | None = ...,
    jobs: int | None = ...,
    pseudo: bool = ...,
) -> WorldResults: ...


def simulate(
    policies: Policies,
    world: AnyWorld | Mapping[str, AnyWorld] | Iterable[AnyWorld],
    rounds: float,
    runs: float = 50,
    seed: int = 0,
    regrets: Iterable[str] | None = None,
    checkpoints: Iterable[int] | None = None,
    executor: Any = None,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
    pseudo: bool = True,
) -> Results | WorldResults:
    """Play every policy in `runs` runs of `rounds` rounds and return their regrets.

    The result is the same, bit for bit, for any executor, any number of workers and any order of completion.

    Parameters:
        policies: by name; without names, the `repr` of a policy is its name
        world: where awake sets and losses come from; or several worlds, by name or in a list, for `WorldResults`
        rounds: T, also written as 1e6
        runs: how many independent runs
        seed: of the whole simulation
        regrets: which notions to keep: "policy", "ordering", "external", "internal", "swap", or of
            duels "dueling"; by default policy, external and internal
        checkpoints: rounds at which to note the regrets; by default about a hundred
        executor: a `concurrent.futures.Executor`, or a `Client` of Dask; by default all cores
        store: a folder in which every finished unit is stored at once, and from which it is read instead of redone
        progress: called with the rounds done and the rounds in all
        jobs: how many units at a time without an executor
        pseudo: whether regrets are of expected losses where the world knows them, or of the losses drawn

    >>> from wakeful import SIExp3, SleepingUCB
    >>> from wakeful.worlds import Dependent
    >>> results = simulate({"SI": SIExp3(), "UCB": SleepingUCB()}, Dependent(), rounds=1000, runs=4)
    >>> [row.policy for row in results.summary("policy")]
    ['SI', 'UCB']
    """
    options = (seed, regrets, checkpoints, an_executor(executor), store, progress, jobs, pseudo)
    if isinstance(world, AnyWorld | type) or not isinstance(world, Iterable):
        return _in_one_world(policies, world, rounds, runs, *options)
    worlds = _named_worlds(world)
    for each in worlds.values():  # before hours of work in the first one
        _checked_work(each, rounds, runs, seed)
        named_policies(policies, a_dueling_policy if isinstance(each, DUELS) else a_policy)
        _regrets(regrets, each)
    found = {}
    for n, (name, each) in enumerate(worlds.items()):
        part = None if progress is None else partial(_part_done, progress, n, len(worlds))
        found[name] = _in_one_world(policies, each, rounds, runs, *options[:5], part, *options[6:])
    return WorldResults(found)


def _part_done(progress: Progress, before: int, worlds: int, done: int, total: int) -> None:
    """Tell the progress over all worlds, which take about the same time each."""
    progress(before * total + done, worlds * total)


def _in_one_world(
    policies: Policies,
    world: Any,
    rounds: Any,
    runs: Any,
    seed: Any,
    regrets: Iterable[str] | None,
    checkpoints: Iterable[int] | None,
    executor: Executor | None,
    store: str | os.PathLike[str] | None,
    progress: Progress | None,
    jobs: int | None,
    pseudo: bool,
) -> Results:
    """Do what `simulate` does in one world."""
    rounds, runs, seed = _checked_work(world, rounds, runs, seed)
    named = named_policies(policies, a_dueling_policy if isinstance(world, DUELS) else a_policy)
    kept = _regrets(regrets, world)
    marks = _checkpoints(checkpoints, rounds)
    _check_memory(runs, len(named), len(kept), len(marks))
    parts = [list(_units(policy, world, rounds, runs, seed, kept, marks, pseudo)) for policy in named.values()]
    outcomes = iter(_all_outcomes([unit for units in parts for unit in units], executor, jobs, store, progress))
    found = [list(islice(outcomes, len(units))) for units in parts]  # a policy in plain Python has more units
    curves = np.stack([np.concatenate([outcome["curves"] for outcome in own]) for own in found])
    internal = np.stack([np.stack([outcome["internal"] for outcome in own]).sum(axis=0) / runs for own in found])
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


def _all_outcomes(
    units: list[Unit],
    executor: Executor | None,
    jobs: int | None,
    store: str | os.PathLike[str] | None,
    progress: Progress | None,
) -> list[Outcome]:
    """Do every unit that is not in the store yet; raise an error at the end if one failed."""
    folder = None if store is None else Path(store)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    found = [read_outcome(folder, unit) for unit in units]
    failed: dict[int, BaseException] = {}
    left = [n for n, outcome in enumerate(found) if outcome is None]
    total = sum(unit.cost for unit in units)
    done = total - sum(units[n].cost for n in left)
    _compile(units[n] for n in left)
    asked = _cores() if jobs is None else whole("jobs", jobs, "at least 1", 1)
    workers = max(1, min(asked, len(left)))  # a worker without a unit only costs memory
    with closing(answers([units[n] for n in left], executor, workers)) as finished:
        for place, answer in finished:
            n = left[place]
            if isinstance(answer, BaseException):
                failed[n] = answer
            else:
                found[n] = answer
                write_outcome(folder, units[n], answer)
            done += units[n].cost
            if progress is not None:
                progress(done, total)
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
    done: list[Any] = []
    for unit in units:
        if unit.policy not in done:
            done.append(unit.policy)
            compile_for(unit)


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _regrets(regrets: Iterable[str] | None, world: Any) -> tuple[str, ...]:
    """Return the notions of regret to keep, each once."""
    duels = isinstance(world, DUELS)
    if regrets is None:
        return DUEL_REGRETS if duels else ("policy", "external", "internal")
    names = [regrets] if isinstance(regrets, str) else regrets
    return tuple(dict.fromkeys(one_of("regrets", name, DUEL_REGRETS if duels else REGRETS) for name in names))


def named_policies(policies: Any, a_fit: Callable[[object], Any]) -> dict[str, Any]:
    """Return the policies by name, those without one by how they print."""
    if isinstance(policies, Recipe | type):
        policies = [policies]
    if isinstance(policies, str) or not isinstance(policies, Iterable):
        raise TypeError(must_be("policies", "a policy, a list of them, or a mapping of names to policies", policies))
    pairs = policies.items() if isinstance(policies, Mapping) else [(repr(p), p) for p in policies]
    named = {str(name): a_fit(policy) for name, policy in pairs}
    if not named or len(named) < len(pairs):
        raise ValueError(must_be("policies", "at least one, under names that differ", policies))
    return named


def _named_worlds(worlds: Any) -> dict[str, Any]:
    """Return worlds by name, those without one by how they print."""
    given = list(worlds.items() if isinstance(worlds, Mapping) else [(repr(world), world) for world in worlds])
    named = {str(name): world for name, world in given}
    if not named or len(named) < len(given):
        raise ValueError(must_be("world", "a world, or several under names that differ", worlds))
    return named


def _plain_whole(value: Any) -> Any:
    """Return a whole number that was written as a float, such as 1e6, as an int; anything else as it is."""
    return int(value) if isinstance(value, float | np.floating) and float(value).is_integer() else value


def _checked_work(world: Any, rounds: Any, runs: Any, seed: Any) -> tuple[int, int, int]:
    """Return the three numbers if they make sense for this world."""
    kind = world if isinstance(world, type) else type(world)
    (a_duel_world if issubclass(kind, DUELS) else a_world)(world)
    if isinstance(world, DUELS):
        whole("world.size", world.size, "a whole number from 2", 2)
    numbers = (
        whole("rounds", _plain_whole(rounds), "a number of rounds, at least 1", 1),
        whole("runs", _plain_whole(runs), "a number of runs, at least 1", 1),
        whole("seed", seed, "a whole number from 0", 0),
    )
    for name, number in zip(("rounds", "runs"), numbers, strict=False):
        if number > MOST_WORK:
            raise ValueError(must_be(name, f"at most {MOST_WORK:,}", number))
    length = getattr(world, "length", None)
    if length is not None and rounds > length:
        raise ValueError(must_be("rounds", f"at most the {length} that the world has", rounds))
    return numbers


def _check_memory(runs: int, n_policies: int, n_regrets: int, n_checkpoints: int) -> None:
    """Refuse runs whose results would not fit into memory, before any work."""
    most = MOST_REGRETS // (n_policies * n_regrets * n_checkpoints)
    if runs > most:
        what = f"{n_policies} policies, {n_regrets} regrets and {n_checkpoints} checkpoints"
        raise ValueError(must_be("runs", f"at most {most:,} with {what} (fewer of these allow more runs)", runs))


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
    policy: AnyPolicy,
    world: Any,
    rounds: int,
    runs: int,
    seed: int,
    regrets: tuple[str, ...],
    checkpoints: tuple[int, ...],
    pseudo: bool,
) -> Iterator[Unit]:
    """Yield units of about `UNIT_SECONDS` each, by a rule that knows nothing of the machine."""
    whole_work = Unit(policy, world, rounds, seed, 0, runs, regrets, checkpoints, pseudo)
    each_round = 5e-7 * (1.0 + world.n_arms / 50.0) ** 2 * (2.0 if whole_work.duels else 1.0)
    seconds = rounds * (5e-5 if whole_work.steps else each_round)
    short = max(math.ceil(runs / FEWEST_UNITS), round(SHORTEST_UNIT / seconds))
    each = max(1, min(short, round(UNIT_SECONDS / seconds)))
    for first in range(0, runs, each):
        yield replace(whole_work, first=first, last=min(first + each, runs))
