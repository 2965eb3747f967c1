"""The shop of the examples: a week in one folder, each day as if the program had been started again."""

import csv
from pathlib import Path

import shop
import wakeful as wk


def test_three_days(tmp_path: Path) -> None:
    days = [shop.run_day(tmp_path, day) for day in (1, 2, 3)]
    assert days[0].startswith("Auto(max_sets=256, guard=0.0): 500 decisions, 0 with feedback, 500 pending")
    assert days[2].startswith("Auto(max_sets=256, guard=0.0): 1,500 decisions, 1,000 with feedback, 500 pending")
    assert "<table>" in (tmp_path / "report.html").read_text()
    with (tmp_path / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["id"] for row in rows}) == len(rows) == 1000
    assert all(row["arm"] in row["awake"].split("|") for row in rows)
    bandit = wk.Bandit.load(tmp_path / "shop.wakeful")
    report = bandit.report()
    assert report.loss == 1.0 - sum(int(row["reward"]) for row in rows) / 1000
    table = shop.compare(tmp_path)
    assert all(name in table for name in ("what we use", "UCB", "at random"))


def test_a_restart_in_the_middle_of_a_day_learns_no_click_twice(tmp_path: Path) -> None:
    shop.run_day(tmp_path, 1)
    bandit = shop.opened(tmp_path)
    shop.learn_clicks(bandit, tmp_path)
    again = shop.opened(tmp_path)
    shop.learn_clicks(again, tmp_path)
    assert again.to_bytes() == bandit.to_bytes()
    assert sum(arm.feedback for arm in again.report().arms) == shop.VISITORS
