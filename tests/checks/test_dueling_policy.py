"""`check_dueling_policy` itself: for each thing it checks, a policy that gets just that wrong, and what it is told."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import broken_duel_policies as broken
import wakeful as wk
from wakeful.checks import duel_trials as trials
from wakeful.checks import dueling_policy as suite
from wakeful.checks.dueling_policy import CHECKS, check_dueling_policy, check_literal
from wakeful.checks.policy import check_is_data
from wakeful.policies.spec import subclasses

Check = Callable[[wk.DuelingPolicy], None]

compiled_only = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run")


class Fault(NamedTuple):
    """How to make a broken policy, which check finds it, in which words, and whether no other does."""

    make: Callable[[], wk.DuelingPolicy]
    check: Check
    words: str
    alone: bool = True


FAULTS = {
    "changeable": Fault(broken.Thawed, check_is_data, "a policy must be a frozen dataclass"),
    "misprinted": Fault(lambda: broken.Misprinted(0.25), check_is_data, "eval(repr(policy)) must be the policy"),
    "unhashed": Fault(broken.Unhashed, check_is_data, "an equal policy must have an equal hash"),
    "nested": Fault(broken.Nested, check_is_data, "JSON must bring it back", alone=False),
    "local": Fault(broken.local_policy, check_is_data, "must be defined at the top of a module", alone=False),
    "a list": Fault(broken.Listed, suite.check_state, "a state must be a named tuple, got [array", alone=False),
    "unnamed": Fault(broken.Unnamed, suite.check_state, "a state must be a named tuple, got (array", alone=False),
    "a number": Fault(broken.Numbered, suite.check_state, "state.counts must be an array of at least", alone=False),
    "a point": Fault(broken.Pointed, suite.check_state, "state.counts must be an array of at least", alone=False),
    "words": Fault(broken.Worded, suite.check_state, "must be an array of numbers, got object", alone=False),
    "shared": Fault(broken.Shared, suite.check_state, "start must make state.counts anew", alone=False),
    "cramped": Fault(broken.Cramped, suite.check_state, "must make room for two arms at a time by itself"),
    "growing": Fault(broken.Logging, suite.check_state, "the state must not grow", alone=False),
    "endless": Fault(broken.Endless, suite.check_state, "state.counts must stay finite", alone=False),
    "everybody": Fault(
        broken.Everybody, suite.check_law, "probabilities must be zero on all arms but those allowed, got", alone=False
    ),
    "negative": Fault(broken.Negative, suite.check_law, "probabilities must not be negative, got", alone=False),
    "undefined": Fault(broken.Undefined, suite.check_law, "probabilities must not be NaN, got", alone=False),
    "excessive": Fault(broken.Excessive, suite.check_law, "probabilities must sum to one, got"),
    "impure": Fault(broken.Impure, suite.check_law, "asking for probabilities must not change the state", alone=False),
    "meddling": Fault(broken.Meddling, suite.check_law, "must not change the allowed pairs, with", alone=False),
    "fickle": Fault(broken.Moody, suite.check_law, "the same question must get the same answer", alone=False),
    "moody": Fault(
        lambda: broken.Moody(every=6),
        suite.check_law,
        "choose must draw from the probabilities that law returned",
        alone=False,
    ),
    "unmemorable": Fault(broken.Unmemorable, suite.check_law, "a memo must be zero or positive", alone=False),
    **{
        f"scribbling on {field}": Fault(
            lambda field=field: broken.Scribbling(field),  # type: ignore[misc]
            suite.check_law,
            f"learn must not change {'the ' if field == 'shares' else 'pick.'}{field}",
            alone=False,
        )
        for field in ("arms", "awake", "sizes", "laws", "memos", "shares")
    },
    "paired": Fault(broken.Paired, suite.check_battles, "probabilities must sum to one, got", alone=False),
    "roomy": Fault(broken.Roomy, suite.check_battles, "two of a battle must be a duel", alone=False),
    "random": Fault(
        broken.RandomStart, suite.check_repeatable, "the same uniforms must repeat the choices", alone=False
    ),
    "hoarding": Fault(broken.Hoarding, suite.check_repeatable, "must make the choices of single steps", alone=False),
    "secretive": Fault(broken.Secretive, suite.check_saved, "a loaded bandit must continue identically", alone=False),
    "last word": Fault(broken.LastWord, suite.check_late_feedback, "the order of feedback must not matter"),
    "partial": Fault(broken.Partial, suite.check_relabelling, "under other labels"),
    "decisive": Fault(
        broken.Decisive, suite.check_ties, "a win shared as [0.5, 0.5] must be accepted: somebody must win", alone=False
    ),
    "backward": Fault(
        broken.Backward, suite.check_winner, "always wins on the left must not be played less than one", alone=False
    ),
    "mirrored": Fault(
        broken.mirrored, suite.check_winner, "always wins on the right must not be played less than one", alone=False
    ),
    "condescending": Fault(broken.Condescending, suite.check_order, "the best two of three must meet in 0.33"),
    "forgetful": Fault(broken.Forgetful, suite.check_grow, "new arms must be as if asleep so far"),
    "unsettled": Fault(broken.Unsettled, suite.check_grow, "room for battles must not change a duel"),
    "stunted": Fault(broken.Stunted, suite.check_grow, "a state like that of start(6, 2), got float64 (4, 4) for"),
    "draining": Fault(broken.Draining, suite.check_grow, "grow must not change the state it is given", alone=False),
    "gambling": Fault(broken.Gambling, suite.check_folding, "a copy that counts the same duels in the same order"),
    "infinite": Fault(broken.Doubling, suite.check_streaks, "state.counts must stay finite"),
    "unguarded": Fault(broken.Unguarded, suite.check_streaks, "probabilities must not be NaN", alone=False),
    "misspoken": Fault(
        lambda: broken.Contradictory(broken.MISSPOKEN),
        suite.check_kernels_match_methods,
        "the method law must agree with the kernel",
    ),
    "mistaught": Fault(
        lambda: broken.Contradictory(broken.MISTAUGHT),
        suite.check_kernels_match_methods,
        "the method law must agree with the kernel",
    ),
    "misremembered": Fault(
        lambda: broken.Contradictory(broken.MISREMEMBERED), suite.check_kernels_match_methods, "remember must agree"
    ),
    "impure inside": Fault(
        lambda: broken.Faulty(broken.IMPURE),
        suite.check_folding,
        "a copy that counts the same duels in the same order",
        alone=False,
    ),
    "leaving": Fault(
        lambda: broken.Faulty(broken.LEAVES),
        suite.check_uncompiled,
        "must be importable and run uncompiled",
        alone=False,
    ),
}
OVERFLOW = Fault(
    lambda: broken.Faulty(broken.OVERFLOWS),
    suite.check_uncompiled,
    "compiled and uncompiled must make the same choices",
    alone=False,
)
SOUND = (
    *(wk.Sparring(inner) for inner in (wk.SIExp3(), wk.SleepingUCB(), wk.Uniform(), wk.FixedOrdering((0,)))),
    *(wk.AutoPairs(), wk.StablePair(), wk.RelativeUCB(), wk.RelativeMED(), wk.DoubleThompson(), wk.UniformPairs()),
    broken.Sound(),
)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the other process and most of the long runs, where something else is at stake."""
    for name, rounds in (("STREAK", 4_000), ("ORDER_ROUNDS", 400), ("WINNER_ROUNDS", 30)):
        monkeypatch.setattr(suite, name, rounds)
    monkeypatch.setattr(suite, "CHECKS", [check for check in CHECKS if check is not suite.check_uncompiled])


