"""Checks of arguments for the public functions: each raises an error of one sentence and changes nothing."""

import difflib
import math
from collections.abc import Iterable
from dataclasses import is_dataclass
from itertools import islice
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_COMPARED = 1000  # names that are looked at for a suggestion: more would take longer than the work itself
LONGEST_SHOWN = 1000  # characters of a wrong value in an error: a whole table is no sentence
UNICODE_RULE = "texts that can be written in UTF-8, without lone surrogates"
MOST_DIGITS = 640  # of a whole number that Python turns into text, however its limit is set
TOO_MANY_DIGITS: int = 10**MOST_DIGITS
DIGITS_RULE = f"whole numbers of at most {MOST_DIGITS} digits"
LONGEST_NAME = 100  # characters; no suggestion is sought for a longer name, since comparing takes seconds


def must_be(name: str, rule: str, value: object) -> str:
    """Return the error text for a wrong value: "{name} must be {rule}, got {value!r}"."""
    return f"{name} must be {rule}, got {shown(value)}"


def shown(value: object) -> str:
    """Return how a value is shown in an error: at most its beginning."""
    try:
        text = repr(value)
    except ValueError:  # Python turns no number of very many digits into text
        text = f"{type(value).__name__} with too many digits to show"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}... ({len(text):,} characters)"


def require(holds: object, sentence: str) -> None:
    """Raise `AssertionError` with `sentence` unless `holds`: for public checks, as `python -O` removes `assert`."""
    if not holds:
        raise AssertionError(sentence)


def real(name: str, value: Any, rule: str, low: float, high: float = math.inf, *, above: bool = False) -> float:
    """Return `value` as a float if it is a real number from `low` (itself excluded if `above`) to `high`."""
    if type(value) is float and low < value < high:
        return value
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(must_be(name, rule, value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if low <= number <= high and math.isfinite(number) and not (above and number == low):
        return number
    raise ValueError(must_be(name, rule, value))


def whole(name: str, value: Any, rule: str, low: int) -> int:
    """Return `value` as an int if it is a whole number of at least `low`."""
    if type(value) is int and value >= low:
        return value
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(must_be(name, rule, value))
    if value < low:
        raise ValueError(must_be(name, rule, value))
    return int(value)


def instance_of(name: str, value: object, kinds: tuple[type, ...], rule: str) -> Any:
    """Return `value` if it is an instance of one of `kinds`, classes of parameters, and a dataclass."""
    if isinstance(value, type) and issubclass(value, kinds):
        raise TypeError(must_be(name, f"an instance such as {value.__name__}(), not the class itself", value))
    if not isinstance(value, kinds):
        raise TypeError(must_be(name, rule, value))
    if not is_dataclass(value):
        raise TypeError(must_be(name, "a frozen dataclass", value))
    return value


def has_few_digits(number: int) -> bool:
    """Whether a whole number can be turned into text, and so be in a file."""
    return -TOO_MANY_DIGITS < number < TOO_MANY_DIGITS


def is_unicode(text: str) -> bool:
    """Whether a text can be written in UTF-8: half of a surrogate pair alone, which JSON can have, cannot."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def one_of(name: str, value: object, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`, otherwise raise an error that suggests the nearest one."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    rule = "one of " + ", ".join(map(repr, known))
    raise ValueError(must_be(name, rule, value) + did_you_mean(value, known))


def did_you_mean(value: object, known: Iterable[object]) -> str:
    """Return ` (did you mean 'x'?)` if a known name, one of the first thousand, is close to `value`, else nothing."""
    if isinstance(value, str) and len(value) <= LONGEST_NAME:
        lower = {name.lower(): name for name in islice(known, MOST_COMPARED) if isinstance(name, str)}
        close = difflib.get_close_matches(value.lower(), lower, n=1, cutoff=0.6)
        if close:
            return f" (did you mean {lower[close[0]]!r}?)"
    return ""


def numbers(name: str, value: Any, rule: str) -> NDArray[np.float64]:
    """Return `value` as an array of floats, if it holds real numbers."""
    return _array(name, value, rule, "biuf").astype(np.float64, copy=False)


def truths(name: str, value: Any, rule: str) -> NDArray[np.bool_]:
    """Return `value` as an array of booleans, if it is one."""
    return _array(name, value, rule, "b")


def _array(name: str, value: Any, rule: str, kinds: str) -> NDArray[Any]:
    """Return `value` as an array with a dtype among `kinds`; errors of NumPy become ours."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        array = np.empty(0, object)
    if array.dtype.kind not in kinds or isinstance(value, np.ma.MaskedArray):
        raise TypeError(must_be(name, rule, value))
    return array
