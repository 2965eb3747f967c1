"""Worlds of duels: each has the law it states, and the checker finds what is broken.

Statistical claims have fixed seeds; a mean may be off by `SIGMAS` standard errors.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from reference import worlds as reference
from wakeful.duels.pairs import all_pairs, checked_pairs, checked_size, distinct_pairs, group_pairs, winner
from wakeful.policies.spec import subclasses
from wakeful.regret.duel import dueling
from wakeful.worlds.duel_checks import check_duel_world
from wakeful.worlds.duel_graphs import GraphDuels, PathDuels, SleepingDuels, StubbornPairs, connected_graphs
from wakeful.worlds.duel_world import AdaptiveDuelRun, AdaptiveDuelWorld, DuelBlock, DuelWorld, steady
from wakeful.worlds.duels import (
    BradleyTerry,
    CategoryDuels,
    CyclicDuels,
    PlackettLuce,
    Preferences,
    UtilityDuels,
    by_utility,
)

SIGMAS = 4.0
P3 = ((0.5, 0.75, 0.875), (0.25, 0.5, 0.625), (0.125, 0.375, 0.5))

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
    ours = {cls for base in bases for cls in subclasses(base) if cls.__module__.startswith("wakeful.")}
    assert ours == {type(world) for world in WORLDS}


def drawn(world: DuelWorld, rounds: int, seed: int = 0, size: int = 1000) -> list[DuelBlock]:
    """Return the first rounds of a run, in blocks."""
    return list(islice(world.blocks(np.random.default_rng(seed), size), -(-rounds // size)))


def per_round(blocks: list[DuelBlock]) -> tuple[Any, Any, Any]:
    """Return the pairs, preferences and coin of each round."""
    pairs = np.concatenate([block.pair_sets[block.which] for block in blocks])
    preferences = np.concatenate([block.preferences[block.law] for block in blocks])
    return pairs, preferences, np.concatenate([block.coins for block in blocks])


def assert_mean(found: Any, expected: float, sd: float) -> None:
    """The mean of independent numbers is within `SIGMAS` standard errors of what is expected."""
    values = np.asarray(found, np.float64)
    assert abs(values.mean() - expected) <= SIGMAS * sd / math.sqrt(values.size), (values.mean(), expected)


# Coins, winners


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


# The worlds


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


def test_the_path_is_the_counterexample_of_the_notes() -> None:
    block = next(PathDuels().blocks(np.random.default_rng(0), 3))
    edges = {(int(i) + 1, int(j) + 1) for i, j in np.argwhere(block.pair_sets[0])}
    assert edges == {(1, 2), (2, 1), (2, 4), (4, 2), (4, 3), (3, 4)}
    u = (10.1, 10, 0.15, 0.1)
    np.testing.assert_array_equal(block.preferences[0], [[a / (a + b) for b in u] for a in u])


@pytest.mark.parametrize("n_arms", [3, 4, 5, 6, 9])
def test_cycles_have_no_best_arm(n_arms: int) -> None:
    P = next(CyclicDuels(n_arms, 0.75).blocks(np.random.default_rng(0), 1)).preferences[0]
    for i in range(n_arms):
        ahead = {(i + step) % n_arms for step in range(1, (n_arms - 1) // 2 + 1)}
        behind = {(i - step) % n_arms for step in range(1, (n_arms - 1) // 2 + 1)}
        for j in range(n_arms):
            assert P[i, j] == (0.75 if j in ahead else 0.25 if j in behind else 0.5)
    assert ((P > 0.5).any(axis=0)).all()


def test_awake_sets_of_sleeping_duels_have_the_law_of_independent_arms_given_somebody() -> None:
    pairs, preferences, _ = per_round(drawn(SleepingDuels(3, rate=0.4), 40_000, size=200))
    awake = np.einsum("tkk->tk", pairs)
    np.testing.assert_array_equal(pairs, awake[:, :, None] & awake[:, None])
    assert (preferences == preferences[0]).all()
    counts = Counter(tuple(np.flatnonzero(row).tolist()) for row in awake)
    spread = math.sqrt(2)  # rounds share the sets of a table of their size: about twice the variance
    for S, chance in reference.awake_law([0.4] * 3).items():
        assert abs(counts[S] - 40_000 * chance) <= SIGMAS * spread * math.sqrt(40_000 * chance * (1 - chance))


def connected(mask: Any) -> bool:
    """Walk from the first arm along the pairs."""
    reached, left = {0}, [0]
    while left:
        for j in np.flatnonzero(mask[left.pop()]).tolist():
            if j not in reached:
                reached.add(j)
                left.append(j)
    return len(reached) == len(mask)


@settings(deadline=None, max_examples=30)
@given(some.integers(2, 9), some.floats(0, 1), some.integers(0, 99))
def test_random_graphs_are_connected_graphs(n_arms: int, density: float, seed: int) -> None:
    for mask in connected_graphs(np.random.default_rng(seed), 20, n_arms, density):
        np.testing.assert_array_equal(mask, mask.T)
        assert not mask.diagonal().any()
        assert connected(mask)


def test_random_graphs_have_the_density_asked_for_and_treat_arms_alike() -> None:
    n, K = 20_000, 6
    trees = connected_graphs(np.random.default_rng(1), n, K, 0.0)
    assert (trees.sum(axis=(1, 2)) == 2 * (K - 1)).all()
    pairs = np.triu(np.ones((K, K), bool), 1)
    share = 2 / K  # of all K(K-1)/2 pairs a tree has K - 1
    for edge in trees[:, pairs].T:
        assert_mean(edge, share, math.sqrt(share * (1 - share)))
    for edge in connected_graphs(np.random.default_rng(2), n, K, 0.25)[:, pairs].T:
        chance = share + (1 - share) * 0.25
        assert_mean(edge, chance, math.sqrt(chance * (1 - chance)))


def test_graphs_change_from_round_to_round_or_not_at_all() -> None:
    for block in drawn(GraphDuels(5), 2000):
        assert len(block.pair_sets) == 256
        assert_mean(block.which, 127.5, math.sqrt((256**2 - 1) / 12))
    changing = drawn(GraphDuels(5), 2000)
    assert not np.array_equal(changing[0].pair_sets, changing[1].pair_sets)
    np.testing.assert_array_equal(changing[0].preferences, changing[1].preferences)
    fixed, again = drawn(GraphDuels(5, redrawn=False), 2000)
    assert len(fixed.pair_sets) == 1
    np.testing.assert_array_equal(fixed.pair_sets, again.pair_sets)
    others = [next(GraphDuels(5, redrawn=False).blocks(np.random.default_rng(s), 1)).pair_sets for s in range(5)]
    assert len({mask.tobytes() for mask in others}) > 1


def reverse_delete(counts: dict[tuple[int, int], int], n_arms: int, n_withdrawn: int) -> set[tuple[int, int]]:
    """Take away the pair played most, unless that leaves the graph in pieces; again and again."""
    kept = set(counts)
    for pair in sorted(counts, key=lambda pair: (counts[pair], pair), reverse=True):
        mask = np.zeros((n_arms, n_arms), bool)
        for i, j in kept - {pair}:
            mask[i, j] = mask[j, i] = True
        if len(counts) - len(kept) < n_withdrawn and connected(mask):
            kept -= {pair}
    return kept


@pytest.mark.parametrize("withdrawn", [0.0, 0.3, 1.0])
def test_stubborn_pairs_withdraw_what_was_played_most(withdrawn: float) -> None:
    n_arms, rng = 5, np.random.default_rng(3)
    run = StubbornPairs(n_arms, withdrawn).start(np.random.default_rng(0))
    counts = dict.fromkeys(combinations(range(n_arms), 2), 0)
    for _ in range(300):
        mask = run.pairs()
        allowed = {(int(i), int(j)) for i, j in np.argwhere(np.triu(mask))}
        assert allowed == reverse_delete(counts, n_arms, round(withdrawn * 6))
        i, j = rng.permutation(sorted(allowed)[int(rng.integers(len(allowed)) * rng.random())]).tolist()
        run.played((i, j))
        counts[min(i, j), max(i, j)] += 1


def test_stubborn_pairs_never_let_a_learner_settle() -> None:
    run = StubbornPairs(4).start(np.random.default_rng(0))
    P = run.preferences()
    played = Counter()  # type: Counter[tuple[int, ...]]
    for _ in range(600):
        mask = run.pairs()
        duel = min(np.argwhere(mask).tolist(), key=lambda duel: dueling([duel], mask, P).value)
        assert dueling([duel], mask, P).value == 0.0
        run.played(duel)
        played[tuple(sorted(duel))] += 1
    assert len(played) >= 3
    assert max(played.values()) <= 250


# Matrices, from files too


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


# Masks


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


# Refusals

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
    (lambda: Preferences(P3, [[True]]), r"pairs must be a \(3, 3\) array of truth values, got"),
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
    (lambda: checked_pairs([[True, True]]), r"pairs must be a \(K, K\) array of truth values, got"),
    (lambda: checked_pairs([[1]]), r"pairs must be a \(K, K\) array of truth values, got"),
    (lambda: checked_pairs(np.zeros((0, 0), bool)), r"pairs must be a \(K, K\) array of truth values, got"),
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


# The checker


@dataclass(frozen=True)
class Mine(DuelWorld):
    """A user's world, and what may be wrong with it."""

    wrong: str = ""
    n_arms: int = 2
    size: int = 2

    @property
    def length(self) -> int | None:
        return {"too long": 5, "too short": 500}.get(self.wrong)

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[Any]:
        shared = np.full((1, 2, 2), 0.5)
        for block in islice(
            steady(rng, rounds, np.ones((2, 2), np.bool_), shared[0]), 3 if self.wrong == "ends" else 100
        ):
            if self.wrong == "reuses":
                shared[0, [0, 1], [1, 0]] = 0.5 + block.coins[0] / 2, 0.5 - block.coins[0] / 2
            yield self._spoilt(block, shared)

    def _spoilt(self, block: DuelBlock, shared: Any) -> Any:
        mask, coins = block.pair_sets, block.coins
        spoilt: dict[str, Any] = {
            "tuple": tuple(block),
            "asymmetric": block._replace(pair_sets=np.triu(mask)),
            "nobody": block._replace(pair_sets=~mask),
            "shape": block._replace(pair_sets=np.ones((1, 3, 3), np.bool_)),
            "flat": block._replace(preferences=block.preferences[0]),
            "columns": block._replace(coins=np.repeat(coins, 2)[::2]),
            "type": block._replace(which=block.which.astype(np.int32)),
            "list": block._replace(coins=coins.tolist()),
            "one": block._replace(preferences=block.preferences * 1.5),
            "second": block._replace(preferences=np.concatenate([block.preferences, block.preferences * 1.5])),
            "pairs": block._replace(pair_sets=np.concatenate([mask, np.triu(mask)])),
            "nan": block._replace(preferences=block.preferences * np.nan),
            "row": block._replace(which=block.which + 1),
            "law": block._replace(law=block.law - 1),
            "coin": block._replace(coins=coins * 0 + 1),
            "size": block._replace(which=block.which[1:], law=block.law[1:], coins=coins[1:]),
            "global": block._replace(coins=np.random.random(coins.size)),  # noqa: NPY002
            "reuses": block._replace(preferences=shared),
        }
        return spoilt.get(self.wrong, block)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("tuple", "blocks must yield DuelBlock"),
        ("asymmetric", r"pairs must be symmetric, got '\(0, 1\) without \(1, 0\)'"),
        ("nobody", "pairs must be at least one"),
        ("shape", r"pair_sets must be of shape \(1, 2, 2\), got \(1, 3, 3\)"),
        ("flat", r"preferences must be of shape \(2, 2, 2\), got \(2, 2\)"),
        ("columns", "coins must be contiguous"),
        ("type", "which must be of type int64, got int32"),
        ("list", "coins must be an array"),
        ("one", r"P\(j, i\) = 1, got '0.75 \+ 0.75 for \(0, 0\)'"),
        ("second", r"P\(j, i\) = 1, got '0.75 \+ 0.75 for \(0, 0\)'"),
        ("pairs", "pairs must be symmetric"),
        ("nan", "preferences must be between 0 and 1, got nan"),
        ("row", "which must be rows from 0 to 0, got 1"),
        ("law", "law must be rows from 0 to 0, got -1"),
        ("coin", "coins must be from 0 to below 1, got 1.0"),
        ("size", "a block must have 1 rounds, got 0"),
        ("ends", "'length': a world whose length is None must not end, got 3 blocks"),
        ("too long", "'length': there must be 5 rounds, got"),
        ("too short", "'length': there must be 500 rounds, got"),
        ("global", "'repeatable': the same seed must give the same blocks"),
        ("reuses", "'own arrays': blocks must not share memory with each other"),
    ],
)
def test_the_checker_says_what_is_wrong(wrong: str, sentence: str) -> None:
    check_duel_world(Mine())
    with pytest.raises(AssertionError, match=sentence):
        check_duel_world(Mine(wrong))


