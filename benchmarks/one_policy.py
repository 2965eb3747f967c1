"""`Auto()` against the best other policy of every world: ratios first, means and 90 % quantiles, losing rows too.

    python benchmarks/one_policy.py [--runs 60] [--rounds 200000] [--only Stochastic,clicks] [--seed 0] [--quick]
    python benchmarks/one_policy.py --stuck --runs 200   the worst of long runs where losses depend on the set
    python benchmarks/one_policy.py --delays     feedback that comes 0, 10, 100 and 1,000 decisions late
    python benchmarks/one_policy.py --guards     what a guard costs, and what it saves in `LateBloomer` and `Ambush`

Policy regret, the same runs for every policy. Where the best regret is negative, the first two columns hold the
distance to it as a share of its distance to uniform play. A row is marked where the mean exceeds 1.1 times, or the
quantile 1.3 times, that of the best other policy (for shares: 0.05).
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import wakeful as wk
from wakeful import worlds
from wakeful.worlds import Block, World

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
FAST = ("Uniform()", "SIExp3()", "SleepingUCB(0.5)", "PerSet(SleepingUCB(0.5))")
CLOSE = (*FAST, "SleepingThompson()", "PerSet(SleepingThompson())")  # with one of these the best other everywhere


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


@dataclass(frozen=True)
class Levels(World):
    """Sets in which all arms lose more, or less, than in others: an arm is as good beside any others.

    For each run 40 sets are drawn, with a level each, in logits, from a normal distribution with deviation 1, and the
    mean losses of the arms at level 0 from U(low, high).
    """

    n_arms: int = 8
    low: float = 0.2
    high: float = 0.8

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw the sets and means of the run, then its rounds."""
        sets = rng.random((40, self.n_arms)) < 0.7
        sets[:, 0] |= ~sets.any(axis=1)
        levels, means = rng.normal(size=40), rng.uniform(self.low, self.high, self.n_arms)
        expected = 1.0 / (1.0 + (1.0 / means - 1.0) * np.exp(-levels[:, np.newaxis]))
        while True:
            which = rng.integers(40, size=size)
            losses = (rng.random((size, self.n_arms)) < expected[which]).astype(np.float64)
            yield Block(sets[which], losses, expected[which])


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
    "rare losses, 1 to 6 %": (Coins(10, 0.01, 0.06), 20_000),
    "gap 0.01": (Coins(5, 0.49, 0.5, kind="gap"), 20_000),
    "gap 0.1": (Coins(10, 0.4, 0.5, kind="gap"), 20_000),
    "gap 0.5": (Coins(10, 0.0, 0.5, kind="gap"), 20_000),
    "small gaps": (Coins(10, 0.45, 0.55), 20_000),
    "nearly equal": (Coins(10, 0.5, 0.501), 5_000),
    "600 sets": (worlds.RandomDependent(12, 600), 50_000),
    "an arm added late": (Coins(10, 0.4, 0.9, kind="late", change=3000), 10_000),
    "one abrupt change": (Coins(10, 0.1, 0.9, kind="change"), 20_000),
    "a day of 24 rounds": (Coins(10, 0.4, 0.6, kind="day"), 20_000),
    "levels of sets": (Levels(), 20_000),
    "levels, clicks": (Levels(8, 0.94, 0.99), 50_000),
}


DEPENDENT = ("Dependent", "RockPaperScissors", "RandomDependent", "RandomGame")
GUARDED: dict[str, wk.Policy] = {
    "Auto()": wk.Auto(),
    "Auto(guard=0.1)": wk.Auto(guard=0.1),
    "Auto(guard=0.25)": wk.Auto(guard=0.25),
}
DELAYED: dict[str, wk.Policy] = {
    "Auto()": wk.Auto(),
    "SleepingThompson()": wk.SleepingThompson(),
    "SleepingUCB(0.5)": wk.SleepingUCB(0.5),
}


def finals(policy: wk.Policy, world: Any, rounds: int, runs: int, seed: int, regret: str = "policy") -> Any:
    """Return the regret of every run."""
    results = wk.simulate({"it": policy}, world, rounds, runs, seed, [regret], [rounds], jobs=1)
    return results.final(regret, "it")


def row(name: str, rounds: int, runs: int, seed: int, others: dict[str, wk.Policy]) -> str:
    """Play one world and return its line."""
    world, usual = WORLDS[name]
    rounds = rounds or usual
    own = finals(wk.Auto(), world, rounds, runs, seed)
    found = {label: finals(policy, world, rounds, runs, seed) for label, policy in others.items()}
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


def print_stuck(runs: int, seed: int, starts: tuple[str, ...]) -> None:
    """Print the worst of many long runs in every world in which losses depend on the awake set."""
    print("| world | mean | 90 % | worst run | worst / mean |\n|---|---|---|---|---|")
    for name in DEPENDENT:
        if name.startswith(starts):
            found = finals(wk.Auto(), WORLDS[name][0], 200_000, runs, seed)
            tail, worst = np.quantile(found, 0.9), found.max()
            print(
                f"| {name} | {found.mean():.1f} | {tail:.1f} | {worst:.1f} | {worst / found.mean():.1f} |", flush=True
            )


