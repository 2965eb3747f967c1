"""Each thing once: one name of a constant has one meaning, and no two files import each other."""

import ast
from collections import defaultdict
from pathlib import Path

import wakeful

SOURCE = Path(wakeful.__file__).parent
TREES = {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}
TOO_GENERAL = {"_checked", "_trusted", "_sound"}  # names of functions that do not say what is checked
# Constants that several files define, each its own, with the same meaning in all of them.
OF_EACH_FILE = {
    "ABOUT": "what is said about a command, a parameter or a file",
    "ADAPTIVE_CHECKS": "the checks of a suite for adaptive worlds",
    "CHECKS": "the checks of a suite",
    "COLUMNS": "the columns of a table",
    "EXAMPLE": "what the help of a command ends with",
    "KIND": "what a file or an event is called",
    "MISSING": "what a command says if an extra is not installed",
    "N_PARAMETERS": "where the parameters end, bound when a kernel is compiled",
    "TYPES": "of the arrays of a block",
}
DRAWS_ITSELF = {"wakeful.lab.plots", "wakeful.lab.results"}  # `results.plot` draws what `plots` reads from results


def module(path: Path) -> str:
    """Return the name under which a file is imported."""
    return ".".join(("wakeful", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module(path) for path in TREES}


def constants(tree: ast.Module) -> set[str]:
    """Return the names in capital letters that a file defines, without those for itself alone (`_INTS`)."""
    made = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    targets = [target for node in made for target in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return {
        n.id
        for target in targets
        for n in ast.walk(target)
        if isinstance(n, ast.Name) and n.id.isupper() and n.id[0] != "_"
    }


def taken(tree: ast.Module) -> set[tuple[str, str]]:
    """Return the modules of the package and the names that a file imports from them, inside functions too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "wakeful":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add((whole, "") if whole in MODULES else (str(node.module), alias.name))
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names if alias.name in MODULES}
    return found


def test_a_constant_has_one_meaning() -> None:
    places = defaultdict(list)
    for path, tree in TREES.items():
        for name in constants(tree):
            places[name].append(module(path))
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in OF_EACH_FILE} == {}


def test_every_constant_is_used() -> None:
    read = (node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute))
    used = {node.id if isinstance(node, ast.Name) else node.attr for node in read if isinstance(node.ctx, ast.Load)}
    assert {name for tree in TREES.values() for name in constants(tree)} - used == set()


def test_a_constant_that_other_files_use_is_defined_in_one() -> None:
    used = {name for tree in TREES.values() for _, name in taken(tree) if name.isupper()}
    assert len(used) > 50
    assert not used & set(OF_EACH_FILE)


def test_functions_say_what_they_check() -> None:
    written = {node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert written & TOO_GENERAL == set()


def test_no_files_import_each_other_in_a_circle() -> None:
    imports = {module(path): {name for name, _ in taken(tree)} for path, tree in TREES.items()}

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        left = list(imports[start])
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left.extend(imports.get(name, ()))
        return seen

    assert {name for name in imports if name in reached(name)} == DRAWS_ITSELF
