"""Files written by earlier versions load, and what they hold goes on as it would have then."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk

SAVED = Path(__file__).parent / "data" / "saved"
ABOUT = json.loads((SAVED / "about.json").read_text())


@pytest.mark.parametrize("saved", ABOUT["bandits"], ids=lambda saved: saved["policy"])
def test_a_bandit_of_an_earlier_version_goes_on(saved: Any) -> None:
    bandit = wk.Bandit.load(SAVED / saved["file"])
    assert repr(bandit.policy) == saved["policy"]
    if not isinstance(bandit.policy, wk.SleepingExp3):  # which allows for rounds with nobody awake since then
        np.testing.assert_allclose(bandit.probabilities(), saved["probabilities"], rtol=1e-9)
        assert [bandit.choose().arm for _ in saved["next"]] == saved["next"]


def test_the_counts_of_an_earlier_version_are_read() -> None:
    saved = ABOUT["counts"]
    bandit = wk.Bandit.load(SAVED / saved["file"])
    report = bandit.report()
    assert [[arm.arm, arm.awake, arm.chosen, arm.feedback, arm.mean_loss] for arm in report.arms] == saved["arms"]
    gain, low, high = saved["gain"]
    assert report.gain.value == pytest.approx(gain, rel=1e-2)  # unlikely arms count in another way since then
    assert report.gain.low < low < high < report.gain.high
    errors: Any = bandit.switch_gains().errors
    np.testing.assert_allclose(errors, saved["errors"], rtol=1e-12)


@pytest.mark.parametrize("saved", ABOUT["arenas"], ids=lambda saved: saved["policy"])
def test_an_arena_of_an_earlier_version_goes_on(saved: Any) -> None:
    arena = wk.DuelingBandit.load(SAVED / saved["file"])
    assert repr(arena.policy) == saved["policy"]
    duels = [arena.choose(distinct=True) for _ in saved["next"]]
    assert [list(duel.arms) for duel in duels] == saved["next"]  # sides are drawn by a coin since then


@pytest.mark.parametrize("name", ["results.wakeful", "results.parquet"])
def test_results_of_an_earlier_version_load(name: str) -> None:
    results = wk.Results.load(SAVED / name)
    means = {policy: results.final("policy", policy).mean() for policy in results.policies}
    assert means == pytest.approx(ABOUT["results"])