def print_guards(runs: int, seed: int, starts: tuple[str, ...]) -> None:
    """Print what a guard costs in the first ten worlds, and external regret against two adversaries."""
    print(f"| world | {' | '.join(GUARDED)} |\n|---|{'---|' * len(GUARDED)}")
    for name in list(WORLDS)[:10]:
        if name.startswith(starts):
            world, rounds = WORLDS[name]
            means = [finals(policy, world, rounds, runs, seed).mean() for policy in GUARDED.values()]
            print(f"| {name} | {' | '.join(f'{mean:.1f}' for mean in means)} |", flush=True)
    late: dict[str, wk.Policy] = {**GUARDED, "SIExp3()": wk.SIExp3(), "SleepingThompson()": wk.SleepingThompson()}
    for label, policy in late.items():
        found = finals(policy, worlds.LateBloomer(), 20_000, runs, seed, "external")
        print(f"LateBloomer, 20,000 rounds, external regret, {label}: {found.mean():.0f}", flush=True)
    ambushed: dict[str, wk.Policy] = {**late, "SleepingUCB(0.5)": wk.SleepingUCB(0.5)}
    print("\n| `Ambush`, external regret | " + " | ".join(ambushed) + f" |\n|---|{'---|' * len(ambushed)}")
    for change in (2_000, 8_000):
        cells = []
        for policy in ambushed.values():
            found = finals(policy, worlds.Ambush(change=change), 10 * change, runs, seed, "external")
            cells.append(f"{found.mean():.0f} / {found.max():.0f}")
        print(f"| {10 * change:,} rounds, mean / worst run | {' | '.join(cells)} |", flush=True)


def delayed(policy: wk.Policy, world: Any, rounds: int, delay: int, seed: list[int]) -> tuple[float, float]:
    """Return regret to the best awake arm when feedback comes `delay` decisions late, and the mean gap of a round."""
    block = next(world.blocks(np.random.default_rng(seed), rounds))
    bandit = wk.Bandit(policy, world.n_arms, seed=seed[-1])
    expected = np.where(block.awake, block.expected, np.nan)
    gaps = expected - np.nanmin(expected, axis=1, keepdims=True)
    pending: list[Any] = []
    lost = 0.0
    for t in range(rounds):
        pending.append((t, bandit.choose(block.awake[t])))
        lost += gaps[t, pending[-1][1].arm]
        if len(pending) > delay:
            then, decision = pending.pop(0)
            bandit.update(decision, loss=float(block.losses[then, decision.arm]))
    return lost, float(np.nanmean(gaps, axis=1).mean())


def print_delays(runs: int, seed: int) -> None:
    """Print how much more is lost when feedback is late, beside what no policy can avoid: delay x mean gap."""
    print("| world | policy | delay | regret | extra | delay x mean gap |\n|---|---|---|---|---|---|")
    for name in ("Stochastic", "RandomDependent"):
        for label, policy in DELAYED.items():
            none = 0.0
            for delay in (0, 10, 100, 1000):
                found = [delayed(policy, WORLDS[name][0], 8000, delay, [seed, run]) for run in range(runs)]
                regret, gap = np.mean(found, axis=0)
                none = regret if delay == 0 else none
                line = f"| {name} | {label} | {delay:,} | {regret:.1f} | {regret - none:.1f} | {delay * gap:.1f} |"
                print(line, flush=True)


def print_table(given: argparse.Namespace, starts: tuple[str, ...]) -> None:
    """Print the comparison with the best other policy of every world."""
    labels = FAST if given.quick else CLOSE if given.close else tuple(OTHERS)
    others = {label: OTHERS[label] for label in labels}
    print("| mean | 90 % | | world | rounds | Auto() | its 90 % | worst run | best other | its 90 % | which |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in WORLDS:
        if name.startswith(starts):
            print(row(name, given.rounds, given.runs, given.seed, others), flush=True)


def main() -> None:
    """Print the comparison, or what else is asked for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=60)
    options.add_argument("--rounds", type=int, default=0, help="the same number for all; by default each its own")
    options.add_argument("--only", default="", help="names of worlds, or beginnings of them, with commas between")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--quick", action="store_true", help="only the fast policies")
    options.add_argument("--close", action="store_true", help="the fast policies and Thompson sampling")
    for what in ("stuck", "delays", "guards"):
        options.add_argument(f"--{what}", action="store_true")
    given = options.parse_args()
    starts = tuple(part.strip() for part in given.only.split(",")) if given.only else ("",)
    if given.stuck:
        print_stuck(given.runs, given.seed, starts)
    elif given.delays:
        print_delays(given.runs, given.seed)
    elif given.guards:
        print_guards(given.runs, given.seed, starts)
    else:
        print_table(given, starts)


if __name__ == "__main__":
    main()
