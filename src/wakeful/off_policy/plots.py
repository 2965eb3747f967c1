"""The figure of an evaluation: a point and an interval for each policy."""

import os
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from wakeful.lab.plots import COLOURS, FIGURE_WIDTH, INK, STYLE, save


def intervals(found: Sequence[Any], logged: float, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a figure with the estimated loss of every policy, its interval, and `logged`, the loss of the log.

    It is written to `path` as well, if one is given. A policy with a warning is orange, with a mark at its name.
    """
    rows = list(reversed(found))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(FIGURE_WIDTH, 1.1 + 0.35 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for n, row in enumerate(rows):
            if row.low <= row.high:  # there is an interval
                axes.plot([row.low, row.high], [n, n], color=COLOURS[0], linewidth=2.1, solid_capstyle="butt")
            axes.plot([row.value], [n], "o", color=COLOURS[1] if row.warning else COLOURS[0])
        axes.axvline(logged, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.set_yticks(range(len(rows)), [row.policy + (" (!)" if row.warning else "") for row in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_xlabel("mean loss (dashed: the log's own)")
        axes.grid(axis="y", visible=False)
        if path is not None:
            save(figure, path)
    return figure
