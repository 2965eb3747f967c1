"""Imports point one way: numerics, then policies, then what uses them."""

import ast
from pathlib import Path

import wakeful

# Each module may import those of the layers above its own, and those before it in its own layer.
LAYERS = (
    ("sources", "fingerprint", "compile_cache", "compile", "inputs", "limits"),
    ("entries", "state_ranges"),
    ("exponentials", "stationary", "integrals", "rates", "sets"),
    ("recipe", "policy"),
    ("exp3", "sleeping_exp3", "index", "ordering", "per_set"),
    ("pairs", "duel", "duel_policy", "sparring", "duel_index", "duel_thompson", "stable_pair", "duel_regret"),
    (
        "arms",
        "atomic",
        "files",
        "tables",
        "stream",
        "play",
        "set_table",
        "best_ordering",
        "tally",
        "regret",
        "relations",
    ),
    ("learner", "bandit", "ranking", "dueling_bandit", "games", "worlds"),
    (
        "trials",
        "suite",
        "duel_trials",
        "duel_suite",
        "results",
        "bandit_units",
        "duel_units",
        "units",
        "workers",
        "lab",
        "plots",
    ),
    ("paper",),
    ("names", "cli", "__main__"),
)
ORDER = [module for layer in LAYERS for module in layer]
OPTIONAL = {"matplotlib", "scipy", "pandas", "polars", "pyarrow", "tqdm", "distributed"}  # imported where needed
SOURCE = Path(wakeful.__file__).parent


def files(module: str) -> list[Path]:
    """Return the file of a module, or all files of a package."""
    folder = SOURCE / module
    return sorted(folder.glob("*.py")) if folder.is_dir() else [SOURCE / f"{module}.py"]


def imported(path: Path) -> set[str]:
    """Return the modules of the package that a file needs to be imported itself, however it says so."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module == "wakeful":
            found |= {alias.name for alias in node.names} & set(ORDER)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wakeful."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("wakeful.")}
    return found


def test_every_module_has_its_place() -> None:
    modules = {path.stem for path in SOURCE.glob("*.py")} | {path.parent.name for path in SOURCE.glob("*/*.py")}
    assert modules - {"__init__"} == set(ORDER)


def test_imports_point_one_way() -> None:
    for place, module in enumerate(ORDER):
        for path in files(module):
            later = imported(path) - set(ORDER[: place + 1])
            assert not later, f"{path.name} imports {later}, which come after it"


def test_what_is_optional_is_imported_where_it_is_needed() -> None:
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            heavy = {name.partition(".")[0] for name in names} & OPTIONAL
            assert not heavy or path.stem == "plots", f"{path} imports {heavy} for everybody"


def test_nothing_is_ever_pickled() -> None:
    for path in set(SOURCE.rglob("*.py")) - {SOURCE / "compile_cache.py"}:  # Numba's own form, behind a checksum
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & {"pickle", "shelve", "marshal"}, path
