"""`simulate` with duels: the same interface, the same promises."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
import wakeful.lab.simulate as lab
from wakeful.cli import main
from wakeful.duels.kernels import empty_pick
from wakeful.duels.policy import step
from wakeful.lab import duel_unit as duel_units
from wakeful.lab import workers
from wakeful.lab.duel_unit import BLOCK_ROUNDS
from wakeful.lab.simulate import SimulationError
from wakeful.lab.unit import streams
from wakeful.worlds import CategoryDuels, DuelBlock, DuelWorld, PathDuels, StubbornPairs, UtilityDuels

PAPER = {
    "Sp-SI-EXP3 (paper)": wk.Sparring(wk.SIExp3(eta="sqrt", exploration=0.0)),
    "Sp-UCB": wk.Sparring(wk.SleepingUCB(constant=8.0)),
}


@dataclass(frozen=True)
class PlainUniform(wk.DuelingPolicy):
    """Everybody alike, in plain Python; it counts its rounds."""

    def start(self, n_arms: int, size: int = 2) -> Any:
        return wk.Uniform().start(n_arms)

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        p[awake] = 1.0 / awake.size

    def learn(self, state: Any, pick: Any, shares: Any) -> None:
        state.counts[pick.arms] += 1.0


@dataclass(frozen=True)
class Broken(PlainUniform):
    """Writes numbers that are no probabilities: they sum to more than one."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        p[awake] = 1.0


@dataclass(frozen=True)
class Given(DuelWorld):
    """Blocks as they are given."""

    block: Any = None
    n_arms: int = 2

    def blocks(self, rng: Any, rounds: int) -> Any:
        while True:
            yield self.block


def test_a_run_is_the_compiled_loop_and_the_regret_of_its_choices() -> None:
    world, rounds = CategoryDuels(4), 6000
    results = wk.simulate(PAPER, world, rounds, runs=2, seed=9, checkpoints=[10, 5000])
    for run in range(2):
        for name, policy in PAPER.items():
            world_stream, learner_stream = streams(9, run)
            state = policy.start(4)
            regrets: list[float] = []
            for block in world.blocks(world_stream, BLOCK_ROUNDS):
                choices = np.zeros((block.which.size, 2), np.int64)
                play = step(policy, "play", state, 4)
                play(*block, learner_stream, choices, empty_pick(2, 4), policy.fields(state, 4))
                pairs, preferences = block.pair_sets[block.which], block.preferences[block.law]
                regrets += wk.regret.dueling(choices, pairs, preferences).per_round.tolist()
                if len(regrets) >= rounds:
                    break
            expected = [sum(regrets[:mark]) for mark in (10, 5000, rounds)]
            assert results.curve("dueling", name)[run] == pytest.approx(expected, rel=1e-12)


def test_results_do_not_depend_on_the_executor_nor_on_other_policies() -> None:
    world = UtilityDuels(5)
    alone = wk.simulate(PAPER["Sp-UCB"], world, 3000, runs=6, seed=1, jobs=1)
    for pool in (ThreadPoolExecutor(3), ProcessPoolExecutor(2)):
        with pool as executor:
            both = wk.simulate(PAPER, world, 3000, runs=6, seed=1, executor=executor)
        mine = alone.curve("dueling", repr(PAPER["Sp-UCB"]))
        assert np.array_equal(both.curve("dueling", "Sp-UCB"), mine)


@pytest.mark.parametrize(("rounds", "runs"), [(1, 20), (40, 17), (1_100, 3)])
def test_plain_and_compiled_policies_play_beside_each_other(rounds: int, runs: int) -> None:
    kinds = {"plain": PlainUniform(), **PAPER, "per set": wk.Sparring(wk.PerSet(wk.SleepingUCB(2.0)))}
    beside = wk.simulate(kinds, UtilityDuels(4), rounds, runs, seed=2, jobs=1)
    for name, policy in kinds.items():
        alone = wk.simulate({name: policy}, UtilityDuels(4), rounds, runs, seed=2, jobs=1)
        assert np.array_equal(alone.curve("dueling", name), beside.curve("dueling", name)), name


