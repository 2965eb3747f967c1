"""Every policy passes the public suite and plays what its literal version plays."""

import importlib
import pkgutil
from collections.abc import Callable

import numpy as np
import pytest

import wakeful
from policy_cases import CASES, Case
from reference.policies import run
from wakeful import Policy, play
from wakeful.checks.policy import CHECKS, check_literal
from wakeful.checks.trials import N_ARMS
from wakeful.policies.spec import subclasses

named = pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.policy))


@named
@pytest.mark.usefixtures("one_uncompiled_process")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_policy_passes(case: Case, check: Callable[[Policy], None]) -> None:
    check(case.policy)


@named
def test_policy_plays_what_its_literal_version_plays(case: Case) -> None:
    check_literal(case.policy, lambda awake, losses, u: run(case.literal(N_ARMS), awake, losses, u)[0])


@named
def test_laws_equal_the_literal_ones(case: Case) -> None:
    rng = np.random.default_rng(17)
    awake = rng.random((80, N_ARMS)) < 0.7  # some rounds with nobody awake
    losses = rng.random((80, N_ARMS))
    uniforms = np.random.default_rng(18).random(80)
    arms, laws = run(case.literal(N_ARMS), awake, losses, uniforms)
    state, stream = case.policy.start(N_ARMS), np.random.default_rng(18)
    for t in range(80):
        if awake[t].any():
            p = case.policy.probabilities(state, awake[t])
            expected = [laws[t].get(k, 0.0) for k in range(N_ARMS)]
            np.testing.assert_allclose(p, expected, rtol=0, atol=2e-9)
        assert play(case.policy, awake[t : t + 1], losses[t : t + 1], stream, state).tolist() == [arms[t]]


def test_no_policy_is_missing_from_the_list() -> None:
    for module in pkgutil.iter_modules(wakeful.__path__):
        importlib.import_module(f"wakeful.{module.name}")
    ours = {cls for cls in subclasses(Policy) if cls.__module__.startswith("wakeful.")}
    assert ours == {type(case.policy) for case in CASES}
    assert {cls.__name__ for cls in ours} <= set(wakeful.__all__)
