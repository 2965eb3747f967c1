"""What every source of rows gives: chunks of columns of plain values, of a limited size."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from wakeful.inputs import LONGEST_NAME
from wakeful.numerics.arrays import Ints

CHUNK_ROWS = 8192  # rows that are read at a time
MOST_VALUES = 1 << 20  # of a chunk, rows times columns: a table of many columns is read few rows at a time
MOST_BYTES = 1 << 23  # of text of a chunk, unless one line alone has more
UNIT_MARK = "\x1f"  # a character that names do not have: the separator of units
MOST_SHARED = 1 << 14  # lists that are kept to be found again
MOST_SHARED_LETTERS = 1 << 23  # of all lists that are kept
GLANCE = 64  # rows of a text that are read before their size is looked at


class Chunk(NamedTuple):
    """Some rows, by column; a row that is no row has a fault, and None in every column."""

    lines: Ints  # where each row begins: the line of a file, or the number of a row, counted from 1
    columns: dict[str, Sequence[Any]]
    faults: dict[int, str]  # by the position in the chunk


class Source(Protocol):
    """Rows that can be read any number of times."""

    label: str  # what it is called
    unit: str  # what is counted: "line" or "row"
    names: tuple[str, ...]  # of the columns
    is_text: bool  # whether every value is a text, with blanks around it that mean nothing

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield all rows, with the columns `wanted`."""


class SharedLists:
    """Lists of texts as tuples, of which equal ones are the same object: to compare and to hash them is then fast."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._letters = 0  # of all that are known

    def of(self, value: Any) -> Any:
        """Return the tuple of a list of texts; any other value as it is."""
        if type(value) is not list:
            return value
        try:
            joined = UNIT_MARK.join(value)
        except TypeError:
            return value
        found = self._known.get(joined)
        if found is None:
            if joined.count(UNIT_MARK) != len(value) - 1:  # a text has the mark in it, or there is none
                return value
            self._letters += len(joined)
            if len(self._known) >= MOST_SHARED or self._letters > MOST_SHARED_LETTERS:
                self._known.clear()
                self._letters = len(joined)
            found = self._known[joined] = tuple(value)
        return found if len(found) == len(value) else value


def chunk_rows(width: int) -> int:
    """Return how many rows of so many columns are read at a time."""
    return max(1, min(CHUNK_ROWS, MOST_VALUES // max(width, 1)))


def shortened(value: Any) -> Any:
    """Return a value to be shown in an error; of a long text its beginning."""
    if isinstance(value, str) and len(value) > LONGEST_NAME:
        return value[:LONGEST_NAME] + "..."
    if isinstance(value, list | tuple) and len(value) > LONGEST_NAME:
        return [*value[:10], "..."]
    return value