@pytest.mark.parametrize("policy", [PlainUniform(), PAPER["Sp-UCB"]])
@pytest.mark.parametrize("world", [UtilityDuels(4), CategoryDuels(4), StubbornPairs(4)])
def test_no_more_rounds_are_played_than_asked_for(policy: Any, world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[int] = []

    def counted(*given: Any) -> Any:
        play = step(*given)

        def play_and_count(pair_sets: Any, which: Any, *rest: Any) -> None:
            played.append(which.size)
            play(pair_sets, which, *rest)

        return play_and_count

    monkeypatch.setattr(duel_units, "step", counted)
    wk.simulate(policy, world, 100, runs=2, jobs=1)
    assert sum(played) == 2 * 100


def test_policies_without_kernels_play_the_same_rounds() -> None:
    compiled = wk.simulate({"u": wk.Sparring(wk.Uniform())}, UtilityDuels(4), 300, runs=3)
    plain = wk.simulate({"u": PlainUniform()}, UtilityDuels(4), 300, runs=3)
    assert np.array_equal(compiled.curve("dueling", "u"), plain.curve("dueling", "u"))


def test_an_adversary_that_looks_is_played_one_round_at_a_time() -> None:
    results = wk.simulate(PAPER, StubbornPairs(5), 300, runs=2, jobs=1)
    again = wk.simulate(PAPER, StubbornPairs(5), 300, runs=2, jobs=2)
    assert np.array_equal(results.curve("dueling", "Sp-UCB"), again.curve("dueling", "Sp-UCB"))
    assert (np.diff(results.curve("dueling", "Sp-UCB")) >= -1e-9).all()


def test_finished_units_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "UNIT_SECONDS", 1e-9)
    first = wk.simulate(PAPER, UtilityDuels(4), 500, runs=3, store=tmp_path)
    monkeypatch.setattr(workers, "run_unit", None)  # nothing is left to do
    second = wk.simulate(PAPER, UtilityDuels(4), 500, runs=3, store=tmp_path)
    assert np.array_equal(first.final("dueling", "Sp-UCB"), second.final("dueling", "Sp-UCB"))


def test_battles_are_simulated_too() -> None:
    results = wk.simulate(PAPER, UtilityDuels(6, size=3), 4000, runs=4)
    uniform = wk.simulate({"u": wk.Sparring(wk.Uniform())}, UtilityDuels(6, size=3), 4000, runs=4)
    assert results.summary()[0].mean < 0.6 * uniform.summary()[0].mean


@pytest.mark.parametrize(
    ("world", "name", "mean", "sd"),
    [
        (UtilityDuels(4), "Sp-SI-EXP3 (paper)", 217, 50),
        (UtilityDuels(4), "Sp-UCB", 427, 91),
        (CategoryDuels(4), "Sp-SI-EXP3 (paper)", 509, 45),
        (CategoryDuels(4), "Sp-UCB", 2722, 18),
        (UtilityDuels(30), "Sp-SI-EXP3 (paper)", 2971, 316),
        (UtilityDuels(30), "Sp-UCB", 3880, 368),
    ],
)
def test_reference_values(world: DuelWorld, name: str, mean: float, sd: float) -> None:
    large = world.n_arms > 4  # fewer runs; all fifty are in benchmarks/duels.py
    results = wk.simulate({name: PAPER[name]}, world, 50_000, runs=6 if large else 20, checkpoints=[50_000])
    found = results.summary()[0]
    error = float(np.hypot(sd / np.sqrt(results.runs), sd / np.sqrt(20 if large else 50)))
    assert abs(found.mean - mean) <= 4.0 * error


def test_sparring_is_linear_on_the_path() -> None:
    policy = {"Sp": PAPER["Sp-SI-EXP3 (paper)"]}
    regret = wk.simulate(policy, PathDuels(), 50_000, runs=4, checkpoints=[25_000]).curve("dueling", "Sp")
    assert ((regret[:, 1] - regret[:, 0]) / 25_000 > 0.15).all()  # 0.195 once it has settled on the wrong pair


def test_bandits_and_duels_do_not_mix() -> None:
    with pytest.raises(TypeError, match="policy must be a policy for duels"):
        wk.simulate(wk.SIExp3(), UtilityDuels(4), 10)
    with pytest.raises(TypeError, match="policy must be a policy for bandits"):
        wk.simulate(PAPER, wk.worlds.Dependent(), 10)
    with pytest.raises(ValueError, match="regrets must be one of 'dueling'"):
        wk.simulate(PAPER, UtilityDuels(4), 10, regrets=["policy"])
    with pytest.raises(TypeError, match="world must be an instance"):
        wk.simulate(PAPER, UtilityDuels, 10)  # type: ignore[call-overload]


def test_a_law_that_is_none_fails_the_simulation() -> None:
    with pytest.raises(SimulationError, match="probabilities of Broken\\(\\) must be non-negative"):
        wk.simulate(Broken(), UtilityDuels(3), 10, runs=1, jobs=1)


