"""StablePair: what its proof rests on, the numbers it promises, and that it is never stuck."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import wakeful as wk
from reference import stable_pair as literal
from wakeful.duels.pairs import checked_pairs
from wakeful.duels.stable_pair import (
    CIRCLE_PLAYS,
    LEVEL,
    Replies,
    StablePair,
    _first,
    _leader,
    _of_circle,
    _replies,
    _untried,
    close_order,
    indices,
)
from wakeful.numerics.arrays import Floats, Mask
from wakeful.regret import dueling
from wakeful.worlds import CategoryDuels, GraphDuels, PathDuels, Preferences, StubbornPairs, UtilityDuels

ROUNDS = 50_000


def ordered_preferences(rng: np.random.Generator, n_arms: int) -> Floats:
    """Return preferences with a total order, far from those of any utilities: sorted along rows and columns."""
    P = np.full((n_arms, n_arms), 0.5)
    for gap in range(1, n_arms):
        for i in range(n_arms - gap):
            j = i + gap
            P[i, j] = max(P[i, j - 1], P[i + 1, j]) + rng.choice([0.0, 0.002, 0.1]) * rng.random()
            P[i, j] = min(P[i, j], 1.0)
            P[j, i] = 1.0 - P[i, j]
    label = rng.permutation(n_arms)
    return P[np.ix_(label, label)]


def graph(rng: np.random.Generator, n_arms: int, density: float) -> Mask:
    """Return a random connected graph."""
    order, pairs = rng.permutation(n_arms), np.zeros((n_arms, n_arms), bool)
    for n in range(1, n_arms):
        one, other = order[n], order[rng.integers(n)]
        pairs[one, other] = pairs[other, one] = True
    more = np.triu(rng.random((n_arms, n_arms)) < density, 1)
    return checked_pairs(pairs | more | more.T)


def final(world: wk.worlds.DuelWorld, runs: int, rounds: int = ROUNDS) -> Floats:
    return wk.simulate({"it": StablePair()}, world, rounds, runs, checkpoints=[rounds // 2]).curve("dueling", "it")


@pytest.mark.parametrize("seed", range(40))
def test_bounds_stay_bounds_when_the_order_is_closed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_arms = int(rng.integers(2, 9))
    P = ordered_preferences(rng, n_arms)
    U = P + rng.choice([0.0, 0.01, 0.4], (n_arms, n_arms)) * rng.random((n_arms, n_arms))
    np.fill_diagonal(U, 0.5)
    closed = U.copy()
    close_order(closed)
    assert (closed <= U).all()
    assert (closed >= P - 1e-12).all()


def test_some_bounds_are_lowered() -> None:
    U = np.array([[0.5, 0.9, 1.5], [0.2, 0.5, 0.6], [1.5, 0.45, 0.5]])  # 0 beats 1, 1 beats 2, 0 and 2 never met
    close_order(U)
    assert U[2, 0] == 0.45  # no more than against 1, who is worse than 0


@pytest.mark.parametrize("seed", range(20))
def test_some_pair_of_every_circle_costs_no_more_than_two_radii(seed: int) -> None:
    """The lemma behind the rule, with the true best arm of the circle."""
    rng = np.random.default_rng([seed, 1])
    for _ in range(200):
        n_arms = int(rng.integers(3, 8))
        P, pairs = ordered_preferences(rng, n_arms), graph(rng, n_arms, 0.5)
        radius = np.triu(rng.choice([0.01, 0.1, 0.5], (n_arms, n_arms)) * rng.random((n_arms, n_arms)), 1)
        radius += radius.T
        mean = P + radius * np.triu(rng.uniform(-1, 1, (n_arms, n_arms)), 1)
        mean = np.triu(mean, 1) + np.tril(1.0 - mean.T, -1) + np.eye(n_arms) / 2
        U = np.where(pairs, mean + radius, -1.0)
        reply = U.argmax(axis=0)
        i = 0
        for _ in range(n_arms):
            i = int(reply[i])
        circle = [i]
        while reply[circle[-1]] != i:
            circle.append(int(reply[circle[-1]]))
        costs = [(U[:, k].max() + U[:, reply[k]].max() - 1.0) / 2.0 for k in circle]
        regrets = dueling([[k, reply[k]] for k in circle], pairs, P).per_round
        assert all(regret <= cost + 1e-9 for regret, cost in zip(regrets, costs, strict=True))
        assert min(costs) <= 2.0 * max(radius[k, reply[k]] for k in circle) + 1e-9
        if len(circle) == 2:
            assert min(costs) <= radius[i, reply[i]] + 1e-9


def circle_of(costs: list[float], n_arms: int) -> Replies:
    """Return replies 0 -> 1 -> ... -> 0 in which arm k and its reply can cost `costs[k]`."""
    size = len(costs)
    matrix = np.eye(size) / 2 + np.roll(np.eye(size), 1, axis=1) / 2
    most = np.linalg.lstsq(matrix, np.array(costs) + 0.5, rcond=None)[0]
    arm = np.append((np.arange(size) + 1) % size, np.full(n_arms - size, -1))
    return Replies(arm, np.append(most, np.full(n_arms - size, -1.0)))


@pytest.mark.parametrize("size", [3, 5])
def test_a_circle_has_three_ways_out(size: int) -> None:
    """The widest pair while it was played little, then the leader's while it is cheap, then the cheapest."""
    costs = [0.4, 0.3, 0.2, 0.5, 0.6][:size]
    replies = circle_of(costs, size)
    t, radii, wins = 10_000, np.full((size, size), 0.05), np.zeros((size, size))
    radii[1, 2] = radii[2, 1] = 0.12
    enough = CIRCLE_PLAYS * (2.0 * t / (size * (size - 1.0))) ** (2.0 / 3.0)
    wins[2, 1] = enough - 1.0
    assert _of_circle(wins, t, 0, 0, radii, replies) == 1  # the widest pair is (1, 2)
    wins[1, 2] = 1.0
    assert _of_circle(wins, t, 0, 0, radii, replies) == 2  # the leader can cost 0.4, above twice 0.12
    assert _of_circle(wins, t, 0, 2, radii, replies) == 2
    radii[1, 2] = radii[2, 1] = 0.2
    assert _of_circle(wins, t, 0, 0, radii, replies) == 0  # and now no more than twice 0.2
    assert _of_circle(wins, t, 1, 0, radii, replies) == 0  # wherever the walk came in


