"""What every policy plays, as digests: to be compared between CPUs."""

import hashlib
import json
import sys
from collections.abc import Collection
from typing import Any

import numpy as np

import duel_cases
import policy_cases
import wakeful as wk
from wakeful.duels.kernels import empty_pick
from wakeful.duels.policy import step
from wakeful.worlds import UtilityDuels

ROUNDS, ARMS = 400, 6
OLD_CPU = {
    "NUMBA_CPU_NAME": "generic",  # compiled code without fused multiply-add, two numbers at a time
    "NUMBA_CPU_FEATURES": "",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable,-FMA_Usable",  # the C library's exp and log
    "OPENBLAS_CORETYPE": "Prescott",  # products of matrices
}


def one_of_each(cases: Any) -> dict[str, Any]:
    """The first policy of each class."""
    found: dict[str, Any] = {}
    for case in cases:
        found.setdefault(type(case.policy).__name__, case.policy)
    return found


def played(policy: wk.Policy) -> str:
    """A digest of a policy's choices and of its state afterwards, down to the last bit."""
    rng = np.random.default_rng(1)
    awake = rng.random((ROUNDS, ARMS)) < 0.7
    awake[:, 2] = True
    state = policy.start(ARMS)
    choices = wk.play(policy, awake, rng.random((ROUNDS, ARMS)), np.random.default_rng(2), state)
    return digest(choices, *state)


def duelled(policy: Any) -> str:
    """A digest of the duels of a dueling policy and of its state afterwards, down to the last bit."""
    state, choices = policy.start(ARMS, 2), np.zeros((ROUNDS, 2), np.int64)
    block = next(UtilityDuels(ARMS).blocks(np.random.default_rng(3), ROUNDS))
    play_on = step(policy, "play", state, ARMS)
    play_on(*block, np.random.default_rng(4), choices, empty_pick(2, ARMS), policy.fields(state, ARMS))
    return digest(choices, *state)


def digest(*arrays: Any) -> str:
    """A digest of bytes."""
    return hashlib.sha256(b"".join(np.asarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def digests(names: Collection[str] = ()) -> dict[str, str]:
    """What the policies of these classes, by default of every class of the package, play on this CPU."""
    bandits, duels = one_of_each(policy_cases.CASES), one_of_each(duel_cases.CASES)
    wanted = names or {*bandits, *duels}
    found = {name: played(policy) for name, policy in bandits.items() if name in wanted}
    return found | {name: duelled(policy) for name, policy in duels.items() if name in wanted}


if __name__ == "__main__":
    print(json.dumps(digests(sys.argv[1:])))
