"""A policy asked directly: what compiled code is handed is checked first."""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import wakeful as wk
from invalid_policy import Invalid
from own_policy import EpsilonGreedy
from wakeful import Decision

ALL = np.ones(3, np.bool_)
EVEN = np.full(3, 1 / 3)


def test_probabilities_and_update_work_on_a_state_of_ones_own() -> None:
    policy = wk.SIExp3(eta=0.5, exploration=0.0)
    state = policy.start(3)
    policy.update(state, Decision(0, 1 / 3, (0, 1, 2), EVEN, 1, 0.5), 1.0)
    assert state.losses[0].tolist() == [0.0, -1.0, -1.0]
    assert policy.probabilities(state, ALL)[0] < 1 / 3


@pytest.mark.parametrize(
    ("state", "awake", "words"),
    [
        (wk.SIExp3().start(3), np.ones(50, np.bool_), "state must be"),
        (wk.SBExp3().start(3), ALL, "state must be"),
        (wk.SIExp3().start(3), np.zeros(3, np.bool_), "one of them true"),
        (wk.SIExp3().start(3), np.ones((1, 3), np.bool_), "awake must be|state must be"),
        (wk.SIExp3().start(3), np.ones(3), "awake must be"),
        (wk.SIExp3().start(3)._replace(losses=np.full((3, 3), np.nan)), ALL, "state must be"),
        (wk.SIExp3().start(3)._replace(clock=np.array([-1, 0])), ALL, "state must be"),
    ],
)
def test_a_question_that_does_not_fit_is_refused(state: Any, awake: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        wk.SIExp3().probabilities(state, awake)


@pytest.mark.parametrize(
    ("decision", "loss", "words"),
    [
        (Decision(40, 1 / 3, (0, 1, 2), EVEN, 1, 0.5), 0.5, "indices below 3"),
        (Decision(0, 1 / 3, (0, 1, 40), EVEN, 1, 0.5), 0.5, "indices below 3"),
        (Decision(-1, 1 / 3, (0, 1, 2), EVEN, 1, 0.5), 0.5, "indices below 3"),
        (Decision(0, 1 / 3, (0, 1), EVEN, 1, 0.5), 0.5, "can be drawn from its probabilities"),
        (Decision(0, 2.0, (0, 1, 2), np.array([2.0, 0.0, 0.0]), 1, 0.5), 0.5, "can be drawn from its probabilities"),
        (Decision(0, 1 / 3, (0, 1, 2), EVEN, 1, 0.5), 5.0, "loss must be"),
        (Decision(0, 0.02, tuple(range(50)), np.full(50, 0.02), 1, 0.5), 0.5, "state must be"),
    ],
)
def test_feedback_that_does_not_fit_is_refused(decision: Decision, loss: float, words: str) -> None:
    state = wk.SIExp3().start(3)
    with pytest.raises((ValueError, TypeError), match=words):
        wk.SIExp3().update(state, decision, loss)
    assert not state.losses.any()


@pytest.mark.parametrize("inner", [wk.SleepingUCB(), EpsilonGreedy()])
def test_feedback_for_a_set_this_copy_never_counted_goes_to_that_set_alone(inner: wk.Policy) -> None:
    bandit = wk.Bandit(wk.PerSet(inner, max_sets=8), 3, seed=0)
    fresh = copy.deepcopy(bandit)
    for _ in range(5):
        fresh.update(bandit.choose([0, 1]), loss=1.0)
    for awake in ([0, 1, 2], [0, 2], [1, 2], [0], [1], [2]):
        untouched = wk.Bandit(wk.PerSet(inner, max_sets=8), 3, seed=0).probabilities(awake)
        assert fresh.probabilities(awake).tolist() == untouched.tolist()
    learned = fresh.state.inner_counts.sum(axis=1)
    assert sorted(learned.tolist())[-1] == learned.sum() == 5


class Half(EpsilonGreedy):
    """Forgets to say how it plays."""

    probabilities = wk.Policy.probabilities


def test_a_policy_without_methods_or_kernels_is_told_what_is_missing() -> None:
    with pytest.raises(
        TypeError, match="policy must be one with the methods probabilities and update, or with kernels"
    ):
        wk.Bandit(Half(), 2, seed=0).choose()


@dataclass(frozen=True)
class Noted(EpsilonGreedy):
    """Has a parameter that JSON cannot bring back."""

    notes: Any = None
    grows: ClassVar[bool] = False


@pytest.mark.parametrize("notes", [{"a": 1}, {1, 2}, np.zeros(2), [1, 2], object()])
def test_what_could_not_be_loaded_is_not_saved(notes: Any, tmp_path: Path) -> None:
    bandit = wk.Bandit(Noted(notes=notes), 2, seed=0)
    with pytest.raises(ValueError, match="policy must be made of plain values to be saved"):
        bandit.save(tmp_path / "b")
    assert not list(tmp_path.iterdir())


def test_a_kernel_that_writes_no_law_is_found_out_when_it_chooses() -> None:
    bandit = wk.Bandit(Invalid(), 3, seed=0)
    with pytest.raises(ValueError, match=r"probabilities of Invalid\(\) must be non-negative"):
        bandit.choose()
    assert bandit.rounds == 0
