"""Tables of awake sets when they are full, the draw at its edges, one arm alone, and names that come and go."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from numpy.typing import NDArray
from scipy import stats

import wakeful as wk
from own_policy import EpsilonGreedy
from policy_cases import CASES
from reference import policies as literal
from wakeful.numerics.awake_sets import count, fewest, find
from wakeful.policies.kernels import FLOOR, draw

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

BELOW_ONE = 1.0 - 2.0**-53  # the largest number that a uniform draw can be


def ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


# Space-Saving


class FewSets(literal.SleepingExp3G):
    """Sleeping-EXP3G that counts `rows` sets: a new one takes the place, and the count, of one of the rarest.

    Which of them is the table's own affair: `follow` says what it holds now, and whether it may.
    """

    def __init__(self, K: int, rows: int, eta: Any = "sqrt", exploration: float = 1.0) -> None:
        super().__init__(K, eta, exploration)
        self.rows, self.evicted = rows, 0
        self.table: dict[tuple[int, ...], int] = {}

    def follow(self, S: list[int], table: dict[tuple[int, ...], int]) -> None:
        """Take over `table`, which must be ours with `S` counted."""
        before, new = self.table, tuple(S)
        gone = before.keys() - table.keys()
        count = before.get(new, 0) + 1
        if new not in before and len(before) == self.rows:
            (lost,) = gone
            assert before[lost] == min(before.values())
            count = before[lost] + 1
            self.evicted += 1
        else:
            assert not gone
        assert table == {S: n for S, n in before.items() if S not in gone} | {new: count}
        self.table = table

    def decided(self, S: list[int], p: literal.Law, k: int, coin: float) -> float:
        self.sets.append(S)
        t = len(self.sets)
        eta = self.rate(t)
        held = self.table.items()
        qbar = sum(n * literal.softmin(self.L, eta, list(past))[k] for past, n in held if k in past) / t
        return qbar + self.exploration * eta


def world(rounds: int, n_arms: int, seed: int, rate: float = 0.5) -> tuple[Mask, Floats]:
    """Awake sets that are never empty, and losses."""
    rng = np.random.default_rng(seed)
    awake = rng.random((rounds, n_arms)) < rate
    awake[np.arange(rounds), rng.integers(n_arms, size=rounds)] = True
    return awake, rng.random((rounds, n_arms))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("eta", "exploration"), [("sqrt", 1.0), (0.3, 0.1)])
def test_a_full_table_gives_the_rarest_place_to_a_new_set(eta: Any, exploration: float, seed: int) -> None:
    policy = wk.SleepingExp3G(eta, exploration, max_sets=3)
    awake, losses = world(200, 5, seed)
    state, reference = policy.start(5), FewSets(5, 3, eta, exploration)
    stream, uniforms = np.random.default_rng(seed), np.random.default_rng(seed).random(200)
    for t in range(200):
        arm = wk.play(policy, awake[t : t + 1], losses[t : t + 1], stream, state)[0]
        rows = zip(state.sets, state.counts.tolist(), strict=True)
        table = {tuple(np.flatnonzero(row).tolist()): n for row, n in rows if n}
        reference.follow(np.flatnonzero(awake[t]).tolist(), table)
        assert [arm] == literal.run(reference, awake[t : t + 1], losses[t : t + 1], uniforms[t : t + 1])[0]
    assert reference.evicted > 80
    np.testing.assert_allclose(state.losses, reference.L, rtol=1e-10)  # rounding errors grow with every round


def test_no_count_is_off_by_more_than_its_share() -> None:
    """The Space-Saving promise, whatever the rows: counts sum to t, and none is short, or over by t / max_sets."""
    rows, rounds = 8, 2_000
    rng = np.random.default_rng(0)
    sets = rng.random((40, 6)) < 0.5
    sets[:, 0] = True
    often = 1.0 / np.arange(1, 41) ** 2
    awake = sets[rng.choice(40, size=rounds, p=often / often.sum())]
    policy = wk.SleepingExp3G(max_sets=rows)
    state = policy.start(6)
    wk.play(policy, awake, np.ones((rounds, 6)), np.random.default_rng(1), state)
    assert state.counts.sum() == rounds
    for members, counted in zip(state.sets, state.counts, strict=True):
        true = (awake == members).all(axis=1).sum()
        assert true <= counted <= true + rounds / rows
    kept = {row.tobytes() for row in state.sets}
    distinct, times = np.unique(awake, axis=0, return_counts=True)
    assert len(distinct) > rows
    assert {row.tobytes() for row in distinct[times > rounds / rows]} <= kept


def test_with_room_for_every_set_nothing_is_evicted() -> None:
    awake, losses = world(300, 3, 1)
    runs = [wk.play(wk.SleepingExp3G(max_sets=n), awake, losses, np.random.default_rng(2)) for n in (7, 1024)]
    assert runs[0].tolist() == runs[1].tolist()


def share(losses: list[float], arm: int, awake: list[int], eta: float = 1.0) -> float:
    """Return what Sleeping-EXP3G takes for the chance to play `arm`, having seen `awake` and nothing else."""
    policy = wk.SleepingExp3G(eta=eta, exploration=0.0, max_sets=4)
    state = policy.start(len(losses))
    state.losses[:] = losses
    p = np.zeros(len(losses))
    p[awake] = 1.0 / len(awake)
    return policy.remember(state, wk.Decision(arm, float(p[arm]), tuple(awake), p, 1, 0.0), 0.5)


@pytest.mark.parametrize("apart", [0.0, 600.0, 646.0, 700.0, 745.0, 746.0, 1e4, 1e8])
def test_shares_are_right_however_far_a_sleeper_is_ahead(apart: float) -> None:
    """The best arm sleeps: weights relative to it may all be zero, or so small that they have lost their digits."""
    losses = [0.0, apart, apart + 3.0, apart + 1.0]
    total = 1.0 + math.exp(-3.0) + math.exp(-1.0)
    assert share(losses, 1, [1, 2, 3]) == pytest.approx(1.0 / total, rel=1e-7)
    assert share(losses, 2, [1, 2, 3]) == pytest.approx(math.exp(-3.0) / total, rel=1e-7)
    assert share(losses, 1, [1]) == 1.0


@pytest.mark.parametrize(("mine", "theirs"), [(2_000.0, 1_000.0), (1e33, 1_000.0), (1_701.0, 1_000.0)])
def test_shares_stay_finite_among_arms_that_are_far_apart_themselves(mine: float, theirs: float) -> None:
    assert 0.0 < share([0.0, theirs, mine], 2, [1, 2]) < 1e-300  # without an overflow, which uncompiled code raises
    assert share([0.0, theirs, mine], 1, [1, 2]) == 1.0


def test_feedback_for_an_arm_with_no_share_at_all_is_finite() -> None:
    policy = wk.SleepingExp3G(eta=1.0, exploration=0.0, max_sets=4)
    state = policy.start(2)
    state.losses[:] = 0.0, 1e4
    p = np.array([1.0 - 1e-12, 1e-12])
    decision = wk.Decision(1, 1e-12, (0, 1), p, 1, 0.0)
    memo = policy.remember(state, decision, 0.5)
    assert memo == 0.0
    policy.update(state, decision._replace(memo=memo), 1.0)
    assert state.losses[1] == pytest.approx(1e4 + 1.0 / FLOOR)


# Tables

awake_sets = some.sets(some.integers(0, 9), min_size=1).map(sorted)


@settings(max_examples=200, deadline=None)
@given(some.lists(awake_sets, max_size=40), some.integers(1, 12))
def test_a_table_counts_like_a_dictionary(seen: list[list[int]], capacity: int) -> None:
    sets, counts = np.zeros((capacity, 10), np.bool_), np.zeros(capacity, np.int64)
    expected: dict[tuple[int, ...], int] = {}
    rows: dict[tuple[int, ...], int] = {}
    for awake in map(tuple, seen):
        row = find(sets, counts, ints(*awake))
        if awake not in expected and len(expected) == capacity:
            assert row == -1  # full, and never said of a set that is there
            continue
        assert 0 <= row < capacity
        assert rows.setdefault(awake, row) == row
        count(sets, counts, row, ints(*awake))
        expected[awake] = expected.get(awake, 0) + 1
    assert len(set(rows.values())) == len(rows)
    assert counts.sum() == sum(expected.values())
    for awake, times in expected.items():
        assert counts[rows[awake]] == times
        assert tuple(np.flatnonzero(sets[rows[awake]]).tolist()) == awake
    wider = np.zeros((capacity, 14), np.bool_)  # arms that were added have slept so far
    wider[:, :10] = sets
    assert all(find(wider, counts, ints(*awake)) == row for awake, row in rows.items())


def test_counting_wipes_what_was_in_the_row() -> None:
    sets, counts = np.zeros((2, 4), np.bool_), np.zeros(2, np.int64)
    count(sets, counts, 1, ints(0, 1, 3))
    count(sets, counts, 1, ints(2))
    assert sets.tolist() == [[False] * 4, [False, False, True, False]]
    assert counts.tolist() == [0, 2]


def test_sets_that_begin_or_end_alike_are_different_sets() -> None:
    sets, counts = np.zeros((1, 4), np.bool_), np.zeros(1, np.int64)
    count(sets, counts, 0, ints(1, 2))
    assert find(sets, counts, ints(1, 2)) == 0
    for other in (ints(1), ints(2), ints(1, 2, 3), ints(0, 1, 2), ints(1, 3)):
        assert find(sets, counts, other) == -1


def test_the_first_of_the_rarest_rows_is_the_one_to_go() -> None:
    assert fewest(ints(5, 3, 4, 3)) == 1
    assert fewest(ints(2, 2, 2)) == 0


@pytest.mark.parametrize("inner", [wk.SBExp3(eta=1.0), EpsilonGreedy(0.2)], ids=["compiled", "plain"])
def test_sets_that_come_too_late_share_one_learner(inner: wk.Policy) -> None:
    bandit = wk.Bandit(wk.PerSet(inner, max_sets=2), 4, seed=0)
    own, late = [[0, 1], [0, 2]], [[1, 2], [0, 1, 2], [1, 2, 3]]
    for awake in own:
        bandit.choose(awake)
    before = [bandit.probabilities(awake) for awake in (*own, *late)]
    for _ in range(6):  # arm 1 wins, the other loses, on one of the late sets
        decision = bandit.choose(late[0])
        bandit.update(decision, loss=float(decision.arm == 2))
    after = [bandit.probabilities(awake) for awake in (*own, *late)]
    assert [p.tolist() for p in after[:2]] == [p.tolist() for p in before[:2]]
    for p, q in zip(before[2:], after[2:], strict=True):
        assert q[1] > p[1] + 0.1
        assert q[1] > q[2] + 0.1
    assert bandit.state.set_counts.tolist() == [1, 1]  # the late ones take no place


@pytest.mark.parametrize("inner", [wk.SBExp3(eta=1.0), EpsilonGreedy(0.2)], ids=["compiled", "plain"])
def test_a_set_that_comes_too_late_is_not_written_behind_the_table(inner: wk.Policy) -> None:
    policy = wk.PerSet(inner, max_sets=2)
    behind, counts = np.zeros((3, 4), np.bool_), np.zeros(3, np.int64)
    state = policy.start(4)._replace(sets=behind[:2], set_counts=counts[:2])
    for awake in ((0, 1), (0, 2), (1, 2), (1, 3)):
        p = np.zeros(4)
        p[list(awake)] = 0.5
        decision = wk.Decision(awake[0], 0.5, awake, p, 1, 0.0)
        memo = policy.remember(state, decision, 0.5)
        policy.update(state, decision._replace(memo=memo), 1.0)
    assert counts.tolist() == [1, 1, 0]
    assert not behind[2].any()


def test_a_plain_learner_for_each_set_plays_as_a_compiled_one() -> None:
    class Mean(literal.SleepingUCB):
        """The lowest mean, ties at random, and now and then any arm."""

        def law(self, S: list[int]) -> literal.Law:
            means = {i: self.total[i] / max(self.n[i], 1) for i in S}
            best = [i for i in S if means[i] <= min(means.values()) + 1e-12]
            return {i: 0.2 / len(S) + (0.8 / len(best) if i in best else 0.0) for i in S}

    awake, losses = world(600, 5, 3)
    reference = literal.PerSet(lambda: Mean(5), 4)
    expected = literal.run(reference, awake, losses, np.random.default_rng(4).random(600))[0]
    policy = wk.PerSet(EpsilonGreedy(0.2), max_sets=4)
    assert wk.play(policy, awake, losses, np.random.default_rng(4)).tolist() == expected


# Draws

LAW = np.array([0.0, 0.1, 0.25, 0.0, 0.4, 0.25])
AWAKE = ints(1, 2, 3, 4, 5)


def test_every_arm_is_drawn_on_its_own_stretch_of_the_unit_interval() -> None:
    n = 20_000
    arms = [draw(LAW, AWAKE, (i + 0.5) / n)[0] for i in range(n)]
    assert np.bincount(arms, minlength=6).tolist() == [0, 2_000, 5_000, 0, 8_000, 5_000]
    assert arms == sorted(arms)


def test_what_is_left_of_the_draw_is_where_it_fell_in_the_stretch() -> None:
    assert draw(LAW, AWAKE, 0.0) == (1, 0.0)
    for arm, start, coin in ((2, 0.1, 0.75), (4, 0.35, 0.125), (5, 0.75, 0.5)):
        assert draw(LAW, AWAKE, start + LAW[arm] * coin) == pytest.approx((arm, coin), abs=1e-14)


def test_frequencies_and_coins_are_those_of_chance() -> None:
    """Chi-squared at the level of one in a thousand: arms follow the law, coins are uniform whatever the arm."""
    n, bins = 40_000, 10
    drawn = [draw(LAW, AWAKE, u) for u in np.random.default_rng(5).random(n)]
    arms = np.array([arm for arm, _ in drawn])
    coins = np.array([coin for _, coin in drawn])
    likely = np.flatnonzero(LAW)
    assert stats.chisquare([(arms == k).sum() for k in likely], n * LAW[likely]).pvalue > 1e-3
    table = np.array([np.histogram(coins[arms == k], bins, (0.0, 1.0))[0] for k in likely])
    assert table.sum() == n
    assert stats.chi2_contingency(table).pvalue > 1e-3
    for row in table:
        assert stats.chisquare(row).pvalue > 1e-3


@pytest.mark.parametrize("u", [0.0, 1e-300, 1e-18, 0.5, 1.0 - 1e-15, BELOW_ONE])
def test_an_arm_below_the_floor_is_never_drawn(u: float) -> None:
    p = np.array([FLOOR * 0.999, 1.0, 5e-324, 0.0])
    arm, coin = draw(p, ints(0, 1, 2, 3), u)
    assert arm == 1
    assert 0.0 <= coin < 1.0


def test_an_arm_at_the_floor_can_be_drawn() -> None:
    assert draw(np.array([FLOOR, 1.0]), ints(0, 1), FLOOR / 2) == (0, 0.5)


@pytest.mark.parametrize("short", [2.0**-53, 2.0**-52, 1e-12, 1e-10])
def test_a_draw_past_the_end_is_that_of_the_last_arm_which_can_be_drawn(short: float) -> None:
    p = np.array([0.5, 0.0, 0.5 - short, 0.0, 1e-19, 0.0])
    assert math.fsum(p[:4]) < 1.0
    arm, coin = draw(p, ints(0, 1, 2, 4, 5), BELOW_ONE)
    assert arm == 2
    assert 0.0 <= coin < 1.0


def test_a_law_that_rounding_left_short_of_one_is_drawn_to_its_end() -> None:
    """Ten times a tenth is 1 - 2^-53 when added up, which the largest uniform number is not below."""
    p = np.full(10, 0.1)
    assert sum(p.tolist()) == BELOW_ONE
    assert draw(p, ints(*range(10)), BELOW_ONE) == (9, BELOW_ONE)
    p[9] -= 2.0**-53
    assert sum(p.tolist()) == 1.0 - 2.0**-52
    assert draw(p, ints(*range(10)), BELOW_ONE) == (9, BELOW_ONE)


@settings(max_examples=300, deadline=None)
@given(
    some.lists(some.one_of(some.just(0.0), some.floats(1e-30, 1.0)), min_size=1, max_size=8),
    some.one_of(some.floats(0.0, BELOW_ONE), some.just(BELOW_ONE)),
    some.data(),
)
def test_a_draw_is_always_of_an_awake_arm_that_can_be_drawn(weights: list[float], u: float, data: Any) -> None:
    awake = data.draw(some.sets(some.integers(0, len(weights) - 1), min_size=1).map(sorted))
    p = np.zeros(len(weights))
    p[awake] = np.array(weights)[awake]
    if p.sum() < 1e-9:
        p[awake[0]] = 1.0
    p /= p.sum()
    arm, coin = draw(p, ints(*awake), u)
    assert arm in awake
    assert p[arm] >= FLOOR
    assert 0.0 <= coin < 1.0


# One arm


def alone(policy: wk.Policy) -> wk.Policy:
    """Return `policy` as it can be for one arm."""
    return wk.FixedOrdering((0,)) if isinstance(policy, wk.FixedOrdering) else policy


@pytest.mark.parametrize("policy", [alone(case.policy) for case in CASES], ids=repr)
def test_one_arm_is_enough(policy: wk.Policy) -> None:
    bandit = wk.Bandit(policy, ["only"], seed=0)
    rng = np.random.default_rng(1)
    for _ in range(70):
        decision = bandit.choose()
        assert (decision.arm, decision.probability, decision.probabilities.tolist()) == ("only", 1.0, [1.0])
        bandit.update(decision, loss=float(rng.random()))
    assert all(np.isfinite(array).all() for array in bandit.state)
    awake = np.array([[True], [False], [True]])
    assert wk.play(policy, awake, np.ones((3, 1)), np.random.default_rng(2)).tolist() == [0, -1, 0]
    bandit.add_arm("other")
    p = bandit.probabilities()
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    assert bandit.choose(["other"]).arm == "other"


# Names that come and go


def said_in_every_way(names: list[str], positions: list[int], n_arms: int) -> list[Any]:
    """Return the ways to say who is awake, all of which a bandit may remember."""
    mask = np.zeros(n_arms, np.bool_)
    mask[positions] = True
    return [names, tuple(names), mask, mask.tolist(), iter(names)]


def test_a_retired_arm_is_not_played_again_though_its_sets_were_remembered() -> None:
    bandit = wk.Bandit(wk.Uniform(), ["a", "b", "c"], seed=0)
    for awake in (None, *said_in_every_way(["a", "b"], [0, 1], 3), *said_in_every_way(["a", "c"], [0, 2], 3)):
        bandit.choose(awake)
    assert {bandit.choose().arm for _ in range(60)} == {"a", "b", "c"}
    bandit.retire_arm("b")
    assert {bandit.choose().arm for _ in range(60)} == {"a", "c"}
    assert bandit.choose().awake == ("a", "c")
    assert bandit.probabilities().tolist() == [0.5, 0.0, 0.5]
    for awake in said_in_every_way(["a", "b"], [0, 1], 3):
        with pytest.raises(ValueError, match="awake must be without arms that are retired, got 'b'"):
            bandit.choose(awake)
    for awake in said_in_every_way(["a", "c"], [0, 2], 3):
        assert bandit.choose(awake).awake == ("a", "c")


def test_a_new_arm_is_played_though_all_arms_were_remembered_without_it() -> None:
    bandit = wk.Bandit(wk.Uniform(), ["a", "b"], seed=0)
    for awake in (None, *said_in_every_way(["a", "b"], [0, 1], 2)):
        bandit.choose(awake)
    bandit.add_arm("c")
    assert {bandit.choose().arm for _ in range(60)} == {"a", "b", "c"}
    assert bandit.probabilities().tolist() == [1 / 3] * 3
    for awake in said_in_every_way(["a", "b"], [0, 1], 3):
        decision = bandit.choose(awake)
        assert (decision.awake, decision.probabilities.tolist()) == (("a", "b"), [0.5, 0.5, 0.0])
    for mask in ([True, True], np.array([True, True])):
        with pytest.raises(ValueError, match=r"awake must be a mask of shape \(3,\)"):
            bandit.choose(mask)
    bandit.retire_arm("c")
    bandit.add_arm("d")
    assert {bandit.choose().arm for _ in range(60)} == {"a", "b", "d"}


@pytest.mark.parametrize("one", [1, 1.0, np.int64(1)])
def test_truth_values_are_a_mask_even_where_an_arm_is_called_one(one: Any) -> None:
    bandit = wk.Bandit(wk.Uniform(), ["a"], seed=0)
    assert bandit.choose([True]).awake == ("a",)
    bandit.add_arm(one)
    for _ in range(2):  # the second time from memory
        assert bandit.choose([1]).awake == (1,)
        assert bandit.choose((1, "a")).awake == ("a", 1)
        assert bandit.choose([True, False]).awake == ("a",)
        assert bandit.choose([False, True]).awake == (1,)
        with pytest.raises(ValueError, match=r"awake must be a mask of shape \(2,\), got \[True\]"):
            bandit.choose([True])
        with pytest.raises(TypeError, match="not a boolean or None, got True"):
            bandit.choose((True, "a"))
        with pytest.raises(ValueError, match=r"decision\.arm must be among the arms"):
            bandit.update(bandit.choose([1])._replace(arm=True), loss=0.5)


def test_truth_values_are_a_mask_even_where_arms_are_called_zero_and_one() -> None:
    bandit = wk.Bandit(wk.Uniform(), ["a", "b"], seed=0)
    bandit.add_arm(1)
    bandit.add_arm(0)
    for _ in range(2):
        assert bandit.choose([1, 0]).awake == (1, 0)
        assert bandit.choose([True, False, False, False]).awake == ("a",)
        with pytest.raises(ValueError, match=r"awake must be a mask of shape \(4,\), got \[True, False\]"):
            bandit.choose([True, False])