ZERO: Any
ZERO, EVEN, BOTH = np.zeros(3, np.int64), np.full((1, 2, 2), 0.5), np.ones((1, 2, 2), bool)


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("nothing", "block must be a DuelBlock"),
        (DuelBlock(np.array([[[0, 1], [0, 0]]], bool), ZERO, EVEN, ZERO, np.zeros(3)), "pairs must be symmetric"),
        (DuelBlock(np.zeros((1, 2, 2), bool), ZERO, EVEN, ZERO, np.zeros(3)), "pairs must be at least one"),
        (DuelBlock(BOTH, ZERO + 1, EVEN, ZERO, np.zeros(3)), "which must be rows from 0 to 0, got 1"),
        (DuelBlock(BOTH, ZERO, EVEN + 0.1, ZERO, np.zeros(3)), r"such that P\(i, j\) \+ P\(j, i\) = 1"),
        (DuelBlock(BOTH, ZERO, EVEN, ZERO, np.ones(3)), "coins must be from 0 to below 1, got 1.0"),
        (DuelBlock(BOTH, ZERO, EVEN, ZERO, np.zeros(2)), "which must be 2 whole numbers, one for each round"),
        (DuelBlock(BOTH, ZERO[:0], EVEN, ZERO[:0], np.zeros(0)), "one or more rounds"),
        (DuelBlock(BOTH, ZERO[:, None], EVEN, ZERO[:, None], np.zeros((3, 1))), "one for each round"),
        (DuelBlock(BOTH, ZERO[0], EVEN, ZERO[0], np.zeros(())), "one for each round"),
        (DuelBlock(BOTH, ZERO + 0.9, EVEN, ZERO, np.zeros(3)), "which must be 3 whole numbers"),
        (DuelBlock(BOTH, ZERO, EVEN, ZERO, np.zeros((3, 1))), "coins must be one for each round"),
        (
            DuelBlock(np.ones((1, 3, 3), bool), ZERO, EVEN, ZERO, np.zeros(3)),
            r"pair_sets must be of shape \(1, 2, 2\), got \(1, 3, 3\)",
        ),
    ],
)
def test_a_world_that_yields_nonsense_is_named(block: Any, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        wk.simulate(wk.Sparring(), Given(block), 3, runs=1, jobs=1)


@dataclass(frozen=True)
class Sized(UtilityDuels):
    """A world that is wrong about its own size."""

    size: Any = 2

    def __post_init__(self) -> None:
        pass


@pytest.mark.parametrize("size", [0, 1, 2.5, "2", None])
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"world\.size must be a whole number from 2"):
        wk.simulate(wk.Sparring(), Sized(4, size=size), 10)


def test_a_set_that_cannot_be_chosen_is_the_world_s_fault() -> None:
    halves = np.array([[a // 3 != b // 3 for b in range(6)] for a in range(6)])
    block = DuelBlock(halves[None], ZERO, np.full((1, 6, 6), 0.5), ZERO, np.zeros(3))

    with pytest.raises(SimulationError, match="size must be at most 2, the number of arms or groups that can meet"):
        wk.simulate(wk.Sparring(), GivenSets(block, 6), 3, runs=1, jobs=1)


@dataclass(frozen=True)
class GivenSets(Given):
    """Blocks of sets of three."""

    @property
    def size(self) -> int:
        return 3


def test_matrices_in_files_can_be_played_from_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "wins.txt"
    path.write_text("0.5 0.7\n0.3 0.5\n")
    words = ["simulate", "--policy", "stable-pair", "--rounds", "50", "--runs", "2"]
    assert main([*words, "--world", f"preferences({str(path)!r})"]) == 0
    assert main([*words, "--world", "plackett-luce((3, 2, 1))"]) == 0
    capsys.readouterr()
    assert main([*words, "--world", "plackett-luce"]) == 2
    assert "missing 1 required positional argument: 'scores'" in capsys.readouterr().err
    path.write_text("0.5,,0.6\n0.4,0.5\n")
    assert main([*words, "--world", f"preferences({str(path)!r})"]) == 2
    assert "line 1 of" in capsys.readouterr().err


def test_the_command_line_simulates_duels(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["simulate", "--world", "utility-duels(n_arms=3)", "--rounds", "200", "--runs", "2"]
    plot = tmp_path / "duels.png"
    assert (
        main([*words, "--policy", "sparring(si-exp3)", "--policy", "Sparring(SleepingUCB())", "--plot", str(plot)]) == 0
    )
    assert "dueling regret after 200 rounds of UtilityDuels" in capsys.readouterr().out
    assert plot.exists()
    assert main([*words, "--policy", "si-exp3"]) == 2
    assert "policy must be a policy for duels" in capsys.readouterr().err
    assert main([*words, "--policy", "sparing"]) == 2
    assert "did you mean 'Sparring'" in capsys.readouterr().err
