"""Kernels inside entry points: no machine code of their own, and still callable from anywhere."""

import os
import pickle
import re
import sys
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from wakeful.numerics.compile import as_kernel, bind, borrowing_kernel, kernel
from wakeful.numerics.exponentials import take_logs

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run")


@kernel
def twice(x: float) -> float:
    return 2.0 * x


@kernel
def four_times(x: float) -> float:
    return twice(twice(x))


@kernel
def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


@kernel
def refusing(x: float, limit: float) -> float:
    if x > limit:
        raise ValueError("more than", limit)
    return x


def called(x: float) -> float:
    return four_times(x)


def made(function: Any) -> Any:
    """Return a kernel like `function` that nobody has called."""
    return kernel(function.py_func)


def test_a_kernel_that_only_entry_points_call_has_no_machine_code() -> None:
    part = made(twice)
    entry = bind(called, "called", False, four_times=part)
    assert entry(3.0) == 6.0
    (result,) = part.overloads.values()
    engine = result.library.codegen._engine
    assert not engine.is_symbol_defined(result.fndesc.llvm_func_name)
    assert not part.whole.overloads
    (whole,) = entry.overloads.values()
    assert engine.is_symbol_defined(whole.fndesc.llvm_func_name)


def test_python_may_call_it_before_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = made(twice), made(twice)
    assert first(3.0) == 6.0
    for part in (first, second):
        assert bind(called, "called", False, four_times=part)(3.0) == 6.0
        assert (part(3.0), part(4)) == (6.0, 8.0)
        assert len(part.whole.overloads) == 2
    monkeypatch.setattr(type(first), "_compile_for_args", None)  # not asked again for types that it knows
    assert (first(5.0), second(5)) == (10.0, 10.0)


def test_kernels_call_kernels_and_themselves() -> None:
    assert bind(called, "called", False)(3.0) == 12.0
    assert four_times(3.0) == 12.0
    assert bind(called, "recursive", False, four_times=factorial)(5) == 120
    assert factorial(6) == 720


def test_code_that_others_compile_may_call_it() -> None:
    others: Any = numba.njit(called)
    assert others(0.5) == 2.0


@pytest.mark.parametrize("caller", [lambda: bind(called, "called", False, four_times=refused), lambda: refused])
def test_an_error_has_its_parts(caller: Any) -> None:
    with pytest.raises(ValueError, match="more than") as caught:
        caller()(3.0)
    assert caught.value.args == ("more than", 2.0)


@kernel
def refused(x: float) -> float:
    return refusing(x, 2.0)


def test_arrays_are_written_in_place() -> None:
    @kernel
    def fill(x: Any) -> None:
        x[:] = twice(1.5)

    array = np.zeros(3)
    bind(called, "called", False, four_times=fill)(array)
    assert array.tolist() == [3.0, 3.0, 3.0]


def test_it_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(four_times))(1.0) == 4.0


def inverse(x: float) -> float:
    return 1.0 / x


@pytest.mark.parametrize("is_called_from_python", [False, True])
def test_a_division_by_zero_raises_in_kernels_of_users_and_not_in_ours(is_called_from_python: bool) -> None:
    def entry(part: Any) -> Any:
        return part if is_called_from_python else bind(called, "called", False, four_times=part)

    assert entry(kernel(inverse))(0.0) == np.inf
    with pytest.raises(ZeroDivisionError):
        entry(as_kernel(inverse))(0.0)


def test_a_loop_with_divisions_is_vectorised() -> None:
    logs: Any = take_logs
    logs(np.ones(64))
    (code,) = logs.whole.inspect_llvm().values()
    assert re.search(r"fdiv <\d+ x double>", code)


def add_in_places(x: Any, places: Any) -> None:
    if x.shape[1] == 0:
        return
    row = x[1]
    if len(places) < 2:
        for k in places:
            row[k] += 1.0
    else:
        for k in range(row.size):
            row[k] += 2.0
    x[0, 0] += 1.0


@pytest.mark.parametrize(("mark", "counts"), [(kernel, True), (borrowing_kernel, False)])
def test_a_borrowing_kernel_counts_no_references_to_arrays(mark: Any, counts: bool) -> None:
    part, array, places = mark(add_in_places), np.zeros((2, 3)), np.array([1])
    before = sys.getrefcount(array), sys.getrefcount(places)

    @numba.njit
    def entry(x: Any, places: Any) -> None:
        part(x, places)

    for _ in range(100):
        entry(array, places)
    part(array, places)  # called from Python
    assert array.tolist() == [[101.0, 0.0, 0.0], [0.0, 101.0, 0.0]]
    assert (sys.getrefcount(array), sys.getrefcount(places)) == before
    (result,) = part.overloads.values()
    assert ("call void @NRT_incref" in str(result.library._final_module)) == counts


def test_a_borrowing_kernel_makes_no_arrays() -> None:
    def sum_of_new(x: float) -> Any:
        return np.full(3, x).sum()

    assert bind(called, "called", False, four_times=kernel(sum_of_new))(1.0) == 3.0
    with pytest.raises(TypingError, match="array"):
        bind(called, "called", False, four_times=borrowing_kernel(sum_of_new))(1.0)
