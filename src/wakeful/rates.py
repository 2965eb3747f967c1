"""Learning rates: every schedule is a number divided by the square root of something counted.

eta_t = numerator / sqrt(count_t),  count_t = 1, rounds, awake arms so far, or the current epoch's length
"""

import math
from typing import Any, NamedTuple

import numpy as np

from wakeful.compile import kernel
from wakeful.entries import Floats, Ints
from wakeful.inputs import must_be, one_of, real

CONSTANT, ROUNDS, AWAKE, EPOCH = 0, 1, 2, 3  # what a schedule counts


class Rate(NamedTuple):
    """One schedule: `eta_t = numerator / sqrt(count_t)`; `exploration` is gamma_t / eta_t."""

    numerator: float
    counter: int
    exploration: float


def check_rate(eta: Any, exploration: Any, schedules: tuple[str, ...]) -> None:
    """Refuse an `eta` that is neither positive nor a known schedule, and a negative `exploration`."""
    if isinstance(eta, str):
        one_of("eta", eta, schedules)
    else:
        real("eta", eta, f"positive or one of {', '.join(map(repr, schedules))}", 0.0, above=True)
    real("exploration", exploration, "zero or positive", 0.0)


def check_horizon(eta: Any, horizon: Any) -> None:
    """Refuse a horizon below one, and one without the other."""
    if eta == "horizon":
        real("horizon", horizon, "a number of rounds, at least 1, with eta='horizon'", 1.0)
    elif horizon is not None:
        raise ValueError(must_be("horizon", f"None with eta={eta!r}; it belongs to eta='horizon'", horizon))


@kernel
def epoch(rounds: int) -> int:
    """Return the length of the doubling epoch that round `rounds` = 1, 2, ... is in: 1, 2, 2, 4, 4, 4, 4, 8."""
    length = 1
    while 2 * length <= rounds:
        length *= 2
    return length


@kernel
def rate_at(rate: Any, rounds: int, awake: int) -> float:
    """Return eta_t, t = `rounds`, after `awake` awake arms in all, both with the current round counted."""
    if rate.counter == CONSTANT:
        return float(rate.numerator)
    count = rounds
    if rate.counter == AWAKE:
        count = awake
    elif rate.counter == EPOCH:
        count = epoch(rounds)
    return float(rate.numerator / math.sqrt(max(count, 1)))


@kernel
def gibbs(losses: Floats, eta: float, awake: Ints, p: Floats) -> None:
    """Write p(i) proportional to exp(-eta losses(i)) into `p` for the `awake` arms."""
    least = np.inf
    for k in awake:
        least = min(least, losses[k])
    total = 0.0
    for k in awake:
        p[k] = math.exp(-eta * (losses[k] - least))
        total += p[k]
    for k in awake:
        p[k] /= total
