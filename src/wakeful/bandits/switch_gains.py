"""`SwitchGains`: the K x K array of estimated switch gains, with the names of the arms and standard errors."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from wakeful.bandits.tables import Column, Table
from wakeful.inputs import must_be
from wakeful.numerics.arrays import Floats


class SwitchGains(np.ndarray[Any, np.dtype[np.float64]]):
    """An array `[i, j]`: the estimated gain, had arm j been played whenever i was played and both were awake.

    `errors` are the standard errors of the estimates, and `arms` the names of rows and columns. Parts of the array and
    what is computed from it are plain numbers: they have neither.
    """

    arms: tuple[Hashable, ...] | None
    errors: Floats | None

    def __array_finalize__(self, source: Any) -> None:
        """Start without names and errors, which belong to the whole array only."""
        self.arms = self.errors = None

    def between(self, played: Hashable, instead: Hashable) -> tuple[float, float]:
        """Return the gain of playing `instead` whenever `played` was, and its standard error."""
        arms, errors = self._named()
        for name, value in (("played", played), ("instead", instead)):
            if value not in arms:
                raise ValueError(must_be(name, f"among the arms {', '.join(map(repr, arms))}", value))
        at = arms.index(played), arms.index(instead)
        return float(self[at]), float(errors[at])

    def table(self) -> Table:
        """Return a row for each pair of different arms, the largest gain first; it prints, and has `to_frame()`."""
        arms, errors = self._named()
        pairs = [(i, j) for i in range(len(arms)) for j in range(len(arms)) if i != j]
        rows = [(arms[i], arms[j], float(self[i, j]), float(errors[i, j])) for i, j in pairs]
        rows.sort(key=lambda row: -row[2])
        columns = (
            Column("played", "played", number=False),
            Column("instead", "instead", number=False),
            Column("gain", "estimated gain", "{:z,.2f}".format),
            Column("standard_error", "standard error", "{:,.2f}".format),
        )
        return Table(columns, rows, "Estimated gains of playing another arm instead, over all decisions")

    def _named(self) -> tuple[tuple[Hashable, ...], Floats]:
        """Return names and errors, or say that this is only a part of the array."""
        if self.arms is None or self.errors is None:
            raise ValueError(must_be("array", "the whole one that Bandit.switch_gains returned", self.shape))
        return self.arms, self.errors


def named_gains(gains: Floats, arms: tuple[Hashable, ...], errors: Floats) -> SwitchGains:
    """Return gains with names and standard errors."""
    named = np.array(gains, np.float64).view(SwitchGains)
    named.arms, named.errors = arms, errors
    return named