@pytest.mark.usefixtures("one_uncompiled_process")
@pytest.mark.parametrize("policy", [*SOUND, broken.Faulty(), broken.Contradictory()], ids=repr)
def test_without_a_fault_there_is_nothing_to_say(policy: wk.DuelingPolicy) -> None:
    check_dueling_policy(policy)


def test_every_policy_of_the_package_is_checked() -> None:
    ours = {cls for cls in subclasses(wk.DuelingPolicy) if cls.__module__.startswith("wakeful.")}
    assert ours <= {type(policy) for policy in SOUND}


def test_no_check_is_missing_from_the_list_and_each_finds_something() -> None:
    written = {value for name, value in vars(suite).items() if name.startswith("check_")}
    assert set(CHECKS) == written - {check_dueling_policy, check_literal}
    assert len(CHECKS) == len(set(CHECKS))
    assert {fault.check for fault in FAULTS.values()} == set(CHECKS)


@pytest.mark.parametrize(
    "fault", [*FAULTS.values(), pytest.param(OVERFLOW, marks=compiled_only)], ids=[*FAULTS, "overflowing"]
)
def test_a_fault_is_found_and_named(fault: Fault) -> None:
    assert fault.words in (complaint(fault.check, fault.make()) or "")


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    "fault", [f for f in FAULTS.values() if f.alone], ids=[name for name, f in FAULTS.items() if f.alone]
)
def test_no_other_check_complains(fault: Fault) -> None:
    said = {check.__name__: complaint(check, fault.make()) for check in suite.CHECKS if check is not fault.check}
    assert said == dict.fromkeys(said, None)


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("name", ["changeable", "growing", "excessive", "last word", "condescending"])
def test_the_suite_says_which_check_failed_and_how_to_repeat_it(name: str) -> None:
    fault = FAULTS[name]
    with pytest.raises(AssertionError) as caught:
        check_dueling_policy(fault.make())
    title = fault.check.__name__.removeprefix("check_").replace("_", " ")
    assert f" fails the check {title!r}: " in str(caught.value)
    assert fault.words in str(caught.value)
    assert str(caught.value).endswith(f" ({fault.check.__module__}.{fault.check.__name__}(policy) repeats it)")


