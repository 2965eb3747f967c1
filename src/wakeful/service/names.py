"""Names that come from outside: those of bandits, arms and decisions, in a path or in a body."""

import re
from urllib.parse import unquote_to_bytes

from wakeful.inputs import must_be
from wakeful.service.messages import LONGEST_SERVED_NAME
from wakeful.service.refusals import Refused

CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"  # characters of terminals, and all that end a line
CONTROL = re.compile(f"[{CONTROLS}]")
PLAIN = re.compile(rf"[A-Za-z0-9._~-]{{1,{LONGEST_SERVED_NAME}}}")  # what most names are made of
DOTS = frozenset({".", ".."})


def checked_name(field: str, name: str) -> str:
    """Return a name if it has no characters that nobody can see, such as line breaks."""
    if CONTROL.search(name):
        raise Refused("invalid", must_be(field, "text without control characters", name), field)
    return name


def checked_id(field: str, own_id: str) -> str:
    """Return a client's own id of a decision if a path can hold it."""
    if "/" in own_id or own_id in DOTS:
        raise Refused("invalid", must_be(field, "text without slashes, other than '.' and '..'", own_id), field)
    return checked_name(field, own_id)


def name_in_path(field: str, raw: str) -> str:
    """Return a name as it stands in a path, percent signs resolved.

    >>> name_in_path("name", "caf%C3%A9")
    'café'
    """
    if PLAIN.fullmatch(raw) and raw not in DOTS:
        return raw
    try:
        name = unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("invalid", must_be(field, "UTF-8", raw), field) from None
    return served_name(field, name)


def served_name(field: str, name: str) -> str:
    """Return a name if a path can hold it."""
    if not 1 <= len(name) <= LONGEST_SERVED_NAME:
        raise Refused("invalid", must_be(field, f"text of 1 to {LONGEST_SERVED_NAME} characters", name), field)
    if name in DOTS and field != "arm":  # addresses are shortened by them before they are sent
        raise Refused("invalid", must_be(field, "other than '.' and '..'", name), field)
    if "/" in name and field != "arm":  # arms have the names that their owner gave them
        raise Refused("invalid", must_be(field, "text without slashes", name), field)
    return checked_name(field, name)
