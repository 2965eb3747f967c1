"""The same seed gives the same choices on every CPU, down to the last bit of a policy's state."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import duel_cases
import policy_cases
from cpu_digests import digests, one_of_each
from processes import running

OLD_CPU = {
    "NUMBA_CPU_NAME": "generic",  # compiled code without fused multiply-add, two numbers at a time
    "NUMBA_CPU_FEATURES": "",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable,-FMA_Usable",  # the C library's exp and log
    "OPENBLAS_CORETYPE": "Prescott",  # products of matrices
}


@pytest.mark.timeout(1200)  # every policy is compiled for a CPU that nobody has used before
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run")
def test_an_old_cpu_plays_the_same() -> None:
    script = Path(__file__).parent.parent / "cpu_digests.py"
    with running(str(script), env={**os.environ, **OLD_CPU}, stdout=subprocess.PIPE) as old:
        here = digests()
        found = json.loads(old.communicate()[0])
    assert {name for name in here if here[name] != found[name]} == set()
    assert len(here) == len(one_of_each(policy_cases.CASES)) + len(one_of_each(duel_cases.CASES)) > 12
