"""The names of arms, and the awake sets that callers pass: lists of names, masks, or nothing for all arms."""

import math
from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any

import numpy as np

from wakeful.inputs import DIGITS_RULE, UNICODE_RULE, did_you_mean, has_few_digits, is_unicode, must_be, whole
from wakeful.numerics.arrays import Mask

REMEMBERED = 1 << 20  # bytes, about: of awake sets whose mask is kept at hand
AT_HAND = frozenset({type(None), list, tuple, np.ndarray})  # awake sets of these types run no code of the caller's
BOOLEANS = frozenset({bool, np.bool_})
BOOL = np.dtype(np.bool_)
AWAKE_RULE = "a list of arm names, a boolean mask, or None for all arms"

MOST_ARMS = 1_000_000

Awake = Iterable[Any] | Mask | None
Found = tuple[tuple[Any, ...], Mask, tuple[int, ...]]  # names, in the order of the arms; mask; see `_doubtful`


class Arms:
    """The arms of a bandit by name and position; a position is never used for another arm."""

    def __init__(self, arms: int | Iterable[Hashable]) -> None:
        self.names = _names(arms)
        self.position: dict[Hashable, int] = {name: k for k, name in enumerate(self.names)}
        self.retired: Mask = np.zeros(len(self.names), np.bool_)
        self._any_retired = False
        self._booleans_clash = not {0, 1}.isdisjoint(self.position)  # as keys, True is 1 and False is 0
        self._shape = self.retired.shape
        self._masks: dict[Hashable, Found] = {}  # by names, and by the bytes of a mask

    def copy(self) -> "Arms":
        """Return the same arms, independent of these."""
        twin = Arms(self.names)
        twin.retired, twin._any_retired = self.retired.copy(), self._any_retired
        return twin

    def __len__(self) -> int:
        """Return how many arms there are, retired ones counted."""
        return len(self.names)

    def add(self, name: Hashable | None) -> int:
        """Add one arm and return its position; without a name it is called by its number."""
        name = self._next_number() if name is None else new_name(name)
        if name in self.position:
            raise ValueError(must_be("name", "different from the names of all other arms", name))
        self.names.append(name)
        self.position[name] = len(self) - 1
        self._booleans_clash = self._booleans_clash or name in {0, 1}
        self.retired = np.append(self.retired, False)
        self._shape = self.retired.shape
        self._masks.clear()
        return len(self) - 1

    def _next_number(self) -> int:
        """Return the position of the next arm, or the first number after it that names no arm."""
        number = len(self)
        while number in self.position:
            number += 1
        return number

    def retire(self, name: Hashable) -> None:
        """Let one arm sleep until it is revived."""
        retired = self.retired.copy()
        retired[self.of("name", name)] = True
        if retired.all():
            raise ValueError(must_be("name", "an arm other than the last one that can be chosen", name))
        self.retired, self._any_retired = retired, True
        self._masks.clear()

    def revive(self, name: Hashable) -> None:
        """Let one retired arm be chosen again; one that is not retired stays as it is."""
        retired = self.retired.copy()
        retired[self.of("name", name)] = False
        self.retired, self._any_retired = retired, bool(retired.any())
        self._masks.clear()

    def of(self, what: str, name: Any) -> int:
        """Return the position of the arm called `name`; `what` is how the caller calls the argument."""
        try:
            if not self._booleans_clash or type(name) not in BOOLEANS:
                return self.position[name]
        except (KeyError, TypeError):
            pass
        raise ValueError(must_be(what, self._rule(), name) + did_you_mean(name, self.names))

    def awake(self, awake: Awake) -> Found:
        """Return the names and the mask of the arms that can be chosen; the mask is not to be changed."""
        if awake is None:
            return self._masks.get(None) or self._remember(None, self.of_mask(~self.retired, "awake"))
        found = self.known(awake, "awake")
        if self._any_retired and (found[1] & self.retired).any():
            gone = next(name for name in found[0] if self.retired[self.position[name]])
            raise ValueError(must_be("awake", "without arms that are retired", gone))
        return found

    def known(self, awake: Any, what: str) -> Found:
        """Return the names and the mask of any arms, retired ones too; what was said before is looked up."""
        kind = type(awake)
        key: Any
        if kind is tuple:
            key = awake
        elif kind is list:
            key = tuple(awake)
        elif kind is np.ndarray and awake.dtype is BOOL and awake.shape == self._shape:
            key = awake.tobytes()
        else:
            return self._judged(awake, what)
        try:
            found = self._masks[key]
        except (KeyError, TypeError):  # not seen before, or not hashable
            return self._judged(awake, what)
        for k in found[2]:
            if type(key[k]) in BOOLEANS:
                return self._judged(awake, what)
        return found

    def _judged(self, awake: Any, what: str) -> Found:
        """Return the same for what was not said before, or refuse it."""
        if isinstance(awake, np.ndarray):
            if awake.dtype == BOOL and not isinstance(awake, np.ma.MaskedArray):
                return self.of_mask(np.asarray(awake), what)
            readable = awake.ndim == 1 and (awake.dtype.kind in "iuUO" or awake.size == 0)
        else:
            readable = isinstance(awake, Iterable) and not isinstance(awake, str | bytes | Mapping)
        if not readable:
            raise TypeError(must_be(what, AWAKE_RULE, awake))
        key = tuple(awake)
        if key and BOOLEANS.issuperset(map(type, key)):
            return self.of_mask(np.array(key, np.bool_), what)
        names, mask, _ = self._of_names(key, what)
        return self._remember(key, (names, mask, self._doubtful(key)))

    def _doubtful(self, key: tuple[Any, ...]) -> tuple[int, ...]:
        """Return where in `key` 0 and 1 stand: True and False there would be an equal key, and name no arms."""
        return tuple([k for k, name in enumerate(key) if name in {0, 1}]) if self._booleans_clash else ()

    def _of_names(self, key: tuple[Any, ...], what: str) -> Found:
        mask = np.zeros(len(self), np.bool_)
        for name in key:
            position = self.of(what, _a_name(name, what))
            if mask[position]:
                raise ValueError(must_be(what, "without repeated arms", list(key)))
            mask[position] = True
        return self.of_mask(mask, what)

    def of_mask(self, mask: Mask, what: str) -> Found:
        """Return the names and the mask of the arms of a mask."""
        if mask.shape != self._shape:
            raise ValueError(must_be(what, f"a mask of shape ({len(self)},)", mask.tolist()))
        try:
            return self._masks[mask.tobytes()]
        except KeyError:
            pass
        here = np.flatnonzero(mask).tolist()
        if not here:
            raise ValueError(must_be(what, "a set of at least one arm", []))
        names = tuple([self.names[k] for k in here])
        found = self._remember(names, (names, mask.copy(), self._doubtful(names)))
        return self._remember(mask.tobytes(), (names, found[1], ()))

    def _remember(self, key: Hashable, found: Found) -> Found:
        if len(self._masks) * (len(self) + 64) >= REMEMBERED:
            self._masks.clear()
        self._masks[key] = found
        return found

    def _rule(self) -> str:
        shown = ", ".join(map(repr, self.names[:8])) + (", ..." if len(self) > 8 else "")
        return f"among the arms {shown}"


