"""`LogBlock`: some rows of a log, as arrays."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from wakeful.inputs import LONGEST_NAME
from wakeful.numerics.arrays import Floats, Ints, Mask


class LogBlock(NamedTuple):
    """Some rows of a log: the awake set, the arm chosen, its probability and its loss, in the order of the log."""

    awake: Mask  # (n, K)
    arms: Ints  # (n,), positions in `Log.arms`
    probabilities: Floats | None  # (n,), None if the log has none
    losses: Floats  # (n,), between 0 and 1
    times: Sequence[Any] | None  # as they are in the log
    ids: Sequence[Any] | None  # as they are in the log
    lines: Ints  # (n,), where each row begins: the line of a text file, else the number of the row, from 1


def taken(block: LogBlock, rows: Any) -> LogBlock:
    """Return some rows of a block: a slice, or positions."""
    places = range(len(block.arms))[rows] if isinstance(rows, slice) else rows.tolist()

    def part(values: Sequence[Any] | None) -> Sequence[Any] | None:
        return None if values is None else [values[n] for n in places]

    p = block.probabilities
    return LogBlock(
        block.awake[rows],
        block.arms[rows],
        None if p is None else p[rows],
        block.losses[rows],
        part(block.times),
        part(block.ids),
        block.lines[rows],
    )


def natural_order(names: Iterable[str]) -> list[str]:
    """Return names in their order: numbers by size if all are, else alphabetically."""
    found = list(names)
    if all(_is_number(name) for name in found):
        return sorted(found, key=lambda name: (int(name), name))
    return sorted(found)


def _is_number(name: str) -> bool:
    return name.removeprefix("-").isdecimal() and name.isascii() and len(name) <= LONGEST_NAME
