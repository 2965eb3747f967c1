"""Auto: what it believes, that it finds out what it does not know, and what its guard promises."""

import re
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from reference import auto as literal
from reference.policies import run
from wakeful import worlds
from wakeful.policies.auto import Belief
from wakeful.policies.records import POOLED


def after(world: Any, rounds: int, policy: wk.Policy | None = None, run: int = 0) -> tuple[Any, float]:
    """Return the state of a policy after one run in a world, and the policy regret of that run."""
    policy = wk.Auto() if policy is None else policy
    block = next(world.blocks(np.random.default_rng([run, 1]), rounds))
    state = policy.start(world.n_arms)
    arms = wk.play(policy, block.awake, block.losses, np.random.default_rng([run, 2]), state)
    return state, wk.regret.policy(block.awake, block.expected, arms).value


def belief(world: Any, rounds: int) -> Belief:
    return wk.Auto().belief(after(world, rounds)[0])


def test_it_finds_that_losses_do_not_depend_on_what_is_awake() -> None:
    found = belief(worlds.MarkovSleep(), 5000)
    assert str(found).startswith("Losses do not depend on what is available (")
    assert found.pooling[np.inf] > 0.9
    assert sum(found.pooling.values()) == pytest.approx(1.0)


def test_it_finds_that_losses_depend_on_what_is_awake() -> None:
    found = belief(worlds.Dependent(), 1000)
    assert str(found).startswith("Losses depend on what is available (100 %): what was seen elsewhere counts as ")
    assert found.pooling[np.inf] < 1e-3


def test_it_finds_that_the_world_moves() -> None:
    found = belief(worlds.SwitchingBest(period=500), 5000)
    assert re.search(r"; the last (100|500|1,800) decisions count \(\d+ %\)\.$", str(found))
    assert found.memory[np.inf] < 0.1


def test_it_finds_that_the_world_does_not_move() -> None:
    found = belief(worlds.Stochastic(5), 20_000)
    assert "; all decisions count (" in str(found)
    assert found.memory[np.inf] > 0.95


def test_where_losses_are_always_the_same_a_short_memory_does_not_explore_for_ever() -> None:
    losses, policy = np.tile([0.5, 0.6, 0.7], (50_000, 1)), wk.Auto()
    arms = wk.play(policy, np.ones((50_000, 3), np.bool_), losses, np.random.default_rng(0), policy.start(3))
    assert np.mean(arms[-10_000:] > 0) < 0.005  # 0.11 if all memories counted alike, as all predict alike


@pytest.mark.parametrize("rate", [0.03, 0.5, 0.97])
@pytest.mark.parametrize("n_arms", [2, 3])
def test_laws_equal_the_literal_ones_where_rewards_or_losses_are_rare(n_arms: int, rate: float) -> None:
    rng = np.random.default_rng([n_arms, int(100 * rate)])
    awake, losses = rng.random((300, n_arms)) < 0.8, (rng.random((300, n_arms)) < rate).astype(np.float64)
    expected, laws = run(literal.Auto(n_arms), awake, losses, np.random.default_rng(9).random(300))
    policy, draws = wk.Auto(), np.random.default_rng(9)
    state = policy.start(n_arms)
    for t in range(300):
        if awake[t].any():
            found = policy.probabilities(state, awake[t])
            np.testing.assert_allclose(found, [laws[t].get(k, 0.0) for k in range(n_arms)], atol=1e-12)
        assert wk.play(policy, awake[t : t + 1], losses[t : t + 1], draws, state).tolist() == [expected[t]]


def test_a_world_that_moves_for_millions_of_rounds_is_still_seen_to_move() -> None:
    world, policy = worlds.SwitchingBest(period=500), wk.Auto()
    state, _ = after(world, 50_000)
    for whole in (state.totals, state.counts[0], state.losses[0], state.own_counts[0], state.own_losses[0]):
        np.multiply(whole, 1e5, out=whole)  # as if it had gone on for 5 billion rounds
    assert policy.belief(state).memory[np.inf] < 0.1


def test_a_bandit_without_a_policy_has_auto() -> None:
    assert wk.Bandit(arms=["tea", "juice"]).policy == wk.Auto()
    with pytest.raises(TypeError, match="arms must be"):
        wk.Bandit()


