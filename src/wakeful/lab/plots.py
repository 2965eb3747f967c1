"""Figures of the lab, and the look that all figures share.

They are as wide as a phone, so that their words can be read on one, and scale to any width.
"""

import math
import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from wakeful import atomic
from wakeful.inputs import must_be, one_of
from wakeful.lab.results import Results, checked_figure, growth_exponent
from wakeful.numerics.arrays import Floats

# Colours that people with any kind of colour vision can tell apart (Okabe and Ito, with a darker yellow, and purple for
# light blue, since those two are hard to see on white), and dashes for those without any.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#9A6A00", "#7A3E9D", "#666666", "#000000")
DASHES: tuple[Any, ...] = (
    *("solid", (0, (6, 2)), (0, (6, 2, 1, 2)), (0, (3, 1.5))),
    *((0, (1, 1)), (0, (9, 2, 1, 2, 1, 2)), (0, (2, 3)), (0, (12, 3))),
)
BOUND_DASHES: tuple[Any, ...] = ((0, (4, 3)), (0, (1, 2)), (0, (4, 2, 1, 2)))
# The place in both of a policy whose name, in small letters and digits, is known: the same in every figure.
PLACES = {"siexp3paper": 1, "spsiexp3paper": 1, "sucb": 2, "spucb": 2, "sexp3": 3}  # as the paper has them
OUR_PLACES = {"siexp3": 0, "sparringsiexp3": 0, "auto": 4, "sbexp3": 5, "uniform": 6}
OUR_PLACES |= {"autopairs": 4, "persetsleepingucb": 7, "stablepair": 7}
PLACES |= OUR_PLACES  # in darker colours than the paper's, and drawn thicker
THIN, THICK = 1.5, 2.1
PAGE, INK, FAINT, RED = "#FFFFFF", "#000000", "#DDDDDD", "#B3261E"
MINUS = "\N{MINUS SIGN}"
FIGURE_WIDTH = 4.8  # inches: 346 points, so that a point is about a pixel of a phone
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.handlelength": 3.0,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "wakeful",
    "savefig.dpi": 200,
}
UNDATED: dict[str, Any] = {  # nothing in a file tells when or by which version it was made
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}
styled = mpl.rc_context(STYLE)
Bounds = Sequence[tuple[str, Floats]]


@styled
def regret_curves(
    results: Results,
    regret: str = "policy",
    *,
    policies: Iterable[str] | None = None,
    loglog: bool = False,
    bounds: Bounds = (),
    title: str | None = None,
) -> Figure:
    """Draw mean regret over rounds, a band from the lower to the upper quartile, and bounds as thin grey lines.

    At the end of a line stands its last value; with `loglog`, the power of T with which it grew over the last three
    quarters of the rounds: 1 is linear, 0.5 is the square root. Where a mean falls below zero, the axes stay linear.
    """
    title = title or results.world
    return curve_panels([(title, results)], regret, policies=policies, bounds={title: bounds}, loglog=loglog)


@styled
def curve_panels(
    items: Sequence[tuple[str, Results]],
    regret: str | None = None,
    *,
    policies: Iterable[str] | None = None,
    bounds: Mapping[str, Bounds] | None = None,
    loglog: bool = False,
    columns: int = 1,
) -> Figure:
    """Draw the regret curves of several results under one legend, each policy in its own colour throughout.

    Parameters:
        items: a title and results for each panel
        regret: the notion, by default the one to look at first in each
        policies: which to draw, in this order; a panel leaves out those it does not have
        bounds: by a panel's title, names and values at its checkpoints
        loglog: whether both axes are logarithmic, in panels without a mean below zero
        columns: how many panels stand side by side; one is best on phones
    """
    if not items:
        raise ValueError(must_be("items", "a title and results for each panel", items))
    known = tuple(dict.fromkeys(name for _, results in items for name in results.policies))
    names = known if policies is None else tuple(one_of("policy", name, known) for name in policies)
    looks = _looks(names)
    figure, grid = _panels(len(items), columns, 2.6 if len(items) == 1 else 2.2)
    for axes, (title, results) in zip(grid, items, strict=False):
        notion = results.main(regret)
        curves = {name: results.curve(notion, name) for name in names if name in results.policies}
        _draw(axes, results.checkpoints, curves, looks, loglog=loglog, bounds=(bounds or {}).get(title, ()))
        axes.set_ylabel(f"{notion} regret\n(cumulative)")
        axes.set_xlabel(_rounds_of(results.runs))
        axes.set_title(wrapped(title, 42 if columns == 1 else 28), loc="left")
    _share_legend(figure, grid)
    return figure


