"""The policy regrets of the paper's five bandit worlds at full size, beside reference values of 400 runs.

Prints how many standard errors each is off; four is the limit.
"""

import math
import sys
from typing import NamedTuple

import wakeful as wk
from wakeful import worlds

RUNS, REFERENCE_RUNS = 50, 400
POLICIES: dict[str, wk.Policy] = {
    "SI-EXP3 (paper)": wk.SIExp3(eta="sqrt", exploration=0.0),
    "S-UCB": wk.SleepingUCB(),
    "S-EXP3": wk.SleepingExp3G(),
}


class Case(NamedTuple):
    """A world, a horizon, and for each policy the mean and standard deviation of its regret."""

    world: worlds.World
    rounds: int
    values: tuple[tuple[float, float], ...]


TABLE = (
    Case(worlds.Stochastic(n_arms=10), 5_000, ((394.8, 96.0), (382.9, 129.7), (212.9, 64.0))),
    Case(worlds.Dependent(), 1_000, ((141.2, 39.8), (374.9, 13.9), (387.5, 12.3))),
    Case(worlds.RockPaperScissors(), 500, ((38.4, 6.7), (87.9, 5.1), (93.5, 5.4))),
    Case(worlds.RandomDependent(n_arms=5, n_sets=5), 5_000, ((319.6, 213.5), (531.1, 310.8), (508.7, 302.0))),
    Case(worlds.RandomGame(n_arms=5, n_sets=4), 5_000, ((127.6, 48.9), (218.9, 98.7), (222.7, 91.9))),
    Case(worlds.RandomGame(n_arms=10, n_sets=4), 5_000, ((217.9, 75.7), (272.0, 101.8), (272.4, 99.8))),
)


def main() -> None:
    print(f"{'world':<46}{'policy':<16}{'found':>9}{'reference':>11}{'off':>7}")
    worst = 0.0
    for world, rounds, values in TABLE:
        results = wk.simulate(POLICIES, world, rounds, RUNS, regrets=("policy",), checkpoints=[rounds])
        for name, (mean, deviation) in zip(POLICIES, values, strict=True):
            found = float(results.final("policy", name).mean())
            off = (found - mean) / (deviation * math.sqrt(1 / RUNS + 1 / REFERENCE_RUNS))
            worst = max(worst, abs(off))
            print(f"{world!r:<46}{name:<16}{found:>9.1f}{mean:>11.1f}{off:>7.1f}")
    print(f"\nlargest distance: {worst:.1f} standard errors")
    sys.exit(worst > 4.0)


if __name__ == "__main__":
    main()
