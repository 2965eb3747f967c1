"""Duels on paths, random graphs, among sleepers, and against an adversary."""

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from duel_draws import SIGMAS, assert_mean, drawn, per_round
from reference import worlds as reference
from wakeful.regret.duel import dueling
from wakeful.worlds.duel_graphs import GraphDuels, PathDuels, SleepingDuels, StubbornPairs, connected_graphs


def test_the_path_is_the_counterexample_of_the_notes() -> None:
    block = next(PathDuels().blocks(np.random.default_rng(0), 3))
    edges = {(int(i) + 1, int(j) + 1) for i, j in np.argwhere(block.pair_sets[0])}
    assert edges == {(1, 2), (2, 1), (2, 4), (4, 2), (4, 3), (3, 4)}
    u = (10.1, 10, 0.15, 0.1)
    np.testing.assert_array_equal(block.preferences[0], [[a / (a + b) for b in u] for a in u])


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
