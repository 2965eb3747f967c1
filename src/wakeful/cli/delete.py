"""`wakeful delete`: removes a bandit of the service, after writing its log to a file."""

import argparse
from typing import Any

from wakeful.cli.database import add_db, opened
from wakeful.cli.export import add_more
from wakeful.cli.options import check_can_be_written

ABOUT = """Write the log of a bandit to a file, as wakeful export does, and delete the bandit.

It is deleted only if nothing happened to it since the file was written. An SQLite file can be changed while no service
has it open; a running service deletes by DELETE /v1/bandits/NAME.
"""


def add_to(commands: Any) -> None:
    """Add the command that deletes a bandit."""
    run = commands.add_parser(
        "delete",
        help="delete a bandit of the service, after an export",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("name", metavar="NAME", help="the bandit")
    run.add_argument("--export", metavar="FILE", required=True, help="where its log goes: .csv, .jsonl or .parquet")
    add_db(run)
    add_more(run)


def run_command(options: argparse.Namespace) -> None:
    """Export, delete, and say so."""
    check_can_be_written("--export", options.export)
    with opened(options, writes=True) as store:
        from wakeful.service.archive import open_archive
        from wakeful.service.engine import Engine
        from wakeful.service.export import export
        from wakeful.service.refusals import Refused
        from wakeful.service.requests import Delete

        archives = list(map(open_archive, options.archive))
        done = export(store, options.name, options.export, archives, pending=options.pending)
        (refused,) = Engine(store).run([Delete(options.name, done.events)])
        if isinstance(refused, Refused):
            raise OSError(f"{options.name} was not deleted: {refused.message}")
    print(f"{options.export}: {done}")
    print(f"{options.name} is deleted")