def test_a_circle_of_three_is_played_as_the_literal_version_does() -> None:
    """A state in which replies go round: 0 to 1, 1 to 2, 2 to 0, with widths so small that none pays for itself."""
    wins = np.array([[0.0, 4e5, 6e5], [6e5, 0.0, 4e5], [4e5, 6e5, 0.0]])
    pairs = ~np.eye(3, dtype=bool)
    policy = StablePair()
    state = policy.start(3)
    state.wins[:] = wins
    state.clock[0] = 3_000_000
    reference = literal.StablePair(3)
    reference.w, reference.t = wins.tolist(), 3_000_000
    level = LEVEL * np.log(3_000_001.0)
    first = int(_first(state.wins, 3_000_001, level, pairs, indices(state.wins, level)))
    law = reference.law(pairs.tolist(), [0, 1, 2], [], 0.5)
    assert [law[k] for k in range(3)] == [float(k == first) for k in range(3)]
    upper = indices(state.wins, level)
    assert upper.argmax(axis=0).tolist() == [1, 2, 0]
    wins[0, 2] = 4e5 * 1e-3  # one pair hardly played, and so wide that it is tried
    state.wins[:] = wins
    reference.w = wins.tolist()
    first = int(_first(state.wins, 3_000_001, level, pairs, indices(state.wins, level)))
    law = reference.law(pairs.tolist(), [0, 1, 2], [], 0.5)
    assert [law[k] for k in range(3)] == [float(k == first) for k in range(3)]


def test_pairs_that_met_often_are_played_as_the_literal_version_does() -> None:
    rng = np.random.default_rng(8)
    tried = 0
    for _ in range(600):
        K = int(rng.integers(3, 7))
        pairs, wins = graph(rng, K, 0.4), rng.choice([0.0, 1.0, 2.0, 20.0, 4_000.0], (K, K))
        t = int(rng.choice([3_000, 30_000, 3_000_000]))
        reference = literal.StablePair(K)
        reference.w, reference.t = wins.tolist(), t - 1
        level = LEVEL * np.log(float(t))
        first = int(_first(wins, t, level, pairs, indices(wins, level)))
        law = reference.law(pairs.tolist(), [k for k in range(K) if pairs[k].any()], [], 0.5)
        assert law[first] == 1.0
        upper = indices(wins, level)
        replies = _replies(upper, pairs)
        leader = _leader(wins, upper, pairs)
        tried += int(_untried(wins, level, leader, replies.arm[leader], replies))
    assert tried > 20  # the case is met


