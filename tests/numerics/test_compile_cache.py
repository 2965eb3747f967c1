"""Compiled code on disk is that of the same kernels, or is not used; and no trouble with it is fatal."""

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from wakeful.numerics import compile as compiling
from wakeful.numerics import compile_cache
from wakeful.numerics.fingerprint import said

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run")

OWN = """
import os
from dataclasses import dataclass
from typing import NamedTuple
import numba, numpy as np, wakeful as wk

SCALE = float(os.environ.get("SCALE", "0.5"))

class State(NamedTuple):
    counts: object

def made(helper):
    @numba.njit(cache=True)
    def law(parameters, state, awake, p):
        p[awake[0]] = parameters.left * helper(SCALE)
        p[awake[1]] = 1.0 - p[awake[0]]
    return law

@numba.njit(cache=True)
def helper(x):
    return x * SCALE

@numba.njit(cache=True)
def learn(parameters, state, awake, p, arm, memo, loss):
    pass

KERNELS = wk.Kernels(made(helper), learn)

class Own(wk.Policy):
    kernels = KERNELS
    def start(self, n_arms):
        return State(np.zeros(n_arms))

@dataclass(frozen=True)
class One(Own):
    left: float = 0.9
    right: float = 0.1

@dataclass(frozen=True)
class Two(Own):
    right: float = 0.1
    left: float = 0.9

Two.__qualname__ = "One"

if __name__ == "__main__":
    for policy in (One(), Two()):
        print(policy.probabilities(policy.start(2), np.ones(2, bool))[0])
"""


def run(folder: Path, **environment: str) -> list[float]:
    """The probabilities of a user's policies in a process of their own."""
    (folder / "own.py").write_text(OWN)
    where = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), **environment}
    found = subprocess.run([sys.executable, folder / "own.py"], env=where, capture_output=True, check=True, text=True)
    return [float(line) for line in found.stdout.split()]


def test_fields_globals_and_helpers_belong_to_the_name_and_addresses_do_not(tmp_path: Path) -> None:
    half, files = run(tmp_path), set(tmp_path.rglob("*.wakeful"))
    assert half == pytest.approx([0.9 * 0.25] * 2)
    assert len(files) == 2
    assert run(tmp_path) == half
    assert set(tmp_path.rglob("*.wakeful")) == files
    assert run(tmp_path, SCALE="0.25") == pytest.approx([0.9 * 0.0625] * 2)


@pytest.mark.parametrize("second", [np.append(np.zeros(1999), 1.0), np.full(2000, 1e-12)])
def test_kernels_over_arrays_that_print_alike_are_told_apart(second: Any) -> None:
    def made(table: Any) -> Any:
        return numba.njit(lambda: table[1999])

    entries = [compiling.bind(call, "total", True, table=made(t)) for t in (np.zeros(2000), second)]
    assert [entry() for entry in entries] == [0.0, second[1999]]
    assert entries[0].py_func.__qualname__ != entries[1].py_func.__qualname__


def call() -> Any:
    return table()  # type: ignore[name-defined]  # noqa: F821


def add(a: float, b: float) -> float:
    return a + b


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where compiled code is kept in this test."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    said.clear()
    yield tmp_path
    said.clear()


def added() -> tuple[float, int]:
    """What the compiled sum is, and whether it came from disk."""
    entry = compiling.bind(add, "add", True)
    return entry(1.0, 2.0), sum(entry.stats.cache_hits.values())


def test_damaged_files_are_compiled_again(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert added() == (3.0, 0)
    assert added() == (3.0, 1)
    (path,) = folder.rglob("*.wakeful")
    data = path.read_bytes()
    places = (0, compile_cache.SIZE, len(data) // 2, len(data) - 1)
    flipped = [data[:n] + bytes([data[n] ^ 64]) + data[n + 1 :] for n in places]
    for contents in (data[:0], data[: len(data) // 2], *flipped):
        path.write_bytes(contents)
        assert added() == (3.0, 0)
        assert added() == (3.0, 1)
    assert caplog.text.count("cannot be used") == 1


def test_code_that_needs_a_name_which_is_not_known_makes_numba_ready_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    context = type(compiling.bind(add, "add", False).targetctx)
    refresh = context.refresh

    def counted(self: Any) -> None:
        calls.append(self)
        refresh(self)

    monkeypatch.setattr(context, "refresh", counted)
    assert compile_cache._can_be_linked(["PyErr_Clear", "NRT_Allocate", "PyExc_ValueError"])
    assert added() == (3.0, 0)
    calls.clear()
    assert added() == (3.0, 1)
    assert not calls
    monkeypatch.setattr(compile_cache, "_needed", lambda result: ["PyErr_Clear", "a_name_that_nobody_has"])
    shutil.rmtree(folder)
    assert added() == (3.0, 0)
    calls.clear()
    assert added() == (3.0, 1)
    assert calls


REFUSING = """
from wakeful.numerics.compile import bind, kernel

@kernel
def refuse(number, limit):
    if number > limit:
        raise ValueError("more than", limit)  # Numba finds the parts of this error in the environment of the function
    return number

def call(number, limit):
    return refuse(number, limit)

entry = bind(call, "call", True)
print(entry(3, 3))
try:
    entry(3, 2)
except ValueError as error:
    print(*error.args, len(entry.stats.cache_hits))
"""


def test_what_code_uses_of_its_environment_is_on_disk_too(tmp_path: Path) -> None:
    (tmp_path / "refusing.py").write_text(REFUSING)
    where = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    call = [sys.executable, str(tmp_path / "refusing.py")]
    found = [subprocess.run(call, env=where, capture_output=True, check=True, text=True).stdout for _ in range(2)]
    assert found == ["3\nmore than 2 0\n", "3\nmore than 2 1\n"]


def test_trouble_with_several_files_is_said_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        assert [compiling.bind(add, name, True)(1.0, 2.0) for name in ("one", "two")] == [3.0, 3.0]
        for path in folder.rglob("*.wakeful"):
            path.write_bytes(b"")
    assert caplog.text.count("cannot be used") == 1


def test_a_full_disk_is_said_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with caplog.at_level(logging.WARNING, logger="wakeful"):
        assert [added(), added()] == [(3.0, 0)] * 2
    assert caplog.text.count("cannot be kept on disk") == 1
    assert "No space left" in caplog.text
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_a_folder_in_the_way_is_not_fatal(folder: Path) -> None:
    assert added() == (3.0, 0)
    (path,) = folder.rglob("*.wakeful")
    path.unlink()
    path.mkdir()
    assert added() == (3.0, 0)


def test_files_of_an_entry_can_be_forgotten(folder: Path) -> None:
    entry = compiling.bind(add, "add", True)
    assert entry(1.0, 2.0) == 3.0
    entry._cache.disable()
    entry.recompile()
    assert not list(folder.rglob("*.wakeful"))
    entry._cache.enable()
    entry.recompile()
    assert len(list(folder.rglob("*.wakeful"))) == 1


def test_what_cannot_be_identified_is_not_kept(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    entries = [compiling.bind(add, "add", True, extra=(n for n in [1])) for _ in range(2)]
    assert [entry(1.0, 2.0) for entry in entries] == [3.0, 3.0]
    assert not list(folder.rglob("*.wakeful"))
    assert caplog.text.count("not kept on disk") == 1
