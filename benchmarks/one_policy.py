"""`Auto()` against the best other policy of every world: ratios first, means and 90 % quantiles, losing rows too.

    python benchmarks/one_policy.py [--runs 60] [--rounds 200000] [--only Stochastic,clicks] [--quick]

Policy regret, seed 0, the same runs for every policy. Where the best regret is negative, the first two columns hold
the distance to it as a share of its distance to uniform play. A row is marked where the mean exceeds 1.1 times, or
the quantile 1.3 times, that of the best other policy (for shares: 0.05).
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import wakeful as wk
from wakeful import worlds
from wakeful.worlds import Block, World

SEED = 0
OTHERS: dict[str, wk.Policy] = {
    "Uniform()": wk.Uniform(),
    "SIExp3()": wk.SIExp3(),
    "SI-EXP3 (paper)": wk.SIExp3(eta="sqrt", exploration=0.0),
    "SBExp3()": wk.SBExp3(),
    "SleepingExp3G()": wk.SleepingExp3G(),
    "SleepingUCB(8)": wk.SleepingUCB(8.0),
    "SleepingUCB(2)": wk.SleepingUCB(2.0),
    "SleepingUCB(0.5)": wk.SleepingUCB(0.5),
    "SleepingThompson()": wk.SleepingThompson(),
    "PerSet(SIExp3())": wk.PerSet(wk.SIExp3()),
    "PerSet(SBExp3())": wk.PerSet(wk.SBExp3()),
    "PerSet(SleepingUCB(2))": wk.PerSet(wk.SleepingUCB(2.0)),
    "PerSet(SleepingUCB(0.5))": wk.PerSet(wk.SleepingUCB(0.5)),
    "PerSet(SleepingThompson())": wk.PerSet(wk.SleepingThompson()),
}
FAST = ("Uniform()", "SIExp3()", "SBExp3()", "SleepingUCB(2)", "SleepingUCB(0.5)", "PerSet(SleepingUCB(0.5))")


@dataclass(frozen=True)
class Coins(World):
    """Independent arms, awake with probability `rate`; mean losses from U(low, high), drawn for each run.

    Parameters:
        kind: "still"; "gap": all means are `high`, one is `low`; "change": all means are drawn anew after `change`
            rounds; "late": the last arm, better by 0.2 than any other, sleeps until then; "day": all means rise and
            fall by 0.25 over 24 rounds, each also by 0.15 at a time of its own
    """

    n_arms: int = 10
    low: float = 0.0
    high: float = 1.0
    rate: float = 0.8
    kind: str = "still"
    change: int = 5000

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the means of the run, then its rounds."""
        means, after = rng.uniform(self.low, self.high, (2, self.n_arms))
        phases, best, start = rng.random(self.n_arms), rng.integers(self.n_arms), 0
        if self.kind == "gap":
            means = np.where(np.arange(self.n_arms) == best, self.low, self.high)
        if self.kind == "late":
            means[-1] = self.low - 0.2
        while True:
            t = np.arange(start, start + size)[:, np.newaxis]
            expected = np.tile(means, (size, 1))
            awake = rng.random((size, self.n_arms)) < self.rate
            awake[np.arange(size), rng.integers(self.n_arms - 1, size=size)] |= ~awake.any(axis=1)
            if self.kind == "change":
                expected = np.where(t < self.change, means, after)
            elif self.kind == "late":
                awake[:, -1] &= t[:, 0] >= self.change
                awake[:, 0] |= ~awake.any(axis=1)
            elif self.kind == "day":
                own = 0.15 * np.sin(2.0 * np.pi * (t / 24.0 + phases))
                expected = np.clip(means + 0.25 * np.sin(2.0 * np.pi * t / 24.0) + own, 0.0, 1.0)
            yield Block(awake, (rng.random((size, self.n_arms)) < expected).astype(np.float64), expected)
            start += size


