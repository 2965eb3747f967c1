"""The lab: results do not depend on who computes them, work survives a kill, errors are not swallowed."""

import gc
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
import wakeful.lab.simulate as lab
from own_policy import EpsilonGreedy
from own_policy_compiled import FastEpsilonGreedy
from processes import running
from wakeful import cli, files, regret
from wakeful.lab import bandit_unit as bandit_units
from wakeful.lab import store as stores
from wakeful.lab import unit as units
from wakeful.lab import workers
from wakeful.lab.simulate import SimulationError, simulate
from wakeful.lab.unit import streams
from wakeful.policies.play import runner
from wakeful.regret.tally import Tally
from wakeful.worlds import AdaptiveRun, AdaptiveWorld, Block, Dependent, Drifting, Spiteful, Stochastic, World

POLICIES = {"SI": wk.SIExp3(), "UCB": wk.SleepingUCB()}
SMALL: dict[str, Any] = {"rounds": 700, "runs": 5, "seed": 3, "regrets": ("policy", "internal", "ordering")}


def same(a: wk.Results, b: wk.Results) -> bool:
    """Whether two results are equal bit for bit."""
    arrays = all(np.array_equal(a.regrets[name], b.regrets[name]) for name in a.regrets)
    return arrays and a.regrets.keys() == b.regrets.keys() and np.array_equal(a.internal, b.internal)


