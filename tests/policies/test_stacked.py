"""Policies made of copies: what they take over from the inner policy, and that growing keeps every copy."""

import numpy as np
import pytest

import wakeful as wk
from wakeful.policies.stacked import stack, stacked_type


@pytest.mark.parametrize("inner", [wk.SIExp3(), wk.FixedOrdering((1, 0, 2)), wk.SleepingUCB()], ids=repr)
def test_what_holds_for_the_inner_policy_holds_for_its_copies(inner: wk.Policy) -> None:
    for outer in (wk.PerSet(inner, max_sets=2), wk.Sparring(inner)):
        assert (outer.symmetric, outer.order_free) == (inner.symmetric, inner.order_free)
        assert outer.memo_range(3) == inner.memo_range(3)
        assert {f"inner_{name}" for name in inner.ranges} <= set(outer.ranges)


def test_growing_keeps_every_copy_and_starts_new_ones() -> None:
    policy = wk.Sparring(wk.SleepingUCB())
    state = policy.start(2)
    for side in range(2):
        state.inner_losses[side] = side + 1.0
    grown = policy.grow(state, 3, 3)
    assert grown.inner_losses.tolist() == [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]]


def test_a_stack_has_a_row_for_each_copy() -> None:
    inner = wk.SleepingUCB().start(2)
    kind = stacked_type("Pile", inner._fields, "own")
    pile = kind(np.zeros(1), *stack(inner, 3))
    assert pile._fields == ("own", *(f"inner_{name}" for name in inner._fields))
    assert pile.inner_losses.shape == (3, 2)
