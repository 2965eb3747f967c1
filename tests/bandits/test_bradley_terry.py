"""Strengths from duels: equal to the definition, finite whatever was played, and with intervals that hold the truth."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from reference import bradley_terry as reference
from wakeful.bandits.bradley_terry import (
    NO_TIES,
    SIDED,
    UNSIDED,
    PairResults,
    fit_strengths,
    from_matrix,
    main_component,
)
from wakeful.bandits.levels import z_score
from wakeful.bandits.ranking import Ranking, ranking


def listed(results: Sequence[reference.Result]) -> PairResults:
    """Return one entry for each duel."""
    outcomes = np.array([[o == name for name in ("first", "second", "tie")] for _, _, o, _ in results], np.float64)
    kinds = np.array([SIDED if on_left else UNSIDED for *_, on_left in results])
    first, second = (np.array([result[n] for result in results]) for n in (0, 1))
    return PairResults(first, second, outcomes[:, 0], outcomes[:, 1], outcomes[:, 2], kinds)


def some_duels(seed: int, n_arms: int, n: int, outcomes: Sequence[str]) -> list[reference.Result]:
    rng = np.random.default_rng(seed)
    duels = []
    for _ in range(n):
        first, second = rng.choice(n_arms, 2, replace=False).tolist()
        duels.append((first, second, outcomes[int(rng.integers(len(outcomes)))], bool(rng.random() < 0.7)))
    return duels


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_strengths_and_their_covariance_are_those_of_the_definition(seed: int, ties: bool) -> None:
    results = some_duels(seed, 5, 60, ("first", "second", "first", *(("tie",) if ties else ())))
    fitted = fit_strengths(listed(results), 5)
    assert (fitted.has_side, fitted.has_ties) == (True, ties)
    expected = reference.most_likely(5, results, side=True, ties=ties)
    np.testing.assert_allclose(fitted.values, expected, atol=2e-5)
    covariance = np.linalg.inv(reference.curvature(fitted.values, results, side=True, ties=ties))
    places = slice(None) if ties else slice(6)
    np.testing.assert_allclose(fitted.covariance[places, places], covariance[places, places], atol=2e-5)


def test_without_sides_there_is_no_side_effect() -> None:
    results = [(a, b, o, False) for a, b, o, _ in some_duels(3, 4, 40, ("first", "second", "tie"))]
    fitted = fit_strengths(listed(results), 4)
    np.testing.assert_allclose(fitted.values, reference.most_likely(4, results, side=False, ties=True), atol=2e-5)
    assert not fitted.has_side
    assert fitted.covariance[4, 4] == 0.0


def test_a_list_that_names_the_winner_first_says_nothing_of_sides() -> None:
    duels = some_duels(4, 4, 60, ("first", "second"))
    winners_first = [(b, a, "first", True) if o == "second" else (a, b, o, True) for a, b, o, _ in duels]
    plain = [(a, b, o, False) for a, b, o, _ in duels]
    one, other = (fit_strengths(listed(results), 4) for results in (winners_first, plain))
    assert not one.has_side
    np.testing.assert_allclose(one.values, other.values, atol=1e-9)


def test_sums_of_results_are_results() -> None:
    results = listed(some_duels(5, 4, 80, ("first", "second", "tie")))
    halves = PairResults(*(np.concatenate([field, field]) for field in results))
    doubled = results._replace(**{name: getattr(results, name) * 2.0 for name in ("first_wins", "second_wins", "ties")})
    np.testing.assert_allclose(fit_strengths(halves, 4).values, fit_strengths(doubled, 4).values, atol=1e-9)


def test_battles_do_not_say_that_ties_are_rare() -> None:
    duels = some_duels(6, 3, 60, ("first", "second", "tie"))
    results = listed(duels)
    battles = from_matrix(np.array([[0.0, 50.0, 50.0], [50.0, 0.0, 50.0], [50.0, 50.0, 0.0]]))
    both = PairResults(*(np.concatenate(fields) for fields in zip(results, battles, strict=True)))
    assert (battles.kind == NO_TIES).all()
    alone, together = (ranking(range(3), r).tie_rate for r in (results, both))
    assert alone is not None
    assert together is not None
    assert together.value == pytest.approx(alone.value, abs=0.02)


@pytest.mark.parametrize(
    "wins",
    [
        [[0.0, 9.0, 9.0], [0.0, 0.0, 5.0], [0.0, 5.0, 0.0]],  # unbeaten
        [[0.0, 1e9, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],  # and never lost to anybody in a billion duels
        [[0.0] * 3] * 3,
    ],
)
def test_everything_is_finite(wins: list[list[float]]) -> None:
    for rank in ranking("abc", np.array(wins)):
        assert np.isfinite(rank[2:5]).all()
        assert rank.low < rank.high
        assert 1 <= rank.best_rank <= rank.rank <= rank.worst_rank <= 3


def test_only_ties_and_only_the_left_side() -> None:
    ties = ranking("abc", listed([(0, 1, "tie", True), (1, 2, "tie", True)] * 20))
    assert [rank.strength for rank in ties] == pytest.approx([0.0] * 3, abs=1e-9)
    assert ties.tie_rate is not None
    assert 0.7 < ties.tie_rate.low < ties.tie_rate.value < 1.0
    lefts = ranking("ab", listed([(0, 1, "first", True), (1, 0, "first", True)] * 500 + [(0, 1, "second", True)]))
    assert lefts.side_effect is not None
    assert 3.0 < lefts.side_effect.low < lefts.side_effect.value < 9.0


def test_an_arm_that_has_not_played_moves_nobody() -> None:
    wins = np.random.default_rng(7).integers(0, 30, (6, 6)).astype(float)
    before = {rank.arm: rank for rank in ranking(range(6), wins)}
    after = {rank.arm: rank for rank in ranking(range(9), np.pad(wins, (0, 3)))}
    for arm, rank in before.items():
        np.testing.assert_allclose(after[arm][2:5], rank[2:5], atol=1e-9)
    assert after[6].strength == pytest.approx(0.0, abs=1e-9)
    assert after[6].high - after[6].low > 2 * 1.96 * 2.0  # the prior, and the error of the mean of the others
    assert (after[6].best_rank, after[6].worst_rank) == (1, 9)


def test_parts_that_never_met_are_compared_by_the_prior_alone() -> None:
    wins = np.zeros((5, 5))
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2], wins[3, 4] = 200, 100, 30, 10, 10
    assert main_component(from_matrix(wins), 5).tolist() == [True, True, False, False, False]
    found = ranking("abcde", wins)
    chance = found.probability("a", "c")
    assert chance.low < 0.1
    assert chance.high > 0.9
    assert found.probability("a", "b").high - found.probability("a", "b").low < 0.12
    assert main_component(from_matrix(np.zeros((3, 3))), 3).tolist() == [False] * 3
    path = np.eye(40, k=1) + np.eye(40, k=-1)
    assert main_component(from_matrix(path[::-1, ::-1]), 40).all()


def drawn(rng: np.random.Generator, strengths: NDArray[np.float64], side: float, v: float, n: int) -> PairResults:
    """Return the results of n duels for each ordered pair, the first on the left, drawn by Davidson's model."""
    i, j = np.array(list(itertools.permutations(range(strengths.size), 2))).T
    gap = strengths[i] - strengths[j] + side
    weights = np.array([np.exp(gap / 2), np.exp(-gap / 2), np.full(i.size, v)])
    counts = rng.multinomial(n, (weights / weights.sum(axis=0)).T).astype(np.float64)
    return PairResults(i, j, counts[:, 0], counts[:, 1], counts[:, 2], np.full(i.size, SIDED))


