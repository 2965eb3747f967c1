"""Who is awake, drawn at random: with the distributions that are promised."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import worlds as reference
from wakeful.worlds import (
    Block,
)
from wakeful.worlds.draws import Sleepers, awake_sets
from world_draws import assert_frequencies, assert_means, sets_of


@settings(deadline=None, max_examples=15)
@given(st.lists(st.sampled_from([1e-6, 0.01, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=4), st.integers(0, 99))
def test_sleepers_have_the_law_of_independent_arms_given_somebody(rates: list[float], seed: int) -> None:
    arms = Sleepers(np.random.default_rng(seed), np.array(rates), 20_000)
    awake = arms.awake()
    assert_frequencies(sets_of(awake), reference.awake_law(rates))
    means = np.linspace(0.2, 0.8, len(rates))
    assert_means(Block(awake, arms.losses(means), np.tile(means, (20_000, 1))))


def test_losses_of_sleepers_are_independent_of_each_other() -> None:
    arms = Sleepers(np.random.default_rng(1), np.array([0.2, 0.2]), 200_000)
    both = arms.awake().all(axis=1)
    losses = arms.losses(np.array([0.5, 0.5]))[both]
    law = {(a, b): 0.25 for a in (0.0, 1.0) for b in (0.0, 1.0)}
    assert_frequencies([tuple(row) for row in losses.tolist()], law)


def test_the_largest_uniform_number_still_wakes_somebody() -> None:
    class Largest(np.random.Generator):
        def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
            array = np.empty(size) if out is None else out
            array[...] = 1.0 - 2.0**-53
            return array

    for rates in ([1e-300], [0.3, 0.7], [0.1] * 10):
        assert Sleepers(Largest(np.random.PCG64(0)), np.array(rates), 3).awake().any(axis=1).all()


@pytest.mark.parametrize(("n_arms", "smallest"), [(1, 1), (3, 1), (4, 2), (2, 2)])
def test_random_sets_are_uniform_among_those_large_enough(n_arms: int, smallest: int) -> None:
    found = sets_of(awake_sets(np.random.default_rng(2), 20_000, n_arms, smallest))
    assert_frequencies(found, reference.awake_law([0.5] * n_arms, smallest))
