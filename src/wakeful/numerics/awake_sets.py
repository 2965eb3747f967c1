"""A hash table of awake sets with a count of each, stored in two arrays of a policy's state."""

import numpy as np

from wakeful.numerics.arrays import Ints, Mask
from wakeful.numerics.compile import kernel

LONGEST = 1 << 62  # rows: more than any table has


@kernel
def find(sets: Mask, counts: Ints, awake: Ints, reach: int = LONGEST) -> int:
    """Return the row of `sets` that holds `awake`, else an empty row (its count is 0), else -1 (the table is full).

    The hash depends on the awake arms alone, so a table stays valid when arms are added. At most `reach` rows are
    looked at: a small number makes a set that a full table does not hold cost little.
    """
    capacity = counts.size
    key = 7
    for k in awake:
        key = (key * 31 + k + 1) & 0x7FFFFFFF
    for step in range(min(reach, capacity)):
        row = (key + step) % capacity
        if counts[row] == 0 or _holds(sets[row], awake):
            return row
    return -1


@kernel
def count(sets: Mask, counts: Ints, row: int, awake: Ints) -> None:
    """Write `awake` into `row`, whatever was there, and count it once more."""
    sets[row] = False
    for k in awake:
        sets[row, k] = True
    counts[row] += 1


@kernel
def fewest(counts: Ints) -> int:
    """Return the row with the smallest count."""
    return int(np.argmin(counts))


@kernel
def _holds(row: Mask, awake: Ints) -> bool:
    """Whether `row` is true on `awake` and nowhere else."""
    n = 0
    for k in range(row.size):
        if row[k]:
            if n == awake.size or awake[n] != k:
                return False
            n += 1
    return n == awake.size
