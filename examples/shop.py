"""A shop shows one product to each visitor, of those in stock. `python examples/shop.py FOLDER` plays a week.

It can be stopped after each day; use a new folder for another week, since ids of visitors repeat. Everything it must
remember is in the folder: the bandit, the decisions whose clicks are not known yet, and a log.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

import wakeful as wk

CATALOGUE = ["tea", "coffee", "juice", "cocoa", "water"]
CLICKS = {"tea": 0.10, "coffee": 0.06, "juice": 0.04, "cocoa": 0.08, "water": 0.02}  # what the shop does not know
VISITORS = 500
COLUMNS = ["id", "awake", "arm", "probability", "reward"]


def run_day(folder: Path, day: int) -> str:
    """Learn from yesterday's clicks, serve today's visitors, save everything, and return the report."""
    folder.mkdir(parents=True, exist_ok=True)
    bandit = opened(folder)
    learn_clicks(bandit, folder)
    rng = np.random.default_rng(day)  # the visitors of this day, and what is in stock
    with (folder / "shown.jsonl").open("w") as shown:
        for visitor in range(VISITORS):
            in_stock = [name for name in CATALOGUE if rng.random() < 0.7] or CATALOGUE[-1:]
            decision = bandit.choose(in_stock)
            clicked = bool(rng.random() < CLICKS[decision.arm])  # known to us tomorrow only
            shown.write(json.dumps({"id": f"{day}-{visitor}", "clicked": clicked, **decision.to_dict()}) + "\n")
    bandit.save(folder / "shop.wakeful")
    report = bandit.report()
    report.to_html(folder / "report.html")
    return str(report)


def opened(folder: Path) -> wk.Bandit:
    """Return the bandit of the folder, with all products of the catalogue; a new one on the first day."""
    path = folder / "shop.wakeful"
    bandit = wk.Bandit.load(path) if path.exists() else wk.Bandit(arms=CATALOGUE, seed=7)
    bandit.ensure_arms(CATALOGUE)
    return bandit


def learn_clicks(bandit: wk.Bandit, folder: Path) -> None:
    """Give the bandit the clicks on what was shown, save it, and add them to the log, once."""
    path = folder / "shown.jsonl"
    if not path.exists():
        return
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    new = not (folder / "log.csv").exists()
    with (folder / "log.csv").open("a", newline="") as file:
        log = csv.DictWriter(file, COLUMNS)
        if new:
            log.writeheader()
        for row in rows:
            number, clicked = row.pop("id"), row.pop("clicked")
            bandit.update(row, reward=clicked)
            log.writerow(
                {"id": number, "awake": "|".join(row["awake"]), "reward": int(clicked)}
                | {name: row[name] for name in ("arm", "probability")}
            )
    path.unlink()  # before saving: a crash in between loses clicks, which does less harm than learning them twice
    bandit.save(folder / "shop.wakeful")


def compare(folder: Path) -> str:
    """Return what other policies would have lost on the log of the shop."""
    log = wk.Log.read(folder / "log.csv")
    return str(wk.evaluate(log, {"what we use": wk.Auto(), "UCB": wk.SleepingUCB(), "at random": wk.Uniform()}))


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "shop")
    for today in range(1, 8):  # a week; each day could be a process of its own
        print(f"day {today}\n{run_day(place, today)}\n")
    print(compare(place))
