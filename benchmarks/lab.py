"""How fast the lab is: beside a hand-written compiled loop, on one core and on two, and beside a peer's loop.

Prints a table; everything in one process, ratios are the thing to look at.
"""

import time
from collections.abc import Callable

import numba
import numpy as np

import wakeful as wk
from wakeful.worlds import Stochastic

ROW = "{:<62}{:>14}{:>14}{:>9}"
ROUNDS, RUNS, K = 200_000, 8, 10


@numba.njit(nogil=True)
def by_hand(rounds: int, rng: np.random.Generator) -> float:  # noqa: PLR0912  # one loop, on purpose
    """SI-EXP3 (t^-1/2, no exploration) in the stochastic world, world and regret included, nothing general about it."""
    means, rates = rng.random(K), rng.random(K)
    L = np.zeros((K, K))
    A, x, a = np.empty((K, K)), np.empty(K), np.empty(K)
    arms = np.empty(K, np.int64)
    regret = 0.0
    for t in range(1, rounds + 1):
        n = 0
        while n == 0:
            for k in range(K):
                if rng.random() < rates[k]:
                    arms[n] = k
                    n += 1
        eta = 1.0 / np.sqrt(t)
        for i in range(n):
            low = np.inf
            for j in range(n):
                if i != j:
                    low = min(low, L[arms[i], arms[j]])
            a[i] = eta * low
            for j in range(n):
                A[i, j] = np.exp(eta * (low - L[arms[i], arms[j]])) if i != j else 0.0
        for k in range(n - 1, 0, -1):
            out = 0.0
            for j in range(k):
                out += A[k, j]
            for i in range(k):
                A[i, k] /= out
                for j in range(k):
                    A[i, j] += A[i, k] * A[k, j]
        x[0] = 1.0
        for k in range(1, n):
            x[k] = 0.0
            for i in range(k):
                x[k] += x[i] * A[i, k]
        top = -np.inf
        for k in range(n):
            x[k] = np.log(x[k]) + (a[k] if n > 1 else 0.0)
            top = max(top, x[k])
        total = 0.0
        for k in range(n):
            x[k] = np.exp(x[k] - top)
            total += x[k]
        u = rng.random() * total
        c = 0
        while c < n - 1 and u >= x[c]:
            u -= x[c]
            c += 1
        arm = arms[c]
        loss = 1.0 if rng.random() < means[arm] else 0.0
        best = 1.0
        for k in range(n):
            best = min(best, means[arms[k]])
            if k != c:
                L[arm, arms[k]] -= loss
                L[arms[k], arm] += x[k] / x[c] * loss
        regret += means[arm] - best
    return regret


def main() -> None:
    print(ROW.format("what", "ours", "held against", "ratio"))
    policy, world = wk.SIExp3(eta="sqrt", exploration=0.0), Stochastic(K)

    def ours(jobs: int, runs: int = RUNS) -> object:
        return wk.simulate(policy, world, ROUNDS, runs, regrets=("policy",), checkpoints=[ROUNDS], jobs=jobs)

    by_hand(10, np.random.default_rng(0))
    ours(1, 1)
    hand = best(lambda: [by_hand(ROUNDS, np.random.default_rng(run)) for run in range(RUNS)])
    one = best(lambda: ours(1))
    two = best(lambda: ours(2))
    speed = ROUNDS * RUNS / one / 1e6
    row("simulate, one job | a hand-written loop", f"{one:.2f} s", f"{hand:.2f} s", one / hand)
    row("rounds a second a core | 1.5 M", f"{speed:.2f} M/s", "1.50 M/s", speed / 1.5)
    row("two jobs | one job", f"{two:.2f} s", f"{one:.2f} s", one / two)
    theirs = peer()
    row("rounds a second, K=10 | pymab Experiment.run, EXP3", f"{speed:.2f} M/s", f"{theirs:.2f} M/s", speed / theirs)


def peer(horizon: int = 10_000, runs: int = 20) -> float:
    """Return the millions of rounds a second of the fastest peer's simulation loop; its arms never sleep."""
    from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig
    from pymab.policies import EXP3Policy

    environment = BanditEnvironment(np.linspace(0.1, 0.9, K), BernoulliReward())
    policies = {"exp3": EXP3Policy(n_arms=K)}
    config = ExperimentConfig(horizon=horizon, n_replicates=runs, seed=0)
    seconds = best(lambda: Experiment(environment=environment, policies=policies, config=config).run())
    return horizon * runs / seconds / 1e6


def row(what: str, ours: str, against: str, ratio: float) -> None:
    print(ROW.format(what, ours, against, f"{ratio:.2f}"))


def best(work: Callable[[], object], times: int = 3) -> float:
    """Return the seconds of the quickest of some tries."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    main()
