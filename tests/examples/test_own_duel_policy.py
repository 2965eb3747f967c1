"""A user's own dueling policy: thirty lines of plain Python, and two kernels more for the compiled loop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from own_duel_policy import GreedyDuels
from own_duel_policy_compiled import FastGreedyDuels
from wakeful.checks.dueling_policy import check_dueling_policy

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = Path(__file__).parents[2] / "docs" / "own-duel-policy.md"


@pytest.mark.parametrize("policy", [GreedyDuels(0.3), FastGreedyDuels(0.3)], ids=repr)
def test_it_passes_the_suite(policy: wk.DuelingPolicy) -> None:
    check_dueling_policy(policy)


@pytest.mark.parametrize("size", [2, 3])
def test_both_versions_make_the_same_choices(size: int) -> None:
    runs = []
    for policy in (GreedyDuels(), FastGreedyDuels()):
        arena, rng = wk.DuelingBandit(policy, arms=6, seed=1), np.random.default_rng(0)
        arms = []
        for _ in range(400):
            duel = arena.choose(rng.permutation(6)[: rng.integers(size, 7)].tolist(), distinct=True, size=size)
            arena.update(duel, winner=min(duel.arms))
            arms.append(duel.arms)
        runs.append(arms)
    assert runs[0] == runs[1]


def test_it_finds_the_best() -> None:
    arena = wk.DuelingBandit(GreedyDuels(), arms=5, seed=2)
    met = []
    for _ in range(400):
        duel = arena.choose(distinct=True)
        arena.update(duel, winner=min(duel.arms))
        met.append(0 in duel.arms)
    assert np.mean(met[200:]) > 0.8  # two fifths by chance


@pytest.mark.parametrize("example", ["own_duel_policy.py", "own_duel_policy_compiled.py"])
def test_the_page_shows_the_example_as_it_is(example: str) -> None:
    code = (EXAMPLES / example).read_text()
    assert len(code.splitlines()) <= 36
    assert code in PAGE.read_text()


class Broken(GreedyDuels):
    """Forgets who was chosen."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        super().law(state, pairs, np.flatnonzero(pairs.any(axis=1)), chosen, coin, p)


class Impure(GreedyDuels):
    """Learns from being asked."""

    def law(self, state: Any, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        state.wins[0] += 1
        super().law(state, pairs, awake, chosen, coin, p)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Broken(), "zero on all arms but those allowed"),
        (Impure(), "'law': asking for probabilities must not change the state"),
    ],
)
def test_the_suite_says_what_is_wrong(policy: wk.DuelingPolicy, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_dueling_policy(policy)
