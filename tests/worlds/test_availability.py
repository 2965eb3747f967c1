"""Arms that sleep in patterns."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import worlds as reference
from wakeful.worlds import (
    Cycling,
    LossDependentSleep,
    MarkovSleep,
)
from world_draws import assert_frequencies, assert_means, drawn, sets_of


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 20))
def test_cycling(n_arms: int, n_awake: int, size: int) -> None:
    n_awake = min(n_awake, n_arms)
    block = drawn(Cycling(n_arms, n_awake), 40, size=size)
    assert block.awake.tolist() == reference.cycling(40, n_arms, n_awake)


def test_cycling_losses() -> None:
    assert_means(drawn(Cycling(), 20_000))


@pytest.mark.parametrize(("sleep", "wake"), [(0.3, 0.2), (0.9, 0.05)])
def test_markov_sleep(sleep: float, wake: float) -> None:
    block = drawn(MarkovSleep(3, sleep, wake), 40_000, size=777)
    found = sets_of(block.awake)
    for S in reference.awake_law([0.5] * 3):
        after = [found[t + 1] for t in range(len(found) - 1) if found[t] == S]
        assert_frequencies(after, reference.next_law(S, 3, sleep, wake))
    assert_means(block)
    firsts = [sets_of(drawn(MarkovSleep(2, sleep, wake), 1, seed, size=1).awake)[0] for seed in range(3000)]
    assert_frequencies(firsts, reference.awake_law([wake / (wake + sleep)] * 2))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 20), st.integers(0, 99))
def test_sleep_after_losses(n_arms: int, rest: int, size: int, seed: int) -> None:
    block = drawn(LossDependentSleep(n_arms, rest), 60, seed, size)
    assert block.awake.tolist() == reference.rested(block.losses.tolist(), rest)


def test_losses_are_independent_of_who_rests() -> None:
    assert_means(drawn(LossDependentSleep(3, 1), 30_000))
