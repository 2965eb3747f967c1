"""Writes the log of a bandit as a table that `wakeful.Log`, `wakeful evaluate` and `DuelingBandit.learn` read."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from wakeful.duels.duel import Duel
from wakeful.inputs import did_you_mean, must_be
from wakeful.logs.sources import format_of
from wakeful.logs.writing import write_columns
from wakeful.service.archive import ROWS_AT_ONCE, Archive, rows_of
from wakeful.service.events import Decided, Dueled, DuelRecorded, Entry, Expired, Recorded, decode
from wakeful.service.folding import fold, restored
from wakeful.service.known import Known, id_of
from wakeful.service.ledger import Ledger
from wakeful.service.sqlite import SqliteStore
from wakeful.service.store import Row, Store

COLUMNS = ("awake", "arm", "probability", "loss", "time", "id", "expired")
DUEL_COLUMNS = ("left", "right", "winner", "group", "time", "id")
EVERYTHING = (  # every event with what ended its wait, if it is a decision
    "SELECT made.number, made.body, ended.body FROM event AS made LEFT JOIN event AS ended "
    "ON ended.bandit = made.bandit AND ended.about = made.number WHERE made.bandit = ? ORDER BY made.number"
)


class Exported(NamedTuple):
    """What was written of a log, and what was left out."""

    events: int  # number of the last event
    rows: int
    pending: int  # decisions that wait for feedback
    expired: int  # decisions without feedback or a default loss
    unweighted: int  # decisions of others without a probability
    alone: int  # duels of an arm against itself
    archived: int  # events that are in an archive which was not given
    open: int = 0  # rows without feedback, if they were asked for

    def __str__(self) -> str:
        """Say it in a sentence."""
        counts = {
            "decisions that wait for feedback": self.pending,
            "decisions that expired without a default loss": self.expired,
            "decisions of others without a probability": self.unweighted,
            "duels of an arm against itself": self.alone,
            "events in archives (--archive)": self.archived,
        }
        left_out = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        written = f"{self.rows:,} rows of {self.events:,} events"
        written += f", {self.open:,} of them without feedback" if self.open else ""
        return written + (f"; left out: {left_out}" if left_out else "")


def export(
    store: Store, name: str, path: str | os.PathLike[str], archives: Sequence[Archive] = (), *, pending: bool = False
) -> Exported:
    """Write what a bandit has decided and learned to a file: `.csv`, `.jsonl` (both also `.gz`) or `.parquet`.

    Parameters:
        store: where its log is; it is read in one transaction, so the log ends where it ended when this began
        name: of the bandit
        path: of the file; an older one is replaced when all is written
        archives: events that were moved out of the store
        pending: write decisions without feedback, too, with an empty loss or winner
    """
    nothing = nan if format_of(path) == ".parquet" else None  # a column of Parquet has one type from its first row on
    with store.transaction(writes=False):
        row = store.row(name)
        if row is None:
            raise ValueError(
                f"no bandit has the name {name!r}" + did_you_mean(name, [other.name for other in store.rows()])
            )
        ledger = fold(restored(row, store.snapshot(row)), store, row)
        own = [archive for archive in archives if archive.bandit == name]
        with _whole(store, row, own) as (source, whole):
            table = _Table(ledger, nothing, pending=pending)
            write_columns(path, table.blocks(source.stream(EVERYTHING, (whole.id,))), ledger.names)
    archived = 0 if own else row.first - 1
    left_out = table.pending, table.expired, table.unweighted, table.alone, archived
    return Exported(row.head, table.rows, *left_out, table.open)


@contextmanager
def _whole(store: Store, row: Row, archives: Sequence[Archive]) -> Iterator[tuple[Store, Row]]:
    """Yield a store with the whole log: this one, or a temporary one into which its archives are put back."""
    if row.first == 1 or not archives:
        yield store, row
        return
    with TemporaryDirectory() as folder:
        other = SqliteStore(Path(folder) / "whole.db")
        try:
            with other.transaction(writes=True):
                other.reserve(row.name)
                whole = other.lock([row.name])[row.name]
                moved = (
                    Entry(n, decode(body), body, digest) for n, _, _, body, digest in rows_of(archives, row.first - 1)
                )
                entries = chain(moved, store.entries(row, row.first - 1))
                while some := list(islice(entries, ROWS_AT_ONCE)):
                    other.append(whole, some)
            yield other, whole
        finally:
            other.close()


class _Table:
    """The rows of a log, in columns; counts what is left out."""

    def __init__(self, ledger: Ledger, nothing: float | None, *, pending: bool) -> None:
        self.ledger, self.nothing, self.writes_pending = ledger, nothing, pending
        self.names = DUEL_COLUMNS if ledger.kind == "dueling" else COLUMNS
        self.rows = self.pending = self.expired = self.unweighted = self.alone = self.open = 0
        if ledger.kind == "dueling" and "tie" in ledger.names:
            raise ValueError(must_be("names of arms", "other than 'tie', for duels to be exported", "tie"))

    def blocks(self, found: Iterator[Any]) -> Iterator[dict[str, list[Any]]]:
        """Yield columns, some rows at a time; once at least, for files need to know what the columns are."""
        held: list[tuple[Any, ...]] = []
        for number, body, ended in found:
            row = self._row(number, decode(body), None if ended is None else decode(ended))
            if row is not None:
                held.append(row)
                self.rows += 1
            if len(held) == ROWS_AT_ONCE:
                yield self._columns(held)
                held = []
        if held or not self.rows:
            yield self._columns(held)

    def _columns(self, rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
        """Return rows by column."""
        columns = zip(*rows, strict=True) if rows else [()] * len(self.names)
        return {name: list(column) for name, column in zip(self.names, columns, strict=True)}

    def _row(self, number: int, event: Any, outcome: Any) -> tuple[Any, ...] | None:
        """Return the row of an event, if it has one."""
        if isinstance(event, Recorded):
            if event.probability is None:
                self.unweighted += 1
                return None
            awake, arm = self.ledger.names_of(event.awake, event.n_arms)[0], self.ledger.names[event.arm]
            return list(awake), arm, event.probability, event.loss, event.time, f"r{number}", False
        if isinstance(event, DuelRecorded):
            names = self.ledger.names
            return self._duel(names[event.left], names[event.right], event.share, event, f"r{number}")
        if not isinstance(event, Decided | Dueled):
            return None
        value = None if outcome is None else outcome.value
        if value is None and not self.writes_pending:
            self.pending += outcome is None
            self.expired += outcome is not None
            return None
        return self._decided(
            event, value, id_of(Known(number, event, outcome, late=False)), isinstance(outcome, Expired)
        )

    def _decided(
        self, event: Decided | Dueled, value: float | None, id: str, is_expired: bool
    ) -> tuple[Any, ...] | None:
        """Return the row of a decision, with its feedback if there is some."""
        made = self.ledger.decision_of(event)
        if isinstance(made, Duel):
            row = self._duel(made.left, made.right, value, event, id)
        else:
            loss = self.nothing if value is None else value
            row = list(made.awake), made.arm, made.probability, loss, event.time, id, is_expired
        self.open += value is None and row is not None
        return row

    def _duel(self, left: Any, right: Any, share: float | None, event: Any, id: str) -> tuple[Any, ...] | None:
        """Return the row of a duel; one of an arm against itself says nothing."""
        if left == right:
            self.alone += 1
            return None
        winner = None if share is None else {1.0: left, 0.0: right}.get(share, "tie")
        return left, right, winner, event.group, event.time, id
