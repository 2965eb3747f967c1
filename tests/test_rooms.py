"""The house: each room imports only rooms above it, wherever and however an import is written."""

import ast
import importlib
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import wakeful

# Data flows down this list, and so do imports. The names without a folder are the modules beside the rooms.
BESIDE = ("inputs", "limits", "atomic", "files")
FOLDERS = (
    "numerics",
    "policies",
    "duels",
    "logs",
    "bandits",
    "worlds",
    "regret",
    "checks",
    "lab",
    "off_policy",
    "paper",
    "service",
)
ROOMS = (*BESIDE, *FOLDERS, "__init__", "cli", "__main__")
OPTIONAL = {"matplotlib", "scipy", "pandas", "polars", "pyarrow", "tqdm", "distributed"}  # imported where needed
SOURCE = Path(wakeful.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    """Return the room of a file: its folder, or its own name beside the rooms."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def origin(name: str) -> str:
    """Return the room that a public name of the package, or a part of the package, comes from."""
    if (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file():
        return name
    found = getattr(wakeful, name)
    module = found.__name__ if isinstance(found, types.ModuleType) else getattr(found, "__module__", "wakeful.__init__")
    return str(module).split(".")[1]


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the room of everything of the package that a file takes, at its top or inside functions."""
    aliases = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "wakeful":
            yield from (origin(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wakeful."):
            yield str(node.module).split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("wakeful."))
            aliases |= {alias.asname or "wakeful" for alias in node.names if alias.name.partition(".")[0] == "wakeful"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield origin(node.attr)


def wrong(place: str, text: str) -> set[str]:
    """Return the rooms that a file in the room `place` takes something from, though they come after it."""
    return {other for other in imported(ast.parse(text)) if ROOMS.index(other) > ROOMS.index(place)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_rooms_above_its_own(path: Path) -> None:
    assert room(path) in ROOMS, f"{path.name} is in no room"
    assert not wrong(room(path), path.read_text()), f"{path.relative_to(SOURCE)} imports rooms below its own"


@pytest.mark.parametrize(
    "text",
    [
        "from wakeful.lab.simulate import simulate",
        "from wakeful import simulate",
        "import wakeful.lab.simulate",
        "def f():\n    from wakeful.lab import results",
        "import wakeful as wk\n\ndef f():\n    return wk.simulate",
        "import wakeful\nx = wakeful.worlds.Dependent()",
        "if TYPE_CHECKING:\n    from wakeful.paper import report",
        "from wakeful import relations",
    ],
)
def test_the_guard_sees_every_way_to_import(text: str) -> None:
    assert wrong("bandits", text)
    assert not wrong("cli", text)


def test_no_module_stands_outside_the_rooms() -> None:
    beside = {path.stem for path in SOURCE.glob("*.py")}
    assert beside == {"__init__", "__main__", *BESIDE}


def test_rooms_import_by_themselves() -> None:
    for path in FILES:
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[0] not in {"__main__", "lab"}:  # plots need matplotlib
            importlib.import_module(".".join(("wakeful", *parts)).removesuffix(".__init__"))


def imported_libraries(path: Path, *, everywhere: bool) -> set[str]:
    """Return the libraries that a file imports, at its top or everywhere."""
    tree = ast.parse(path.read_text())
    found = set()
    for node in ast.walk(tree) if everywhere else tree.body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found |= {name.partition(".")[0] for name in names}
    return found


def test_what_is_optional_is_imported_where_it_is_needed() -> None:
    for path in FILES:
        heavy = imported_libraries(path, everywhere=False) & OPTIONAL
        assert not heavy or path.stem in {"plots", "relation_diagram"}, f"{path} imports {heavy} for everybody"


def test_nothing_is_ever_pickled() -> None:
    for path in set(FILES) - {SOURCE / "numerics" / "compile_cache.py"}:  # Numba's own form, behind a checksum
        assert not imported_libraries(path, everywhere=True) & {"pickle", "shelve", "marshal"}, path
