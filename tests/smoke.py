"""What a user does first, as a program without test tools: `make minimum` runs it on the oldest versions we allow.

Prints one line for each part that works; any error ends it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import wakeful as wk
from service_load import served

ROUNDS, RUNS = 200, 3


def decisions(folder: Path) -> None:
    bandit = wk.Bandit(wk.SIExp3(), arms=["tea", "coffee", "juice"], seed=7)
    for _ in range(20):
        decision = bandit.choose(["tea", "juice"])
        bandit.update(decision, loss=0.3)
    bandit.save(folder / "tea.wakeful")
    again = wk.Bandit.load(folder / "tea.wakeful")
    assert again.choose().to_dict() == bandit.choose().to_dict()


def duels(folder: Path) -> None:
    arena = wk.DuelingBandit(wk.StablePair(), arms=["a", "b", "c"], seed=7)
    for _ in range(50):
        duel = arena.choose(distinct=True)
        arena.update(duel, winner=min(duel.left, duel.right))
    assert next(iter(arena.ranking())).arm == "a"


def games(folder: Path) -> None:
    assert np.allclose(wk.games.rock_paper_scissors().nash().row, 1.0 / 3.0)


def simulations(folder: Path) -> None:
    policies = {"SI": wk.SIExp3(), "Thompson": wk.SleepingThompson()}
    results = wk.simulate(policies, wk.worlds.Dependent(), rounds=ROUNDS, runs=RUNS)
    results.save(folder / "results.parquet")
    back = wk.Results.load(folder / "results.parquet")
    assert np.array_equal(back.regrets["policy"], results.regrets["policy"])
    for name in ("plot.png", "plot.svg", "plot.pdf"):
        results.plot("policy", folder / name)
        assert (folder / name).stat().st_size > 1_000


def cluster(folder: Path) -> None:
    import distributed

    make_cluster, connect = (getattr(distributed, name) for name in ("LocalCluster", "Client"))  # they have no types
    world = wk.worlds.Stochastic(4)
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with make_cluster(**options) as local, connect(local) as client:
        there = wk.simulate(wk.SIExp3(), world, rounds=ROUNDS, runs=RUNS, executor=client.get_executor())
    here = wk.simulate(wk.SIExp3(), world, rounds=ROUNDS, runs=RUNS)
    assert np.array_equal(there.regrets["policy"], here.regrets["policy"])


def report(folder: Path) -> None:
    command = [sys.executable, "-m", "wakeful", "reproduce", "--quick", "--only", "theorem-1-dependent", "--runs", "3"]
    subprocess.run([*command, "--out", str(folder / "report")], check=True, stdout=subprocess.DEVNULL)
    assert (folder / "report" / "report.html").stat().st_size > 10_000


def service(folder: Path) -> None:
    with served(f"sqlite:///{folder / 'shop.db'}") as shop, wk.Client(f"http://127.0.0.1:{shop.port}") as client:
        bandit = client.bandit("drinks", arms=["tea", "coffee", "juice"], policy=wk.SIExp3(), seed=7)
        for _ in range(20):
            bandit.update(bandit.choose(["tea", "juice"]), loss=0.3)
        assert bandit.rounds == 20
    subprocess.run(
        [sys.executable, "-m", "wakeful", "verify", "--db", f"sqlite:///{folder / 'shop.db'}"],
        check=True,
        stdout=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    for part in (decisions, duels, games, simulations, cluster, report, service):
        with tempfile.TemporaryDirectory() as place:
            part(Path(place))
        print(f"{part.__name__}: works", flush=True)
