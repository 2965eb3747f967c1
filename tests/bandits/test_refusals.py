"""Bad input: the right kind of exception, one clear sentence, and nothing changed."""

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from case_ids import stable_id
from wakeful import (
    Bandit,
    Decision,
    FixedOrdering,
    OrderingExp4,
    PerSet,
    Policy,
    SBExp3,
    SIExp3,
    SleepingExp3,
    SleepingExp3G,
    SleepingUCB,
    Uniform,
    play,
)
from wakeful.inputs import did_you_mean
from wakeful.policies.spec import full_name

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Refused = type[Exception] | tuple[type[Exception], ...]

NAN, INF = float("nan"), float("inf")
EITHER = (ValueError, TypeError)
HUGE = 10**400
DRINKS = ["tea", "coffee", "juice"]


class Counts(NamedTuple):
    """How often each arm was observed."""

    counts: Floats


@dataclass(frozen=True)
class Even(Policy):
    """A user's policy in plain Python, wrong on purpose where two named arms meet."""

    broken: bool = False

    def start(self, n_arms: int) -> Counts:
        return Counts(np.zeros(n_arms))

    def probabilities(self, state: Any, awake: Mask) -> Floats:
        p: Floats = awake / (0.5 if self.broken else awake.sum())
        return p

    def update(self, state: Any, decision: Decision, loss: float) -> None:
        state.counts[decision.arm] += 1.0


KINDS = [SIExp3(), Even(), PerSet(SIExp3(), max_sets=2)]  # compiled, plain, compiled around another


def everything(bandit: Bandit) -> tuple[Any, ...]:
    """All that a bandit is, bit for bit."""
    state = tuple(array.tobytes() for array in bandit.state)
    return (bandit.policy, bandit.arms, bandit.retired, bandit.rounds, json.dumps(bandit._stream.state), state)


def refused(what: str, kind: Refused, attempt: Callable[[], Any], *bandits: Bandit) -> None:
    """Raises `kind` with the sentence that `what` must be something, and changes nothing."""
    before = [everything(bandit) for bandit in bandits]
    with pytest.raises(kind) as caught:
        attempt()
    assert re.match(rf"^{what} must be \S.*, got \S", str(caught.value), re.DOTALL), str(caught.value)
    assert [everything(bandit) for bandit in bandits] == before


class Refusal(str):
    """The sentence with which something was refused."""


def tried(attempt: Callable[[], Any]) -> Any:
    """Return what `attempt` returns, or its `Refusal`; nothing but ValueError and TypeError may escape."""
    try:
        return attempt()
    except (ValueError, TypeError) as refusal:
        return Refusal(refusal)


def trained(policy: Policy, arms: Any = DRINKS) -> Bandit:
    bandit = Bandit(policy, arms, seed=1)
    for n in range(30):
        bandit.update(bandit.choose(), loss=n % 5 / 4)
    return bandit


AWAKE: list[tuple[Any, Refused]] = [
    ([], ValueError),
    ((), ValueError),
    (np.array([]), ValueError),
    (np.zeros(3, np.bool_), ValueError),
    ([False, False, False], ValueError),
    (["tea", "tea"], ValueError),
    (["tea", "water"], ValueError),
    ([0, 1], ValueError),
    (np.array([0, 1]), ValueError),
    (np.array([1, 0, 1]), EITHER),
    (np.array([1.0, 0.0, 1.0]), EITHER),
    (np.ones(3, np.int8).view(np.uint8), EITHER),
    ([b"tea"], ValueError),
    ([NAN], ValueError),
    (["tea", 10**30], ValueError),
    (np.array(["tea", "water"]), ValueError),
    ([True, False], ValueError),
    ([True], ValueError),
    (np.ones(4, np.bool_), ValueError),
    (np.ones(2, np.bool_), ValueError),
    (np.ones(0, np.bool_), ValueError),
    (np.ones((1, 3), np.bool_), ValueError),
    (np.ones((3, 1), np.bool_), ValueError),
    (np.array(True), EITHER),
    (np.array("tea"), TypeError),
    (np.array(1), TypeError),
    (np.True_, TypeError),
    (True, TypeError),
    ("tea", TypeError),
    (b"tea", TypeError),
    ("", TypeError),
    (3, TypeError),
    (0.5, TypeError),
    (object(), TypeError),
    (list, TypeError),
    ([None], TypeError),
    (["tea", None], TypeError),
    (["tea", True], TypeError),
    ([True, "tea", "juice"], TypeError),
    ([1, False, True], EITHER),
    ([["tea"]], TypeError),
    ([{"tea"}], TypeError),
    ([np.array(["tea"])], TypeError),
    (np.array([["tea", "juice"]]), TypeError),
    ({"tea": True, "coffee": False}, TypeError),
]


@pytest.mark.parametrize(("awake", "kind"), AWAKE, ids=stable_id)
def test_what_names_no_arms_is_refused_as_awake(awake: Any, kind: Refused) -> None:
    bandit = trained(SIExp3())
    refused("awake", kind, lambda: bandit.choose(awake), bandit)
    refused("awake", kind, lambda: bandit.probabilities(awake), bandit)
    assert bandit.choose(["tea"]).arm == "tea"


@pytest.mark.parametrize("awake", [[1, False], [True, 0], [np.False_, 1], (0, True), [1.0, False]], ids=stable_id)
def test_truth_values_among_names_are_refused_where_arms_are_numbers(awake: Any) -> None:
    bandit = trained(Uniform(), 2)
    bandit.choose([0, 1])
    bandit.choose((1, 0))
    refused("awake", TypeError, lambda: bandit.choose(awake), bandit)
    assert bandit.choose([True, False]).awake == (0,)
    assert bandit.choose([1]).awake == (1,)


