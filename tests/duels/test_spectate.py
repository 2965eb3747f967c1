"""Duels that others arranged: counted as one's own, or weighted so that estimates stay unbiased."""

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import wakeful as wk
from wakeful.bandits.learner import copied
from wakeful.duels.spectate import SMALLEST, Fights, fold_fights, refuse_without

ARMS = 4


def fights(arms: Any, shares: Any, probabilities: Any = None, awake_sets: Any = None, awake: Any = None) -> Fights:
    """Return results; without awake sets, all arms were awake."""
    n = len(arms)
    return Fights(
        np.array(arms, np.int64).reshape(-1, 2),
        np.array(shares, np.float64),
        np.ones(n) if probabilities is None else np.array(probabilities, np.float64),
        np.ones((1, ARMS), np.bool_) if awake_sets is None else np.array(awake_sets, np.bool_),
        np.zeros(n, np.int64) if awake is None else np.array(awake, np.int64),
        np.full((n, 2), 0.5),
    )


SOME = fights([[0, 1], [2, 1], [3, 0], [0, 1], [1, 0]], [1.0, 0.0, 0.5, 1.0, 0.25])


def test_policies_that_count_wins_count_them() -> None:
    state = wk.StablePair().start(ARMS)
    fold_fights(wk.StablePair(), state, SOME)
    wins = np.zeros((ARMS, ARMS))
    for (left, right), share in zip(SOME.arms.tolist(), SOME.shares.tolist(), strict=True):
        wins[left, right] += share
        wins[right, left] += 1.0 - share
    np.testing.assert_array_equal(state.wins, wins)
    assert state.clock.tolist() == [5]


def test_sparring_over_means_counts_what_each_side_lost() -> None:
    policy = wk.Sparring(wk.SleepingUCB())
    state = policy.start(ARMS)
    fold_fights(policy, state, SOME)
    assert state.inner_counts.tolist() == [[2, 1, 1, 1], [2, 3, 0, 0]]
    assert state.inner_losses.tolist() == [[0.0, 0.75, 1.0, 0.5], [0.5 + 0.25, 1.0 + 0.0 + 1.0, 0.0, 0.0]]
    assert state.inner_clock.ravel().tolist() == [5, 5]


