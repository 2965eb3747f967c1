"""Fingerprints tell values and code apart by all that matters, and by nothing that changes from process to process."""

import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import import_module, reload
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import wakeful as wk
from wakeful.lab.unit import Unit
from wakeful.numerics import compile, sources
from wakeful.numerics.fingerprint import fingerprint, said
from wakeful.numerics.sources import NotIdentifiedError
from wakeful.worlds import Dependent, Stochastic


def typed(source: str, name: str = "it", **names: Any) -> Any:
    """What somebody typed in, under a name."""
    scope: dict[str, Any] = {"np": np, "wk": wk, "dataclass": dataclass, "__name__": "typed_in", **names}
    exec(source, scope)
    return scope[name]


LONG = np.linspace(0.0, 1.0, 2000)
CHANGED = LONG.copy()
CHANGED[1000] += 1e-15


class Pair(NamedTuple):
    left: float
    right: float


class Swapped(NamedTuple):
    right: float
    left: float


Swapped.__qualname__ = Swapped.__name__ = "Pair"


class Labelled(np.ndarray[Any, Any]):
    """Numbers with a label."""

    label: int

    def __new__(cls, label: int) -> "Labelled":
        made = np.zeros(2).view(cls)
        made.label = label
        return made


def masked(*mask: bool) -> Any:
    return np.ma.array([1e20, 1e20], mask=mask)


def nested(word: str) -> Any:
    return typed(f"def it(x):\n    def inner():\n        return [{word} for y in x]\n    return inner()")


def over(value: Any) -> Callable[[], Any]:
    return lambda: value


DIFFERENT: list[tuple[str, Any, Any]] = [
    ("names", typed("def it(x): return np.min(x)"), typed("def it(x): return np.max(x)")),
    ("constants", typed("def it(x): return x + 1.0"), typed("def it(x): return x + 1")),
    ("code inside code", nested("1"), nested("2")),
    ("defaults", typed("def it(x=1): return x"), typed("def it(x=2): return x")),
    ("keywords", typed("def it(*, x=1): return x"), typed("def it(*, x=2): return x")),
    ("globals", typed("def it(): return A", A=LONG), typed("def it(): return A", A=CHANGED)),
    ("helpers", *(typed("def it(): return f()", f=typed(f"def it(): return {n}")) for n in (1, 2))),
    ("kernels", *(typed("def it(): return f()", f=compile.kernel(typed(f"def it(): return {n}"))) for n in (1, 2))),
    ("compilation", numba.njit(over(1)), numba.njit(over(1), fastmath=True)),
    ("long arrays in a closure", over(LONG), over(CHANGED)),
    ("tenth digits in a closure", over(0.1), over(0.1 + 2**-54)),
    ("wrapped", cache(over(1)), cache(over(2))),
    ("parts", partial(print, 1), partial(print, 2)),
    ("methods", *(typed(f"class it:\n    def f(self): return {n}")().f for n in (1, 2))),
    ("bases", *(typed("class it(B): pass", B=typed(f"class it:\n    n = {n}")) for n in (1, 2))),
    ("properties", *(typed(f"class it:\n    n = property(lambda self: {n})")() for n in (1, 2))),
    ("order of fields", Pair, Swapped),
    ("named tuples", Pair(1.0, 2.0), (1.0, 2.0)),
    ("arrays in a dictionary", {"a": LONG}, {"a": CHANGED}),
    ("types of arrays", np.zeros(2, np.int64), np.zeros(2, np.float64)),
    ("shapes", np.zeros((2, 3)), np.zeros((3, 2))),
    ("zeros", 0.0, -0.0),
    ("kinds", 1, True),
    ("nested lists", [[1], 2], [[1, 2]]),
    ("sets", {1, 2}, {1, 3}),
    ("streams", np.random.default_rng(0), np.random.default_rng(1)),
    ("arrays with more in them", Labelled(1), Labelled(2)),
    ("masks", masked(True, False), masked(False, True)),
    ("objects in arrays", np.array([[1], None], object), np.array([[2], None], object)),
]