@pytest.mark.parametrize("awake", [np.array([1.0, 0.0]), np.array([0.0, 1.0], np.float32)], ids=stable_id)
def test_a_mask_of_floats_is_refused_even_where_it_could_be_read_as_names(awake: Any) -> None:
    bandit = trained(Uniform(), 2)
    refused("awake", EITHER, lambda: bandit.choose(awake), bandit)


@pytest.mark.parametrize("bandit", [Bandit(Uniform(), DRINKS, seed=0), trained(Uniform())], ids=["new", "trained"])
def test_a_masked_array_never_wakes_an_arm_that_it_hides(bandit: Bandit) -> None:
    mask: Any = np.ma.masked_array([True, True, True], mask=[False, True, False])
    named = tried(lambda: bandit.choose(mask))
    if not isinstance(named, Refusal):
        assert (named.awake, named.probabilities.tolist()) == (("tea", "juice"), [0.5, 0.0, 0.5])
    assert bandit.probabilities(["tea", "juice"]).tolist() == [0.5, 0.0, 0.5]


def test_an_unknown_name_gets_a_suggestion() -> None:
    bandit = trained(SIExp3())
    sentence = r"^awake must be among the arms 'tea', 'coffee', 'juice', got 'cofee' \(did you mean 'coffee'\?\)$"
    with pytest.raises(ValueError, match=sentence):
        bandit.choose(["tea", "cofee"])


def test_a_suggestion_is_looked_for_among_the_first_thousand_names() -> None:
    names = (f"n{k}" for k in range(20_000))
    assert did_you_mean("cofee", names) == ""
    assert next(names) == "n1000"
    assert did_you_mean("cofee", [*names, "coffee"]) == ""
    assert did_you_mean("cofee", ["tea", "coffee"]) == " (did you mean 'coffee'?)"


