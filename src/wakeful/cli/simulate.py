"""`wakeful simulate`: its options, and what it does with them."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wakeful.cli.names import known_policies, known_worlds, parse
from wakeful.cli.options import check_outputs, count, executor_at, from_file, many, text_of
from wakeful.inputs import must_be, one_of
from wakeful.lab.duel_unit import DUEL_REGRETS
from wakeful.lab.progress import bar
from wakeful.lab.results import Results
from wakeful.lab.simulate import DUELS, simulate
from wakeful.lab.world_results import WorldResults
from wakeful.regret.tally import REGRETS

EXAMPLE = """example:
  wakeful simulate --world dependent --policy si-exp3 --policy "SleepingUCB(constant=2)" \\
      --rounds 1e5 --runs 50 --regret policy --plot out.png --save out.parquet

The same in a file, given as --config FILE:
  world = "dependent"
  policies = ["si-exp3", "SleepingUCB(constant=2)"]   # or a table of names and policies
  rounds = 1e5
  runs = 50

A policy or world of your own, imported from a module in this folder or installed:
  wakeful simulate --world dependent --policy "my_policies:Greedy(share=0.1)" --rounds 1e4

Several worlds, with a panel for each in the figure:
  wakeful simulate --world dependent --world "Stochastic(5)" --policy auto --rounds 1e4 --plot worlds.png
"""


def add_to(commands: Any) -> None:
    """Add the command that compares policies in a world."""
    known = f"worlds: {', '.join(known_worlds())}\npolicies: {', '.join(known_policies())}"
    run = commands.add_parser(
        "simulate",
        help="compare policies in a world by their regrets",
        description="Play policies in a world and print their regrets.",
        epilog=f"{EXAMPLE}\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("--config", metavar="FILE", type=Path, help="a TOML file with the same fields")
    run.add_argument(
        "--world",
        action="append",
        metavar="WORLD",
        help="a world, with arguments in brackets, or MODULE:CLASS(...) of your own; may be given many times",
    )
    run.add_argument(
        "--policy",
        action="append",
        metavar="POLICY",
        help="a policy, or MODULE:CLASS(...) of your own; may be given many times",
    )
    run.add_argument("--rounds", metavar="T", help="rounds of a run, such as 10000 or 1e6")
    run.add_argument("--runs", metavar="N", help="independent runs (50)")
    run.add_argument("--seed", metavar="N", help="seed of the simulation (0)")
    run.add_argument(
        "--regret", action="append", help=f"which regret: {', '.join(REGRETS)} (policy); for duels dueling"
    )
    run.add_argument("--jobs", metavar="N", help="how many units of work at a time (all cores)")
    run.add_argument("--dask", metavar="ADDRESS", help="run on the Dask cluster of this scheduler, tcp://...")
    run.add_argument("--store", metavar="DIR", help="keep finished work here, and go on from it")
    run.add_argument("--plot", metavar="FILE", help="draw the curves of the first regret: .png, .svg or .pdf")
    run.add_argument("--save", metavar="FILE", help="save the results: .parquet, or a zip of arrays")
    run.add_argument("--quiet", action="store_true", help="no progress on stderr")


def run_command(options: argparse.Namespace) -> None:
    """Simulate, print the summaries, draw and save."""
    fields = _fields(options)
    world = _given_worlds(fields["world"])
    policies = given_policies(fields["policies"], known_policies())
    first = next(iter(world.values())) if isinstance(world, dict) else world
    known = DUEL_REGRETS if isinstance(first, DUELS) else REGRETS
    regrets = [one_of("regret", name, known) for name in many("--regret", fields["regrets"] or known[-1])]
    check_outputs(fields["plot"], fields["save"])
    address = None if fields["dask"] is None else text_of("--dask", fields["dask"])
    with executor_at(address) as executor, bar("wakeful simulate", options.quiet) as progress:
        results: Results | WorldResults = simulate(
            policies,
            world,
            rounds=count("rounds", fields["rounds"]),
            runs=count("runs", fields["runs"]),
            seed=count("seed", fields["seed"]),
            regrets=regrets,
            executor=executor,
            store=None if fields["store"] is None else text_of("--store", fields["store"]),
            jobs=None if fields["jobs"] is None else count("jobs", fields["jobs"]),
            progress=progress,
        )
    print("\n\n".join(repr(results.summary(regret)) for regret in regrets))
    if fields["save"]:
        results.save(fields["save"])
    if fields["plot"]:
        results.plot(regrets[0], fields["plot"])


def _fields(options: argparse.Namespace) -> dict[str, Any]:
    """Return what to simulate: from the file first, then from the command line, then by default."""
    fields: dict[str, Any] = {
        "world": None,
        "policies": None,
        "rounds": None,
        "runs": 50,
        "seed": 0,
        **dict.fromkeys(("regrets", "jobs", "dask", "store", "plot", "save")),
    }
    if options.config is not None:
        fields |= from_file(options.config, list(fields))
    given = vars(options) | {"policies": options.policy, "regrets": options.regret}
    fields |= {name: given[name] for name in fields if given.get(name) is not None}
    for name in ("world", "policies", "rounds"):
        if fields[name] is None:
            raise ValueError(must_be(f"--{'policy' if name == 'policies' else name}", "given", None))
    return fields


def _given_worlds(given: Any) -> Any:
    """Return one world, or several by name; those without one are called as they were typed."""
    if not isinstance(given, dict | list):
        return parse("world", given, known_worlds())
    pairs = list(given.items()) if isinstance(given, dict) else [(text, text) for text in many("--world", given)]
    worlds = {str(name): parse("world", text, known_worlds()) for name, text in pairs}
    if not pairs or len(worlds) < len(pairs):
        raise ValueError(must_be("--world", "worlds that differ", list(given)))
    return next(iter(worlds.values())) if len(worlds) == 1 else worlds


def given_policies(given: Any, known: Mapping[str, type]) -> dict[str, Any]:
    """Return policies, of classes that are `known` or the user's, by name; those without one are called as typed."""
    pairs = list(given.items()) if isinstance(given, dict) else [(text, text) for text in many("--policy", given)]
    policies = {str(name): parse("policy", text, known) for name, text in pairs}
    if len(policies) < len(pairs):
        raise ValueError(must_be("--policy", "policies that differ", list(given)))
    return policies
