"""`wakeful compact`: moves old events of a database of the service into Parquet files."""

import argparse
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wakeful.cli.database import add_db, opened
from wakeful.inputs import must_be

ABOUT = """Move old events of every bandit into Parquet files, and let its log begin with a snapshot.

Every file is on disk and has been read back before rows are deleted. Decisions that waited for feedback at that time
keep their rows, so feedback about them is still learned; feedback about other decisions that were moved is answered
404. The ids that clients gave to decisions that were moved are forgotten: the same id again makes a new decision.
wakeful verify checks the log from its snapshot on, and with --archive all of it. An SQLite file can be compacted while
no service has it open; the file does not become smaller, but its free room is used again.
"""
SECONDS_PER_DAY = 86_400.0


def add_to(commands: Any) -> None:
    """Add the command that compacts logs."""
    run = commands.add_parser(
        "compact",
        help="move old events of a database into Parquet files",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("--before", metavar="TIME", required=True, help="such as 2026-08-01 (UTC), or 90: days ago")
    run.add_argument("--archive", metavar="DIR", required=True, help="folder for the files; it is made if need be")
    add_db(run)


def run_command(options: argparse.Namespace) -> None:
    """Compact, and print a line for each log."""
    before, folder = moment(options.before), Path(options.archive)
    with opened(options, writes=True) as store:
        from wakeful.service.compact import compact

        folder.mkdir(parents=True, exist_ok=True)
        moved = 0
        for done in compact(store, before, folder):
            print(done, flush=True)
            moved += done.moved
    print(f"{moved:,} events moved" if moved else f"there are no events before {options.before}")


def moment(text: str) -> float:
    """Return a time in seconds since 1970: an ISO date or time, in UTC if it does not say, or a number of days ago.

    >>> moment("1970-01-02"), moment("1970-01-01T01:00+01:00")
    (86400.0, 0.0)
    """
    if re.fullmatch(r"\d{1,6}(\.\d+)?", text):
        return time.time() - float(text) * SECONDS_PER_DAY
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(must_be("--before", "a date such as 2026-08-01, or a number of days", text)) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