def test_an_iterable_that_fails_halfway_changes_nothing() -> None:
    bandit = trained(SIExp3())
    before = everything(bandit)
    with pytest.raises(ZeroDivisionError):
        bandit.choose(DRINKS[k // (2 - k)] for k in range(3))
    assert everything(bandit) == before
    assert bandit.choose().arm in DRINKS


def test_a_plain_policy_whose_law_is_none_is_refused_before_anything_is_drawn() -> None:
    bandit = Bandit(Even(broken=True), DRINKS, seed=1)
    refused(r"Even\.probabilities", ValueError, bandit.choose, bandit)


SHARES: list[tuple[Any, Refused]] = [
    (NAN, ValueError),
    (INF, ValueError),
    (-INF, ValueError),
    (np.float32(NAN), ValueError),
    (-0.1, ValueError),
    (1.5, ValueError),
    (7, ValueError),
    (-1, ValueError),
    (np.int64(2), ValueError),
    (math.nextafter(1.0, 2.0), ValueError),
    (-5e-324, ValueError),
    (HUGE, ValueError),
    (-HUGE, ValueError),
    (Fraction(3, 2), ValueError),
    (Fraction(HUGE), ValueError),
    (Decimal("0.3"), TypeError),
    (0.3 + 0j, TypeError),
    (np.complex128(0.3), TypeError),
    ("0.3", TypeError),
    (b"0.3", TypeError),
    ([0.3], TypeError),
    ((0.3,), TypeError),
    ({"loss": 0.3}, TypeError),
    (np.array(0.3), TypeError),
    (np.array([0.3]), TypeError),
    (np.datetime64("2020-01-01"), TypeError),
    (object(), TypeError),
    (float, TypeError),
]


@pytest.mark.parametrize("name", ["loss", "reward"])
@pytest.mark.parametrize(("value", "kind"), SHARES, ids=stable_id)
def test_a_loss_or_reward_that_is_no_number_in_the_unit_interval_is_refused(name: str, value: Any, kind: Any) -> None:
    bandit = trained(SIExp3())
    decision = bandit.choose()
    refused(name, kind, lambda: bandit.update(decision, **{name: value}), bandit)


@pytest.mark.parametrize(
    "loss",
    [0, 1, True, False, np.True_, np.int8(1), np.float16(0.5), np.longdouble(0.25), Fraction(1, 3), -0.0],
    ids=stable_id,
)
def test_numbers_of_every_make_are_losses(loss: Any) -> None:
    bandit, other = trained(SIExp3()), trained(SIExp3())
    bandit.update(bandit.choose(), loss=loss)
    other.update(other.choose(), loss=float(loss))
    assert everything(bandit) == everything(other)


def test_both_and_neither_of_loss_and_reward_are_refused() -> None:
    bandit = trained(SIExp3())
    decision = bandit.choose()
    refused("feedback", ValueError, lambda: bandit.update(decision), bandit)
    refused("feedback", ValueError, lambda: bandit.update(decision, loss=0.3, reward=0.7), bandit)
    refused("feedback", ValueError, lambda: bandit.update(decision, loss=None, reward=None), bandit)


class Dressed(Decision):
    """A subclass, which may answer anything to anybody."""


@pytest.mark.parametrize("policy", KINDS, ids=stable_id)
def test_only_a_decision_gets_feedback(policy: Policy) -> None:
    bandit = trained(policy)
    decision: Any = bandit.choose()
    impostors: list[Any] = [None, "tea", 1, tuple(decision), list(decision), Decision, Dressed(*decision)]
    for impostor in impostors:
        refused("decision", TypeError, partial(bandit.update, impostor, loss=0.5), bandit)


FORGED: dict[str, list[tuple[Callable[[Decision], Any], Refused]]] = {
    "arm": [
        (lambda d: "water", ValueError),
        (lambda d: None, EITHER),
        (lambda d: ["tea"], EITHER),
        (lambda d: 0, ValueError),
        (lambda d: NAN, ValueError),
        (lambda d: np.array(["tea"]), EITHER),
    ],
    "probability": [
        (lambda d: d.probability / 2, ValueError),
        (lambda d: math.nextafter(d.probability, 0.0), ValueError),
        (lambda d: 7.0, ValueError),
        (lambda d: -d.probability, ValueError),
        (lambda d: 0.0, ValueError),
        (lambda d: NAN, ValueError),
        (lambda d: HUGE, EITHER),
        (lambda d: str(d.probability), TypeError),
        (lambda d: None, EITHER),
        (lambda d: 1j, EITHER),
        (lambda d: [d.probability], EITHER),
        (lambda d: d.probabilities, EITHER),
    ],
    "awake": [
        (lambda d: (), ValueError),
        (lambda d: ("water",), ValueError),
        (lambda d: ("tea", "tea"), ValueError),
        (lambda d: ("tea", "coffee", "juice", "tea"), ValueError),
        (lambda d: (d.arm,), ValueError),
        (lambda d: tuple(name for name in DRINKS if name != d.arm), ValueError),
        (lambda d: np.ones(4, np.bool_), ValueError),
        (lambda d: (True, False), ValueError),
        (lambda d: "tea", TypeError),
        (lambda d: 3, TypeError),
        (lambda d: None, TypeError),
        (lambda d: ("tea", None), TypeError),
        (lambda d: (["tea"],), TypeError),
    ],
    "probabilities": [
        (lambda d: d.probabilities * 1.1, ValueError),
        (lambda d: np.zeros(3), ValueError),
        (lambda d: -d.probabilities, ValueError),
        (lambda d: np.full(3, NAN), ValueError),
        (lambda d: np.array([INF, -INF, 1.0]), ValueError),
        (lambda d: np.array([2.0, -0.5, -0.5]), ValueError),
        (lambda d: d.probabilities[:2], ValueError),
        (lambda d: np.append(d.probabilities, 0.0), ValueError),
        (lambda d: d.probabilities[np.newaxis], ValueError),
        (lambda d: d.probabilities[:, np.newaxis], ValueError),
        (lambda d: np.array(1.0), ValueError),
        (lambda d: np.zeros(0), ValueError),
        (lambda d: np.zeros((0, 3)), ValueError),
        (lambda d: np.repeat(d.probabilities, 2)[::2], TypeError),
        (lambda d: d.probabilities[::-1], TypeError),
        (lambda d: np.broadcast_to(d.probabilities[:1], (3,)), TypeError),
        (lambda d: d.probabilities.astype(np.float32), TypeError),
        (lambda d: d.probabilities.astype(np.longdouble), TypeError),
        (lambda d: d.probabilities.astype(np.complex128), TypeError),
        (lambda d: d.probabilities.astype(">f8"), TypeError),
        (lambda d: d.probabilities.astype(object), TypeError),
        (lambda d: d.probabilities.view(np.int64), TypeError),
        (lambda d: d.probabilities.view("M8[s]"), TypeError),
        (lambda d: d.probabilities.view([("p", np.float64)]), TypeError),
        (lambda d: np.ma.masked_array(d.probabilities), TypeError),
        (lambda d: d.probabilities.tolist(), TypeError),
        (lambda d: tuple(d.probabilities.tolist()), TypeError),
        (lambda d: None, TypeError),
        (lambda d: "law", TypeError),
        (lambda d: d.probabilities.data, TypeError),
    ],
    "clock": [
        (lambda d: 0, ValueError),
        (lambda d: -1, ValueError),
        (lambda d: 1.0, TypeError),
        (lambda d: "1", TypeError),
        (lambda d: True, TypeError),
        (lambda d: None, TypeError),
        (lambda d: NAN, TypeError),
    ],
    "memo": [
        (lambda d: -1.0, ValueError),
        (lambda d: -5e-324, ValueError),
        (lambda d: INF, ValueError),
        (lambda d: NAN, ValueError),
        (lambda d: HUGE, EITHER),
        (lambda d: "0.5", TypeError),
        (lambda d: None, TypeError),
        (lambda d: 1j, TypeError),
        (lambda d: [0.5], TypeError),
        (lambda d: np.array([0.5, 0.5]), TypeError),
        (lambda d: np.datetime64(1, "s"), TypeError),
    ],
    "policy": [
        (lambda d: "SBExp3", ValueError),
        (lambda d: d.policy.lower(), ValueError),
        (lambda d: None, TypeError),
        (lambda d: d.policy.encode(), TypeError),
        (lambda d: np.array([d.policy, d.policy]), TypeError),
    ],
}


@pytest.mark.parametrize("policy", KINDS, ids=stable_id)
@pytest.mark.parametrize(("field", "number"), [(field, n) for field in FORGED for n in range(len(FORGED[field]))])
def test_a_forged_decision_is_refused(policy: Policy, field: str, number: int) -> None:
    bandit = trained(policy)
    decision = bandit.choose()
    forge, kind = FORGED[field][number]
    forged = decision._replace(**{field: forge(decision)})
    refused(r"decision(\.\w+)?", kind, lambda: bandit.update(forged, loss=0.5), bandit)
    bandit.update(decision, loss=0.5)


def test_a_decision_of_numpy_scalars_is_as_good_as_one_of_plain_numbers() -> None:
    bandit, other = trained(SIExp3()), trained(SIExp3())
    arm, probability, awake, p, clock, memo, decider = bandit.choose()
    bandit.update(Decision(arm, probability, awake, p, clock, memo), loss=0.5)
    same = other.choose()
    names = tuple(np.array(awake))
    scalars = (
        np.str_(arm),
        np.float64(probability),
        names,
        same.probabilities,
        np.int64(clock),
        np.float64(memo),
        np.str_(decider),
    )
    other.update(Decision(*scalars), loss=0.5)  # type: ignore[arg-type]  # as they come out of a table
    assert everything(bandit) == everything(other)


@pytest.mark.parametrize("policy", KINDS, ids=stable_id)
def test_read_only_and_unaligned_probabilities_are_read_right_or_refused(policy: Policy) -> None:
    bandit, other = trained(policy), trained(policy)
    decision = bandit.choose()
    other.choose()
    unaligned = np.frombuffer(b"?" + decision.probabilities.tobytes(), np.float64, offset=1)
    assert not unaligned.flags.aligned
    assert not unaligned.flags.writeable
    bandit.update(decision, loss=0.5)
    answer = tried(lambda: other.update(decision._replace(probabilities=unaligned), loss=0.5))
    assert isinstance(answer, Refusal) or everything(bandit) == everything(other)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.fill(0.0),
        lambda p: setattr(p, "shape", (3, 1)),
        lambda p: setattr(p, "dtype", np.int64),
    ],
    ids=["zeros", "shape", "dtype"],
)
@pytest.mark.parametrize("policy", KINDS, ids=stable_id)
def test_the_latest_decision_is_refused_if_its_array_was_changed(policy: Policy, change: Any) -> None:
    bandit = trained(policy)
    decision = bandit.choose()
    change(decision.probabilities)
    refused("decision.probabilities", EITHER, lambda: bandit.update(decision, loss=0.5), bandit)