@pytest.mark.parametrize(("one", "two"), [case[1:] for case in DIFFERENT], ids=[case[0] for case in DIFFERENT])
def test_what_differs_has_another_fingerprint(one: Any, two: Any) -> None:
    assert fingerprint(one) != fingerprint(two)
    assert (fingerprint(one), fingerprint(two)) == (fingerprint(one), fingerprint(two))


def list_in_itself() -> list[Any]:
    own: list[Any] = []
    own.append(own)
    return own


SAME: list[tuple[str, Callable[[], Any]]] = [
    ("functions made twice", lambda: typed("def it(x): return np.min(x)")),
    ("closures over helpers", lambda: over(over(LONG.copy()))),
    ("kernels", lambda: compile.kernel(over(over(1)))),
    ("sets of words", lambda: {"a", "b", "c"}),
    ("policies", lambda: wk.PerSet(wk.SIExp3())),
    ("a list in itself", list_in_itself),
    ("library functions", lambda: [np.min, np.add, np.linalg.solve, len, "".join, np.random.default_rng(1).random]),
    ("type hints", lambda: [int | None, list[int], Callable[[], int]]),
]


@pytest.mark.parametrize("make", [case[1] for case in SAME], ids=[case[0] for case in SAME])
def test_what_is_the_same_has_the_same_fingerprint(make: Callable[[], Any]) -> None:
    assert fingerprint(make()) == fingerprint(make())


def test_what_was_only_computed_and_kept_does_not_count() -> None:
    class Lazy:
        @cached_property
        def value(self) -> int:
            return 1

    lazy = Lazy()
    before = fingerprint(lazy)
    assert lazy.value == 1
    assert fingerprint(lazy) == before


@pytest.mark.parametrize("thing", [threading.Lock(), over(threading.Lock()), {"a": [(n for n in [1])]}])
def test_what_cannot_be_identified_is_refused(thing: Any) -> None:
    with pytest.raises(NotIdentifiedError, match="cannot be identified"):
        fingerprint(thing)


def test_code_that_goes_too_deep_is_refused() -> None:
    deep: Any = None
    for _ in range(5000):
        deep = (deep,)
    with pytest.raises(NotIdentifiedError, match="too deep"):
        fingerprint(deep)


PRINTED = """
import numpy as np, wakeful as wk
from wakeful.numerics.fingerprint import fingerprint
from wakeful.lab.unit import Unit
def made(helper): return lambda x: helper(x) + len({"a", "b", "c"})
print(fingerprint(made(lambda x: np.min(x)), {"a", "b"}))
print(Unit(wk.SIExp3(), wk.worlds.Dependent(), 10, 0, 0, 1, ("policy",), (10,)).key)
"""


