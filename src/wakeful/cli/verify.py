"""`wakeful verify`: proves that the logs of a database are whole, and that every decision was the one to make."""

import argparse
from typing import Any

from wakeful.cli.database import add_db, opened
from wakeful.lab.progress import bar

ABOUT = """Check the logs of a database of the service; nothing is written, and the service may run meanwhile.

For every log the command checks that
- the chain of hashes has no gap and ends with the hash of the bandit;
- every decision is the one that the state before it gives: bit for bit if the same versions of Wakeful, NumPy and Numba
  made it, else within 1e-9;
- every feedback is about a decision of the log, was counted once and came before its deadline;
- times never go back;
- every snapshot is the state that the events before it give.
It names the first event that is wrong; the exit code is then 1.

The printed hash is that of the whole log. If you keep it elsewhere, you can tell later whether the log up to that event
has been changed, even by somebody who computed all hashes anew.
"""


def add_to(commands: Any) -> None:
    """Add the command that verifies logs."""
    run = commands.add_parser(
        "verify",
        help="prove that the logs of a database are whole and every decision can be computed again",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    add_db(run)
    run.add_argument("--bandit", metavar="NAME", help="only this one")
    run.add_argument(
        "--archive", nargs="+", metavar="FILE", default=[], help="files of wakeful compact, to check logs from event 1"
    )
    run.add_argument("--quiet", action="store_true", help="no progress on stderr")


def run_command(options: argparse.Namespace) -> None:
    """Verify, and print a line for every log."""
    with opened(options, writes=False) as store, bar("wakeful verify", options.quiet) as progress:
        from wakeful.service.archive import open_archive
        from wakeful.service.verify import verify

        archives = [open_archive(path) for path in options.archive]
        found = list(verify(store, options.bandit, archives, progress))
    print("\n".join(map(str, found)) if found else "there are no bandits")
    wrong = [result for result in found if result.wrong is not None]
    if wrong:
        raise OSError(f"{len(wrong)} of {len(found)} logs are wrong")
    if found:
        print(f"all is right: {len(found)} logs, {sum(result.head - result.first + 1 for result in found):,} events")
