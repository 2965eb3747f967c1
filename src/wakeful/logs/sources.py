"""Where rows come from: files of three formats, and tables in memory; all as chunks of columns of plain values."""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from wakeful import atomic
from wakeful.inputs import LONGEST_NAME, must_be
from wakeful.lab.tables import arrow
from wakeful.logs.text import Measured, open_text
from wakeful.numerics.arrays import Ints

CHUNK_ROWS = 8192  # rows that are read at a time
FORMATS = (".csv", ".jsonl", ".parquet")
MOST_VALUES = 1 << 20  # of a chunk, rows times columns: a table of many columns is read few rows at a time
MOST_BYTES = 1 << 23  # of text of a chunk, unless one line alone has more
MOST_ROWS_PER_BYTE = 1000  # of a Parquet file, in which a few bytes can claim any number of equal rows
GLANCE = 64  # rows that are read before their size is looked at
FIRST_ROWS = 1000  # of a file of JSON lines, which show its columns
UNIT = "\x1f"  # a character that names do not have: the separator of units
TABLE_RULE = "a data frame of pandas or polars, an Arrow table, or a mapping of column names to lists"


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

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield all rows, with the columns `wanted`."""


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


class CsvSource:
    """A text file of columns, separated by commas, with a header."""

    unit = "line"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self.label = path, str(path)
        with open_text(path) as (text, _):
            self.names = tuple(name.strip() for name in self._first(csv.reader(text)))

    def _first(self, reader: Any) -> list[str]:
        """Return the header: the first row that is not blank."""
        try:
            return next((row for row in reader if row), [])
        except csv.Error as problem:
            raise self._broken(reader, problem) from problem

    def _broken(self, reader: Any, problem: Exception) -> ValueError:
        """Return the error for a text that is no text of columns."""
        place = must_be(f"line {reader.line_num}", "of a text file of columns", self.label)
        return ValueError(f"{place}: {problem}")

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows after the header."""
        with open_text(self._path) as (text, measured):
            reader = csv.reader(text)
            self._first(reader)
            try:
                yield from self._all_chunks(reader, measured, wanted)
            except csv.Error as problem:
                raise self._broken(reader, problem) from problem

    def _all_chunks(self, reader: Any, measured: Measured, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows; blank lines are no rows, and a quoted line break is no new row."""
        width = len(self.names)
        size = max(1, min(CHUNK_ROWS, MOST_VALUES // max(width, 1)))
        pick = itemgetter(*[self.names.index(name) for name in wanted])
        more = True
        while more:
            start, before = reader.line_num, measured.bytes
            columns: list[list[Any]] = [[] for _ in wanted]
            ends: list[int] = []
            faults: dict[int, str] = {}
            while more and len(ends) < size and measured.bytes - before < MOST_BYTES:
                line, held = reader.line_num, []
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
                for column, values in zip(columns, zip(*held, strict=True), strict=bool(held)):
                    column.extend(values)
                more = reader.line_num > line
            starts = np.array([start, *ends[:-1]][: len(ends)], np.int64) + 1
            yield Chunk(starts, dict(zip(wanted, columns, strict=True)), faults)


class JsonSource:
    """A text file with a JSON object in each line; the first rows say which columns there are."""

    unit = "line"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self.label = path, str(path)
        with open_text(path) as (text, _):
            found = (_parsed(line)[0] for line in islice(text, FIRST_ROWS) if line.strip())
            self.names = tuple(dict.fromkeys(key for row in found for key in row))

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows; what a row does not have is None; blank lines are no rows."""
        size = max(1, min(CHUNK_ROWS, MOST_VALUES // max(len(self.names), 1)))
        with open_text(self._path) as (text, measured):
            held: list[Any] = []
            starts: list[int] = []
            faults: dict[int, str] = {}
            before = measured.bytes
            for number, line in enumerate(text, start=1):
                if line.isspace():
                    continue
                row, fault = _parsed(line)
                if fault:
                    faults[len(held)] = fault
                held.append(tuple(map(row.get, wanted)))
                starts.append(number)
                if len(held) >= size or measured.bytes - before > MOST_BYTES:
                    yield _chunk(starts, held, wanted, faults)
                    held, starts, faults, before = [], [], {}, measured.bytes
            yield _chunk(starts, held, wanted, faults)


def _chunk(starts: list[int], held: list[Any], wanted: Sequence[str], faults: dict[int, str]) -> Chunk:
    """Return rows by column."""
    columns = zip(*held, strict=True) if held else ((),) * len(wanted)
    return Chunk(np.array(starts, np.int64), dict(zip(wanted, columns, strict=True)), faults)


def _parsed(line: str) -> tuple[dict[str, Any], str]:
    """Return the object of a line, and what is wrong with it, if anything."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as problem:
        return {}, must_be("row", "a JSON object", shortened(line.strip())) + f": {problem}"
    if isinstance(found, dict):
        return found, ""
    return {}, must_be("row", "a JSON object", shortened(line.strip()))


def shortened(value: Any) -> Any:
    """Return a value to be shown in an error; of a long text its beginning."""
    if isinstance(value, str) and len(value) > LONGEST_NAME:
        return value[:LONGEST_NAME] + "..."
    if isinstance(value, list | tuple) and len(value) > LONGEST_NAME:
        return [*value[:10], "..."]
    return value


class ParquetSource:
    """A Parquet file; needs pyarrow."""

    unit = "row"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self.label = path, str(path)
        with atomic.open_regular(path):  # that there is none is the system's own error
            pass
        arrow()
        with self._guarded(self._open) as file:
            self.names = tuple(file.schema_arrow.names)
            rows, size = file.metadata.num_rows, os.stat(path).st_size
        if rows > MOST_ROWS_PER_BYTE * size:  # no log is so monotonous
            rule = f"a log of at most {MOST_ROWS_PER_BYTE} rows for each byte of its file"
            raise ValueError(must_be("path", rule, self.label) + f": {rows:,} rows in {size:,} bytes")

    def _open(self) -> Any:
        return arrow()[1].ParquetFile(self._path, page_checksum_verification=True)

    def _guarded(self, work: Any) -> Any:
        """Return what `work` does; whatever goes wrong with bytes from outside, it is one sentence."""
        try:
            return work()
        except Exception as problem:
            rule = "a Parquet file, complete and unchanged"
            raise ValueError(must_be("path", rule, self.label) + f": {problem}") from problem

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        """Yield the rows, read in batches; a file of many columns in small ones."""
        size = max(1, min(CHUNK_ROWS, MOST_VALUES // max(len(wanted), 1)))
        file = self._guarded(self._open)
        with file:
            batches = self._guarded(lambda: file.iter_batches(size, columns=list(wanted)))
            line = 1
            while (batch := self._guarded(lambda: next(batches, None))) is not None:
                columns = {name: self._guarded(partial(_values, batch.column(name))) for name in wanted}
                yield Chunk(np.arange(line, line + batch.num_rows), columns, {})
                line += batch.num_rows


def _values(column: Any) -> Sequence[Any]:
    """Return a column of Arrow as plain values; of lists of texts, equal ones are the same tuple, made once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type)):
        return list(column.to_pylist())
    joined = pc.binary_join(column, UNIT)
    if joined.null_count or pc.any(pc.match_substring(column.flatten(), UNIT)).as_py():
        return list(column.to_pylist())
    coded = joined.dictionary_encode()
    lists = [tuple(text.split(UNIT)) if text else () for text in coded.dictionary.to_pylist()]
    return [lists[n] for n in coded.indices.to_pylist()]


class TableSource:
    """A table in memory."""

    unit = "row"

    def __init__(self, table: Any) -> None:
        self._table = _known_table(table)
        self.label = "the table"
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
        size = max(1, min(CHUNK_ROWS, MOST_VALUES // max(len(wanted), 1)))
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


def _known_table(table: Any) -> Any:
    """Return a table whose columns can be sliced, or refuse `table`."""
    library = type(table).__module__.partition(".")[0]
    if isinstance(table, Mapping):
        lengths = {len(column) for column in table.values() if isinstance(column, Sequence | np.ndarray)}
        if len(lengths) > 1 or not all(isinstance(column, Sequence | np.ndarray) for column in table.values()):
            raise ValueError(must_be("log", "columns of the same length, each a list", dict(table)))
        return table
    if library in {"pandas", "polars"} and type(table).__name__ == "DataFrame":
        return table
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return arrow()[0].table(table)
    raise TypeError(must_be("log", TABLE_RULE, table))
