"""How fast one decision and a whole run are, beside what they are held against, in one process.

Prints a table. Ratios are the thing to look at: machines differ, and so do their neighbours.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from river.bandit import Exp3

import wakeful as wk
from wakeful.numerics.arrays import Floats, Mask

PIECE = 1_000  # rounds
ROW = "{:<58}{:>16}{:>16}{:>9}"


def main() -> None:
    print(ROW.format("what", "ours", "held against", "ratio"))
    callers()
    play_loop(n_arms=10, rounds=1_000_000)
    play_loop(n_arms=100, rounds=20_000)
    auto(n_arms=10, limit=15.0)
    auto(n_arms=100, limit=100.0)
    memory()
    start_up()
    cold_compile()


def callers(n_arms: int = 10, rounds: int = 20_000) -> None:
    """`choose` and `update` beside river's Exp3, for every ordinary way to name arms, awake sets and losses.

    River takes a list of names in every case: it has no masks, and no way to say that all are awake.
    """
    awake, losses = world(rounds, n_arms)
    kinds: dict[str, Any] = {"float": float, "np.float64": np.float64, "int": round}
    for called, names in (("names", [f"arm {k}" for k in range(n_arms)]), ("numbers", list(range(n_arms)))):
        lists = [[names[k] for k in np.flatnonzero(row)] for row in awake]
        said: dict[str, Any] = {
            "lists": lists,
            "tuples": list(map(tuple, lists)),
            "masks": list(awake),
            "None": [None] * rounds,
        }
        for (way, sets), (kind, number) in product(said.items(), kinds.items()):
            feedback = [number(loss) for loss in losses[:, 0].tolist()]
            theirs = [names] * rounds if way == "None" else lists
            mine, other = in_turns(names, sets, theirs, feedback)
            what = f"{called}, {way}, {kind} | river Exp3"
            print(ROW.format(what, f"{mine:.2f} us", f"{other:.2f} us", f"{mine / other:.2f}"))


def in_turns(names: list[Any], ours: list[Any], theirs: list[Any], feedback: list[Any]) -> tuple[float, float]:
    """Return microseconds a round of Wakeful and of river: the least CPU time of short pieces, one after the other.

    A busy machine slows down some pieces and not others; the quickest ones are what the code itself needs.
    """
    mine, other = [], []
    for seed in range(4):
        bandit, policy = wk.Bandit(wk.SIExp3(), names, seed=seed), Exp3(gamma=0.1, seed=seed)
        for start in range(0, len(feedback), PIECE):
            piece = slice(start, start + PIECE)
            mine.append(timed(partial(wakeful_run, bandit, ours[piece], feedback[piece]), time.thread_time))
            other.append(timed(partial(river_run, policy, theirs[piece], feedback[piece]), time.thread_time))
    return min(mine) / PIECE * 1e6, min(other) / PIECE * 1e6


def wakeful_run(bandit: wk.Bandit, sets: list[Any], feedback: list[float]) -> None:
    for awake, loss in zip(sets, feedback, strict=True):
        bandit.update(bandit.choose(awake), loss=loss)


def river_run(policy: Any, sets: list[Any], feedback: list[float]) -> None:
    for awake, loss in zip(sets, feedback, strict=True):
        policy.update(policy.pull(awake), 1.0 - loss)


def play_loop(n_arms: int, rounds: int) -> None:
    """The compiled loop, half the arms awake; for many arms beside |S|^3 / 3 multiply-adds at 2 GFLOP/s."""
    awake, losses = world(rounds, n_arms)
    wk.play(wk.SIExp3(), awake[:10], losses[:10], np.random.default_rng(0))
    seconds = min(timed(lambda: wk.play(wk.SIExp3(), awake, losses, np.random.default_rng(0))) for _ in range(3))
    size = awake.sum(axis=1).astype(np.float64)
    what = f"play loop, SIExp3, K={n_arms}, half awake"
    if n_arms <= 10:
        limit = 1.5e6
        got = rounds / seconds
        print(
            ROW.format(
                what + " | 1.5 M rounds/s", f"{got / 1e6:.2f} M/s", f"{limit / 1e6:.2f} M/s", f"{got / limit:.2f}"
            )
        )
    else:
        limit = float((size**3 / 3 * 2).sum()) / 2e9
        each = seconds / rounds * 1e6
        print(
            ROW.format(
                what + " | |S|^3/3 at 2 GFLOP/s",
                f"{each:.1f} us",
                f"{limit / rounds * 1e6:.1f} us",
                f"{seconds / limit:.2f}",
            )
        )


def auto(n_arms: int, limit: float, rounds: int = 4_000, piece: int = 200) -> None:
    """`choose` and `update` of `Auto`, all awake, and its compiled loop, in the dearest part of a run.

    That is early, while many of its readings have weight. The least CPU time of each part in several runs counts.
    """
    losses = (np.random.default_rng(1).random((rounds, n_arms)) < np.linspace(0.1, 0.9, n_arms)).astype(np.float64)
    found = []
    for seed in range(12):
        bandit = wk.Bandit(arms=n_arms, seed=seed)
        feedback = np.split(losses, rounds // piece)
        found.append([timed(partial(auto_run, bandit, part), time.thread_time) for part in feedback])
    dearest = np.min(found, axis=0).max() / piece * 1e6
    what = f"choose and update, Auto, K={n_arms}, its dearest {piece} | limit"
    print(ROW.format(what, f"{dearest:.1f} us", f"{limit:.0f} us", f"{dearest / limit:.2f}"))
    awake = np.ones(losses.shape, np.bool_)
    seconds = min(timed(lambda: wk.play(wk.Auto(), awake, losses, np.random.default_rng(0))) for _ in range(12))
    got, least = rounds / seconds, 150_000
    what = f"play loop, Auto, K={n_arms}, its first {rounds:,} rounds | limit"
    print(ROW.format(what, f"{got:,.0f} /s", f"{least:,} /s" if n_arms == 10 else "", f"{got / least:.2f}"))


def auto_run(bandit: wk.Bandit, losses: Floats) -> None:
    for row in losses:
        decision = bandit.choose()
        bandit.update(decision, loss=row[decision.arm])


def memory(n_arms: int = 10) -> None:
    """The state after ten and after a million rounds."""
    policy = wk.SIExp3()
    sizes = []
    for rounds in (10, 1_000_000):
        awake, losses = world(rounds, n_arms)
        state = policy.start(n_arms)
        wk.play(policy, awake, losses, np.random.default_rng(0), state)
        sizes.append(sum(array.nbytes for array in state))
    print(
        ROW.format(
            "state after 1,000,000 rounds | after 10", f"{sizes[1]} B", f"{sizes[0]} B", f"{sizes[1] / sizes[0]:.2f}"
        )
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(ROW.format("peak memory of this script, its worlds included", f"{peak:.0f} MiB", "", ""))


def start_up() -> None:
    """`import wakeful` beyond NumPy and Numba, and from nothing to a first decision; bytecode and code are on disk.

    The least CPU time of several starts, and beside it that of NumPy and Numba alone in the same minutes.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    codes = ("import numpy, numba", "import wakeful", "import wakeful as wk; wk.Bandit(arms=10, seed=0).choose()")
    starts = [partial(subprocess.run, [sys.executable, "-c", code], env=environment, check=True) for code in codes]
    alone, package, decision = np.min([[timed(s, cpu_of_children) for s in starts] for _ in range(12)], axis=0)
    rows = (
        ("import wakeful, beyond numpy and numba | 0.15 s", package - alone, 0.15),
        ("import and first decision | 0.6 s", decision, 0.6),
        ("import and first decision | import numpy, numba", decision, alone),
    )
    for what, seconds, limit in rows:
        print(ROW.format(what, f"{seconds:.2f} s", f"{limit:.2f} s", f"{seconds / limit:.2f}"))


def cpu_of_children() -> float:
    """Return the seconds that ended child processes have computed: on a busy machine, waiting is not their work."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cold_compile() -> None:
    """A first decision and its feedback in a process that finds no compiled code on disk."""
    for policy in ("SIExp3", "Auto"):
        code = f"import wakeful as wk; b = wk.Bandit(wk.{policy}(), 10, seed=0); b.update(b.choose(), loss=0.5)"
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            seconds = timed(partial(subprocess.run, [sys.executable, "-c", code], env=environment, check=True))
        what = f"first decision ever on a machine, {policy} | 15 s"
        print(ROW.format(what, f"{seconds:.2f} s", "15.00 s", f"{seconds / 15:.2f}"))


def world(rounds: int, n_arms: int) -> tuple[Mask, Floats]:
    """Each arm awake with probability one half, at least two of them; uniform losses."""
    rng = np.random.default_rng(1)
    awake = rng.random((rounds, n_arms)) < 0.5
    few = awake.sum(axis=1) < 2
    awake[few, :2] = True
    return awake, rng.random((rounds, n_arms))


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds `work` takes."""
    start = clock()
    work()
    return clock() - start


if __name__ == "__main__":
    main()
