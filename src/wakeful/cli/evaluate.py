"""`wakeful evaluate`: its options, and what it does with them."""

import argparse
import sys
from pathlib import Path
from typing import Any

from wakeful.cli.names import known_bandit_policies
from wakeful.cli.options import check_outputs, count
from wakeful.cli.simulate import given_policies
from wakeful.inputs import must_be
from wakeful.lab.progress import bar
from wakeful.logs.log import Log
from wakeful.off_policy.estimators import ESTIMATORS, INTERVALS
from wakeful.off_policy.evaluate import evaluate

EXAMPLE = """example:
  wakeful evaluate log.csv --policy auto --policy "SleepingUCB(constant=2)" --plot out.png --save out.parquet

LOG is a file of decisions that were made: .csv, .jsonl (both also as .gz) or .parquet, with the columns
  awake        the arms that could have been chosen, as a list or joined by |
  arm          the one that was chosen
  probability  with which it was chosen, if known
  loss         between 0 and 1; or reward, between 0 and 1 or in the --reward-range
  time, id     if there are any; a row with an id that was there before counts once

POLICY is a name, with arguments in brackets if it needs any; case and hyphens do not matter. A policy of your own is
MODULE:CLASS, such as my_policies:Greedy(share=0.1): the module is imported, from the current folder too.
"""


def add_to(commands: Any) -> None:
    """Add the command that judges policies by a log."""
    run = commands.add_parser(
        "evaluate",
        help="estimate what policies would have lost on a log of decisions",
        description="Print the mean loss that each policy would have had on a log, with an interval.",
        epilog=f"{EXAMPLE}\npolicies: {', '.join(known_bandit_policies())}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("log", metavar="LOG", help="the file: .csv, .jsonl or .parquet")
    run.add_argument(
        "--policy",
        action="append",
        metavar="POLICY",
        help="a policy, or MODULE:CLASS(...) of your own; may be given many times (auto)",
    )
    run.add_argument("--estimator", metavar="NAME", help=f"{', '.join(ESTIMATORS)} (dr; without probabilities direct)")
    run.add_argument("--interval", metavar="NAME", default=INTERVALS[0], help=f"{' or '.join(INTERVALS)} (bernstein)")
    run.add_argument("--level", metavar="P", default="0.95", help="level of the intervals (0.95)")
    run.add_argument(
        "--logging",
        metavar="HOW",
        help="uniform: every awake arm was chosen with the same probability, which the log does not say",
    )
    run.add_argument("--reward-range", nargs=2, metavar=("LOW", "HIGH"), help="the worst and the best reward")
    run.add_argument(
        "--on-error", metavar="HOW", default="raise", help="what to do with a wrong row: raise or skip (raise)"
    )
    run.add_argument("--arm", action="append", metavar="NAME", help="an arm; given many times, the names of all arms")
    run.add_argument(
        "--unknown-arms",
        metavar="HOW",
        default="refuse",
        help="arms that no --arm names: refuse or add (refuse)",
    )
    run.add_argument("--column", action="append", metavar="NAME=COLUMN", help="read NAME from COLUMN; may be repeated")
    run.add_argument("--seed", metavar="N", default=0, help="seed of coins, for replay and Thompson sampling (0)")
    run.add_argument("--plot", metavar="FILE", help="draw the intervals: .png, .svg or .pdf")
    run.add_argument("--save", metavar="FILE", help="save the table: .parquet or .csv")
    run.add_argument("--quiet", action="store_true", help="no progress on stderr")


def run_command(options: argparse.Namespace) -> None:
    """Read the log, judge the policies, print the table, draw and save."""
    policies = given_policies(options.policy or ["auto"], known_bandit_policies())
    level, seed = _number("--level", options.level), count("seed", options.seed)
    ends = None if options.reward_range is None else [_number("--reward-range", end) for end in options.reward_range]
    check_outputs(options.plot, options.save)
    if options.save is not None and Path(options.save).suffix not in {".parquet", ".csv"}:
        raise ValueError(must_be("--save", "a file that ends in .parquet or .csv", options.save))
    columns = dict(_column(text) for text in options.column or [])
    with bar("wakeful evaluate", options.quiet) as progress:
        log = Log.read(
            options.log,
            reward_range=None if ends is None else (ends[0], ends[1]),
            on_error=options.on_error,
            arms=options.arm,
            unknown_arms=options.unknown_arms,
            columns=columns or None,
        )
        result = evaluate(
            log,
            policies,
            estimator=options.estimator,
            interval=options.interval,
            level=level,
            logging=options.logging,
            seed=seed,
            progress=progress,
        )
    if log.skipped.rows or log.skipped.duplicates:
        print(f"wakeful: {log.skipped}", file=sys.stderr)
    print(result)
    if options.save:
        result.save(options.save)
    if options.plot:
        result.plot(options.plot)


def _number(name: str, text: str) -> float:
    """Return a number that was typed."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(must_be(name, "a number", text)) from None


def _column(text: str) -> tuple[str, str | None]:
    """Return the two names of NAME=COLUMN; no column at all if nothing follows the sign."""
    name, equals, column = text.partition("=")
    if not equals:
        raise ValueError(must_be("--column", "NAME=COLUMN, such as arm=product", text))
    return name, column or None