def test_a_wrong_law_is_told_with_its_arms_and_its_round() -> None:
    said = complaint(suite.check_law, broken.Everybody()) or ""
    assert " for arms [" in said
    assert " after [" in said
    assert " arms in round " in said


def test_what_is_no_dueling_policy_is_refused_at_once() -> None:
    for value, words in (
        (broken.Sound, "not the class itself"),
        (broken.Even(), "a frozen dataclass"),
        (wk.SIExp3(), "a policy for duels"),
    ):
        with pytest.raises(TypeError, match=f"policy must be .*{words}"):
            check_dueling_policy(value)  # type: ignore[arg-type]
    assert complaint(check_is_data, broken.Even()) == "a policy must be a dataclass"


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


class Amnesiac(wk.DuelingBandit):
    """Saves nothing of what it learned."""

    def _record(self) -> dict[str, Any]:
        record = super()._record()
        forgotten = {
            name: np.zeros_like(array) for name, array in record["arrays"].items() if name in self.state._fields
        }
        return {**record, "arrays": {**record["arrays"], **forgotten}}


def test_a_bandit_that_saves_something_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "DuelingBandit", Amnesiac)
    assert complaint(suite.check_saved, broken.Sound()) == "what is loaded must equal what was saved"


def test_every_kind_of_pairs_is_tried() -> None:
    masks: dict[str, list[Any]] = {}
    for name, pairs in trials.rounds_of(100, 5, seed=0):
        assert (pairs == pairs.T).all()
        assert pairs.any()
        masks.setdefault(name, []).append(pairs)
    assert set(masks) == set(trials.PAIR_SETTINGS)
    square, distinct, groups, graphs, single = (
        masks[name] for name in ("S x S", "distinct arms", "groups", "any graph", "one pair")
    )
    assert all(pairs.sum() == pairs.diagonal().sum() ** 2 for pairs in square)
    assert all(not pairs.diagonal().any() for pairs in (*distinct, *groups))
    assert any(0 < pairs.diagonal().sum() < 5 for pairs in graphs)
    assert {int(pairs.sum()) for pairs in single} == {1, 2}
    assert all(len({pairs.tobytes() for pairs in kind}) > 5 for kind in masks.values())


# Literal versions


def uniform_literal(pairs: Any, preferences: Any, uniforms: Any, coins: Any) -> list[list[int]]:
    """Play everybody alike, written out."""
    played = []
    for mask, u in zip(pairs, uniforms, strict=True):
        able = np.flatnonzero(mask.any(axis=1))
        left = able[int(u[1] * able.size)]
        rivals = np.flatnonzero(mask[left])
        played.append([int(left), int(rivals[int(u[3] * rivals.size)])])
    return played


def test_a_literal_version_is_compared_draw_by_draw() -> None:
    check_literal(broken.Sound(), uniform_literal)
    seen: list[int] = []

    def almost(pairs: Any, *rest: Any) -> list[list[int]]:
        seen.append(len(pairs))
        arms = uniform_literal(pairs, *rest)
        return arms if len(seen) < 3 else [*arms[:-1], [arms[-1][0] + 1, arms[-1][1]]]

    with pytest.raises(AssertionError, match=r"must play what its literal version plays \(seed 2\)"):
        check_literal(broken.Sound(), almost)


@pytest.mark.usefixtures("brief")
def test_the_suite_passes_its_literal_version_on() -> None:
    check_dueling_policy(broken.Sound(), uniform_literal)
    with pytest.raises(AssertionError, match="must play what its literal version plays"):
        check_dueling_policy(broken.Sound(), lambda pairs, *rest: [[0, 0]] * len(pairs))


def complaint(check: Check, policy: wk.DuelingPolicy) -> str | None:
    """Return what `check` has to say against `policy`, if anything."""
    try:
        check(policy)
    except Exception as problem:
        return str(problem)
    return None
