"""`check_policy` itself: for each thing it checks, a policy that gets just that wrong, and the sentence it is told."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import broken_policies as broken
import wakeful as wk
from policies import CASES
from reference.policies import run
from wakeful import suite
from wakeful.suite import CHECKS, N_ARMS, check_literal, check_policy

Check = Callable[[wk.Policy], None]

compiled_only = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run")


class Fault(NamedTuple):
    """How to make a broken policy, which check finds it, in which words, and whether no other does."""

    make: Callable[[], wk.Policy]
    check: Check
    words: str
    alone: bool = True


FAULTS = {
    "changeable": Fault(broken.Thawed, suite.check_is_data, "a policy must be a frozen dataclass"),
    "misprinted": Fault(
        lambda: broken.Misprinted(0.25), suite.check_is_data, "eval(repr(policy)) must be the policy, got Misprinted()"
    ),
    "unprinted": Fault(broken.Unprinted, suite.check_is_data, "invalid syntax"),
    "unhashed": Fault(broken.Unhashed, suite.check_is_data, "equal policies must have equal hashes"),
    "nested": Fault(broken.Nested, suite.check_is_data, "JSON must bring it back", alone=False),
    "local": Fault(broken.local_policy, suite.check_is_data, "must be defined at the top of a module", alone=False),
    "a list": Fault(broken.Listed, suite.check_state, "a state must be a named tuple, got [array", alone=False),
    "unnamed": Fault(broken.Unnamed, suite.check_state, "a state must be a named tuple, got (array", alone=False),
    "a number": Fault(
        broken.Numbered, suite.check_state, "state.counts must be an array of at least one dimension", alone=False
    ),
    "a point": Fault(
        broken.Pointed, suite.check_state, "state.counts must be an array of at least one dimension", alone=False
    ),
    "shared": Fault(broken.Shared, suite.check_state, "start must make state.counts anew"),
    "growing": Fault(broken.Logging, suite.check_state, "the state must not grow"),
    "on sleepers": Fault(
        lambda: broken.Faulty(broken.ON_SLEEPERS), suite.check_law, "a sleeping arm must have probability 0", alone=False
    ),
    "negative": Fault(
        lambda: broken.Faulty(broken.NEGATIVE), suite.check_law, "must not be negative or NaN", alone=False
    ),
    "too much": Fault(
        lambda: broken.Faulty(broken.TOO_MUCH), suite.check_law, "probabilities must sum to one", alone=False
    ),
    "impure": Fault(broken.Impure, suite.check_law, "probabilities must not change the state"),
    "fickle": Fault(
        lambda: broken.Moody(period=1), suite.check_law, "the same question must get the same answer", alone=False
    ),
    "moody": Fault(
        lambda: broken.Moody(period=2), suite.check_law, "choose must draw from what probabilities says", alone=False
    ),
    "random": Fault(broken.RandomStart, suite.check_repeatable, "the same seed must repeat the choices"),
    "scribbling": Fault(
        lambda: broken.Faulty(broken.SCRIBBLES), suite.check_repeatable, "play must make the choices of a Bandit"
    ),
    "secretive": Fault(broken.Secretive, suite.check_saved, "a loaded bandit must continue identically"),
    "last word": Fault(broken.LastWord, suite.check_late_feedback, "the order of feedback must not matter"),
    "punctual": Fault(broken.Punctual, suite.check_late_feedback, "non-negative"),
    "infinite": Fault(broken.Doubling, suite.check_worst_case, "the state must stay finite"),
    "unguarded": Fault(broken.Unguarded, suite.check_worst_case, "a law: non-negative"),
    "hesitant": Fault(broken.Hesitant, suite.check_one_arm, "an arm awake alone must be played"),
    "unwelcoming": Fault(broken.Unwelcoming, suite.check_one_arm, "non-negative"),
    "partial": Fault(broken.Partial, suite.check_relabelling, "under other labels"),
    "misspoken": Fault(broken.Misspoken, suite.check_kernels_match_methods, "must agree with the law kernel"),
    "mistaught": Fault(broken.Mistaught, suite.check_kernels_match_methods, "must agree with the law kernel"),
    "fleeting": Fault(
        lambda: broken.Fleeting("external", "any", 1e6), suite.check_guarantee, "a guarantee must not come and go"
    ),
    "boastful": Fault(
        lambda: broken.Boastful("external", "any", 0.0), suite.check_guarantee, "external regret 42.4 exceeds 0.0 (iid)"
    ),
}
OVERFLOW = Fault(
    lambda: broken.Faulty(broken.OVERFLOWS),
    suite.check_uncompiled,
    "compiled and uncompiled must make the same choices",
)

each = pytest.mark.parametrize(
    "fault", [*FAULTS.values(), pytest.param(OVERFLOW, marks=compiled_only)], ids=[*FAULTS, "overflowing"]
)


@pytest.mark.parametrize(
    "policy",
    [broken.Sound(), broken.Faulty(broken.SOUND), broken.Boastful("external", "any", 1e6), broken.EpsilonGreedy()],
    ids=repr,
)
def test_without_a_fault_there_is_nothing_to_say(policy: wk.Policy) -> None:
    check_policy(policy)


def test_no_check_is_missing_from_the_list_and_each_finds_something() -> None:
    written = {value for name, value in vars(suite).items() if name.startswith("check_")}
    assert set(CHECKS) == written - {check_policy, check_literal}
    assert len(CHECKS) == len(set(CHECKS))
    found = {fault.check for fault in (*FAULTS.values(), OVERFLOW)}
    assert set(CHECKS) - found == {suite.check_refusals}  # a policy has no say in them: see the bandits below


@each
def test_a_fault_is_named_by_its_check(fault: Fault) -> None:
    name = fault.check.__name__.removeprefix("check_").replace("_", " ")
    said = complaint(fault.check, fault.make())
    assert said is not None
    assert fault.words in said
    with pytest.raises(AssertionError) as caught:
        check_policy(fault.make())
    before = CHECKS[: CHECKS.index(fault.check)]
    if fault.alone or name == "is data":
        assert f"fails the check {name!r}: " in str(caught.value)
        assert fault.words in str(caught.value)
    else:  # the first check that runs the policy may stumble over it
        assert any(f"fails the check {check.__name__[6:].replace('_', ' ')!r}" in str(caught.value) for check in before) or (
            fault.words in str(caught.value)
        )


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS.values() if fault.alone], ids=[n for n, f in FAULTS.items() if f.alone]
)
def test_no_other_check_complains(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "WORST_CASE_ROUNDS", 500)
    others = [check for check in CHECKS if check is not fault.check]
    said = {check.__name__: complaint(check, fault.make()) for check in others}
    assert said == {check.__name__: None for check in others}


def complaint(check: Check, policy: wk.Policy) -> str | None:
    """Return what `check` has to say against `policy`, if anything."""
    try:
        check(policy)
    except Exception as problem:
        return str(problem)
    return None
