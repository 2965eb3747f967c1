"""Worlds: each has the distribution it states, the paper's tables are the paper's, and the checker finds faults.

Statistical claims have fixed seeds; a frequency may be off by `SIGMAS` standard deviations."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful.worlds
from wakeful.policies.spec import subclasses
from wakeful.worlds import (
    AdaptiveWorld,
    Ambush,
    BestResponse,
    Cycling,
    Dependent,
    Drifting,
    ExternalNotOrdering,
    LateBloomer,
    LossDependentSleep,
    MarkovSleep,
    NashOpponent,
    OrderingNotExternal,
    RandomDependent,
    RandomGame,
    Replay,
    RockPaperScissors,
    Spiteful,
    Stochastic,
    SwitchingBest,
    World,
    check_world,
)
from wakeful.worlds.games import Game, random_game, rock_paper_scissors

WORLDS: tuple[World | AdaptiveWorld, ...] = (
    Stochastic(),
    Stochastic(n_arms=1),
    Dependent(),
    RockPaperScissors(),
    RandomDependent(),
    RandomDependent(n_arms=1, n_sets=1),
    RandomGame(),
    RandomGame(n_arms=2, n_sets=1, bernoulli=True),
    SwitchingBest(),
    SwitchingBest(n_arms=2, period=1, gap=1.0, rate=0.01),
    LateBloomer(),
    LateBloomer(change=0),
    LateBloomer(coin=True),
    Ambush(),
    Ambush(n_arms=2, change=0, rate=0.01),
    Drifting(),
    Drifting(n_arms=1, step=1.0, rate=1.0),
    Cycling(),
    Cycling(n_arms=1, n_awake=1),
    MarkovSleep(),
    MarkovSleep(n_arms=1, sleep=0.9, wake=1e-9),
    MarkovSleep(n_arms=2, sleep=0.0, wake=1.0),
    LossDependentSleep(),
    LossDependentSleep(n_arms=2, rest=100),
    ExternalNotOrdering(),
    ExternalNotOrdering(rounds=2),
    OrderingNotExternal(),
    NashOpponent(rock_paper_scissors()),
    NashOpponent(Game(np.array([[0.25]])), ((0,),), bernoulli=True),
    BestResponse(rock_paper_scissors(), ((0, 1), (1, 2))),
    BestResponse(random_game(4, np.random.default_rng(0))),
    Spiteful(),
    Spiteful(n_arms=1, rate=1e-9),
    Replay(np.eye(3, dtype=bool), np.eye(3) / 2),
    Replay(np.ones((9, 2), bool), np.full((9, 2), 0.5), np.full((9, 2), 0.25), ("tea", "juice")),
)


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_world_passes(world: World | AdaptiveWorld) -> None:
    check_world(world)


def test_every_world_is_on_the_list() -> None:
    ours = {
        cls
        for base in (World, AdaptiveWorld)
        for cls in subclasses(base)
        if cls.__module__.startswith("wakeful.worlds.")
    }
    assert ours == {type(world) for world in WORLDS}
    assert {cls.__name__ for cls in ours} <= set(wakeful.worlds.__all__)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Stochastic(0), "n_arms must be a whole number from 1, got 0"),
        (lambda: Stochastic(2.0), "n_arms must be a whole number from 1, got 2.0"),  # type: ignore[arg-type]
        (lambda: RandomDependent(n_sets=0), "n_sets must be a whole number from 1"),
        (lambda: RandomGame(1), "n_arms must be a whole number from 2"),
        (lambda: RandomGame(bernoulli=1), "bernoulli must be True or False"),  # type: ignore[arg-type]
        (lambda: SwitchingBest(1), "n_arms must be a whole number from 2"),
        (lambda: SwitchingBest(period=0), "period must be a whole number from 1"),
        (lambda: SwitchingBest(gap=1.1), "gap must be between 0 and 1"),
        (lambda: LateBloomer(-1), "change must be a whole number from 0"),
        (lambda: LateBloomer(coin=1), "coin must be True or False, got 1"),  # type: ignore[arg-type]
        (lambda: Ambush(1), "n_arms must be a whole number from 2"),
        (lambda: Ambush(change=1.5), "change must be a whole number from 0"),  # type: ignore[arg-type]
        (lambda: SwitchingBest(rate=0.0), "rate must be above 0 and at most 1"),
        (lambda: Drifting(step=-0.1), "step must be between 0 and 1"),
        (lambda: Cycling(2, 3), "n_awake must be at most n_arms, 2, got 3"),
        (lambda: MarkovSleep(sleep=1.0), "sleep must be from 0 to below 1"),
        (lambda: MarkovSleep(wake=0.0), "wake must be above 0 and at most 1"),
        (lambda: LossDependentSleep(rest=0), "rest must be a whole number from 1"),
        (lambda: ExternalNotOrdering(3), "rounds must be an even number from 2"),
        (lambda: Spiteful(rate=2.0), "rate must be above 0 and at most 1"),
        (lambda: NashOpponent("RPS"), "game must be a Game"),  # type: ignore[arg-type]
        (lambda: NashOpponent(Game(np.zeros((2, 3)))), "game must be square"),
        (lambda: NashOpponent(rock_paper_scissors(), ((0, 3),)), "sets must be tuples of distinct actions from 0 to 2"),
        (lambda: NashOpponent(rock_paper_scissors(), ((),)), "sets must be tuples of distinct actions"),
        (lambda: NashOpponent(rock_paper_scissors(), ()), "sets must be tuples of distinct actions"),
        (lambda: BestResponse(rock_paper_scissors(), ((0, 0),)), "sets must be tuples of distinct actions"),
        (lambda: BestResponse(rock_paper_scissors(), (0, 1)), "sets must be tuples of distinct actions"),  # type: ignore[arg-type]
        (lambda: BestResponse(rock_paper_scissors(), ((True,),)), "sets must be tuples of distinct actions"),
        (lambda: Replay(np.zeros((2, 2), bool), np.zeros((2, 2))), "none in row 0"),
        (lambda: Replay(np.ones((2, 2), bool), np.zeros((2, 3))), r"losses must be of the shape of awake, \(2, 2\)"),
        (lambda: Replay(np.ones(2, bool), np.zeros(2)), r"awake must be a \(T, K\) array of booleans"),
        (lambda: Replay(np.ones((1, 1), bool), np.zeros((1, 1)), np.full((1, 1), 2.0)), "expected must be between"),
        (lambda: Replay(np.ones((1, 2), bool), np.zeros((1, 2)), arms=("a", "a")), "arms must be 2 distinct names"),
        (lambda: Stochastic().blocks(7, 1), "rng must be a numpy.random.Generator"),  # type: ignore[arg-type]
        (lambda: Drifting().blocks(np.random.default_rng(0), 0), "size must be a whole number from 1"),
        (lambda: Spiteful().start(7), "rng must be a numpy.random.Generator"),  # type: ignore[arg-type]
        (lambda: check_world(Stochastic), r"an instance such as Stochastic\(\), not the class itself"),  # type: ignore[arg-type]
        (lambda: check_world("dependent"), "world must be a World such as"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_refused(make: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        make()


def test_numbers_of_any_kind_become_plain_ones() -> None:
    assert repr(Stochastic(np.int64(3))) == "Stochastic(n_arms=3)"  # type: ignore[arg-type]
    assert NashOpponent(rock_paper_scissors(), [[np.int8(1), 0]]).sets == ((0, 1),)  # type: ignore[arg-type]


def test_importing_worlds_is_light() -> None:
    for path in Path(next(iter(wakeful.worlds.__path__))).glob("*.py"):
        lines = path.read_text().splitlines()
        assert not [line for line in lines if line.startswith(("import ", "from ")) and "scipy" in line], path
