"""The diagram of regrets: which small regret gives which other one, with a witness where it does not."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from wakeful.inputs import one_of
from wakeful.lab.plots import COLOURS, FAINT, FIGURE_WIDTH, INK, PAGE, RED, styled, wrapped


class Arrow(NamedTuple):
    """A relation between two regrets: its lemma if it `holds`, else the numbers of a history that refutes it."""

    source: str
    target: str
    holds: bool
    label: str


@styled
def relation_diagram(nodes: Mapping[str, str], arrows: Sequence[Arrow], title: str | None = None) -> Figure:
    """Draw notions of regret as vertical lines, and each relation as an arrow on a row of its own.

    Parameters:
        nodes: a key and what is written above its line, from left to right
        arrows: solid where the relation holds, dashed, red and crossed where it does not
        title: written on top
    """
    for arrow in arrows:
        one_of("source", arrow.source, nodes)
        one_of("target", arrow.target, nodes)
    lane = 72 * FIGURE_WIDTH / len(nodes)
    at = {key: (n + 0.5) * lane for n, key in enumerate(nodes)}
    labels = [wrapped(arrow.label, 46) for arrow in arrows]
    heights = [12 * (label.count("\n") + 1) + 22 for label in labels]
    head = 18.0 if title else 0.0
    height = head + 48 + sum(heights) + 44
    axes = _sheet(height)
    if title:
        axes.text(4, 9, title, va="center", weight="bold", size=10)
    for key, name in nodes.items():
        _stand(axes, at[key], head + 22, height - 42, name, lane)
    y = head + 48.0
    for arrow, label, tall in zip(arrows, labels, heights, strict=True):
        y += tall
        _relate(axes, at[arrow.source], at[arrow.target], y - 9, arrow.holds, label)
    _key_of_arrows(axes, height - 26)
    figure: Figure = axes.figure
    return figure


def _sheet(height: float) -> Any:
    """Return axes that fill a figure, in points from its upper left corner, with nothing drawn."""
    figure = Figure(figsize=(FIGURE_WIDTH, height / 72))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 72 * FIGURE_WIDTH), ylim=(height, 0))
    axes.axis("off")
    return axes


def _stand(axes: Any, x: float, top: float, bottom: float, name: str, lane: float) -> None:
    """Draw a notion of regret: its name in a box, and a line down from it."""
    axes.plot([x, x], [top, bottom], color=FAINT, linewidth=2, zorder=0)
    box = {"boxstyle": "round,pad=0.5", "facecolor": PAGE, "edgecolor": INK, "linewidth": 1.0}
    look = {"ha": "center", "va": "center", "weight": "bold", "size": min(8.5, lane / 8), "bbox": box}
    axes.text(x, top, wrapped(name, max(6, int(lane / 7.5))), **look)


def _relate(axes: Any, start: float, end: float, y: float, holds: bool, label: str) -> None:
    """Draw an arrow with its label above it, crossed out if the relation does not hold."""
    colour, dashes = (COLOURS[0], "solid") if holds else (RED, (0, (4, 2)))
    forth = 1 if end > start else -1
    axes.plot([start, end - 2 * forth], [y, y], color=colour, linestyle=dashes, linewidth=1.6)
    axes.plot([end - 4 * forth], [y], marker=">" if forth > 0 else "<", color=colour, markersize=7)
    middle = (start + end) / 2
    if not holds:
        axes.plot([middle], [y], marker="x", color=colour, markersize=8, markeredgewidth=2)
    half = 2.6 * max(map(len, label.split("\n"))) + 4
    place = min(max(middle, half), 72 * FIGURE_WIDTH - half)
    box = {"boxstyle": "square,pad=0.1", "facecolor": PAGE, "edgecolor": "none"}
    axes.text(place, y - 7, label, ha="center", va="bottom", fontsize=8.5, linespacing=1.15, bbox=box)


def _key_of_arrows(axes: Any, y: float) -> None:
    """Say below the diagram what the two kinds of arrow mean."""
    for turn, words in enumerate(
        ("if the first is small, so is the second", "not so: a history shows it, with these regrets")
    ):
        _relate(axes, 8, 40, y + 14 * turn, turn == 0, "")
        axes.text(48, y + 14 * turn, words, va="center", fontsize=8)
