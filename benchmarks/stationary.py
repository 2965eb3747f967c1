"""How fast the stationary distribution is computed: against `numpy.linalg.solve`, and called from compiled code."""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wakeful.numerics.compile import kernel
from wakeful.numerics.stationary import solve, stationary

Floats = NDArray[np.float64]


@kernel
def repeat(log_weights: Floats, law: Floats, times: int) -> None:
    """Solve copies of the same chain again and again, leaving its distribution in `law`."""
    room = np.empty_like(log_weights)
    for _ in range(times):
        room[:] = log_weights
        solve(room, law)


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def whole_calls(n: int, rounds: int) -> tuple[float, float, float]:
    """Median seconds of `stationary`, of `solve`, and of `numpy.linalg.solve` on the same chain, by turns."""
    log_weights = np.random.default_rng(n).standard_normal((n, n))
    law, last = np.empty(n), np.eye(n)[-1]
    generator = np.exp(log_weights.T)
    np.fill_diagonal(generator, 0.0)
    np.fill_diagonal(generator, -generator.sum(axis=0))
    generator[-1] = 1.0
    tasks: list[Callable[[], object]] = [
        lambda: stationary(log_weights),
        lambda: solve(log_weights.copy(), law),
        lambda: np.linalg.solve(generator, last),
    ]
    for task in tasks:
        task()
    times = np.array([[seconds(task) for task in tasks] for _ in range(rounds)])
    ours, loops, numpy = np.median(times, axis=0)
    return float(ours), float(loops), float(numpy)


def inside(n: int, sd: float) -> float:
    """Least seconds for one `solve` called from a compiled loop."""
    log_weights = sd * np.random.default_rng(n).standard_normal((n, n))
    law = np.empty(n)
    repeat(log_weights, law, 1)
    times = max(1, 2_000_000 // n**3)
    return min(seconds(lambda: repeat(log_weights, law, times)) for _ in range(9)) / times


def main() -> None:
    print(f"first call, compiling: {seconds(lambda: solve(np.zeros((5, 5)), np.empty(5))):.1f} s")
    print("\n     n   stationary        solve    numpy.linalg.solve   stationary / numpy")
    for n, rounds in ((100, 101), (300, 51), (500, 31), (1000, 21)):
        ours, loops, numpy = whole_calls(n, rounds)
        print(f"{n:6d} {1e3 * ours:9.2f} ms {1e3 * loops:9.2f} ms {1e3 * numpy:18.2f} ms {ours / numpy:20.2f}")
    print("\n     n   inside compiled code   log-domain fallback")
    for n in (2, 3, 4, 5, 10, 20, 50):
        wide = f"{1e6 * inside(n, 1000.0):18.3f} us" if n > 3 else "none needed".rjust(21)
        print(f"{n:6d} {1e6 * inside(n, 2.0):19.3f} us {wide}")


if __name__ == "__main__":
    main()
