"""`wakeful import`: feeds a log of decisions or results of duels to a bandit of the service."""

import argparse
from typing import Any

from wakeful.cli.database import add_db, opened
from wakeful.cli.names import known_policies, parse
from wakeful.cli.options import count
from wakeful.inputs import must_be
from wakeful.lab.progress import bar

ABOUT = """Let a bandit of the service learn from decisions that were made elsewhere: a file as wakeful evaluate reads
it, or results of duels with the columns left, right, winner and perhaps group.

Rows are learned in batches, all or none of a batch; if one is wrong, the message says with which --start to go on.
Records have no ids in the service: what is imported twice is learned twice. An SQLite file can be changed while no
service has it open; a running service learns by POST /v1/bandits/NAME/records.
"""


def add_to(commands: Any) -> None:
    """Add the command that imports logs."""
    run = commands.add_parser(
        "import",
        help="let a bandit of the service learn from a log",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("name", metavar="NAME", help="the bandit")
    run.add_argument("log", metavar="LOG", help="the file: .csv, .jsonl or .parquet")
    add_db(run)
    run.add_argument("--create", action="store_true", help="make the bandit, with the arms of the log")
    run.add_argument("--policy", metavar="POLICY", help="with --create: its policy (auto; for duels auto-pairs)")
    run.add_argument("--start", metavar="ROW", default="1", help="the first row to learn, from 1 (1)")
    run.add_argument("--quiet", action="store_true", help="no progress on stderr")


def run_command(options: argparse.Namespace) -> None:
    """Import, and say how many rows."""
    start = count("start", options.start)
    if start < 1:
        raise ValueError(must_be("--start", "the number of a row, from 1", options.start))
    if options.policy is not None and not options.create:
        raise ValueError(must_be("--policy", "left out without --create", options.policy))
    policy = None if options.policy is None else parse("policy", options.policy, known_policies()).to_dict()
    with opened(options, writes=True, creates=options.create) as store:
        from wakeful.service.engine import Engine
        from wakeful.service.import_log import import_rows, make_for, rows_of_file

        engine = Engine(store)
        ledger = engine.ledgers.get(options.name)
        if (ledger is None) != options.create:
            there = "it is there, leave --create out" if ledger is not None else "--create makes it"
            raise ValueError(
                must_be("NAME", "a new name with --create, else that of a bandit", options.name) + f": {there}"
            )
        rows = rows_of_file(options.log, ledger)
        if ledger is None:
            make_for(engine, options.name, rows, policy)
        with bar("wakeful import", options.quiet) as progress:
            done = import_rows(engine, options.name, rows, start, progress)
    print(f"{options.name}: {done:,} rows imported")
