"""Tables of awake sets when they are full, the draw at its edges, one arm alone, and names that come and go."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

from small_worlds import ints
from wakeful.numerics.awake_sets import count, fewest, find

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
