"""Strengths from duels beside choix: the same numbers where both apply, the time of both, and coverage of intervals.

Run: python benchmarks/strengths.py (needs choix: pip install 'wakeful[bench]')
"""

import itertools
import time
from collections.abc import Callable
from typing import Any

import choix
import numpy as np
from numpy.typing import NDArray

from wakeful.bandits.bradley_terry import SIDED, STRENGTH_PRIOR, UNSIDED, PairResults, fit_strengths, merged
from wakeful.bandits.ranking import ranking

DATA_SETS = 1_000


def timed(run: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """Return what `run` returns, and the least CPU time it took."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        found = run()
        times.append(time.process_time() - begin)
    return found, min(times)


def beside_choix(n_arms: int, duels: int, repeats: int = 3) -> None:
    """Print how far apart both are and how long each took; choix penalises by alpha |s|^2, the prior by half of it."""
    rng = np.random.default_rng(n_arms)
    truth = rng.normal(size=n_arms)
    first = rng.integers(0, n_arms, duels)
    second = (first + rng.integers(1, n_arms, duels)) % n_arms
    won = (rng.random(duels) < 1.0 / (1.0 + np.exp(truth[second] - truth[first]))).astype(np.float64)
    results = PairResults(first, second, won, 1.0 - won, np.zeros(duels), np.full(duels, UNSIDED))
    data = np.where(won[:, np.newaxis] > 0, np.stack([first, second], 1), np.stack([second, first], 1)).tolist()
    ours, our_time = timed(lambda: fit_strengths(results, n_arms).values[:n_arms], repeats)
    alpha = 0.5 / STRENGTH_PRIOR**2
    theirs, their_time = timed(lambda: choix.opt_pairwise(n_arms, data, alpha=alpha, tol=1e-12), 1)
    gap = np.abs(ours - theirs).max()
    print(f"{n_arms:5} arms, {duels:6} duels: largest difference {gap:.1e}; {our_time:.3f} s, choix {their_time:.3f} s")


def drawn(rng: np.random.Generator, truth: NDArray[np.float64], side: float, v: float, n: int) -> PairResults:
    """Return n duels of every ordered pair, drawn by Davidson's model, the first arm on the left."""
    first, second = np.array(list(itertools.permutations(range(truth.size), 2))).T
    gap = truth[first] - truth[second] + side
    weights = np.array([np.exp(gap / 2), np.exp(-gap / 2), np.full(first.size, v)])
    counts = rng.multinomial(n, (weights / weights.sum(axis=0)).T).astype(np.float64)
    return PairResults(first, second, counts[:, 0], counts[:, 1], counts[:, 2], np.full(first.size, SIDED))


def halved(results: PairResults) -> PairResults:
    """Return the same results with half a win for each arm in place of a tie, and without sides."""
    half = results.ties / 2.0
    kinds = np.full(half.size, UNSIDED)
    wins = results.first_wins + half, results.second_wins + half
    return PairResults(results.first, results.second, *wins, 0.0 * half, kinds)


def coverage(n_arms: int, n: int, side: float, v: float) -> None:
    """Print how often 95 % intervals held the strengths and the ranks, with ties as they are and as half-wins."""
    rng = np.random.default_rng(1)
    held = np.zeros((DATA_SETS, 3))
    for row in held:
        truth = rng.normal(size=n_arms) * 0.7
        truth -= truth.mean()
        places = np.argsort(np.argsort(-truth)) + 1
        results = merged(drawn(rng, truth, side, v, n), n_arms)
        found, shared = ranking(range(n_arms), results), ranking(range(n_arms), halved(results))
        row[0] = np.mean([rank.low <= truth[rank.arm] <= rank.high for rank in found])
        row[1] = np.mean([rank.best_rank <= places[rank.arm] <= rank.worst_rank for rank in found])
        row[2] = np.mean([rank.low <= truth[rank.arm] <= rank.high for rank in shared])
    texts = [
        f"{100 * x:.1f} % ({100 * e:.1f})" for x, e in zip(held.mean(0), held.std(0) / DATA_SETS**0.5, strict=True)
    ]
    print(f"{n_arms:5} arms, {n} duels of each ordered pair, side effect {side}, ties v = {v}:", end=" ")
    print(f"strengths {texts[0]}, ranks {texts[1]}, strengths by half-wins {texts[2]}")


def main() -> None:
    print("Strengths without ties and sides, beside choix.opt_pairwise with the same prior (CPU time)")
    beside_choix(10, 1_000)
    beside_choix(50, 5_000)
    beside_choix(300, 50_000)
    print(f"Coverage of 95 % intervals over {DATA_SETS:,} data sets (standard error)")
    for n_arms, n, side, v in (
        (8, 10, 0.0, 0.0),
        (8, 10, 0.0, 1.4),
        (8, 10, 0.5, 1.4),
        (8, 20, 0.0, 1.4),
        (20, 2, 0.3, 0.7),
    ):
        coverage(n_arms, n, side, v)


if __name__ == "__main__":
    main()
