"""The house: each room imports only rooms above it, wherever and however an import is written."""

import ast
import importlib
import re
import sys
import types
from collections.abc import Iterator
from importlib.util import resolve_name
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
EVERYWHERE = {"numpy", "numba", "wakeful"}  # other libraries are imported where they are needed
DRAWS = {"plots", "relation_diagram"}  # files that are imported when a figure is drawn
MODULE = re.compile(
    rf"wakeful\.({'|'.join((*BESIDE, *FOLDERS))})(\.\w+)*"
)  # in a string: for import_module and its like
SOURCE, TESTS = Path(wakeful.__file__).parent, Path(__file__).parent
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


def imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Yield the room of everything of the package that a file takes, at its top or inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            if module == "wakeful":
                yield from ("__init__" if alias.name == "*" else origin(alias.name) for alias in node.names)
            elif module.startswith("wakeful."):
                yield module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("wakeful."))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (found := MODULE.fullmatch(node.value)):
            yield found[1]
    yield from used(tree)


def used(tree: ast.AST) -> Iterator[str]:
    """Yield the rooms of `wk.X` after `import wakeful as wk`; `wk` alone, as in `getattr(wk, name)`, is all names."""
    aliases = set()
    for alias in (alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names):
        if alias.name == "wakeful" or (alias.name.startswith("wakeful.") and not alias.asname):
            aliases.add(alias.asname or "wakeful")
    bases = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            bases[node.value] = node.attr
    for name in (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in aliases):
        yield origin(bases[name]) if name in bases else "__init__"


def wrong(place: str, text: str, package: str | None = None) -> set[str]:
    """Return the rooms that a file in the room `place` takes something from, though they come after it."""
    found = imported(ast.parse(text), package or f"wakeful.{place}")
    return {other for other in found if ROOMS.index(other) > ROOMS.index(place)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_rooms_above_its_own(path: Path) -> None:
    assert room(path) in ROOMS, f"{path.name} is in no room"
    package = ".".join(("wakeful", *path.relative_to(SOURCE).parts[:-1]))
    assert not wrong(room(path), path.read_text(), package), f"{path.relative_to(SOURCE)} imports rooms below its own"


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
        "from ..lab import results",
        "def f():\n    from .. import simulate",
        "from wakeful import *",
        "import wakeful.lab.simulate as s\ns.simulate",
        "import wakeful.numerics.arrays\nwakeful.lab.simulate",
        "import wakeful as wk\ngetattr(wk, 'simulate')",
        "import wakeful as wk\nall_names = wk\nall_names.simulate",
        "import importlib\nimportlib.import_module('wakeful.lab.simulate')",
        "import sys\nsys.modules['wakeful.paper']",
    ],
)
def test_the_guard_sees_every_way_to_import(text: str) -> None:
    assert wrong("bandits", text)
    assert not wrong("cli", text)


def test_the_guard_leaves_other_names_alone() -> None:
    assert not wrong("bandits", "import wakeful.numerics.arrays as arrays\narrays.Floats")
    assert not wrong("bandits", "from .arms import Arms\npath = 'wakeful.db'")


def test_no_module_stands_outside_the_rooms() -> None:
    beside = {path.stem for path in SOURCE.glob("*.py")}
    assert beside == {"__init__", "__main__", *BESIDE}


def test_tests_mirror_the_rooms_and_import_no_other_test() -> None:
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and any(path.glob("test_*.py"))}
    assert folders == {*FOLDERS, "cli", "examples"}
    for path in TESTS.rglob("*.py"):
        assert not {name for name in imported_libraries(path, everywhere=True) if name.startswith("test")}, path


def test_rooms_import_by_themselves() -> None:
    for path in FILES:
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[0] not in {"__main__", "lab"}:  # plots need matplotlib
            importlib.import_module(".".join(("wakeful", *parts)).removesuffix(".__init__"))


def run_by_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when a file is imported: not the bodies of functions, nor what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        is_for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not is_for_types and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
            yield from run_by_import(child)


def imported_libraries(path: Path, *, everywhere: bool) -> set[str]:
    """Return the libraries that a file imports, when it is imported itself or everywhere."""
    tree = ast.parse(path.read_text())
    found = set()
    for node in ast.walk(tree) if everywhere else run_by_import(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found |= {name.partition(".")[0] for name in names}
    return found


def test_what_is_optional_is_imported_where_it_is_needed() -> None:
    for path in FILES:
        heavy = imported_libraries(path, everywhere=False) - EVERYWHERE - sys.stdlib_module_names
        assert not heavy or path.stem in DRAWS or room(path) == "service", f"{path} imports {heavy} for everybody"


def test_nothing_is_ever_pickled() -> None:
    for path in set(FILES) - {SOURCE / "numerics" / "compile_cache.py"}:  # Numba's own form, behind a checksum
        assert not imported_libraries(path, everywhere=True) & {"pickle", "shelve", "marshal"}, path
