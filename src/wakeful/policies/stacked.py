"""Policies made of copies of one bandit policy: `PerSet` has one for each awake set, `Sparring` one for each side.

Their state holds each field of the inner state once, stacked: row n of it belongs to copy n, which is read and changed
through views of that row.
"""

from collections import namedtuple
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba.extending import overload

from wakeful.numerics.compile import bind_kernels
from wakeful.policies.kernels import Kernels
from wakeful.policies.policy import Policy, state_type
from wakeful.policies.state_ranges import Range, Ranges, within

INNER = "inner_"  # of the names of the inner policy's fields in the state, and of its kernels in templates


class Copies:
    """Mixin: what a policy with copies of `policy` inside takes over from it."""

    policy: Policy

    @property
    def symmetric(self) -> bool:
        """Whether the inner policy is."""
        return self.policy.symmetric

    @property
    def order_free(self) -> bool:
        """Whether the inner policy is."""
        return self.policy.order_free

    @property
    def ranges(self) -> Ranges:
        """Those of the inner policy, for the stacked fields."""
        return within(self.policy.ranges, INNER)

    def memo_range(self, n_arms: int) -> Range:
        """Return the inner policy's."""
        return self.policy.memo_range(n_arms)

    def parameters(self, n_arms: int) -> Any:
        """Return the inner policy's."""
        return self.policy.parameters(n_arms)

    def _copy(self, stacked: tuple[Any, ...], row: int) -> Any:
        """Return the inner state of copy `row`, whose arrays are views of `stacked`."""
        return state_type(self.policy)(*rows(stacked, row))

    def _grow_copies(self, old: tuple[Any, ...], new: tuple[Any, ...], n_arms: int) -> None:
        """Write every copy of `old`, grown to `n_arms` arms, into `new`, which may have more copies."""
        for row in range(len(old[0])):
            grown = self.policy.grow(self._copy(old, row), n_arms)
            for value, place in zip(grown, self._copy(new, row), strict=True):
                place[...] = value


def stack(state: Any, copies: int) -> tuple[Any, ...]:
    """Return the arrays of a state, repeated for so many copies."""
    return tuple(np.repeat(array[np.newaxis], copies, axis=0) for array in state)


@cache
def stacked_type(name: str, inner: tuple[str, ...], *own: str) -> Any:
    """Return the named tuple called `name` of the policy's `own` fields and the stacked ones of the inner state."""
    return namedtuple(name, (*own, *(f"{INNER}{field}" for field in inner)))


def rows(arrays: tuple[Any, ...], row: int) -> tuple[Any, ...]:
    """Return row `row` of every array, as views."""
    return tuple(array[row] for array in arrays)


@overload(rows, strict=False)  # annotations are ours, not the compiler's
def _rows(arrays: Any, row: Any) -> Callable[..., Any]:
    """Unroll `rows` for the compiler: the arrays differ in type, so each needs a call of its own."""
    if len(arrays) == 1:
        return lambda arrays, row: (arrays[0][row],)
    return lambda arrays, row: (arrays[0][row],) + rows(arrays[1:], row)  # noqa: RUF005  # numba has no splat


def around(inner: Kernels, state: Any, *templates: Any) -> list[Any]:
    """Bind the kernels of an inner policy and the type of its state into templates that call them."""
    kernels = {f"{INNER}{field}": function for field, function in inner._asdict().items()}
    return [bind_kernels(template, template.__name__, kernels, keep=False, Inner=state) for template in templates]
