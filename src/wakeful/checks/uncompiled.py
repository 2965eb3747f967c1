"""Plays a policy without the compiler, to compare; an index beyond the end of an array is then an error."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from wakeful.inputs import require
from wakeful.policies.spec import Recipe, kinds

SCRIPT = "import sys; from wakeful.checks import uncompiled; uncompiled.print_choices(sys.argv[1])"


def require_same_uncompiled(policy: Any, choices: Callable[[Any], Any]) -> None:
    """Raise unless `choices(policy)` is the same in a process of its own, without the compiler.

    `choices` is a function at the top of a module. A policy without kernels is not compiled and always passes.
    """
    if policy.kernels is not None:
        same = _choices_elsewhere(policy, choices) == choices(policy)
        require(same, "compiled and uncompiled must make the same choices")


def _choices_elsewhere(policy: Recipe, choices: Callable[[Any], Any]) -> Any:
    """Return `choices(policy)`, computed in another process without the compiler."""
    modules = sorted({kind.__module__ for kind in kinds(policy)})
    rule = "a policy with kernels must stand in a module that another process can import, not in a script"
    require("__main__" not in modules, rule)
    done = run_uncompiled(json.dumps([modules, policy.to_dict(), choices.__module__, choices.__name__]))
    require(done.returncode == 0, f"a policy with kernels must be importable and run uncompiled: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def run_uncompiled(task: str) -> subprocess.CompletedProcess[str]:
    """Let another process without the compiler print the choices of the policy that `task` describes."""
    command = [sys.executable, "-c", SCRIPT, task]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)


def environment() -> dict[str, str]:
    """Return the environment of that process: what can be imported here can be imported there."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}


def print_choices(task: str) -> None:
    """Print the choices of the policy that `task` describes, in the other process."""
    modules, record, suite, name = json.loads(task)
    for module in modules:
        importlib.import_module(module)
    choices = getattr(importlib.import_module(suite), name)
    print(json.dumps(choices(Recipe.from_dict(record))))
