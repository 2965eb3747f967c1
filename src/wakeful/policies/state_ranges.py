"""Ranges of the numbers in a state: each policy declares them by field, and they are checked when a state comes in."""

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from wakeful.inputs import must_be
from wakeful.policies.kernels import FLOOR

MOST = 2**53  # decisions or observations: whole numbers up to here are exact in double precision


class Range(NamedTuple):
    """The numbers from `low` to `high`, both included; if `whole`, those without a fraction."""

    low: float
    high: float
    whole: bool = False

    def holds(self, array: Any) -> bool:
        """Whether all numbers of an array lie in the range; NaN never does."""
        if array.size == 0:
            return True
        low, high = array.min().item(), array.max().item()  # numbers of Python, whatever type the array has
        return bool(self.low <= low and high <= self.high and not (self.whole and (array % 1).any()))

    def __str__(self) -> str:
        """Say it in words."""
        return f"{'whole ' if self.whole else ''}numbers from {self.low:.16g} to {self.high:.16g}"


COUNTS = Range(0, MOST, whole=True)  # of decisions, of observations
TOTALS = Range(0.0, MOST)  # sums of losses or shares of wins, each between 0 and 1
ESTIMATES = Range(0.0, MOST / FLOOR)  # sums of losses divided by probabilities, none of which is below FLOOR
DIFFERENCES = Range(-MOST / FLOOR, MOST / FLOOR)  # of such sums
ANY_NUMBER = Range(-1e200, 1e200)  # any, where a policy says nothing of a field of fractions
WHOLE_NUMBERS = Range(0, 2**63 - 1)  # any, where it says nothing of a field of whole numbers

NOTHING = Range(0.0, 0.0)  # the memo of a policy that has none
ANY_MEMO = Range(0.0, sys.float_info.max)

Ranges = Mapping[str, Range]
DEFAULTS = {"f": ANY_NUMBER, "i": WHOLE_NUMBERS, "u": WHOLE_NUMBERS}  # by the kind of number


def refuse_out_of_range(state: Any, ranges: Ranges) -> None:
    """Raise unless every field of a state of arrays holds what `ranges` says, or by default any sound number."""
    for name, array in zip(state._fields, state, strict=True):
        allowed = ranges.get(name) or DEFAULTS.get(array.dtype.kind)
        if allowed is not None and not allowed.holds(array):
            raise ValueError(must_be("state", f"one whose {name} holds {allowed}", array))


def within(ranges: Ranges, prefix: str) -> dict[str, Range]:
    """Return the ranges of the fields of a policy inside another one, where their names begin with `prefix`."""
    return {f"{prefix}{name}": allowed for name, allowed in ranges.items()}


def is_like(state: Any, fresh: Any, free: bool = False) -> bool:
    """Whether `state` has the fields, types and shapes (if `free`, dimensions) of `fresh`, as compiled code needs."""
    return type(state) is type(fresh) and all(
        isinstance(array, np.ndarray)
        and array.dtype == like.dtype
        and (array.shape == like.shape or (free and array.ndim == like.ndim))
        and array.flags.c_contiguous
        and array.flags.writeable
        and array.flags.aligned
        for array, like in zip(state, fresh, strict=True)
    )
