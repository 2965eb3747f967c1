"""`AutoPairs()` against the best other dueling policy of every world: ratios first, losing rows too.

    python benchmarks/one_policy_duels.py [--runs 20] [--rounds 50000] [--seed 41] [--only path,S] [--quick]
    python benchmarks/one_policy_duels.py --part matrices [--start 0]
    python benchmarks/one_policy_duels.py --part speed
    python benchmarks/one_policy_duels.py --part pending [--runs 60]

Duel regret, the same runs for every policy: mean and 90 % quantile. A row is marked where the mean exceeds 1.2 times
that of the best other policy.
"""

import argparse
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

import wakeful as wk
from wakeful.numerics.arrays import Floats
from wakeful.worlds import (
    CategoryDuels,
    CyclicDuels,
    GraphDuels,
    PathDuels,
    Preferences,
    SleepingDuels,
    UtilityDuels,
)

SEED, LIMIT = 41, 1.2
MATRIX_SEED, MATRICES, MATRIX_ROUNDS, MATRIX_LIMIT = 2027, 500, 100_000, 0.005
OTHERS: dict[str, wk.DuelingPolicy] = {
    "StablePair()": wk.StablePair(),
    "DoubleThompson()": wk.DoubleThompson(),
    "RelativeMED()": wk.RelativeMED(),
    "RelativeUCB()": wk.RelativeUCB(),
    "sparring SIExp3()": wk.Sparring(wk.SIExp3()),
    "sparring UCB(0.5)": wk.Sparring(wk.SleepingUCB(0.5)),
    "sparring UCB(0.5) per set": wk.Sparring(wk.PerSet(wk.SleepingUCB(0.5))),
    "sparring Thompson": wk.Sparring(wk.SleepingThompson()),
    "sparring Thompson per set": wk.Sparring(wk.PerSet(wk.SleepingThompson())),
}
SLOW = ("sparring Thompson", "sparring Thompson per set")
NO_ORDER = (
    (0.5, 0.16, 0.47, 0.64, 0.98),
    (0.84, 0.5, 0.15, 0.06, 0.46),
    (0.53, 0.85, 0.5, 0.56, 0.61),
    (0.36, 0.94, 0.44, 0.5, 0.52),
    (0.02, 0.54, 0.39, 0.48, 0.5),
)
WORLDS: dict[str, Any] = {
    "path 1-2-4-3": PathDuels(),
    "distinct arms, K = 4": UtilityDuels(4),
    "distinct arms, K = 30": UtilityDuels(30),
    "distinct arms, K = 100": UtilityDuels(100),
    "random graphs, redrawn every round, K = 10": GraphDuels(10),
    "random graphs, one a run, K = 10": GraphDuels(10, redrawn=False),
    "S x S, random sets, K = 10": SleepingDuels(10),
    "categories, K = 4": CategoryDuels(4),
    "cyclic, K = 3": CyclicDuels(3),
    "five arms, a best one, no order": Preferences(NO_ORDER, "all"),
    "random matrices, K = 5, winner at .51 to .65": None,  # one for each run
}


def completed(above: Floats) -> Floats:
    """Return the preference matrix that has these numbers above its diagonal."""
    upper = np.triu(above, 1)
    return upper + np.tril(1.0 - upper.T, -1) + np.eye(len(above)) / 2.0


def near_winner(run: int, seed: int) -> Floats:
    """Return a random matrix of five arms in which one beats each other one with probability .51 to .65."""
    rng = np.random.default_rng([seed, run])
    matrix, best = completed(rng.random((5, 5))), rng.integers(5)
    matrix[best] = rng.uniform(0.51, 0.65, 5)
    matrix[:, best] = 1.0 - matrix[best]
    matrix[best, best] = 0.5
    return matrix


def has_order(matrix: Floats) -> bool:
    """Whether the arms can be sorted such that P(i, k) >= P(j, k) for all k wherever i is before j."""
    rows = matrix[np.argsort(-matrix.sum(axis=1))]
    return bool((np.diff(rows, axis=0) <= 0.0).all())


def condorcet(number: int) -> Floats:
    """Return a matrix of three to seven arms: uniform entries, drawn until one arm beats all and there is no order."""
    rng = np.random.default_rng([MATRIX_SEED, number])
    while True:
        n_arms = int(rng.integers(3, 8))
        matrix = completed(rng.random((n_arms, n_arms)))
        wins = (matrix > 0.5).sum(axis=1)
        if wins.max() == n_arms - 1 and not has_order(matrix):
            return matrix


def finals(policy: wk.DuelingPolicy, world: Any, rounds: int, runs: int, seed: int = SEED) -> Floats:
    """Return the regret of every run."""
    if world is None:
        each = (Preferences(near_winner(run, seed), "all") for run in range(runs))
        return np.concatenate([finals(policy, one, rounds, 1, seed + run) for run, one in enumerate(each)])
    results = wk.simulate({"it": policy}, world, rounds, runs, seed, checkpoints=[rounds])
    values: Floats = results.final("dueling", "it")
    return values


def row(name: str, rounds: int, runs: int, seed: int, others: dict[str, wk.DuelingPolicy]) -> str:
    """Play one world and return its line."""
    own = finals(wk.AutoPairs(), WORLDS[name], rounds, runs, seed)
    found = {label: finals(policy, WORLDS[name], rounds, runs, seed) for label, policy in others.items()}
    best = min(found, key=lambda label: found[label].mean())
    mean, tail = found[best].mean(), min(np.quantile(values, 0.9) for values in found.values())
    ratio, error = own.mean() / mean, (own - own.mean() / mean * found[best]).std(ddof=1) / mean / np.sqrt(runs)
    mark = " *" if ratio > LIMIT else "  "
    return (
        f"| {ratio:.2f} +- {error:.2f} | {np.quantile(own, 0.9) / tail:.2f} |{mark}| {name} | {runs} | "
        f"{own.mean():,.1f} | {np.quantile(own, 0.9):,.1f} | {own.max():,.1f} | {mean:,.1f} | {tail:,.1f} | "
        f"{best} |"
    )


