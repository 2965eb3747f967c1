"""Reference values of the paper's worlds, at reduced size; `benchmarks/paper_values.py` has them at full size."""

import math

import pytest

import wakeful as wk
from paper_values import POLICIES, TABLE, Case

FEWER = 16  # runs of each


@pytest.mark.parametrize("case", TABLE, ids=lambda case: repr(case.world))
def test_regrets_are_the_reference_values(case: Case) -> None:
    world, rounds, values = case
    results = wk.simulate(POLICIES, world, rounds, FEWER, seed=1, regrets=("policy",), checkpoints=[rounds])
    for name, (mean, deviation) in zip(POLICIES, values, strict=True):
        found = results.final("policy", name).mean()
        margin = 4.0 * deviation * math.sqrt(1.0 / FEWER + 1.0 / 400.0)
        assert abs(found - mean) < margin, f"{name}: {found:.1f}, reference {mean} within {margin:.1f}"
