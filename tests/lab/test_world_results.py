"""Simulations in several worlds: each as if it were alone, with one summary, one figure and one file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from wakeful.lab.world_results import WorldResults
from wakeful.worlds import Dependent, Stochastic, UtilityDuels

POLICIES = {"Uniform": wk.Uniform(), "UCB": wk.SleepingUCB()}
WORLDS = {"three": Stochastic(3), "dependent": Dependent()}


@pytest.fixture(scope="module")
def results() -> WorldResults:
    return wk.simulate(POLICIES, WORLDS, rounds=60, runs=2, seed=3)


def test_each_world_is_simulated_as_if_it_were_alone(results: WorldResults) -> None:
    for name, world in WORLDS.items():
        alone = wk.simulate(POLICIES, world, rounds=60.0, runs=np.float64(2), seed=3)
        assert alone.rounds == 60
        for regret, values in alone.regrets.items():
            np.testing.assert_array_equal(results[name].regrets[regret], values)
    listed = wk.simulate(POLICIES, list(WORLDS.values()), rounds=6, runs=1)
    assert list(listed) == [repr(world) for world in WORLDS.values()]


def test_one_summary_frame_and_figure(results: WorldResults, tmp_path: Path) -> None:
    summary = results.summary("policy")
    assert [(row.world, row.rank) for row in summary] == [
        ("three", 1),
        ("three", 2),
        ("dependent", 1),
        ("dependent", 2),
    ]
    assert repr(results["three"].summary("policy")) in repr(summary)
    assert list(summary.to_frame()["world"]) == [row.world for row in summary]
    assert "| three |" in summary.to_markdown()
    assert "three & 1 &" in summary.to_latex()
    frame = results.to_frame()
    assert len(frame) == sum(len(part.to_frame()) for part in results.values())
    assert set(frame["world"]) == set(WORLDS)
    figure = results.plot("policy", tmp_path / "worlds.png", columns=2)
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(WORLDS)
    assert (tmp_path / "worlds.png").stat().st_size > 1000


def test_they_are_saved_and_loaded(results: WorldResults, tmp_path: Path) -> None:
    results.save(tmp_path / "w")
    again = WorldResults.load(tmp_path / "w")
    assert repr(again.summary()) == repr(results.summary())
    np.testing.assert_array_equal(again["three"].internal, results["three"].internal)
    with pytest.raises(ValueError, match="path must be a file of another kind; for Parquet"):
        results.save(tmp_path / "w.parquet")
    with pytest.raises(ValueError, match="world must be one of 'three', 'dependent', got 'thre'"):
        results["thre"]


def test_progress_goes_on_over_all_worlds() -> None:
    told: list[tuple[int, int]] = []
    wk.simulate(POLICIES, WORLDS, rounds=6, runs=1, progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len({total for _, total in told}) == 1
    assert told[-1][0] == told[-1][1]


MISFITS: list[Any] = [
    {"a": Stochastic(3), "b": UtilityDuels(3)},
    {"a": Stochastic(3), "b": 7},
    {},
    [Stochastic(3), Stochastic(3)],
]


@pytest.mark.parametrize("worlds", MISFITS, ids=lambda worlds: repr(worlds)[:60])
def test_a_world_that_does_not_fit_is_refused_before_any_work(worlds: Any) -> None:
    done: list[Any] = []
    with pytest.raises((TypeError, ValueError), match=r"^(policy|world) must be"):
        wk.simulate(wk.Uniform(), worlds, rounds=6, runs=1, progress=lambda *told: done.append(told))
    assert not done


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"executor must be a concurrent\.futures\.Executor, or a Client of Dask, got 4"
    ):
        wk.simulate(wk.Uniform(), Stochastic(3), rounds=6, runs=1, executor=4)


@pytest.mark.parametrize("rounds", [1e3 + 0.5, float("nan"), float("inf"), True])
def test_rounds_that_are_not_whole_are_refused(rounds: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="rounds must be a number of rounds"):
        wk.simulate(wk.Uniform(), Stochastic(3), rounds=rounds, runs=1)