def test_confidence_bounds_are_massarts() -> None:
    wins = np.array([[0.0, 30.0, 5.0], [10.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    level = LEVEL * np.log(500.0)
    U = indices(wins, level)
    for i, j in ((0, 1), (1, 0), (0, 2), (2, 0)):
        n = wins[i, j] + wins[j, i]
        m, u = wins[i, j] / n, U[i, j]
        x = (m + 2.0 * u) / 3.0
        assert (u - m) ** 2 == pytest.approx(2.0 * x * (1.0 - x) * level / n, rel=1e-9)
        assert m <= u <= m + np.sqrt(level / (2.0 * n)) + 1e-12
    assert U[1, 2] == U[2, 1] > 1.0
    assert U.diagonal().tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("world", "runs", "most"),
    [(PathDuels(), 8, 7.0), (UtilityDuels(4), 20, 54.0), (GraphDuels(10), 8, 195.0), (UtilityDuels(30), 4, 677.0)],
    ids=repr,
)
def test_its_numbers(world: wk.worlds.DuelWorld, runs: int, most: float) -> None:
    assert final(world, runs)[:, -1].mean() <= most


def graph_world(n: int) -> Preferences:
    rng = np.random.default_rng([n, 2])
    n_arms = int(rng.integers(4, 10))
    utilities = rng.uniform(1.0, 50.0, n_arms)
    P = utilities[:, np.newaxis] / (utilities[:, np.newaxis] + utilities)
    return Preferences(P, pairs=graph(rng, n_arms, float(rng.uniform(0.0, 0.6))))


def rate(world: Preferences, rounds: int) -> float:
    """Return the regret a round in the second half."""
    results = wk.simulate({"it": StablePair()}, world, rounds, runs=1, checkpoints=[rounds // 2], jobs=1)
    half, whole = results.curve("dueling", "it")[0]
    return float(whole - half) / (rounds / 2)


def test_it_is_stuck_on_none_of_a_hundred_graphs() -> None:
    """What it pays a round falls on every graph, on a few of them late; a rule that stayed at 0.006 was stuck."""
    worlds = [graph_world(n) for n in range(100)]
    with ThreadPoolExecutor(2) as pool:
        for rounds, most in ((ROUNDS, 0.008), (4 * ROUNDS, 0.006), (20 * ROUNDS, 0.002)):
            rates = list(pool.map(lambda world, rounds=rounds: rate(world, rounds), worlds))
            assert max(rates, default=0.0) < most
            worlds = [world for world, found in zip(worlds, rates, strict=True) if found > 0.002]


def test_an_adversary_that_withdraws_pairs_does_not_stop_it() -> None:
    results = wk.simulate({"it": StablePair()}, StubbornPairs(5), 20_000, runs=2, checkpoints=[10_000])
    curves = results.curve("dueling", "it").mean(axis=0)
    assert curves[1] - curves[0] < 0.6 * curves[0]


def test_where_preferences_depend_on_who_is_awake_sparring_is_the_answer() -> None:
    policies = {"stable": StablePair(), "sparring": wk.Sparring(wk.SIExp3(eta="sqrt", exploration=0.0))}
    results = wk.simulate(policies, CategoryDuels(4), ROUNDS, runs=4)
    assert results.final("dueling", "sparring").mean() < 0.4 * results.final("dueling", "stable").mean()


def test_of_a_set_it_ends_with_the_best() -> None:
    results = wk.simulate({"it": StablePair()}, UtilityDuels(6, size=3), 20_000, runs=4, checkpoints=[10_000])
    curves = results.curve("dueling", "it").mean(axis=0)
    assert curves[1] - curves[0] < 0.35 * curves[0]


def test_the_slack_keeps_no_bad_pair() -> None:
    """Arms 1 and 2 may meet, and 2 and 3; 3 is far stronger than both, and one of many equals."""
    utilities = np.concatenate([[0.3, 0.1], np.linspace(10.1, 9.0, 28)])
    pairs = np.zeros((30, 30), np.bool_)
    pairs[2:, 2:] = ~np.eye(28, dtype=np.bool_)
    pairs[[0, 1], [1, 2]] = pairs[[1, 2], [0, 1]] = True
    world = Preferences(utilities[:, np.newaxis] / (utilities[:, np.newaxis] + utilities), pairs)
    results = wk.simulate({"it": StablePair()}, world, 6_000, 6, seed=0, checkpoints=[4_000, 6_000])
    half, full = results.curve("dueling", "it").T
    assert ((full - half) / 2_000 < 0.06).all()  # a duel of 1 and 2 costs 0.12
