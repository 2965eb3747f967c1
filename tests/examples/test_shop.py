"""The shop of the examples: a week in one folder, each day as if the program had been started again."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

import shop
import wakeful as wk


def test_a_week_and_a_day(tmp_path: Path) -> None:
    days = [shop.run_day(tmp_path) for _ in range(8)]
    assert re.match(r"Auto\(.*\): 1,\d\d\d decisions, 0 with feedback, 1,\d\d\d pending", days[0])
    assert re.match(r"Auto\(.*\): 15,\d\d\d decisions, 14,000 with feedback, 1,\d\d\d pending", days[7])
    assert "<table>" in (tmp_path / "report.html").read_text()
    with (tmp_path / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["id"] for row in rows}) == len(rows) == 7 * shop.VISITORS  # of the eighth day no click is known
    assert all(row["arm"] in row["awake"].split("|") for row in rows)
    report = wk.Bandit.load(tmp_path / "shop.wakeful").report()
    assert report.loss == pytest.approx(1.0 - sum(int(row["reward"]) for row in rows) / len(rows))
    found = shop.compare(tmp_path)
    assert (found.duplicates, found.skipped, [row.warning for row in found]) == (0, 0, ["", "", ""])
    assert found["what we use"].high < found["at random"].low


def test_the_log_knows_how_likely_each_row_was(tmp_path: Path) -> None:
    """Rows weighted by the inverse of their probabilities must look like fair draws: weights sum to the visitors."""
    for _ in range(4):
        shop.run_day(tmp_path)
    block = next(wk.Log.read(tmp_path / "log.csv").blocks(10**6))
    assert block.probabilities is not None
    assert block.probabilities.min() >= 0.1 / 5 - 1e-12
    weights = 1.0 / block.awake.sum(axis=1) / block.probabilities
    assert abs(weights.mean() - 1.0) < 4.0 * weights.std() / np.sqrt(weights.size)
    report = wk.Bandit.load(tmp_path / "shop.wakeful").report()
    assert report.uniform_loss == pytest.approx(shop.compare(tmp_path)["at random"].value, abs=0.02)


def test_a_crash_before_the_bandit_is_saved_repeats_ids_that_count_once(tmp_path: Path) -> None:
    shop.run_day(tmp_path)
    shown = (tmp_path / "shown.jsonl").read_text()
    shop.run_day(tmp_path)
    (tmp_path / "shown.jsonl").write_text(shown)
    shop.run_day(tmp_path)
    found = shop.compare(tmp_path)
    assert (found.rounds, found.duplicates) == (shop.VISITORS, shop.VISITORS)
    assert "without 2,000 rows with an id that was there before" in str(found)


def test_a_restart_in_the_middle_of_a_day_learns_no_click_twice(tmp_path: Path) -> None:
    shop.run_day(tmp_path)
    bandit = shop.opened(tmp_path)
    shop.learn_clicks(bandit, tmp_path)
    again = shop.opened(tmp_path)
    shop.learn_clicks(again, tmp_path)
    assert again.to_bytes() == bandit.to_bytes()
    assert sum(arm.feedback for arm in again.report().arms) == shop.VISITORS
