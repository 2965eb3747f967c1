"""Which column of a log is which: names that are missing, misspelt or given twice are refused with a suggestion."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from wakeful.inputs import LONGEST_NAME, MOST_COMPARED, did_you_mean, must_be, one_of

SIMILAR = 0.8  # how alike a column must be to the name of an optional one to be taken for a misspelling of it
SHORTEST_MISSPELT = 4  # letters of a name that may be misspelt; of a shorter one only the case
MOST_SHOWN = 20  # columns in an error


class Kind(NamedTuple):
    """Which columns a kind of table has."""

    roles: tuple[str, ...]
    needed: tuple[tuple[str, ...], ...]  # of each of these, exactly one
    rule: str  # the same in words
    decisive: dict[str, frozenset[str]]  # optional ones that must not be overlooked, and what they are called elsewhere


PROPENSITIES = frozenset({"prob", "propensity", "propensity_score", "pscore", "action_prob"})
DECISIONS = Kind(
    ("awake", "arm", "probability", "loss", "reward", "time", "id"),
    (("awake",), ("arm",), ("loss", "reward")),
    "awake, arm, and one of loss and reward",
    {"probability": PROPENSITIES, "id": frozenset()},
)


class Columns(NamedTuple):
    """The name of the column for each role of a log; None if there is none."""

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


def find_columns(
    names: Sequence[str], given: Mapping[str, str | None] | None, kind: Kind = DECISIONS
) -> dict[str, str | None]:
    """Return which of the columns `names` is which, None for those that are not there.

    Parameters:
        names: of the columns of the table
        given: the names of columns that are called otherwise, by role; None for one to be ignored
        kind: which columns there may be
    """
    asked = _asked(names, given, kind.roles)
    found = {role: asked.get(role, role if role in names else None) for role in kind.roles}
    for roles in kind.needed:
        have = [role for role in roles if found[role] is not None]
        if not have:
            raise ValueError(must_be("columns", kind.rule, shown(names)) + _is_it(roles, names, kind.roles))
        if len(have) > 1:
            hint = f" (columns={{{have[-1]!r}: None}} ignores one of them)"
            raise ValueError(must_be("columns", f"exactly one of {' and '.join(have)}", shown(names)) + hint)
    for role, elsewhere in kind.decisive.items():
        if found[role] is None and role not in asked:
            _refuse_misspelt(role, elsewhere, [name for name in names if name not in found.values()])
    for role, name in found.items():
        if name is not None and names.count(name) > 1:
            raise ValueError(must_be("columns", f"such that {role} is there once", f"{name!r} more than once"))
    return found


def _asked(names: Sequence[str], given: Mapping[str, str | None] | None, roles: Sequence[str]) -> dict[str, str | None]:
    """Return the roles that the caller has named columns for."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(must_be("columns", f"a mapping such as {{{roles[1]!r}: 'product'}}", given))
    for role, name in given.items():
        one_of("columns", role, roles)
        if name is not None and name not in names:
            rule = f"the name of a column for {role}, or None"
            raise ValueError(must_be(f"columns[{role!r}]", rule, name) + did_you_mean(name, names))
    return dict(given)


def _is_it(roles: Sequence[str], names: Sequence[str], all_roles: Sequence[str]) -> str:
    """Return a suggestion: the first column whose name is like one of `roles`."""
    for role in roles:
        for name in names[:MOST_COMPARED]:
            if name not in all_roles and len(name) <= LONGEST_NAME and did_you_mean(name.strip(), [role]):
                return f" (is {name!r} the {role}? Then pass columns={{{role!r}: {name!r}}})"
    return ""


def _refuse_misspelt(role: str, elsewhere: frozenset[str], names: Sequence[str]) -> None:
    """Raise if a column is called almost as an optional one is, or as it is elsewhere: to ignore it would be a trap."""
    short = [name for name in names[:MOST_COMPARED] if len(name) <= LONGEST_NAME]
    lower = [name.lower().strip() for name in short]
    close = [name for name in lower if name in elsewhere or name == role]
    if len(role) >= SHORTEST_MISSPELT:
        close += difflib.get_close_matches(role, lower, 1, SIMILAR)
    if close:
        like = next(name for name in short if name.lower().strip() == close[0])
        hint = f" (did you mean {role!r}? columns={ {role: like} } uses it, columns={ {role: None} } does not)"
        raise ValueError(must_be("columns", f"without one that may be the {role!r}", like) + hint)


def shown(names: Sequence[str]) -> Any:
    """Return names of columns for an error: not all, if there are many, and only the beginning of long ones."""
    first = [name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "..." for name in names[:MOST_SHOWN]]
    return first if len(names) <= MOST_SHOWN else [*first, f"... and {len(names) - MOST_SHOWN:,} more"]
