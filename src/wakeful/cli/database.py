"""The option `--db` of commands that work on a database of the service."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wakeful.service.settings import SERVICE_SETTINGS

DB = SERVICE_SETTINGS["db"]  # as of `wakeful serve`
MISSING = "databases of the service need the extra 'service': pip install 'wakeful[service]'"


def add_db(command: Any) -> None:
    """Add the option to a command."""
    command.add_argument(DB.flag, metavar=DB.metavar, help=f"{DB.about} ({DB.default}) [{DB.variable}]")


@contextmanager
def opened(options: argparse.Namespace, *, writes: bool, creates: bool = False) -> Iterator[Any]:
    """Yield the store of `--db`, which must exist unless `creates`; what fails there is one sentence here."""
    try:
        from wakeful.service.store import StoreError
        from wakeful.service.stores import open_store
    except ImportError as problem:
        raise ImportError(f"{MISSING} ({problem})") from None
    url = options.db or os.environ.get(DB.variable) or DB.default
    try:
        if writes and not creates:
            open_store(url, reads_only=True).close()  # a name that is misspelt makes no new file
        store = open_store(url, reads_only=not writes)
        try:
            yield store
        finally:
            store.close()
    except StoreError as problem:
        raise OSError(str(problem)) from problem
