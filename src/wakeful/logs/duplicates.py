"""Ids that were seen before: a hash table of 64-bit numbers, eight bytes each, of a limited size.

Two different ids have the same 64-bit hash with a chance of about n^2 / 2^65 for n ids, one in 200,000 for ten million.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wakeful.inputs import has_few_digits, must_be
from wakeful.limits import MAX_BYTES
from wakeful.logs.values import is_missing
from wakeful.numerics.arrays import Mask
from wakeful.numerics.compile import call_compiled

FIRST_SLOTS = 1 << 12
MOST_SLOTS = MAX_BYTES // 8
FULLEST = 0.7  # the share of slots in use at which the table is doubled


class SeenIds:
    """Ids that were seen; `fresh` says which are new."""

    def __init__(self) -> None:
        self._slots: NDArray[np.uint64] = np.zeros(FIRST_SLOTS, np.uint64)
        self._used = 0

    def fresh(self, ids: Sequence[Any]) -> Mask:
        """Return for each id whether it was not seen before, and see it; an empty one is always new."""
        if set(map(type, ids)) == {str}:
            keys = np.fromiter(map(hash, ids), np.int64, len(ids)).view(np.uint64)  # the hash of an empty text is 0
        else:
            keys = np.array([_key(value) for value in ids], np.uint64)
        found = np.zeros(len(ids), np.bool_)
        while self._used + len(ids) > FULLEST * self._slots.size:
            self._grow()
        self._used += call_compiled(_insert, self._slots, keys, found)
        return found

    def _grow(self) -> None:
        """Double the table; refuse more than its limit."""
        if self._slots.size >= MOST_SLOTS:
            rule = f"at most {int(FULLEST * MOST_SLOTS):,} different ones (columns={{'id': None}} ignores them)"
            raise ValueError(must_be("ids", rule, "more"))
        old = self._slots[self._slots > 0]
        self._slots = np.zeros(2 * self._slots.size, np.uint64)
        call_compiled(_insert, self._slots, old, np.zeros(old.size, np.bool_))


def _key(value: Any) -> int:
    """Return the hash of an id, positive; 0 if there is no id."""
    return 0 if is_missing(value) else (hash(id_text(value)) & 0xFFFFFFFFFFFFFFFF) or 1


def id_text(value: Any) -> str:
    """Return an id as a text; of a number that is too large for Python to write in digits, in those of base 16."""
    return hex(value) if type(value) is int and not has_few_digits(value) else str(value)


def _insert(slots: NDArray[np.uint64], keys: NDArray[np.uint64], fresh: Mask) -> int:
    """Put keys that are not zero into the table; say which were not there, and return how many."""
    most = np.uint64(slots.size - 1)  # a power of two, less one
    added = 0
    for n in range(keys.size):
        key = keys[n]
        if key == 0:
            fresh[n] = True
            continue
        place = key & most
        while slots[place] != 0 and slots[place] != key:
            place = (place + np.uint64(1)) & most
        if slots[place] == 0:
            slots[place] = key
            fresh[n] = True
            added += 1
    return added
