"""Figures of the lab: the only file that imports matplotlib."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from wakeful.entries import Floats, Mask
from wakeful.inputs import must_be
from wakeful.results import Results

# Colours that people with any kind of colour vision can tell apart (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#000000")
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "savefig.dpi": 150,
}


def regret_curves(
    results: Results,
    regret: str = "policy",
    *,
    policies: Iterable[str] | None = None,
    loglog: bool = False,
    bounds: Sequence[tuple[str, Floats]] = (),
    title: str | None = None,
) -> Figure:
    """Draw mean regret over rounds, a band from the lower to the upper quartile, and bounds as dashed lines.

    With `loglog`, the legend names the slope over the second half of the (logarithmic) horizon: 1 is linear, 0.5 is
    the square root.
    """
    figure, axes = _canvas()
    x = results.checkpoints
    for colour, policy in zip(_colours(), policies or results.policies, strict=False):
        curves = results.curve(regret, policy)
        mean = curves.mean(axis=0)
        label = f"{policy} (slope {_slope(x, mean):.2f})" if loglog else policy
        axes.fill_between(x, *np.quantile(curves, [0.25, 0.75], axis=0), color=colour, alpha=0.18, linewidth=0)
        axes.plot(x, mean, color=colour, label=label, linewidth=1.8)
    for dashes, (name, values) in zip(_dashes(), bounds, strict=False):
        axes.plot(x, values, color="#777777", linestyle=dashes, linewidth=1.2, label=name)
    if loglog:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.5)
    else:
        axes.set_xlim(0, results.rounds)
        axes.xaxis.set_major_formatter(FuncFormatter(_thousands))
        axes.yaxis.set_major_formatter(FuncFormatter(_thousands))
    axes.set_xlabel("rounds")
    axes.set_ylabel(f"{regret} regret")
    axes.set_title(title or f"{results.world}: mean of {results.runs} runs, quartiles shaded", loc="left", fontsize=10)
    axes.legend(loc="upper left")
    return figure


def internal_heat_map(results: Results, policy: str, names: Sequence[str] | None = None) -> Figure:
    """Draw the mean internal regret R(i -> j) at the last round: red where playing j instead of i would have paid."""
    if policy not in results.policies:
        raise ValueError(must_be("policy", f"one of {', '.join(results.policies)}", policy))
    matrix = results.internal[list(results.policies).index(policy)]
    if not matrix.size:
        raise ValueError(must_be("results", "of a simulation with regrets=('internal', ...)", list(results.regrets)))
    labels = names or [str(k) for k in range(len(matrix))]
    figure, axes = _canvas(5.2, 4.6)
    axes.grid(False)
    reach = max(float(matrix.max()), 0.02 * float(-matrix.min()), 1e-9)  # losses avoided must not drown regrets
    image = axes.imshow(matrix, cmap="RdBu_r", norm=TwoSlopeNorm(0.0, -reach, reach), interpolation="nearest")
    for i, row in enumerate(matrix):
        for j, value in enumerate(row):
            if i != j and len(matrix) <= 12:
                shade = "white" if abs(value) > 0.6 * reach else "black"
                axes.text(j, i, f"{value:,.0f}", ha="center", va="center", fontsize=8, color=shade)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xlabel("arm j, had it been played instead")
    axes.set_ylabel("arm i, played")
    axes.set_title(f"{policy}: internal regret i to j", loc="left", fontsize=10)
    figure.colorbar(image, ax=axes, label="regret", shrink=0.85, extend="min")
    return figure


def availability_strip(awake: Mask, choices: Any = None, names: Sequence[str] | None = None) -> Figure:
    """Draw who is awake over the rounds, one line for each arm, and a mark where it was played."""
    n_arms = awake.shape[1]
    figure, axes = _canvas(8.0, 0.6 + 0.3 * n_arms)
    axes.grid(False)
    axes.imshow(awake.T, aspect="auto", cmap="Blues", vmin=0, vmax=2, interpolation="nearest")
    if choices is not None:
        played = np.asarray(choices) >= 0
        axes.plot(np.flatnonzero(played), np.asarray(choices)[played], "|", color=COLOURS[1], markersize=6)
    axes.set_yticks(range(n_arms), names or [str(k) for k in range(n_arms)])
    axes.set_xlabel("rounds")
    axes.set_ylabel("arm")
    axes.set_title("awake (blue)" + (" and played (orange)" if choices is not None else ""), loc="left", fontsize=10)
    return figure


def probabilities_over_time(
    laws: dict[tuple[int, ...], Floats], rounds: Any, names: Sequence[str] | None = None
) -> Figure:
    """Draw, for each awake set, how its law moves: stacked shares of its arms over the rounds."""
    figure = Figure(figsize=(7.0, 1.7 * len(laws)), layout="constrained")
    with mpl.rc_context(STYLE):
        panels = figure.subplots(len(laws), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (members, law) in zip(panels, laws.items(), strict=True):
            labels = [names[k] if names else str(k) for k in members]
            shown = [law[:, k] for k in members]
            axes.stackplot(rounds, shown, labels=labels, colors=[COLOURS[k % len(COLOURS)] for k in members])
            axes.set_ylim(0, 1)
            axes.set_ylabel("probability")
            axes.set_title("awake: " + ", ".join(labels), loc="left", fontsize=9)
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        panels[-1].set_xlabel("rounds")
    return figure


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure; the ending of `path` says in which format."""
    with mpl.rc_context(STYLE):
        figure.savefig(path)


def _canvas(width: float = 7.0, height: float = 4.2) -> tuple[Figure, Any]:
    """Return an empty figure in our style; no window system is touched."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots()


def _colours() -> Iterable[str]:
    while True:
        yield from COLOURS


def _dashes() -> Iterable[str]:
    while True:
        yield from ("--", ":", "-.")


def _thousands(value: float, _: Any = None) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 or value == 0 else f"{value:g}"


def _slope(x: Any, y: Floats) -> float:
    """Return the slope of log y over log x on the second half of the logarithmic range."""
    late = (x >= np.sqrt(x[-1])) & (y > 0)
    if late.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(x[late]), np.log(y[late]), 1)[0])
