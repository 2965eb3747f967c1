"""Compiled code on disk: found again by the next process, never stale, and silence only where it is quick."""

import gc
import json
import logging
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import wakeful as wk
from case_ids import stable_id
from wakeful.duels.kernels import empty_pick
from wakeful.numerics import compile as compiling
from wakeful.numerics import compile_cache
from wakeful.numerics.fingerprint import said

REPORT = """
import json, sys, wakeful as wk
from wakeful.policies.kernels import ENTRIES, compiled_entry
from wakeful.policies.spec import full_name
policy = wk.Uniform()
bandit = wk.Bandit(policy, 3, seed=0)
bandit.probabilities()
bandit.update(bandit.choose(), loss=0.5)
types = type(policy.parameters(3)), type(bandit.state)
entries = [ENTRIES[name] for name in ("law", "choose", "update")]
found = [compiled_entry(entry, full_name(policy), policy.kernels, *types) for entry in entries]
print(json.dumps([sum(entry.stats.cache_hits.values()) for entry in found] + ["numba.np.linalg" in sys.modules]))
"""

compiled_only = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run")


@compiled_only
def test_the_next_process_finds_compiled_code_on_disk(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    hits = [
        json.loads(
            subprocess.run([sys.executable, "-c", REPORT], env=environment, capture_output=True, check=True).stdout
        )
        for _ in range(2)
    ]
    assert hits == [[0, 0, 0, True], [1, 1, 1, False]]  # nor does it load what Numba compiles with


class Nothing(NamedTuple):
    counts: Any


@numba.njit(cache=True)
def play_first(parameters: Any, state: Any, awake: Any, p: Any) -> None:
    p[awake[0]] = 1.0


@numba.njit(cache=True)
def play_last(parameters: Any, state: Any, awake: Any, p: Any) -> None:
    p[awake[-1]] = 1.0


def learn_nothing(parameters: Any, state: Any, awake: Any, p: Any, arm: int, memo: float, loss: float) -> None:
    """A kernel that its author left plain."""


@dataclass(frozen=True)
class Pick(wk.Policy):
    last: bool = False

    @property
    def kernels(self) -> wk.Kernels:
        return wk.Kernels(play_last if self.last else play_first, learn_nothing)

    def start(self, n_arms: int) -> Nothing:
        return Nothing(np.zeros(n_arms))


def test_a_policy_whose_kernels_depend_on_its_parameters_gets_its_own() -> None:
    for policy, arm in ((Pick(), 0), (Pick(last=True), 2), (wk.PerSet(Pick()), 0), (wk.PerSet(Pick(last=True)), 2)):
        assert wk.Bandit(policy, 3, seed=0).choose().arm == arm


def add(a: float, b: float) -> float:
    return a + b


@compiled_only
def test_long_compilations_are_announced(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(compiling, "SILENT_SECONDS", 0.0)
    monkeypatch.setattr(compiling, "_announced", set())
    with caplog.at_level(logging.WARNING, logger="wakeful"):
        for number in (1.0, 2):  # two entry points of one policy, announced once
            assert compiling.specialised(numba.njit(add), "Adder", number, 2.0)(number, 2.0) == number + 2.0
    assert caplog.text.count("compiling Adder") == 1


@compiled_only
def test_short_compilations_are_not(caplog: pytest.LogCaptureFixture) -> None:
    compiling.specialised(numba.njit(add), "Quick adder", 1.0, 2.0)
    assert not caplog.text


@pytest.mark.parametrize("value", [
    1, 1.0, True, np.random.default_rng(0), np.zeros(2), np.zeros((2, 3), np.bool_), np.zeros((2, 3), order="F"),
    np.zeros((4, 4))[::2, ::2], np.frombuffer(b"abcdefgh", np.int64), np.array(1.0), (), (1, 2), (1, 2.0, np.zeros(1)),
    empty_pick(2, 3), (empty_pick(2, 3), (1,)), np.ma.zeros(2), wk.SIExp3().start(3), wk.SIExp3().parameters(3),
], ids=stable_id)  # fmt: skip
def test_types_of_arguments_are_those_of_numba(value: Any) -> None:
    if isinstance(value, np.ma.MaskedArray):
        with pytest.raises(numba.errors.NumbaTypeError):
            compiling._type_of(value)
    else:
        assert compiling._type_of(value) == compiling.typeof(value)


@compiled_only
def test_without_a_writable_folder_code_is_compiled_anew(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(function: Any) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(compile_cache, "CompileResultCacheImpl", refuse)
    said.clear()
    assert compiling.bind(add, "add", True)(1.0, 2.0) == 3.0
    assert "cannot be kept on disk" in caplog.text


@compiled_only
def test_a_users_kernels_are_kept_if_they_say_so() -> None:
    assert not compiling.may_cache(numba.njit(add))
    assert compiling.may_cache(numba.njit(cache=True)(add))
    assert compiling.may_cache(wk.SIExp3().kernels.law)


def test_bound_templates_do_not_share_their_names() -> None:
    def template() -> Any:
        return value  # type: ignore[name-defined]  # noqa: F821

    one, two = (compiling.bind(template, f"t{n}", False, value=n) for n in (1, 2))
    assert (one(), two()) == (1, 2)


def test_many_rounds_take_no_more_memory_than_few() -> None:
    policy = wk.SIExp3()
    state = policy.start(6)
    awake, losses = np.ones((1000, 6), np.bool_), np.zeros((1000, 6))
    arrays = [id(array) for array in state]
    for _ in range(3):
        wk.play(policy, awake, losses, np.random.default_rng(0), state)
    assert [id(array) for array in state] == arrays
    assert sum(array.nbytes for array in state) == 6 * 6 * 8 + 2 * 8 + 8


class Watching:
    """An entry point that notes how often garbage is collected while it is compiled."""

    def __init__(self) -> None:
        self.overloads: dict[Any, Any] = {}
        self.seen: list[tuple[int, ...]] = []

    def compile(self, signature: Any) -> None:
        self.seen.append(gc.get_threshold())
        raise RuntimeError("not compiled")


@pytest.mark.parametrize(("before", "meanwhile"), [(700, 20_000), (50_000, 50_000), (0, 0)])
def test_garbage_is_collected_less_often_while_something_is_compiled(before: int, meanwhile: int) -> None:
    entry, found = Watching(), gc.get_threshold()
    try:
        gc.set_threshold(before, 10, 10)
        with pytest.raises(RuntimeError, match="not compiled"):
            compiling.specialised(entry, "watching", 1.0)
        assert (entry.seen, gc.get_threshold()) == ([(meanwhile, 10, 10)], (before, 10, 10))
    finally:
        gc.set_threshold(*found)
