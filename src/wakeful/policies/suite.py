"""The common part of all public checks of policies and worlds: a runner, and checks of frozen dataclasses.

They raise `AssertionError` by hand, through `require`, because `python -O` removes `assert`.
"""

from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

from wakeful.inputs import require


def run_checks(what: str, subject: Any, checks: Iterable[Callable[[Any], None]]) -> None:
    """Run `checks` on `subject`, a policy or a world; raise `AssertionError` at the first that fails, naming it."""
    for check in checks:
        try:
            check(subject)
        except Exception as problem:
            name = check.__name__.removeprefix("check_").replace("_", " ")
            again = f"{check.__module__}.{check.__name__}({what}) repeats it"
            raise AssertionError(f"{subject!r} fails the check {name!r}: {problem} ({again})") from problem


def require_frozen(what: str, subject: Any) -> None:
    """Raise unless `subject` is a frozen dataclass."""
    require(is_dataclass(subject), f"a {what} must be a dataclass")
    names = [field.name for field in fields(subject)]
    try:
        setattr(subject, names[0] if names else "anything", None)
    except FrozenInstanceError:
        return
    raise AssertionError(f"a {what} must be a frozen dataclass")


def require_equal_copy(what: str, subject: Any, copy: Any) -> None:
    """Raise unless `copy`, which the printed form of `subject` evaluates to, is equal to it, with an equal hash."""
    require(copy == subject, f"eval(repr({what})) must be the {what}, got {copy!r}")
    require(hash(copy) == hash(subject), f"an equal {what} must have an equal hash")
