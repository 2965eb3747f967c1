"""What Theorem 1 says of a learning rate: the bound that its proof gives, the printed one, and the sharpened one."""

import math
from typing import NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats
from wakeful.numerics.stationary import stationary

ARMS = (2, 3, 5, 10, 30, 100, 1000)
MOST_ARMS_TRIED = 1000


class Derived(NamedTuple):
    """Constants before `sqrt(log K sum |S_t|)`: what a rate gives by the proof, for some numbers of arms."""

    arms: tuple[int, ...]
    constants: Floats
    stated: float

    @property
    def answers(self) -> list[bool]:
        """For each number of arms, whether the proof gives the stated constant or less."""
        return [bool(constant <= self.stated + 1e-12) for constant in self.constants]


def derived(scale: float, sharpened: bool = False, arms: tuple[int, ...] = ARMS) -> Derived:
    """Return what a proof gives for `eta^2 = scale log K / sum |S_t|`, where all arms are awake.

    The printed proof ends with `E R(i -> j) <= log(K(K-1)) / eta + eta sum |S_t|`, the sharpened one with `log(K(K-1))
    / eta + eta T`, and the theorem states `2 sqrt(2)`.

    >>> all(derived(2.0).answers)  # the corrected rate
    True
    >>> derived(0.5).constants.round(2)  # the printed rate, by the printed proof
    array([2.12, 3.01, 3.34, 3.47, 3.52, 3.53, 3.54])
    >>> derived(0.5, sharpened=True).constants.round(2)  # by the sharpened one
    array([1.77, 2.54, 2.77, 2.83, 2.84, 2.83, 2.83])
    """
    stated = 2.0 * math.sqrt(2.0)
    return Derived(arms, np.array([stated * excess(scale, k, k if sharpened else 1.0) for k in arms]), stated)


def excess(scale: float, n_arms: int, awake: float, second: float = 1.0) -> float:
    """Return the bound that the sharpened proof gives for a rate, over the printed bound of Theorem 1.

    For `eta^2 = scale log K / sum |S_t|` the bound is `log(K(K-1)) / eta + second eta T`; over `2 sqrt(2 log K sum
    |S_t|)` that is `log(K(K-1)) / (sqrt(8 scale) log K) + second sqrt(scale / 8) T / sum |S_t|`. For the printed rate,
    `scale = 1/2`, it is `log(K(K-1)) / (2 log K) + second T / (4 sum |S_t|)`.

    Parameters:
        scale: of the rate
        n_arms: K
        awake: sum |S_t| / T
        second: the factor of the squares; 1, or e - 2 where eta <= 1

    >>> round(excess(0.5, 8, 8.0), 4), round(excess(0.5, 9, 9.0), 4)  # all of eight arms awake, or all of nine
    (0.9991, 1.001)
    """
    log = math.log(n_arms)
    return math.log(n_arms * (n_arms - 1)) / (math.sqrt(8.0 * scale) * log) + second * math.sqrt(scale / 8.0) / awake


def proved_up_to(scale: float, second: float = 1.0) -> int:
    """Return the K up to which the sharpened proof gives the printed bound for a rate, where all arms are awake.

    >>> proved_up_to(0.5), proved_up_to(0.5, math.e - 2.0)
    (8, 17)
    """
    return next((k - 1 for k in range(2, MOST_ARMS_TRIED) if excess(scale, k, k, second) > 1.0), MOST_ARMS_TRIED)


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
