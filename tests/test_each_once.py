"""Each thing once: a constant that several files use is defined in one, and no two files import each other."""

import ast
from collections import defaultdict
from pathlib import Path

import wakeful

SOURCE = Path(wakeful.__file__).parent
TREES = {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}
TOO_GENERAL = {"_checked", "_trusted", "_sound"}  # names of functions that do not say what is checked
DRAWS_ITSELF = {"wakeful.lab.plots", "wakeful.lab.results"}  # `results.plot` draws what `plots` reads from results


def module(path: Path) -> str:
    """Return the name under which a file is imported."""
    return ".".join(("wakeful", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module(path) for path in TREES}


def constants(tree: ast.Module) -> set[str]:
    """Return the names in capital letters that a file defines."""
    made = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    targets = [target for node in made for target in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name) and n.id.isupper()}


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


def test_a_constant_that_other_files_use_is_defined_in_one() -> None:
    places = defaultdict(list)
    for path, tree in TREES.items():
        for name in constants(tree):
            places[name].append(module(path))
    used = {name for tree in TREES.values() for _, name in taken(tree) if name.isupper()}
    assert len(used) > 50
    assert {name: places[name] for name in used if len(places[name]) > 1} == {}


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
