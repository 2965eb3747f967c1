"""How good and how fast dueling policies are: regret in every kind of world, beside reference values, and speed."""

import time

import numpy as np

import wakeful as wk
from wakeful.worlds import CategoryDuels, CyclicDuels, DuelWorld, GraphDuels, PathDuels, SleepingDuels, UtilityDuels

ROUNDS, RUNS = 50_000, 50
POLICIES: dict[str, wk.DuelingPolicy] = {
    "StablePair()": wk.StablePair(),
    "Sp-SI-EXP3 (paper)": wk.Sparring(wk.SIExp3(eta="sqrt", exploration=0.0)),
    "Sp-UCB": wk.Sparring(wk.SleepingUCB()),
    "RelativeUCB()": wk.RelativeUCB(),
    "DoubleThompson()": wk.DoubleThompson(),
}
WORLDS: dict[str, tuple[DuelWorld, int]] = {
    "path 1-2-4-3": (PathDuels(), RUNS),
    "distinct arms, K = 4": (UtilityDuels(4), RUNS),
    "distinct arms, K = 30": (UtilityDuels(30), 20),
    "random graphs, redrawn every round, K = 10": (GraphDuels(10), 20),
    "random graphs, one a run, K = 10": (GraphDuels(10, redrawn=False), RUNS),
    "S x S, random sets, K = 10": (SleepingDuels(10), 20),
    "categories, K = 4": (CategoryDuels(4), RUNS),
    "cyclic, K = 3": (CyclicDuels(3), 20),
}
REFERENCE = {  # mean, standard deviation, runs of an independent implementation
    ("distinct arms, K = 4", "Sp-SI-EXP3 (paper)"): (217, 50, 50),
    ("distinct arms, K = 4", "Sp-UCB"): (427, 91, 50),
    ("distinct arms, K = 30", "Sp-SI-EXP3 (paper)"): (2971, 316, 20),
    ("distinct arms, K = 30", "Sp-UCB"): (3880, 368, 20),
    ("categories, K = 4", "Sp-SI-EXP3 (paper)"): (509, 45, 50),
    ("categories, K = 4", "Sp-UCB"): (2722, 18, 50),
}


def main() -> None:
    print("| world | " + " | ".join(POLICIES) + " |")
    print("|---" * (len(POLICIES) + 1) + "|")
    away = []
    for name, (world, runs) in WORLDS.items():
        results = wk.simulate(POLICIES, world, ROUNDS, runs, checkpoints=[ROUNDS])
        cells = []
        for policy in POLICIES:
            values = results.final("dueling", policy)
            error = float(values.std(ddof=1)) / np.sqrt(runs)
            cells.append(f"{values.mean():,.0f} +- {error:,.0f}" if values.mean() >= 10 else f"{values.mean():.1f}")
            if (name, policy) in REFERENCE:
                mean, sd, n = REFERENCE[name, policy]
                away.append(abs(float(values.mean()) - mean) / float(np.hypot(error, sd / np.sqrt(n))))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print(f"\nreference values: {len(away)}, the farthest {max(away):.1f} standard errors away (limit 4)")
    speed()


def speed() -> None:
    """Print duels a second in the compiled loop, and microseconds through the checked API."""
    policy = wk.Sparring(wk.SIExp3())
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        wk.simulate(policy, UtilityDuels(10), 400_000, runs=1, jobs=1, checkpoints=[400_000])
        seconds.append(time.perf_counter() - start)
    print(f"simulated duels a second, Sparring(SIExp3()), K = 10: {400_000 / min(seconds):,.0f} (limit 500,000)")
    arena = wk.DuelingBandit(policy, 10, seed=0)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(1000):
            arena.update(arena.choose(distinct=True), winner="left")
        times.append((time.perf_counter() - start) * 1e3)
    print(f"choose + update through DuelingBandit, K = 10: {min(times):.1f} us (limit 20)")


if __name__ == "__main__":
    main()
