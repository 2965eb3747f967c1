"""A policy whose kernel writes numbers that are no probabilities."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import wakeful as wk
from own_policy import Means


def bad_law(parameters: Any, state: Any, awake: Any, p: Any) -> None:
    p[awake] = 1.0


def no_learning(parameters: Any, state: Any, awake: Any, p: Any, arm: int, memo: float, loss: float) -> None:
    pass


@dataclass(frozen=True)
class Invalid(wk.Policy):
    """Its kernel is plain Python and writes numbers that sum to more than one."""

    kernels = wk.Kernels(bad_law, no_learning)

    def start(self, n_arms: int) -> Means:
        return Means(np.zeros(n_arms), np.zeros(n_arms))