@pytest.mark.parametrize(
    ("world", "rounds", "most"),
    [
        (worlds.Stochastic(10), 5000, 60.0),  # SleepingThompson() has 41
        (worlds.Dependent(), 1000, 12.0),  # PerSet(SleepingThompson()) has 8
        (worlds.RandomDependent(), 5000, 60.0),  # PerSet(SleepingThompson()) has 36
        (worlds.Drifting(), 5000, 0.0),  # SleepingUCB(0.5) has -85
    ],
    ids=repr,
)
def test_its_regret_is_near_that_of_the_best_policy_for_each_world(world: Any, rounds: int, most: float) -> None:
    assert np.mean([after(world, rounds, run=run)[1] for run in range(12)]) < most


def test_where_the_best_arm_never_loses_regret_is_bounded() -> None:
    early, late = (
        np.mean([after(worlds.Dependent(), rounds, run=run)[1] for run in range(8)]) for rounds in (1000, 50_000)
    )
    assert late < early + 1.0


def tried(n: float, lost: float, rest: float, mean: float) -> float:
    """Return with which probability an arm is played beside another one, with `rest` observations of that `mean`."""
    policy = wk.Auto()
    state = policy.start(2)
    state.counts[:], state.losses[:] = [n, rest], [lost, mean * rest]
    state.totals[:] = n + rest, lost + mean * rest
    state.evidence[:] = -12.0
    state.evidence[POOLED, 0] = 0.0  # sure that nothing changes, and that losses do not depend on what is awake
    return float(policy.probabilities(state, np.ones(2, np.bool_))[0])


def test_an_arm_that_was_unlucky_at_first_is_tried_again_later() -> None:
    assert tried(20.0, 15.0, 500.0, 0.5) < 0.01
    assert tried(20.0, 15.0, 3000.0, 0.5) > 0.9
    assert tried(5.0, 5.0, 100.0, 0.28) < 0.01
    assert tried(5.0, 5.0, 100_000.0, 0.28) > 0.9


def test_an_arm_that_was_never_played_in_a_set_says_nothing_about_dependence() -> None:
    policy = wk.Auto()
    bandit = wk.Bandit(policy, arms=3, seed=1)
    for awake in ([0, 1], [0, 2], [1, 2], [0, 1, 2]):
        before = bandit.state.evidence.copy()
        bandit.update(bandit.choose(awake), loss=1.0)
        gains = bandit.state.evidence - before
        np.testing.assert_allclose(gains, np.tile(gains[POOLED], (5, 1)), atol=1e-12)
    while abs(gains[0, 0] - gains[POOLED, 0]) < 1e-3:  # until an arm is played again in the last set
        before = bandit.state.evidence.copy()
        bandit.update(bandit.choose([0, 1, 2]), loss=0.0)
        gains = bandit.state.evidence - before


@pytest.mark.parametrize("seed", range(4))
def test_sets_in_which_all_arms_lose_more_are_no_dependence_of_the_arms(seed: int) -> None:
    rng, rounds, policy = np.random.default_rng(seed), 3000, wk.Auto()
    sets, levels = rng.random((40, 8)) < 0.7, rng.normal(0.0, 0.7, 40)
    sets[:, 0] |= ~sets.any(axis=1)
    which = rng.integers(40, size=rounds)
    expected = 1.0 / (1.0 + np.exp(-np.linspace(-1.0, 0.5, 8) - levels[which][:, np.newaxis]))
    losses, state = (rng.random(expected.shape) < expected).astype(np.float64), policy.start(8)
    wk.play(policy, sets[which], losses, rng, state)
    found = policy.belief(state)
    assert found.pooling[np.inf] > 0.9  # below 0.01 without levels of sets
    assert "%), but at times all arms lose more, depending on which are available; " in str(found)
    rows = np.flatnonzero(state.set_counts > 40)
    true = [levels[(sets == state.sets[row]).all(axis=1)][0] for row in rows]
    assert np.corrcoef(state.set_level[rows], true)[0, 1] > 0.7


def test_a_level_of_a_set_stays_in_its_range() -> None:
    bandit = wk.Bandit(wk.Auto(), arms=2, seed=1)
    bandit.update(bandit.choose(), loss=0.0)
    bandit.state.set_level[:] = -100.0  # the least that a file may hold
    bandit.update(bandit.choose(), loss=0.0)
    assert bandit.state.set_level.min() == -100.0
    assert wk.Bandit.from_bytes(bandit.to_bytes()).probabilities().tolist() == bandit.probabilities().tolist()


