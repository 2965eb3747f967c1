"""Rows of a text file with a JSON object in each line."""

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from wakeful.inputs import must_be
from wakeful.logs.chunks import GLANCE, MOST_BYTES, Chunk, SharedLists, chunk_rows, shortened
from wakeful.logs.text import open_text

FIRST_ROWS = 1000  # of a file, which show its columns


class JsonSource:
    """A text file with a JSON object in each line; the first rows say which columns there are."""

    unit = "line"
    is_text = False

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self.label = path, str(path)
        keys: dict[str, None] = {}
        first_fault = ""
        with open_text(path) as (text, _):
            for number, line in enumerate(islice(text, FIRST_ROWS), start=1):
                if not line.isspace():
                    row, fault = _parsed(line)
                    keys |= dict.fromkeys(row)
                    first_fault = first_fault or (fault and f"line {number} of {self.label}: {fault}")
        self.names = tuple(keys)
        if first_fault and not keys:  # no column is missing: there is no row
            raise ValueError(first_fault)

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows; what a row does not have is None; blank lines are no rows."""
        size = chunk_rows(len(self.names))
        with open_text(self._path) as (text, measured):
            lists = SharedLists()
            number, more = 1, True
            while more:
                columns: dict[str, list[Any]] = {name: [] for name in wanted}
                starts: list[int] = []
                faults: dict[int, str] = {}
                before = measured.bytes
                while more and len(starts) < size and measured.bytes - before <= MOST_BYTES:
                    lines = _next_lines(text, min(GLANCE, size - len(starts)))
                    faults |= _add_rows(lines, number, columns, starts, lists)
                    number += len(lines)
                    more = bool(lines)
                yield Chunk(np.array(starts, np.int64), dict(columns), faults)


def _next_lines(text: Iterable[str], most: int) -> list[str]:
    """Return the next lines, at most `most`, fewer if they are long: their values take more memory than they do."""
    lines, letters = [], 0
    for line in islice(text, most):
        lines.append(line)
        letters += len(line)
        if letters > MOST_BYTES:
            break
    return lines


def _add_rows(
    lines: list[str], number: int, columns: dict[str, list[Any]], starts: list[int], lists: SharedLists
) -> dict[int, str]:
    """Add the rows of some lines, the first of which has this number, to columns; return what is wrong, and where."""
    faults: dict[int, str] = {}
    objects = _all_parsed(lines)
    if objects is not None:
        starts.extend(range(number, number + len(lines)))
    else:
        objects = []
        for n, line in enumerate(lines, start=number):
            if not line.isspace():
                row, fault = _parsed(line)
                objects.append(row)
                if fault:
                    faults[len(starts)] = fault
                starts.append(n)
    for name, column in columns.items():
        values = [row.get(name) for row in objects]
        column.extend(map(lists.of, values) if list in set(map(type, values)) else values)
    return faults


def _all_parsed(lines: list[str]) -> list[dict[str, Any]] | None:
    """Return the objects of lines, if each is one, parsed in one go, which is faster; None if any is not.

    They are parsed as a list, with a random text between each two. If the list has these texts where they belong, none
    is inside an object or a text, so that each line is one value for itself.
    """
    mark = secrets.token_hex(8)
    try:
        found = json.loads("[" + f',"{mark}",'.join(lines) + "]")
    except (ValueError, RecursionError):
        return None
    objects = found[::2]
    if len(objects) != len(lines) or found[1::2] != [mark] * (len(lines) - 1):
        return None
    return objects if set(map(type, objects)) == {dict} else None


def _parsed(line: str) -> tuple[dict[str, Any], str]:
    """Return the object of a line, and what is wrong with it, if anything."""
    text = line.strip()
    try:
        found = json.loads(text)
    except json.JSONDecodeError as problem:
        reason = f"{problem.msg.removesuffix(' at')} at column {problem.colno}"
        return {}, must_be("row", "a JSON object", shortened(text)) + f": {reason}"
    except (ValueError, RecursionError) as problem:
        return {}, must_be("row", "a JSON object", shortened(text)) + f": {problem}"
    if isinstance(found, dict):
        return found, ""
    return {}, must_be("row", "a JSON object", shortened(text))
