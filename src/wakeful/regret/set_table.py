"""A hash table of awake sets that can grow: its owner doubles it when it is full.

`slots` holds row numbers, -1 where empty, twice as many as there are rows; `keys` and `sets` hold the awake sets.
"""

from wakeful.numerics.arrays import Ints, Mask
from wakeful.numerics.compile import kernel

KEY_BITS = 62  # arms whose awake set is a number, its bits
LOW_BITS = (1 << 31) - 1
MIX = 1_000_003


@kernel
def find_row(slots: Ints, keys: Ints, sets: Mask, counts: Ints, awake: Mask, t: int) -> int:
    """Return the row of the set in row `t` of `awake`, a new row if necessary; -1 if the table is full."""
    key = _key(awake, t)
    slot = _slot(slots, key)
    while slots[slot] >= 0 and not (keys[slots[slot]] == key and _same(sets, slots[slot], awake, t)):
        slot = (slot + 1) & (slots.size - 1)
    row = slots[slot]
    if row < 0 and counts[0] < keys.size:
        row = counts[0]
        keys[row] = key
        for k in range(awake.shape[1]):
            sets[row, k] = awake[t, k]
        slots[slot] = row
        counts[0] += 1
    return row  # type: ignore[no-any-return]


@kernel
def _slot(slots: Ints, key: int) -> int:
    """Return the slot to try first. A key that is the number of a slot is its own: few arms never collide."""
    return key if key < slots.size else _mixed(key) & (slots.size - 1)


@kernel
def _same(sets: Mask, row: int, awake: Mask, t: int) -> bool:
    """Whether row `row` of `sets` is row `t` of `awake`, their keys being equal."""
    different = False
    if awake.shape[1] > KEY_BITS:
        for k in range(awake.shape[1]):
            different |= sets[row, k] != awake[t, k]
    return not different


def place_all(slots: Ints, keys: Ints, n_sets: int) -> None:
    """Fill the empty `slots` with the first rows of a table; half of them stay empty."""
    for row in range(n_sets):
        slot = _slot(slots, keys[row])
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = row


@kernel
def _key(awake: Mask, t: int) -> int:
    """Return the set in row `t` as bits, or, of more than `KEY_BITS` arms, a number that few sets share."""
    n_arms = awake.shape[1]
    if n_arms <= KEY_BITS:
        return _bits(awake, t, 0, n_arms)
    key = 7
    for first in range(0, n_arms, 31):
        key = _mixed(key * MIX + _bits(awake, t, first, min(first + 31, n_arms)))
    return key


@kernel
def _bits(awake: Mask, t: int, first: int, last: int) -> int:
    """Return arms `first` to `last - 1` of row `t` as bits."""
    bits = 0
    for k in range(first, last):
        bits |= int(awake[t, k]) << (k - first)
    return bits


@kernel
def _mixed(key: int) -> int:
    """Return 31 bits, each of which depends on many of those of `key`."""
    key = ((key >> 31) * MIX ^ key) & LOW_BITS
    return ((key ^ key >> 15) * MIX) & LOW_BITS
