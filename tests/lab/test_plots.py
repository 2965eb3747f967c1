"""Figures: every kind is drawn, says what it shows, and can be written in every format."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import wakeful as wk
from pages import contrast, night_colours
from wakeful.lab import plots
from wakeful.lab.relation_diagram import Arrow, relation_diagram
from wakeful.lab.results import Results, growth_exponent
from wakeful.paper import report
from wakeful.paper.experiments import (
    AUTO,
    AUTO_PAIRS,
    EXP3G,
    IX,
    PER_SET,
    SB,
    SI,
    SP_IX,
    SP_SI,
    SP_UCB,
    STABLE,
    UCB,
    experiments,
)
from wakeful.paper.verdicts import growth, short


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
    for word in (
        "SI",
        "UCB",
        "rounds (mean of 6 runs, quartiles shaded)",
        "policy regret\n(cumulative)",
        "Dependent()",
    ):
        assert word in shown
    assert f"{results.final('policy', 'UCB').mean():.0f}" in shown, "the last value at the end of its line"


def test_bounds_are_overlaid_and_slopes_named(results: Results) -> None:
    bound = wk.regret.bound(wk.SIExp3(), results.checkpoints, 3)
    figure = plots.regret_curves(results, "internal", loglog=True, bounds=[("sharpened bound", bound.sharpened)])
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"
    assert "sharpened bound" in words(figure)
    for policy in results.policies:
        grown = growth(results.checkpoints, results.curve("internal", policy))
        assert f"T^{short(grown.mean)}" in words(figure), "the exponent of the claims"


def test_the_power_of_a_square_root_is_a_half() -> None:
    x = np.arange(1.0, 10_000.0)
    assert growth_exponent(x, 3.0 * x**0.5) == pytest.approx(0.5)
    assert growth_exponent(x, 2.0 * x) == pytest.approx(1.0)
    assert growth_exponent(x, np.zeros(x.size)) == 0.0
    assert growth_exponent(x, np.where(x < 9_000, 0.0, 1.0)) == np.inf
    assert np.isnan(growth_exponent([1.0], [1.0]))
    assert plots._power(x, np.where(x < 9_000, 0.0, 1.0)) == "1", "the last value, where no power can be told"


OF_THE_PAPER = (SI, UCB, EXP3G, SP_SI, SP_UCB)
OF_OURS = (IX, AUTO, PER_SET, SB, SP_IX, STABLE, AUTO_PAIRS)


@pytest.mark.parametrize("night", [False, True])
def test_our_own_lines_are_not_the_faintest(night: bool) -> None:
    style = Path(report.__file__).with_name("report.css").read_text(encoding="utf-8")
    ground = night_colours(style)["card"] if night else plots.PAGE
    for experiment in experiments():
        looks = plots._looks(tuple(experiment.players(1_000)))
        seen = {}
        for name, look in looks.items():
            colour = night_colours(style)[f"x{look['color'][1:].lower()}"] if night else look["color"]
            seen[name] = contrast(colour, ground)
        ours = [name for name in looks if name in OF_OURS]
        assert all(seen[name] >= 3.0 for name in seen), "WCAG's limit for lines"
        if set(ours) != set(looks):
            for name in ours:
                assert seen[name] > min(seen.values()), (experiment.id, name)
                assert looks[name]["linewidth"] > max(looks[other]["linewidth"] for other in looks if other not in ours)


def test_every_label_of_the_report_has_a_place_of_its_own() -> None:
    for experiment in experiments():
        names = [name for name in experiment.players(1_000) if name in (*OF_THE_PAPER, *OF_OURS)]
        places = [plots.PLACES[plots._plain(name)] for name in names]
        assert len(set(places)) == len(places), experiment.id


def test_a_curve_of_nobody_is_refused(results: Results) -> None:
    with pytest.raises(ValueError, match="policy must be one of"):
        plots.regret_curves(results, policies=["nobody"])


def lines(axes: Any) -> dict[str, tuple[str, Any]]:
    """Return the colour and the dashes of each line that has a name."""
    found = zip(*axes.get_legend_handles_labels(), strict=True)
    return {name: (line.get_color(), line._unscaled_dash_pattern) for line, name in found}


def covered(figure: Any) -> list[tuple[str, str]]:
    """Return the pairs of words, numbers of axes left out, that lie on each other, and words that leave the figure."""
    canvas: Any = FigureCanvasAgg(figure)
    renderer = canvas.get_renderer()
    figure.draw(renderer)
    found = [word for legend in figure.legends for word in legend.get_texts()]
    for axes in figure.axes:
        found += [*axes.texts, axes._left_title, axes.xaxis.label, axes.yaxis.label]
    shown = [word for word in found if word.get_text()]
    boxes = [(word.get_text(), Text.get_window_extent(word, renderer).padded(-1)) for word in shown]
    pairs = itertools.combinations(boxes, 2)
    whole = figure.bbox
    out = [(word, "edge") for word, box in boxes if not (whole.contains(*box.min) and whole.contains(*box.max))]
    return out + [(one, other) for (one, here), (other, there) in pairs if here.overlaps(there)]


def struck(figure: Any) -> list[str]:
    """Return the words of a drawn diagram that an arrow goes through."""
    axes = figure.axes[0]
    drawn = [np.asarray(line.get_xydata()) for line in axes.lines if np.size(line.get_xdata()) == 2]
    shafts = [axes.transData.transform(ends) for ends in drawn if ends[0, 1] == ends[1, 1]]
    assert shafts
    boxes = [(word.get_text(), Text.get_window_extent(word)) for word in axes.texts if word.get_text()]
    return [
        word
        for word, box in boxes
        for (x, y), (end, _) in shafts
        if box.y0 < y < box.y1 and min(x, end) < box.x1 and max(x, end) > box.x0
    ]


def test_panels_share_a_legend_and_colours(results: Results) -> None:
    other = wk.simulate({"UCB": wk.SleepingUCB(), "new": wk.Uniform()}, wk.worlds.RockPaperScissors(), 200, 3)
    figure = plots.curve_panels([("one", results), ("two", other)])
    first, second = map(lines, figure.axes)
    assert list(first) == ["SI", "UCB"]
    assert list(second) == ["UCB", "new"]
    assert first["UCB"] == second["UCB"]
    assert len({*first.values(), *second.values()}) == 3
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["SI", "UCB", "new"]
    assert not any(axes.get_legend() for axes in figure.axes)
    assert not covered(figure)
    assert [len(axes.lines) for axes in plots.curve_panels([("one", results)], policies=["UCB"]).axes] == [1]
    with pytest.raises(ValueError, match="items must be"):
        plots.curve_panels([])


def test_a_policy_looks_the_same_in_every_figure() -> None:
    alone, among = plots._looks(["S-UCB"]), plots._looks(["mine", "SBExp3()", "S-UCB", "SIExp3()"])
    assert alone["S-UCB"] == among["S-UCB"]
    many = plots._looks([f"policy {n}" for n in range(20)])
    assert len({(look["color"], str(look["linestyle"])) for look in many.values()}) == 20


def test_bounds_belong_to_their_panel(results: Results) -> None:
    bound = np.sqrt(results.checkpoints)
    figure = plots.curve_panels([("one", results), ("two", results)], bounds={"two": [("theory", bound)]}, loglog=True)
    assert [len(axes.lines) for axes in figure.axes] == [2, 3]
    assert np.array_equal(figure.axes[1].lines[2].get_ydata(), bound)


def test_below_zero_there_are_no_logarithms(results: Results) -> None:
    shifted = dataclasses.replace(results, regrets={"policy": results.regrets["policy"] - 50.0})
    figure = plots.curve_panels([("above", results), ("below", shifted)], "policy", loglog=True)
    assert [axes.get_yscale() for axes in figure.axes] == ["log", "linear"]


PAPERS = [SI, UCB, EXP3G, IX, PER_SET, SB]
RATES = ["printed rate", "corrected rate", "sharpened rate", "printed rate, online", "doubling"]


@pytest.mark.parametrize("names", [PAPERS, RATES, [SP_SI, SP_UCB, SP_IX, STABLE], PAPERS + RATES])
def test_a_long_legend_takes_nothing_from_the_panel(results: Results, names: list[str]) -> None:
    curves = np.repeat(results.regrets["policy"][:1], len(names), axis=0)
    curves *= np.arange(1.0, 1.0 + len(names))[:, np.newaxis, np.newaxis]
    many = dataclasses.replace(results, policies=dict.fromkeys(names, ""), regrets={"policy": curves})
    bounds = {"many": [("Theorem 1, for the best rate", np.sqrt(results.checkpoints))]}
    heights = []
    for shown in (results, many):
        figure = plots.curve_panels([("many", shown)], "policy", loglog=True, bounds=bounds)
        assert not covered(figure)
        heights.append(figure.axes[0].get_window_extent().height)
    assert heights[1] == pytest.approx(heights[0], rel=0.1)


def test_ends_that_meet_are_moved_apart() -> None:
    places = plots._spread([0.0, 0.01, 0.5, 0.99, 1.0, 1.0], 0.1)
    assert np.diff(places).min() >= 0.1 - 1e-12
    assert min(places) >= 0
    assert max(places) <= 1 + 1e-12
    assert plots._spread([0.2, 0.7], 0.1) == [0.2, 0.7]


def test_exploitability_falls_on_logarithmic_axes() -> None:
    rounds = np.geomspace(10, 10_000, 30)
    curves = {"self-play": np.tile(rounds**-0.5, (4, 1)), "Nash": np.tile(2 * rounds**-0.25, (4, 1))}
    figure = plots.exploitability_curves(rounds, curves, "a game")
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"
    assert {"a game", "T^\N{MINUS SIGN}0.500", "T^\N{MINUS SIGN}0.250"} <= set(words(figure))
    assert not covered(figure)
    plots.exploitability_curves(rounds, {"at once": np.zeros((2, 30))})  # nothing positive to draw, and no warning


NODES = {"int": "internal sleeping regret", "ext": "external regret", "ord": "ordering regret", "pol": "policy regret"}


def test_relations_are_arrows_that_hold_or_are_crossed() -> None:
    arrows = [Arrow("int", "ext", True, "Lemma 1"), Arrow("ext", "ord", False, "T = 600: 0 and 100")]
    figure = relation_diagram(NODES, arrows, "Figure 1")
    assert {"Lemma 1", "T = 600: 0 and 100", "Figure 1", "internal\nsleeping\nregret"} <= set(words(figure))
    drawn = [line for line in figure.axes[0].lines if line.get_color() != plots.FAINT]
    assert [line.get_linestyle() for line in drawn if np.size(line.get_xdata()) == 2][:2] == ["-", "--"]
    assert sum(line.get_marker() == "x" for line in figure.axes[0].lines) == 2, "one arrow, and the key below"
    with pytest.raises(ValueError, match="target must be one of"):
        relation_diagram(NODES, [Arrow("int", "nobody", True, "")])


@pytest.mark.parametrize("size", [2, 4, 6])
def test_no_label_of_a_relation_lies_on_another(size: int) -> None:
    nodes = dict(list({**NODES, "swap": "swap regret", "duel": "duelling regret"}.items())[:size])
    label = "Section 2.2, corrected: T = 400, ordering regret 0, external regret 100 = T/4"
    pairs = enumerate(itertools.permutations(nodes, 2))
    arrows = [Arrow(*pair, n % 2 == 0, label[: 8 + 5 * n]) for n, pair in pairs]
    figure = relation_diagram(nodes, arrows, "What a small regret gives")
    assert not covered(figure)
    assert not struck(figure)
    assert figure.get_figheight() > 0.4 * figure.get_figwidth()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures_are_written_the_same_every_time(results: Results, ending: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        results.plot("policy", tmp_path / f"{name}.{ending}")
    one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
    assert len(one) > 1000
    assert one == two


@pytest.mark.parametrize("name", ["x.gif", "x.png.webp", "x", ".png"])
def test_a_figure_in_any_other_format_is_refused(results: Results, name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"path must be a file that ends in \.png, \.svg, \.pdf, got"):
        results.plot("policy", tmp_path / name)
    assert list(tmp_path.iterdir()) == []