def table(rounds: int, runs: int, seed: int, starts: tuple[str, ...], others: dict[str, wk.DuelingPolicy]) -> None:
    """Print all rows."""
    print("| mean | 90 % | | world | runs | AutoPairs() | its 90 % | worst run | best other | its 90 % | which |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in WORLDS:
        if name.startswith(starts):
            print(row(name, rounds, runs, seed, others), flush=True)


def matrices(policy: wk.DuelingPolicy, numbers: range, start: int) -> None:
    """Print the regret a round over the second half, and every matrix in which it exceeds the limit.

    The seed of a run is the number of its matrix and `start`.
    """
    half, found = MATRIX_ROUNDS // 2, []
    for number in numbers:
        world, points = Preferences(condorcet(number), "all"), [half, MATRIX_ROUNDS]
        results = wk.simulate({"it": policy}, world, MATRIX_ROUNDS, 1, start + number, checkpoints=points)
        before, after = results.curve("dueling", "it")[0]
        found.append((after - before) / half)
        if found[-1] > MATRIX_LIMIT:
            print(f"matrix {number}: {found[-1]:.4f} a round", condorcet(number).round(3).tolist(), flush=True)
    rates = np.array(found)
    print(f"{policy!r}: {(rates > MATRIX_LIMIT).sum()} of {len(rates)} above {MATRIX_LIMIT} a round, ", end="")
    print(f"mean {rates.mean():.6f}, 99 % quantile {np.quantile(rates, 0.99):.5f}, worst {rates.max():.5f}", flush=True)


def with_pending(policy: wk.DuelingPolicy, pending: int, run: int, rounds: int = 5_000) -> float:
    """Return the regret where the feedback of a duel comes after so many others were arranged."""
    rng = np.random.default_rng([1, run])
    strengths = rng.uniform(0.0, 2.0, 10)
    chances = 1.0 / (1.0 + np.exp(strengths - strengths[:, np.newaxis]))
    arena, waiting, arms = wk.DuelingBandit(policy, 10, seed=run), deque[wk.Duel](), []
    for _ in range(rounds):
        duel = arena.choose(distinct=True)
        arms.append(duel.arms)
        waiting.append(duel)
        if len(waiting) > pending:
            old = waiting.popleft()
            arena.update(old, winner=old.left if rng.random() < chances[old.left, old.right] else old.right)
    return float(wk.regret.dueling(np.array(arms), ~np.eye(10, dtype=np.bool_), chances).value)


def print_pending(runs: int) -> None:
    """Print mean regrets with 0 and 100 pending duels."""
    for policy in (wk.AutoPairs(), wk.DoubleThompson(), wk.StablePair()):
        none, many = (np.array([with_pending(policy, n, run) for run in range(runs)]) for n in (0, 100))
        ratio = many.mean() / none.mean()
        error = (many - ratio * none).std(ddof=1) / none.mean() / np.sqrt(runs)
        print(f"{policy!r}: {none.mean():.1f} with none pending, {many.mean():.1f} with 100, ", end="")
        print(f"ratio {ratio:.2f} +- {error:.2f}", flush=True)


def milliseconds(n_arms: int, before: int) -> float:
    """Return the CPU time of a duel with feedback after `before` others: the median of 100."""
    arena, rng, times = wk.DuelingBandit(arms=n_arms, seed=1), np.random.default_rng(0), []
    strengths = np.arange(n_arms) / n_arms * 3.0
    for _ in range(before + 100):
        start = time.process_time()
        duel = arena.choose(distinct=True)
        left = rng.random() < 1.0 / (1.0 + np.exp(strengths[duel.right] - strengths[duel.left]))
        arena.update(duel, winner="left" if left else "right")
        times.append(time.process_time() - start)
    return float(np.median(times[-100:])) * 1e3


def print_speed() -> None:
    """Print the time of a duel with feedback through the checked API."""
    for n_arms, limit in ((10, np.inf), (200, 0.2), (1_000, 2.0)):
        print(f"K = {n_arms}: {milliseconds(n_arms, 2_000):.3f} ms a duel with feedback (limit {limit} ms)", flush=True)


def main() -> None:
    """Print the comparison, or one of its other parts."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", choices=("table", "matrices", "pending", "speed"), default="table")
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--rounds", type=int, default=50_000)
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--start", type=int, default=0, help="added to the seed of each run of the matrices")
    options.add_argument("--only", default="", help="names of worlds, or beginnings of them, with commas between")
    options.add_argument("--quick", action="store_true", help="without the slow policies")
    given = options.parse_args()
    starts = tuple(part.strip() for part in given.only.split(",")) if given.only else ("",)
    others = {label: policy for label, policy in OTHERS.items() if not (given.quick and label in SLOW)}
    parts: dict[str, Callable[[], None]] = {
        "table": lambda: table(given.rounds, given.runs, given.seed, starts, others),
        "matrices": lambda: matrices(wk.AutoPairs(), range(MATRICES), given.start),
        "pending": lambda: print_pending(given.runs),
        "speed": print_speed,
    }
    parts[given.part]()


if __name__ == "__main__":
    main()
