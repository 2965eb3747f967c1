"""Kernels without machine code of their own: they become a part of the entry points that call them.

Numba optimises every function together with all that it calls and makes machine code and wrappers for Python of it,
also of a function that nobody calls from Python. A kernel deep inside an entry point was thus optimised once for each
kernel above it. Here a kernel waits as intermediate code until an entry point is compiled, and is optimised with it.
"""

from functools import cache, cached_property
from importlib import import_module
from typing import Any, Literal

import numba

from wakeful.numerics.compile_cache import occurs_again

codegen: Any = import_module("numba.core.codegen")
compiler: Any = import_module("numba.core.compiler")
machinery: Any = import_module("numba.core.compiler_machinery")
passes: Any = import_module("numba.core.typed_passes")
registry: Any = import_module("numba.core.registry")


class UnoptimisedLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Code that is not worth optimising."""

    def _optimize_final_module(self) -> None:
        pass


class KernelLibrary(UnoptimisedLibrary):
    """The intermediate code of a kernel: linked to what it calls, and left at that."""

    environment: UnoptimisedLibrary

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def keep_environment(self, context: Any, name: str, environment: Any) -> None:
        """Make room for a pointer to the Python objects that the kernel uses, such as the parts of an error."""
        self.environment = UnoptimisedLibrary(self.codegen, f"{self.name}.environment")
        module = self.environment.create_ir_module(name)
        context.declare_env_global(module, name)
        self.environment.add_ir_module(module)
        self.environment.finalize()
        self.codegen.set_env(name, environment)


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(passes.NativeLowering):  # type: ignore[misc]
    """Numba's pass that makes intermediate code, without the machine code and the wrappers."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        """Write the intermediate code of a kernel."""
        context = state.targetctx
        state.library = KernelLibrary(context.codegen(), state.func_id.func_qualname)
        state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = state.flags.no_compile = True
        super().run_pass(state)
        name = context.get_env_name(state.cr.fndesc)
        if occurs_again(name, str(state.library._final_module)):
            state.library.keep_environment(context, name, state.cr.env)
        key = object()  # by which what calls the kernel finds its code
        context.insert_user_function(key, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        return True


class KernelCompiler(compiler.CompilerBase):  # type: ignore[misc]
    """Numba's compiler, with that pass."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        ours = {passes.NativeLowering: KernelLowering}
        manager.passes = [(ours.get(kind, kind), name) for kind, name in manager.passes]
        manager.finalize()
        return [manager]


class Kernel(registry.CPUDispatcher):  # type: ignore[misc]
    """A function that compiled code calls; Python may call it too, which compiles it once more, as an entry point.

    A division by zero raises nothing in it, as a loop that might raise in its midst cannot be vectorised, unless its
    `targetoptions` are `options("python")`.
    """

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals or {}, targetoptions or options("numpy"), pipeline_class=KernelCompiler)

    @cached_property
    def whole(self) -> Any:
        """The same function as an entry point, for Python to call."""
        return numba.njit(self.py_func, error_model=self.targetoptions["error_model"])

    def add_overload(self, cres: Any) -> None:
        """Keep code for these types, for compiled code to call."""
        self.overloads[tuple(cres.signature.args)] = cres

    def _compile_for_args(self, *arguments: Any, **options: Any) -> Any:
        """Return what Python calls, and remember it for arguments of these types."""
        known = set(self.whole.overloads)
        function = self.whole._compile_for_args(*arguments, **options)
        for types, result in self.whole.overloads.items():
            if types not in known:
                self._insert([kind._code for kind in types], result.entry_point, False)
        return function


@cache
def options(error_model: Literal["python", "numpy"]) -> Any:
    """Return the options that Numba gives to functions which are compiled as a whole.

    Parameters:
        error_model: "python", where a division by zero raises ZeroDivisionError, or "numpy"
    """
    empty: Any = numba.njit(lambda: None, error_model=error_model)
    return empty.targetoptions


@cache
def borrowing_options() -> Any:
    """Return the same for kernels that count no references to arrays; a division by zero raises nothing."""
    return {**options("numpy"), "_nrt": False}
