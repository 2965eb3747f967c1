"""Figures: every kind is drawn, says what it shows, and can be written in every format."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from wakeful import plots
from wakeful.results import Results
from wakeful.units import laws as laws_of


@pytest.fixture(scope="module")
def results() -> Results:
    policies = {"SI": wk.SIExp3(), "UCB": wk.SleepingUCB()}
    return wk.simulate(policies, wk.worlds.Dependent(), 400, 6, regrets=("policy", "internal"))


def words(figure: Any) -> list[str]:
    """Return every text of a figure."""
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def test_curves_have_a_line_and_a_band_for_each_policy(results: Results) -> None:
    figure = results.plot("policy")
    axes = figure.axes[0]
    assert len(axes.lines) == len(axes.collections) == 2
    assert np.allclose(axes.lines[0].get_ydata(), results.curve("policy", "SI").mean(axis=0))
    shown = words(figure)
    for word in ("SI", "UCB", "rounds", "policy regret"):
        assert word in shown


def test_bounds_are_overlaid_and_slopes_named(results: Results) -> None:
    bound = wk.regret.bound(wk.SIExp3(), results.checkpoints, 3)
    figure = plots.regret_curves(results, "internal", loglog=True, bounds=[("sharpened bound", bound.sharpened)])
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"
    assert "sharpened bound" in words(figure)
    assert any("slope" in word for word in words(figure))


def test_the_slope_of_a_square_root_is_a_half() -> None:
    x = np.arange(1.0, 10_000.0)
    assert plots._slope(x, 3.0 * x**0.5) == pytest.approx(0.5)
    assert plots._slope(x, 2.0 * x) == pytest.approx(1.0)
    assert np.isnan(plots._slope(x, np.zeros(x.size)))


def test_a_heat_map_shows_every_switch(results: Results) -> None:
    figure = plots.internal_heat_map(results, "UCB", names=["a", "b", "c"])
    assert np.array_equal(np.asarray(figure.axes[0].images[0].get_array()), results.internal[1])
    assert {"a", "b", "c"} <= set(words(figure))
    with pytest.raises(ValueError, match="policy must be one of"):
        plots.internal_heat_map(results, "nobody")
    without = wk.simulate(wk.Uniform(), wk.worlds.Dependent(), 50, 2, regrets=("policy",))
    with pytest.raises(ValueError, match="results must be of a simulation with regrets"):
        plots.internal_heat_map(without, "Uniform()")


def test_a_strip_shows_who_is_awake_and_who_is_played() -> None:
    block = next(wk.worlds.MarkovSleep(4).blocks(np.random.default_rng(0), 50))
    choices = wk.play(wk.Uniform(), block.awake, block.losses, np.random.default_rng(1))
    figure = plots.availability_strip(block.awake, choices)
    assert np.asarray(figure.axes[0].lines[0].get_ydata()).tolist() == choices.tolist()


def test_laws_over_time_have_a_panel_for_each_set() -> None:
    marks, laws = laws_of(wk.SIExp3(), wk.worlds.Dependent(), 500, seed=1)
    assert set(laws) == {(0, 1), (0, 1, 2), (0, 2), (1, 2)}
    for members, law in laws.items():
        assert law.shape == (marks.size, 3)
        assert np.allclose(law[:, list(members)].sum(axis=1), 1.0)
    figure = plots.probabilities_over_time(laws, marks, names=["a", "b", "c"])
    assert len(figure.axes) == 4
    assert "awake: a, b, c" in words(figure)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures_are_written(results: Results, ending: str, tmp_path: Path) -> None:
    results.plot("policy", tmp_path / f"f.{ending}")
    assert (tmp_path / f"f.{ending}").stat().st_size > 1000
