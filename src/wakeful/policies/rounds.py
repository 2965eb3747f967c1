"""Checks of (T, K) tables, with a row for each of T rounds and a column for each of K arms."""

from typing import Any

import numpy as np

from wakeful.inputs import must_be, numbers, truths
from wakeful.numerics.arrays import Floats, Mask


def checked_awake(name: str, value: Any, n_arms: int | None = None) -> Mask:
    """Return which arms are awake as a contiguous (T, K) array, of `n_arms` arms if that is given."""
    rule = "a (T, K) array of booleans, K at least 1" if n_arms is None else f"a (T, {n_arms}) array of booleans"
    mask = truths(name, value, rule)
    if mask.ndim != 2 or mask.shape[1] == 0 or n_arms not in {None, mask.shape[1]}:
        raise ValueError(must_be(name, rule, value))
    return np.ascontiguousarray(mask)


def checked_numbers(name: str, value: Any, awake: Mask) -> Floats:
    """Return losses or the like as a contiguous array of the shape of `awake`."""
    array = numbers(name, value, "a (T, K) array of numbers")
    if array.shape != awake.shape:
        raise ValueError(must_be(name, f"of the shape of awake, {awake.shape}", array.shape))
    return np.ascontiguousarray(array)


def refuse_nobody(name: str, awake: Mask) -> None:
    """Raise if there is a round in which no arm is awake."""
    nobody = np.flatnonzero(~awake.any(axis=1))
    if nobody.size:
        raise ValueError(must_be(name, "true somewhere in every row", f"none in row {nobody[0]}"))


def refuse_outside(name: str, values: Floats, awake: Mask) -> None:
    """Raise if an awake arm has a number that is not between 0 and 1."""
    wild = values[awake & ~((values >= 0.0) & (values <= 1.0))]
    if wild.size:
        raise ValueError(must_be(name, "between 0 and 1 where awake", float(wild[0])))
