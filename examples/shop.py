"""A shop shows one product to each visitor, of those in stock. `python examples/shop.py FOLDER` plays a week.

It can be stopped after each day, and goes on where it was: everything it must remember is in the folder, the bandit,
the decisions whose clicks are not known yet, and a log. Run again, it plays another week.
"""

import csv
import json
import sys
import uuid
from pathlib import Path
from typing import Any

import numpy as np

import wakeful as wk

CATALOGUE = ["tea", "coffee", "juice", "cocoa", "water"]
CLICKS = {"tea": 0.40, "coffee": 0.24, "juice": 0.16, "cocoa": 0.32, "water": 0.08}  # what the shop does not know
VISITORS = 2_000  # of a day
ANY = 0.1  # of visitors see any product in stock: this is what a log needs in order to judge other policies
COLUMNS = ["id", "awake", "arm", "probability", "reward"]


def run_day(folder: Path) -> str:
    """Learn from yesterday's clicks, serve today's visitors, save everything, and return the report."""
    folder.mkdir(parents=True, exist_ok=True)
    bandit = opened(folder)
    learn_clicks(bandit, folder)
    rng = np.random.default_rng(bandit.rounds)  # the visitors of this day, and what is in stock
    with (folder / "shown.jsonl").open("w") as file:
        for _ in range(VISITORS):
            in_stock = [name for name in CATALOGUE if rng.random() < 0.7] or CATALOGUE[-1:]
            shown = choose(bandit, in_stock, rng)
            shown["clicked"] = bool(rng.random() < CLICKS[shown["arm"]])  # known to us tomorrow only
            file.write(json.dumps(shown) + "\n")
    bandit.save(folder / "shop.wakeful")
    report = bandit.report()
    report.to_html(folder / "report.html")
    return str(report)


def choose(bandit: wk.Bandit, in_stock: list[str], rng: np.random.Generator) -> dict[str, Any]:
    """Return what one visitor sees: mostly what the bandit decides, sometimes anything; and how likely that was."""
    decision = bandit.choose(in_stock) if rng.random() >= ANY else None
    arm = rng.choice(in_stock) if decision is None else decision.arm
    p = bandit.probabilities(in_stock) if decision is None else decision.probabilities
    probability = (1 - ANY) * p[CATALOGUE.index(arm)] + ANY / len(in_stock)
    row = {"id": uuid.uuid4().hex, "awake": in_stock, "arm": str(arm), "probability": probability}
    return {**row, "decision": decision and decision.to_dict()}


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
    new = not (folder / "log.csv").exists()
    with (folder / "log.csv").open("a", newline="") as file:
        log = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        if new:
            log.writeheader()
        for row in map(json.loads, path.read_text().splitlines()):
            if row["decision"] is not None:
                bandit.update(row["decision"], reward=row["clicked"])
            else:  # somebody else's decision, a fair draw among what was in stock; the bandit learns from it as well
                fair = 1 / len(row["awake"])
                bandit.record(row["arm"], awake=row["awake"], probability=fair, reward=row["clicked"])
            log.writerow({**row, "awake": "|".join(row["awake"]), "reward": int(row["clicked"])})
    path.unlink()  # before saving: a crash in between loses clicks, which does less harm than learning them twice
    bandit.save(folder / "shop.wakeful")


def compare(folder: Path) -> wk.Evaluation:
    """Return what other policies would have lost on the log of the shop."""
    log = wk.Log.read(folder / "log.csv", arms=CATALOGUE)
    favourites = wk.FixedOrdering((3, 0, 1, 2, 4))  # cocoa if there is any, else tea, coffee, juice, water
    return wk.evaluate(log, {"what we use": wk.Auto(), "cocoa first": favourites, "at random": wk.Uniform()})


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "shop")
    for today in range(1, 8):  # a week; each day could be a process of its own
        print(f"day {today}\n{run_day(place)}\n")
    print(compare(place))
