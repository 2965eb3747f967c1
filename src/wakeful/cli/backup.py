"""`wakeful backup`: a consistent copy of a database of the service, while it runs."""

import argparse
from pathlib import Path
from typing import Any

from wakeful.cli.database import add_db, opened
from wakeful.cli.options import check_can_be_written
from wakeful.inputs import must_be

ABOUT = """Write a copy of an SQLite database of the service, as it is at one moment, while the service goes on.

The copy is a database like any other: wakeful verify --db OUT checks it, wakeful serve --db OUT serves it. Copying the
file by other means while the service runs is not safe: part of it is in a second file. For PostgreSQL this command says
which of its own tools to use.
"""
POSTGRES = "a PostgreSQL database is backed up by its own tools: pg_dump --format=custom --file={} URL"


def add_to(commands: Any) -> None:
    """Add the command that copies a database."""
    run = commands.add_parser(
        "backup",
        help="copy a database of the service while it runs",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("out", metavar="OUT", help="the new file")
    add_db(run)


def run_command(options: argparse.Namespace) -> None:
    """Copy, and say how much."""
    check_can_be_written("OUT", options.out)
    out = Path(options.out)
    if out.exists():
        raise ValueError(must_be("OUT", "the name of a file that does not exist yet", options.out))
    with opened(options, writes=False) as store:
        if store.name != "sqlite":
            raise ValueError(POSTGRES.format(options.out))
        store.backup(out)
    print(f"{out}: {out.stat().st_size:,} bytes")
