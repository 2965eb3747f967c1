"""The store: a folder with a file for each piece of work that is done, so that a stopped run continues where it was."""

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wakeful import files
from wakeful.inputs import must_be
from wakeful.lab.unit import Outcome, Unit
from wakeful.limits import MAX_BYTES

UNIT = "wakeful unit"  # what the file of a unit is called in its header
log = logging.getLogger("wakeful")

Arrays = dict[str, np.ndarray[Any, Any]]


def read_done(
    path: Path, kind: str, checked: Callable[[Arrays], Arrays] = lambda arrays: arrays, most: int = MAX_BYTES
) -> Arrays | None:
    """Return the arrays of a file if there is one and `checked` takes them; a warning says that one cannot be read."""
    if not path.exists():
        return None
    try:
        return files.read(path, kind, lambda _, arrays: checked(arrays), most)
    except ValueError as problem:
        log.warning("done again, since it cannot be read: %s", problem)
        return None


def read_outcome(folder: Path | None, unit: Unit) -> Outcome | None:
    """Return the outcome of a unit that was stored before, if there is a file of it and it is whole."""
    if folder is None or unit.key is None:
        return None
    most = MAX_BYTES + 8 * (math.prod(unit.shape) + unit.world.n_arms**2)  # whatever size an honest one has
    return read_done(folder / f"{unit.key}.unit", UNIT, lambda arrays: _whole(arrays, unit), most)


def write_outcome(folder: Path | None, unit: Unit, outcome: Outcome | None) -> None:
    """Write the outcome of a unit, atomically."""
    if folder is not None and outcome is not None and unit.key is not None:
        about = {"kind": UNIT, "policy": repr(unit.policy), "world": repr(unit.world), "runs": [unit.first, unit.last]}
        files.write(folder / f"{unit.key}.unit", about, outcome)


def _whole(arrays: Outcome, unit: Unit) -> Outcome:
    """Return what a file of a unit holds, if names, types and shapes are those of `run_unit` and all is finite."""
    size = unit.world.n_arms if "internal" in unit.regrets else 0
    shapes = {"curves": unit.shape, "internal": (size, size)}
    if set(arrays) != set(shapes):
        raise ValueError(must_be("arrays", ", ".join(shapes), sorted(arrays)))
    for name, shape in shapes.items():
        array = arrays[name]
        if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
            raise ValueError(must_be(name, f"finite numbers of shape {shape}", array))
    return arrays
