"""Evidence for figure 1: relations between regrets checked on histories that policies made, gaps by witnesses."""

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from wakeful import regret
from wakeful.lab.unit import CELLS, streams
from wakeful.numerics.arrays import Floats
from wakeful.paper.experiments import OURS, PAPERS, Experiment, experiments
from wakeful.paper.settings import Settings
from wakeful.policies.play import play
from wakeful.policies.policy import Policy
from wakeful.regret import relations
from wakeful.regret.relations import History, Witness
from wakeful.worlds import Cycling, LossDependentSleep, MarkovSleep, Stochastic, World

WITNESS_ROUNDS = 600  # of a witness: a multiple of all its parts


class Checked(NamedTuple):
    """A relation on many histories: how many, on how many it held, and by how much at worst it did not."""

    histories: int
    held: int
    worst: float  # the largest excess of the left side over the right one, a round
    made: str = ""  # how: "six policies, eight worlds, ten runs"
    of: str = "histories"  # what it was checked on

    @property
    def answers(self) -> list[bool]:
        """Whether it held, history by history."""
        return [True] * self.held + [False] * (self.histories - self.held)


@dataclass(frozen=True)
class Evidence:
    """What was found about the relations: checks by name, witnesses by name."""

    checks: dict[str, Checked]
    witnesses: dict[str, Witness]
    seed: int
    runs: int

    @property
    def made(self) -> str:
        """What was checked in all worlds: "480 histories: six policies, eight worlds, ten runs"."""
        check = self.checks["Lemma 1"]
        return f"{check.histories} {check.of}: {check.made}"


def external_without_internal(rounds: int) -> Witness:
    """Return a history of no external regret and internal regret T/2, in which all arms are awake.

    In the first half arm 2 loses nothing, the others 1, and the learner plays 1; in the second arm 3 loses nothing,
    the others 1, and the learner plays 3. What 1 -> 2 would have gained, 3 -> 2 would have lost.

    >>> witness = external_without_internal(600)
    >>> witness.internal, witness.external.max()
    (300.0, np.float64(0.0))
    """
    half = np.repeat([0, 1], rounds // 2)
    losses = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])[half]
    return witness_of(History(np.ones((half.size, 3), np.bool_), losses, np.array([0, 2])[half]))


def internal_without_ordering(rounds: int, rng: np.random.Generator | None = None) -> Witness:
    """Return a history of no internal regret and ordering regret T/4, with losses that ignore which arms are awake.

    This answers the paper's open question (i): no. Arms 1 and 2 are always awake, arm 3 every other round (or, with
    `rng`, with probability 1/2, independently of everything). Arm 3 never loses. Arm 1 loses 1 in the first half and
    nothing in the second, arm 2 the other way round. Where arm 3 sleeps the learner plays the arm that loses, where it
    is awake the other of the two. What it would have gained from 1 -> 2 where 3 sleeps, it would have lost where 3 is
    awake; yet there the best ordering plays 3, and loses nothing either.

    >>> witness = internal_without_ordering(600)
    >>> witness.internal, witness.external.max(), witness.ordering
    (0.0, np.float64(0.0), 150.0)
    """
    half = np.repeat([0, 1], rounds // 2)
    three = np.arange(half.size) % 2 == 1 if rng is None else rng.random(half.size) < 0.5
    awake = np.ones((half.size, 3), np.bool_)
    awake[:, 2] = three
    losses = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])[half]
    return witness_of(History(awake, losses, np.where(three, 1 - half, half)))


def witness_of(past: History) -> Witness:
    """Return all regrets of a history."""
    internal = float(regret.internal(*past).max())
    return Witness(past, internal, regret.external(*past), regret.ordering(*past).value, regret.policy(*past).value)


def run_study(settings: Settings) -> Evidence:
    """Check every relation on histories of all policies, and compute every witness."""
    runs = settings.size(10, 2) if settings.runs is None else min(settings.runs, 10)
    tasks = [(world, rounds, policy, run) for world, rounds, policy in _cases() for run in range(runs)]
    with ThreadPoolExecutor(settings.jobs) as threads:
        found = list(threads.map(lambda task: _relations_of(settings.seed, *task), tasks))
    checks = {}
    for name in RELATION_CHECKS:
        own = [(task, one[name]) for task, one in zip(tasks, found, strict=True) if name in one]
        made = _made({repr(task[2]) for task, _ in own}, {repr(task[0]) for task, _ in own}, runs)
        checks[name] = _together([answer for _, answer in own])._replace(made=made)
    checks["policy is ordering, independent sets"] = _independent_sets(settings.seed, settings.size(50, 10))
    witnesses = {
        "external without ordering": relations.external_without_ordering(WITNESS_ROUNDS),
        "ordering without external": relations.ordering_without_external(WITNESS_ROUNDS),
        "ordering without external, as printed": relations.printed_ordering_without_external(WITNESS_ROUNDS),
        "policy above ordering": relations.policy_above_ordering(WITNESS_ROUNDS),
        "external without internal": external_without_internal(WITNESS_ROUNDS),
        "internal without ordering": internal_without_ordering(WITNESS_ROUNDS),
        "internal without ordering, at random": internal_without_ordering(
            100_000, np.random.default_rng(settings.seed)
        ),
        "external without ordering, at random": _external_at_random(100_000, np.random.default_rng(settings.seed)),
    }
    return Evidence(checks, witnesses, settings.seed, runs)