@styled
def exploitability_curves(rounds: Any, curves: Mapping[str, Floats], title: str | None = None) -> Figure:
    """Draw how much a best response gains against the average play: mean and quartiles of (runs, checkpoints).

    Both axes are logarithmic, powers of T stand at the ends of lines, and a grey line falls as 1 over the square root.
    """
    x = np.asarray(rounds, np.float64)
    figure, grid = _panels(1, 1, 2.8)
    top = max(float(values[:, 0].mean()) for values in curves.values())
    guide = [("as 1/√rounds", top * np.sqrt(x[0] / x))]
    _draw(grid[0], x, curves, _looks(tuple(curves)), loglog=True, bounds=guide)
    grid[0].set_ylabel("exploitability of the\naverage play (loss a round)")
    grid[0].set_xlabel(_rounds_of(min(map(len, curves.values()))))
    grid[0].set_title(wrapped(title or "Exploitability", 42), loc="left")
    _share_legend(figure, grid)
    return figure


@styled
def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure; the ending of `path` says in which format. The same figure gives the same bytes."""
    ending = checked_figure("path", path).suffix[1:].lower()
    with atomic.replacing(path) as file:
        figure.savefig(file, format=ending, metadata=UNDATED[ending])


def _panels(count: int, columns: int, height: float) -> tuple[Figure, list[Any]]:
    """Return a figure with so many panels over rounds, each so high."""
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure = Figure(
        figsize=(FIGURE_WIDTH if columns == 1 else 3.6 * columns, height * rows + 0.1), layout="constrained"
    )
    engine: Any = figure.get_layout_engine()
    engine.set(h_pad=0.07, w_pad=0.06)
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in grid[count:]:
        axes.remove()
    for axes in grid[:count]:
        axes.set_xlabel("rounds")
    return figure, grid[:count]


def _looks(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the colour and dashes of each policy: its own place if it is known and free, else the next free one."""
    taken: dict[str, int] = {}
    for name in names:
        place = PLACES.get(_plain(name))
        if place is not None and place not in taken.values():
            taken[name] = place
    free = [n for n in range(len(COLOURS)) if n not in taken.values()] or [0]
    others = [name for name in names if name not in taken]
    taken |= {name: free[turn % len(free)] for turn, name in enumerate(others)}
    shifts = {name: turn // len(free) for turn, name in enumerate(others)}  # a colour again, but not its dashes
    dashes = {name: DASHES[(taken[name] + shifts.get(name, 0)) % len(DASHES)] for name in names}
    widths = {name: THICK if _plain(name) in OUR_PLACES else THIN for name in names}
    return {
        name: {"color": COLOURS[taken[name]], "linestyle": dashes[name], "linewidth": widths[name]} for name in names
    }


def _plain(name: str) -> str:
    """Return the small letters and digits of a name."""
    return "".join(filter(str.isalnum, name.lower()))


def _draw(
    axes: Any, x: Any, curves: Mapping[str, Floats], looks: Mapping[str, Any], *, loglog: bool, bounds: Bounds
) -> None:
    """Draw means, quartiles and bounds, and a word at the end of each mean; below zero there are no logarithms."""
    loglog = loglog and all(values.mean(axis=0)[x >= 10].min(initial=0) >= 0 for values in curves.values())
    ends = []
    for name, values in curves.items():
        mean = values.mean(axis=0)
        colour = looks[name]["color"]
        axes.fill_between(x, *np.quantile(values, [0.25, 0.75], axis=0), color=colour, alpha=0.18, linewidth=0)
        axes.plot(x, mean, label=name, **looks[name])
        ends.append((float(mean[-1]), _power(x, mean) if loglog else _thousands(mean[-1]), colour))
    for dashes, (name, values) in zip(BOUND_DASHES * len(bounds), bounds, strict=False):
        axes.plot(x, values, color="#777777", linestyle=dashes, linewidth=1.0, label=name)
    _scale(axes, x, loglog)
    _write_ends(axes, [end for end in ends if end[0] > 0 or not loglog])


def _scale(axes: Any, x: Any, loglog: bool) -> None:
    """Set the scale, the limits and the numbers of both axes."""
    if loglog:
        _scale_logs(axes, x)
    else:
        axes.set_xlim(0, x[-1])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_locator(MaxNLocator(5))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(_thousands))
        axis.set_minor_formatter(NullFormatter())


