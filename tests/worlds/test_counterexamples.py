"""The worlds that tell external and ordering regret apart."""

import numpy as np
import pytest

from reference import worlds as reference
from wakeful import regret
from wakeful.worlds import (
    ExternalNotOrdering,
    OrderingNotExternal,
)
from world_draws import SIGMAS, assert_frequencies, drawn, sets_of


def test_external_regret_does_not_bound_ordering_regret() -> None:
    world = ExternalNotOrdering(600)
    block = drawn(world, 600, size=7)
    assert sets_of(block.awake) == [(0, 1)] * 300 + [(1, 2)] * 300
    assert (block.losses == np.array([1.0, 2.0, 3.0]) / 3).all()
    choices = world.choices(block.awake)
    assert choices.tolist() == [0] * 300 + [2] * 300
    assert np.allclose(regret.external(block.awake, block.losses, choices), 0.0, rtol=0, atol=1e-9)
    assert regret.ordering(block.awake, block.losses, choices).value == pytest.approx(100.0)


def test_ordering_regret_does_not_bound_external_regret() -> None:
    world = OrderingNotExternal()
    block = drawn(world, 4000)
    choices = world.choices(block.awake)
    assert_frequencies(sets_of(block.awake), dict.fromkeys(reference.ORDERING_NOT_EXTERNAL, 0.25))
    for S, losses, choice in zip(sets_of(block.awake), block.losses, choices, strict=True):
        table, played = reference.ORDERING_NOT_EXTERNAL[S]
        assert {k: losses[k] for k in S} == table
        assert choice == played
    assert regret.external(block.awake, block.losses, choices)[0] == sets_of(block.awake).count((0, 1))
    assert abs(regret.ordering(block.awake, block.losses, choices).value) <= SIGMAS * np.sqrt(4000)
    balanced = np.array([block.awake[sets_of(block.awake).index(S)] for S in reference.ORDERING_NOT_EXTERNAL])
    losses = np.array([block.losses[sets_of(block.awake).index(S)] for S in reference.ORDERING_NOT_EXTERNAL])
    assert regret.ordering(balanced, losses, world.choices(balanced)).value == 0.0  # each set once: exactly as good
    assert regret.external(balanced, losses, world.choices(balanced))[0] == 1.0
    with pytest.raises(ValueError, match="awake must be sets of this world"):
        world.choices(np.ones((1, 4), bool))