WORLDS: dict[str, tuple[Any, int]] = {
    "Stochastic": (worlds.Stochastic(10), 5_000),
    "Dependent": (worlds.Dependent(), 1_000),
    "RockPaperScissors": (worlds.RockPaperScissors(), 500),
    "RandomDependent": (worlds.RandomDependent(), 5_000),
    "RandomGame": (worlds.RandomGame(), 5_000),
    "SwitchingBest": (worlds.SwitchingBest(), 5_000),
    "Cycling": (worlds.Cycling(), 5_000),
    "MarkovSleep": (worlds.MarkovSleep(), 5_000),
    "LossDependentSleep": (worlds.LossDependentSleep(), 5_000),
    "Drifting": (worlds.Drifting(), 5_000),
    "clicks, 1 to 6 %": (Coins(10, 0.94, 0.99), 20_000),
    "clicks, 0.1 to 1 %": (Coins(10, 0.99, 0.999), 20_000),
    "2 arms": (Coins(2), 5_000),
    "50 arms": (Coins(50), 10_000),
    "200 arms": (Coins(200), 10_000),
    "gap 0.01": (Coins(5, 0.49, 0.5, kind="gap"), 20_000),
    "gap 0.1": (Coins(10, 0.4, 0.5, kind="gap"), 20_000),
    "gap 0.5": (Coins(10, 0.0, 0.5, kind="gap"), 20_000),
    "small gaps": (Coins(10, 0.45, 0.55), 20_000),
    "nearly equal": (Coins(10, 0.5, 0.501), 5_000),
    "600 sets": (worlds.RandomDependent(12, 600), 50_000),
    "an arm added late": (Coins(10, 0.4, 0.9, kind="late", change=3000), 10_000),
    "one abrupt change": (Coins(10, 0.1, 0.9, kind="change"), 20_000),
    "a day of 24 rounds": (Coins(10, 0.4, 0.6, kind="day"), 20_000),
}


def finals(policy: wk.Policy, world: Any, rounds: int, runs: int) -> Any:
    """Return the policy regret of every run."""
    results = wk.simulate({"it": policy}, world, rounds, runs, SEED, ["policy"], [rounds])
    return results.final("policy", "it")


def row(name: str, rounds: int, runs: int, others: dict[str, wk.Policy]) -> str:
    """Play one world and return its line."""
    world, usual = WORLDS[name]
    rounds = rounds or usual
    own = finals(wk.Auto(), world, rounds, runs)
    found = {label: finals(policy, world, rounds, runs) for label, policy in others.items()}
    best = min(found, key=lambda label: found[label].mean())
    mean, tail = found[best].mean(), min(np.quantile(values, 0.9) for values in found.values())
    if mean > 0.0 and tail > 0.0:
        first, second = own.mean() / mean, np.quantile(own, 0.9) / tail
        marked = first > 1.1 or second > 1.3
    else:
        spread = found["Uniform()"].mean() - mean
        first, second = (own.mean() - mean) / spread, (np.quantile(own, 0.9) - tail) / spread
        marked = first > 0.05
    return (
        f"| {first:6.2f} | {second:6.2f} |{' *' if marked else '  '}| {name:20s} | {rounds:7,d} | {own.mean():9.1f} | "
        f"{np.quantile(own, 0.9):9.1f} | {own.max():9.1f} | {mean:9.1f} | {tail:9.1f} | {best} |"
    )


def main() -> None:
    """Print the comparison."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=60)
    options.add_argument("--rounds", type=int, default=0, help="the same number for all; by default each its own")
    options.add_argument("--only", default="", help="names of worlds, or beginnings of them, with commas between")
    options.add_argument("--quick", action="store_true", help="only the fast policies")
    given = options.parse_args()
    starts = tuple(part.strip() for part in given.only.split(",")) if given.only else ("",)
    others = {label: OTHERS[label] for label in FAST} if given.quick else OTHERS
    print("| mean | 90 % | | world | rounds | Auto() | its 90 % | worst run | best other | its 90 % | which |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in WORLDS:
        if name.startswith(starts):
            print(row(name, given.rounds, given.runs, others), flush=True)


if __name__ == "__main__":
    main()
