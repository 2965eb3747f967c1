"""Identifies where code comes from: a library by its version, a file of Wakeful by its text, or a user's own code.

A file of Wakeful is identified by its text and the text of every file of Wakeful that it imports, directly or not. So
the results of a policy depend on the files it needs, and never on the command line, the plots or the paper. A file that
was changed after this process imported the package says nothing of the code that runs here, and is refused.
"""

import hashlib
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path

PACKAGE = "wakeful"
BY_VERSION = frozenset({"numpy", "numba", "llvmlite", "scipy"})  # large, and released with care

_IMPORT = re.compile(rf"^[ \t]*(?:from|import)[ \t]+({PACKAGE}[\w.]*)(?:[ \t]+import[ \t]+(\([^)]*\)|[^#\n]*))?", re.M)


class NotIdentifiedError(TypeError):
    """A value, or code, that cannot be identified."""


def is_ours(module: str) -> bool:
    """Whether a module is one of the package's."""
    return module.partition(".")[0] == PACKAGE


@cache
def our_code(module: str) -> str:
    """Return a digest of a module of ours and of all modules of ours that it imports."""
    found: dict[Path, None] = {}
    pending = [module]
    while pending:
        path = _file(pending.pop())
        if path is not None and path not in found:
            if _stamp(path) != at_import.get(path):
                raise NotIdentifiedError(
                    f"{path.name} was changed after it was imported (a new process takes it as it is)"
                )
            found[path] = None
            pending += _imports(path.read_text("utf-8"))
    # By content alone, in any order: where a file is makes no difference to what it does.
    return digest(*sorted(hashlib.sha256(path.read_bytes()).digest() for path in found))


def digest(*parts: bytes) -> str:
    """Return a digest of several byte strings; different lists have different digests."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


@cache
def library(module: str) -> str | None:
    """Return the name and version of the library of a module, or None for a user's own code."""
    top = module.partition(".")[0]
    if top == "builtins" or top in sys.builtin_module_names:
        return f"Python {sys.version}"
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return f"Python {sys.version}" if top in sys.stdlib_module_names else None
    path = Path(file).resolve()
    if not {"site-packages", "dist-packages"} & set(path.parts):
        standard = Path(sysconfig.get_path("stdlib")).resolve()
        return f"Python {sys.version}" if top != "__main__" and path.is_relative_to(standard) else None
    version = f"{top} {getattr(sys.modules[top], '__version__', None)}"
    return version if top in BY_VERSION else f"{version} {_texts(path)}"


def _texts(path: Path) -> str:
    """Return a digest of a module's file, or of all Python files of a package."""
    files = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    return digest(*(file.read_bytes() for file in files))


def _imports(text: str) -> list[str]:
    """Return the modules of ours that a file may import, wherever it does."""
    found = []
    for module, names in _IMPORT.findall(text):
        if module != PACKAGE:  # its `__init__` is the list of public names: what is taken from it comes next
            found.append(module)
        found += [f"{module}.{name}" for name in re.findall(r"\w+", names)]
    return found


@cache
def _file(module: str) -> Path | None:
    """Return the file of a module of ours, if it is one."""
    path = Path(__file__).parent.parent.joinpath(*module.split(".")[1:])
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes whenever a file does."""
    about = path.stat()
    return about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino


def stamps() -> dict[Path, tuple[int, ...]]:
    """Return the stamp of every file of ours."""
    return {path: _stamp(path) for path in Path(__file__).parent.parent.rglob("*.py")}


at_import = stamps()