@pytest.mark.parametrize("policy", KINDS, ids=stable_id)
def test_a_decision_from_a_bandit_with_other_arms_is_refused(policy: Policy) -> None:
    bandit = trained(policy)
    for arms in (["water", "milk"], 3, ["tea", "coffee"], [*DRINKS, "water"], ["tea", "coffee", "water"]):
        stranger = Bandit(policy, arms, seed=1).choose()
        refused(r"decision\.\w+", ValueError, partial(bandit.update, stranger, loss=0.5), bandit)


def test_a_decision_from_a_bandit_with_its_arms_in_another_order_is_refused() -> None:
    bandit = trained(SIExp3())
    stranger = trained(SIExp3(), DRINKS[::-1]).choose()
    assert len(set(stranger.probabilities)) == 3
    refused(r"decision\.\w+", ValueError, lambda: bandit.update(stranger, loss=0.5), bandit)


@pytest.mark.parametrize("policy", KINDS, ids=stable_id)
def test_an_arm_behind_the_end_of_a_short_law_is_refused(policy: Policy) -> None:
    bandit = trained(policy)
    bandit.add_arm("water")
    longer = np.array([0.5, 0.5, 0.0, 0.5])  # the entry of the new arm lies behind the end of the slice
    forged = Decision("water", 0.5, ("tea", "coffee"), longer[:3], 31, 0.5)
    refused(r"decision\.\w+", ValueError, lambda: bandit.update(forged, loss=0.5), bandit)


@pytest.mark.parametrize("policy", KINDS, ids=stable_id)
def test_a_short_law_is_refused_where_a_newer_arm_was_awake_or_no_bandit_was_so_small(policy: Policy) -> None:
    bandit = trained(policy)
    bandit.add_arm("water")
    half, third = np.array([0.5, 0.5]), np.full(3, 1 / 3)
    for forged in (
        Decision("tea", 1 / 3, (*DRINKS, "water"), third, 31, 0.5),
        Decision("tea", 0.5, ("tea", "coffee"), half, 31, 0.5),
        Decision("tea", 0.5, ("tea", "coffee"), np.array([0.5, 0.5, 0.0, 0.0, 0.0]), 31, 0.5),
    ):
        refused(r"decision\.\w+", ValueError, partial(bandit.update, forged, loss=0.5), bandit)


RECORDS: list[tuple[Any, Refused]] = [
    (None, EITHER),
    ("tea", EITHER),
    ([1, 2], EITHER),
    ({}, ValueError),
    ({"arm": "tea"}, ValueError),
    ({"extra": 1}, ValueError),
    ({"probabilities": [HUGE, 0.0, 0.0]}, EITHER),
    ({"probabilities": [[1.0], [1.0, 2.0]]}, EITHER),
    ({"probabilities": [1j, 0.0, 0.0]}, EITHER),
    ({"probabilities": ["a", "b", "c"]}, EITHER),
    ({"probabilities": ["0.5", "0.25", "0.25"]}, EITHER),
    ({"probabilities": {"tea": 1.0}}, EITHER),
    ({"probabilities": None}, EITHER),
    ({"probabilities": 1.0}, EITHER),
    ({"probabilities": "1"}, EITHER),
    ({"awake": 3}, EITHER),
    ({"awake": None}, EITHER),
    ({"awake": "tea"}, EITHER),
]


@pytest.mark.parametrize(("change", "kind"), RECORDS, ids=stable_id)
def test_a_record_that_is_no_decision_is_refused(change: Any, kind: Refused) -> None:
    record = trained(SIExp3()).choose().to_dict()
    partial = change == {} or not isinstance(change, dict) or "arm" in change
    bad = change if partial else {**record, **change}
    refused(r"decision(\.\w+)?", kind, lambda: Decision.from_dict(bad))


