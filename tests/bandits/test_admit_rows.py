"""`Bandit.admit_rows`: decisions without names count as `admit` counts them, up to the first that is wrong."""

from typing import Any

import numpy as np
import pytest

import wakeful as wk

NAMES = ["a", "b", "c", "d"]
POLICIES = [wk.Auto(), wk.SIExp3(), wk.SleepingExp3(), wk.PerSet(wk.SIExp3(), max_sets=2)]


def proposals(bandit: wk.Bandit, number: int) -> list[wk.Decision]:
    """Return decisions that a copy makes one after the other, among changing arms."""
    copy = wk.Bandit.from_bytes(bandit.to_bytes())
    rng = np.random.default_rng(5)
    made = []
    for n in range(number):
        made.append(copy.propose(NAMES[n % 3 :], float(rng.random())))
        copy.admit(made[-1])
    return made


def rows(made: list[wk.Decision]) -> tuple[Any, Any, list[int], list[float]]:
    """Return decisions in terms of positions."""
    masks = np.array([[name in decision.awake for name in NAMES] for decision in made])
    laws = np.array([decision.probabilities for decision in made])
    return masks, laws, [NAMES.index(decision.arm) for decision in made], [decision.memo for decision in made]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_rows_are_counted_as_decisions_are(policy: wk.Policy) -> None:
    one, other = (wk.Bandit(policy, NAMES, seed=1) for _ in range(2))
    for _ in range(3):
        made = proposals(one, 20)
        for decision in made:
            one.admit(decision)
        assert other.admit_rows(*rows(made)) == 20
        assert one.to_bytes() == other.to_bytes()
        for decision in made:
            one.update(decision, loss=0.25)
            other.update(decision, loss=0.25)
    assert one.rounds == other.rounds == 60


@pytest.mark.parametrize("wrong", ["arm", "no arm", "negative", "asleep", "law", "memo", "infinite"])
def test_rows_before_a_wrong_one_are_counted(wrong: str) -> None:
    one, other = (wk.Bandit(wk.Auto(), NAMES, seed=1) for _ in range(2))
    made = proposals(one, 5)
    masks, laws, arms, memos = rows(made)
    if wrong == "law":
        laws[3] *= 0.5
    elif wrong == "asleep":
        masks[3, arms[3]] = False
    elif wrong in {"memo", "infinite"}:
        memos[3] = 1.0 if wrong == "memo" else np.inf  # its decisions have none
    else:
        sleeping = int(np.flatnonzero(~np.append(masks[4], True))[0])  # of the fifth: all may be awake in the fourth
        arms[3 if wrong != "arm" else 4] = {"arm": sleeping, "no arm": len(NAMES), "negative": -1}[wrong]
    right = 4 if wrong == "arm" else 3
    assert other.admit_rows(masks, laws, arms, memos) == right
    for decision in made[:right]:
        one.admit(decision)
    assert one.to_bytes() == other.to_bytes()
