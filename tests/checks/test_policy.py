"""`check_policy` itself: for each thing it checks, a policy that gets just that wrong, and the sentence it is told."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import broken_policies as broken
import wakeful as wk
from own_policy import EpsilonGreedy
from own_policy_compiled import FastEpsilonGreedy
from policy_cases import CASES
from reference.policies import run
from wakeful.checks import policy as suite
from wakeful.checks.policy import CHECKS, check_literal, check_policy
from wakeful.checks.trials import N_ARMS

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
    "unhashed": Fault(broken.Unhashed, suite.check_is_data, "an equal policy must have an equal hash"),
    "nested": Fault(broken.Nested, suite.check_is_data, "JSON must bring it back", alone=False),
    "local": Fault(broken.local_policy, suite.check_is_data, "must be defined at the top of a module", alone=False),
    "a list": Fault(broken.Listed, suite.check_state, "a state must be a named tuple, got [array", alone=False),
    "labelled": Fault(broken.Labelled, suite.check_state, "a state must be a named tuple, got [array", alone=False),
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
        lambda: broken.Faulty(broken.ON_SLEEPERS),
        suite.check_law,
        "zero on arms that are asleep, summing to one",
        alone=False,
    ),
    "negative": Fault(lambda: broken.Faulty(broken.NEGATIVE), suite.check_law, "must be non-negative", alone=False),
    "too much": Fault(
        lambda: broken.Faulty(broken.TOO_MUCH),
        suite.check_law,
        "zero on arms that are asleep, summing to one",
        alone=False,
    ),
    "impure": Fault(broken.Impure, suite.check_law, "probabilities must not change the state", alone=False),
    "fickle": Fault(
        lambda: broken.Moody(every=2), suite.check_law, "the same question must get the same answer", alone=False
    ),
    "moody": Fault(
        lambda: broken.Moody(every=3), suite.check_law, "choose must draw from what probabilities says", alone=False
    ),
    "random": Fault(broken.RandomStart, suite.check_repeatable, "the same seed must repeat the choices", alone=False),
    "scribbling": Fault(
        lambda: broken.Faulty(broken.SCRIBBLES),
        suite.check_repeatable,
        "play must make the choices of a Bandit",
        alone=False,
    ),
    "secretive": Fault(broken.Secretive, suite.check_saved, "a loaded bandit must continue identically"),
    "last word": Fault(broken.LastWord, suite.check_late_feedback, "the order of feedback must not matter"),
    "punctual": Fault(broken.Punctual, suite.check_late_feedback, "non-negative", alone=False),
    "gambling": Fault(broken.Gambling, suite.check_folding, "a copy that counts the same decisions in the same order"),
    "overstated": Fault(broken.Overstated, suite.check_from_others, "must change state.counts twice as much"),
    "misnamed": Fault(broken.Misnamed, suite.check_from_others, "'counts', 'weights', or None"),
    "infinite": Fault(broken.Doubling, suite.check_worst_case, "the state must stay finite"),
    "unguarded": Fault(broken.Unguarded, suite.check_worst_case, "must be non-negative"),
    "hesitant": Fault(broken.Hesitant, suite.check_one_arm, "an arm awake alone must be played"),
    "unwelcoming": Fault(broken.Unwelcoming, suite.check_one_arm, "non-negative"),
    "partial": Fault(broken.Partial, suite.check_relabelling, "under other labels"),
    "misspoken": Fault(
        lambda: broken.Contradictory(broken.MISSPOKEN),
        suite.check_kernels_match_methods,
        "probabilities must agree with the law kernel",
    ),
    "mistaught": Fault(
        lambda: broken.Contradictory(broken.MISTAUGHT),
        suite.check_kernels_match_methods,
        "probabilities must agree with the law kernel",
    ),
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


@pytest.mark.usefixtures("one_uncompiled_process")
@pytest.mark.parametrize(
    "policy",
    [broken.Sound(), broken.Faulty(broken.SOUND), broken.Boastful("external", "any", 1e6), EpsilonGreedy()],
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
def test_a_fault_is_found_and_named(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    said = complaint(fault.check, fault.make())
    assert said is not None
    assert fault.words in said
    if fault.check is not suite.check_worst_case:
        monkeypatch.setattr(suite, "WORST_CASE_ROUNDS", 500)
    if fault.check is not suite.check_uncompiled:  # half a second for another process, which the next test takes
        monkeypatch.setattr(suite, "CHECKS", [check for check in CHECKS if check is not suite.check_uncompiled])
    with pytest.raises(AssertionError, match="fails the check '") as caught:
        check_policy(fault.make())
    if fault.alone:  # else an earlier check that runs the policy may stumble over it
        name = fault.check.__name__.removeprefix("check_").replace("_", " ")
        assert f" fails the check {name!r}: " in str(caught.value)
        assert fault.words in str(caught.value)


@pytest.mark.usefixtures("one_uncompiled_process")
@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS.values() if fault.alone], ids=[n for n, f in FAULTS.items() if f.alone]
)
def test_no_other_check_complains(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "WORST_CASE_ROUNDS", 500)
    others = [check for check in CHECKS if check is not fault.check]
    said = {check.__name__: complaint(check, fault.make()) for check in others}
    assert said == dict.fromkeys(said, None)


def test_what_is_no_policy_is_refused_at_once() -> None:
    for value, words in (
        (broken.Sound, "not the class itself"),
        (broken.Even(), "a frozen dataclass"),
        (7, "a policy for bandits"),
    ):
        with pytest.raises(TypeError, match=f"policy must be .*{words}"):
            check_policy(value)  # type: ignore[arg-type]
    assert complaint(suite.check_is_data, broken.Even()) == "a policy must be a dataclass"


def test_a_state_may_grow_if_the_policy_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broken.Logging, "grows", True)
    assert complaint(suite.check_state, broken.Logging()) is None


def test_order_and_labels_may_matter_if_the_policy_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broken.LastWord, "order_free", False)
    assert complaint(suite.check_late_feedback, broken.LastWord()) is None
    monkeypatch.setattr(broken.Partial, "symmetric", False)
    assert complaint(suite.check_relabelling, broken.Partial()) is None


@pytest.mark.parametrize(
    ("module", "words"),
    [("__main__", "not in a script"), ("a_module_that_is_not_there", "must be importable and run uncompiled")],
)
def test_kernels_must_stand_where_another_process_finds_them(
    module: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken.Faulty, "__module__", module)
    assert words in (complaint(suite.check_uncompiled, broken.Faulty()) or "")


INNER = [
    wk.FixedOrdering((2, 0)),
    broken.Partial(),
    broken.LastWord(),
]


@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_a_policy_around_another_passes_on_what_that_one_says_of_itself(
    inner: wk.Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken.Partial, "symmetric", False)
    monkeypatch.setattr(broken.LastWord, "order_free", False)
    policy = wk.PerSet(inner)
    assert (policy.symmetric, policy.order_free) == (inner.symmetric, inner.order_free)
    assert complaint(suite.check_relabelling, policy) is None
    assert complaint(suite.check_late_feedback, policy) is None


def test_the_modules_of_policies_inside_others_are_imported_too() -> None:
    assert complaint(suite.check_uncompiled, wk.PerSet(FastEpsilonGreedy())) is None


FAULT_IN_A_PROCESS = """
import sys
from dataclasses import dataclass
import broken_duel_policies, broken_policies, wakeful as wk
from wakeful.worlds import World, check_world

