"""Writes a log: as CSV, JSON lines, Parquet, or a data frame."""

import csv
import gzip
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wakeful import atomic
from wakeful.inputs import UNICODE_RULE, must_be
from wakeful.logs.blocks import LogBlock
from wakeful.logs.chunks import shortened
from wakeful.logs.duplicates import id_text
from wakeful.logs.parquet import arrow
from wakeful.logs.sources import format_of
from wakeful.logs.values import SEPARATOR, is_missing

LARGEST_ID = 1 << 63  # of a whole number in a column; larger ones are written as texts

Columns = dict[str, list[Any]]  # by name, all of the same length


class Parts(NamedTuple):
    """Rows to be written: what the log uses, the names of its arms, and the columns that it does not use."""

    block: LogBlock
    arms: tuple[str, ...]
    others: dict[str, list[Any]]

    def columns(self) -> Columns:
        """Return all columns as plain values."""
        block = self.block
        found: Columns = {
            "awake": [[self.arms[k] for k in np.flatnonzero(mask)] for mask in block.awake],
            "arm": [self.arms[k] for k in block.arms],
        }
        if block.probabilities is not None:
            found["probability"] = block.probabilities.tolist()
        found["loss"] = block.losses.tolist()
        if block.times is not None:
            found["time"] = list(block.times)
        if block.ids is not None:
            found["id"] = _plain_ids(block.ids)
        return {**found, **self.others}


def _plain_ids(ids: Sequence[Any]) -> list[Any]:
    """Return ids of one kind, so that those which differ still do when they are read again; None for none."""
    known = [None if is_missing(value) else value for value in ids]
    kinds = {type(value) for value in known if value is not None}
    small = kinds == {int} and all(value is None or abs(value) < LARGEST_ID for value in known)
    return known if small or kinds <= {str} else [None if value is None else id_text(value) for value in known]


def write_parts(path: str | os.PathLike[str], parts: Iterator[Parts], arms: Sequence[str]) -> None:
    """Write rows to a file; the end of its name says how. After an error the old file stays."""
    write_columns(path, (part.columns() for part in parts), arms)


def write_columns(path: str | os.PathLike[str], blocks: Iterator[Columns], arms: Sequence[str]) -> None:
    """Write blocks of columns to a file; a column `awake` has lists of `arms`."""
    kind = format_of(path)
    if kind == ".csv":
        for name in arms:
            if SEPARATOR in name or name != name.strip():
                rule = f"without {SEPARATOR!r} and blanks at their ends, to be written as CSV"
                raise ValueError(must_be("names of arms", rule, shortened(name)))
    try:
        with atomic.replacing(path) as file:
            if kind == ".parquet":
                _write_parquet(file, blocks)
            else:
                with _text(file, Path(path).suffix == ".gz") as text:
                    (_write_csv if kind == ".csv" else _write_json)(text, blocks)
    except UnicodeEncodeError as problem:  # in a column that the log does not use
        raise ValueError(must_be("columns", UNICODE_RULE, shortened(problem.object))) from None


@contextmanager
def _text(file: Any, compressed: bool) -> Iterator[Any]:
    """Yield a text that is written into a file of bytes, which stays open."""
    inner: Any = gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) if compressed else file
    text = TextIOWrapper(inner, encoding="utf-8", newline="", write_through=True)
    yield text
    text.flush()
    text.detach()
    if compressed:
        inner.close()


def _write_csv(text: Any, blocks: Iterator[Columns]) -> None:
    """Write a header and the rows; awake arms are joined."""
    writer = csv.writer(text, lineterminator="\n")
    for n, columns in enumerate(blocks):
        if "awake" in columns:
            columns["awake"] = [SEPARATOR.join(names) for names in columns["awake"]]
        if n == 0:
            writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _write_json(text: Any, blocks: Iterator[Columns]) -> None:
    """Write an object in each line."""
    for columns in blocks:
        for row in zip(*columns.values(), strict=True):
            record = {name: _json_value(value) for name, value in zip(columns, row, strict=True)}
            text.write(json.dumps(record, ensure_ascii=False, default=str) + "\n")


def _json_value(value: Any) -> Any:
    """Return a value that JSON can have: NaN is null."""
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124


def _write_parquet(file: Any, blocks: Iterator[Columns]) -> None:
    """Write rows in groups; the first rows say what types the columns have."""
    pa, pq = arrow()
    writer: Any = None
    try:
        for columns in blocks:
            try:
                table = pa.table(columns, schema=None if writer is None else writer.schema)
                if writer is None:
                    table = _with_texts(pa, table)
                    writer = pq.ParquetWriter(file, table.schema, write_page_checksum=True)
                writer.write_table(table)
            except (pa.ArrowException, OverflowError, TypeError) as problem:
                rule = "of one type each, to be written as Parquet"
                raise ValueError(must_be("columns", rule, list(columns)) + f": {problem}") from problem
    finally:
        if writer is not None:
            writer.close()


def _with_texts(pa: Any, table: Any) -> Any:
    """Return a table in which columns without any value so far are columns of text."""
    fields = [pa.field(f.name, pa.string() if pa.types.is_null(f.type) else f.type) for f in table.schema]
    return table.cast(pa.schema(fields))


def frame_of(parts: Iterator[Parts]) -> Any:
    """Return rows as a data frame of pandas, or of polars where only that is installed."""
    columns: dict[str, list[Any]] = {}
    for part in parts:
        for name, values in part.columns().items():
            columns.setdefault(name, []).extend(values)
    try:
        return _framed(columns)
    except UnicodeEncodeError as problem:
        raise ValueError(must_be("columns", UNICODE_RULE, shortened(problem.object))) from None


def _framed(columns: dict[str, list[Any]]) -> Any:
    """Return columns as a data frame of the library that is installed."""
    try:
        import pandas as pd
    except ImportError:
        import polars as pl

        return pl.DataFrame(columns)
    return pd.DataFrame(columns)
