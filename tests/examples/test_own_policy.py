"""A user's own policy: thirty lines of plain Python, and two kernels more for the compiled loop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from own_policy import EpsilonGreedy
from own_policy_compiled import FastEpsilonGreedy

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = Path(__file__).parents[2] / "docs" / "own-policy.md"


@pytest.mark.parametrize("policy", [EpsilonGreedy(0.2), FastEpsilonGreedy(0.2), wk.PerSet(EpsilonGreedy(), 5)])
def test_it_passes_the_suite(policy: wk.Policy) -> None:
    wk.check_policy(policy)


def test_both_versions_make_the_same_choices() -> None:
    rng = np.random.default_rng(0)
    awake, losses = rng.random((3_000, 6)) < 0.5, rng.random((3_000, 6))
    runs = [wk.play(p, awake, losses, np.random.default_rng(1)) for p in (EpsilonGreedy(), FastEpsilonGreedy())]
    assert runs[0].tolist() == runs[1].tolist()


@pytest.mark.parametrize("example", ["own_policy.py", "own_policy_compiled.py"])
def test_the_page_shows_the_example_as_it_is(example: str) -> None:
    code = (EXAMPLES / example).read_text()
    assert len(code.splitlines()) <= 30
    assert code in PAGE.read_text()


class Broken(EpsilonGreedy):
    """Forgets that arms sleep."""

    def probabilities(self, state: Any, awake: Any) -> Any:
        return np.full(awake.size, 1.0 / awake.size)


class Impure(EpsilonGreedy):
    """Learns from being asked."""

    def probabilities(self, state: Any, awake: Any) -> Any:
        state.counts[0] += 1
        return super().probabilities(state, awake)


@pytest.mark.parametrize(
    ("policy", "words"),
    [(Broken(), "zero on arms that are asleep"), (Impure(), "'law': probabilities must not change")],
)
def test_the_suite_says_what_is_wrong(policy: wk.Policy, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        wk.check_policy(policy)
