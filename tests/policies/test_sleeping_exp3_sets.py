"""Sleeping-EXP3G with a table of awake sets that is full, and with arms far apart."""

import math
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from reference import policies as literal
from small_worlds import world
from wakeful.policies.kernels import FLOOR


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
