"""Fingerprints of values and of code: the same in every process, different as soon as anything in them differs.

Numbers and arrays go by their bytes, containers by what they hold, objects by their class and state. A function goes by
its bytecode, constants, defaults and closure, and by the globals that it names: helpers, kernels, classes, each
followed in turn. Of a user's module, every part whose name any of the code mentions counts, since a module may be
imported and passed on anywhere. Functions of libraries go by their name and version, ours as `sources` says. No address
ever counts. What cannot be told apart in this way is refused with `NotIdentifiedError`.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from copyreg import dispatch_table
from dis import get_instructions, opmap
from functools import cache, cached_property
from importlib import import_module
from importlib.util import resolve_name
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, get_origin

import numpy as np

from wakeful.numerics.sources import NotIdentifiedError, is_ours, library, our_code

log = logging.getLogger("wakeful")

CODE = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_exceptiontable")
ARGUMENT_COUNTS = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount")
SKIPPED = frozenset({"_abc_impl", "__dataclass_fields__", "__dataclass_params__", "__doc__"})  # say nothing of results
CACHED = type(cache(len))
PLAIN_ARRAYS = (np.ndarray, np.memmap)  # those of other classes may hold more than numbers
WRAPPERS = (property, staticmethod, classmethod, cached_property)


def fingerprint(*values: Any) -> str:
    """Return 64 hexadecimal digits that are equal only for values that do the same.

    >>> fingerprint([1.0, "a"]) == fingerprint([1.0, "a"]) != fingerprint([1.0 + 2**-52, "a"])
    True
    """
    return fingerprint_and_kernels(*values)[0]


def fingerprint_and_kernels(*values: Any) -> tuple[str, list[Any]]:
    """Return the fingerprint of `values`, and the kernels that they use, except those of Wakeful."""
    walk = _Walk()
    try:
        walk.each("values", values)
        walk.parts_of_modules()
    except RecursionError:
        raise NotIdentifiedError("the code goes too deep to be followed") from None
    kernels = [found for found in walk.alive if hasattr(found, "stats") and not is_ours(found.__module__)]
    return walk.found.hexdigest(), kernels


said: set[str] = set()  # warnings that were given


def say_once(message: str, problem: object) -> None:
    """Log a warning with the first problem that it is about; later ones, of other files perhaps, are not told."""
    if message not in said:
        said.add(message)
        log.warning("%s: %s", message, problem)


class _Walk:
    """One walk over values: writes what it meets into a digest, each object once."""

    def __init__(self) -> None:
        self.found = hashlib.sha256()
        self.seen: dict[Any, int] = {}
        self.alive: list[Any] = []  # so that no address is used again for something else
        self.names: set[str] = set()  # that code mentions, also as text: `getattr` takes one
        self.modules: dict[str, ModuleType] = {}  # of a user's, that code mentions

    def write(self, kind: str, *parts: str | bytes) -> None:
        """Add what something is, in words that cannot be mistaken for other words."""
        for part in (kind, *parts):
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            self.found.update(len(data).to_bytes(8, "little") + data)

    def each(self, kind: str, values: Iterable[Any]) -> None:
        """Add several values."""
        items = list(values)
        self.write(kind, str(len(items)))
        for item in items:
            self.value(item)

    def named(self, kind: str, values: Mapping[str, Any]) -> None:
        """Add values with their names, in the order of the names."""
        self.write(kind, str(len(values)))
        for name in sorted(values):
            self.write("name", name)
            self.value(values[name])

    def value(self, value: Any) -> None:
        """Add a value of any kind."""
        if value is None or value is Ellipsis or value is NotImplemented or type(value) in (bool, int, str):
            self.write(type(value).__name__, str(value))
        elif type(value) is bytes:
            self.write("bytes", value)
        elif type(value) in (float, complex):
            self.write(type(value).__name__, np.array(value).tobytes())
        elif isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            shape = "generic" if isinstance(value, np.generic) else str(value.shape)
            self.write("array", type(value).__name__, str(value.dtype.descr), shape, value.tobytes())
            if type(value) not in PLAIN_ARRAYS and isinstance(value, np.ndarray):
                self.each("more", [type(value), vars(value)])
        elif type(value) is tuple:
            self.each("tuple", value)
        elif type(value) in (set, frozenset):
            self.write(type(value).__name__, *sorted(fingerprint(item) for item in value))
        elif isinstance(value, type):
            self.once(value, self.cls)
        elif get_origin(value) is not None:  # list[int] and the like: only the author's remarks on types
            self.write("hint", repr(value))
        else:
            self.once(value, self.compound)

    def once(self, value: Any, add: Any) -> None:
        """Add an object where it is met first; later a reference to that."""
        if id(value) in self.seen:
            self.write("seen", str(self.seen[id(value)]))
            return
        self.seen[id(value)] = len(self.seen)
        self.alive.append(value)
        add(value)

    def compound(self, value: Any) -> None:
        """Add something that may contain itself."""
        if type(value) is list:
            self.each("list", value)
        elif type(value) is dict:
            self.each("dict", [part for item in value.items() for part in item])
        elif isinstance(value, np.ndarray):
            self.write("objects", str(value.dtype), str(value.shape))
            self.each("of", value.ravel().tolist())
        elif isinstance(value, CodeType):
            self.code(value, {})
        elif isinstance(value, FunctionType):
            self.function(value)
        elif isinstance(value, BuiltinFunctionType | MethodType):
            self.write("method", value.__name__)
            self.each("of", [getattr(value, "__func__", None), getattr(value, "__self__", None)])
        elif isinstance(value, WRAPPERS):
            parts = ("fget", "fset", "fdel", "__func__", "func")
            self.each(type(value).__name__, [getattr(value, part, None) for part in parts])
        elif isinstance(value, ModuleType):
            self.module(value)
        elif hasattr(value, "py_func"):
            self.kernel(value)
        elif isinstance(value, CACHED):
            self.each("cached", [value.__wrapped__])
        else:
            self.instance(value)

    def known(self, kind: str, module: str, name: str) -> bool:
        """Add code of a library or of ours by its name and its version; False for a user's."""
        version = our_code(module) if is_ours(module) else library(module)
        if version is not None:
            self.write(kind, module, name, version)
        return version is not None

    def function(self, function: FunctionType) -> None:
        """Add a function: what it was made with and, unless it is known, its code and the globals it names."""
        if not self.known("function", function.__globals__.get("__name__", ""), function.__qualname__):
            self.code(function.__code__, function.__globals__)
        self.each("made with", [function.__defaults__, function.__kwdefaults__, vars(function)])
        self.each("closure", [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)])

    def kernel(self, kernel: Any) -> None:
        """Add a compiled function: its source, how it is compiled, what was bound into it."""
        self.each("kernel", [kernel.py_func, getattr(kernel, "targetoptions", None)])
        self.named("bound", getattr(kernel, "bound", {}))

    def code(self, code: CodeType, names: Mapping[str, Any]) -> None:
        """Add bytecode, the constants with the code inside it, the globals and modules it names."""
        self.write("code", code.co_name)
        self.each("parts", [getattr(code, part) for part in (*CODE, *ARGUMENT_COUNTS)])
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.code(constant, names)
            else:
                self.value(constant)
        words = {*code.co_names, *(text for text in code.co_consts if isinstance(text, str))}
        self.names |= words
        for name in sorted(words):
            if name in names and not _special(name):
                self.write("global", name)
                self.value(names[name])
        for name, module in _imported(code, names):
            self.write("import", name)
            self.value(module)

    def module(self, module: ModuleType) -> None:
        """Add a module: a known one by its version; what is used of a user's is seen at the end."""
        if not self.known("module", module.__name__, ""):
            self.write("module", module.__name__)
            self.modules[module.__name__] = module

    def parts_of_modules(self) -> None:
        """Add every part of a user's module that any code met so far mentions, and so on with the code of the parts."""
        done: set[tuple[str, str]] = set()
        while (
            new := {(module, name) for module, held in self.modules.items() for name in self.names & set(vars(held))}
            - done
        ):
            done |= new
            for module, name in sorted(new):
                if not _special(name):
                    self.write("part", module, name)
                    self.value(vars(self.modules[module])[name])

    def cls(self, cls: type) -> None:
        """Add a class: fields of a named tuple in their order; a user's class with all that it and its bases define."""
        self.each("fields", getattr(cls, "_fields", ()) if issubclass(cls, tuple) else ())
        for base in cls.__mro__:
            if not self.known("class", base.__module__, base.__qualname__):
                self.write("class", base.__qualname__)
                kept = {name: part for name, part in vars(base).items() if _counts(name, part)}
                self.named("defines", kept)
        if type(cls) is not type:
            self.value(type(cls))

    def instance(self, value: Any) -> None:
        """Add any other object by its class and by what pickle would write of it."""
        if hasattr(value, "__qualname__") and "__qualname__" not in getattr(value, "__dict__", {}):
            if not isinstance(value, MemberDescriptorType) and not self.known("object", *_place(value)):
                raise NotIdentifiedError(f"{value.__qualname__} cannot be identified: it has no Python code")
            return
        self.value(type(value))
        try:
            reduce = dispatch_table.get(type(value))
            parts = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception as problem:  # whatever a class says to being copied
            raise NotIdentifiedError(f"a {type(value).__qualname__} cannot be identified: {problem}") from None
        if isinstance(parts, str):
            self.write("named", type(value).__module__, parts)
            return
        parts = [list(part) if n in (3, 4) and part is not None else part for n, part in enumerate(parts)]
        if len(parts) > 2 and isinstance(parts[2], dict):
            parts[2] = {k: part for k, part in parts[2].items() if not _is_cached(value, k)} or None
        self.each("parts", parts)


