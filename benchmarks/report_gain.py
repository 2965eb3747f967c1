"""How often the 95 % interval of a report's gain over uniform play contains the truth, in three kinds of worlds.

Five arms, each awake with probability 0.6, losses 0 or 1, 1,000 decisions with feedback. The truth is what uniform play
would have lost on average on the same losses, less what draws from the bandit's own probabilities lose on average.

Run: python benchmarks/report_gain.py (some minutes of one core; --worlds 20 for a look)
"""

import argparse

import numpy as np
from numpy.typing import NDArray

import wakeful as wk

ARMS, DECISIONS, RATE = 5, 1_000, 0.6
POLICIES: tuple[wk.Policy, ...] = (wk.SIExp3(), wk.Auto(), wk.SleepingThompson(), wk.SleepingUCB(), wk.Uniform())
KINDS = ("losses do not change", "they depend on what is awake", "they change half-way")


def rounds(kind: str, rng: np.random.Generator) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the awake sets of a world and the losses of all arms."""
    awake = rng.random((DECISIONS, ARMS)) < RATE
    while (nobody := ~awake.any(axis=1)).any():
        awake[nobody] = rng.random((int(nobody.sum()), ARMS)) < RATE
    means = {
        KINDS[0]: lambda: np.tile(rng.random(ARMS), (DECISIONS, 1)),
        KINDS[1]: lambda: rng.random((2**ARMS, ARMS))[awake @ (1 << np.arange(ARMS))],
        KINDS[2]: lambda: np.repeat(rng.random((2, ARMS)), DECISIONS // 2, axis=0),
    }[kind]()
    return awake, (rng.random((DECISIONS, ARMS)) < means).astype(np.float64)


def contains(policy: wk.Policy, awake: NDArray[np.bool_], losses: NDArray[np.float64], seed: int) -> bool:
    """Whether the interval of one bandit's report contains the true gain."""
    bandit = wk.Bandit(policy, ARMS, seed=seed)
    lost = 0.0
    for mask, row in zip(awake, losses, strict=True):
        decision = bandit.choose(mask)
        bandit.update(decision, loss=row[decision.arm])
        lost += decision.probabilities @ row
    uniform = (losses * awake).sum(axis=1) / awake.sum(axis=1)
    gain = bandit.report().gain
    return bool(gain.low <= uniform.mean() - lost / DECISIONS <= gain.high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=300, help="worlds of each kind (300)")
    worlds = parser.parse_args().worlds
    print("| policy | " + " | ".join(KINDS) + " |")
    print("|---" + "|---:" * len(KINDS) + "|")
    for policy in POLICIES:
        shares = []
        for number, kind in enumerate(KINDS):
            drawn = (rounds(kind, np.random.default_rng([number, n])) for n in range(worlds))
            shares.append(np.mean([contains(policy, *world, seed=n) for n, world in enumerate(drawn)]))
        print(f"| `{policy!r}` | " + " | ".join(f"{100 * share:.0f} %" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