def test_the_checker_looks_at_the_size_and_at_the_class() -> None:
    @dataclass
    class Thawed(DuelWorld):
        n_arms: int = 2

        def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
            return Mine().blocks(rng, rounds)

    class Plain(DuelWorld):
        n_arms = 2

        def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
            return Mine().blocks(rng, rounds)

    with pytest.raises(AssertionError, match="size must be 2 unless the pairs are those of different arms"):
        check_duel_world(Mine(size=3))
    with pytest.raises(AssertionError, match="a world must be a frozen dataclass"):
        check_duel_world(Thawed())
    with pytest.raises(TypeError, match="world must be a frozen dataclass"):
        check_duel_world(Plain())


@dataclass(frozen=True)
class Foe(AdaptiveDuelWorld):
    """A user's adaptive world, and what may be wrong with it."""

    wrong: str = ""
    n_arms: int = 3

    def start(self, rng: np.random.Generator) -> AdaptiveDuelRun:
        return FoeRun(self.wrong)


class FoeRun(AdaptiveDuelRun):
    def __init__(self, wrong: str) -> None:
        self.wrong, self.last = wrong, 0

    def pairs(self) -> Any:
        mask = distinct_pairs(3)
        mask[self.last, (self.last + 1) % 3] = mask[(self.last + 1) % 3, self.last] = False
        return mask[:2] if self.wrong == "shape" else mask

    def preferences(self) -> Any:
        return np.full((3, 3), 0.6 if self.wrong == "uneven" else 0.5)

    def played(self, arms: Sequence[int]) -> None:
        self.last = np.random.randint(3) if self.wrong == "global" else arms[0]  # noqa: NPY002


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("shape", r"pairs must be a \(3, 3\) array of truth values"),
        ("uneven", r"P\(j, i\) = 1, got '0.6 \+ 0.6 for \(0, 0\)'"),
        ("global", "'adaptive repeatable': the same seed and choices must give the same rounds"),
    ],
)
def test_the_checker_says_what_is_wrong_with_adaptive_worlds(wrong: str, sentence: str) -> None:
    check_duel_world(Foe())
    with pytest.raises(AssertionError, match=sentence):
        check_duel_world(Foe(wrong))
