"""Counts of duels by group, pair and kind."""

import numpy as np
import pytest

from wakeful.bandits.bradley_terry import NO_TIES, SIDED, UNSIDED
from wakeful.bandits.duel_counts import TIED, DuelCounts, Outcome, checked_group


def some() -> DuelCounts:
    counts = DuelCounts()
    counts.add(None, 0, 1, SIDED, Outcome(1.0, 0.0))
    counts.add("x", 0, 1, SIDED, TIED)
    counts.add("x", 0, 1, SIDED, Outcome(0.25, 0.75))
    counts.add("y", 1, 0, UNSIDED, Outcome(0.0, 1.0))
    counts.add("y", 2, 2, UNSIDED, Outcome(0.5, 0.5))  # an arm that met itself
    return counts


def test_results_of_a_group_and_of_all() -> None:
    counts = some()
    x = counts.of_group("x")
    assert [field.tolist() for field in x] == [[0], [1], [0.25], [0.75], [1.0], [SIDED]]
    assert x.duels.tolist() == [2.0]
    assert counts.overall().duels.sum() == 4.0
    assert counts.groups == [None, "x", "y"]
    assert DuelCounts().overall().first.dtype == np.int64


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    arms = rng.permuted(np.tile(np.arange(5), (200, 1)), axis=1)[:, :2]
    outcomes = np.eye(3)[rng.integers(0, 3, 200)]
    groups = rng.choice(["x", "y", "z"], 200).tolist()
    one, other, plain = DuelCounts(), DuelCounts(), DuelCounts()
    one.add_many(groups, arms, SIDED, outcomes)
    plain.add_many([], arms, SIDED, outcomes)
    for group, (first, second), outcome in zip(groups, arms.tolist(), outcomes.tolist(), strict=True):
        other.add(group, first, second, SIDED, Outcome(*outcome))
    for group in ("x", "y", "z"):
        a, b = (sorted(zip(*map(np.ndarray.tolist, c.of_group(group)), strict=True)) for c in (one, other))
        assert a == b
    assert plain.overall().duels.sum() == 200.0
    assert plain.groups == [None]
    one.add_many([], arms[:0], SIDED, outcomes[:0])


def test_what_was_counted_survives_as_an_array() -> None:
    counts = some()
    again = DuelCounts.from_array(counts.to_array(), counts.groups[1:], 3)
    np.testing.assert_array_equal(again.to_array(), counts.to_array())
    assert again.groups == counts.groups
    empty = DuelCounts.from_array(DuelCounts().to_array(), [], 3)
    assert empty.overall().first.size == 0


@pytest.mark.parametrize(
    "row",
    [
        [3, 0, 1, 0, 1, 0, 0],  # no such group
        [0, 0, 9, 0, 1, 0, 0],  # no such arm
        [0, 1, 1, 0, 1, 0, 0],
        [0, 0, 1, 3, 1, 0, 0],
        [0, 0.5, 1, 0, 1, 0, 0],
        [0, 0, 1, 0, -1, 0, 0],
        [0, 0, 1, 0, np.nan, 0, 0],
        [0, 0, 1, 0, 1, 0],
    ],
)
def test_a_table_from_outside_that_cannot_be_one(row: list[float]) -> None:
    with pytest.raises(ValueError, match="duel_counts must be"):
        DuelCounts.from_array(np.array([row], np.float64), ["x", "y"], 3)
    with pytest.raises(ValueError, match="groups must be a list of different names"):
        DuelCounts.from_array(DuelCounts().to_array(), ["x", "x"], 3)


def test_wins_of_an_earlier_version_have_neither_sides_nor_ties() -> None:
    wins = np.array([[0.0, 2.5, 0.0], [1.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    results = DuelCounts.from_wins(wins).overall()
    assert [field.tolist() for field in results] == [[0], [1], [2.5], [1.5], [0.0], [NO_TIES]]


def test_groups_have_names_that_can_be_saved() -> None:
    assert checked_group("x") == "x"
    assert checked_group(3) == 3
    assert checked_group(None) is None
    with pytest.raises(TypeError, match=r"group must be a string or a whole number, got 1\.5"):
        checked_group(1.5)
    with pytest.raises(ValueError, match=r"group must be one of 'x', 'y', got 'X' \(did you mean 'x'\?\)"):
        some().of_group("X")
    with pytest.raises(ValueError, match="group must be left out: no duel has had a group, got 'x'"):
        DuelCounts().of_group("x")