def test_an_arm_that_is_awake_alone_tells_whether_losses_depend_on_what_is_awake() -> None:
    bandit = wk.Bandit(wk.Auto(), arms=2, seed=1)
    for arm in (0, 1) * 10:
        bandit.record(arm, awake=[0, 1], probability=0.5, loss=0.0)
    before = wk.Auto().belief(bandit.state).pooling[np.inf]
    for _ in range(10):
        bandit.update(bandit.choose([0]), loss=1.0)
    assert wk.Auto().belief(bandit.state).pooling[np.inf] < 0.25 * before


def test_it_plays_the_arm_with_the_lowest_bound() -> None:
    policy = wk.Auto()
    state = policy.start(3)
    state.evidence[:] = -12.0
    state.evidence[POOLED, -1] = 0.0  # sure that only the last 100 decisions count, and that awake sets do not matter
    state.counts[-1], state.losses[-1] = [60.0, 20.0, 20.0], [30.0, 10.0, 16.0]
    p = policy.probabilities(state, np.ones(3, np.bool_))
    assert p[1] > 0.9  # as good as the first and less certain
    assert p[0] > p[2]


def test_decisions_while_feedback_is_pending_differ() -> None:
    bandit = wk.Bandit(arms=10, seed=1)
    assert len({bandit.choose().arm for _ in range(200)}) == 10


def test_more_sets_than_the_table_holds_are_read_from_the_pooled_record() -> None:
    regrets = [np.mean([after(worlds.Stochastic(8), 4000, wk.Auto(n), run)[1] for run in range(6)]) for n in (1, 256)]
    assert regrets[0] < 2.0 * regrets[1]


def test_a_common_rise_and_fall_of_all_losses_is_no_change_of_the_arms() -> None:
    rng, rounds = np.random.default_rng(3), 12_000
    level = 0.25 * np.sin(2.0 * np.pi * np.arange(rounds) / 480.0)
    expected = np.linspace(0.3, 0.7, 5) + level[:, np.newaxis]
    losses = (rng.random(expected.shape) < expected).astype(np.float64)
    policy = wk.Auto()
    state = policy.start(5)
    arms = wk.play(policy, np.ones(expected.shape, np.bool_), losses, rng, state)
    assert expected[np.arange(rounds), arms].sum() - expected[:, 0].sum() < 0.02 * rounds


def test_the_past_is_scaled_back_before_numbers_grow_too_large() -> None:
    state, _ = after(worlds.Dependent(), 40_000)
    assert state.scale.max() <= 1e50
    fresh = 1.0 / (1.0 - 0.99)
    assert (state.counts / state.scale[:, np.newaxis]).sum(axis=1)[3] == pytest.approx(fresh, rel=1e-6)


def test_the_guard_switches_to_sb_exp3_where_an_arm_would_have_been_better() -> None:
    policy = wk.Auto(guard=0.5)
    bandit = wk.Bandit(policy, arms=2, seed=1)
    state = bandit.state
    state.guard_gains[1] = 1e6  # as if the second arm would have been far better
    bandit.update(bandit.choose(), loss=0.5)
    assert state.switched[0] == 1
    assert str(policy.belief(state)).endswith("SB-EXP3 plays since then.")
    assert bandit.probabilities().tolist() == [0.5, 0.5]
    for _ in range(300):
        decision = bandit.choose()
        bandit.update(decision, loss=float(decision.arm == 0))
    assert bandit.probabilities()[1] > 0.9


def test_only_the_guard_gets_out_of_an_ambush() -> None:
    # Six arms: beside two rivals that are always awake an arm is tried more often, and most runs get out.
    block = next(worlds.Ambush(change=500).blocks(np.random.default_rng(3), 10_000))
    late = {}
    for guard in (0.0, 0.5):
        arms = wk.play(wk.Auto(guard=guard), block.awake, block.losses, np.random.default_rng(4))
        late[guard] = (arms[-1000:] == 5).mean()
    assert late[0.0] < 0.01
    assert late[0.5] > 0.9


def test_without_a_guard_nothing_is_explored_and_nothing_promised() -> None:
    assert wk.Auto().guarantee(1000, 3, 3000) is None
    promise = wk.Auto(guard=0.25).guarantee(1000, 3, 3000)
    assert promise is not None
    assert (promise.regret, promise.losses) == ("external", "any")


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"max_sets": 0}, "max_sets must be a number of sets, at least 1"),
        ({"guard": -0.1}, "guard must be between 0 and 0.5"),
        ({"guard": 0.6}, "guard must be between 0 and 0.5"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        wk.Auto(**parameters)