ARMS: list[tuple[Any, Refused]] = [
    (0, ValueError),
    (-1, ValueError),
    (10**30, ValueError),
    ([], ValueError),
    (iter([]), ValueError),
    (["tea", "tea"], ValueError),
    ([1, 1.0], TypeError),
    ([("a", 1)], TypeError),
    ([NAN], ValueError),
    ([np.float64(NAN), "tea"], ValueError),
    (True, TypeError),
    (2.0, TypeError),
    (None, TypeError),
    ("tea", TypeError),
    (b"tea", TypeError),
    (np.array(2), TypeError),
    ([True, False], TypeError),
    ([1, False], TypeError),
    (np.array([True, False]), TypeError),
    ([None, "tea"], TypeError),
    ([["tea"], ["coffee"]], TypeError),
    ([{}], TypeError),
    (np.array([["tea", "coffee"]]), TypeError),
    (object(), TypeError),
]


@pytest.mark.parametrize(("arms", "kind"), ARMS, ids=stable_id)
def test_what_cannot_be_arms_is_refused(arms: Any, kind: Refused) -> None:
    refused("arms", kind, lambda: Bandit(Uniform(), arms))


@pytest.mark.parametrize("arms", [{"tea", "coffee"}, frozenset({"tea"})], ids=["set", "frozenset"])
def test_a_set_is_refused_as_arms_because_its_order_differs_between_processes(arms: Any) -> None:
    refused("arms", TypeError, lambda: Bandit(Uniform(), arms))


SEEDS: list[tuple[Any, Refused]] = [
    (-1, ValueError),
    (np.int8(-1), ValueError),
    (True, TypeError),
    (False, TypeError),
    (np.True_, TypeError),
    (1.0, TypeError),
    (NAN, TypeError),
    ("1", TypeError),
    (b"1", TypeError),
    ([1, 2], TypeError),
    (np.array(1), TypeError),
    (np.random.default_rng(1), TypeError),
    (np.random.PCG64(1), TypeError),
    (np.random.RandomState(1), TypeError),
    (object(), TypeError),
]


@pytest.mark.parametrize(("seed", "kind"), SEEDS, ids=stable_id)
def test_what_cannot_seed_is_refused(seed: Any, kind: Refused) -> None:
    refused("seed", kind, lambda: Bandit(Uniform(), 2, seed=seed))


class Loose(Policy):
    """A policy that is no dataclass."""

    def start(self, n_arms: int) -> Counts:
        return Counts(np.zeros(n_arms))


@pytest.mark.parametrize(
    "policy", [SIExp3, Policy, None, "SIExp3", object(), {"policy": "SIExp3"}, Loose()], ids=stable_id
)
def test_what_is_no_policy_is_refused(policy: Any) -> None:
    if policy is not None:  # nothing named: the policy to start with
        refused("policy", TypeError, lambda: Bandit(policy, 2))
    refused("policy", TypeError, lambda: PerSet(policy))
    refused("policy", TypeError, lambda: play(policy, [[True]], [[0.5]], np.random.default_rng(0)))


def test_a_policy_class_in_place_of_an_instance_is_told_from_other_things() -> None:
    with pytest.raises(TypeError, match=r"^policy must be an instance such as SIExp3\(\), not the class itself, got <"):
        Bandit(SIExp3, 2)  # type: ignore[arg-type]


PARAMETERS: list[tuple[str, Callable[..., Policy], dict[str, Any], Refused]] = [
    *[
        ("eta", make, {"eta": value}, kind)
        for make in (SIExp3, SBExp3, SleepingExp3, SleepingExp3G)
        for value, kind in [
            (0, ValueError),
            (0.0, ValueError),
            (-0.1, ValueError),
            (NAN, ValueError),
            (INF, ValueError),
            (HUGE, ValueError),
            ("squirt", ValueError),
            ("", ValueError),
            (True, TypeError),
            (None, TypeError),
            ([0.1], TypeError),
            (0.1j, TypeError),
            (Decimal("0.1"), TypeError),
            (np.array(0.1), TypeError),
        ]
    ],
    *[
        ("exploration", make, {"exploration": value}, kind)
        for make in (SIExp3, SBExp3, SleepingExp3, SleepingExp3G)
        for value, kind in [
            (-0.1, ValueError),
            (NAN, ValueError),
            (INF, ValueError),
            (HUGE, ValueError),
            (None, TypeError),
            (True, TypeError),
            ("sqrt", TypeError),
        ]
    ],
    ("eta", SBExp3, {"eta": "horizon"}, ValueError),
    ("eta", SleepingExp3, {"eta": "anytime"}, ValueError),
    ("horizon", SIExp3, {"eta": "horizon", "horizon": 0}, ValueError),
    ("horizon", SIExp3, {"eta": "horizon", "horizon": 0.5}, ValueError),
    ("horizon", SIExp3, {"eta": "horizon", "horizon": -1}, ValueError),
    ("horizon", SIExp3, {"eta": "horizon", "horizon": NAN}, ValueError),
    ("horizon", SIExp3, {"eta": "horizon", "horizon": INF}, ValueError),
    ("horizon", SIExp3, {"eta": "horizon", "horizon": HUGE}, ValueError),
    ("horizon", SIExp3, {"eta": "horizon"}, EITHER),
    ("horizon", SIExp3, {"eta": "horizon", "horizon": "100"}, TypeError),
    ("horizon", SIExp3, {"horizon": 100}, ValueError),
    ("horizon", SIExp3, {"eta": 0.1, "horizon": 100}, ValueError),
    ("constant", SleepingUCB, {"constant": 0}, ValueError),
    ("constant", SleepingUCB, {"constant": -8.0}, ValueError),
    ("constant", SleepingUCB, {"constant": NAN}, ValueError),
    ("constant", SleepingUCB, {"constant": HUGE}, ValueError),
    ("constant", SleepingUCB, {"constant": "8"}, TypeError),
    ("scale", OrderingExp4, {"scale": 0}, ValueError),
    ("scale", OrderingExp4, {"scale": INF}, ValueError),
    ("scale", OrderingExp4, {"scale": None}, TypeError),
    ("max_sets", SleepingExp3G, {"max_sets": 0}, ValueError),
    ("max_sets", SleepingExp3G, {"max_sets": 1.0}, TypeError),
    ("max_sets", PerSet, {"policy": Uniform(), "max_sets": -1}, ValueError),
    ("max_sets", PerSet, {"policy": Uniform(), "max_sets": True}, TypeError),
    ("ordering", FixedOrdering, {"ordering": (0, 0)}, ValueError),
    ("ordering", FixedOrdering, {"ordering": (-1,)}, ValueError),
    ("ordering", FixedOrdering, {"ordering": (0.0,)}, TypeError),
    ("ordering", FixedOrdering, {"ordering": [0, 1]}, TypeError),
    ("ordering", FixedOrdering, {"ordering": "01"}, TypeError),
]