def _external_at_random(rounds: int, rng: np.random.Generator) -> Witness:
    """Return the paper's example of no external regret with sets at random: {1, 2} or {2, 3}; arm k loses k/3."""
    late = rng.random(rounds) < 0.5
    sets = np.array([[True, True, False], [False, True, True]])[late.astype(np.int64)]
    return witness_of(History(sets, np.tile(np.arange(1, 4) / 3, (rounds, 1)), np.where(late, 2, 0)))


# Checks on histories: each returns how much the left side exceeds the right one, and whether the relation holds.


def _lemma_one(past: History, means: Floats | None) -> tuple[float, bool]:
    found = relations.internal_gives_external(past)
    return float(np.abs(found.external - found.sums).max()), found.holds


def _policy_bounds_ordering(past: History, means: Floats | None) -> tuple[float, bool]:
    policy, ordering = regret.policy(*past).value, regret.ordering(*past).value
    return ordering - policy, ordering <= policy + 1e-9 * len(past.choices)


def _for_independent_losses(check: Callable[[History, Any], Any]) -> Callable[[History, Floats | None], Any]:
    def checked(past: History, means: Floats | None) -> tuple[float, bool] | None:
        if means is None:
            return None
        found = check(past, means)
        return found.left - found.right, found.holds

    return checked


RELATION_CHECKS: dict[str, Callable[[History, Floats | None], tuple[float, bool] | None]] = {
    "Lemma 1": _lemma_one,
    "policy bounds ordering": _policy_bounds_ordering,
    "Lemma 2": _for_independent_losses(relations.internal_bounds_ordering),
    "ordering bounds internal": _for_independent_losses(relations.ordering_bounds_internal),
    "ordering bounds external": _for_independent_losses(relations.ordering_bounds_external),
    "policy is ordering": _for_independent_losses(relations.policy_is_ordering),
}


def _cases() -> Iterator[tuple[World, int, Policy]]:
    """Yield the paper's bandit experiments and three worlds of independent losses with other kinds of sleep."""
    paper: list[Experiment] = [e for e in experiments() if e.figure in ("figure-2", "figure-3")]
    worlds = [(e.world, e.rounds) for e in paper]
    worlds += [(Cycling(), 1_000), (MarkovSleep(), 1_000), (LossDependentSleep(), 1_000)]
    for world, rounds in worlds:
        for policy in (PAPERS | OURS).values():
            yield world, rounds, policy


def history_of(policy: Policy, world: World, rounds: int, seed: int, run: int) -> tuple[History, Floats | None]:
    """Return the history of a run, the same as in `simulate`, and mean losses if they are the same in every round.

    Losses are expected ones where the world knows them; those that depend on which arms are awake have no common means.
    """
    world_stream, learner_stream = streams(seed, run)
    block = next(world.blocks(world_stream, max(16, CELLS // world.n_arms)))
    awake, losses = block.awake[:rounds], block.losses[:rounds]
    choices = play(policy, awake, losses, learner_stream)
    expected = losses if block.expected is None else block.expected[:rounds]
    same = isinstance(world, Stochastic | Cycling | MarkovSleep | LossDependentSleep)
    return History(awake, expected, choices), expected[0] if same else None


def _relations_of(seed: int, world: World, rounds: int, policy: Policy, run: int) -> dict[str, tuple[float, bool, int]]:
    """Check all relations on one history."""
    past, means = history_of(policy, world, rounds, seed, run)
    found = {name: check(past, means) for name, check in RELATION_CHECKS.items()}
    return {name: (*answer, len(past.choices)) for name, answer in found.items() if answer is not None}


def _together(found: list[tuple[float, bool, int]]) -> Checked:
    """Return how often a relation held."""
    return Checked(len(found), sum(held for _, held, _ in found), max(excess / rounds for excess, _, rounds in found))


def _independent_sets(seed: int, trials: int) -> Checked:
    """Check that policy and ordering regret are the same for independent sets and any losses that ignore them."""
    found = []
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        sets = rng.random((6, 4)) < 0.6
        sets[np.arange(6), rng.integers(4, size=6)] = True
        losses = np.clip(rng.random(4) + 0.05 * np.cumsum(rng.normal(size=(200, 4)), axis=0), 0.0, 1.0)
        answer = relations.policy_is_ordering_for_iid_sets(sets, rng.dirichlet(np.ones(6)), losses)
        found.append((abs(answer.left - answer.right), answer.holds, 200))
    return _together(found)._replace(of="loss tables")


def _made(policies: set[str], worlds: set[str], runs: int) -> str:
    """Return "six policies, eight worlds, ten runs"."""
    return f"{_count(policies, 'policies')}, {_count(worlds, 'worlds')}, {_count(range(runs), 'runs')}"


def _count(things: Collection[object], name: str) -> str:
    """Return "six policies" or "one run"."""
    n = len(things)
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    one = {"policies": "policy", "worlds": "world", "runs": "run"}
    return f"{words[n] if n < len(words) else n} {one[name] if n == 1 else name}"
