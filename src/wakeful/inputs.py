"""The checks on input that all doors share: each refuses with one sentence and changes nothing."""

import difflib
import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any


def must_be(name: str, rule: str, value: object) -> str:
    """Return the sentence with which a value is refused."""
    return f"{name} must be {rule}, got {value!r}"


def real(name: str, value: Any, rule: str, low: float, high: float = math.inf, *, above: bool = False) -> float:
    """Return `value` as a float if it is a real number from `low` (itself excluded if `above`) to `high`."""
    if isinstance(value, float) or (isinstance(value, Real) and not isinstance(value, bool)):
        number = float(value)
        if low <= number <= high and math.isfinite(number) and not (above and number == low):
            return number
        raise ValueError(must_be(name, rule, value))
    raise TypeError(must_be(name, rule, value))


def whole(name: str, value: Any, rule: str, low: int) -> int:
    """Return `value` as an int if it is a whole number of at least `low`."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(must_be(name, rule, value))
    if value < low:
        raise ValueError(must_be(name, rule, value))
    return int(value)


def one_of(name: str, value: object, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`, else name the nearest one."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    rule = "one of " + ", ".join(map(repr, known))
    raise ValueError(must_be(name, rule, value) + did_you_mean(value, known))


def did_you_mean(value: object, known: Iterable[object]) -> str:
    """Return ` (did you mean 'x'?)` if a known name is close to `value`, else nothing."""
    names = [name for name in known if isinstance(name, str)]
    if isinstance(value, str):
        lower = {name.lower(): name for name in names}
        close = difflib.get_close_matches(value.lower(), lower, n=1, cutoff=0.6)
        if close:
            return f" (did you mean {lower[close[0]]!r}?)"
    return ""
