"""SleepingExp3 sees only rounds with somebody awake; its shares are those of such rounds, to the last digit."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import wakeful as wk
from wakeful.policies.sleeping_exp3 import conditional_share, nonempty_chance

chances = some.lists(some.floats(1e-3, 0.999), min_size=2, max_size=5)


def enumerated(awake: list[float], losses: Any, arm: int) -> tuple[Any, float, float]:
    """Return by enumeration how often each arm is seen, the chance of somebody awake, and the share of `arm`."""
    seen, somebody, share = np.zeros(len(awake)), 0.0, 0.0
    for mask in itertools.product([False, True], repeat=len(awake)):
        chance = math.prod(a if here else 1.0 - a for a, here in zip(awake, mask, strict=True))
        if any(mask):
            seen += chance * np.array(mask)
            somebody += chance
        if mask[arm]:
            share += chance / sum(math.exp(losses[arm] - losses[k]) for k in np.flatnonzero(mask))
    return seen / somebody, somebody, share / somebody


@settings(max_examples=200, deadline=None)
@given(chances, some.data())
def test_what_is_seen_gives_back_what_happens(awake: list[float], data: Any) -> None:
    losses = np.array(data.draw(some.lists(some.floats(0, 20), min_size=len(awake), max_size=len(awake))))
    arm = data.draw(some.integers(0, len(awake) - 1))
    frequencies, somebody, share = enumerated(awake, losses, arm)
    if frequencies.sum() > 1.0 + 1e-6:  # below, the frequencies say little of how often two arms are awake
        np.testing.assert_allclose(nonempty_chance(frequencies), somebody, rtol=1e-7)
        np.testing.assert_allclose(conditional_share(-losses, frequencies, arm), share, rtol=1e-7)


@pytest.mark.parametrize(
    ("frequencies", "chance"),
    [([1.0, 0.3], 1.0), ([0.5, 0.5], 0.0), ([0.25] * 4, 0.0), ([1.0], 1.0), ([0.1] * 10, 0.0), ([0.0, 2.0], 1.0)],
)
def test_arms_that_never_sleep_and_arms_that_are_never_awake_together(frequencies: list[float], chance: float) -> None:
    seen = np.array(frequencies)
    assert nonempty_chance(seen) == pytest.approx(chance, abs=1e-14)
    if chance == 0.0:
        assert conditional_share(np.zeros(seen.size), seen, 0) == pytest.approx(seen[0], abs=1e-14)


@pytest.mark.parametrize("together", [2**-53, 1e-12, 1e-6, 1e-3])
def test_arms_that_are_hardly_ever_awake_together(together: float) -> None:
    seen = np.array([0.5 + together, 0.5])
    assert nonempty_chance(seen) == pytest.approx(4.0 * together, rel=1e-2, abs=1e-14)
    assert conditional_share(np.zeros(2), seen, 1) == pytest.approx(0.5, abs=1e-3)


def test_two_arms_awake_half_the_time_are_divided_by_how_often_they_are_played() -> None:
    rng = np.random.default_rng(5)
    awake = rng.random((40_000, 2)) < 0.5
    awake = awake[awake.any(axis=1)]
    policy = wk.SleepingExp3(eta=1e-9, exploration=0.0)
    state = policy.start(2)
    wk.play(policy, awake, np.zeros(awake.shape), rng, state)
    bandit = wk.Bandit(policy, 2, seed=0)
    for field, learned in zip(bandit.state, state, strict=True):
        field[...] = learned
    assert bandit.choose().memo == pytest.approx(0.5, abs=0.005)  # 0.444 where nobody awake is forgotten


def test_estimated_losses_are_unbiased_where_rounds_without_anybody_are_skipped() -> None:
    rng = np.random.default_rng(6)
    chance, means = np.array([0.2, 0.4, 0.3]), np.array([0.8, 0.4, 0.6])
    awake = rng.random((60_000, 3)) < chance
    awake = awake[awake.any(axis=1)]
    losses = np.broadcast_to(means, awake.shape).copy()
    policy = wk.SleepingExp3(eta=1e-7, exploration=0.0)
    state = policy.start(3)
    wk.play(policy, awake, losses, rng, state)
    np.testing.assert_allclose(state.losses / len(awake), means, rtol=0.03)
