"""The same seed gives the same choices on every CPU, down to the last bit of a policy's state.

A few policies that together use all of the numerics; `benchmarks/every_cpu.py` compares every policy.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from cpu_digests import OLD_CPU, digests
from processes import running

POLICIES = (
    "SIExp3",  # exponentials, stationary distributions
    "SleepingThompson",  # integrals
    "SleepingUCB",  # logarithms
    "SleepingExp3G",  # tables of awake sets
)


@pytest.mark.timeout(600)  # code for a CPU that nobody has used before is compiled first
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run")
def test_an_old_cpu_plays_the_same() -> None:
    script = Path(__file__).parent.parent / "cpu_digests.py"
    with running(str(script), *POLICIES, env={**os.environ, **OLD_CPU}, stdout=subprocess.PIPE) as old:
        here = digests(POLICIES)
        found = json.loads(old.communicate()[0])
    assert set(here) == set(POLICIES)
    assert here == found
