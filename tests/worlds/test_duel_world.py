"""Worlds of duels: each has the distribution it states, and the checker finds what is broken.

Statistical claims have fixed seeds; a mean may be off by `SIGMAS` standard errors."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from duel_draws import P3, assert_mean, drawn
from wakeful.duels.pairs import all_pairs, checked_pairs, checked_size, distinct_pairs, group_pairs, winner
from wakeful.policies.spec import subclasses
from wakeful.worlds.duel_checks import check_duel_world
from wakeful.worlds.duel_graphs import GraphDuels, PathDuels, SleepingDuels, StubbornPairs
from wakeful.worlds.duel_world import AdaptiveDuelWorld, DuelWorld
from wakeful.worlds.duels import (
    BradleyTerry,
    CategoryDuels,
    CyclicDuels,
    PlackettLuce,
    Preferences,
    UtilityDuels,
    by_utility,
)

WORLDS: tuple[DuelWorld | AdaptiveDuelWorld, ...] = (
    UtilityDuels(),
    UtilityDuels(n_arms=1, distinct=False),
    UtilityDuels(n_arms=2),
    UtilityDuels(n_arms=5, size=5),
    CategoryDuels(),
    CategoryDuels(n_arms=3),
    PlackettLuce([3, 1]),
    PlackettLuce((1e-300, 1e300, 5e-324), distinct=False),
    BradleyTerry([1600, 1500, -1e100], scale=400 / math.log(10), size=3),
    BradleyTerry([0.5], distinct=False),
    Preferences(P3),
    Preferences(P3, pairs="all"),
    Preferences(P3, pairs=group_pairs("aab")),
    Preferences(np.full((4, 4), 0.5), pairs=group_pairs("abbc"), size=3),
    CyclicDuels(),
    CyclicDuels(n_arms=6, win=1.0),
    SleepingDuels(),
    SleepingDuels(n_arms=1, rate=1e-9),
    GraphDuels(),
    GraphDuels(n_arms=2, density=0.0, redrawn=False),
    PathDuels(),
    StubbornPairs(),
    StubbornPairs(n_arms=3, withdrawn=0.0),
)


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_world_passes(world: DuelWorld | AdaptiveDuelWorld) -> None:
    check_duel_world(world)


def test_every_world_is_on_the_list() -> None:
    bases = (DuelWorld, AdaptiveDuelWorld)
    ours = {cls for base in bases for cls in subclasses(base) if cls.__module__.startswith("wakeful.worlds.")}
    assert ours == {type(world) for world in WORLDS}


def test_coins_are_uniform_and_independent_of_the_pair_sets() -> None:
    for world in (UtilityDuels(), CategoryDuels(), GraphDuels(), SleepingDuels(3)):
        blocks = drawn(world, 40_000)
        coins = np.concatenate([block.coins for block in blocks])
        assert_mean(coins, 0.5, math.sqrt(1 / 12))
        assert_mean(coins**2, 1 / 3, math.sqrt(1 / 5 - 1 / 9))
        first = np.concatenate([block.which == 0 for block in blocks])
        assert_mean(coins[first], 0.5, math.sqrt(1 / 12))


@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_winners_come_as_often_as_a_random_pair_of_the_set_says(size: int) -> None:
    rng = np.random.default_rng(size)
    P = by_utility(rng.uniform(1, 50, 8))
    arms = rng.permutation(8)[:size]
    found = np.array([winner(P, arms, coin) for coin in rng.random(40_000)])
    duels = list(combinations(range(size), 2))
    for m in range(size):
        chance = sum(P[arms[m], arms[n]] for n in range(size) if n != m) / len(duels)
        assert_mean(found == m, chance, math.sqrt(chance * (1 - chance)))


@settings(deadline=None)
@given(some.integers(2, 9), some.floats(0, 1, exclude_max=True))
def test_the_winner_is_that_of_the_stated_pair(size: int, coin: float) -> None:
    P = by_utility(np.arange(1.0, size + 1.0))
    duels = list(combinations(range(size), 2))
    x = coin * len(duels)
    a, b = duels[math.floor(x)]
    assert winner(P, np.arange(size), coin) == (a if x - math.floor(x) < P[a, b] else b)


@pytest.mark.parametrize("size", range(2, 60))
def test_the_largest_coin_still_has_a_winner(size: int) -> None:
    assert winner(np.full((size, size), 0.5), np.arange(size), 1 - 2**-53) == size - 1


def test_masks_of_pairs() -> None:
    assert all_pairs(2).tolist() == [[True, True], [True, True]]
    assert distinct_pairs(2).tolist() == [[False, True], [True, False]]
    groups = ["x", "y", "x", "z"]
    assert group_pairs(groups).tolist() == [[a != b for b in groups] for a in groups]


@settings(deadline=None)
@given(some.integers(2, 6), some.integers(3, 6), some.integers(0, 10**6))
def test_as_many_arms_can_be_chosen_as_the_size_says_whichever_come_first(n_arms: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = group_pairs([0, 1, *rng.integers(6, size=n_arms - 2).tolist()])
    if rng.random() < 0.5:
        asleep = int(rng.integers(n_arms))
        pairs[asleep] = pairs[:, asleep] = False
    if rng.random() < 0.3:
        i, j = rng.integers(n_arms, size=2)
        pairs[i, j] = pairs[j, i] = not pairs[i, j]
    try:
        checked_size(size, pairs)
    except ValueError:
        return
    for _ in range(20):
        chosen: list[int] = []
        for _ in range(size):
            fits = [k for k in range(n_arms) if pairs[k].any() and all(pairs[k, c] for c in chosen)]
            chosen.append(int(rng.choice(fits)))
        assert len(set(chosen)) == size


ODD = [[False, True], [False, False]]
REFUSED: list[tuple[Any, str]] = [
    (lambda: UtilityDuels(0), "n_arms must be a whole number from 1, got 0"),
    (lambda: UtilityDuels(1), "n_arms must be a whole number from 2, got 1"),
    (lambda: UtilityDuels(distinct=1), "distinct must be True or False, got 1"),  # type: ignore[arg-type]
    (lambda: UtilityDuels(size=1), "size must be a whole number from 2, got 1"),
    (lambda: UtilityDuels(3, size=4), "size must be at most 3, the number of arms or groups that can meet, got 4"),
    (lambda: UtilityDuels(3, False, 3), "size must be 2 unless the pairs are those of different arms or groups, got 3"),
    (lambda: CategoryDuels(2), "n_arms must be a whole number from 3, got 2"),
    (lambda: PlackettLuce([1, 0]), "scores must be numbers above 0 and at most 1e300, one for each arm, got"),
    (lambda: PlackettLuce([1, math.inf]), "scores must be numbers above 0"),
    (lambda: PlackettLuce([[1, 2]]), "scores must be numbers above 0"),
    (lambda: PlackettLuce([]), "scores must be numbers above 0"),
    (lambda: PlackettLuce("12"), "scores must be numbers above 0"),
    (lambda: BradleyTerry([1, math.nan]), "ratings must be numbers between -1e100 and 1e100, one for each arm, got"),
    (lambda: BradleyTerry([1, 2], scale=0.0), "scale must be from 1e-100, got 0.0"),
    (lambda: Preferences([[0.5, 0.6]]), r"preferences must be a \(K, K\) array of numbers, got"),
    (lambda: Preferences(P3, "distnct"), r"pairs must be one of 'distinct', 'all', got.*did you mean 'distinct'"),
    (lambda: Preferences(P3, [[True]]), r"pairs must be a \(3, 3\) array of booleans, got"),
    (lambda: Preferences(P3, group_pairs("aab"), size=3), "size must be at most 2, the number of arms or groups"),
    (lambda: CyclicDuels(2), "n_arms must be a whole number from 3, got 2"),
    (lambda: CyclicDuels(win=0.4), "win must be between 1/2 and 1, got 0.4"),
    (lambda: SleepingDuels(0), "n_arms must be a whole number from 1, got 0"),
    (lambda: SleepingDuels(rate=0), "rate must be above 0 and at most 1, got 0"),
    (lambda: GraphDuels(1), "n_arms must be a whole number from 2, got 1"),
    (lambda: GraphDuels(density=1.5), "density must be between 0 and 1, got 1.5"),
    (lambda: GraphDuels(redrawn=None), "redrawn must be True or False, got None"),  # type: ignore[arg-type]
    (lambda: StubbornPairs(2), "n_arms must be a whole number from 3, got 2"),
    (lambda: StubbornPairs(withdrawn=2), "withdrawn must be between 0 and 1, got 2"),
    (lambda: StubbornPairs().start(7), "rng must be a numpy.random.Generator, got 7"),  # type: ignore[arg-type]
    (lambda: group_pairs("aaa"), r"groups must be the groups of all arms, two different ones at least, got \['a',"),
    (lambda: checked_pairs(ODD), r"pairs must be symmetric, got '\(0, 1\) without \(1, 0\)'"),
    (lambda: checked_pairs(np.zeros((2, 2), bool)), "pairs must be at least one, got"),
    (lambda: checked_pairs([[True, True]]), r"pairs must be a \(K, K\) array of booleans, got"),
    (lambda: checked_pairs([[1]]), r"pairs must be a \(K, K\) array of booleans, got"),
    (lambda: checked_pairs(np.zeros((0, 0), bool)), r"pairs must be a \(K, K\) array of booleans, got"),
    (lambda: check_duel_world(UtilityDuels), r"an instance such as UtilityDuels\(\), not the class itself"),  # type: ignore[arg-type]
    (lambda: check_duel_world("duels"), "world must be a DuelWorld such as"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("ask", "sentence"), REFUSED)
def test_bad_input_is_refused(ask: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        ask()


@pytest.mark.parametrize("world", [world for world in WORLDS if isinstance(world, DuelWorld)], ids=repr)
def test_no_world_draws_without_a_generator_and_a_number_of_rounds(world: DuelWorld) -> None:
    with pytest.raises(TypeError, match=r"rng must be a numpy\.random\.Generator, got 7"):
        world.blocks(7, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rounds must be a whole number from 1, got 0"):
        world.blocks(np.random.default_rng(0), 0)


def test_numbers_of_any_kind_become_plain_ones() -> None:
    assert repr(UtilityDuels(np.int64(3))) == "UtilityDuels(n_arms=3, distinct=True, size=2)"  # type: ignore[arg-type]
    assert PlackettLuce(np.array([1, 2])) == PlackettLuce((1.0, 2.0))
    assert hash(Preferences(np.array(P3))) == hash(Preferences(P3))
