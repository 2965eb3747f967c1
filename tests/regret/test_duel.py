"""Regrets of duels against their definitions in plain Python, the reductions of the paper's Remark 3, the bounds."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from wakeful.duels.pairs import all_pairs, distinct_pairs, group_pairs
from wakeful.regret.duel import (
    DuelRegret,
    add_regrets,
    condorcet,
    dueling,
    sleeping_dueling,
    theorem_two,
    theorem_two_sharpened,
)
from wakeful.worlds.duel_graphs import PathDuels
from wakeful.worlds.duels import CyclicDuels

NAN = float("nan")
EITHER = (ValueError, TypeError)
THREE = [[0.5, 0.75, 0.875], [0.25, 0.5, 0.625], [0.125, 0.375, 0.5]]


# The definitions, literally


def wins(k: int, others: list[int], P: Any) -> Any:
    """Pr(k wins | others and k): a random pair of the M duels, so each of k's M - 1 pairs has chance 2 / M(M-1)."""
    M = len(others) + 1
    return sum(2 / (M * (M - 1)) * P[k][j] for j in others)


def literal_round(arms: list[int], pairs: Any, P: Any) -> float:
    """1/M sum_m [max over k allowed in place of m of Pr(k wins | ...) - Pr(m wins | ...)]."""
    total = 0.0
    for m, arm in enumerate(arms):
        others = arms[:m] + arms[m + 1 :]
        fit = [k for k in range(len(P)) if all(pairs[k][c] for c in others)]
        total += max(wins(k, others, P) for k in fit) - wins(arm, others, P)
    return total / len(arms)


def papers_round(duel: tuple[int, int], pairs: Any, P: Any) -> Any:
    """Equation (regdb): 1/2 (max_{j* in A(i)} P(j*, i) + max_{i* in A(j)} P(i*, j) - 1)."""
    (i, j), K = duel, len(P)
    return (max(P[k][i] for k in range(K) if pairs[i][k]) + max(P[k][j] for k in range(K) if pairs[j][k]) - 1) / 2


def random_preferences(rng: np.random.Generator, n_arms: int) -> Any:
    above = np.triu(rng.integers(65, size=(n_arms, n_arms)) / 64, 1)
    return above + np.tril(1 - above.T, -1) + np.eye(n_arms) / 2


def ordered_preferences(rng: np.random.Generator, n_arms: int) -> Any:
    u = rng.uniform(1, 50, n_arms)
    u[-1] = u[0]  # two arms that are even
    return u[:, None] / (u[:, None] + u)


def random_pairs(rng: np.random.Generator, n_arms: int) -> Any:
    mask = np.triu(rng.random((n_arms, n_arms)) < rng.random())
    mask[tuple(rng.integers(n_arms, size=2))] = True
    return mask | mask.T


def histories(seed: int, rounds: int = 20) -> tuple[Any, Any, Any]:
    """Return pairs played, among masks and under preferences that both change from round to round."""
    rng = np.random.default_rng(seed)
    n_arms = int(rng.integers(1, 7))
    pairs = np.array([random_pairs(rng, n_arms) for _ in range(rounds)])
    choices = np.array([rng.choice(np.argwhere(mask)) for mask in pairs])
    return choices, pairs, np.array([random_preferences(rng, n_arms) for _ in range(rounds)])


@settings(deadline=None)
@given(some.integers(0, 10**6))
def test_the_regret_of_duels_is_the_papers_equation(seed: int) -> None:
    choices, pairs, preferences = histories(seed)
    found = dueling(choices, pairs, preferences)
    rounds = list(zip(choices.tolist(), pairs.tolist(), preferences.tolist(), strict=True))
    np.testing.assert_allclose(found.per_round, [papers_round(arms, mask, P) for arms, mask, P in rounds], atol=1e-12)
    np.testing.assert_allclose(found.per_round, [literal_round(arms, mask, P) for arms, mask, P in rounds], atol=1e-12)
    np.testing.assert_array_equal(found.cumulative, np.cumsum(found.per_round))
    assert found.value == found.cumulative[-1]
    assert (found.per_round >= 0.0).all()


