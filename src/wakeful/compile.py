"""Numba behind one typed door: `kernel` marks a function, `bind` makes it an entry point kept on disk.

Numba keeps compiled code on disk for a function only if nothing it calls is handed in as an argument or
a closure, and it notices only changes of the file the function stands in. `bind` works around both: the
kernels a template calls become its *globals*, and a fingerprint of every source file becomes part of its
name, so that changed code is never answered by an old file.
"""

import hashlib
import inspect
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
_called: dict[Any, Any] = {}  # functions, and what `call` made of them


def kernel(function: Function) -> Function:
    """Compile `function` on first use; under `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    compiled: Function = numba.njit(function)
    return compiled


def fused(function: Function) -> Function:
    """Compile like `kernel`, but let a product and a sum be one operation with one rounding, where there is one.

    Faster and more accurate, but not to the bit what plain Python computes: for numerics, not for what breaks ties.
    """
    compiled: Function = numba.njit(function, fastmath={"contract"})
    return compiled


def as_kernel(function: Any) -> Any:
    """Return a kernel, compiling what a user left plain."""
    return function if hasattr(function, "py_func") else kernel(function)


def bind(template: Any, name: str, keep: bool, nogil: bool = False, **kernels: Any) -> Any:
    """Compile a copy of `template` whose global names are `kernels`.

    `keep` stores the code on disk; `nogil` lets other threads run meanwhile.
    """
    copy = FunctionType(template.__code__, {**template.__globals__, **kernels}, template.__name__)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    compiled: Any = numba.njit(copy, nogil=nogil)
    compiled.bound = tuple(kernels.values())
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


def fingerprint(*kernels: Any) -> str:
    """Eight digits that change whenever a file of ours with kernels does, or one of the `kernels` themselves."""
    return _digest(_sources().encode(), *(_identity(function).encode() for function in kernels))


@cache
def package_digest() -> str:
    """Return a digest of all of the package's code: results are the same only if it is."""
    return _digest(*(path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))))


@cache
def _sources() -> str:
    """Return a digest of all files of the package that hold kernels."""
    sources = (path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py")))
    return _digest(*(source for source in sources if b"@kernel" in source or b"@fused" in source))


def _identity(function: Any) -> str:
    """Return what tells kernels apart: where they stand, their code and constants, what is bound into them."""
    plain = getattr(function, "py_func", function)
    if not hasattr(plain, "__code__"):
        return _digest(repr(plain).encode())
    code, cells = plain.__code__, plain.__closure__ or ()
    inner = [_identity(bound) for bound in getattr(function, "bound", ())]
    about = (plain.__module__, plain.__qualname__, code.co_names, [c.cell_contents for c in cells], inner)
    constants = [constant for constant in code.co_consts if not hasattr(constant, "co_code")]
    source = b"" if plain.__module__.partition(".")[0] == "wakeful" else _source(plain)
    return _digest(repr(about).encode(), repr(constants).encode(), code.co_code, source)


def _source(function: Any) -> bytes:
    """Return the file a function stands in, if there is one."""
    path = Path(inspect.getsourcefile(function) or "")
    return path.read_bytes() if path.is_file() else b""


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:8]


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


def call(template: Any, *arguments: Any) -> Any:
    """Call a plain function, compiled at its first call for the types it has then; other threads run meanwhile."""
    if template not in _called:
        name = f"{template.__module__}.{template.__name__}"
        entry = bind(template, f"{template.__name__}-{fingerprint(template)}", keep=True, nogil=True)
        _called[template] = native(entry, name, *arguments)
    return _called[template](*arguments)


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
