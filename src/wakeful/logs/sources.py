"""Where rows come from: a file of one of three formats, or a table in memory."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeful.inputs import must_be
from wakeful.logs.chunks import Chunk, Source, chunk_rows
from wakeful.logs.csv_file import CsvSource
from wakeful.logs.json_lines import JsonSource
from wakeful.logs.parquet import ParquetSource, arrow

FORMATS = (".csv", ".jsonl", ".parquet")
TABLE_ATTRIBUTES = ("columns", "column_names", "__arrow_c_stream__", "__arrow_c_array__")
TABLE_RULE = "a data frame of pandas or polars, an Arrow table, or a mapping of column names to lists"


def file_source(path: str | os.PathLike[str]) -> Source:
    """Return the rows of a file; the end of its name says how to read it."""
    kind = format_of(path)
    if kind == ".parquet":
        return ParquetSource(path)
    return CsvSource(path) if kind == ".csv" else JsonSource(path)


def format_of(path: str | os.PathLike[str]) -> str:
    """Return which of `FORMATS` a file has, by the end of its name."""
    suffixes = Path(path).suffixes
    kind = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else (suffixes or [""])[-1]
    if kind not in FORMATS or (kind == ".parquet" and suffixes[-1] == ".gz"):
        rule = f"a file that ends in {', '.join(FORMATS)}, or .csv.gz or .jsonl.gz"
        raise ValueError(must_be("path", rule, str(path)))
    return kind


class TableSource:
    """A table in memory."""

    unit = "row"
    is_text = False

    def __init__(self, table: Any, what: str = "log", label: str = "the table") -> None:
        self._table = _known_table(table, what)
        self.label = label
        given = list(table) if isinstance(table, Mapping) else self._column_names()
        self.names = tuple(name for name in given if isinstance(name, str))
        self._rows = len(next(iter(table.values()))) if isinstance(table, Mapping) and table else 0
        if not isinstance(table, Mapping):
            self._rows = len(self._table)

    def _column_names(self) -> list[Any]:
        """Return what the columns are called: an Arrow table has another word for it."""
        return list(getattr(self._table, "column_names", None) or self._table.columns)

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield slices of the columns as lists."""
        size = chunk_rows(len(wanted))
        for start in range(0, self._rows, size):
            end = min(start + size, self._rows)
            yield Chunk(np.arange(start + 1, end + 1), {name: self._part(name, start, end) for name in wanted}, {})

    def _part(self, name: str, start: int, end: int) -> Sequence[Any]:
        """Return a slice of a column as plain values."""
        column = self._table[name]
        if hasattr(column, "iloc"):
            column = column.iloc
        part = column[start:end]
        for method in ("to_pylist", "to_list", "tolist"):
            if hasattr(part, method):
                return list(getattr(part, method)())
        return list(part)


def is_table(value: Any) -> bool:
    """Whether this may be a table in memory: a mapping, a data frame, or what Arrow can read."""
    return isinstance(value, Mapping) or any(hasattr(value, name) for name in TABLE_ATTRIBUTES)


def _known_table(table: Any, what: str) -> Any:
    """Return a table whose columns can be sliced, or refuse `table`, which the caller calls `what`."""
    library = type(table).__module__.partition(".")[0]
    if isinstance(table, Mapping):
        lengths = {name: len(column) if _is_list(column) else column for name, column in table.items()}
        if len(set(map(str, lengths.values()))) > 1 or not all(map(_is_list, table.values())):
            raise ValueError(must_be(what, "columns of the same length, each a list", lengths))
        return table
    if library in {"pandas", "polars"} and type(table).__name__ == "DataFrame":
        return table
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return arrow()[0].table(table)
    raise TypeError(must_be(what, TABLE_RULE, table))


def _is_list(column: Any) -> bool:
    """Whether this is a list of values, of any library."""
    return (
        hasattr(column, "__len__") and hasattr(column, "__getitem__") and not isinstance(column, str | bytes | Mapping)
    )
