"""Random histories of play: who was awake, what was lost, what was chosen."""

from typing import Any

import numpy as np
from hypothesis import strategies as some

from reference import regret as literal
from wakeful import regret
from wakeful.regret.tally import REGRETS

NAN, INF = float("nan"), float("inf")
EITHER = (ValueError, TypeError)


@some.composite
def histories(draw: Any, most_arms: int = 5) -> tuple[list[list[bool]], list[list[float]], list[int]]:
    """Awake sets, some of them empty; losses whose sums are exact, NaN for sleepers; arms that were awake."""
    n_arms = draw(some.integers(1, most_arms))
    flags = some.lists(some.booleans(), min_size=n_arms, max_size=n_arms)
    awake: list[list[bool]] = draw(some.lists(flags, min_size=1, max_size=12))
    share = some.integers(0, 64).map(lambda n: n / 64)
    losses = [[draw(share) if up else NAN for up in row] for row in awake]
    choices = [draw(some.sampled_from([k for k in range(n_arms) if row[k]] or [-1])) for row in awake]
    return awake, losses, choices


TWO = [[True, True], [True, False]]
HALF = [[0.5, 0.5], [0.5, 0.5]]
BAD: list[tuple[str, Any, Any, Any]] = [
    ("awake", [[1, 1], [1, 0]], HALF, [0, 0]),
    ("awake", [[1.0, 1.0], [1.0, 0.0]], HALF, [0, 0]),
    ("awake", [True, True], HALF, [0, 0]),
    ("awake", [TWO], [HALF], [0]),
    ("awake", [[True], [True, False]], HALF, [0, 0]),
    ("awake", None, HALF, [0, 0]),
    ("awake", "yes", HALF, [0, 0]),
    ("losses", TWO, [[0.5, 0.5]], [0, 0]),
    ("losses", TWO, [0.5, 0.5], [0, 0]),
    ("losses", TWO, [[0.5], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, [[NAN, 0.5], [0.5, 0.5]], [1, 0]),
    ("losses", TWO, [[0.5, NAN], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, [[-INF, 0.5], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, [["x", 0.5], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, [[10**400, 0.5], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, np.array([[1j, 0.5], [0.5, 0.5]]), [0, 0]),
    ("losses", TWO, None, [0, 0]),
    ("choices", TWO, HALF, [0]),
    ("choices", TWO, HALF, [0, 0, 0]),
    ("choices", TWO, HALF, [[0, 0]]),
    ("choices", TWO, HALF, [0.0, 0.0]),
    ("choices", TWO, HALF, [True, True]),
    ("choices", TWO, HALF, ["0", "0"]),
    ("choices", TWO, HALF, None),
    ("choices", TWO, HALF, [0, 1]),
    ("choices", TWO, HALF, [-1, 0]),
    ("choices", TWO, HALF, [-2, 0]),
    ("choices", TWO, HALF, [2, 0]),
    ("choices", TWO, HALF, [2**63, 0]),
    ("choices", TWO, HALF, [2**64 - 1, 0]),
    ("choices", TWO, HALF, [2**80, 0]),
]


def scalars(history: Any) -> dict[str, float]:
    """Every regret as one number, by its definition where there is no search, else by its function."""
    internal = np.array(literal.internal(*history)) if len(history[0]) else np.zeros((1, 1))
    swap = internal.max(axis=1).sum()
    best = regret.ordering(*history).value, regret.policy(*history).value
    return dict(zip(REGRETS, (internal.max(), internal.sum(axis=0).max(), swap, *best), strict=True))


def drawn(rng: np.random.Generator, rounds: int, n_arms: int) -> tuple[Any, Any, Any]:
    """A long history whose sums are exact."""
    awake = rng.random((rounds, n_arms)) < 0.5
    choices = np.where(awake.any(axis=1), (awake * rng.random(awake.shape)).argmax(axis=1), -1)
    return awake, rng.integers(65, size=awake.shape) / 64, choices
