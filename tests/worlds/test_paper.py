"""The paper's worlds are the paper's."""

from collections import Counter

import numpy as np
import pytest

from reference import worlds as reference
from wakeful.worlds import (
    Dependent,
    RandomDependent,
    RandomGame,
    RockPaperScissors,
    Stochastic,
)
from wakeful.worlds.draws import awake_sets
from wakeful.worlds.games import random_game
from world_draws import assert_frequencies, assert_means, drawn, sets_of


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
