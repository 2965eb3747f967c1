"""Which column of a log is which: names that are missing, misspelt or given twice are refused with a suggestion."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from wakeful.inputs import LONGEST_NAME, did_you_mean, must_be, one_of

ROLES = ("awake", "arm", "probability", "loss", "reward", "time", "id")
NEEDED = "awake, arm, and one of loss and reward"
OTHER_NAMES = frozenset(
    {"prob", "propensity", "propensity_score", "pscore", "action_prob"}
)  # of probabilities elsewhere
SIMILAR = 0.8  # how alike a column must be to 'probability' for it to be taken for a misspelling
MOST_SHOWN = 20  # columns in an error
MOST_COMPARED = 1000  # columns that are looked at for a suggestion


class Columns(NamedTuple):
    """The name of the column for each role; None if there is none."""

    awake: str
    arm: str
    probability: str | None
    loss: str | None
    reward: str | None
    time: str | None
    id: str | None

    def used(self) -> list[str]:
        """Return the columns that are read."""
        return [name for name in self if name is not None]


def find_columns(names: Sequence[str], given: Mapping[str, str | None] | None) -> Columns:
    """Return which of the columns `names` is which; `given` says so for those that are called otherwise."""
    asked = _asked(names, given)
    found = {role: asked.get(role, role if role in names else None) for role in ROLES}
    for role in ("awake", "arm"):
        if found[role] is None:
            raise ValueError(must_be("columns", NEEDED, shown(names)) + _is_it([role], names))
    if found["loss"] is None and found["reward"] is None:
        raise ValueError(must_be("columns", NEEDED, shown(names)) + _is_it(["loss", "reward"], names))
    if found["loss"] is not None and found["reward"] is not None:
        hint = " (columns={'reward': None} ignores one of them)"
        raise ValueError(must_be("columns", "exactly one of loss and reward", shown(names)) + hint)
    if found["probability"] is None and "probability" not in asked:
        _refuse_misspelt(names)
    for role, name in found.items():
        if name is not None and names.count(name) > 1:
            raise ValueError(must_be("columns", f"such that {role} is there once", f"{name!r} more than once"))
    return Columns(**found)  # type: ignore[arg-type]


def _asked(names: Sequence[str], given: Mapping[str, str | None] | None) -> dict[str, str | None]:
    """Return the roles that the caller has named columns for."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(must_be("columns", "a mapping such as {'arm': 'product'}", given))
    for role, name in given.items():
        one_of("columns", role, ROLES)
        if name is not None and name not in names:
            rule = f"the name of a column for {role}, or None"
            raise ValueError(must_be(f"columns[{role!r}]", rule, name) + did_you_mean(name, names[:MOST_COMPARED]))
    return dict(given)


def _is_it(roles: Sequence[str], names: Sequence[str]) -> str:
    """Return a suggestion: the first column whose name is like one of `roles`."""
    for role in roles:
        for name in names[:MOST_COMPARED]:
            if name not in ROLES and len(name) <= LONGEST_NAME and did_you_mean(name.strip(), [role]):
                return f" (is {name!r} the {role}? Then pass columns={{{role!r}: {name!r}}})"
    return ""


def _refuse_misspelt(names: Sequence[str]) -> None:
    """Raise if a column is called almost, or elsewhere, 'probability': to ignore it silently would be a trap."""
    short = [name for name in names[:MOST_COMPARED] if len(name) <= LONGEST_NAME]
    lower = [name.lower().strip() for name in short]
    close = [name for name in lower if name in OTHER_NAMES]
    close += difflib.get_close_matches("probability", lower, 1, SIMILAR)
    if close:
        like = next(name for name in short if name.lower().strip() == close[0])
        use, leave = {"probability": like}, {"probability": None}
        hint = f" (did you mean 'probability'? columns={use} uses it, columns={leave} does not)"
        raise ValueError(must_be("columns", "without one that may be the 'probability'", like) + hint)


def shown(names: Sequence[str]) -> Any:
    """Return names of columns for an error: not all, if there are many, and only the beginning of long ones."""
    first = [name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "..." for name in names[:MOST_SHOWN]]
    return first if len(names) <= MOST_SHOWN else [*first, f"... and {len(names) - MOST_SHOWN:,} more"]
