"""AutoPairs finds out which world it is in, and is near the best policy of each."""

from typing import Any

import numpy as np
import pytest

import wakeful as wk
from wakeful.duels.kernels import empty_pick
from wakeful.duels.policy import step
from wakeful.duels.strengths import (
    NARROW,
    PRIOR_DEVIATION,
    find_variance,
    make_changes,
    nothing_later,
    observe,
    sigmoid,
    weaker,
)
from wakeful.worlds import CategoryDuels, CyclicDuels, DuelBlock, DuelWorld, PathDuels, Preferences, UtilityDuels

ROUNDS, LONG = 10_000, 100_000
NO_ORDER = [  # the first of all beats everybody; StablePair has linear regret in some runs
    [0.5, 0.53, 0.85, 0.56, 0.61],
    [0.47, 0.5, 0.16, 0.64, 0.98],
    [0.15, 0.84, 0.5, 0.06, 0.46],
    [0.44, 0.36, 0.94, 0.5, 0.52],
    [0.39, 0.02, 0.54, 0.48, 0.5],
]
WORLDS: list[tuple[DuelWorld, str]] = [
    (UtilityDuels(6), "one strength per arm"),
    (PathDuels(), "one strength per arm"),
    (CyclicDuels(3), "any preference matrix"),
    (CategoryDuels(4), "strengths that depend on what is awake"),
]


NEAR_TIES = [  # one arm beats all others, one of them hardly ever; a duel of these two costs much
    [[0.5, 0.495, 0.34], [0.505, 0.5, 0.84], [0.66, 0.16, 0.5]],
    [[0.5, 0.92, 0.79, 0.51], [0.08, 0.5, 0.05, 0.3], [0.21, 0.95, 0.5, 0.93], [0.49, 0.7, 0.07, 0.5]],
    [[0.5, 0.81, 0.23, 0.0], [0.19, 0.5, 0.94, 0.49], [0.77, 0.06, 0.5, 0.35], [1.0, 0.51, 0.65, 0.5]],
    [[0.5, 0.52, 0.58, 0.505], [0.48, 0.5, 0.88, 0.93], [0.42, 0.12, 0.5, 0.95], [0.495, 0.07, 0.05, 0.5]],
]


def choices(world: DuelWorld, block: DuelBlock, seed: int) -> tuple[Any, dict[str, float]]:
    """Return the arms of each round and what is believed after them."""
    policy, K, rounds = wk.AutoPairs(), world.n_arms, len(block.which)
    state, arms = policy.start(K), np.zeros((rounds, 2), np.int64)
    fields, pick = policy.fields(state, K), empty_pick(2, K)
    step(policy, "play", state, K)(*block, np.random.default_rng(seed + 100), arms, pick, fields)
    return arms, policy.beliefs(state)


def played(world: DuelWorld, seed: int) -> tuple[float, dict[str, float]]:
    """Return the regret of `ROUNDS` rounds and what is believed after them."""
    block = next(world.blocks(np.random.default_rng(seed), ROUNDS))
    arms, beliefs = choices(world, block, seed)
    pairs, preferences = block.pair_sets[block.which], block.preferences[block.law]
    return float(wk.regret.dueling(arms, pairs, preferences).value), beliefs


