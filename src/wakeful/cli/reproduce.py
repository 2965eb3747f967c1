"""`wakeful reproduce`: its options, and what it does with them."""

import argparse
from importlib.util import find_spec
from typing import Any

from wakeful.cli.options import count, executor_at

ABOUT = """Run every experiment of the paper, judge its claims, and write a report.

Started again with the same --out after a stop, it continues where it stopped.
"""
ONLY = """for --only:
  figure-1 to figure-5
  stochastic, dependent, rock-paper-scissors                         the worlds of figure 2
  random-dependence, random-games                                    of figure 3
  duels-4, duels-30; categories                                      of figures 4 and 5
  theorem-1 (theorem-1-dependent, theorem-1-switching, remark-3)     bounds, measured
  theorem-2 (duels-awake, path), groups                              the same for duels
  dependent-long, adversarial                                        a longer run; adversarial losses
  relations, line-12, nash, facts                                    claims without a figure
"""


def add_to(commands: Any) -> None:
    """Add the command that plays the paper again."""
    run = commands.add_parser(
        "reproduce",
        help="play the paper's experiments again and judge its claims",
        description=ABOUT,
        epilog=ONLY,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("--out", metavar="DIR", default="wakeful-report", help="folder of the report (wakeful-report)")
    run.add_argument("--quick", action="store_true", help="fewer runs, shorter horizons: for a look, not a citation")
    run.add_argument("--runs", metavar="N", help="runs of every experiment (for figures 2 to 5: 50)")
    run.add_argument("--seed", metavar="N", default=0, help="seed of everything (0)")
    run.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="FIGURE",
        help="a figure or an experiment, see below; may be given many times",
    )
    run.add_argument("--jobs", metavar="N", help="how many units of work at a time (all cores)")
    run.add_argument("--dask", metavar="ADDRESS", help="run on the Dask cluster of this scheduler, tcp://...")
    run.add_argument("--quiet", action="store_true", help="no progress on stderr")


def run_command(options: argparse.Namespace) -> None:
    """Play the paper again and print the verdicts."""
    for package in ("matplotlib", "pyarrow"):
        if find_spec(package) is None:
            raise ImportError(f"{package} is missing: pip install 'wakeful[lab]'")
    from wakeful.paper import reproduce

    given = (("runs", options.runs), ("jobs", options.jobs))
    runs, jobs = (None if value is None else count(name, value) for name, value in given)
    reproduce.selected(options.only)
    with executor_at(options.dask) as executor:
        done = reproduce.reproduce(
            options.out,
            quick=options.quick,
            runs=runs,
            seed=count("seed", options.seed),
            jobs=jobs,
            only=options.only,
            executor=executor,
            quiet=options.quiet,
            command=["wakeful", *options.given],
        )
    print(reproduce.table(done))