def _names(arms: Any) -> list[Hashable]:
    """Return the names of `arms`, a number or names."""
    rule = "a number of arms or a list of names"
    if isinstance(arms, Set | Mapping):
        raise TypeError(must_be("arms", rule + " whose order is the same in every process", arms))
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
        number = whole("arms", arms, rule + ", at least 1", 1)
        if number > MOST_ARMS:
            raise ValueError(must_be("arms", f"at most {MOST_ARMS:,}", arms))
        return list(range(number))
    if isinstance(arms, np.ndarray) and arms.ndim != 1:
        raise TypeError(must_be("arms", rule, arms))
    names: list[Hashable] = [new_name(name, "arms") for name in arms]
    if not names:
        raise ValueError(must_be("arms", rule + ", at least one", arms))
    seen: set[Hashable] = set()
    for name in names:
        if name in seen:
            raise ValueError(must_be("arms", "names that differ", name))
        seen.add(name)
    return names


def _a_name(name: Any, what: str = "name") -> Hashable:
    """Return `name` if it can name an arm: any hashable value that equals itself, except a boolean."""
    kind = "a name" if what == "name" else "names"
    if type(name) in BOOLEANS or name is None:
        raise TypeError(must_be(what, f"{kind}, not a boolean or None", name))
    if isinstance(name, np.generic):
        name = name.item()
    try:
        hash(name)
    except TypeError:
        raise TypeError(must_be(what, f"{kind} that can be hashed, such as strings and numbers", name)) from None
    if isinstance(name, float) and math.isnan(name):
        raise ValueError(must_be(what, f"{kind} that can be found again", name))
    return name  # type: ignore[no-any-return]  # hashable, as just tried


def new_name(name: Any, what: str = "name") -> str | int:
    """Return the name of a new arm, if a file can hold it: a string or a whole number, as a plain one."""
    found = _a_name(name, what)
    if isinstance(found, str):
        if not is_unicode(found):
            raise ValueError(must_be(what, UNICODE_RULE, found))
        return str.__str__(found)
    if isinstance(found, int):
        if not has_few_digits(found):
            raise ValueError(must_be(what, DIGITS_RULE, found))
        return int(found)
    kind = "a string or a whole number" if what == "name" else "strings or whole numbers"
    raise TypeError(must_be(what, f"{kind}, which files can hold", name))


def listed(awake: Any) -> Any:
    """Return what an iterator gives, as a list; anything else as it is, for `Arms.awake` to judge."""
    if (
        type(awake) in AT_HAND
        or isinstance(awake, np.ndarray | str | bytes | Mapping)
        or not isinstance(awake, Iterable)
    ):
        return awake
    return list(awake)
