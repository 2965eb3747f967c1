"""Parquet files, read in batches of rows; they need pyarrow."""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from wakeful import atomic
from wakeful.inputs import must_be
from wakeful.logs.chunks import UNIT_MARK, Chunk, chunk_rows

LIST_VALUES = 8  # values of a list count as one value of a column, since equal lists are made once
MOST_ROWS_PER_BYTE = 1000  # of a file, in which a few bytes can claim any number of equal rows


def arrow() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet part, or say how to get them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("Parquet files need the extra 'lab': pip install 'wakeful[lab]'") from None
    return pa, pq


class ParquetSource:
    """A Parquet file; needs pyarrow."""

    unit = "row"
    is_text = False

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
        """Yield the rows, read in batches; a file of many columns, or of long lists, in small ones."""
        file = self._guarded(self._open)
        with file:
            listed = self._guarded(lambda: _values_in_a_row(file.metadata, set(wanted)))
            size = chunk_rows(max(len(wanted), listed // LIST_VALUES))
            batches = self._guarded(lambda: file.iter_batches(size, columns=list(wanted)))
            line = 1
            while (batch := self._guarded(lambda: next(batches, None))) is not None:
                columns = {name: self._guarded(partial(_values, batch.column(name))) for name in wanted}
                yield Chunk(np.arange(line, line + batch.num_rows), columns, {})
                line += batch.num_rows


def _values_in_a_row(metadata: Any, wanted: set[str]) -> int:
    """Return how many values a row has in some columns: the mean in the group of rows that has most, rounded up."""
    most = 1
    for n in range(metadata.num_row_groups):
        group = metadata.row_group(n)
        columns = map(group.column, range(group.num_columns))
        found = sum(column.num_values for column in columns if column.path_in_schema.partition(".")[0] in wanted)
        most = max(most, -(-found // max(group.num_rows, 1)))
    return most


def _values(column: Any) -> Sequence[Any]:
    """Return a column of Arrow as plain values; of lists of texts, equal ones are the same tuple, made once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type)):
        return list(column.to_pylist())
    joined = pc.binary_join(column, UNIT_MARK)
    if joined.null_count or pc.any(pc.match_substring(column.flatten(), UNIT_MARK)).as_py():
        return list(column.to_pylist())
    coded = joined.dictionary_encode()
    lists = [tuple(text.split(UNIT_MARK)) if text else () for text in coded.dictionary.to_pylist()]
    return [lists[n] for n in coded.indices.to_pylist()]