def test_another_process_finds_the_same() -> None:
    found = {subprocess.run([sys.executable, "-c", PRINTED], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(found) == 1


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of our files, to be edited."""
    folder = Path(wk.__file__).parent
    copy = tmp_path / "wakeful"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    found = list(Path(sources.__file__).relative_to(folder).parts)
    monkeypatch.setattr(sources, "__file__", str(copy.joinpath(*found)))
    clear()
    yield copy
    monkeypatch.undo()
    clear()


def clear() -> None:
    """Forget what files hold."""
    sources.our_code.cache_clear()
    sources._file.cache_clear()
    sources.at_import.clear()
    sources.at_import.update(sources.stamps())


def key(policy: Any = None, world: Any = None) -> str | None:
    """The name of a unit in a store."""
    clear()
    return Unit(policy or wk.SIExp3(), world or Dependent(), 10, 0, 0, 1, ("policy",), (10,)).key


def edit(path: Path) -> None:
    """Change a file a little."""
    path.write_text(path.read_text() + "\n")


def test_an_edit_counts_where_results_depend_on_it(package: Path) -> None:
    for file in ("numerics/stationary.py", "regret/tally.py", "lab/unit.py", "worlds/paper.py", "policies/si_exp3.py"):
        before = key()
        edit(package / file)
        assert key() != before, file


def test_an_edit_of_the_command_line_the_plots_or_the_paper_does_not(package: Path) -> None:
    before = key()
    files = ["lab/plots.py", "lab/simulate.py", "bandits/bandit.py", "__init__.py"]
    for path in [package / file for file in files] + [
        *(package / "cli").glob("*.py"),
        *(package / "paper").glob("*.py"),
    ]:
        edit(path)
    assert key() == before


def test_a_file_that_was_changed_after_it_was_imported_is_not_the_code_that_runs(
    package: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said.clear()
    before = key()
    edit(package / "numerics" / "stationary.py")
    sources.our_code.cache_clear()
    unit = Unit(wk.SIExp3(), Dependent(), 10, 0, 0, 1, ("policy",), (10,))
    assert before is not None
    assert unit.key is None
    assert "are not stored: stationary.py was changed after it was imported" in caplog.text


WORLD = """
@dataclass(frozen=True)
class it(wk.worlds.Stochastic):
    def blocks(self, rng, rounds):
        for block in super().blocks(rng, rounds):
            yield block._replace(losses=block.losses + 0 * np.{name}(block.losses))
"""


def test_a_store_knows_what_a_class_typed_in_calls() -> None:
    assert key(world=typed(WORLD.format(name="min"))(3)) != key(world=typed(WORLD.format(name="max"))(3))


@dataclass(frozen=True)
class Tables(Stochastic):
    tables: dict[str, Any] = field(default_factory=dict, compare=False)


def test_a_store_knows_arrays_in_containers() -> None:
    one, two = (Tables(3, tables={"a": [array]}) for array in (LONG, CHANGED))
    assert key(world=one) != key(world=two) != key(world=Tables(3))


def test_a_store_knows_kernels_of_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_kernels.py").write_text("def law(p): return p + 1")
    (tmp_path / "stored_policy.py").write_text(
        "import wakeful as wk\nimport own_kernels\n"
        "class Own(wk.Uniform):\n"
        "    def probabilities(self, state, awake): return own_kernels.law(super().probabilities(state, awake))\n"
        "class Late(wk.Uniform):\n"
        "    def probabilities(self, state, awake):\n        from own_kernels import law\n        return law(awake)\n"
    )
    own = import_module("stored_policy")
    before = key(own.Own()), key(own.Late())
    assert before == (key(own.Own()), key(own.Late()))
    (tmp_path / "own_kernels.py").write_text("def law(p): return p + 1 + 1")
    reload(sys.modules["own_kernels"])
    after = key(own.Own()), key(own.Late())
    assert after[0] != before[0]
    assert after[1] != before[1]


PASSED_ON = {
    "a closure": "import own_parts as m\n    def inner(): return m.part(x)\n    return inner()",
    "another name": "m = own_parts\n    return [m.part(y) for y in x]",
    "another function": "return other().part(x)",
    "a name in quotes": "return getattr(own_parts, 'part')(x)",
}


@pytest.mark.parametrize("how", PASSED_ON)
def test_parts_of_modules_count_however_they_are_reached(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_parts", raising=False)
    (tmp_path / "own_parts.py").write_text("def part(x): return helper(x)\ndef helper(x): return 1\ndef unused(): pass")
    parts = import_module("own_parts")
    it = typed(f"def it(x):\n    {PASSED_ON[how]}", own_parts=parts, other=typed("def it(): return m", m=parts))
    before = fingerprint(it)
    monkeypatch.setattr(parts, "unused", 1)
    assert fingerprint(it) == before
    monkeypatch.setattr(parts, "helper", typed("def it(x): return 2"))
    assert fingerprint(it) != before


@dataclass(frozen=True)
class Locked(Stochastic):
    lock: Any = field(default_factory=threading.Lock, compare=False, repr=False)


def test_what_cannot_be_identified_is_not_stored_and_a_warning_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said.clear()
    with caplog.at_level(logging.WARNING, logger="wakeful"):
        for _ in range(2):
            found = wk.simulate(wk.Uniform(), Locked(3), rounds=20, runs=2, store=tmp_path, jobs=1)
    assert found.final("policy", "Uniform()").shape == (2,)
    assert not list(tmp_path.iterdir())
    assert caplog.text.count("are not stored: a lock cannot be identified") == 1