@pytest.mark.parametrize(
    ("name", "make", "values", "kind"), PARAMETERS, ids=[f"{m.__name__}-{v!r}"[:60] for _, m, v, _ in PARAMETERS]
)
def test_parameters_that_make_no_sense_are_refused(
    name: str, make: Callable[..., Policy], values: dict[str, Any], kind: Refused
) -> None:
    refused(name, kind, lambda: make(**values))


def test_an_unknown_schedule_gets_a_suggestion() -> None:
    with pytest.raises(ValueError, match=r"^eta must be .*'squirt' \(did you mean 'sqrt'\?\)$"):
        SIExp3(eta="squirt")


def test_orderings_that_do_not_fit_the_arms_are_refused() -> None:
    refused("ordering", ValueError, lambda: Bandit(FixedOrdering((3,)), 3))
    refused("arms", ValueError, lambda: Bandit(OrderingExp4(), 8))


@pytest.mark.parametrize(
    "policy",
    [
        SIExp3(eta=np.float32(0.5)),  # type: ignore[arg-type]
        SIExp3(eta="horizon", horizon=np.int64(100)),  # type: ignore[arg-type]
        PerSet(SleepingUCB(), max_sets=np.int64(3)),  # type: ignore[arg-type]
        FixedOrdering(tuple(np.argsort([0.3, 0.1, 0.2]))),
        SleepingUCB(constant=Fraction(1, 2)),  # type: ignore[arg-type]
    ],
    ids=stable_id,
)
def test_a_parameter_that_is_accepted_can_be_saved(policy: Policy, tmp_path: Path) -> None:
    bandit = trained(policy)
    bandit.save(tmp_path / "b")
    assert everything(Bandit.load(tmp_path / "b")) == everything(bandit)


NAMES: list[tuple[Any, Refused]] = [
    ("tea", ValueError),
    (np.str_("tea"), ValueError),
    (NAN, ValueError),
    (True, TypeError),
    (np.False_, TypeError),
    (["water"], TypeError),
    ({}, TypeError),
    (np.array(["water"]), TypeError),
]


@pytest.mark.parametrize(("name", "kind"), NAMES, ids=stable_id)
@pytest.mark.parametrize("policy", KINDS, ids=stable_id)
def test_a_name_that_is_taken_or_no_name_is_refused_for_a_new_arm(policy: Policy, name: Any, kind: Refused) -> None:
    bandit = trained(policy)
    refused("name", kind, lambda: bandit.add_arm(name), bandit)
    assert bandit.add_arm("water") == "water"


@pytest.mark.parametrize(
    "name", ["water", "teas", None, 0, True, NAN, ["tea"], np.array(["tea"]), ("tea",)], ids=stable_id
)
def test_only_an_arm_can_be_retired(name: Any) -> None:
    bandit = trained(SIExp3())
    refused("name", EITHER, lambda: bandit.retire_arm(name), bandit)


@pytest.mark.parametrize("name", [True, np.True_], ids=stable_id)
def test_a_truth_value_retires_no_arm_called_one(name: Any) -> None:
    bandit = trained(SIExp3(), 3)
    refused("name", EITHER, lambda: bandit.retire_arm(name), bandit)


POLICY_RECORDS: list[Any] = [
    None,
    [],
    "SIExp3",
    {},
    {"policy": "SIExp3"},
    {"policy": "SIexp3", "parameters": {}},
    {"policy": ["SIExp3"], "parameters": {}},
    {"policy": {}, "parameters": {}},
    {"policy": None, "parameters": {}},
    {"policy": "Policy", "parameters": {}},
    {"policy": "os.system", "parameters": {}},
    {"policy": "SIExp3", "parameters": None},
    {"policy": "SIExp3", "parameters": []},
    {"policy": "SIExp3", "parameters": ["eta"]},
    {"policy": "SIExp3", "parameters": "eta"},
    {"policy": "SIExp3", "parameters": {"etta": 1.0}},
    {"policy": "SIExp3", "parameters": {"eta": -1.0}},
    {"policy": "SIExp3", "parameters": {"eta": {}}},
    {"policy": "SIExp3", "parameters": {"a": 1, 2: 2}},
    {"policy": "PerSet", "parameters": {}},
    {"policy": "PerSet", "parameters": {"policy": "SIExp3"}},
]


