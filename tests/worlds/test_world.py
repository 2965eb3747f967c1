"""Worlds: each has the law it states, the paper's tables are the paper's, and the checker finds what is broken.

Statistical claims have fixed seeds; a frequency may be off by `SIGMAS` standard deviations.
"""

import importlib
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wakeful.worlds
from reference import worlds as reference
from wakeful import regret
from wakeful.policies.spec import subclasses
from wakeful.worlds import (
    AdaptiveRun,
    AdaptiveWorld,
    BestResponse,
    Block,
    Cycling,
    Dependent,
    Drifting,
    ExternalNotOrdering,
    LossDependentSleep,
    MarkovSleep,
    NashOpponent,
    OrderingNotExternal,
    RandomDependent,
    RandomGame,
    Replay,
    RockPaperScissors,
    Spiteful,
    Stochastic,
    SwitchingBest,
    World,
    check_world,
)
from wakeful.worlds.draws import Sleepers, awake_sets
from wakeful.worlds.games import Game, random_game, rock_paper_scissors
from wakeful.worlds.replay import _READERS

SIGMAS = 5.0

WORLDS: tuple[World | AdaptiveWorld, ...] = (
    Stochastic(),
    Stochastic(n_arms=1),
    Dependent(),
    RockPaperScissors(),
    RandomDependent(),
    RandomDependent(n_arms=1, n_sets=1),
    RandomGame(),
    RandomGame(n_arms=2, n_sets=1, bernoulli=True),
    SwitchingBest(),
    SwitchingBest(n_arms=2, period=1, gap=1.0, rate=0.01),
    Drifting(),
    Drifting(n_arms=1, step=1.0, rate=1.0),
    Cycling(),
    Cycling(n_arms=1, n_awake=1),
    MarkovSleep(),
    MarkovSleep(n_arms=1, sleep=0.9, wake=1e-9),
    MarkovSleep(n_arms=2, sleep=0.0, wake=1.0),
    LossDependentSleep(),
    LossDependentSleep(n_arms=2, rest=100),
    ExternalNotOrdering(),
    ExternalNotOrdering(rounds=2),
    OrderingNotExternal(),
    NashOpponent(rock_paper_scissors()),
    NashOpponent(Game(np.array([[0.25]])), ((0,),), bernoulli=True),
    BestResponse(rock_paper_scissors(), ((0, 1), (1, 2))),
    BestResponse(random_game(4, np.random.default_rng(0))),
    Spiteful(),
    Spiteful(n_arms=1, rate=1e-9),
    Replay(np.eye(3, dtype=bool), np.eye(3) / 2),
    Replay(np.ones((9, 2), bool), np.full((9, 2), 0.5), np.full((9, 2), 0.25), ("tea", "juice")),
)


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_world_passes(world: World | AdaptiveWorld) -> None:
    check_world(world)


def test_every_world_is_on_the_list() -> None:
    ours = {cls for base in (World, AdaptiveWorld) for cls in subclasses(base) if cls.__module__.startswith("wakeful.")}
    assert ours == {type(world) for world in WORLDS}
    assert {cls.__name__ for cls in ours} <= set(wakeful.worlds.__all__)


