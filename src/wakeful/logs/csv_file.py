"""Rows of a text file of columns that are separated by commas."""

import csv
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np

from wakeful.inputs import must_be
from wakeful.logs.chunks import GLANCE, MOST_BYTES, Chunk, chunk_rows, shortened
from wakeful.logs.text import LONGEST_LINE, Measured, open_text

OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_limit = threading.Lock()


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let the module csv read fields as long as our lines may be; its limit is global, so it is put back at once."""
    with _limit:
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            yield
        finally:
            csv.field_size_limit(before)


class CsvSource:
    """A text file of columns, separated by commas, with a header."""

    unit = "line"
    is_text = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self.label = path, str(path)
        with open_text(path) as (text, _):
            self.names = tuple(name.strip() for name in self._first(csv.reader(text, strict=True)))
        self._refuse_other_separators()

    def _first(self, reader: Any) -> list[str]:
        """Return the header: the first row that is not blank."""
        try:
            with _long_fields():
                return next((row for row in reader if row), [])
        except csv.Error as problem:
            raise self._broken(reader.line_num, problem) from problem

    def _refuse_other_separators(self) -> None:
        """Raise if the header is one name, with something between its parts that separates columns elsewhere."""
        for mark, called in OTHER_SEPARATORS.items():
            if len(self.names) == 1 and mark in self.names[0]:
                rule = f"a text file of columns separated by commas, not by {called}"
                hint = f" (wakeful takes a data frame too, such as pandas.read_csv({self.label!r}, sep={mark!r}))"
                raise ValueError(must_be("path", rule, self.label) + f": {shortened(self.names[0])!r}" + hint)

    def _broken(self, line: int, problem: Exception) -> ValueError:
        """Return the error for a text that is no text of columns."""
        return ValueError(must_be(f"line {line}", "of a text file of columns", self.label) + f": {problem}")

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows after the header."""
        with open_text(self._path) as (text, measured):
            reader = csv.reader(text, strict=True)  # a quote that does not end would swallow all other rows
            self._first(reader)
            yield from self._all_chunks(reader, measured, wanted)

    def _all_chunks(self, reader: Any, measured: Measured, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows; blank lines are no rows, and a quoted line break is no new row."""
        width = len(self.names)
        size = chunk_rows(width)
        pick = _picker([self.names.index(name) for name in wanted])
        more = True
        while more:
            start, before = reader.line_num, measured.bytes
            columns: list[list[Any]] = [[] for _ in wanted]
            ends: list[int] = []
            faults: dict[int, str] = {}
            while more and len(ends) < size and measured.bytes - before < MOST_BYTES:
                line, held = reader.line_num, []
                try:
                    with _long_fields():
                        for row in islice(reader, min(GLANCE, size - len(ends))):
                            if len(row) == width:
                                held.append(pick(row))
                                ends.append(reader.line_num)
                            elif row:
                                faults[len(ends)] = must_be("fields", f"{width}, as many as the header has", len(row))
                                held.append((None,) * len(wanted))
                                ends.append(reader.line_num)
                            elif ends:
                                ends[-1] = reader.line_num
                            else:
                                start = reader.line_num
                            if measured.bytes - before >= MOST_BYTES:
                                break
                except csv.Error as problem:
                    raise self._broken((ends[-1] if ends else start) + 1, problem) from problem
                for column, values in zip(columns, zip(*held, strict=True), strict=bool(held)):
                    column.extend(values)
                more = reader.line_num > line
            starts = np.array([start, *ends[:-1]][: len(ends)], np.int64) + 1
            yield Chunk(starts, dict(zip(wanted, columns, strict=True)), faults)


def _picker(places: list[int]) -> Any:
    """Return what takes the fields at these places out of a row, as a tuple, of one field too."""
    return itemgetter(*places) if len(places) > 1 else lambda row: tuple(row[place] for place in places)
