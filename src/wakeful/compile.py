"""Numba behind one typed door: `kernel` marks a function, `bind` builds a cached entry point."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` on first use; under `NUMBA_DISABLE_JIT=1` it stays plain Python."""
    compiled: Function = numba.njit(function)
    return compiled
