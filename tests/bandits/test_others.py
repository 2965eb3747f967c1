"""Learning from decisions that somebody else made, row by row and from a log."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import wakeful as wk
from wakeful.bandits.others import LogRows

NAMES = ["tea", "coffee", "juice"]
CHANCES = np.array([0.2, 0.5, 0.3])  # of somebody else


def table(rows: int = 60, names: list[Any] = NAMES, probability: bool = True) -> dict[str, list[Any]]:
    """Return what somebody else did, in a world in which the first arm is best."""
    rng = np.random.default_rng(0)
    arms = rng.choice(3, rows, p=CHANCES)
    columns: dict[str, list[Any]] = {
        "awake": ["|".join(map(str, names))] * rows,
        "arm": [str(names[k]) for k in arms],
        "loss": (rng.random(rows) < np.array([0.1, 0.6, 0.9])[arms]).astype(float).tolist(),
    }
    return columns | ({"probability": CHANCES[arms].tolist()} if probability else {})


def everything(bandit: wk.Bandit) -> list[Any]:
    """All that a bandit holds."""
    return [bandit.to_bytes(), bandit.arms, bandit.retired, bandit.rounds]


def test_what_a_row_adds_to_si_exp3_is_right_in_expectation() -> None:
    losses, start = np.array([0.3, 0.9, 0.5]), wk.Bandit(wk.SIExp3(eta=0.5, exploration=0.0), NAMES, seed=1)
    for n in range(20):
        start.update(start.choose(), loss=n % 3 / 2)
    q, before, mean = start.probabilities(), start.state.losses.copy(), np.zeros((3, 3))
    for k in range(3):
        bandit = wk.Bandit.from_bytes(start.to_bytes())
        bandit.record(NAMES[k], probability=CHANCES[k], loss=losses[k])
        mean += CHANCES[k] * (bandit.state.losses - before)
    expected = q[:, None] * (losses[None, :] - losses[:, None])
    np.testing.assert_allclose(mean, expected, atol=1e-12)


@pytest.mark.parametrize("policy", [wk.SIExp3(), wk.Auto()], ids=repr)
def test_a_log_is_learned_as_its_rows_are(policy: wk.Policy) -> None:
    columns = table()
    whole, single = (wk.Bandit(policy, NAMES, seed=4) for _ in range(2))
    whole.learn(wk.Log(columns))
    for arm, loss, chance in zip(columns["arm"], columns["loss"], columns["probability"], strict=True):
        single.record(arm, awake=NAMES, probability=chance, loss=loss)
    assert everything(whole) == everything(single)
    assert whole.rounds == 60
    assert whole.choose().clock == 61
    whole.learn(wk.Log(table(3000)))
    assert whole.probabilities()[0] == whole.probabilities().max()


def test_counts_include_what_was_recorded_and_weigh_it_by_its_probability() -> None:
    bandit = wk.Bandit(wk.SleepingUCB(), NAMES, seed=0)
    bandit.learn(wk.Log(table(2000)))
    report = bandit.report()
    assert [arm.awake for arm in report.arms] == [2000] * 3
    assert [arm.feedback / 2000 for arm in report.arms] == pytest.approx(CHANCES, abs=0.03)
    assert report.uniform_loss == pytest.approx((0.1 + 0.6 + 0.9) / 3, abs=0.04)
    assert report.gain.low < report.uniform_loss - report.loss < report.gain.high
    assert report.gain.low < 1.6 / 3 - CHANCES @ [0.1, 0.6, 0.9] < report.gain.high


@pytest.mark.parametrize(("chance", "rows"), [(1e-6, 2), (0.01, 30)])
def test_the_gain_stays_between_what_losses_can_be(chance: float, rows: int) -> None:
    bandit = wk.Bandit(wk.SleepingUCB(), NAMES, seed=0)
    for n in range(rows):  # very unlikely, or, thirty times over, wrong
        bandit.record(NAMES[n % 3], probability=chance, loss=1)
        bandit.record(NAMES[n % 3], probability=0.5, loss=0)
    report = bandit.report()
    assert report.uniform_loss == 1.0
    assert -1.0 <= report.gain.low <= report.gain.value == 0.5 <= report.gain.high == 1.0


def test_what_others_try_where_the_bandit_would_not_narrows_the_interval_of_the_gain() -> None:
    bandit = wk.Bandit(arms=NAMES, seed=0)
    for _ in range(500):
        decision = bandit.choose()
        bandit.update(decision, loss=float(decision.arm != "tea"))
    before = bandit.report().gain
    for n in range(60):
        bandit.record(NAMES[n % 3], probability=1 / 3, loss=float(n % 3 > 0))
    after = bandit.report().gain
    assert before.low < 2 / 3 * 500 / 560 < after.high
    assert after.high - after.low < 0.5 * (before.high - before.low)


def test_without_probabilities_counts_are_learned_and_weights_refused() -> None:
    log = wk.Log(table(500, probability=False))
    bandit = wk.Bandit(wk.SleepingUCB(), NAMES, seed=0)
    bandit.learn(log)
    bandit.record("tea", reward=1)
    assert bandit.rounds == 501
    assert bandit.report().uniform_loss == pytest.approx((0.1 + 0.6 + 0.9) / 3, abs=0.06)
    weighted = wk.Bandit(wk.SIExp3(), NAMES, seed=0)
    before = everything(weighted)
    with pytest.raises(ValueError, match="probabilities of the logged arms must be known, since SIExp3"):
        weighted.learn(log)
    with pytest.raises(ValueError, match="probabilities of the logged arms must be known, since SIExp3"):
        weighted.record("tea", loss=0.5)
    assert everything(weighted) == before


def test_arms_of_a_log_are_found_by_name_and_added_if_asked_for() -> None:
    numbered = wk.Bandit(wk.SleepingUCB(), [7, 8, "x", 9], seed=0)
    numbered.learn(wk.Log(table(names=[9, 7, 8])))
    means = {arm.arm: arm.mean_loss for arm in numbered.report().arms}
    assert means[9] < means[7] < means[8]
    bandit = wk.Bandit(wk.SIExp3(), ["tea"], seed=0)
    before = everything(bandit)
    with pytest.raises(ValueError, match=r"log must be of arms that this bandit has .*, got 'coffee'"):
        bandit.learn(wk.Log(table()))
    assert everything(bandit) == before
    bandit.learn(wk.Log(table()), unknown_arms="add")
    assert bandit.arms == ("tea", "coffee", "juice")
    with pytest.raises(ValueError, match="unknown_arms must be"):
        bandit.learn(wk.Log(table()), unknown_arms="ad")


class Broken:
    """A log that ends in the middle."""

    arms = (*NAMES, "water")
    has_probabilities = True

    def blocks(self) -> Iterator[LogRows]:
        """Yield one block, then fail."""
        yield LogRows(np.ones((2, 4), np.bool_), np.array([0, 3]), np.array([0.5, 0.5]), np.array([0.5, 0.5]))
        raise OSError("the disk is gone")


def test_a_log_that_breaks_off_changes_nothing() -> None:
    bandit = wk.Bandit(wk.SIExp3(), NAMES, seed=0)
    decision = bandit.choose()
    before = everything(bandit)
    with pytest.raises(OSError, match="the disk is gone"):
        bandit.learn(Broken(), unknown_arms="add")
    assert everything(bandit) == before
    bandit.update(decision, loss=0.5)
    assert bandit.choose(NAMES).arm in NAMES


def test_what_is_no_log_is_refused_with_what_to_pass() -> None:
    bandit = wk.Bandit(wk.SleepingUCB(), NAMES, seed=0)
    for wrong in (None, 7, [("tea", 0.5)]):
        with pytest.raises(TypeError, match=r"log must be a wk\.Log, the path of a file, or a table \(wk\.Log"):
            bandit.learn(wrong)
    with pytest.raises(FileNotFoundError):
        bandit.learn("none.csv")
    with pytest.raises(ValueError, match="columns must be awake, arm, and one of loss and reward"):
        bandit.learn({"arm": ["tea"]})
    assert bandit.rounds == 0


def test_files_and_tables_are_learned_as_logs_are(tmp_path: Path) -> None:
    columns = {"awake": ["tea|juice", "tea|coffee"], "arm": ["tea", "coffee"], "loss": [0.5, 1.0], "id": [1, 2]}
    log = wk.Log(columns)
    paths = [tmp_path / name for name in ("log.csv", "log.jsonl.gz", "log.parquet")]
    for path in paths:
        log.write(path)
    bandits = [wk.Bandit(wk.SleepingUCB(), NAMES, seed=0) for _ in range(6)]
    for bandit, given in zip(bandits, (log, columns, pd.DataFrame(columns), str(paths[0]), *paths[1:]), strict=True):
        bandit.learn(given)
    assert {bandit.to_bytes() for bandit in bandits} == {bandits[0].to_bytes()}
    assert bandits[0].rounds == 2


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"arm": "te", "loss": 0.5}, "arm must be among the arms 'tea', 'coffee', 'juice', got 'te'"),
    ({"arm": "tea", "awake": ["coffee"], "loss": 0.5}, "arm must be one of the arms that were awake, got 'tea'"),
    ({"arm": "tea", "loss": 1.5}, "loss must be a number between 0 and 1, got 1.5"),
    ({"arm": "tea"}, "feedback must be exactly one of loss and reward"),
    ({"arm": "tea", "loss": 0.5, "probability": 0.0}, "probability must be a number above 0, at most 1"),
    ({"arm": "tea", "loss": 0.5, "probability": 1.5}, "probability must be a number above 0, at most 1"),
    ({"arm": "tea", "awake": ["tea"], "loss": 0.5, "probability": 0.5}, "probability must be 1 where one arm alone is"),
    ({"arm": "tea", "awake": [], "loss": 0.5}, "awake must be a set of at least one arm"),
]


@pytest.mark.parametrize(("row", "sentence"), WRONG, ids=lambda value: repr(value)[:60])
def test_a_row_that_cannot_be_is_refused_and_changes_nothing(row: dict[str, Any], sentence: str) -> None:
    bandit = wk.Bandit(wk.SleepingUCB(), NAMES, seed=0)
    before = everything(bandit)
    with pytest.raises(ValueError, match=sentence):
        bandit.record(row.pop("arm"), **row)
    assert everything(bandit) == before


def test_rows_of_retired_arms_are_learned() -> None:
    bandit = wk.Bandit(wk.SleepingUCB(), NAMES, seed=0)
    bandit.retire_arm("tea")
    bandit.record("tea", awake=["tea", "juice"], loss=0.5)
    bandit.record("juice", loss=0.5)
    assert [arm.awake for arm in bandit.report().arms] == [1, 1, 2]