def _scale_logs(axes: Any, x: Any) -> None:
    """Make both axes logarithmic, whatever is drawn; within two decades, two and five have a number too."""
    start = x[0] if x[-1] < 100 else max(x[0], 10)  # before that, a handful of coins
    lines = np.concatenate([line.get_ydata()[x >= start] for line in axes.lines])
    low, high = 0.1, 1.0
    if (lines > 0).any():
        low, high = 0.7 * lines[lines > 0].min(), 1.4 * max(lines.max(), axes.dataLim.y1)
    axes.set(xlim=(start, x[-1]), ylim=(low, high))
    axes.set(xscale="log", yscale="log")
    axes.minorticks_off()
    if x[-1] > 10**4 * start:  # room for every second power of ten
        axes.xaxis.set_major_locator(LogLocator(numticks=4))
    if high < 100 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))


def _write_ends(axes: Any, ends: Sequence[tuple[float, str, str]], gap: float = 0.1) -> None:
    """Write a word right of the end of each line, in its order, none over another."""
    to_share = axes.transScale + axes.transLimits
    x = axes.get_xlim()[1]
    found = sorted((float(to_share.transform((x, y))[1]), word, colour) for y, word, colour in ends)
    places = _spread([share for share, _, _ in found], gap)
    for (share, word, colour), place in zip(found, places, strict=True):
        line = {"arrowstyle": "-", "color": colour, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)}
        at = {"xycoords": "axes fraction", "textcoords": "axes fraction", "annotation_clip": False}
        axes.annotate(word, (1.0, share), (1.06, place), va="center", fontsize=8, arrowprops=line, **at)


def _spread(places: Sequence[float], gap: float) -> list[float]:
    """Return ascending places moved apart to at least `gap`, as little as possible and within 0 and 1 if they fit.

    >>> [round(place, 3) for place in _spread([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    """
    groups: list[list[float]] = []
    for place in places:
        groups.append([place])
        while len(groups) > 1 and _start(groups[-1], gap) < _start(groups[-2], gap) + gap * len(groups[-2]):
            last = groups.pop()
            groups[-1] += last
    return [_start(group, gap) + gap * n for group in groups for n in range(len(group))]


def _start(group: Sequence[float], gap: float) -> float:
    """Return where the first of a group stands if they stand `gap` apart around their middle, within 0 and 1."""
    reach = gap * (len(group) - 1)
    return max(0.0, min(sum(group) / len(group) - reach / 2, 1.0 - reach))


def _share_legend(figure: Figure, grid: Sequence[Any]) -> None:
    """Put one legend for all panels above them, each name once; the figure grows by its height."""
    found = {name: line for axes in grid for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    names, room = list(found), 72 * figure.get_figwidth() - 8
    widths = [TextPath((0, 0), name, size=8.5).get_extents().width for name in names]
    counts = [math.ceil(len(names) / rows) for rows in range(1, len(names) + 1)]
    columns = next((count for count in counts if _legend_width(widths, count) <= room), 1)
    figure.set_figheight(figure.get_figheight() + 0.175 * math.ceil(len(names) / columns))
    look = {"ncols": columns, "fontsize": 8.5, "columnspacing": 1.2}
    figure.legend(found.values(), names, loc="outside upper left", **look)


def _legend_width(widths: Sequence[float], columns: int) -> float:
    """Return how many points wide a legend of names with these widths is, lines and gaps included."""
    return float(sum(43 + max(part) for part in np.array_split(widths, columns)))


def wrapped(text: str, width: int) -> str:
    """Return text in lines of about the same length, none longer than `width` unless a word is."""
    lines = math.ceil(len(text) / width)
    for even in range(math.ceil(len(text) / max(1, lines)), width):
        if len(found := textwrap.wrap(text, even, break_long_words=False)) <= lines:
            return "\n".join(found)
    return "\n".join(textwrap.wrap(text, width, break_long_words=False))


def _rounds_of(runs: int) -> str:
    """Return what the axis of rounds says."""
    return "rounds (one run)" if runs == 1 else f"rounds (mean of {runs} runs, quartiles shaded)"


def _thousands(value: float, _: Any = None) -> str:
    text = f"{value:,.0f}" if abs(value) >= 10 or value == 0 else f"{value:.3g}"
    return text.replace("-", MINUS)


def _power(x: Any, mean: Floats) -> str:
    """Return "T^0.503", how a mean grew; its last value where that cannot be told.

    >>> _power(np.arange(1, 101), np.sqrt(np.arange(1, 101)))
    'T^0.500'
    """
    power = growth_exponent(x, mean)
    if not math.isfinite(power):
        return _thousands(mean[-1])
    return f"T^{power:.{3 if abs(power) < 1 else 2}f}".replace("-", MINUS)