@pytest.mark.parametrize("record", POLICY_RECORDS, ids=stable_id)
def test_a_record_that_is_no_policy_is_refused(record: Any) -> None:
    refused(r"\w+", EITHER, lambda: Policy.from_dict(record))


ROUNDS: list[tuple[str, Any, Any, Any, Refused]] = [
    ("awake", [[1, 0]], [[0.5, 0.5]], None, TypeError),
    ("awake", [[1.0, 0.0]], [[0.5, 0.5]], None, TypeError),
    ("awake", [True, True], [0.5, 0.5], None, ValueError),
    ("awake", np.ones((2, 0), np.bool_), np.ones((2, 0)), None, ValueError),
    ("awake", [[True], [True, False]], [[0.5], [0.5]], None, EITHER),
    ("awake", None, [[0.5]], None, EITHER),
    ("losses", [[True, True]], [[0.5]], None, ValueError),
    ("losses", [[True, True]], [0.5, 0.5], None, ValueError),
    ("losses", [[True, True]], [[0.5, NAN]], None, ValueError),
    ("losses", [[True, True]], [[0.5, 1.5]], None, ValueError),
    ("losses", [[True, True]], [[0.5, -0.5]], None, ValueError),
    ("losses", [[True, True]], [[0.5, HUGE]], None, EITHER),
    ("losses", [[True, True]], [[0.5, "x"]], None, EITHER),
    ("losses", [[True, True]], [[0.5, 0.5j]], None, EITHER),
    ("losses", [[True, True]], np.array([[0.5, 0.5j]]), None, EITHER),
    ("losses", [[True, True]], None, None, EITHER),
    ("rng", [[True, True]], [[0.5, 0.5]], 7, TypeError),
    ("rng", [[True, True]], [[0.5, 0.5]], np.random.RandomState(0), TypeError),
    ("rng", [[True, True]], [[0.5, 0.5]], np.random.PCG64(0), TypeError),
]


@pytest.mark.parametrize(("what", "awake", "losses", "rng", "kind"), ROUNDS)
@pytest.mark.parametrize("policy", [SIExp3(), Even()], ids=stable_id)
def test_rounds_that_cannot_be_played_are_refused(
    policy: Policy, what: str, awake: Any, losses: Any, rng: Any, kind: Refused
) -> None:
    generator = np.random.default_rng(0) if rng is None else rng
    refused(what, kind, lambda: play(policy, awake, losses, generator))


def test_the_losses_of_sleepers_are_never_looked_at() -> None:
    awake = np.array([[True, False], [False, True]])
    losses = np.array([[0.5, NAN], [INF, 0.25]])
    assert play(SIExp3(), awake, losses, np.random.default_rng(0)).tolist() == [0, 1]


STATES: list[tuple[Policy, Any]] = [
    (SBExp3(), SBExp3().start(41)),
    (SIExp3(), SBExp3().start(40)),
    (SIExp3(), (np.zeros((40, 40)), np.zeros(2))),
    (SIExp3(), SIExp3().start(40)._replace(losses=np.zeros((40, 40), np.float32))),
    (SIExp3(), SIExp3().start(40).losses),
    (SIExp3(), 7),
    (Even(), Even().start(41)),
]


@pytest.mark.parametrize(("policy", "state"), STATES, ids=stable_id)
def test_a_state_of_another_policy_is_refused_by_play(policy: Policy, state: Any) -> None:
    rounds = np.ones((3, 40), np.bool_), np.ones((3, 40)), np.random.default_rng(0)
    refused("state", EITHER, lambda: play(policy, *rounds, state))


SMALL = """
import numpy as np
from wakeful import PerSet, SBExp3, SIExp3, SleepingExp3G, SleepingUCB, play
policy, state = {policy}, {state}
try:
    play(policy, np.ones((300, 40), np.bool_), np.ones((300, 40)), np.random.default_rng(0), state)
except ValueError as refusal:
    print(refusal)
"""


@pytest.mark.parametrize(
    ("policy", "state"),
    [
        ("SIExp3()", "SIExp3().start(2)"),
        ("SleepingExp3G()", "SleepingExp3G(max_sets=2).start(2)"),
        ("PerSet(SleepingUCB())", "PerSet(SleepingUCB(), max_sets=1).start(3)"),
    ],
)
def test_a_state_that_is_too_small_is_refused_by_play(policy: str, state: str) -> None:
    # In a process of its own: compiled code would write past the end of the arrays.
    command = [sys.executable, "-c", SMALL.format(policy=policy, state=state)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-300:]
    assert done.stdout.startswith("state must be ")


@pytest.mark.parametrize("policy", KINDS, ids=stable_id)
def test_a_policy_asked_directly_reads_a_mask_that_is_not_contiguous(policy: Policy) -> None:
    bandit = trained(policy)
    columns = np.array([[True, False], [False, True], [True, False]])
    law = policy.probabilities(bandit.state, columns[:, 0].copy())
    np.testing.assert_array_equal(policy.probabilities(bandit.state, columns[:, 0]), law)


JUNK: Any = some.recursive(
    some.one_of(
        some.none(),
        some.booleans(),
        some.integers(-3, 5),
        some.integers(),
        some.floats(),
        some.sampled_from(["a", "b", "c", "", NAN, INF, HUGE, Decimal(1), Fraction(1, 2), 1j, np.True_, np.int8(1)]),
        some.binary(max_size=3),
        arrays.arrays(
            some.sampled_from(["?", "f8", "f4", ">f8", "i8", "u1", "U1", "S1", "c16", "M8[s]", "O"]),
            arrays.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=5),
        ),
    ),
    lambda inner: some.one_of(
        some.lists(inner, max_size=5),
        some.lists(inner, max_size=5).map(tuple),
        some.dictionaries(some.sampled_from(["a", "b", 0, 1, None]), inner, max_size=3),
        some.lists(inner, max_size=4).map(iter),
    ),
    max_leaves=8,
)
NAMED: Any = some.lists(some.sampled_from(["a", "b", 0, 1, 1.0, True, "x"]), max_size=5)
MIXED = ["a", "b", 0, 1]  # booleans are numbers to a dictionary


