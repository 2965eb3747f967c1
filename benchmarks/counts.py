"""What the counts of `report` cost a decision with its feedback, for every policy, beside the limit of 0.3 us.

Two states of a policy play the same rounds in short pieces, one with counts and one without, and change roles from
repeat to repeat: where an array stands in memory can cost more than the counts, so that only times of the same arrays
are compared. Of each piece the least CPU time counts: neighbours on the machine slow down most pieces, not always. All
of it is done in several places of memory; the cost is the mean over them, and the largest is printed beside it.

Both roles call the same compiled code, which gets an empty array where nothing is counted. So passing the counts is
measured by itself, with functions that do nothing, and added. The last lines are what the cost cannot be below: passing
the counts, and adding the mask of awake arms to one row of them.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np

import wakeful as wk
from wakeful.numerics.arrays import Floats, Mask
from wakeful.numerics.compile import specialised
from wakeful.policies.counts import NO_COUNTS, TIMES_AWAKE, start_counts
from wakeful.policies.policy import compiled

LIMIT = 0.3  # us
PIECE, PIECES, REPEATS, PLACES = 400e-6, 20, 32, 4  # seconds of a piece, about; pieces; runs of all; places in memory
FEWEST, MOST = 5, 100  # rounds in a piece
SIZES = ((5, 0.5), (10, 0.5), (10, 1.0), (100, 0.5), (100, 1.0), (1000, 0.01))
ROW = "{:<20}{:>6}{:>8}{:>18}{:>14}{:>14}{:>9}{:>8}"


def main() -> None:
    passing = passing_time()
    print(ROW.format("policy", "arms", "awake", "without counts", "their cost", "largest", "limit", "ratio"))
    for n_arms, share in SIZES:
        for policy in policies(n_arms):
            alone, costs = measured(policy, n_arms, share)
            mean, largest = costs.mean() + passing, costs.max() + passing
            numbers = f"{alone:.2f} us", f"{mean:.3f} us", f"{largest:.3f} us", f"{LIMIT} us", f"{mean / LIMIT:.2f}"
            print(ROW.format(type(policy).__name__, n_arms, f"{share:.0%}", *numbers), flush=True)
    print(f"passing the counts, once with the decision and once with the feedback: {passing:.3f} us")
    for n_arms in (10, 100, 1000):
        print(f"adding the mask of {n_arms} arms to one row of the counts: {adding_time(n_arms):.3f} us")


def policies(n_arms: int) -> Iterator[wk.Policy]:
    """Yield one policy of each kind, without those that take milliseconds for so many arms."""
    if n_arms < 10:
        yield wk.OrderingExp4()
        return
    yield from (wk.Uniform(), wk.FixedOrdering((0,)), wk.SleepingUCB(), wk.SleepingThompson(), wk.SBExp3())
    yield from (wk.SIExp3(), wk.Auto(), wk.PerSet(wk.SleepingUCB()))
    if n_arms == 10:
        yield from (wk.SleepingExp3G(), wk.SleepingExp3(), wk.PerSet(wk.SIExp3()))


def measured(policy: wk.Policy, n_arms: int, share: float) -> tuple[float, Floats]:
    """Return microseconds a round without counts, and what they add in each place of memory."""
    rng = np.random.default_rng(1)
    awake = rng.random((MOST * PIECES, n_arms)) < share
    awake[awake.sum(axis=1) < 2, :2] = True
    rows = list(zip(awake, rng.random(len(awake)).tolist(), rng.random(len(awake)).tolist(), strict=True))
    steps = [compiled(policy, name, policy.start(n_arms), n_arms) for name in ("choose", "update")]
    rounds = piece_of(steps, rows, policy, n_arms)
    pieces = [rows[piece * rounds :][:rounds] for piece in range(PIECES)]
    times = np.array([in_one_place(steps, pieces, policy, n_arms, place) for place in range(PLACES)])
    counted, alone = times.mean(axis=(1, 2)).T / rounds * 1e6
    return float(alone.mean()), counted - alone


def in_one_place(steps: list[Any], pieces: list[Any], policy: wk.Policy, n_arms: int, place: int) -> Floats:
    """Return the least seconds of both states in each piece, with counts and without."""
    counts = start_counts(n_arms, policy.keeps_switch_gains).copy(), NO_COUNTS  # a copy is in memory before it starts
    between, states = [], []
    for n in range(2):
        between.append(np.ones(1 + 997 * place * (n + 1)))  # so that what follows stands elsewhere
        states.append(policy.start(n_arms))
    fields = [policy.fields(state, n_arms) for state in states]
    found = np.full((2, len(pieces), 2), np.inf)
    for repeat in range(REPEATS):
        for state in states:
            for array, first in zip(state, policy.start(n_arms), strict=True):
                array[...] = first
        for piece, rows in enumerate(pieces):
            for n in ((repeat // 2 + piece) % 2, (repeat // 2 + piece + 1) % 2):
                alone = (repeat + n) % 2
                start = time.thread_time()
                play(steps, rows, fields[n], counts[alone])
                found[n, piece, alone] = min(found[n, piece, alone], time.thread_time() - start)
    return found


def piece_of(steps: list[Any], rows: list[Any], policy: wk.Policy, n_arms: int) -> int:
    """Return how many rounds make a piece: short ones are rarely disturbed, long ones find their counts in a cache."""
    fields = policy.fields(policy.start(n_arms), n_arms)
    play(steps, rows[:1], fields, NO_COUNTS)  # compiled
    start = time.thread_time()
    play(steps, rows[:MOST], fields, NO_COUNTS)
    return int(np.clip(PIECE * MOST / (time.thread_time() - start), FEWEST, MOST))


def play(steps: list[Any], rows: list[Any], fields: Any, counts: Floats) -> None:
    choose, update = steps
    p = np.zeros(len(rows[0][0]))
    for mask, u, loss in rows:
        p[:] = 0.0
        arm, probability, memo = choose(mask, u, p, counts, fields)
        update(mask, p, arm, probability, memo, loss, counts, fields)


def passing_time() -> float:
    """Return the microseconds for which two calls pass the counts."""
    mask, fields = np.ones(10, np.bool_), (1.0, np.zeros(10))
    taking = specialised(numba.njit(lambda mask, counts, fields: 0.0), "", mask, NO_COUNTS, fields)
    plain = specialised(numba.njit(lambda mask, fields: 0.0), "", mask, fields)

    def take() -> None:
        for _ in range(MOST):
            taking(mask, NO_COUNTS, fields)

    def call() -> None:
        for _ in range(MOST):
            plain(mask, fields)

    return 2 * (least(take) - least(call))


def adding_time(n_arms: int) -> float:
    """Return the microseconds in which compiled code adds the mask of one round to the counts."""
    masks = np.random.default_rng(1).random((MOST, n_arms)) < 0.5
    counts = start_counts(n_arms, switches=False).copy()
    add = specialised(numba.njit(add_masks), "", masks, counts)
    return least(lambda: add(masks, counts))


def add_masks(masks: Mask, counts: Floats) -> None:
    for t in range(masks.shape[0]):
        for k in range(masks.shape[1]):
            counts[TIMES_AWAKE, k] += masks[t, k]


def least(work: Callable[[], None]) -> float:
    """Return the least microseconds of one of the `MOST` pieces of `work`."""
    found = []
    for _ in range(PIECES * REPEATS):
        start = time.thread_time()
        work()
        found.append(time.thread_time() - start)
    return min(found) / MOST * 1e6


if __name__ == "__main__":
    main()