def _filled(cell: Any) -> bool:
    """Whether a cell of a closure holds something yet."""
    try:
        cell.cell_contents  # noqa: B018  # reading it is the question
    except ValueError:
        return False
    return True


def _is_cached(value: Any, name: Any) -> bool:
    """Whether an attribute was computed from the others and is only kept."""
    return isinstance(name, str) and isinstance(getattr(type(value), name, None), cached_property)


def _counts(name: str, part: Any) -> bool:
    """Whether an attribute of a class can change what the class does."""
    return name not in SKIPPED and (not _special(name) or isinstance(part, (FunctionType, *WRAPPERS)))


def _place(value: Any) -> tuple[str, str]:
    """Return the module and the name of something that is defined in compiled code."""
    owner = getattr(value, "__objclass__", value)
    return str(getattr(owner, "__module__", None) or ""), str(value.__qualname__)


def _special(name: str) -> bool:
    """Whether a name is one of Python's own."""
    return name.startswith("__") and name.endswith("__")


def _imported(code: CodeType, names: Mapping[str, Any]) -> Iterator[tuple[str, ModuleType | None]]:
    """Yield the modules that code imports when it runs, by name; None for one that is not installed."""
    if opmap["IMPORT_NAME"] not in code.co_code[::2]:
        return
    steps = list(get_instructions(code))
    for n, step in enumerate(steps):
        if step.opcode == opmap["IMPORT_NAME"]:
            level = steps[n - 2].argval
            try:
                name = resolve_name("." * level + step.argval, names.get("__package__") or "")
                yield name, import_module(name)
            except ImportError:
                yield step.argval, None
