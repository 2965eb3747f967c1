"""Print the oldest versions of libraries that `pyproject.toml` allows, one a line, as `pip install` takes them."""

import tomllib
from pathlib import Path

EXTRAS = ("lab", "dask", "service")


def oldest() -> list[str]:
    """Return `name==version` for every library that users may install, at its lower bound."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    extras = [name for extra in EXTRAS for name in project["optional-dependencies"][extra]]
    return [library.replace(">=", "==") for library in (*project["dependencies"], *extras)]


if __name__ == "__main__":
    print("\n".join(oldest()))
