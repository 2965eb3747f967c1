"""What is wrong with a value, in the library's own form: "{name} must be {rule}, got {value!r}", from types alone."""

import json
import math
import re
from typing import Any

import msgspec
from msgspec import inspect

from wakeful.inputs import did_you_mean, must_be
from wakeful.service.refusals import Refused

STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
NOT_FOUND = object()


def refused_value(kind: Any, given: bytes | dict[str, Any], problem: msgspec.ValidationError) -> Refused:
    """Return why a value of `given`, JSON or a dictionary, does not fit the type `kind`."""
    said, _, where = str(problem).partition(" - at `")
    steps = [name or index for name, index in STEP.findall(where.removesuffix("`"))]
    path, found = _path(steps), inspect.type_info(kind)
    for step in steps:
        found = _inside(found, step)
    unknown = re.match(r"Object contains unknown field `(.*)`$", said)
    if unknown is not None:
        return _unknown(_plain(found), path, unknown[1])
    missing = re.match(r"Object missing required field `(.*)`$", said)
    if missing is not None:
        name = f"{path}.{missing[1]}".lstrip(".")
        return Refused("invalid", f"{name} must be {rule_of(_inside(found, missing[1]))}, got nothing", name)
    if said == "Number out of range" and "..." in steps:  # somewhere in values that may be anything
        known = steps[: steps.index("...")]
        return _infinite(_path(known), _value(given, known))
    value = _value(given, steps)
    sentence = f"{path or 'body'} must be {rule_of(found)}"
    sentence = sentence if value is NOT_FOUND else must_be(path or "body", rule_of(found), value)
    if isinstance(_plain(found), inspect.LiteralType):
        sentence += did_you_mean(value, _plain(found).values)
    return Refused("invalid", sentence, path or None)


def rule_of(found: inspect.Type) -> str:
    """Return what a value of this type must be.

    >>> from wakeful.service.messages import Feedback
    >>> rule_of(inspect.type_info(Feedback).fields[0].type)
    'a number between 0 and 1'
    """
    plain = _plain(found)
    match plain:
        case inspect.FloatType():
            rule = "a number" + _bounds(plain)
        case inspect.IntType():
            rule = "a whole number" + _bounds(plain)
        case inspect.StrType():
            rule = "text" + _lengths(plain, "characters")
        case inspect.BoolType():
            rule = "true or false"
        case inspect.ListType():
            rule = "a list" + _lengths(plain, "items")
        case inspect.TupleType():
            rule = f"a list of {len(plain.item_types)} items"
        case inspect.LiteralType():
            rule = "one of " + ", ".join(map(repr, plain.values))
        case _:
            rule = "an object"
    return rule


def _bounds(found: Any) -> str:
    """Return the part of a rule about the size of a number."""
    if found.gt is not None and found.lt is not None:
        return f" between {found.gt:g} and {found.lt:g}, both excluded"
    if found.gt is not None:
        return f" above {found.gt:g}" + ("" if found.le is None else f", at most {found.le:g}")
    if found.ge is None:
        return ""
    if found.le is None:
        return f" of at least {found.ge:g}"
    return f" between {found.ge:g} and " + (f"{found.le:,}" if isinstance(found.le, int) else f"{found.le:,.10g}")


def _lengths(found: Any, what: str) -> str:
    """Return the part of a rule about a length."""
    if found.max_length is None:
        return ""
    return f" of {found.min_length or 0:,} to {found.max_length:,} {what}"


def _unknown(found: Any, path: str, name: str) -> Refused:
    """Return the refusal of a field that a body does not have."""
    known = [field.encode_name for field in found.fields]
    rule = "one of " + ", ".join(map(repr, known)) if known else "left out"
    place = f"fields of {path}" if path else "fields"
    return Refused("invalid", must_be(place, rule, name) + did_you_mean(name, known), f"{path}.{name}".lstrip("."))


def _infinite(path: str, value: Any) -> Refused:
    """Return the refusal of the first number somewhere in a value that is too large to be one."""
    while isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        step, value = next((step, item) for step, item in items if _is_infinite(item))
        path = f"{path}.{step}" if isinstance(step, str) else f"{path}[{step}]"
    return Refused("invalid", must_be(path, "a finite number", value), path)


def _is_infinite(value: Any) -> bool:
    """Whether a value is infinite, or has such a number somewhere in it."""
    if isinstance(value, dict | list):
        return any(map(_is_infinite, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and math.isinf(value)


def _path(steps: list[str]) -> str:
    """Return a path as people write it: `awake[0]`, `feedback[3].loss`."""
    parts = [f"[{step}]" if step == "..." or step.isdigit() else f".{step}" for step in steps]
    return "".join(parts).lstrip(".")


def _plain(found: Any) -> Any:
    """Return the type that is not null, where a value may be null too."""
    if isinstance(found, inspect.UnionType):
        return next(kind for kind in found.types if not isinstance(kind, inspect.NoneType))
    return found


def _inside(found: Any, step: str) -> Any:
    """Return the type of a part of a value."""
    plain = _plain(found)
    match plain:
        case inspect.StructType():
            return next((field.type for field in plain.fields if field.encode_name == step), inspect.AnyType())
        case inspect.ListType():
            return plain.item_type
        case inspect.TupleType():
            return plain.item_types[int(step)]
        case inspect.DictType():
            return plain.value_type
        case _:
            return inspect.AnyType()


def _value(given: bytes | dict[str, Any], steps: list[str]) -> Any:
    """Return the value at the end of a path, or `NOT_FOUND` where it cannot be found."""
    try:
        value: Any = json.loads(given) if isinstance(given, bytes) else given
        for step in steps:
            value = value if step == "..." else value[int(step) if isinstance(value, list) else step]
    except (ValueError, LookupError, TypeError, RecursionError):
        return NOT_FOUND
    return value
