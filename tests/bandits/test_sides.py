"""Judges who prefer one side make no arm look better, whichever policy chooses the arms."""

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from duel_cases import CASES

EQUAL = [f"model {k}" for k in range(6)]
DUELS, SEED = 4_000, 2026
SIDE = 0.4  # logits by which judges prefer the left
LEFT_WINS = 1.0 / (1.0 + np.exp(-SIDE))
POLICIES = list({type(case.policy): case.policy for case in CASES}.values())
COMPARISONS = 2 * len(POLICIES) * len(EQUAL)  # sides and strengths, of every arm, under every policy
LIMIT = NormalDist().inv_cdf(1.0 - 0.01 / COMPARISONS / 2.0)  # standard errors: one false alarm in 100 such test files


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_judges_who_prefer_the_left_make_no_arm_look_better(policy: wk.DuelingPolicy) -> None:
    bandit, rng = wk.DuelingBandit(policy, EQUAL, seed=SEED), np.random.default_rng(SEED)
    on_left: dict[Any, int] = dict.fromkeys(EQUAL, 0)
    for _ in range(DUELS):
        duel = bandit.choose(distinct=True)
        on_left[duel.left] += 1
        bandit.update(duel, winner="left" if rng.random() < LEFT_WINS else "right")
    ranking = bandit.ranking()
    for rank in ranking:
        assert abs(on_left[rank.arm] - rank.duels / 2) < LIMIT * np.sqrt(rank.duels) / 2
        assert abs(rank.strength) < LIMIT * (rank.high - rank.low) / (2.0 * 1.96)
    found = ranking.side_effect
    assert found is not None
    assert 0.0 < found.low < SIDE < found.high


def test_the_side_effect_is_saved_with_the_results() -> None:
    bandit = wk.DuelingBandit(arms=EQUAL, seed=SEED)
    for n in range(40):
        bandit.update(bandit.choose(distinct=True), winner="left" if n % 4 else "right")
    found = bandit.ranking().side_effect
    assert found is not None
    assert found.value > 0.5
    assert wk.DuelingBandit.from_bytes(bandit.to_bytes()).ranking().side_effect == found


def test_the_record_of_a_duel_gets_its_feedback() -> None:
    arenas = [wk.DuelingBandit(wk.UniformPairs(), 4, seed=3) for _ in range(2)]
    duels = [arena.choose(distinct=True) for arena in arenas]
    arenas[0].update(duels[0], winner="left")
    arenas[1].update(duels[1].to_dict(), winner="left")
    assert arenas[0].to_bytes() == arenas[1].to_bytes()