@settings(deadline=None)
@given(some.integers(0, 10**6), some.integers(3, 5))
def test_the_regret_of_sets_is_its_definition(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    n_arms = int(rng.integers(size, 8))
    pairs = [distinct_pairs(n_arms), group_pairs([0, 0, *range(1, n_arms - 1)]), all_pairs(n_arms)][seed % 3]
    sets = [S for S in combinations(range(n_arms), size) if all(pairs[a, b] for a, b in combinations(S, 2))]
    if not sets:
        return
    choices = np.array([rng.permutation(sets[rng.integers(len(sets))]) for _ in range(10)])
    P = random_preferences(rng, n_arms)
    expected = [literal_round(arms, pairs, P) for arms in choices.tolist()]
    np.testing.assert_allclose(dueling(choices, pairs, P).per_round, expected, atol=1e-12)


@settings(deadline=None)
@given(some.integers(0, 10**6))
def test_one_matrix_for_all_rounds_is_the_same_one_in_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs, P = random_pairs(rng, 5), random_preferences(rng, 5)
    choices = rng.choice(np.argwhere(pairs), 8)
    one = dueling(choices, pairs, P).per_round
    np.testing.assert_array_equal(one, dueling(choices, np.tile(pairs, (8, 1, 1)), P).per_round)
    np.testing.assert_array_equal(one, dueling(choices, pairs, np.tile(P, (8, 1, 1))).per_round)
    np.testing.assert_array_equal(one, dueling(choices[:, ::-1], pairs, P).per_round)


def test_blocks_have_the_same_regret_as_their_rounds() -> None:
    rng = np.random.default_rng(0)
    pair_sets = np.array([random_pairs(rng, 4) for _ in range(3)])
    laws = np.array([random_preferences(rng, 4) for _ in range(2)])
    which, law = rng.integers(3, size=50), rng.integers(2, size=50)
    choices = np.array([rng.choice(np.argwhere(pair_sets[s])) for s in which])
    out = np.full(50, NAN)
    add_regrets(pair_sets, which, laws, law, choices, out)
    np.testing.assert_array_equal(out, dueling(choices, pair_sets[which], laws[law]).per_round)


# Remark 3


@settings(deadline=None)
@given(some.integers(0, 10**6), some.integers(1, 7))
def test_with_all_pairs_it_is_the_condorcet_regret(seed: int, n_arms: int) -> None:
    rng = np.random.default_rng(seed)
    P = ordered_preferences(rng, n_arms)
    choices = rng.integers(n_arms, size=(30, 2))
    np.testing.assert_allclose(
        dueling(choices, all_pairs(n_arms), P).cumulative, condorcet(choices, P).cumulative, atol=1e-12
    )


@settings(deadline=None)
@given(some.integers(0, 10**6), some.integers(1, 7))
def test_with_all_pairs_of_awake_arms_it_is_the_sleeping_duel_regret(seed: int, n_arms: int) -> None:
    rng = np.random.default_rng(seed)
    P = np.array([ordered_preferences(rng, n_arms) for _ in range(30)])
    awake = rng.random((30, n_arms)) < 0.5
    awake[np.arange(30), rng.integers(n_arms, size=30)] = True
    choices = np.array([rng.choice(np.flatnonzero(row), 2) for row in awake])
    pairs = awake[:, :, None] & awake[:, None]
    np.testing.assert_allclose(
        dueling(choices, pairs, P).cumulative, sleeping_dueling(choices, awake, P).cumulative, atol=1e-12
    )


def test_a_winner_without_a_total_order_is_not_enough_for_the_reduction() -> None:
    P = [[0.5, 0.6, 0.6, 0.6], [0.4, 0.5, 0.9, 0.1], [0.4, 0.1, 0.5, 0.9], [0.4, 0.9, 0.1, 0.5]]
    assert condorcet([[1, 1]], P).value == pytest.approx(0.1)
    assert dueling([[1, 1]], all_pairs(4), P).value == pytest.approx(0.4)


def test_the_best_awake_arm_is_found_by_hand() -> None:
    found = sleeping_dueling(
        [[0, 0], [1, 2], [2, 2]], [[True, True, True], [False, True, True], [False] * 2 + [True]], THREE
    )
    assert found.per_round.tolist() == [0.0, 0.0625, 0.0]
    assert condorcet([[1, 2]], THREE).value == 0.3125


def test_of_arms_that_are_even_the_one_first_in_the_order_is_best() -> None:
    P = [[0.5, 0.5, 0.6], [0.5, 0.5, 0.9], [0.4, 0.1, 0.5]]
    assert condorcet([[2, 2]], P).value == pytest.approx(dueling([[2, 2]], all_pairs(3), P).value) == pytest.approx(0.4)


# What must come out


def test_on_the_path_the_pair_that_sparring_settles_on_costs_a_fifth_a_round() -> None:
    block = next(PathDuels().blocks(np.random.default_rng(0), 1))
    pairs, P = block.pair_sets[0], block.preferences[0]
    assert dueling([[2, 3]], pairs, P).value == pytest.approx(0.5 * (0.1 / 0.25 + 10 / 10.1 - 1))
    assert dueling([[0, 1], [1, 0]], pairs, P).value == 0.0


def test_stable_pairs_have_exactly_no_regret() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        u = rng.uniform(1, 50, 6)
        mask = random_pairs(rng, 6)
        best = max(np.flatnonzero(mask.any(axis=1)), key=lambda k: u[k])
        second = max(np.flatnonzero(mask[best]), key=lambda k: u[k])
        assert dueling([[best, second]], mask, u[:, None] / (u[:, None] + u)).value == 0.0


@pytest.mark.parametrize("n_arms", [3, 4, 5, 8])
def test_every_pair_of_a_cycle_costs_the_same(n_arms: int) -> None:
    block = next(CyclicDuels(n_arms, win=0.8).blocks(np.random.default_rng(0), 1))
    choices = np.argwhere(block.pair_sets[0])
    np.testing.assert_allclose(dueling(choices, block.pair_sets[0], block.preferences[0]).per_round, 0.3, atol=1e-12)
    if n_arms % 2:
        with pytest.raises(ValueError, match="one awake arm beats all others, got 'none in round 0'"):
            condorcet(choices, block.preferences[0])


def test_no_rounds_have_no_regret() -> None:
    nothing = np.empty((0, 2), np.int64)
    for found in (dueling(nothing, np.ones((0, 3, 3), np.bool_), THREE), condorcet(nothing, THREE)):
        assert isinstance(found, DuelRegret)
        assert found.value == 0.0
        assert found.per_round.shape == (0,)


def test_bounds() -> None:
    T, K = 50_000, 4
    assert theorem_two(T, K) == pytest.approx(2 * K**2 * math.sqrt(2 * T * K * math.log(K)))
    assert theorem_two_sharpened(T, K) == pytest.approx(K * (K - 1) / 2 * 2 * math.sqrt(T * math.log(K * (K - 1))))
    rounds = np.array([1, 10, 1000])
    for n_arms in range(2, 40):
        assert (theorem_two_sharpened(rounds, n_arms) < theorem_two(rounds, n_arms)).all()


# Refusals

PAIR = [[0, 1]]
ALL = [[True] * 3] * 3
REFUSED: list[tuple[Any, str]] = [
    (lambda: dueling([0, 1], ALL, THREE), r"choices must be a \(T, M\) array of indices of arms, M at least 2, got"),
    (lambda: dueling([[0], [1]], ALL, THREE), "M at least 2"),
    (lambda: dueling([[0.0, 1.0]], ALL, THREE), "choices must be a"),
    (lambda: dueling([[0, 1], [2]], ALL, THREE), "choices must be a"),
    (lambda: dueling([[0, 3]], ALL, THREE), "choices must be indices from 0 to 2, got"),
    (lambda: dueling([[0, -1]], ALL, THREE), "choices must be indices from 0 to 2, got"),
    (lambda: dueling([[0, 1], [2, 2]], distinct_pairs(3), THREE), r"all meet each other, got '\(2, 2\) in round 1'"),
    (lambda: dueling([[0, 1, 1]], distinct_pairs(3), THREE), r"all meet each other, got '\(0, 1, 1\) in round 0'"),
    (lambda: dueling(PAIR, [[True, True], [True]], THREE), "pairs must be a"),
    (lambda: dueling(PAIR, [[1, 1, 1]] * 3, THREE), "pairs must be a"),
    (lambda: dueling(PAIR, [[True] * 2] * 2, THREE), r"pairs must be a \(3, 3\) array of booleans, got"),
    (lambda: dueling(PAIR, [[False] * 3] * 3, THREE), "pairs must be at least one, got"),
    (lambda: dueling(PAIR, np.triu(np.ones((3, 3), bool)), THREE), r"pairs must be symmetric, got '\(0, 1\) without"),
    (lambda: dueling(PAIR, [ALL, ALL], THREE), "pairs must be one matrix for all rounds, or 1, got '2 matrices'"),
    (lambda: dueling(PAIR, ALL, [THREE, THREE]), "preferences must be one matrix for all rounds, or 1, got '2 matri"),
    (lambda: dueling(PAIR, ALL, [[0.5, 0.6], [0.4]]), "preferences must be a"),
    (lambda: dueling(PAIR, ALL, [0.5, 0.6]), r"preferences must be a \(K, K\) array of numbers"),
    (lambda: dueling(PAIR, ALL, [[NAN] * 3] * 3), "preferences must be between 0 and 1, got nan"),
    (lambda: condorcet(PAIR, [[0.5, 1.5], [-0.5, 0.5]]), "preferences must be between 0 and 1, got 1.5"),
    (lambda: condorcet(PAIR, [[0.5, 0.6], [0.5, 0.5]]), r"P\(j, i\) = 1, got '0.6 \+ 0.5 for \(0, 1\)'"),
    (lambda: condorcet(PAIR, [[0.0, 0.6], [0.4, 0.5]]), r"P\(j, i\) = 1, got '0.0 \+ 0.0 for \(0, 0\)'"),
    (lambda: sleeping_dueling(PAIR, [True, False, True], THREE), "choices must be arms that were awake, got"),
    (lambda: sleeping_dueling(PAIR, [True, True], THREE), r"awake must be of shape \(3,\) or \(1, 3\), got \(2,\)"),
    (lambda: sleeping_dueling(PAIR, [1, 1, 1], THREE), r"awake must be a \(3,\) or \(T, 3\) array of booleans"),
    (lambda: theorem_two(-1, 4), "rounds must be numbers of rounds, got -1"),
    (lambda: theorem_two_sharpened(NAN, 4), "rounds must be numbers of rounds, got nan"),
    (lambda: theorem_two(100, 1), "n_arms must be a number of arms, at least 2, got 1"),
]


@pytest.mark.parametrize(("ask", "sentence"), REFUSED)
def test_what_is_no_history_is_refused(ask: Any, sentence: str) -> None:
    with pytest.raises(EITHER, match=sentence):
        ask()