def test_regrets_are_those_of_the_rounds_played() -> None:
    world = Stochastic(4)
    results = simulate(POLICIES, world, **SMALL, checkpoints=[100, 333])
    assert results.checkpoints.tolist() == [100, 333, 700]
    for run in (0, 4):
        awake, losses, expected = next(world.blocks(streams(3, run)[0], units.CELLS // 4))
        for name, policy in POLICIES.items():
            choices = wk.play(policy, awake[:700], losses[:700], streams(3, run)[1])
            for at, t in enumerate(results.checkpoints):
                history = awake[:t], expected[:t], choices[:t]  # type: ignore[index]
                found = {notion: results.curve(notion, name)[run, at] for notion in SMALL["regrets"]}
                assert found["policy"] == pytest.approx(regret.policy(*history).value, abs=1e-9)
                assert found["internal"] == pytest.approx(regret.internal(*history).max(), abs=1e-9)
                assert found["ordering"] == pytest.approx(regret.ordering(*history).value, abs=1e-9)


class Backwards(Executor):
    """Waits for so many calls and then does them, the last one first."""

    def __init__(self, calls: int) -> None:
        self.calls, self.given, self.done = calls, list[Any](), list[int]()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.given.append((future, fn, args, kwargs))
        if len(self.given) == self.calls:
            threading.Thread(target=self._work).start()
        return future

    def _work(self) -> None:
        for n in reversed(range(self.calls)):
            future, fn, args, kwargs = self.given[n]
            future.set_result(fn(*args, **kwargs))
            self.done.append(n)


def test_results_do_not_depend_on_the_order_of_completion(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = simulate(POLICIES, Stochastic(5), **SMALL, jobs=1)
    monkeypatch.setattr(lab, "UNIT_SECONDS", 1e-9)  # a unit for each policy and run
    backwards = Backwards(len(POLICIES) * SMALL["runs"])
    assert same(reference, simulate(POLICIES, Stochastic(5), **SMALL, executor=backwards))
    assert backwards.done == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_results_do_not_depend_on_the_executor() -> None:
    reference = simulate(POLICIES, Stochastic(5), **SMALL, jobs=1)
    assert same(reference, simulate(POLICIES, Stochastic(5), **SMALL))
    with ThreadPoolExecutor(3) as threads:
        assert same(reference, simulate(POLICIES, Stochastic(5), **SMALL, executor=threads))
    with ProcessPoolExecutor(2) as processes:
        assert same(reference, simulate(POLICIES, Stochastic(5), **SMALL, executor=processes))


def test_results_do_not_depend_on_the_size_of_units(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = simulate(POLICIES, Dependent(), **SMALL)
    monkeypatch.setattr(lab, "UNIT_SECONDS", 1e-9)
    assert same(reference, simulate(POLICIES, Dependent(), **SMALL))


ALL_KINDS = {
    "plain": EpsilonGreedy(),
    "SI": wk.SIExp3(),
    "compiled": FastEpsilonGreedy(),
    "per set": wk.PerSet(wk.SleepingUCB(constant=2.0)),
    "plain per set": wk.PerSet(EpsilonGreedy()),
    "UCB": wk.SleepingUCB(),
}


@pytest.mark.parametrize(
    ("rounds", "runs"),
    [(1, 20), (7, 2), (40, 17), (40, 33), (300, 5), (1_100, 3), (2_000, 4)],
)
def test_another_policy_changes_nothing_for_the_others(rounds: int, runs: int) -> None:
    size: Any = {"rounds": rounds, "runs": runs, "seed": 3, "regrets": ("policy", "internal"), "jobs": 1}
    beside = simulate(ALL_KINDS, Dependent(), **size)
    for n, (name, policy) in enumerate(ALL_KINDS.items()):
        alone = simulate({name: policy}, Dependent(), **size)
        assert np.array_equal(alone.curve("policy", name), beside.curve("policy", name)), name
        assert np.array_equal(alone.curve("internal", name), beside.curve("internal", name)), name
        assert np.array_equal(alone.internal[0], beside.internal[n]), name


def test_plain_and_compiled_policies_are_cut_into_different_numbers_of_units() -> None:
    sizes = {len(list(lab._units(p, Dependent(), 2_000, 4, 3, (), (), True))) for p in ALL_KINDS.values()}
    assert len(sizes) > 1  # otherwise the test above compares nothing of interest


@pytest.fixture(scope="module")
def cluster() -> Any:
    """A real scheduler with two worker processes."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(host="127.0.0.1", **options) as made:
        yield made


def test_a_dask_cluster_gives_the_same_results(cluster: Any) -> None:
    reference = simulate(POLICIES, Stochastic(5), **SMALL)
    with distributed_client(cluster) as client:
        for executor in (client, client.get_executor()):  # the client brings an executor of its own
            assert same(reference, simulate(POLICIES, Stochastic(5), **SMALL, executor=executor))


def test_the_command_line_runs_on_a_dask_cluster(cluster: Any, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["simulate", "--world", "dependent", "--policy", "uniform", "--rounds", "300", "--runs", "4"]
    assert cli.main(call) == 0
    here = capsys.readouterr().out
    assert cli.main([*call, "--dask", cluster.scheduler_address]) == 0
    assert capsys.readouterr().out == here


def distributed_client(cluster: Any) -> Any:
    import distributed

    connect: Any = distributed.Client
    return connect(cluster)


def test_policies_in_plain_python_and_adaptive_worlds_are_simulated_too() -> None:
    results = simulate(EpsilonGreedy(), Dependent(), rounds=200, runs=2)
    assert list(results.policies) == ["EpsilonGreedy(epsilon=0.1)"]
    adaptive = simulate(wk.SIExp3(), Spiteful(3), rounds=200, runs=2)
    assert np.isfinite(adaptive.final("external", repr(wk.SIExp3()))).all()


def test_finished_units_are_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "UNIT_SECONDS", 1e-9)
    first = simulate(POLICIES, Stochastic(3), **SMALL, store=tmp_path)
    assert len(list(tmp_path.iterdir())) == 10
    with monkeypatch.context() as patch:
        patch.setattr(workers, "run_unit", lambda *unit: pytest.fail("a unit was done twice"))
        assert same(first, simulate(POLICIES, Stochastic(3), **SMALL, store=tmp_path))
    done: list[Any] = []
    work = units.run_unit

    def counted(unit: units.Unit, *stop: Any) -> Any:
        done.append(unit)
        return work(unit)

    monkeypatch.setattr(workers, "run_unit", counted)
    simulate(POLICIES, Stochastic(3), **{**SMALL, "seed": 4}, store=tmp_path, jobs=1)
    assert len(done) == 10


KILLED = """
import sys, wakeful as wk
from wakeful import lab
from wakeful.worlds import Stochastic
lab.UNIT_SECONDS = 1e-9
wk.simulate({"SI": wk.SIExp3(), "UCB": wk.SleepingUCB()}, Stochastic(6), rounds=60_000, runs=12, seed=1,
            regrets=("policy",), store=sys.argv[1])
"""


def test_killed_and_started_again_it_finishes_with_the_same_results(tmp_path: Path) -> None:
    store = tmp_path / "store"
    for _ in range(2):
        with running("-c", KILLED, str(store)):
            before = len(list(store.glob("*.unit"))) if store.exists() else 0
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and len(list(store.glob("*.unit"))) < before + 2:
                time.sleep(0.01)
    kept = {path: path.stat().st_mtime_ns for path in store.glob("*.unit")}
    assert 0 < len(kept) < 24
    subprocess.run([sys.executable, "-c", KILLED, str(store)], check=True)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    fresh = tmp_path / "fresh"
    subprocess.run([sys.executable, "-c", KILLED, str(fresh)], check=True)
    names = sorted(path.name for path in fresh.glob("*.unit"))
    assert sorted(path.name for path in store.glob("*.unit")) == names
    for name in names:
        one, two = (files.read(folder / name, stores.UNIT, lambda header, arrays: arrays) for folder in (store, fresh))
        assert all(np.array_equal(one[key], two[key]) for key in one)


@dataclass(frozen=True)
class Trap(World):
    """Fails in one run of four."""

    n_arms: int = 2

    def blocks(self, rng: np.random.Generator, size: int) -> Any:
        if rng.integers(4) == 0:
            raise ZeroDivisionError("this world has a hole")
        while True:
            yield Block(np.ones((size, 2), np.bool_), np.zeros((size, 2)))


def test_a_unit_that_fails_makes_the_whole_call_fail_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab, "UNIT_SECONDS", 1e-9)
    with pytest.raises(
        SimulationError, match=r"units failed, first .*runs \d+ to \d+, seed 3: this world has a hole"
    ) as e:
        simulate(POLICIES, Trap(), rounds=50, runs=20, seed=3, store=tmp_path)
    assert isinstance(e.value.__cause__, ZeroDivisionError)
    assert list(tmp_path.glob("*.unit"))  # what did not fail is kept


def test_what_is_kept_of_a_run_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []

    class Counted(Tally):
        def values(self) -> dict[str, float]:
            kept.append(self.entries)
            return super().values()

    world, call = Stochastic(20), {"rounds": 30_000, "runs": 1, "regrets": ["policy"], "checkpoints": [300, 10_000]}
    exact = simulate(wk.Uniform(), world, **call)  # type: ignore[call-overload]
    monkeypatch.setattr(units, "MOST_ENTRIES", 128 * 20)
    monkeypatch.setattr(units, "Tally", Counted)
    bounded = simulate(wk.Uniform(), world, **call)  # type: ignore[call-overload]
    assert kept == [128 * 20] * 3
    assert bounded.regrets["policy"] == pytest.approx(exact.regrets["policy"], rel=1e-12)


@pytest.mark.parametrize(
    "change", [{"world": Drifting(20)}, {"pseudo": False}, {"regrets": ["ordering"]}, {"world": Spiteful(20)}]
)
def test_more_sets_than_there_is_room_for_are_refused_with_advice(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "MOST_ENTRIES", 128 * 20)
    call: dict[str, Any] = {"world": Stochastic(20), "rounds": 2_000, "runs": 1, "regrets": ["policy"], "jobs": 1}
    call["checkpoints"] = [2_000]
    with pytest.raises(
        SimulationError, match=r"at most 128 distinct sets of 20 arms .*\(ask for external, internal or"
    ):
        simulate(wk.Uniform(), **{**call, **change})
    simulate(wk.Uniform(), **{**call, **change, "regrets": ["external", "internal", "swap"]})


def test_the_memory_of_a_long_run_is_flat() -> None:
    def peak(rounds: int) -> int:
        gc.collect()  # what compiling has left
        tracemalloc.start()
        simulate(wk.SBExp3(), Stochastic(10), rounds=rounds, runs=1, regrets=("policy",), jobs=1, checkpoints=[rounds])
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(100_000)  # what is compiled and kept by a first call
    assert peak(1_000_000) - peak(100_000) < 900_000  # not even a byte for each further round


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rounds": 0}, "rounds must be"),
        ({"runs": 0}, "runs must be"),
        ({"seed": -1}, "seed must be"),
        ({"regrets": ["polcy"]}, "did you mean 'policy'"),
        ({"checkpoints": [701]}, "checkpoints must be"),
        ({"world": "dependent"}, "world must be"),
        ({"policies": {}}, "policies must be"),
        ({"policies": wk.SIExp3}, "an instance such as SIExp3"),
        ({"jobs": 0}, "jobs must be"),
    ],
)
def test_what_cannot_be_simulated_is_refused(change: dict[str, Any], words: str) -> None:
    call = {"policies": POLICIES, "world": Dependent(), **SMALL, **change}
    with pytest.raises((ValueError, TypeError), match=words):
        simulate(**call)


def test_progress_is_told_in_rounds() -> None:
    told: list[tuple[int, int]] = []
    simulate(POLICIES, Dependent(), **SMALL, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (7_000, 7_000)
    assert all(total == 7_000 for _, total in told)


CLOCKS: list[int] = []


class Clocked(EpsilonGreedy):
    """Notes the numbers of its decisions."""

    def update(self, state: Any, decision: wk.Decision, loss: float) -> None:
        super().update(state, decision, loss)
        CLOCKS.append(decision.clock)


@pytest.mark.parametrize("world", [Dependent(), Spiteful(3)])
def test_the_clock_of_a_plain_policy_runs_through_blocks_and_ends_with_the_rounds(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "CELLS", 64)
    CLOCKS.clear()
    simulate(Clocked(), world, rounds=100, runs=2, jobs=1)
    assert list(range(1, 101)) * 2 == CLOCKS


@pytest.mark.parametrize("policy", ALL_KINDS.values(), ids=ALL_KINDS)
@pytest.mark.parametrize("world", [Dependent(), Stochastic(40), Spiteful(3)])
def test_no_more_rounds_are_played_than_asked_for(policy: Any, world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[int] = []

    def counted(*given: Any) -> Any:
        play_on = runner(*given)

        def play_and_count(awake: Any, *rest: Any) -> Any:
            played.append(len(awake))
            return play_on(awake, *rest)

        return play_and_count

    monkeypatch.setattr(bandit_units, "runner", counted)
    simulate(policy, world, rounds=40, runs=2, jobs=1)
    assert sum(played) == 2 * 40


@dataclass(frozen=True)
class Scripted(AdaptiveWorld):
    """Says what it was told to, round by round, and knows nothing beyond."""

    awakes: Any
    answers: Any
    n_arms: int = 2

    def start(self, rng: np.random.Generator) -> Any:
        return ScriptedRun(iter(self.awakes), iter(self.answers))


@dataclass
class ScriptedRun(AdaptiveRun):
    """One run of it."""

    rows: Any
    answers: Any

    def awake(self) -> Any:
        return next(self.rows)

    def losses(self, probabilities: Any) -> Any:
        return next(self.answers)


BOTH = np.ones(2, np.bool_)


def test_an_adaptive_world_is_asked_for_no_more_rounds_than_there_are() -> None:
    world = Scripted((BOTH,) * 100, (np.zeros(2),) * 100)
    assert simulate(wk.SIExp3(), world, rounds=100, runs=2, jobs=1).rounds == 100


@pytest.mark.parametrize(
    ("awake", "losses", "words"),
    [
        (BOTH, [5.0, 0.0], "losses must be 2 numbers, between 0 and 1 where awake, got"),
        (BOTH, [0.0, -1.0], "losses must be"),
        (BOTH, [np.nan, 0.0], "losses must be"),
        (BOTH, [0.0], "losses must be"),
        (BOTH, ["0", "1"], "losses must be"),
        ([True, np.nan], [0.0, 0.0], "awake must be 2 booleans"),
        ([1.0, 0.0], [0.0, 0.0], "awake must be"),
        ([False, False], [0.0, 0.0], "awake must be 2 booleans, true somewhere"),
        ([True], [0.0, 0.0], "awake must be"),
    ],
)
def test_what_an_adaptive_world_answers_is_checked(awake: Any, losses: Any, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        simulate(wk.SIExp3(), Scripted((awake,), (losses,)), rounds=1, runs=1, jobs=1)


def test_the_losses_of_sleepers_in_an_adaptive_world_are_never_looked_at() -> None:
    world = Scripted((np.array([True, False]),) * 3, ((0.5, np.nan),) * 3)
    results = simulate(wk.SIExp3(), world, rounds=3, runs=1, jobs=1)
    assert results.final("external", repr(wk.SIExp3())).tolist() == [0.0]


def test_regrets_of_the_losses_drawn_differ_from_pseudo_regrets(tmp_path: Path) -> None:
    pseudo, drawn = (simulate(wk.Uniform(), Stochastic(3), **SMALL, pseudo=p, store=tmp_path) for p in (True, False))
    assert not np.array_equal(pseudo.regrets["policy"], drawn.regrets["policy"])
    awake, losses, _ = next(Stochastic(3).blocks(streams(3, 0)[0], units.CELLS // 3))
    choices = wk.play(wk.Uniform(), awake[:700], losses[:700], streams(3, 0)[1])
    expected = regret.policy(awake[:700], losses[:700], choices).value
    assert drawn.final("policy", "Uniform()")[0] == pytest.approx(expected)


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: b"", lambda data: b"\0" * len(data)])
def test_a_damaged_unit_is_done_again(damage: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = simulate(POLICIES, Dependent(), **SMALL, store=tmp_path)
    path = next(tmp_path.iterdir())
    path.write_bytes(damage(path.read_bytes()))
    assert same(first, simulate(POLICIES, Dependent(), **SMALL, store=tmp_path))
    assert "done again" in caplog.text


@pytest.mark.parametrize(
    "change",
    [
        {"curves": None},
        {"internal": None},
        {"more": np.zeros(1)},
        {"curves": np.zeros(3)},
        {"internal": np.zeros((1, 1))},
        {"curves": np.nan},
        {"internal": np.inf},
        {"curves": np.int64(0)},
    ],
    ids=repr,
)
def test_a_unit_with_other_content_is_done_again(
    change: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = simulate(wk.Uniform(), Dependent(), rounds=20, runs=1, seed=3, store=tmp_path)
    path = next(tmp_path.iterdir())
    arrays = files.read(path, stores.UNIT, lambda header, arrays: arrays)
    for name, value in change.items():
        arrays[name] = value if np.ndim(value) else np.full(arrays[name].shape, value)
    written = {name: array for name, array in arrays.items() if array.dtype != object}
    files.write(path, {"kind": stores.UNIT}, written)
    assert same(first, simulate(wk.Uniform(), Dependent(), rounds=20, runs=1, seed=3, store=tmp_path))
    assert "done again" in caplog.text


def test_a_store_does_not_take_one_program_for_another() -> None:
    code = "class Mine(EpsilonGreedy):\n    def probabilities(self, state, awake): return {}"
    policies = []
    for law in ("awake / awake.sum()", "np.eye(awake.size)[awake.argmax()]"):
        scope: dict[str, Any] = {"EpsilonGreedy": EpsilonGreedy, "np": np, "__name__": "typed_in"}
        exec(code.format(law), scope)
        policies.append(scope["Mine"]())
    keys = {units.Unit(p, Dependent(), 10, 0, 0, 1, ("policy",), (10,)).key for p in policies}
    assert len(keys) == 2
    other: Any = type("Dependent", (Trap,), {})()
    ours, theirs = (units.Unit(wk.Uniform(), world, 10, 0, 0, 1, (), (10,)) for world in (Dependent(), other))
    assert ours.key != theirs.key


def test_whole_numbers_of_every_make_are_taken_and_can_be_saved(tmp_path: Path) -> None:
    numbers: Any = {"rounds": np.int64(50), "runs": np.int32(2), "seed": np.uint8(1), "regrets": "policy"}
    results = simulate(wk.Uniform(), Dependent(), **numbers)
    results.save(tmp_path / "r")
    assert wk.Results.load(tmp_path / "r").rounds == 50


@dataclass(frozen=True)
class Bad(World):
    """Yields whatever it is told to."""

    block: Any = None
    n_arms: int = 2

    def blocks(self, rng: np.random.Generator, size: int) -> Any:
        yield self.block


AWAKE = np.ones((4, 2), np.bool_)


@pytest.mark.parametrize(
    "block",
    [
        None,
        (AWAKE, np.zeros((4, 2))),
        Block(AWAKE, np.full((4, 2), 5.0)),
        Block(AWAKE, np.full((4, 2), np.nan), np.zeros((4, 2))),
        Block(AWAKE.astype(float), np.zeros((4, 2))),
        Block(AWAKE, np.full((4, 2), "0")),
        Block(AWAKE, np.zeros((4, 3))),
        Block(AWAKE[:, :1], np.zeros((4, 1))),
        Block(~AWAKE, np.zeros((4, 2))),
        Block(AWAKE[:0], np.zeros((0, 2))),
        Block(AWAKE, np.zeros((4, 2)), np.zeros((3, 2))),
        Block(AWAKE, np.zeros((4, 2)), np.full((4, 2), "0")),
    ],
    ids=range(12),
)
def test_a_world_that_yields_no_rounds_is_refused(block: Any) -> None:
    with pytest.raises(SimulationError, match="must be"):
        simulate(wk.Uniform(), Bad(block), rounds=4, runs=1)


def test_an_interrupt_stops_long_units() -> None:
    code = (
        "import wakeful as wk; world = wk.worlds.Stochastic(10)\n"
        "wk.simulate(wk.SIExp3(), world, rounds=10, runs=1); print('on', flush=True)\n"
        "wk.simulate(wk.SIExp3(), world, rounds=10**9, runs=4)"
    )
    with running("-c", code, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)  # all rounds would take an hour
    assert process.returncode != 0


def test_no_more_workers_than_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred jobs for one unit of a policy in Python start one process."""
    asked: list[int] = []

    def pool(workers: int, *rest: Any, **more: Any) -> Any:
        asked.append(workers)
        return ThreadPoolExecutor(workers)

    monkeypatch.setattr(workers, "ProcessPoolExecutor", pool)
    monkeypatch.setattr(workers, "ThreadPoolExecutor", pool)
    simulate(EpsilonGreedy(), Dependent(), rounds=5, runs=1, jobs=100)
    assert asked == [1]


def test_a_large_unit_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr(stores, "MAX_BYTES", 30_000)
    for _ in range(2):
        simulate(wk.Uniform(), Dependent(), 5_000, 1, regrets=["external"], checkpoints=range(1, 5_001), store=tmp_path)
    assert "done again" not in caplog.text
    (unit,) = tmp_path.iterdir()
    with pytest.raises(ValueError, match="one that takes at most 30,000 bytes in memory"):
        files.read(unit, stores.UNIT, lambda header, arrays: arrays, 30_000)
