"""Duels by utilities, categories, scores and matrices."""

import math
from pathlib import Path

import numpy as np
import pytest

from duel_draws import P3, assert_mean, drawn
from wakeful.worlds.duel_checks import check_duel_world
from wakeful.worlds.duels import (
    BradleyTerry,
    CategoryDuels,
    CyclicDuels,
    PlackettLuce,
    Preferences,
    UtilityDuels,
)


def test_utilities_are_the_papers() -> None:
    runs = [next(UtilityDuels(200).blocks(np.random.default_rng(seed), 1)).preferences[0] for seed in range(2)]
    assert not np.array_equal(*runs)
    rng = np.random.default_rng(0)
    u = rng.uniform(1, 50, 200)
    np.testing.assert_array_equal(runs[0], [[a / (a + b) for b in u] for a in u])
    first = [next(UtilityDuels(2).blocks(np.random.default_rng(s), 1)).preferences[0, 0, 1] for s in range(4000)]
    ratio = np.random.default_rng(9).uniform(1, 50, (10**6, 2))
    expected = ratio[:, 0] / ratio.sum(axis=1)
    assert_mean(first, 0.5, float(expected.std()))
    assert np.std(first) == pytest.approx(expected.std(), rel=0.05)


def test_pairs_of_utility_duels() -> None:
    assert (
        next(UtilityDuels(3).blocks(np.random.default_rng(0), 1)).pair_sets[0].tolist()
        == (~np.eye(3, dtype=bool)).tolist()
    )
    assert next(UtilityDuels(3, distinct=False).blocks(np.random.default_rng(0), 1)).pair_sets.all()


def test_categories_are_the_papers() -> None:
    K = 4
    vectors = [(1, 2, 3, 4), (4, 1, 2, 3), (3, 4, 1, 2), (2, 3, 4, 1)]  # as printed, for r = 1, ..., K
    blocks = drawn(CategoryDuels(K), 20_000)
    for block in blocks:
        np.testing.assert_array_equal(block.which, block.law)
        for r, u in enumerate(vectors):
            allowed = [[i != j and r not in {i, j} for j in range(K)] for i in range(K)]
            assert block.pair_sets[r].tolist() == allowed
            np.testing.assert_array_equal(block.preferences[r], [[a / (a + b) for b in u] for a in u])
    which = np.concatenate([block.which for block in blocks])
    for r in range(K):
        assert_mean(which == r, 1 / K, math.sqrt(3 / 16))


def test_scores_and_ratings() -> None:
    scores = [7.0, 0.5, 3.0]
    block = next(PlackettLuce(scores).blocks(np.random.default_rng(0), 1))
    np.testing.assert_array_equal(block.preferences[0], [[a / (a + b) for b in scores] for a in scores])
    rated = next(BradleyTerry([math.log(s) for s in scores]).blocks(np.random.default_rng(0), 1))
    np.testing.assert_allclose(rated.preferences, block.preferences, atol=1e-15)
    elo = next(BradleyTerry([2000, 1800, 1000], scale=400 / math.log(10)).blocks(np.random.default_rng(0), 1))
    assert elo.preferences[0, 0, 1] == pytest.approx(1 / (1 + 10 ** (-200 / 400)), abs=1e-15)
    assert elo.preferences[0, 0, 2] == pytest.approx(1 / (1 + 10 ** (-1000 / 400)), abs=1e-15)


@pytest.mark.parametrize("n_arms", [3, 4, 5, 6, 9])
def test_cycles_have_no_best_arm(n_arms: int) -> None:
    P = next(CyclicDuels(n_arms, 0.75).blocks(np.random.default_rng(0), 1)).preferences[0]
    for i in range(n_arms):
        ahead = {(i + step) % n_arms for step in range(1, (n_arms - 1) // 2 + 1)}
        behind = {(i - step) % n_arms for step in range(1, (n_arms - 1) // 2 + 1)}
        for j in range(n_arms):
            assert P[i, j] == (0.75 if j in ahead else 0.25 if j in behind else 0.5)
    assert ((P > 0.5).any(axis=0)).all()


def test_a_matrix_is_played_as_it_is() -> None:
    block = next(
        Preferences(P3, pairs=[[True, True, False], [True, False, True], [False, True, False]]).blocks(
            np.random.default_rng(0), 2
        )
    )
    assert block.preferences.tolist() == [[list(row) for row in P3]]
    assert block.pair_sets[0].astype(int).tolist() == [[1, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(("n_arms", "step"), [(8, 0.05), (2, 0.25), (20, 0.02)])
def test_a_matrix_written_with_two_decimals_loads(n_arms: int, step: float, tmp_path: Path) -> None:
    """As benchmarks of duels are handed around: rows of numbers with spaces between them."""
    steps = np.arange(n_arms)
    matrix = 0.5 + step * (steps[None, :] - steps[:, None])
    path = tmp_path / "preferences.txt"
    np.savetxt(path, matrix, fmt="%.2f")
    world = Preferences.from_file(path)
    assert world.n_arms == n_arms
    np.testing.assert_allclose(next(world.blocks(np.random.default_rng(0), 1)).preferences[0], matrix, atol=1e-12)
    check_duel_world(world)


@pytest.mark.parametrize(
    "text", ["0.5 0.75\n0.25 0.5\n", "\ufeff0.5,0.75\r\n0.25,0.5", "\n 0.5,\t.75 \n\n2.5e-1, 5e-1\n\n"]
)
def test_a_matrix_from_a_text_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "matrix.txt"
    path.write_text(text, encoding="utf-8", newline="")
    assert Preferences.from_file(path, pairs="all") == Preferences([[0.5, 0.75], [0.25, 0.5]], "all")


def test_a_matrix_of_wins_from_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "wins.csv"
    path.write_text("0,3,0\n1,0,0\n0,5,9\n")
    half = 0.5
    assert Preferences.from_file(path, counts=True) == Preferences(
        [[half, 0.75, half], [0.25, half, 0], [half, 1, half]]
    )


@pytest.mark.parametrize(
    ("text", "counts", "sentence"),
    [
        ("", False, r"preferences must be a \(K, K\) array of numbers, got \[\]"),
        ("0.5 0.6\n0.4\n", False, r"preferences must be a \(K, K\) array of numbers"),
        ("0.5 x\n0.4 0.5\n", False, r"line 1 of .*matrix.txt must be numbers, got '0.5 x'"),
        ("0.5 0.6\n0.6 0.5\n", False, r"P\(i, j\) \+ P\(j, i\) = 1, got '0.6 \+ 0.6 for \(0, 1\)'"),
        ("0 3\n1 0\n", False, "preferences must be between 0 and 1, got 3.0"),
        ("0 -3\n1 0\n", True, r"counts must be a \(K, K\) array of numbers of wins, from 0"),
        ("0 nan\n1 0\n", True, "counts must be"),
        ("0 3 1\n1 0 1\n", True, "counts must be"),
    ],
)
def test_broken_files_are_refused(text: str, counts: bool, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "matrix.txt"
    path.write_text(text)
    with pytest.raises((ValueError, TypeError), match=sentence):
        Preferences.from_file(path, counts=counts)
