"""Parses policies and worlds as typed: `si-exp3`, `SleepingUCB(constant=2)`, `PerSet(si-exp3, max_sets=9)`.

A class of the user's own is `module:Class`, with arguments in brackets: the module is imported, as `import` does, and
what is typed is never run as code.
"""

import ast
import os
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any

from wakeful import worlds
from wakeful.duels.policy import DuelingPolicy
from wakeful.inputs import did_you_mean, must_be
from wakeful.lab.simulate import DUELS
from wakeful.policies.policy import Policy
from wakeful.policies.spec import Recipe, subclasses

LONGEST_DESCRIPTION = 1000  # letters of a description
OWN = (Policy, DuelingPolicy, worlds.World, worlds.AdaptiveWorld, *DUELS)  # what a class of the user's own may be


def parse(what: str, text: str, classes: Mapping[str, type]) -> Any:
    """Return the object that `text` describes: the name of one of `classes`, with its arguments if there are any.

    Case and punctuation of a name do not matter; arguments are plain values, or descriptions themselves. Nothing is
    evaluated. A name `module:Class` is that of a class of the user's own, whose module is imported, from the current
    folder too.

    >>> from wakeful import PerSet, SleepingUCB
    >>> parse("policy", "per-set(sleeping-ucb(constant=2), max_sets=9)", {"PerSet": PerSet, "SleepingUCB": SleepingUCB})
    PerSet(policy=SleepingUCB(constant=2.0), max_sets=9)
    """
    if not isinstance(text, str):
        raise TypeError(must_be(what, "a name, with arguments in brackets", text))
    if len(text) > LONGEST_DESCRIPTION:
        raise ValueError(
            must_be(what, f"a name of at most {LONGEST_DESCRIPTION} letters, with its arguments", text[:40] + "...")
        )
    plain, own = _without_modules(what, text.strip())
    try:
        tree = ast.parse(_NAME.sub(_joined, plain), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise ValueError(must_be(what, "a name, with arguments in brackets", text)) from None
    classes = {**classes, **own}
    found = _built(what, tree, text, {_plain(name): (name, cls) for name, cls in classes.items()})
    if type(found) not in classes.values():
        raise ValueError(must_be(what, "a name, with arguments in brackets", text))
    return found


_NAME = re.compile(r"(['\"]).*?\1|\b[A-Za-z]\w*+(?:-\w++)+")  # a string, or a name with hyphens


_OWN = re.compile(r"(['\"]).*?\1|\b([A-Za-z_][\w.]*+):([A-Za-z_]\w*+)")  # a string, or module:Class


def _without_modules(what: str, text: str) -> tuple[str, dict[str, type]]:
    """Return a text with plain names in place of `module:Class`, and the classes by these names."""
    own: dict[str, type] = {}

    def replaced(match: re.Match[str]) -> str:
        if match.group(1):
            return match.group()
        name = f"own{len(own)}{match.group(3)}"
        own[name] = _own_class(what, match.group(2), match.group(3))
        return name

    return _OWN.sub(replaced, text), own


def _own_class(what: str, module: str, name: str) -> type:
    """Return a policy or world of the user's own."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does
    try:
        found = import_module(module)
    except Exception as problem:  # whatever the module does when it is imported
        rule = "MODULE:CLASS of a module that can be imported"
        raise ValueError(must_be(what, rule, f"{module}:{name}") + f": {_own_problem(problem)}") from problem
    cls = getattr(found, name, None)
    if not (isinstance(cls, type) and issubclass(cls, OWN)):
        names = [n for n, c in vars(found).items() if isinstance(c, type) and issubclass(c, OWN)]
        rule = f"MODULE:CLASS of a policy or a world in {module}"
        raise ValueError(must_be(what, rule, f"{module}:{name}") + did_you_mean(name, names))  # noqa: TRY004
    return cls


def _own_problem(problem: Exception) -> str:
    """Return what went wrong in code of the user's own, and where; what `import` itself says is enough."""
    if isinstance(problem, ModuleNotFoundError | SyntaxError):
        return str(problem)
    place = traceback.extract_tb(problem.__traceback__)[-1]
    return f"{type(problem).__name__}: {problem} ({os.path.basename(place.filename)}, line {place.lineno})"


def _joined(match: re.Match[str]) -> str:
    """Return a name without its hyphens, and a string as it is."""
    found = match.group()
    return found if match.group(1) else found.replace("-", "")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _built(what: str, node: ast.expr, text: str, classes: Mapping[str, tuple[str, type]]) -> Any:
    """Return the value of one node: a literal, a name, or a name with arguments."""
    call = node if isinstance(node, ast.Call) else None
    name = call.func if call else node
    if not isinstance(name, ast.Name):
        try:
            return ast.literal_eval(node)
        except ValueError:
            raise ValueError(must_be(what, "a name, with plain values as arguments", text)) from None
    if _plain(name.id) not in classes:
        known = [shown for shown, _ in classes.values()]
        rule = "one of " + ", ".join(known)
        raise ValueError(must_be(what, rule, name.id) + did_you_mean(name.id, known))
    cls = classes[_plain(name.id)][1]
    arguments = [_built(what, argument, text, classes) for argument in call.args] if call else []
    named = {str(k.arg): _built(what, k.value, text, classes) for k in call.keywords} if call else {}
    try:
        return cls(*arguments, **named)
    except TypeError as problem:
        if " must be " in str(problem):
            raise
        reason = str(problem).replace(f"{cls.__name__}.__init__() ", "").replace("__init__() ", "")
        raise TypeError(must_be(what, f"{cls.__name__} with arguments that it takes", text) + f": {reason}") from None


def known_policies() -> dict[str, type]:
    """Return our policies, of bandits and of duels, by name."""
    return known_bandit_policies() | _ours(DuelingPolicy)


def known_bandit_policies() -> dict[str, type]:
    """Return our policies of bandits by name."""
    return _ours(Policy)


def _ours(kind: type[Recipe]) -> dict[str, type]:
    """Return the classes of the package that are policies of this kind, by name."""
    return {cls.__name__: cls for cls in subclasses(kind) if cls.__module__.startswith("wakeful.")}


def known_worlds() -> dict[str, type]:
    """Return our worlds that a text can describe, by name."""
    found = {name: getattr(worlds, name) for name in worlds.__all__}
    kinds = (worlds.World, worlds.AdaptiveWorld, *DUELS)
    plain = {n: c for n, c in found.items() if isinstance(c, type) and issubclass(c, kinds) and is_dataclass(c)}
    free = {n: c for n, c in plain.items() if issubclass(c, DUELS)}  # scores and matrices of duels can be typed
    return free | {n: c for n, c in plain.items() if all(f.default is not MISSING for f in fields(c))}
