"""Values of rows that came from outside: numbers and names, and what is wrong with those that are none."""

import ast
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wakeful.inputs import has_few_digits, must_be
from wakeful.logs.chunks import shortened
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.kernels import CLOSE, FLOOR

SEPARATOR = "|"  # between the names of awake arms in a text
AWAKE_SET_RULE = f"a list of arms, or their names joined by {SEPARATOR!r}"
ALL_ARMS = "all arms that could have been chosen, not only the one that was"
ALONE_RULE = f"1 where one arm alone is awake (awake must be {ALL_ARMS})"
LONGEST_LITERAL = 1 << 18  # letters of a list written as Python does: to parse it takes 240 bytes for each
TRUTHS = {"true": 1.0, "false": 0.0}


class BadValueError(ValueError):
    """A value of a row is wrong; the text says why."""


class Faults(dict[int, str]):
    """What is wrong with rows, by their positions; the first reason stays."""

    def add(self, positions: Iterable[int], reason: Callable[[int], str]) -> None:
        """Add the reason for each position."""
        for n in positions:
            if n not in self:
                self[n] = reason(n)


def clipped(what: str, column: Sequence[Any], ends: tuple[float, float], rule: str, faults: Faults) -> Floats:
    """Return numbers between two others; those that are outside by a rounding are moved to the edge."""
    low, high = ends
    values = numbers_of(column)
    room = CLOSE * (high - low)
    wrong = np.flatnonzero(~((values >= low - room) & (values <= high + room)))
    faults.add(wrong.tolist(), lambda n: must_be(what, rule, shortened(column[n])))
    return np.clip(values, low, high)


def chances_of(column: Sequence[Any], alone: Mask, faults: Faults) -> Floats:
    """Return the probabilities of the chosen arms; `alone` says which were the only ones awake."""
    rule = f"a number above 0 and at most 1 (at least {FLOOR:g})"
    values = numbers_of(column)
    wrong = np.flatnonzero(~((values >= FLOOR) & (values <= 1.0 + CLOSE)))
    faults.add(wrong.tolist(), lambda n: must_be("probability", rule, shortened(column[n])))
    unsure = np.flatnonzero(alone & (values < 1.0 - CLOSE))
    faults.add(unsure.tolist(), lambda n: must_be("probability", ALONE_RULE, shortened(column[n])))
    return np.minimum(values, 1.0)


def numbers_of(column: Sequence[Any]) -> Floats:
    """Return a column as floats, NaN where there is none; texts of numbers are numbers, and so are true and false."""
    try:
        return np.fromiter(map(float, column), np.float64, len(column))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter(map(_number, column), np.float64, len(column))


def _number(value: Any) -> float:
    """Return a value as a float, NaN if it is none."""
    try:
        text = value.strip().lower() if type(value) is str else value
        return TRUTHS[text] if type(text) is str and text in TRUTHS else float(text)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def is_name(value: Any) -> bool:
    """Whether a value can name an arm: a text, or a whole number that is not too large to be turned into one."""
    if type(value) is int:
        return has_few_digits(value)
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)


def name_of(value: Any, strip: bool) -> str:
    """Return the name of an arm as a text; blanks around it are no part of it where `strip` says so."""
    return str(value).strip() if strip else str(value)


def awake_names(key: Any, strip: bool) -> tuple[str, ...]:
    """Return the names of an awake set, a text or a tuple, if there are any and none is there twice."""
    if type(key) is str:
        listed = _literal(key) if key[:1] == "[" else None
        key = key.split(SEPARATOR) if listed is None else listed
    if not all(map(is_name, key)):
        raise BadValueError(must_be("awake", "a list of names or whole numbers", shortened(key)))
    names = tuple(name_of(name, strip) for name in key)
    if not any(names):
        raise BadValueError(must_be("awake", AWAKE_SET_RULE, shortened(SEPARATOR.join(names))))
    if "" in names:
        raise BadValueError(must_be("awake", "without empty names", shortened(list(names))))
    if len(set(names)) < len(names):
        raise BadValueError(must_be("awake", "without repeated arms", shortened(list(names))))
    return names


def _literal(text: str) -> list[Any] | None:
    """Return the list that a text such as "['tea', 'juice']" shows, as data frames write them; None if it is none."""
    if len(text) > LONGEST_LITERAL:
        rule = f"names joined by {SEPARATOR!r}, or a list of at most {LONGEST_LITERAL:,} letters"
        raise BadValueError(must_be("awake", rule, shortened(text)))
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def is_missing(value: Any) -> bool:
    """Whether this is what tables have where there is nothing: None, NaN, NA, an empty text."""
    if value is None or type(value) is str:
        return not value
    nan = isinstance(value, float | np.floating) and math.isnan(value)
    return nan or type(value).__name__ in {"NAType", "NaTType"}
