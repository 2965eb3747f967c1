"""`wakeful serve`: the decision service over HTTP."""

import argparse
import os
from pathlib import Path
from typing import Any

from wakeful.cli.options import from_file
from wakeful.service.settings import CONFIG, SERVICE_SETTINGS, TOKENS, resolve, without_password

ABOUT = f"""Serve durable decisions over HTTP, until Ctrl-C or SIGTERM.

Without options: SQLite in wakeful.db in this folder, at http://127.0.0.1:8000. Every setting can also be given by an
environment variable, or by a key of the TOML file of --config; both are named in brackets. Options come first, then the
environment, then the file. Tokens are read from {TOKENS} or --token-file and never from the command line.
"""
MISSING = "wakeful serve needs the extra 'service': pip install 'wakeful[service]'"


def add_to(commands: Any) -> None:
    """Add the command that serves."""
    run = commands.add_parser(
        "serve",
        help="serve durable decisions over HTTP",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("--config", metavar="FILE", help=f"TOML file with settings [{CONFIG}]")
    for setting in SERVICE_SETTINGS.values():
        if isinstance(setting.default, bool):
            run.add_argument(setting.flag, action="store_true", default=None, help=setting.help)
        else:
            run.add_argument(setting.flag, metavar=setting.metavar, help=setting.help)


def run_command(options: argparse.Namespace) -> None:
    """Serve."""
    flags = {name: getattr(options, name) for name in SERVICE_SETTINGS}
    config = options.config or os.environ.get(CONFIG)
    settings = resolve(flags, from_file(Path(config), list(SERVICE_SETTINGS)) if config else {}, os.environ)
    try:
        from wakeful.service.server import run
        from wakeful.service.store import StoreError
    except ImportError as problem:
        raise ImportError(f"{MISSING} ({problem})") from None
    shown = without_password(settings.db)
    try:
        run(settings, os.environ, lambda address, _: print(f"wakeful serves {shown} at {address}", flush=True))
    except StoreError as problem:
        raise OSError(str(problem)) from problem
