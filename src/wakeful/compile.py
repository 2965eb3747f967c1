"""Numba behind one typed door: `kernel` marks a function, `bind` makes it an entry point kept on disk.

Numba keeps compiled code on disk for a function only if nothing it calls is handed in as an argument or
a closure, and it notices only changes of the file the function stands in. `bind` works around both: the
kernels a template calls become its *globals*, and a fingerprint of every source file becomes part of its
name, so that changed code is never answered by an old file.
"""

import hashlib
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

PATIENCE = 2.0  # seconds of compilation after which the user is told what is going on
NOTICE = "wakeful is compiling %s: some seconds, once on this machine"
log = logging.getLogger("wakeful")


def kernel(function: Function) -> Function:
    """Compile `function` on first use; under `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    compiled: Function = numba.njit(function)
    return compiled


def bind(template: Any, name: str, keep: bool, nogil: bool = False, **kernels: Any) -> Any:
    """Compile a copy of `template` whose global names are `kernels`.

    `keep` stores the code on disk; `nogil` lets other threads run meanwhile.
    """
    copy = FunctionType(template.__code__, {**template.__globals__, **kernels}, template.__name__)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    compiled: Any = numba.njit(copy, nogil=nogil)
    if keep and hasattr(compiled, "enable_caching"):
        try:
            compiled.enable_caching()
        except RuntimeError:
            log.info("no writable folder to keep compiled code in: %s is compiled in every process", name)
    return compiled


def kept(function: Any) -> bool:
    """Whether code made from `function` may be stored: ours always, a user's if it says `cache=True`."""
    if function.__module__.partition(".")[0] == "wakeful":
        return True
    return hasattr(function, "stats") and function.stats.cache_path is not None


@cache
def fingerprint(*files: str) -> str:
    """Eight hexadecimal digits that change whenever a file with kernels does, ours or one of `files`."""
    digest = hashlib.sha256()
    for path in [*sorted(Path(__file__).parent.rglob("*.py")), *map(Path, sorted(files))]:
        source = path.read_bytes()
        if b"@kernel" in source or str(path) in files:
            digest.update(source)
    return digest.hexdigest()[:8]


def native(entry: Any, name: str, *examples: Any) -> Any:
    """Return `entry` compiled for arguments like `examples`, to be called with nothing else.

    Calling it skips the look at every argument's type that a compiled function takes, half a microsecond.
    Compilation is announced where it takes longer than `PATIENCE`.
    """
    if not hasattr(entry, "overloads"):
        return entry
    signature = tuple(map(numba.typeof, examples))
    if signature not in entry.overloads:
        with _notice(name):
            entry.compile(signature)
    return entry.get_overload(signature)


@contextmanager
def _notice(name: str) -> Iterator[None]:
    """Log one line if the block is still running after `PATIENCE` seconds."""
    timer = threading.Timer(PATIENCE, log.warning, [NOTICE, name])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
