"""Which pairs of arms may meet: what callers of `DuelingBandit.choose` say about it, turned into a mask."""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from wakeful.bandits.arms import BOOLEANS, Arms, listed
from wakeful.bandits.duel_counts import GROUP_RULE, checked_group
from wakeful.duels.pairs import checked_pairs, group_pairs, within_groups
from wakeful.inputs import must_be, whole
from wakeful.numerics.arrays import Mask

MASK_BYTES = 1 << 20  # bytes, about: of pair masks kept at hand
PAIRS_RULE = "a list of pairs of arm names, or a symmetric (K, K) mask"

Groups = Mapping[Any, Hashable]


class Question(NamedTuple):
    """What was asked of `choose`: iterators and mappings are read, nothing is checked against the arms yet."""

    awake: Any
    distinct: bool
    groups: Groups | None
    pairs: Any
    size: Any
    within: bool
    group: Hashable | None

    def group_of(self, arm: Any) -> Hashable | None:
        """Return the group of a duel that `arm` is in: the one that was given, or that of its arms if they share it."""
        return self.groups[arm] if self.group is None and self.within and self.groups else self.group


def asked(
    awake: Any, distinct: Any, groups: Any, pairs: Any, size: Any, within: Any = False, group: Any = None
) -> Question:
    """Return what was asked of `choose`; this may run code of the caller's, for example an iterator."""
    for name, value in (("distinct", distinct), ("within", within)):
        if type(value) not in BOOLEANS:
            raise TypeError(must_be(name, "True or False", value))
    found = None if groups is None else _as_dict(groups)
    if within:
        _check_inside(found)
    return Question(listed(awake), bool(distinct), found, listed(pairs), size, bool(within), checked_group(group))


def _check_inside(groups: Groups | None) -> None:
    """Raise unless there are groups whose names can be saved, as the group of a duel is."""
    if groups is None:
        raise ValueError(must_be("groups", "given if within is", groups))
    for label in groups.values():
        if type(label) not in (str, int):
            raise TypeError(must_be("groups", f"a mapping to groups that are each {GROUP_RULE}, if within", label))


def number_of_arms(size: Any, n_arms: int) -> int:
    """Return how many arms a battle has: two at least, and no more than there are."""
    rule = f"a number of arms, from 2 to {n_arms}"
    number = whole("size", size, rule, 2)
    if number > max(2, n_arms):
        raise ValueError(must_be("size", rule, size))
    return number


class AllowedPairs:
    """Masks of allowed pairs of the arms of one bandit; those asked for last are kept."""

    def __init__(self, arms: Arms) -> None:
        self._arms = arms
        self._masks: dict[Any, Mask] = {}  # by what was said of them

    def forget(self) -> None:
        """Forget all masks, because the number of arms changed."""
        self._masks.clear()

    def mask(self, question: Question) -> tuple[Mask, int]:
        """Return the mask of allowed pairs, and how many arms are to be chosen."""
        awake, distinct, groups, pairs, size, within, _ = question
        if pairs is not None:
            _refuse_others("pairs", awake=awake, distinct=distinct or None, groups=groups, size=size)
            return self._given(pairs), 2
        many = 2 if size is None else number_of_arms(size, len(self._arms))
        return self._meeting(awake, distinct or size is not None, groups, within, many), many

    def _meeting(self, awake: Any, distinct: bool, groups: Groups | None, within: bool, size: int) -> Mask:
        """Return the mask of allowed pairs of the arms awake."""
        names, here, _ = self._arms.awake(awake)
        labels = None if groups is None else self._labels(groups, names)
        key = names, distinct, labels, within, size
        try:
            return self._masks[key]
        except KeyError:
            pass
        if within:
            mask = np.zeros((len(here), len(here)), np.bool_)
            mask[np.ix_(here, here)] = within_groups(labels or (), size)
            return self._remember(key, mask)
        apart = len(names) if labels is None else len(set(labels))
        if apart < (size if distinct or labels is not None else 1):
            what = "different arms" if labels is None else "different groups"
            raise ValueError(must_be("awake", f"arms of which {size} {what} can be chosen", list(names)))
        mask = here[:, np.newaxis] & here
        if distinct:
            np.fill_diagonal(mask, False)
        if labels is not None:
            mask[np.ix_(here, here)] = group_pairs(labels)
        return self._remember(key, mask)

    def _labels(self, groups: Groups, names: tuple[Any, ...]) -> tuple[Hashable, ...]:
        """Return the groups of the arms called `names`."""
        for name in groups:
            self._arms.of("groups", name)
        for name in names:
            if name not in groups:
                raise ValueError(f"groups must be given for every arm that is awake, got none for {name!r}")
        labels = tuple([groups[name] for name in names])
        for label in labels:
            if label != label:  # not a number, say  # noqa: PLR0124
                raise ValueError(must_be("groups", "a mapping to groups that can be found again", label))
        return labels

    def _given(self, pairs: Any) -> Mask:
        """Return the mask of the pairs that were given."""
        n_arms = len(self._arms)
        if isinstance(pairs, np.ndarray) and pairs.dtype == np.bool_:
            mask = checked_pairs(pairs, n_arms)
        else:
            if not isinstance(pairs, list | tuple):
                raise TypeError(must_be("pairs", PAIRS_RULE, pairs))
            mask = np.zeros((n_arms, n_arms), np.bool_)
            for pair in pairs:
                if not isinstance(pair, tuple | list) or len(pair) != 2:
                    raise TypeError(must_be("pairs", PAIRS_RULE, pair))
                left, right = (self._arms.of("pairs", name) for name in pair)
                mask[left, right] = mask[right, left] = True
            if not pairs:
                raise ValueError(must_be("pairs", "at least one", pairs))
        gone = mask.any(axis=1) & self._arms.retired
        if gone.any():
            name = self._arms.names[int(np.flatnonzero(gone)[0])]
            raise ValueError(must_be("pairs", "without arms that are retired", name))
        return mask

    def _remember(self, key: Any, mask: Mask) -> Mask:
        if len(self._masks) * (mask.size + 64) >= MASK_BYTES:
            self._masks.clear()
        self._masks[key] = mask
        return mask


def _as_dict(groups: Any) -> dict[Any, Hashable]:
    """Return a copy of a mapping to groups, if it is one."""
    if not isinstance(groups, Mapping):
        raise TypeError(must_be("groups", "a mapping from arm names to groups", groups))
    found = dict(groups)
    try:
        hash(tuple(found.values()))
    except TypeError:
        raise TypeError(must_be("groups", "a mapping to groups that can be hashed", groups)) from None
    return found


def _refuse_others(name: str, **others: Any) -> None:
    """Raise an error if the allowed pairs are given by other arguments besides the one called `name`."""
    for other, value in others.items():
        if value is not None:
            raise ValueError(must_be(other, f"left out if {name} is given", value))
