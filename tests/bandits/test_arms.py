"""Names of arms that come and go, and how awake arms may be named."""

from typing import Any

import numpy as np
import pytest

import wakeful as wk


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


@pytest.mark.parametrize("one", [1, np.int64(1)])
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
