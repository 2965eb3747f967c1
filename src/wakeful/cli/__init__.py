"""The command line: `wakeful`, with a file for each command; `wakeful --help` lists them."""

import argparse
import sys
from collections.abc import Callable, Sequence

from wakeful import SimulationError, __version__
from wakeful.cli import backup, compact, delete, evaluate, export, import_log, reproduce, serve, simulate, verify
from wakeful.cli import compile as compile_command
from wakeful.cli.parser import Parser

WRONG_USE, FAILURE, INTERRUPTED = 2, 1, 130


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
        print(f"wakeful: {_sentence(problem)}", file=sys.stderr)
        return FAILURE
    except MemoryError as problem:
        about = f": {problem}" if str(problem) else ""
        print(f"wakeful: not enough memory{about}; fewer --runs or a smaller world need less", file=sys.stderr)
        return FAILURE
    except KeyboardInterrupt:
        print("wakeful: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _sentence(problem: Exception) -> str:
    """Return what went wrong; of an error of the system, without its number."""
    if isinstance(problem, OSError) and problem.strerror and problem.filename is not None:
        return f"{problem.strerror}: {str(problem.filename)!r}"
    return str(problem)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="wakeful", description="Bandits and duels whose arms sleep.")
    parser.add_argument("--version", action="version", version=f"wakeful {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    simulate.add_to(commands)
    evaluate.add_to(commands)
    reproduce.add_to(commands)
    compile_command.add_to(commands)
    serve.add_to(commands)
    verify.add_to(commands)
    export.add_to(commands)
    import_log.add_to(commands)
    backup.add_to(commands)
    compact.add_to(commands)
    delete.add_to(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
