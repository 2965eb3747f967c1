"""Compile the policies that the tests use, on two processes; `make test` does so before it runs them.

Two test processes would compile the same kernels twice, each for the entry points that its own tests happen to need.
Here each process takes whole families of policies, those with the same policy inside, so that every kernel is compiled
once. The tests then find the entry points on disk.
"""

import gc
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

import duel_cases
import policy_cases
from wakeful.duels.kernels import DUEL_EXAMPLES
from wakeful.duels.policy import DuelingPolicy, step
from wakeful.duels.spectate import Fights, fold_fights
from wakeful.policies.kernels import ENTRIES
from wakeful.policies.policy import Policy, compiled
from wakeful.policies.spec import full_name
from wakeful.policies.spectate import FOLD

N_ARMS = 3
LONGEST_FIRST = ("AutoPairs", "Auto", "SIExp3", "StablePair")


def families() -> list[list[Any]]:
    """Return the first policy with each name, grouped by the name of the policy inside."""
    policies: dict[str, Any] = {}
    for case in (*policy_cases.CASES, *duel_cases.CASES):
        policies.setdefault(full_name(case.policy), case.policy)
    found = defaultdict(list)
    for name, policy in policies.items():
        found[name.rstrip("]").rpartition("[")[2]].append(policy)
    first = [found.pop(name) for name in LONGEST_FIRST]
    return [*first, *found.values()]


def compile_family(policies: list[Policy | DuelingPolicy]) -> None:
    """Compile every entry point of some policies."""
    for policy in policies:
        if isinstance(policy, Policy):
            compile_policy(policy)
        else:
            compile_dueling_policy(policy)


def compile_policy(policy: Policy) -> None:
    """Compile the entry points that bandits, simulations and logs use."""
    state = policy.start(N_ARMS)
    for entry in ENTRIES.values():
        compiled(policy, entry, state, N_ARMS)
    if policy.from_others:
        compiled(policy, FOLD, state, N_ARMS)


def compile_dueling_policy(policy: DuelingPolicy) -> None:
    """The same for duels."""
    state = policy.start(N_ARMS)
    for name in DUEL_EXAMPLES:
        step(policy, name, state, N_ARMS)
    if policy.from_others:
        empty, positions, everybody = np.zeros(0), np.zeros(0, np.int64), np.ones((1, N_ARMS), np.bool_)
        none = Fights(np.zeros((0, 2), np.int64), empty, empty, everybody, positions, np.zeros((0, 2)))
        fold_fights(policy, state, none)


def main() -> None:
    """Compile all families, without garbage collection, which would take a tenth of the time."""
    with ProcessPoolExecutor(2, get_context("spawn"), gc.disable) as pool:
        list(pool.map(compile_family, families()))


if __name__ == "__main__":
    main()