def study(side: float, v: float, data_sets: int, seed: int) -> tuple[float, float, float, float]:
    """Return how often intervals held strengths, ranks and chances, and strengths if ties are two half-wins."""
    rng = np.random.default_rng(seed)
    held: list[tuple[float, ...]] = []
    for _ in range(data_sets):
        truth = 0.7 * rng.normal(size=6)
        truth -= truth.mean()
        results = drawn(rng, truth, side, v, 15)
        halves = results.ties / 2
        shared = results._replace(
            first_wins=results.first_wins + halves, second_wins=results.second_wins + halves, ties=0 * halves
        )
        found = ranking(range(6), results)
        places = np.argsort(np.argsort(-truth)) + 1
        odds = np.exp([(truth[0] - truth[1]) / 2, (truth[1] - truth[0]) / 2])
        chance = found.probability(0, 1)
        ranks = np.mean([r.best_rank <= places[r.arm] <= r.worst_rank for r in found])
        by_chance = chance.low <= odds[0] / (odds.sum() + v) <= chance.high
        held.append((share_held(found, truth), float(ranks), by_chance, share_held(ranking(range(6), shared), truth)))
    a, b, c, d = np.mean(held, axis=0).tolist()
    return a, b, c, d


def share_held(found: Ranking, truth: NDArray[np.float64]) -> float:
    return float(np.mean([rank.low <= truth[rank.arm] <= rank.high for rank in found]))


def test_intervals_hold_the_truth_with_ties_where_half_wins_do_not() -> None:
    strengths, ranks, chances, half_wins = study(side=0.4, v=1.4, data_sets=250, seed=8)  # 40 % ties
    # standard errors: 1500 strengths (correlated within a data set), 0.008 at most; 250 chances, 0.014
    assert 0.926 <= strengths <= 0.974
    assert ranks >= 0.95
    assert 0.908 <= chances <= 0.992
    assert half_wins < 0.75


def test_intervals_have_the_level_that_was_asked_for() -> None:
    assert z_score(0.95) == pytest.approx(1.959963984540054, abs=1e-12)
    rng = np.random.default_rng(9)
    truth = np.array([0.9, 0.2, -0.3, -0.8])
    for level in (0.5, 0.8):
        held = [
            np.mean(
                [
                    r.low <= truth[r.arm] <= r.high
                    for r in ranking(range(4), drawn(rng, truth, 0.3, 0.0, 25), level=level)
                ]
            )
            for _ in range(150)
        ]
        assert abs(np.mean(held) - level) < 4 * np.std(held) / np.sqrt(150)