def drawn(world: World, rounds: int, seed: int = 0, size: int = 1000) -> Block:
    """Return the first rounds of a run, put together from blocks."""
    blocks = list(islice(world.blocks(np.random.default_rng(seed), size), -(-rounds // size)))
    awake, losses = (np.concatenate([block[i] for block in blocks])[:rounds] for i in range(2))
    known = [block.expected for block in blocks if block.expected is not None]
    return Block(awake, losses, np.concatenate(known)[:rounds] if known else None)


def sets_of(awake: Any) -> list[tuple[int, ...]]:
    return [tuple(np.flatnonzero(row).tolist()) for row in awake]


def assert_frequencies(found: list[Any], law: dict[Any, float]) -> None:
    """Every outcome comes as often as its law says, and no other comes at all."""
    counts, n = Counter(found), len(found)
    assert set(counts) <= {outcome for outcome, chance in law.items() if chance > 0}
    for outcome, chance in law.items():
        margin = SIGMAS * np.sqrt(n * chance * (1 - chance)) + 1.0
        assert abs(counts[outcome] - n * chance) <= margin, (outcome, counts[outcome], n * chance)


def assert_means(block: Block) -> None:
    """Given each distinct awake set, the mean loss of every awake arm is the one expected."""
    assert block.expected is not None
    for row in np.unique(block.awake, axis=0):
        here = (block.awake == row).all(axis=1)
        error = (block.losses - block.expected)[here][:, row].mean(axis=0)
        assert (np.abs(error) <= SIGMAS * 0.5 / np.sqrt(here.sum()) + 1e-12).all()


# What worlds draw


@settings(deadline=None, max_examples=15)
@given(st.lists(st.sampled_from([1e-6, 0.01, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=4), st.integers(0, 99))
def test_sleepers_have_the_law_of_independent_arms_given_somebody(rates: list[float], seed: int) -> None:
    arms = Sleepers(np.random.default_rng(seed), np.array(rates), 20_000)
    awake = arms.awake()
    assert_frequencies(sets_of(awake), reference.awake_law(rates))
    means = np.linspace(0.2, 0.8, len(rates))
    assert_means(Block(awake, arms.losses(means), np.tile(means, (20_000, 1))))


def test_losses_of_sleepers_are_independent_of_each_other() -> None:
    arms = Sleepers(np.random.default_rng(1), np.array([0.2, 0.2]), 200_000)
    both = arms.awake().all(axis=1)
    losses = arms.losses(np.array([0.5, 0.5]))[both]
    law = {(a, b): 0.25 for a in (0.0, 1.0) for b in (0.0, 1.0)}
    assert_frequencies([tuple(row) for row in losses.tolist()], law)


def test_the_largest_uniform_number_still_wakes_somebody() -> None:
    class Largest(np.random.Generator):
        def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
            array = np.empty(size) if out is None else out
            array[...] = 1.0 - 2.0**-53
            return array

    for rates in ([1e-300], [0.3, 0.7], [0.1] * 10):
        assert Sleepers(Largest(np.random.PCG64(0)), np.array(rates), 3).awake().any(axis=1).all()


@pytest.mark.parametrize(("n_arms", "smallest"), [(1, 1), (3, 1), (4, 2), (2, 2)])
def test_random_sets_are_uniform_among_those_large_enough(n_arms: int, smallest: int) -> None:
    found = sets_of(awake_sets(np.random.default_rng(2), 20_000, n_arms, smallest))
    assert_frequencies(found, reference.awake_law([0.5] * n_arms, smallest))


# The paper's worlds


def test_stochastic_world() -> None:
    block = drawn(Stochastic(3), 40_000, seed=3, size=8192)
    rng = np.random.default_rng(3)
    means, rates = rng.random(3), 1.0 - rng.random(3)
    assert block.expected is not None
    assert (block.expected == means).all()
    assert_frequencies(sets_of(block.awake), reference.awake_law(rates.tolist()))
    assert_means(block)
    assert set(np.unique(block.losses)) == {0.0, 1.0}


def test_parameters_of_a_run_are_uniform_and_differ_between_runs() -> None:
    runs = [next(Stochastic(2000).blocks(np.random.default_rng(seed), 1)).expected for seed in range(2)]
    assert not np.array_equal(*runs)  # type: ignore[arg-type]
    ordered = np.sort(np.ravel(runs[0]))  # type: ignore[arg-type]
    assert np.abs(ordered - np.arange(1, 2001) / 2000).max() < 1.95 / np.sqrt(2000)  # Kolmogorov-Smirnov at 0.1 %


def test_dependent_world_is_the_papers_table() -> None:
    block = drawn(Dependent(), 4000)
    assert_frequencies(sets_of(block.awake), dict.fromkeys(reference.DEPENDENT, 0.25))
    for S, losses, expected in zip(sets_of(block.awake), block.losses, block.expected, strict=True):  # type: ignore[arg-type]
        assert {k: losses[k] for k in S} == {k: expected[k] for k in S} == reference.DEPENDENT[S]


def test_rock_paper_scissors_world_is_the_papers_game() -> None:
    block = drawn(RockPaperScissors(), 20_000)
    assert block.expected is not None
    law = {}
    for S, strategy in reference.ROCK_PAPER_SCISSORS.items():
        for j, chance in enumerate(strategy):
            law[S, tuple((1 + reference.P[i][j]) / 2 for i in range(3))] = chance / 4
        mean = [sum(chance * (1 + reference.P[i][j]) / 2 for j, chance in enumerate(strategy)) for i in range(3)]
        here = [s == S for s in sets_of(block.awake)]
        assert np.allclose(block.expected[here], mean, rtol=0, atol=1e-12)
        assert min(mean[i] for i in S) == pytest.approx(0.5)  # the value: regret is the sum of losses less T / 2
    found = list(zip(sets_of(block.awake), map(tuple, block.losses.tolist()), strict=True))
    assert_frequencies(found, law)


def test_random_dependence() -> None:
    for seed in range(5):
        block = drawn(RandomDependent(4, 6), 30_000, seed)
        rng = np.random.default_rng(seed)
        sets = awake_sets(rng, 6, 4, smallest=1)
        assert_frequencies(sets_of(block.awake), {S: n / 6 for S, n in Counter(sets_of(sets)).items()})
        assert_means(block)


def test_equal_sets_of_a_random_dependence_share_their_expected_losses() -> None:
    block = drawn(RandomDependent(n_arms=1, n_sets=3), 20_000)  # one arm: all sets are the same
    assert block.expected is not None
    assert np.unique(block.expected).size == 1
    assert_means(block)


@pytest.mark.parametrize("bernoulli", [False, True])
def test_random_game(bernoulli: bool) -> None:
    world = RandomGame(4, 3, bernoulli)
    block = drawn(world, 30_000, seed=4)
    rng = np.random.default_rng(4)
    game = random_game(4, rng)
    sets = awake_sets(rng, 3, 4, smallest=2)
    assert_frequencies(sets_of(block.awake), {S: n / 3 for S, n in Counter(sets_of(sets)).items()})
    assert_means(block)
    assert block.expected is not None
    for row in sets:
        here = (block.awake == row).all(axis=1)
        assert np.allclose(block.expected[here], game.losses @ game.nash(row, row).column, rtol=0, atol=1e-12)
        assert block.expected[here][0][row].min() == pytest.approx(0.5)
    if not bernoulli:
        assert {tuple(row) for row in block.losses.tolist()} <= {tuple(row) for row in game.losses.T.tolist()}
    else:
        assert set(np.unique(block.losses)) == {0.0, 1.0}


def test_random_games_never_leave_a_single_action() -> None:
    sizes = [next(RandomGame(3).blocks(np.random.default_rng(seed), 50)).awake.sum(axis=1).min() for seed in range(30)]
    assert min(sizes) == 2


# Adversaries


def test_best_arm_switches_after_each_period() -> None:
    block = drawn(SwitchingBest(n_arms=3, period=70, gap=0.5, rate=0.5), 70 * 400, size=64)
    assert block.expected is not None
    best = block.expected.argmin(axis=1).reshape(400, 70)
    assert (best == best[:, :1]).all()
    moves = (np.diff(best[:, 0]) % 3).tolist()
    assert_frequencies(moves, {1: 0.5, 2: 0.5})
    assert sorted(set(np.unique(block.expected).tolist())) == [0.25, 0.75]
    assert_means(block)
    assert_frequencies(sets_of(block.awake), reference.awake_law([0.5] * 3))


def test_means_drift_in_small_steps_and_stay_inside() -> None:
    block = drawn(Drifting(n_arms=2, step=0.02, rate=0.9), 20_000, size=99)
    assert block.expected is not None
    steps = np.diff(block.expected, axis=0)
    inside = (block.expected[:-1] > 0.15) & (block.expected[:-1] < 0.85)
    assert np.abs(steps).max() < 0.02 * 6
    assert steps[inside].std() == pytest.approx(0.02, rel=0.03)
    assert block.expected.min() < 0.05
    assert block.expected.max() > 0.95
    assert_means(Block(np.ones_like(block.awake), np.where(block.awake, block.losses, block.expected), block.expected))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 20))
def test_cycling(n_arms: int, n_awake: int, size: int) -> None:
    n_awake = min(n_awake, n_arms)
    block = drawn(Cycling(n_arms, n_awake), 40, size=size)
    assert block.awake.tolist() == reference.cycling(40, n_arms, n_awake)


def test_cycling_losses() -> None:
    assert_means(drawn(Cycling(), 20_000))


@pytest.mark.parametrize(("sleep", "wake"), [(0.3, 0.2), (0.9, 0.05)])
def test_markov_sleep(sleep: float, wake: float) -> None:
    block = drawn(MarkovSleep(3, sleep, wake), 40_000, size=777)
    found = sets_of(block.awake)
    for S in reference.awake_law([0.5] * 3):
        after = [found[t + 1] for t in range(len(found) - 1) if found[t] == S]
        assert_frequencies(after, reference.next_law(S, 3, sleep, wake))
    assert_means(block)
    firsts = [sets_of(drawn(MarkovSleep(2, sleep, wake), 1, seed, size=1).awake)[0] for seed in range(3000)]
    assert_frequencies(firsts, reference.awake_law([wake / (wake + sleep)] * 2))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 20), st.integers(0, 99))
def test_sleep_after_losses(n_arms: int, rest: int, size: int, seed: int) -> None:
    block = drawn(LossDependentSleep(n_arms, rest), 60, seed, size)
    assert block.awake.tolist() == reference.rested(block.losses.tolist(), rest)


def test_losses_are_independent_of_who_rests() -> None:
    assert_means(drawn(LossDependentSleep(3, 1), 30_000))


def test_external_regret_does_not_bound_ordering_regret() -> None:
    world = ExternalNotOrdering(600)
    block = drawn(world, 600, size=7)
    assert sets_of(block.awake) == [(0, 1)] * 300 + [(1, 2)] * 300
    assert (block.losses == np.array([1.0, 2.0, 3.0]) / 3).all()
    choices = world.choices(block.awake)
    assert choices.tolist() == [0] * 300 + [2] * 300
    assert np.allclose(regret.external(block.awake, block.losses, choices), 0.0, rtol=0, atol=1e-9)
    assert regret.ordering(block.awake, block.losses, choices).value == pytest.approx(100.0)


def test_ordering_regret_does_not_bound_external_regret() -> None:
    world = OrderingNotExternal()
    block = drawn(world, 4000)
    choices = world.choices(block.awake)
    assert_frequencies(sets_of(block.awake), dict.fromkeys(reference.ORDERING_NOT_EXTERNAL, 0.25))
    for S, losses, choice in zip(sets_of(block.awake), block.losses, choices, strict=True):
        table, played = reference.ORDERING_NOT_EXTERNAL[S]
        assert {k: losses[k] for k in S} == table
        assert choice == played
    assert regret.external(block.awake, block.losses, choices)[0] == sets_of(block.awake).count((0, 1))
    assert abs(regret.ordering(block.awake, block.losses, choices).value) <= SIGMAS * np.sqrt(4000)
    balanced = np.array([block.awake[sets_of(block.awake).index(S)] for S in reference.ORDERING_NOT_EXTERNAL])
    losses = np.array([block.losses[sets_of(block.awake).index(S)] for S in reference.ORDERING_NOT_EXTERNAL])
    assert regret.ordering(balanced, losses, world.choices(balanced)).value == 0.0  # each set once: exactly as good
    assert regret.external(balanced, losses, world.choices(balanced))[0] == 1.0
    with pytest.raises(ValueError, match="awake must be sets of this world"):
        world.choices(np.ones((1, 4), bool))


def test_spite_hits_the_likeliest_arm() -> None:
    run = Spiteful(4, rate=0.3).start(np.random.default_rng(0))
    found = []
    for _ in range(5000):
        awake = run.awake()
        found.append(tuple(np.flatnonzero(awake).tolist()))
        p = awake / awake.sum()
        losses = run.losses(p)
        assert losses.sum() == 1.0
        assert losses[awake.argmax()] == 1.0  # all the same: the first
    assert_frequencies(found, reference.awake_law([0.3] * 4))


def test_best_response_costs_the_learner_most() -> None:
    game = random_game(4, np.random.default_rng(5))
    sets = ((0, 1, 2, 3), (1, 3), (0, 2, 3))
    run = BestResponse(game, sets).start(np.random.default_rng(6))
    laws = np.random.default_rng(7)
    found = []
    for _ in range(3000):
        awake = run.awake()
        S = tuple(np.flatnonzero(awake).tolist())
        found.append(S)
        p = laws.exponential(size=4) * awake
        losses = run.losses(p / p.sum())
        assert p @ losses == pytest.approx(max(p @ game.losses[:, j] for j in S), rel=1e-12)
        assert losses.tolist() in game.losses.T[list(S)].tolist()
    assert_frequencies(found, dict.fromkeys(sets, 1 / 3))


# Replay


def test_replay_yields_what_it_was_given_and_copies() -> None:
    awake, losses = np.array([[True, False], [True, True]]), np.array([[0.5, np.nan], [0.0, 1.0]])
    world = Replay(awake, losses)
    awake[:] = False
    block = next(world.blocks(np.random.default_rng(0), 9))
    assert block.awake.tolist() == [[True, False], [True, True]]
    assert block.losses.tolist() == [[0.5, 0.0], [0.0, 1.0]]
    assert block.expected is None
    block.losses[:] = block.awake[:] = True  # the reader may
    assert world.losses.tolist() == [[0.5, 0.0], [0.0, 1.0]]
    assert world == Replay(np.array([[True, False], [True, True]]), losses)
    assert world != Replay(np.ones((2, 2), bool), np.zeros((2, 2)))
    assert world.arms == (0, 1)


LOG = "loss,round,arm,note\n0.5,7,tea,x\n1,3,juice,\n0.25,3,tea,\n0,7,coffee,\n"


def test_replay_of_a_text_log(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    world = Replay.from_csv(path)
    assert world.arms == ("coffee", "juice", "tea")
    assert world.awake.tolist() == [[False, True, True], [True, False, True]]
    assert world.losses.tolist() == [[0.0, 1.0, 0.25], [0.0, 0.0, 0.5]]
    path.write_text("round,arm,loss\n1,10,0\n1,9,1\n")
    assert Replay.from_csv(path).arms == (9, 10)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "columns must be round, arm and loss, got"),
        ("round,arm,losses\n1,a,0\n", r"columns must be round, arm and loss.*\(is it 'losses'\?\)"),
        ("round,arm,loss\n", "log must be of at least one row"),
        ("round,arm,loss\n1,a,0\n1.5,a,0\n", "round in line 3 must be a whole number, got '1.5'"),
        ("round,arm,loss\n1,a,zero\n", "loss in line 2 must be a number, got 'zero'"),
        ("round,arm,loss\n1,a\n", "loss in line 2 must be a number, got None"),
        ("round,arm,loss\n1,a,0\n1,b,nan\n", "losses must be between 0 and 1 where awake, got nan"),
        ("round,arm,loss\n1,a,2\n", "losses must be between 0 and 1 where awake, got 2.0"),
        ("round,arm,loss\n1,a,0\n2," + "a" * 200_000 + ",0\n", "line 3 must be of a text file of columns, got '"),
        ("round,arm,loss\n1," + "9" * 5_000 + ",0\n", r"arm in line 2 must be a whole number, got '9{100}\.\.\.'$"),
        ("round,arm,loss\n" + "9" * 5_000 + ",a,0\n", r"round in line 2 must be a whole number, got '9{100}\.\.\.'$"),
        ("round,arm,loss\n1,\udce9,0\n", "path must be a text file in UTF-8, got '"),
        ("round,arm,loss\n1,,0\n", "arm must be a name or a whole number in every row"),
        ("round,arm,loss\n1,a,0\n2,a,0\n2,a,1\n", "one row for each arm of a round, got \"arm 'a' twice in round 2\""),
    ],
)
def test_broken_text_logs_are_refused(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises((ValueError, TypeError), match=sentence):
        Replay.from_csv(path)


def test_rounds_of_any_size_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"round,arm,loss\n{10**30},a,0\n-{10**30},a,1\n3,a,0.5\n")
    assert Replay.from_csv(path).losses.tolist() == [[1.0], [0.5], [0.0]]


