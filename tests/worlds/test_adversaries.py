"""Losses that change, and losses that answer the learner."""

import numpy as np
import pytest

from reference import worlds as reference
from wakeful.worlds import (
    Ambush,
    Block,
    Drifting,
    Spiteful,
    SwitchingBest,
)
from world_draws import assert_frequencies, assert_means, drawn, sets_of


def test_best_arm_switches_after_each_period() -> None:
    block = drawn(SwitchingBest(n_arms=3, period=70, gap=0.5, rate=0.5), 70 * 400, size=64)
    assert block.expected is not None
    best = block.expected.argmin(axis=1).reshape(400, 70)
    assert (best == best[:, :1]).all()
    moves = (np.diff(best[:, 0]) % 3).tolist()
    assert_frequencies(moves, {1: 0.5, 2: 0.5})
    assert sorted(set(np.unique(block.expected).tolist())) == [0.25, 0.75]
    assert_means(block)
    assert_frequencies(sets_of(block.awake), reference.awake_law([0.5] * 3))


def test_the_ambusher_is_awake_alone_and_bad_until_it_is_awake_beside_others_and_good() -> None:
    block = drawn(Ambush(n_arms=4, change=3000, rate=0.5), 6000, size=70)
    early, late = block.awake[:3000], block.awake[3000:]
    alone = early[:, -1]
    assert not early[alone, :-1].any()
    assert abs(alone.mean() - 0.5) < 5 * 0.5 / 3000**0.5
    assert late[:, -1].all()
    assert (block.losses[:3000, -1] == 1.0).all()
    assert (block.losses[3000:, -1] == 0.0).all()
    assert_frequencies(sets_of(early[~alone, :-1]), reference.awake_law([0.5] * 3))
    assert_frequencies(sets_of(late[:, :-1]), reference.awake_law([0.5] * 3))
    assert block.expected is not None
    assert (block.expected[:, :-1] == 0.5).all()


def test_means_drift_in_small_steps_and_stay_inside() -> None:
    block = drawn(Drifting(n_arms=2, step=0.02, rate=0.9), 20_000, size=99)
    assert block.expected is not None
    steps = np.diff(block.expected, axis=0)
    inside = (block.expected[:-1] > 0.15) & (block.expected[:-1] < 0.85)
    assert np.abs(steps).max() < 0.02 * 6
    assert steps[inside].std() == pytest.approx(0.02, rel=0.03)
    assert block.expected.min() < 0.05
    assert block.expected.max() > 0.95
    assert_means(Block(np.ones_like(block.awake), np.where(block.awake, block.losses, block.expected), block.expected))


def test_spite_hits_the_likeliest_arm() -> None:
    run = Spiteful(4, rate=0.3).start(np.random.default_rng(0))
    found = []
    for _ in range(5000):
        awake = run.awake()
        found.append(tuple(np.flatnonzero(awake).tolist()))
        p = awake / awake.sum()
        losses = run.losses(p)
        assert losses.sum() == 1.0
        assert losses[awake.argmax()] == 1.0  # all the same: the first
    assert_frequencies(found, reference.awake_law([0.3] * 4))
