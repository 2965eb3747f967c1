"""What Theorem 1 says of a learning rate: the bound that its proof gives, the printed one, and the sharpened one."""

import math
from typing import NamedTuple

import numpy as np

from wakeful.entries import Floats
from wakeful.stationary import stationary

ARMS = (2, 3, 5, 10, 30, 100, 1000)


class Derived(NamedTuple):
    """Constants before `sqrt(log K sum |S_t|)`: what a rate gives by the proof, for some numbers of arms."""

    arms: tuple[int, ...]
    constants: Floats
    stated: float

    @property
    def answers(self) -> list[bool]:
        """For each number of arms, whether the proof gives the stated constant or less."""
        return [bool(constant <= self.stated + 1e-12) for constant in self.constants]


def derived(scale: float) -> Derived:
    """Return what the proof's last line gives for `eta^2 = scale log K / sum |S_t|`.

    That line is `E R(i -> j) <= log(K(K-1)) / eta + eta sum |S_t|`, and the theorem states `2 sqrt(2)`.

    >>> all(derived(2.0).answers)  # corrected
    True
    >>> derived(0.5).constants.round(2)  # as printed
    array([2.12, 3.01, 3.34, 3.47, 3.52, 3.53, 3.54])
    """
    found = [math.log(k * (k - 1)) / math.sqrt(scale) / math.log(k) + math.sqrt(scale) for k in ARMS]
    return Derived(ARMS, np.array(found), 2.0 * math.sqrt(2.0))


def printed_bound(rounds: float, n_arms: int, awake: float) -> float:
    """Return Theorem 1's bound, `2 sqrt(2 log K sum |S_t|)`, where `awake` arms are awake on average.

    >>> round(printed_bound(1000, 3, 9 / 4), 1)
    140.6
    """
    return 2.0 * math.sqrt(2.0 * math.log(n_arms) * awake * rounds)


def sharpened_bound(rounds: float, n_arms: int) -> float:
    """Return `2 sqrt(T log(K(K-1)))`: Theorem 1 without the number of awake arms, for `eta = sqrt(log(K(K-1)) / T)`.

    >>> round(sharpened_bound(1000, 3), 1)
    84.7
    """
    return 2.0 * math.sqrt(rounds * math.log(n_arms * (n_arms - 1)))


def fixed_point_error(n_arms: int, spread: float, rng: np.random.Generator) -> float:
    """Return by how much `p = sum q(i -> j) p^{i -> j}` is missed, for weights whose logarithms spread so far.

    Of `p^{i -> j}`, arm k has what it had, less `p(i)` if k is i and `p(i)` more if k is j.
    """
    logs = rng.normal(scale=spread, size=(n_arms, n_arms))
    np.fill_diagonal(logs, 0.0)
    p = stationary(logs)
    weights = np.exp(logs - logs.max())
    np.fill_diagonal(weights, 0.0)
    flow = p[:, np.newaxis] * weights / weights.sum()
    return float(np.abs(flow.sum(axis=0) - flow.sum(axis=1)).max())
