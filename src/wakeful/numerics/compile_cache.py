"""Compiled code on disk: one file for each entry point, types and CPU, with a checksum.

Numba's own cache fails when a file is damaged or the disk is full, and runs machine code without checking that it is
what was written. Here any problem leads to one warning, and the code is compiled as if there were no file. Numba also
passes over a folder that it cannot write to, such as the one of a container that was filled when its image was built.
"""

import hashlib
import inspect
import os
import pickle
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, _Cache, _CacheLocator

from wakeful import atomic
from wakeful.numerics.fingerprint import say_once
from wakeful.numerics.sources import digest

llvm: Any = import_module("llvmlite.binding")
runtime: Any = import_module("numba.core.runtime._nrt_python")
serialize: Any = import_module("numba.core.serialize")
config: Any = import_module("numba.core.config")
SIZE = hashlib.sha256().digest_size
CACHE_VARIABLE = "NUMBA_CACHE_DIR"  # of the environment: the folder for compiled code
NOT_KEPT = (
    "compiled code cannot be kept on disk, so every process compiles it again "
    f"(set {CACHE_VARIABLE} to a folder that can be written to)"
)


class CompileCache(_Cache):
    """The cache that Numba asks for compiled code; its methods never raise."""

    def __init__(self, function: Any) -> None:
        self._name = function.__qualname__
        form: Any = CompileResultCacheImpl
        self._filled = _filled_folder(function)
        try:
            self._form = form(function)  # finds a folder to write to; raises RuntimeError where there is none
        except RuntimeError:
            if self._filled is None:
                raise
            self._form = ReadOnlyForm()
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The folder that is written to."""
        path: str = self._form.locator.get_cache_path()
        return path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for the types `sig`, or None if it is not there or not whole."""
        try:
            path = self._found(self._file(sig, target_context.codegen()))
            if not self._enabled or path is None:
                return None
            reduced, needed = pickle.loads(_read(path))
            if not _can_be_linked(needed):
                target_context.refresh()
            return self._form.rebuild(target_context, reduced)
        except Exception as problem:  # if the cache cannot be read, the code is compiled again
            say_once("compiled code on disk cannot be used, so some is compiled again", problem)
            return None

    def save_overload(self, sig: Any, result: Any) -> None:
        """Write the code for the types `sig`, atomically."""
        try:
            if self._enabled and self._form.check_cachable(result):
                self._form.locator.ensure_cache_path()
                path = Path(self.cache_path) / self._file(sig, result.codegen)
                _write(path, _dumped(self._form.reduce(result), result))
        except Exception as problem:  # the code works, whether it can be written or not
            say_once(NOT_KEPT, problem)

    def enable(self) -> None:
        """Look for files, and write them."""
        self._enabled = True

    def disable(self) -> None:
        """Neither read nor write files."""
        self._enabled = False

    def flush(self) -> None:
        """Forget all files of this entry point."""
        for path in Path(self.cache_path).glob(f"{self._stem()}-*.wakeful"):
            path.unlink(missing_ok=True)

    def _stem(self) -> str:
        return "".join(c if c.isalnum() or c in ".-_" else "_" for c in self._name)[-160:]

    def _file(self, sig: Any, codegen: Any) -> str:
        """Return the name of the file for these types on this CPU, by these versions."""
        about = str(sig), str(codegen.magic_tuple()), numba.__version__, sys.version
        return f"{self._stem()}-{digest(*map(str.encode, about))[:16]}.wakeful"

    def _found(self, name: str) -> Path | None:
        """Return where a file is, if it is anywhere."""
        folders = [] if isinstance(self._form, ReadOnlyForm) else [Path(self.cache_path)]
        folders += [] if self._filled is None else [self._filled]
        return next((folder / name for folder in folders if (folder / name).exists()), None)


class ReadOnlyForm(CompileResultCacheImpl):
    """What turns the contents of files into compiled code, where there is no folder to write to."""

    def __init__(self) -> None:
        pass

    @property
    def locator(self) -> Any:
        """Where to write."""
        raise OSError("no folder can be written to")


def _filled_folder(function: Any) -> Path | None:
    """Return the folder of a function below that of `CACHE_VARIABLE`, if it is there; perhaps it can only be read."""
    if not config.CACHE_DIR:
        return None
    locator: Any = _CacheLocator
    folder = Path(config.CACHE_DIR) / locator.get_suitable_cache_subpath(inspect.getfile(function))
    return folder if folder.is_dir() else None


def _dumped(reduced: tuple[Any, ...], result: Any) -> bytes:
    """Return what is written: what Numba would write without what the code does not use, and the names it needs."""
    *parts, environments = reduced
    module = str(result.library._final_module)
    used = tuple(found for found in environments if occurs_again(found.env_name, module))
    data: bytes = serialize.dumps(((*parts, used), _needed(result)))
    return data


def occurs_again(name: str, module: str) -> bool:
    """Whether the text of compiled code has a global name anywhere but where it is defined.

    Numba keeps the environment of every function that was ever inlined, and to read one back imports its module.
    """
    return len(re.findall(f'@"?{re.escape(name)}', module)) != 1


def _needed(result: Any) -> list[str]:
    """Return the names that compiled code takes from outside itself; those of LLVM's own operations are no names."""
    module = result.library._final_module
    declared = [part.name for part in (*module.functions, *module.global_variables) if part.is_declaration]
    return [name for name in declared if not name.startswith("llvm.")]


def _can_be_linked(names: Iterable[str]) -> bool:
    """Whether all these names are known in this process, Numba's memory management included.

    `refresh` makes Numba ready to compile, which takes longer than all else that is done before a first decision. Code
    that is complete needs only names. What is not known here may be so after it.
    """
    for name, address in runtime.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    return all(llvm.address_of_symbol(name) for name in names)


def _read(path: Path) -> bytes:
    """Return what was written to a file, or refuse what was not."""
    data = path.read_bytes()
    if hashlib.sha256(data[SIZE:]).digest() != data[:SIZE]:
        raise ValueError(f"{path.name} is damaged")
    return data[SIZE:]


def _write(path: Path, data: bytes) -> None:
    """Write data with its checksum, whole or not at all."""
    with atomic.replacing(path) as file:
        file.write(hashlib.sha256(data).digest() + data)


@contextmanager
def without_caches(kernels: Iterable[Any]) -> Iterator[None]:
    """Compile these kernels of a user's from their source: Numba's files know nothing of changed globals."""
    cached = [kernel for kernel in kernels if kernel.stats.cache_path is not None]
    for kernel in cached:
        kernel._cache.disable()
        if any(kernel.stats.cache_hits.values()):
            kernel.recompile()
    try:
        yield
    finally:
        for kernel in cached:
            kernel._cache.enable()


def cache_folder(template: Any) -> Path:
    """Return the folder in which compiled code of `template` and its like is kept, or raise if there is none.

    That is the folder of `CACHE_VARIABLE` if it is set, else the package, or a folder in the user's home.
    """
    try:
        folder = Path(CompileCache(template).cache_path)
    except (RuntimeError, OSError) as problem:
        raise OSError(f"{NOT_KEPT}: {problem}") from None
    wanted = os.environ.get(CACHE_VARIABLE, "")
    if wanted and not folder.is_relative_to(Path(wanted).absolute()):
        raise OSError(f"{CACHE_VARIABLE} must be a folder that can be written to, got {wanted!r}")
    return folder