@dataclass(frozen=True)
class Sleepy(World):
    n_arms: int = 2
    def blocks(self, rng, size): return iter(())

faults = {wk.check_policy: broken_policies.Impure(), wk.check_dueling_policy: broken_duel_policies.Impure(),
          check_world: Sleepy()}
for check, fault in faults.items():
    try:
        check(fault)
    except AssertionError as problem:
        print(problem)
"""


def test_the_checks_find_faults_where_assertions_are_switched_off() -> None:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-O", "-c", FAULT_IN_A_PROCESS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.count("fails the check") == 3, done.stdout + done.stderr


# What a bandit answers for is checked as well: here a bandit is broken, and the policy is sound.


class Guessing(wk.Bandit):
    """Says another probability than that of the distribution it draws from."""

    def choose(self, awake: Any = None) -> wk.Decision:
        decision = super().choose(awake)
        return decision._replace(probability=decision.probability / 2)


class Nameless(wk.Bandit):
    """Calls a new arm as it likes."""

    def add_arm(self, name: Any = None) -> Any:
        return super().add_arm("new")


class Amnesiac(wk.Bandit):
    """Saves no rounds."""

    def save(self, path: Any) -> None:
        self._rounds = 0
        super().save(path)
        self._rounds = 101


class Lenient(wk.Bandit):
    """Takes a loss above one for one."""

    def update(self, decision: Any, *, loss: float | None = None, reward: float | None = None) -> None:
        super().update(decision, loss=None if loss is None else min(loss, 1.0), reward=reward)


class Curt(wk.Bandit):
    """Refuses without saying why."""

    def choose(self, awake: Any = None) -> wk.Decision:
        try:
            return super().choose(awake)
        except ValueError:
            raise ValueError("no") from None


class Sloppy(wk.Bandit):
    """Counts a decision before it is made."""

    def choose(self, awake: Any = None) -> wk.Decision:
        self._rounds += 1
        decision = super().choose(awake)
        self._rounds -= 1
        return decision


class Touched(wk.Bandit):
    """Learns from feedback that it then refuses."""

    def update(self, decision: Any, *, loss: float | None = None, reward: float | None = None) -> None:
        self.state.counts[0] += 1
        super().update(decision, loss=loss, reward=reward)


class Drawn(wk.Bandit):
    """Takes a number from its stream before it knows whether it needs one."""

    def choose(self, awake: Any = None) -> wk.Decision:
        self._stream.draw()
        return super().choose(awake)


class Renaming(wk.Bandit):
    """Gives an arm another name while it refuses."""

    def choose(self, awake: Any = None) -> wk.Decision:
        try:
            return super().choose(awake)
        except ValueError:
            self._arms.names[0] = "other"
            raise


class Retiring(wk.Bandit):
    """Retires an arm while it refuses."""

    def choose(self, awake: Any = None) -> wk.Decision:
        try:
            return super().choose(awake)
        except ValueError:
            self.retire_arm(0)
            raise


class Deaf(wk.Bandit):
    """Plays an old arm where a new one is called."""

    def choose(self, awake: Any = None) -> wk.Decision:
        return super().choose([0] if awake == [N_ARMS] else awake)


class Listing(wk.Bandit):
    """Says probabilities as a list."""

    def probabilities(self, awake: Any = None) -> Any:
        return super().probabilities(awake).tolist()


class Rounding(wk.Bandit):
    """Says probabilities with half the digits."""

    def probabilities(self, awake: Any = None) -> Any:
        return super().probabilities(awake).astype(np.float32)


class Brief(wk.Bandit):
    """Says only the probabilities of those awake."""

    def probabilities(self, awake: Any = None) -> Any:
        return super().probabilities(awake)[awake]


@pytest.mark.parametrize(
    ("bandit", "check", "words"),
    [
        (Guessing, suite.check_law, "a decision carries its arm's probability"),
        (Nameless, suite.check_one_arm, "a new arm must be called by its position"),
        (Amnesiac, suite.check_saved, "what is loaded must equal what was saved"),
        (Lenient, suite.check_refusals, "bad input must be refused"),
        (Curt, suite.check_refusals, "a refusal must say what must be"),
        (Sloppy, suite.check_refusals, "a refusal must change nothing"),
        (Touched, suite.check_refusals, "a refusal must change nothing"),
        (Drawn, suite.check_refusals, "a refusal must change nothing"),
        (Renaming, suite.check_refusals, "a refusal must change nothing"),
        (Retiring, suite.check_refusals, "a refusal must change nothing"),
        (Deaf, suite.check_one_arm, "a new arm must be played where it is awake alone"),
        (Listing, suite.check_law, "probabilities must be a float64 array, got ["),
        (Rounding, suite.check_law, "probabilities must be a float64 array, got array"),
        (Brief, suite.check_law, "probabilities must have one entry for each arm, got ["),
        (Drawn, suite.check_repeatable, "play must make the choices of a Bandit"),
    ],
)
def test_a_broken_bandit_is_found_too(
    bandit: type[wk.Bandit], check: Check, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert complaint(check, broken.Sound()) is None
    monkeypatch.setattr(suite, "Bandit", bandit)
    assert words in (complaint(check, broken.Sound()) or "")


def test_every_kind_of_bad_input_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal, about = suite._refusal, Counter[str]()

    def noted(attempt: Callable[[], Any]) -> str:
        sentence = refusal(attempt)
        about[sentence.partition(" must be ")[0]] += 1
        return sentence

    monkeypatch.setattr(suite, "_refusal", noted)
    suite.check_refusals(broken.Sound())
    assert about >= Counter(
        {
            "awake": 5,
            "loss": 2,
            "reward": 1,
            "feedback": 2,
            "decision.arm": 1,
            "decision.probabilities": 3,
            "decision.probability": 2,
            "decision.memo": 1,
        }
    )


# Promises


@pytest.mark.parametrize(
    ("regret", "bound", "words"),
    [  # uniform play has regrets (iid, dependent, switching) of: internal 22, 246, 311; external 42, 309, 687;
        ("internal", 20.0, r"internal regret 21.6 exceeds 20.0 (iid)"),  # ordering 374, 807, 687
        ("internal", 200.0, r"exceeds 200.0 (dependent)"),
        ("internal", 280.0, r"exceeds 280.0 (switching)"),
        ("external", 40.0, r"external regret 42.4 exceeds 40.0 (iid)"),
        ("external", 200.0, r"exceeds 200.0 (dependent)"),
        ("external", 500.0, r"exceeds 500.0 (switching)"),
        ("ordering", 300.0, r"ordering regret 373.5 exceeds 300.0 (iid)"),
        ("ordering", 600.0, r"exceeds 600.0 (dependent)"),
    ],
)
def test_a_promise_is_held_against_its_own_regret_in_every_world(regret: str, bound: float, words: str) -> None:
    assert words in (complaint(suite.check_guarantee, broken.Boastful(regret, "any", bound)) or "")


def test_a_promise_for_independent_losses_is_not_held_against_others() -> None:
    assert complaint(suite.check_guarantee, broken.Boastful("external", "iid", 50.0)) is None
    assert complaint(suite.check_guarantee, broken.Boastful("internal", "any", 400.0)) is None


# Literal versions


def literal(case: Any) -> suite.Literal:
    return lambda awake, losses, u: run(case.literal(N_ARMS), awake, losses, u)[0]


def test_a_literal_version_that_plays_something_else_is_found() -> None:
    uniform, ucb = (next(c for c in CASES if type(c.policy) is kind) for kind in (wk.Uniform, wk.SleepingUCB))
    check_literal(uniform.policy, literal(uniform))
    with pytest.raises(AssertionError, match=r"Uniform\(\) must play what its literal version plays \(seed 0\)"):
        check_literal(uniform.policy, literal(ucb))


def test_one_other_arm_in_the_last_of_the_rounds_is_enough() -> None:
    case = next(c for c in CASES if type(c.policy) is wk.Uniform)
    seen: list[Any] = []

    def almost(awake: Any, losses: Any, u: Any) -> list[int]:
        seen.append((awake, losses))
        arms = literal(case)(awake, losses, u)
        return arms if len(seen) < 3 else [*arms[:-1], arms[-1] + 1]

    with pytest.raises(AssertionError, match=r"\(seed 2\)"):
        check_literal(case.policy, almost)
    assert not np.array_equal(seen[0][0], seen[1][0])
    assert not np.array_equal(seen[1][1], seen[2][1])


def test_check_policy_passes_its_literal_version_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "WORST_CASE_ROUNDS", 500)
    check_policy(broken.Sound(), lambda awake, losses, u: run(CASES[-1].literal(N_ARMS), awake, losses, u)[0])
    with pytest.raises(AssertionError, match="must play what its literal version plays"):
        check_policy(broken.Sound(), lambda awake, losses, u: [0] * len(awake))


def complaint(check: Check, policy: wk.Policy) -> str | None:
    """Return what `check` has to say against `policy`, if anything."""
    try:
        check(policy)
    except Exception as problem:
        return str(problem)
    return None
