"""Learning rates: every schedule is a number divided by the square root of a count.

eta_t = numerator / sqrt(count_t),  count_t = 1, rounds, awake arms so far, or the current epoch's length
"""

import math
from typing import Any, NamedTuple

import numpy as np

from wakeful.inputs import must_be, one_of, real
from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exp
from wakeful.policies.state_ranges import Range

CONSTANT, ROUNDS, AWAKE, EPOCH = 0, 1, 2, 3  # what a schedule counts
SMALLEST_RATE = 5e-324  # the least positive number
LARGEST_RATE = 1e100  # also of exploration: times any sum of losses that a run can reach, this is still finite


class Rate(NamedTuple):
    """One schedule: `eta_t = numerator / sqrt(count_t)`; `exploration` is gamma_t / eta_t."""

    numerator: float
    counter: int
    exploration: float


def checked_eta(eta: Any, schedules: tuple[str, ...]) -> float | str:
    """Return `eta` if it is positive or a known schedule."""
    if isinstance(eta, str):
        return one_of("eta", eta, schedules)
    rule = f"a positive number or one of {', '.join(map(repr, schedules))}"
    return real("eta", eta, rule, 0.0, LARGEST_RATE, above=True)


def checked_exploration(exploration: Any) -> float:
    """Return `exploration` if it is not negative, nor so large that a memo could be infinite."""
    return real("exploration", exploration, f"a number, zero or positive, at most {LARGEST_RATE:g}", 0.0, LARGEST_RATE)


def checked_factor(name: str, value: Any) -> float:
    """Return a factor of a rate or a width if it is positive, and not so large that a product could be infinite."""
    return real(name, value, f"positive, at most {LARGEST_RATE:g}", 0.0, LARGEST_RATE, above=True)


def checked_horizon(eta: Any, horizon: Any) -> float | None:
    """Return `horizon` if it is at least one with `eta="horizon"`, and None otherwise."""
    if eta == "horizon":
        return real("horizon", horizon, "a number of rounds, at least 1, with eta='horizon'", 1.0)
    if horizon is not None:
        raise ValueError(must_be("horizon", f"None with eta={eta!r}; it belongs to eta='horizon'", horizon))
    return None


def rates_of(rate: Rate) -> Range:
    """Return the rates that a memo may hold: any positive one, since policies that differ in eta share feedback."""
    if rate.counter == EPOCH:
        return Range(0.0, LARGEST_RATE)  # any rate; feedback with another rate than the state's is dropped
    return Range(SMALLEST_RATE, LARGEST_RATE)


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
    count = 1
    if rate.counter == ROUNDS:
        count = rounds
    elif rate.counter == AWAKE:
        count = max(awake, 1)
    elif rate.counter == EPOCH:
        count = epoch(rounds)
    return float(rate.numerator / math.sqrt(count))


@kernel
def gibbs(losses: Floats, eta: float, awake: Ints, p: Floats) -> None:
    """Write p(i) proportional to exp(-eta losses(i)) into `p` for the `awake` arms."""
    least = np.inf
    for k in awake:
        least = min(least, losses[k])
    total = 0.0
    for k in awake:
        p[k] = exp(-eta * (losses[k] - least))
        total += p[k]
    for k in awake:
        p[k] /= total
