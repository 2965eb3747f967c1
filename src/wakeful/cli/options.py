"""What options of the command line may be: numbers, texts, files to read and to write, a cluster."""

import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from wakeful import atomic
from wakeful.inputs import must_be, one_of
from wakeful.lab.results import checked_figure

CONNECT = 10  # seconds for the scheduler of a cluster to answer


def count(name: str, value: Any) -> int:
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


def many(name: str, given: Any) -> list[Any]:
    """Return a list of what may be one name or a list of them."""
    return [given] if isinstance(given, str) else [text_of(name, item) for item in a_list(name, given)]


def a_list(name: str, given: Any) -> list[Any]:
    """Return `given` if it is a list."""
    if not isinstance(given, list):
        raise TypeError(must_be(name, "a name or a list of names", given))
    return given


def text_of(name: str, given: Any) -> str:
    """Return `given` if it is text."""
    if not isinstance(given, str):
        raise TypeError(must_be(name, "text", given))
    return given


def from_file(path: Path, known: list[str]) -> dict[str, Any]:
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


def check_outputs(plot: Any, save: Any) -> None:
    """Refuse what could not be written, before hours of work and not after."""
    for option, path in (("--plot", plot), ("--save", save)):
        if path is not None:
            check_can_be_written(option, path)
    if plot is not None:
        checked_figure("--plot", plot)
    needed = {"matplotlib": plot is not None, "pyarrow": save is not None and Path(save).suffix == ".parquet"}
    for package, used in needed.items():
        if used and find_spec(package) is None:
            raise ImportError(f"{package} is missing: pip install 'wakeful[lab]'")


def check_can_be_written(option: str, path: Any) -> None:
    """Refuse a path at which no file can be written, by writing one beside it that has no name."""
    place = Path(text_of(option, path)).absolute()
    if not place.parent.is_dir():
        raise ValueError(must_be(option, "a file in a folder that exists", path))
    if place.exists() and not place.is_file():
        raise ValueError(must_be(option, "a file, not something else", path))
    try:
        with tempfile.TemporaryFile(dir=place.parent):
            pass
    except OSError as problem:
        raise ValueError(must_be(option, "a file in a folder that can be written to", path) + f": {problem}") from None


@contextmanager
def executor_at(address: str | None) -> Iterator[Any]:
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
