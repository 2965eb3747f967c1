"""Feeds decisions and duels of others, from a file, to a bandit of the service as records."""

import os
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from wakeful.bandits.duel_results import ReadResults, find_duel_columns, read_results, results_source
from wakeful.inputs import must_be
from wakeful.logs.log import Log
from wakeful.logs.sources import file_source
from wakeful.service.engine import Engine
from wakeful.service.ledger import Ledger
from wakeful.service.messages import NewBandit, NewRecord
from wakeful.service.names import checked_name, served_name
from wakeful.service.refusals import Refused
from wakeful.service.requests import Create, Record
from wakeful.service.sentences import refused_value

RECORDS_AT_ONCE = 2_000  # records in one commit
Path = str | os.PathLike[str]


class ImportStoppedError(OSError):
    """Some rows were not imported; all before them were."""


class Rows(NamedTuple):
    """The rows of a file, for a bandit with these arms."""

    kind: str
    arms: tuple[Any, ...]
    total: int
    records: Callable[[], Iterator[NewRecord]]


def rows_of_file(path: Path, ledger: Ledger | None) -> Rows:
    """Return the rows of a file, which must have the columns and the arms of a bandit, if there is one."""
    dueling = {"left", "right"} <= set(file_source(path).names) if ledger is None else ledger.kind == "dueling"
    if not dueling:
        log = Log.read(path) if ledger is None else Log.read(path, arms=ledger.names)
        return Rows("bandit", log.arms, len(log), lambda: _decisions(log))
    source = results_source(path)
    known = () if ledger is None else ledger.names
    found = read_results(source, find_duel_columns(source, None), known, ledger is None, False)
    names = (*known, *map(str, found.added))
    return Rows("dueling", names, len(found.arms), lambda: _duels(found, names))


def _decisions(log: Log) -> Iterator[NewRecord]:
    """Yield the rows of a log as records."""
    for block in log.blocks():
        chances = [None] * len(block.arms) if block.probabilities is None else block.probabilities.tolist()
        rows = zip(block.awake, block.arms.tolist(), chances, block.losses.tolist(), strict=True)
        for mask, arm, chance, loss in rows:
            awake = [log.arms[k] for k in mask.nonzero()[0].tolist()]
            yield NewRecord(arm=log.arms[arm], awake=awake, probability=chance, loss=loss)


def _duels(found: ReadResults, names: tuple[Any, ...]) -> Iterator[NewRecord]:
    """Yield results of duels as records."""
    sets = [[names[k] for k in mask.nonzero()[0].tolist()] for mask in found.awake_sets]
    chances = [None] * len(found.arms) if found.probabilities is None else found.probabilities.tolist()
    groups = found.groups or [None] * len(found.arms)
    rows = zip(found.arms.tolist(), found.outcomes.tolist(), chances, groups, found.awake.tolist(), strict=True)
    for (left, right), outcome, chance, group, awake in rows:
        sides = names[left], names[right]
        yield NewRecord(
            left=sides[0],
            right=sides[1],
            winner=_winner(*sides, outcome),
            group=None if group is None else str(group),
            probability=chance,
            awake=sets[awake] if awake else None,
        )


def _winner(left: str, right: str, outcome: list[float]) -> str:
    """Return who won, as the service takes it."""
    if 1.0 not in outcome or (outcome[2] and "tie" in (left, right)):
        raise ValueError(must_be("winner", "left, right or tie, and no arm called tie, to be imported", outcome))
    return (left, right, "tie")[outcome.index(1.0)]


def make_for(engine: Engine, name: str, rows: Rows, policy: dict[str, Any] | None) -> None:
    """Make a bandit for the rows of a file, under the same rules as over HTTP."""
    asked = {"arms": list(rows.arms), "kind": rows.kind, **(policy or {})}
    try:
        body = msgspec.convert(asked, NewBandit)
        for arm in body.arms:
            checked_name("arms", arm)
        (answer,) = engine.run([Create(served_name("NAME", name), body)])
    except msgspec.ValidationError as problem:
        answer = refused_value(NewBandit, asked, problem)
    except Refused as problem:
        answer = problem
    if isinstance(answer, Exception):
        raise ValueError(str(answer))  # noqa: TRY004 (an answer that is a refusal, in its own words)


def import_rows(
    engine: Engine, name: str, rows: Rows, start: int, progress: Callable[[int, int], None] | None = None
) -> int:
    """Feed the rows of a file from the number `start` on, from 1; return how many.

    Some thousand rows are learned at a time, all or none of them. After an error or an interrupt, an
    `ImportStoppedError` says where to go on.
    """
    records, at = islice(rows.records(), start - 1, None), start
    try:
        while some := list(islice(records, RECORDS_AT_ONCE)):
            (answer,) = engine.run([Record(name, some)])
            if isinstance(answer, Exception):
                raise answer
            at += len(some)
            if progress is not None:
                progress(at - 1, rows.total)
    except (Refused, ValueError, KeyboardInterrupt) as problem:
        what = "interrupted" if isinstance(problem, KeyboardInterrupt) else str(problem)
        done = f"rows {start:,} to {at - 1:,} are imported" if at > start else "no rows are imported"
        raise ImportStoppedError(f"{what}; {done}: go on with --start {at}") from None
    return at - start
