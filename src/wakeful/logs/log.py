"""`Log`: decisions that were made somewhere, by anybody; read from files and tables, in blocks of rows."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeful.inputs import UNICODE_RULE, is_unicode, must_be, one_of, real, whole
from wakeful.logs.blocks import LogBlock, natural_order, taken
from wakeful.logs.chunks import CHUNK_ROWS, Chunk, Source
from wakeful.logs.columns import Columns, find_columns
from wakeful.logs.duplicates import SeenIds
from wakeful.logs.rows import MOST_CELLS, Decoder
from wakeful.logs.sources import TableSource, file_source, is_table
from wakeful.logs.text import stamp
from wakeful.logs.values import ALL_ARMS, is_name
from wakeful.logs.writing import Parts, frame_of, write_parts
from wakeful.numerics.arrays import Ints, Mask

LOG_RULE = "a wk.Log, the path of a file, or a table (wk.Log.read and wk.Log take options)"
MOST_REASONS = 100  # that are kept of the rows that were skipped
KEPT_BYTES = 1 << 26  # of rows that stay in memory, so that a small log is read once
NO_MASK: Mask = np.zeros((0, 0), np.bool_)
LIST_BYTES = 64  # about, of one time or id that stays in memory


class Skipped(NamedTuple):
    """Rows that were left out: those that were wrong, with the reasons of the first hundred, and repeated ids."""

    rows: int
    duplicates: int
    reasons: tuple[tuple[int, str], ...]  # line, or number of the row, and reason

    def __str__(self) -> str:
        """Say it in a few lines."""
        lines = [f"{self.rows:,} rows skipped, {self.duplicates:,} rows with an id that was there before"]
        lines += [f"  {line}: {reason}" for line, reason in self.reasons[:5]]
        return "\n".join(lines + ["  ..."] * (self.rows > 5))


class _Pass:
    """What one reading of the log has come across so far."""

    def __init__(self) -> None:
        self.rows = self.wrong = self.duplicates = self.most_awake = 0
        self.reasons: list[tuple[int, str]] = []

    def skipped(self) -> Skipped:
        return Skipped(self.wrong, self.duplicates, tuple(self.reasons))


class Log:
    """Decisions that somebody made: which arms were awake, the one chosen, its probability, and what it lost.

    Columns: `awake`, a list of arms or their names joined by `|`; `arm`; `loss` or `reward`; and if they are there,
    `probability`, with which the arm was chosen, `time` and `id`. Other columns are kept by `write` and `to_frame`,
    and ignored. Names of arms are texts; whole numbers become texts.

    The log is read once when it is made, to check every row and find all arms. It is read again, in blocks, each time
    it is used; a small one (64 MB) stays in memory.

    Parameters:
        table: a data frame of pandas or polars, an Arrow table, or a mapping of column names to lists; for a file use
            `Log.read`
        reward_range: the worst and the best reward, for rewards that are not between 0 and 1
        on_error: `"raise"` an error at the first row that is wrong, or `"skip"` such rows; `skipped` reports them
        arms: the names of all arms, in the order of their positions; by default those in the log, sorted
        unknown_arms: `"refuse"` rows with an arm that `arms` does not name, or `"add"` the arm
        columns: names of columns that are called otherwise, such as `{"arm": "product"}`; None for one to be ignored

    >>> log = Log({"awake": ["tea|juice", "tea|juice"], "arm": ["tea", "juice"], "reward": [9.5, 0.0],
    ...            "probability": [0.5, 0.5]}, reward_range=(0, 10))
    >>> log
    <Log of 2 rows, 2 arms, with probabilities>
    >>> log.arms
    ('juice', 'tea')
    >>> next(log.blocks()).losses.round(6)
    array([0.05, 1.  ])
    """

    def __init__(
        self,
        table: Any,
        *,
        reward_range: tuple[float, float] | None = None,
        on_error: str = "raise",
        arms: Iterable[Any] | None = None,
        unknown_arms: str = "refuse",
        columns: Mapping[str, str | None] | None = None,
    ) -> None:
        self._begin(TableSource(table), None, reward_range, on_error, arms, unknown_arms, columns)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        reward_range: tuple[float, float] | None = None,
        on_error: str = "raise",
        arms: Iterable[Any] | None = None,
        unknown_arms: str = "refuse",
        columns: Mapping[str, str | None] | None = None,
    ) -> "Log":
        """Return the log of a file: `.csv`, `.jsonl`, both also compressed as `.gz`, or `.parquet` (needs pyarrow).

        The other parameters are those of `Log`. The file is read in blocks and may be larger than memory.
        """
        log = cls.__new__(cls)
        log._begin(file_source(path), path, reward_range, on_error, arms, unknown_arms, columns)
        return log

    def _begin(
        self,
        source: Source,
        path: str | os.PathLike[str] | None,
        reward_range: tuple[float, float] | None,
        on_error: str,
        arms: Iterable[Any] | None,
        unknown_arms: str,
        columns: Mapping[str, str | None] | None,
    ) -> None:
        """Check the arguments and read everything once."""
        self._source, self._path = source, path
        self._stamp = None if path is None else stamp(path)
        self._skip = one_of("on_error", on_error, ("raise", "skip")) == "skip"
        adds = one_of("unknown_arms", unknown_arms, ("refuse", "add")) == "add" or arms is None
        given = () if arms is None else _arm_names(arms)
        self._columns = Columns(**find_columns(source.names, columns))  # type: ignore[arg-type]  # of a log
        self._range = _checked_range(reward_range, self._columns)
        self._kept: list[tuple[NDArray[np.uint8], LogBlock]] | None = []  # masks, eight arms to a byte, and the rest
        self._scan(given, adds)

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms; positions in blocks are those in this tuple."""
        return self._arms

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return len(self._arms)

    @property
    def rows(self) -> int:
        """How many rows there are, without those that were skipped."""
        return self._rows

    @property
    def skipped(self) -> Skipped:
        """The rows that were left out, and why."""
        return self._skipped

    @property
    def has_probabilities(self) -> bool:
        """Whether the log says with which probability each arm was chosen."""
        return self._columns.probability is not None

    @property
    def most_awake(self) -> int:
        """How many arms were awake in the row with the most."""
        return self._most_awake

    @property
    def label(self) -> str:
        """What the log is called: its path, or what table it is."""
        return self._source.label

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._rows

    def __repr__(self) -> str:
        """Say how much there is."""
        chances = "with probabilities" if self.has_probabilities else "without probabilities"
        return f"<Log of {self._rows:,} rows, {self.n_arms:,} arms, {chances}>"

    def blocks(self, size: int = CHUNK_ROWS) -> Iterator[LogBlock]:
        """Yield the rows in blocks of at most `size`, fewer if there are very many arms."""
        most = min(whole("size", size, "a number of rows, at least 1", 1), max(1, MOST_CELLS // self.n_arms))
        for block in self._all_blocks():
            for start in range(0, len(block.arms), most):
                part = slice(start, start + most)
                yield block if len(block.arms) <= most else taken(block, part)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the rows to a file of any format that `Log.read` reads, in its own columns and with losses.

        Rows that were skipped are not in it. Columns that the log does not use are kept.
        """
        write_parts(path, self._parts(), self._arms)

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas, or of polars where only that is installed."""
        return frame_of(self._parts())

    def _scan(self, given: Sequence[str], adds: bool) -> None:
        """Read all rows: find the arms, count what is wrong, and keep the rows if they are few."""
        decoder = self._decoder({name: k for k, name in enumerate(given)}, fixed=not adds)
        done, size = _Pass(), 0
        for block, _, _ in self._read(decoder, self._columns.used(), done):
            size += _bytes_of(block)
            if self._kept is not None:
                self._kept.append((np.packbits(block.awake, axis=1), block._replace(awake=NO_MASK)))
            if size > KEPT_BYTES:
                self._kept = None
        _refuse_useless(done, self._source)
        new = natural_order(name for name in decoder.index if name not in set(given))
        self._arms = (*given, *new)
        self._index = {name: k for k, name in enumerate(self._arms)}
        self._places = np.array([self._index[name] for name in decoder.index], np.int64)
        self._rows, self._skipped, self._most_awake = done.rows, done.skipped(), done.most_awake

    def _decoder(self, index: dict[str, int], fixed: bool) -> Decoder:
        return Decoder(self._columns, self._range, index, fixed, self._source.is_text)

    def _all_blocks(self) -> Iterator[LogBlock]:
        """Yield all rows, from memory if they are there."""
        if self._kept is None:
            for block, _, _ in self._again(self._columns.used()):
                yield block
            return
        for packed, block in self._kept:
            width = min(8 * packed.shape[1], self._places.size)
            awake = np.zeros((len(block.arms), self.n_arms), np.bool_)
            awake[:, self._places[:width]] = np.unpackbits(packed, axis=1, count=width).view(np.bool_)
            yield block._replace(awake=awake, arms=self._places[block.arms])

    def _again(self, wanted: Sequence[str]) -> Iterator[tuple[LogBlock, Chunk, Ints]]:
        """Read the source once more, with all arms known."""
        if self._path is not None and stamp(self._path) != self._stamp:
            raise ValueError(must_be("path", "a file that did not change since it was read", str(self._path)))
        return self._read(self._decoder(dict(self._index), fixed=True), wanted, _Pass())

    def _read(self, decoder: Decoder, wanted: Sequence[str], done: _Pass) -> Iterator[tuple[LogBlock, Chunk, Ints]]:
        """Yield the rows of each chunk that are right and not there before, the chunk, and their positions in it."""
        seen = None if self._columns.id is None else SeenIds()
        for chunk in self._source.chunks(wanted):
            parts, faults = decoder.decode(chunk)
            done.wrong += len(faults)
            done.reasons += faults[: MOST_REASONS - len(done.reasons)]
            if faults and not self._skip:
                line, reason = faults[0]
                raise ValueError(f"{self._source.unit} {line} of {self.label}: {reason}")
            for block, kept in parts:
                found = (block, kept) if seen is None else _unseen(block, kept, seen)
                done.duplicates += len(block.arms) - len(found[0].arms)
                if len(found[0].arms):
                    done.rows += len(found[0].arms)
                    done.most_awake = max(done.most_awake, int(found[0].awake.sum(axis=1).max()))
                    yield found[0], chunk, found[1]

    def _parts(self) -> Iterator[Parts]:
        """Yield the rows with all their columns, to be written."""
        own = set(self._columns.used())
        others = [name for name in self._source.names if name not in own and name not in Columns._fields]
        for block, chunk, kept in self._again([*self._columns.used(), *dict.fromkeys(others)]):
            rest = {name: [chunk.columns[name][n] for n in kept.tolist()] for name in others}
            yield Parts(block, self._arms, rest)


def as_log(given: Any) -> Log:
    """Return a log: the one given, or that of a file or a table."""
    if isinstance(given, Log):
        return given
    if isinstance(given, str | os.PathLike):
        return Log.read(given)
    if not is_table(given):
        raise TypeError(must_be("log", LOG_RULE, given))
    return Log(given)


def _unseen(block: LogBlock, kept: Ints, seen: SeenIds) -> tuple[LogBlock, Ints]:
    """Return the rows of a block whose ids were not seen before, and see them."""
    fresh = np.flatnonzero(seen.fresh(block.ids or ()))
    return (block, kept) if fresh.size == len(block.arms) else (taken(block, fresh), kept[fresh])


def _arm_names(arms: Iterable[Any]) -> list[str]:
    """Return the names of arms that the caller gave, as texts."""
    if isinstance(arms, str | bytes | Mapping) or not isinstance(arms, Iterable):
        raise TypeError(must_be("arms", "a list of names", arms))
    found = list(arms)
    if not all(map(is_name, found)):
        raise TypeError(must_be("arms", "names or whole numbers", found))
    names = [str(name) for name in found]
    if not names or "" in names or len(set(names)) < len(names):
        raise ValueError(must_be("arms", "names that differ, at least one", found))
    if not all(map(is_unicode, names)):
        raise ValueError(must_be("arms", UNICODE_RULE, found))
    return names


def _checked_range(given: Any, columns: Columns) -> tuple[float, float] | None:
    """Return the range of rewards, if there is one and the log has rewards."""
    if given is None:
        return None
    rule = "two numbers, the worst and the best reward"
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
        raise TypeError(must_be("reward_range", rule, given))
    low, high = (real("reward_range", value, rule, -1e300, 1e300) for value in given)
    if low >= high:
        raise ValueError(must_be("reward_range", rule, given))
    if columns.reward is None:
        raise ValueError(must_be("reward_range", "None for a log with losses, which lie between 0 and 1", given))
    return low, high


def _refuse_useless(done: _Pass, source: Source) -> None:
    """Raise if a log has no rows, or says nothing about what else could have been chosen."""
    if done.rows == 0:
        why = f": {done.reasons[0][1]}" if done.reasons else ""
        raise ValueError(must_be("log", "of at least one row that is right", f"{source.label}") + why)
    if done.most_awake == 1:
        why = "every policy would have to choose what was chosen, and all would look the same"
        raise ValueError(must_be("awake", ALL_ARMS, "one arm in every row") + f": {why}")


def _bytes_of(block: LogBlock) -> int:
    """Return about how many bytes a block takes in memory when its mask is packed."""
    lists = (block.times is not None) + (block.ids is not None)
    return int(block.arms.size * (block.awake.shape[1] // 8 + 1 + 32 + LIST_BYTES * lists))
