"""Names of test cases that are the same in every process, as workers that share the tests between them need."""

import re
from collections.abc import Set
from typing import Any


def stable_id(value: Any) -> str:
    """How a value prints, shortened, without the address of an object and with the members of a set in order."""
    if isinstance(value, Set):
        return f"{type(value).__name__}({sorted(map(stable_id, value))})"
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))[:60]