def own_probabilities(policy: wk.Sparring, state: Any, awake: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the K x K probabilities of all pairs of different arms, left arm first."""
    both = np.zeros((ARMS, ARMS))
    pairs = awake[:, None] & awake & ~np.eye(ARMS, dtype=bool)
    for i in np.flatnonzero(awake).tolist():
        left, right = np.zeros(ARMS), np.zeros(ARMS)
        policy.law(state, pairs, np.flatnonzero(awake), np.array([], np.int64), 0.5, left)
        policy.law(state, pairs, np.flatnonzero(pairs[i]), np.array([i]), 0.5, right)
        both[i] = left[i] * right
    return both


def gained(policy: wk.Sparring, state: Any, one: Fights) -> NDArray[np.float64]:
    """Return what one result adds to the losses of both sides."""
    after = copied(state)
    fold_fights(policy, after, one)
    return np.asarray(after.inner_losses - state.inner_losses)


@pytest.mark.parametrize("awake", [[True] * 4, [True, False, True, True]])
def test_weighted_results_add_what_own_duels_would_add_on_average(awake: list[bool]) -> None:
    policy = wk.Sparring(wk.SIExp3(eta=0.3, exploration=0.0))
    state = policy.start(ARMS)
    fold_fights(policy, state, SOME._replace(probabilities=np.full(5, 0.1)))
    rng, here = np.random.default_rng(1), np.array(awake)
    own, preferences = own_probabilities(policy, state, here), rng.random((ARMS, ARMS))
    others = np.where(own > 0, rng.random((ARMS, ARMS)), 0.0)
    others /= others.sum()
    assert own.sum() == pytest.approx(1.0)
    expected, found = np.zeros(state.inner_losses.shape), np.zeros(state.inner_losses.shape)
    for i, j in itertools.product(range(ARMS), repeat=2):
        if own[i, j] > 0.0:
            duel = fights([[i, j]], [preferences[i, j]], [own[i, j]], [awake])
            expected += own[i, j] * gained(policy, state, duel)  # its weight is one: the policy's own duel
            found += others[i, j] * gained(policy, state, duel._replace(probabilities=others[[i], j]))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.abs(expected).max() > 0.01


def test_an_own_duel_read_as_a_result_teaches_the_same() -> None:
    policy = wk.Sparring(wk.SIExp3(eta=0.3, exploration=0.0))
    arena = wk.DuelingBandit(policy, arms=ARMS, seed=3)
    state = policy.start(ARMS)
    for n in range(30):
        duel = arena.choose(distinct=True)
        arena.update(duel, winner=duel.arms[n % 2])
        fold_fights(policy, state, fights([duel.arms], [1.0 - n % 2], [float(np.prod(duel.probabilities))]))
    np.testing.assert_allclose(state.inner_losses, arena.state.inner_losses, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(state.inner_clock, arena.state.inner_clock)


def test_an_arm_that_the_policy_would_never_choose_still_counts() -> None:
    policy = wk.Sparring(wk.SIExp3(eta=0.3, exploration=0.0))
    state = policy.start(ARMS)
    state.inner_losses[0, :, 0] = 1e3  # the left side prefers every other arm to arm 0
    state.inner_losses[0, 0, :] = -1e3
    before = own_probabilities(policy, state, np.ones(ARMS, np.bool_))
    assert before[0].sum() < SMALLEST / 100
    added = gained(policy, state, fights([[0, 1]], [0.0], [0.2]))
    assert added[0][1:, 0].sum() == pytest.approx(1.0 / 3.0 / 0.2, rel=1e-6)  # the right side chooses 1 of 3


@pytest.mark.parametrize("duels", [1, 4, 7, 400])
def test_many_results_at_once_teach_what_they_teach_one_by_one(duels: int) -> None:
    rng, K = np.random.default_rng(duels), 9
    arms = np.array([rng.choice(K, 2, replace=False) for _ in range(duels)])
    sets = rng.random((80, K)) < 0.7  # more than AutoPairs has room for
    which = np.repeat(rng.integers(80, size=duels), 3)[:duels]
    for t, pair in enumerate(arms):
        sets[which[t], pair] = True
    shares = rng.choice([0.0, 0.1, 0.5, 1.0], duels)
    log, policy = fights(arms, shares, awake_sets=sets, awake=which), wk.AutoPairs()
    together, apart = policy.start(K), policy.start(K)
    fold_fights(policy, together, log)
    for t in range(duels):
        fold_fights(policy, apart, fights(arms[t : t + 1], shares[t : t + 1], awake_sets=sets[which[t : t + 1]]))
    for name, one, other in zip(together._fields, together, apart, strict=True):
        assert one.tobytes() == other.tobytes(), name
    assert together.clock.tolist() == [duels]


def test_a_result_teaches_what_an_own_duel_teaches() -> None:
    policy, arena = wk.AutoPairs(), wk.DuelingBandit(arms=ARMS, seed=3)
    state = policy.start(ARMS)
    for n in range(50):
        duel = arena.choose(distinct=True)
        arena.update(duel, winner=duel.arms[n % 2])
        fold_fights(policy, state, fights([duel.arms], [1.0 - n % 2]))
    for name, one, other in zip(state._fields, state, arena.state, strict=True):
        assert one.tobytes() == other.tobytes(), name


class Wins(NamedTuple):
    wins: NDArray[np.float64]


@dataclass(frozen=True)
class PlainPairs(wk.DuelingPolicy):
    """Counts wins in plain Python."""

    from_others = "counts"

    def start(self, n_arms: int, size: int = 2) -> Wins:
        return Wins(np.zeros((n_arms, n_arms)))

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        p[awake] = 1.0 / len(awake)

    def learn(self, state: Any, pick: wk.Pick, shares: Any) -> None:
        left, right = pick.arms.tolist()
        assert left in pick.awake[0, : pick.sizes[0]]
        assert left not in pick.awake[1, : pick.sizes[1]]
        state.wins[left, right] += shares[0]
        state.wins[right, left] += shares[1]


def test_a_policy_in_plain_python() -> None:
    state, other = PlainPairs().start(ARMS), wk.UniformPairs().start(ARMS)
    fold_fights(PlainPairs(), state, SOME)
    fold_fights(wk.UniformPairs(), other, SOME)
    np.testing.assert_array_equal(state.wins, other.wins)


def test_who_cannot_learn_from_others_says_so() -> None:
    for policy in (wk.StablePair(), wk.AutoPairs(), wk.Sparring(wk.SleepingThompson()), wk.Sparring(wk.Auto())):
        refuse_without(policy, has_probabilities=False)
    refuse_without(wk.Sparring(wk.SIExp3()), has_probabilities=True)
    with pytest.raises(ValueError, match=r"probability of the pair must be given, since Sparring\(.*StablePair"):
        refuse_without(wk.Sparring(wk.SIExp3()), has_probabilities=False)
    with pytest.raises(ValueError, match="policy must be one that can learn from duels that others arranged"):
        refuse_without(wk.Sparring(wk.Auto(guard=0.1)), has_probabilities=True)