def test_a_short_log_of_a_large_table_is_refused_unless_the_caller_says_how_large(tmp_path: Path) -> None:
    path, n = tmp_path / "log.csv", 5_000
    path.write_text("round,arm,loss\n" + "".join(f"{k},{k},0\n" for k in range(n)))
    with pytest.raises(ValueError, match=r"log must be of at most 16,777,216 cells, .*got '5,000 rounds of 5,000 arms"):
        Replay.from_csv(path)
    assert Replay.from_csv(path, max_cells=n * n).awake.shape == (n, n)
    for wrong in (0, 1.5, None):
        with pytest.raises((ValueError, TypeError), match="max_cells must be a number of cells, at least 1"):
            Replay.from_csv(path, max_cells=wrong)  # type: ignore[arg-type]


def test_a_full_log_is_never_too_large(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("round,arm,loss\n" + "".join(f"{k // 3},{k % 3},0\n" for k in range(30)))
    assert Replay.from_csv(path, max_cells=1).awake.all()


@pytest.mark.parametrize("library", ["pyarrow.parquet", "polars"])
def test_parquet_logs_that_are_damaged_or_of_too_many_rows_are_refused(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrow, parquet = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    monkeypatch.setattr("wakeful.worlds.replay._READERS", {library: _READERS[library]})
    path = tmp_path / "log.parquet"
    parquet.write_table(arrow.table({"round": [1] * 1_000, "arm": ["a"] * 1_000, "loss": [0.0] * 1_000}), path)
    with pytest.raises(ValueError, match=r"log must be of at most 999 rows \(max_cells, 8 for each row.*'1,000 rows'"):
        Replay.from_parquet(path, max_cells=7_999)
    data = path.read_bytes()
    for wrong in (b"", b"PAR1", data[:-1], data[: len(data) // 2], data[:-100] + bytes(100)):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match="path must be a Parquet file, complete and unchanged"):
            Replay.from_parquet(path)
    with pytest.raises(FileNotFoundError):
        Replay.from_parquet(tmp_path / "none.parquet")


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_replay_of_a_parquet_log(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(library)
    columns = {"round": [7, 3, 3, 7], "arm": ["tea", "juice", "tea", "coffee"], "loss": [0.5, 1.0, 0.25, 0.0]}
    path = tmp_path / "log.parquet"
    if library == "pyarrow":
        arrow, parquet = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
        parquet.write_table(arrow.table(columns), path)
    else:
        importlib.import_module("polars").DataFrame(columns).write_parquet(path)
    other = {"pyarrow": "polars", "polars": "pyarrow.parquet"}[library]
    monkeypatch.delitem(_READERS, other)
    text = tmp_path / "log.csv"
    text.write_text(LOG)
    assert Replay.from_parquet(path) == Replay.from_csv(text)


def test_parquet_needs_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("wakeful.worlds.replay.import_module", missing)
    with pytest.raises(ImportError, match="reading Parquet needs pyarrow or polars: pip install pyarrow"):
        Replay.from_parquet("log.parquet")


# Refusals


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Stochastic(0), "n_arms must be a whole number from 1, got 0"),
        (lambda: Stochastic(2.0), "n_arms must be a whole number from 1, got 2.0"),  # type: ignore[arg-type]
        (lambda: RandomDependent(n_sets=0), "n_sets must be a whole number from 1"),
        (lambda: RandomGame(1), "n_arms must be a whole number from 2"),
        (lambda: RandomGame(bernoulli=1), "bernoulli must be True or False"),  # type: ignore[arg-type]
        (lambda: SwitchingBest(1), "n_arms must be a whole number from 2"),
        (lambda: SwitchingBest(period=0), "period must be a whole number from 1"),
        (lambda: SwitchingBest(gap=1.1), "gap must be between 0 and 1"),
        (lambda: SwitchingBest(rate=0.0), "rate must be above 0 and at most 1"),
        (lambda: Drifting(step=-0.1), "step must be between 0 and 1"),
        (lambda: Cycling(2, 3), "n_awake must be at most n_arms, 2, got 3"),
        (lambda: MarkovSleep(sleep=1.0), "sleep must be from 0 to below 1"),
        (lambda: MarkovSleep(wake=0.0), "wake must be above 0 and at most 1"),
        (lambda: LossDependentSleep(rest=0), "rest must be a whole number from 1"),
        (lambda: ExternalNotOrdering(3), "rounds must be an even number from 2"),
        (lambda: Spiteful(rate=2.0), "rate must be above 0 and at most 1"),
        (lambda: NashOpponent("RPS"), "game must be a Game"),  # type: ignore[arg-type]
        (lambda: NashOpponent(Game(np.zeros((2, 3)))), "game must be square"),
        (lambda: NashOpponent(rock_paper_scissors(), ((0, 3),)), "sets must be tuples of distinct actions from 0 to 2"),
        (lambda: NashOpponent(rock_paper_scissors(), ((),)), "sets must be tuples of distinct actions"),
        (lambda: NashOpponent(rock_paper_scissors(), ()), "sets must be tuples of distinct actions"),
        (lambda: BestResponse(rock_paper_scissors(), ((0, 0),)), "sets must be tuples of distinct actions"),
        (lambda: BestResponse(rock_paper_scissors(), (0, 1)), "sets must be tuples of distinct actions"),  # type: ignore[arg-type]
        (lambda: BestResponse(rock_paper_scissors(), ((True,),)), "sets must be tuples of distinct actions"),
        (lambda: Replay(np.zeros((2, 2), bool), np.zeros((2, 2))), "nobody in row 0"),
        (lambda: Replay(np.ones((2, 2), bool), np.zeros((2, 3))), r"losses must be of the shape of awake, \(2, 2\)"),
        (lambda: Replay(np.ones(2, bool), np.zeros(2)), r"awake must be a \(T, K\) array of truth values"),
        (lambda: Replay(np.ones((1, 1), bool), np.zeros((1, 1)), np.full((1, 1), 2.0)), "expected must be between"),
        (lambda: Replay(np.ones((1, 2), bool), np.zeros((1, 2)), arms=("a", "a")), "arms must be 2 distinct names"),
        (lambda: Stochastic().blocks(7, 1), "rng must be a numpy.random.Generator"),  # type: ignore[arg-type]
        (lambda: Drifting().blocks(np.random.default_rng(0), 0), "size must be a whole number from 1"),
        (lambda: Spiteful().start(7), "rng must be a numpy.random.Generator"),  # type: ignore[arg-type]
        (lambda: check_world(Stochastic), r"an instance such as Stochastic\(\), not the class itself"),  # type: ignore[arg-type]
        (lambda: check_world("dependent"), "world must be a World such as"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_refused(make: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        make()


def test_numbers_of_any_kind_become_plain_ones() -> None:
    assert repr(Stochastic(np.int64(3))) == "Stochastic(n_arms=3)"  # type: ignore[arg-type]
    assert NashOpponent(rock_paper_scissors(), [[np.int8(1), 0]]).sets == ((0, 1),)  # type: ignore[arg-type]


# The checker


@dataclass(frozen=True)
class Coins(World):
    """A user's world, and what may be wrong with it."""

    wrong: str = ""
    n_arms: int = 2

    @property
    def length(self) -> int | None:
        return {"too long": 5, "too short": 500}.get(self.wrong)

    def blocks(self, rng: np.random.Generator, size: int) -> Any:
        buffer = np.ones((size, 2), bool)
        for _ in range(3 if self.wrong == "ends" else 100):
            buffer = buffer if self.wrong == "reuses" else buffer.copy()
            buffer[:] = rng.random((size, 2)) < (0.5 if self.wrong in {"nobody", "reuses"} else 1.0)
            if self.wrong == "reuses":
                buffer[:, 0] = True
            yield self._spoilt(Block(buffer, rng.random((size, 2)), np.full((size, 2), 0.5)), size)

    def _spoilt(self, block: Block, size: int) -> Any:  # noqa: PLR0911  # one way to be wrong a line
        match self.wrong:
            case "tuple":
                return tuple(block)
            case "shape":
                return block._replace(losses=block.losses[:, :1])
            case "columns":
                return block._replace(losses=np.asfortranarray(block.losses))
            case "type":
                return block._replace(awake=block.awake.astype(int))
            case "list":
                return block._replace(losses=block.losses.tolist())
            case "large":
                return block._replace(losses=block.losses + 1)
            case "expected":
                return block._replace(expected=np.full((size, 2), np.nan))
            case "size":
                return Block(block.awake[:-1], block.losses[:-1]) if size > 1 else block
            case "global":
                return block._replace(losses=np.random.random((size, 2)))  # noqa: NPY002
        return block


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("nobody", "'blocks': somebody must be awake in every row, got nobody in row"),
        ("tuple", "blocks must yield Block"),
        ("shape", r"losses must be of shape \(rounds, 2\), the same for all, got \(1, 1\)"),
        ("columns", "losses must be contiguous"),
        ("type", "awake must be of type bool, got int64"),
        ("list", "losses must be an array"),
        ("large", "losses must be between 0 and 1 where awake, got 1"),
        ("expected", "expected must be between 0 and 1 where awake, got nan"),
        ("size", "a block must have 7 rounds, got 6"),
        ("ends", "'length': a world whose length is None must not end, got 3 blocks"),
        ("too long", "'length': there must be 5 rounds, got"),
        ("too short", "'length': there must be 500 rounds, got"),
        ("global", "'repeatable': the same seed must give the same blocks"),
        ("reuses", "'own arrays': blocks must not share memory with each other"),
    ],
)
def test_the_checker_says_what_is_wrong(wrong: str, sentence: str) -> None:
    check_world(Coins())
    with pytest.raises(AssertionError, match=sentence):
        check_world(Coins(wrong))


def test_the_checker_wants_frozen_data_that_prints_as_code() -> None:
    class Bare(World):
        n_arms = 2

        def blocks(self, rng: np.random.Generator, size: int) -> Any:
            return Coins().blocks(rng, size)

    @dataclass
    class Thawed(Bare):
        pass

    @dataclass(frozen=True)
    class Fine(Bare):
        pass

    @dataclass(frozen=True, repr=False)
    class Loud(Bare):
        def __repr__(self) -> str:
            return "<loud>"

    @dataclass(frozen=True, eq=False)
    class Lonely(Bare):
        pass

    @dataclass(frozen=True)
    class Nobody(Coins):
        n_arms: int = 0

    check_world(Fine())
    with pytest.raises(TypeError, match="world must be a frozen dataclass"):
        check_world(Bare())
    with pytest.raises(AssertionError, match="'is data': a world must be a frozen dataclass"):
        check_world(Thawed())
    with pytest.raises(AssertionError, match="'is data': a world must print as the code that makes it"):
        check_world(Loud())
    with pytest.raises(AssertionError, match=r"'is data': eval\(repr\(world\)\) must be the world"):
        check_world(Lonely())
    with pytest.raises(AssertionError, match="n_arms must be a whole number from 1, got 0"):
        check_world(Nobody())


@dataclass(frozen=True)
class Mirror(AdaptiveWorld):
    """A user's adaptive world, and what may be wrong with it."""

    wrong: str = ""
    n_arms: int = 3

    def start(self, rng: np.random.Generator) -> AdaptiveRun:
        return MirrorRun(self.wrong, rng)


class MirrorRun(AdaptiveRun):
    def __init__(self, wrong: str, rng: np.random.Generator) -> None:
        self.wrong, self.rng = wrong, rng

    def awake(self) -> Any:
        nobody = self.wrong == "nobody" and self.rng.random() < 0.2
        return np.zeros(3, bool) if nobody else np.ones(3, bool)

    def losses(self, probabilities: Any) -> Any:
        if self.wrong == "global":
            return np.random.random(3)  # noqa: NPY002
        return probabilities * (4.0 if self.wrong == "large" else 1.0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("nobody", "somebody must be awake in every round"),
        ("large", "losses must be between 0 and 1 where awake"),
        ("global", "the same seed and laws must give the same rounds"),
    ],
)
def test_the_checker_says_what_is_wrong_with_adaptive_worlds(wrong: str, sentence: str) -> None:
    check_world(Mirror())
    with pytest.raises(AssertionError, match=sentence):
        check_world(Mirror(wrong))


def test_importing_worlds_is_light() -> None:
    for path in Path(next(iter(wakeful.worlds.__path__))).glob("*.py"):
        lines = path.read_text().splitlines()
        assert not [line for line in lines if line.startswith(("import ", "from ")) and "scipy" in line], path


@dataclass(frozen=True)
class ClaimsTooMuch(Drifting):
    """Means that move, said to stay."""

    expected_by_set: ClassVar[bool] = True


@dataclass(frozen=True)
class KnowsNothing(Stochastic):
    """Expected losses that are said to be known."""

    def blocks(self, rng: np.random.Generator, size: int) -> Any:
        return (block._replace(expected=None) for block in super().blocks(rng, size))


@pytest.mark.parametrize(
    ("world", "words"), [(ClaimsTooMuch(), "the same for the same set"), (KnowsNothing(), "got None")]
)
def test_a_false_claim_about_expected_losses_is_found(world: World, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_world(world)
