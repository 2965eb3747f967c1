"""Imports point one way: numerics, then policies, then what uses them."""

import ast
from pathlib import Path

import wakeful

# Each module may import those of the layers above its own, and those before it in its own layer.
LAYERS = (
    ("compile", "inputs"),
    ("entries",),
    ("stationary", "integrals", "rates", "sets"),
    ("policy",),
    ("exp3", "sleeping_exp3", "index", "ordering", "per_set"),
    ("arms", "files", "stream", "play", "regret"),
    ("bandit",),
    ("suite",),
)
ORDER = [module for layer in LAYERS for module in layer]
SOURCE = Path(wakeful.__file__).parent


def imported(path: Path) -> set[str]:
    """Return the modules of the package that a file imports, however it says so."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "wakeful":
            found |= {alias.name for alias in node.names if (SOURCE / f"{alias.name}.py").exists()}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("wakeful."):
            found.add((node.module or "").removeprefix("wakeful."))
        elif isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[2] for alias in node.names if alias.name.startswith("wakeful.")}
    return found


def test_every_module_has_its_place() -> None:
    assert {path.stem for path in SOURCE.glob("*.py")} - {"__init__"} == set(ORDER)


def test_imports_point_one_way() -> None:
    for place, module in enumerate(ORDER):
        later = imported(SOURCE / f"{module}.py") - set(ORDER[:place])
        assert not later, f"{module} imports {later}, which come after it"


def test_nothing_heavy_is_imported_with_the_package() -> None:
    for path in SOURCE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & {"matplotlib", "scipy", "pandas", "pickle"}, path