@pytest.mark.parametrize("matrix", NEAR_TIES, ids=["three", "four", "another four", "unrelated"])
def test_a_rival_that_cannot_be_told_apart_costs_little(matrix: list[list[float]]) -> None:
    world, exposures = Preferences(matrix, "all"), np.max(matrix, axis=0) - 0.5  # a pair costs the mean of the two
    for seed in range(4):
        arms = choices(world, next(world.blocks(np.random.default_rng(seed), LONG)), seed)[0]
        assert exposures[arms[LONG // 2 :]].mean() < 0.005


def probability_of(results: list[tuple[int, int]], duel: tuple[int, int]) -> float:
    """Return the probability that two of three arms meet next, all pairs allowed, after wins of the first of each."""
    arena = wk.DuelingBandit(arms=3, seed=1)
    for winner, loser in results:
        arena.record(winner, loser, winner=winner)
    first = arena.propose(None, [0.5] * 4).laws[0]
    total = 0.0
    for i, j in (duel, duel[::-1]):
        after = arena.propose(None, [0.5, first[:i].sum() + first[i] / 2.0, 0.5, 0.5])
        assert after.arms[0] == i
        total += float(first[i] * after.laws[1, j])
    return total


@pytest.mark.parametrize("n", [4, 8, 12])
def test_an_arm_that_was_only_unlucky_is_tried_again(n: int) -> None:
    found = probability_of([(0, 1), (0, 2)] * n, (0, 1))
    assert found > 0.5**n / 4  # an equal of arm 0 loses so often in a row with probability 0.5^n


def test_a_duel_that_can_hardly_gain_anything_is_rare_where_it_is_dear() -> None:
    tie = [(0, 1), (1, 0)] * 200
    cheap = probability_of([*tie, *[(0, 2), (1, 2)] * 9], (0, 1))
    dear = probability_of([*tie, *[(0, 2), (2, 1)] * 9], (0, 1))
    assert dear < cheap / 5


def test_a_doubtful_first_arm_meets_the_one_that_teaches_most_for_its_cost() -> None:
    arena = wk.DuelingBandit(arms=3, seed=1)
    for winner, loser, n in ((0, 1, 104), (1, 0, 96), (2, 1, 30), (1, 2, 20), (0, 2, 30), (2, 0, 2)):
        for _ in range(n):
            arena.record(winner, loser, winner=winner)
    first = arena.propose(None, [0.5] * 4).laws[0]
    after = arena.propose(None, [0.5, first[0] + first[1] / 2.0, 0.5, 0.5])  # arm 1 is likely to lose to 0 and to 2
    assert after.arms[0] == 1
    assert after.laws[1, 2] > 1.5 * after.laws[1, 0]  # a duel with 2 costs more, but 0 is ahead of 1 by next to nothing


@pytest.mark.parametrize(("world", "expected"), WORLDS, ids=lambda value: repr(value)[:20])
def test_the_right_hypothesis_is_believed(world: DuelWorld, expected: str) -> None:
    for seed in range(3):
        beliefs = played(world, seed)[1]
        assert max(beliefs, key=lambda name: beliefs[name]) == expected
        assert sum(beliefs.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("world", "limit"),
    [(PathDuels(), 20.0), (Preferences(NO_ORDER, "all"), 700.0), (CategoryDuels(4), 150.0)],
    ids=["path", "no order", "categories"],
)
def test_no_run_is_stuck_where_another_policy_has_linear_regret(world: DuelWorld, limit: float) -> None:
    regrets = [played(world, seed)[0] for seed in range(6)]
    assert max(regrets) < limit


def test_a_duel_moves_strengths_to_the_mode_of_the_posterior() -> None:
    mean, covariance, later = np.array([0.3, -0.2, 0.0]), np.eye(3) * PRIOR_DEVIATION**2, nothing_later(3)
    observe(mean, covariance, 0, 1, find_variance(covariance, later, 0, 1), 0.75, 4.0, later)
    make_changes(covariance, later)
    slope = 4.0 * (0.75 - sigmoid(mean[0] - mean[1]))
    assert (mean[0] - 0.3) / PRIOR_DEVIATION**2 == pytest.approx(slope)
    assert (mean[1] + 0.2) / PRIOR_DEVIATION**2 == pytest.approx(-slope)
    curvature = 4.0 * sigmoid(mean[0] - mean[1]) * sigmoid(mean[1] - mean[0])
    difference = np.array([1.0, -1.0, 0.0])
    exact = np.linalg.inv(np.eye(3) / PRIOR_DEVIATION**2 + curvature * np.outer(difference, difference))
    assert np.allclose(np.tril(covariance), np.tril(exact))


def test_evidence_is_that_of_direct_duels() -> None:
    n, p = 40.0, 0.8
    direct = n * (p * np.log(2 * p) + (1 - p) * np.log(2 * (1 - p)))
    assert weaker(np.log(p / (1 - p)), 1.0 / (n * p * (1 - p))) == pytest.approx(direct)
    assert weaker(0.999e-3, 0.01) == pytest.approx(weaker(1.001e-3, 0.01), rel=0.01)
    assert weaker(-1.0, 1.0) == 0.0
    assert np.isfinite(weaker(1e6, NARROW))