def legitimate(bandit: Bandit, decision: Any) -> bool:
    """Whether feedback for `decision` may change the bandit: written again, slowly, entry by entry."""
    try:
        p = [float(x) for x in decision.probabilities]
        law = dict(zip(bandit.arms, [*p, *[0.0] * (len(bandit.arms) - len(p))], strict=True))
        awake = list(decision.awake)
        if awake and all(isinstance(flag, bool | np.bool_) for flag in awake):
            awake = [name for name, flag in zip(bandit.arms, awake, strict=True) if flag]
        members = [bandit.arms.index(name) for name in awake]
        return (
            len(set(members)) == len(members)
            and all(0.0 <= x <= 1.0 + 1e-8 for x in p)
            and abs(math.fsum(p) - 1.0) <= 1e-8
            and all(x == 0.0 for k, x in enumerate(law.values()) if k not in members)
            and law[decision.arm] == float(decision.probability) > 0.0
            and 0.0 <= float(decision.memo) < INF
            and int(decision.clock) >= 1
            and decision.policy in ("", full_name(bandit.policy))
        )
    except (ValueError, TypeError, KeyError, OverflowError):
        return False


@settings(deadline=None, max_examples=300)
@given(some.sampled_from(KINDS), some.one_of(JUNK, NAMED))
def test_whatever_is_said_to_be_awake_is_understood_or_refused(policy: Policy, awake: Any) -> None:
    bandit = trained(policy, MIXED)
    before = everything(bandit)
    decision = tried(lambda: bandit.choose(awake))
    if isinstance(decision, Refusal):
        assert " must be " in decision
        assert everything(bandit) == before
    else:
        assert decision.arm in decision.awake
        assert legitimate(bandit, decision)
        bandit.update(decision, loss=0.5)


def views(p: Floats) -> Any:
    """Arrays that hold, show or surround the law `p`."""
    around = np.concatenate([p, p, p])
    return some.sampled_from(
        [
            p,
            p.tolist(),
            p.astype(np.float32),
            p.astype(">f8"),
            around[::3],
            around[: p.size],
            around[: p.size - 1],
            around[:0],
            around.reshape(3, -1),
            around.reshape(3, -1).T,
            np.frombuffer(b"?" + p.tobytes(), np.float64, offset=1),
            np.append(p, 0.0),
            np.append(p[:-1], NAN),
            np.array([0.5, 0.5, 0.0, 0.5])[:3],
            np.array([1.0, 1.0, 1.0, 1.0])[:1],
        ]
    )


@settings(deadline=None, max_examples=400)
@given(some.sampled_from(KINDS), some.data())
def test_whatever_is_brought_as_a_decision_is_right_or_refused(policy: Policy, data: Any) -> None:
    bandit = trained(policy, MIXED[:3])
    decision = bandit.choose()
    bandit.add_arm(1)
    fields: dict[str, Any] = {
        "arm": some.sampled_from(["a", "b", 0, 1, 1.0, True]) | JUNK,
        "probability": some.sampled_from([0.5, 1.0, *decision.probabilities.tolist()]) | JUNK,
        "awake": NAMED.map(tuple) | JUNK,
        "probabilities": views(decision.probabilities) | JUNK,
        "clock": JUNK,
        "memo": some.floats(0.0) | JUNK,
        "policy": some.sampled_from(["", decision.policy, "Uniform"]) | JUNK,
    }
    changed = data.draw(some.sets(some.sampled_from(sorted(fields)), min_size=1, max_size=4))
    forged = decision._replace(**{name: data.draw(fields[name]) for name in sorted(changed)})
    before = everything(bandit)
    allowed = legitimate(bandit, forged) if not hasattr(forged.awake, "__next__") else True
    loss = data.draw(some.floats(0.0, 1.0))
    answer = tried(lambda: bandit.update(forged, loss=loss))
    if isinstance(answer, Refusal):
        assert " must be " in answer
        assert everything(bandit) == before
    else:
        assert allowed, forged
        assert all(np.isfinite(array).all() for array in bandit.state)


PLAIN: Any = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=3) | some.just(HUGE),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=300)
@given(some.data())
def test_whatever_comes_as_json_is_a_decision_or_refused(data: Any) -> None:
    bandit = trained(SIExp3())
    record = bandit.choose().to_dict()
    changed = data.draw(some.sets(some.sampled_from(sorted(record)), min_size=1, max_size=3))
    forged = {**record, **{name: data.draw(PLAIN) for name in sorted(changed)}}
    before = everything(bandit)
    decision = tried(lambda: Decision.from_dict(json.loads(json.dumps(forged))))
    answer = decision if isinstance(decision, Refusal) else tried(lambda: bandit.update(decision, loss=0.5))
    if isinstance(answer, Refusal):
        assert " must be " in answer
        assert everything(bandit) == before
    else:
        assert legitimate(bandit, decision)


@settings(deadline=None, max_examples=200)
@given(PLAIN)
def test_whatever_comes_as_a_record_is_refused_if_it_is_none(record: Any) -> None:
    readers: list[Callable[[Any], Any]] = [Decision.from_dict, Policy.from_dict]
    for read in readers:
        refused(r"\w+", EITHER, partial(read, record))
