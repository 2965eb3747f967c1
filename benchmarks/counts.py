"""What the counts of `report` cost a decision with its feedback, for every policy, beside the limit of 0.3 us.

The compiled steps with counts and without take turns on the same rounds, in short pieces. All of it is repeated from
the start, and of each piece the least CPU time counts: neighbours on the machine slow down most pieces, not always.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import wakeful as wk
from wakeful.numerics.arrays import Floats
from wakeful.policies.counts import NO_COUNTS, start_counts
from wakeful.policies.policy import compiled

LIMIT = 0.3  # us
PIECE, PIECES, REPEATS = 400e-6, 20, 100  # seconds of a piece, about; pieces; runs of all of them
FEWEST, MOST = 5, 100  # rounds in a piece
ROW = "{:<20}{:>6}{:>8}{:>18}{:>14}{:>9}{:>8}"


def main() -> None:
    print(ROW.format("policy", "arms", "awake", "without counts", "their cost", "limit", "ratio"))
    for n_arms, share in ((10, 0.5), (10, 1.0), (100, 0.5), (100, 1.0), (1000, 0.01)):
        for policy in policies(n_arms):
            counted, alone = measured(policy, n_arms, share)
            numbers = (
                f"{alone:.2f} us",
                f"{counted - alone:.3f} us",
                f"{LIMIT} us",
                f"{(counted - alone) / LIMIT:.2f}",
            )
            print(ROW.format(type(policy).__name__, n_arms, f"{share:.0%}", *numbers), flush=True)


def policies(n_arms: int) -> Iterator[wk.Policy]:
    """Yield one policy of each kind, without those that take milliseconds for so many arms."""
    yield from (wk.Uniform(), wk.FixedOrdering((0,)), wk.SleepingUCB(), wk.SleepingThompson(), wk.SBExp3())
    yield from (wk.SIExp3(), wk.Auto(), wk.PerSet(wk.SleepingUCB()))
    if n_arms <= 10:
        yield from (wk.SleepingExp3G(), wk.SleepingExp3(), wk.PerSet(wk.SIExp3()))
    if n_arms <= 6:
        yield wk.OrderingExp4()


def measured(policy: wk.Policy, n_arms: int, share: float) -> tuple[float, float]:
    """Return microseconds a round with counts and without."""
    rng = np.random.default_rng(1)
    awake = rng.random((MOST * PIECES, n_arms)) < share
    awake[awake.sum(axis=1) < 2, :2] = True
    rows = list(zip(awake, rng.random(len(awake)).tolist(), rng.random(len(awake)).tolist(), strict=True))
    choose, update = (compiled(policy, name, policy.start(n_arms), n_arms) for name in ("choose", "update"))
    rounds = piece_of(choose, update, rows, policy, n_arms)
    found = np.empty((REPEATS, PIECES, 2))
    for repeat, _ in enumerate(found):
        fields = [policy.fields(policy.start(n_arms), n_arms) for _ in range(2)]
        counts = (
            start_counts(n_arms, policy.keeps_switch_gains).copy(),
            NO_COUNTS,
        )  # a copy is in memory before it starts
        for piece in range(PIECES):
            here = rows[piece * rounds :][:rounds]
            for n in ((repeat + piece) % 2, (repeat + piece + 1) % 2):
                start = time.thread_time()
                play(choose, update, here, fields[n], counts[n])
                found[repeat, piece, n] = time.thread_time() - start
    counted, alone = found.min(axis=0).mean(axis=0) / rounds * 1e6
    return float(counted), float(alone)


def piece_of(choose: Any, update: Any, rows: list[Any], policy: wk.Policy, n_arms: int) -> int:
    """Return how many rounds make a piece: short ones are rarely disturbed, long ones find their counts in a cache."""
    fields = policy.fields(policy.start(n_arms), n_arms)
    play(choose, update, rows[:1], fields, NO_COUNTS)  # compiled
    start = time.thread_time()
    play(choose, update, rows[:MOST], fields, NO_COUNTS)
    return int(np.clip(PIECE * MOST / (time.thread_time() - start), FEWEST, MOST))


def play(choose: Any, update: Any, rows: list[Any], fields: Any, counts: Floats) -> None:
    p = np.zeros(len(rows[0][0]))
    for mask, u, loss in rows:
        p[:] = 0.0
        arm, probability, memo = choose(mask, u, p, counts, fields)
        update(mask, p, arm, probability, memo, loss, counts, fields)


if __name__ == "__main__":
    main()
