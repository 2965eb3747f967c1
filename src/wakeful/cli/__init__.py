"""The command line: `wakeful reproduce`, `wakeful simulate`, `wakeful --version`, and `--help` everywhere."""

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, is_dataclass
from dataclasses import fields as dataclass_fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from wakeful import __version__, atomic, worlds
from wakeful.cli.names import parse
from wakeful.duels.policy import DuelingPolicy
from wakeful.inputs import must_be, one_of
from wakeful.lab.duel_unit import DUEL_REGRETS
from wakeful.lab.results import Results, checked_figure
from wakeful.lab.simulate import DUELS, SimulationError, simulate
from wakeful.policies.policy import Policy
from wakeful.policies.spec import subclasses
from wakeful.regret.tally import REGRETS
from wakeful.worlds import AdaptiveWorld, World

CONNECT = 10  # seconds for the scheduler of a cluster to answer
WRONG_USE, FAILURE, INTERRUPTED = 2, 1, 130
EXAMPLE = """example:
  wakeful simulate --world dependent --policy si-exp3 --policy "SleepingUCB(constant=2)" \\
      --rounds 1e5 --runs 50 --regret policy --plot out.png --save out.parquet

The same in a file, given as --config FILE:
  world = "dependent"
  policies = ["si-exp3", "SleepingUCB(constant=2)"]   # or a table of names and policies
  rounds = 1e5
  runs = 50
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code: 2 for wrong use, 1 for failure."""
    parser = _parser()
    options = parser.parse_args(arguments)
    options.given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        command: Callable[[argparse.Namespace], None] = options.command
        command(options)
    except (ValueError, TypeError) as problem:
        print(f"wakeful: {problem}", file=sys.stderr)
        return WRONG_USE
    except (SimulationError, OSError, ImportError) as problem:
        print(f"wakeful: {problem}", file=sys.stderr)
        return FAILURE
    except MemoryError as problem:
        about = f": {problem}" if str(problem) else ""
        print(f"wakeful: not enough memory{about}; fewer --runs or a smaller world need less", file=sys.stderr)
        return FAILURE
    except KeyboardInterrupt:
        print("wakeful: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="wakeful", description="Bandits and duels whose arms sleep.")
    parser.add_argument("--version", action="version", version=f"wakeful {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    known = f"worlds: {', '.join(_worlds())}\npolicies: {', '.join(_policies())}"
    run = commands.add_parser(
        "simulate",
        help="compare policies in a world by their regrets",
        description="Play policies in a world and print their regrets.",
        epilog=f"{EXAMPLE}\n{known}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=_simulate)
    run.add_argument("--config", metavar="FILE", type=Path, help="a TOML file with the same fields")
    run.add_argument("--world", help="a world, with arguments in brackets if it takes any")
    run.add_argument("--policy", action="append", metavar="POLICY", help="a policy; may be given many times")
    run.add_argument("--rounds", metavar="T", help="rounds of a run, such as 10000 or 1e6")
    run.add_argument("--runs", metavar="N", help="independent runs (50)")
    run.add_argument("--seed", metavar="N", help="seed of the simulation (0)")
    run.add_argument("--regret", action="append", help=f"which regret: {', '.join(REGRETS)} (policy); of duels dueling")
    run.add_argument("--jobs", metavar="N", help="how many units of work at a time (all cores)")
    run.add_argument("--dask", metavar="ADDRESS", help="run on the Dask cluster of this scheduler, tcp://...")
    run.add_argument("--store", metavar="DIR", help="keep finished work here, and go on from it")
    run.add_argument("--plot", metavar="FILE", help="draw the curves of the first regret: .png, .svg or .pdf")
    run.add_argument("--save", metavar="FILE", help="save the results: .parquet, or a zip of arrays")
    run.add_argument("--quiet", action="store_true", help="no progress bar")
    _add_reproduce(commands)
    return parser


def _add_reproduce(commands: Any) -> None:
    """Add the command that plays the paper again."""
    run = commands.add_parser(
        "reproduce",
        help="play the paper's experiments again and judge its claims",
        description="Run every experiment of the paper, judge its claims, and write a report. Started again with the "
        "same --out after a stop, it continues where it stopped.",
        epilog="For --only: figure-1 to figure-5; stochastic, dependent, rock-paper-scissors, random-dependence, "
        "random-games, duels-4, duels-30, categories; dependent-long, theorem-1 (theorem-1-dependent, "
        "theorem-1-switching, remark-3), adversarial, theorem-2 (duels-awake, path), groups; relations, line-12, nash, "
        "facts.",
    )
    run.set_defaults(command=_reproduce)
    run.add_argument("--out", metavar="DIR", default="wakeful-report", help="folder of the report (wakeful-report)")
    run.add_argument("--quick", action="store_true", help="fewer runs, shorter horizons: for a look, not a citation")
    run.add_argument("--runs", metavar="N", help="runs of every experiment (for figures 2 to 5: 50)")
    run.add_argument("--seed", metavar="N", default=0, help="seed of everything (0)")
    run.add_argument("--only", action="append", default=[], metavar="FIGURE", help="a figure or experiment; many times")
    run.add_argument("--jobs", metavar="N", help="how many units of work at a time (all cores)")
    run.add_argument("--dask", metavar="ADDRESS", help="run on the Dask cluster of this scheduler, tcp://...")
    run.add_argument("--quiet", action="store_true", help="no progress on stderr")


def _reproduce(options: argparse.Namespace) -> None:
    """Play the paper again and print the verdicts."""
    for package in ("matplotlib", "pyarrow"):
        if find_spec(package) is None:
            raise ImportError(f"{package} is missing: pip install 'wakeful[lab]'")
    from wakeful.paper import reproduce

    given = (("runs", options.runs), ("jobs", options.jobs))
    runs, jobs = (None if value is None else _count(name, value) for name, value in given)
    reproduce.selected(options.only)
    with _executor(options.dask) as executor:
        done = reproduce.reproduce(
            options.out,
            quick=options.quick,
            runs=runs,
            seed=_count("seed", options.seed),
            jobs=jobs,
            only=options.only,
            executor=executor,
            quiet=options.quiet,
            command=["wakeful", *options.given],
        )
    print(reproduce.table(done))


def _simulate(options: argparse.Namespace) -> None:
    """Simulate, print the summaries, draw and save."""
    fields = _fields(options)
    world = parse("world", fields["world"], _worlds())
    policies = _given_policies(fields["policies"])
    known = DUEL_REGRETS if isinstance(world, DUELS) else REGRETS
    regrets = [one_of("regret", name, known) for name in _many("--regret", fields["regrets"] or known[-1])]
    _check_outputs(fields["plot"], fields["save"])
    address = None if fields["dask"] is None else _text("--dask", fields["dask"])
    with _executor(address) as executor, _bar(options.quiet) as progress:
        results: Results = simulate(
            policies,
            world,
            rounds=_count("rounds", fields["rounds"]),
            runs=_count("runs", fields["runs"]),
            seed=_count("seed", fields["seed"]),
            regrets=regrets,
            executor=executor,
            store=None if fields["store"] is None else _text("--store", fields["store"]),
            jobs=None if fields["jobs"] is None else _count("jobs", fields["jobs"]),
            progress=progress,
        )
    print("\n\n".join(repr(results.summary(regret)) for regret in regrets))
    if fields["save"]:
        results.save(fields["save"])
    if fields["plot"]:
        results.plot(regrets[0], fields["plot"])


def _check_outputs(plot: Any, save: Any) -> None:
    """Refuse what could not be written, before hours of work and not after."""
    for option, path in (("--plot", plot), ("--save", save)):
        if path is not None:
            _check_can_be_written(option, path)
    if plot is not None:
        checked_figure("--plot", plot)
    needed = {"matplotlib": plot is not None, "pyarrow": save is not None and Path(save).suffix == ".parquet"}
    for package, used in needed.items():
        if used and find_spec(package) is None:
            raise ImportError(f"{package} is missing: pip install 'wakeful[lab]'")


def _check_can_be_written(option: str, path: Any) -> None:
    """Refuse a path at which no file can be written, by writing one beside it that has no name."""
    place = Path(_text(option, path)).absolute()
    if not place.parent.is_dir():
        raise ValueError(must_be(option, "a file in a folder that exists", path))
    if place.exists() and not place.is_file():
        raise ValueError(must_be(option, "a file, not something else", path))
    try:
        with tempfile.TemporaryFile(dir=place.parent):
            pass
    except OSError as problem:
        raise ValueError(must_be(option, "a file in a folder that can be written to", path) + f": {problem}") from None


def _many(name: str, given: Any) -> list[Any]:
    """Return a list of what may be one name or a list of them."""
    return [given] if isinstance(given, str) else [_text(name, item) for item in _list(name, given)]


def _list(name: str, given: Any) -> list[Any]:
    """Return `given` if it is a list."""
    if not isinstance(given, list):
        raise TypeError(must_be(name, "a name or a list of names", given))
    return given


def _text(name: str, given: Any) -> str:
    """Return `given` if it is text."""
    if not isinstance(given, str):
        raise TypeError(must_be(name, "text", given))
    return given


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
        fields |= _from_file(options.config, list(fields))
    given = vars(options) | {"policies": options.policy, "regrets": options.regret}
    fields |= {name: given[name] for name in fields if given.get(name) is not None}
    for name in ("world", "policies", "rounds"):
        if fields[name] is None:
            raise ValueError(must_be(f"--{'policy' if name == 'policies' else name}", "given", None))
    return fields


def _from_file(path: Path, known: list[str]) -> dict[str, Any]:
    """Return the fields of a TOML file."""
    try:
        with atomic.open_regular(path) as file:
            found = tomllib.load(file)
    except (ValueError, RecursionError) as problem:  # not TOML, not UTF-8, nested too deeply
        raise ValueError(must_be("--config", "a TOML file", str(path)) + f": {problem}") from None
    plural = {"policy": "policies", "regret": "regrets"}  # as the options are called
    fields = {plural.get(name, name): value for name, value in found.items()}
    for name in fields:
        one_of(f"field of {path}", name, known)
    return fields


def _given_policies(given: Any) -> dict[str, Any]:
    """Return policies by name; those without one are called as they were typed."""
    pairs = list(given.items()) if isinstance(given, dict) else [(text, text) for text in _many("--policy", given)]
    policies = {str(name): parse("policy", text, _policies()) for name, text in pairs}
    if len(policies) < len(pairs):
        raise ValueError(must_be("--policy", "policies that differ", list(given)))
    return policies


def _count(name: str, value: Any) -> int:
    """Return a whole number, also from 1e6."""
    if isinstance(value, bool):
        raise TypeError(must_be(f"--{name}", "a whole number", value))
    try:
        number = float(value)
        if number == int(number):
            return int(value) if str(value).lstrip("-").isdigit() else int(number)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(must_be(f"--{name}", "a whole number", value))


def _policies() -> dict[str, type]:
    found = (*subclasses(Policy), *subclasses(DuelingPolicy))
    return {cls.__name__: cls for cls in found if cls.__module__.startswith("wakeful.")}


def _worlds() -> dict[str, type]:
    found = {name: getattr(worlds, name) for name in worlds.__all__}
    kinds = (World, AdaptiveWorld, *DUELS)
    plain = {n: c for n, c in found.items() if isinstance(c, type) and issubclass(c, kinds) and is_dataclass(c)}
    free = {n: c for n, c in plain.items() if issubclass(c, DUELS)}  # scores and matrices of duels can be typed
    return free | {n: c for n, c in plain.items() if all(f.default is not MISSING for f in dataclass_fields(c))}


@contextmanager
def _executor(address: str | None) -> Iterator[Any]:
    """Yield the executor of a Dask cluster, or None for this machine."""
    if address is None:
        yield None
        return
    try:
        import distributed
    except ImportError:
        raise ImportError("--dask needs the extra 'dask': pip install 'wakeful[dask]'") from None
    connect: Any = distributed.Client
    with connect(address, timeout=CONNECT) as client:
        yield client.get_executor()


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what moves a progress bar, or None where there is no terminal to show one."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:  # the extra 'lab' brings it
        yield None
        return
    with tqdm(unit=" rounds", unit_scale=True, smoothing=0.1, file=sys.stderr, leave=False) as bar:

        def move(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield move


if __name__ == "__main__":
    sys.exit(main())
