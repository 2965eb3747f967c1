"""`wakeful export`: the log of a bandit of the service as a table."""

import argparse
from typing import Any

from wakeful.cli.database import add_db, opened
from wakeful.cli.options import check_can_be_written

ABOUT = """Write what a bandit of the service has decided, and how it went, to a file.

The columns are awake, arm, probability, loss, time (seconds since 1970), id, and expired, which is true where no
feedback came and the default loss was recorded; wk.Log.read and wakeful evaluate read the file. For duels the columns
are left, right, winner, group, time and id; wk.DuelingBandit.learn reads them. Decisions without feedback are left out
and counted; with --pending they are written, too, with an empty loss or winner, and are read with on_error="skip". The
end of its name says how the file is written: .csv, .jsonl (both also .gz) or .parquet.
"""


def add_to(commands: Any) -> None:
    """Add the command that exports logs."""
    run = commands.add_parser(
        "export",
        help="write the decisions of a bandit of the service to a file",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("name", metavar="NAME", help="the bandit")
    run.add_argument("out", metavar="OUT", help="the file: .csv, .jsonl or .parquet")
    add_db(run)
    add_more(run)


def add_more(run: Any) -> None:
    """Add the options that say what is written beside decisions with feedback that are in the database."""
    run.add_argument("--pending", action="store_true", help="also decisions without feedback, with an empty loss")
    run.add_argument("--archive", nargs="+", metavar="FILE", default=[], help="files of wakeful compact, to write all")


def run_command(options: argparse.Namespace) -> None:
    """Export, and say how much."""
    check_can_be_written("OUT", options.out)
    with opened(options, writes=False) as store:
        from wakeful.service.archive import open_archive
        from wakeful.service.export import export

        archives = list(map(open_archive, options.archive))
        done = export(store, options.name, options.out, archives, pending=options.pending)
        print(f"{options.out}: {done}")
