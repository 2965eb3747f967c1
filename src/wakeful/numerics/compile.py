"""Wrappers around Numba: mark kernels with `kernel`, make entry points of them with `bind`, keep these on disk.

Numba keeps compiled code on disk for a function only if nothing it calls is handed in as an argument or
a closure, and it notices only changes of the file the function stands in. `bind` works around both: the
kernels a template calls become its *globals*, and a fingerprint of all of them becomes part of its name,
so that changed code is never answered by an old file.
"""

import gc
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import FunctionType
from typing import Any, Literal, TypeVar

import numba
import numpy as np
from numba.np import numpy_support

from wakeful.numerics.compile_cache import NOT_KEPT, CompileCache, config, without_caches
from wakeful.numerics.fingerprint import fingerprint_and_kernels, say_once
from wakeful.numerics.kernel_code import Kernel, borrowing_options, options
from wakeful.numerics.sources import NotIdentifiedError, is_ours

Function = TypeVar("Function", bound=Callable[..., Any])

FEW_OBJECTS = 20_000  # that compiling may make before the next garbage collection
SILENT_SECONDS = 2.0  # seconds of compilation after which a message says what is going on
NOTICE = "wakeful is compiling %s: some seconds, once on this machine"
log = logging.getLogger("wakeful")
compiler_lock: Any = import_module("numba.core.compiler_lock").global_compiler_lock
typeof: Any = numba.typeof
types: Any = numba.types
_announced: set[str] = set()  # what a message has said is being compiled
_called: dict[Any, Any] = {}  # functions, and what `call` made of them


def kernel(function: Function) -> Function:
    """Compile `function` on first use; under `NUMBA_DISABLE_JIT=1` it stays plain Python.

    There is no `fastmath`, hence no fused multiply-add, so that every CPU computes the same bits. For the same
    reason kernels take exp and log from `exponentials`, not from the C library. A division by zero raises nothing.
    """
    compiled: Any = function if config.DISABLE_JIT else Kernel(function)
    return compiled  # type: ignore[no-any-return]


def borrowing_kernel(function: Function) -> Function:
    """Compile a kernel that makes no array and returns none: it borrows those that it is given.

    Numba counts references to arrays with atomic additions, of which each lasts as long as dozens of plain ones and
    waits for all that was written before. Here it counts none, and refuses to compile what makes an array.
    """
    compiled: Any = function if config.DISABLE_JIT else Kernel(function, targetoptions=borrowing_options())
    return compiled  # type: ignore[no-any-return]


def as_kernel(function: Any) -> Any:
    """Return `function` as a kernel: a user's plain function is compiled, and raises what it raises in Python."""
    if hasattr(function, "py_func") or config.DISABLE_JIT:
        return function
    return Kernel(function, targetoptions=options("python"))


def bind(
    template: Any,
    name: str,
    keep: bool,
    nogil: bool = False,
    inline: Literal["never", "always"] = "never",
    **kernels: Any,
) -> Any:
    """Compile a copy of `template` whose global names are `kernels`.

    `keep` stores the code on disk; `nogil` lets other threads run meanwhile; `inline="always"` makes it a part of what
    calls it, so that it is not compiled on its own as well.
    """
    copy = FunctionType(template.__code__, {**template.__globals__, **kernels}, template.__name__)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    compiled: Any = numba.njit(copy, nogil=nogil, inline=inline)
    compiled.bound = kernels
    if keep and hasattr(compiled, "enable_caching"):
        _keep(compiled, template, name)
    return compiled


def bind_kernels(
    template: Any,
    name: str,
    kernels: Mapping[str, Any],
    *,
    keep: bool = True,
    nogil: bool = False,
    inline: Literal["never", "always"] = "never",
    **names: Any,
) -> Any:
    """Compile a copy of `template` that calls `kernels` of policies, ours or a user's, and sees other global `names`.

    With `keep` the code is stored on disk, if that is allowed for all kernels.
    """
    keep = keep and all(map(may_cache, kernels.values()))
    compiled = {field: as_kernel(function) for field, function in kernels.items()}
    return bind(template, name, keep, nogil, inline, **compiled, **names)


def _keep(compiled: Any, template: Any, name: str) -> None:
    """Keep the code of an entry point on disk, under a name that other code does not have."""
    try:
        found, compiled.foreign = fingerprint_and_kernels(template, compiled.bound)
        compiled.py_func.__qualname__ = f"{name}-{found[:16]}"
        compiled._cache = CompileCache(compiled.py_func)
    except NotIdentifiedError as problem:
        say_once(f"compiled code of {name} is not kept on disk, so every process compiles it again", problem)
    except (RuntimeError, OSError) as problem:
        say_once(NOT_KEPT, problem)


def may_cache(function: Any) -> bool:
    """Whether code made from `function` may be stored: ours always, a user's if it says `cache=True`."""
    bound = [part for part in getattr(function, "bound", {}).values() if hasattr(part, "py_func")]
    if bound or is_ours(function.__module__):
        return all(map(may_cache, bound))
    return hasattr(function, "stats") and function.stats.cache_path is not None


def specialised(entry: Any, name: str, *examples: Any) -> Any:
    """Return `entry` compiled for arguments like `examples`, to be called with nothing else.

    Calling it skips the check of every argument's type, which takes half a microsecond. If compilation takes longer
    than `SILENT_SECONDS`, a message says so.
    """
    if not hasattr(entry, "overloads"):
        return entry
    signature = tuple(map(_type_of, examples))
    if signature not in entry.overloads:
        with compiler_lock, _notice(name), _rarely_collected(), without_caches(getattr(entry, "foreign", ())):
            entry.compile(signature)
    return entry.get_overload(signature)


def _type_of(value: Any) -> Any:
    """Return what `numba.typeof` does, which for arrays would import `numpy.ma` at the first decision of a process."""
    if isinstance(value, tuple):
        return types.BaseTuple.from_types(tuple(map(_type_of, value)), type(value))
    if type(value) is np.ndarray:
        layout = numpy_support.map_layout(value)
        return types.Array(numpy_support.from_dtype(value.dtype), value.ndim, layout, not value.flags.writeable)
    return typeof(value)


def call_compiled(template: Any, *arguments: Any) -> Any:
    """Call a plain function, compiled at its first call for the types it has then; other threads run meanwhile."""
    if template not in _called:
        name = f"{template.__module__}.{template.__name__}"
        entry = bind(template, template.__name__, keep=True, nogil=True)
        _called[template] = specialised(entry, name, *arguments)
    return _called[template](*arguments)


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Collect garbage less often: compiling makes many objects and little garbage, and took a sixth more time."""
    before = gc.get_threshold()
    if before[0] > 0:  # else the caller collects none
        gc.set_threshold(max(before[0], FEW_OBJECTS), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _notice(name: str) -> Iterator[None]:
    """Log one line if the block is still running after `SILENT_SECONDS` seconds, once for each name."""
    timer = threading.Timer(SILENT_SECONDS, _say_compiling, [name])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say_compiling(name: str) -> None:
    """Say what is going on, unless it was said: a policy has several entry points."""
    if name not in _announced:
        _announced.add(name)
        log.warning(NOTICE, name)
