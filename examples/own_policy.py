"""A policy of your own: the best awake arm so far, and now and then any other."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import wakeful as wk


class Means(NamedTuple):
    counts: Any
    losses: Any


@dataclass(frozen=True)
class EpsilonGreedy(wk.Policy):
    epsilon: float = 0.1

    def start(self, n_arms: int) -> Means:
        return Means(np.zeros(n_arms), np.zeros(n_arms))

    def probabilities(self, state: Means, awake: Any) -> Any:
        means = np.where(awake, state.losses / np.maximum(state.counts, 1), np.inf)
        best = means <= means.min() + 1e-12
        return self.epsilon * awake / awake.sum() + (1 - self.epsilon) * best / best.sum()

    def update(self, state: Means, decision: wk.Decision, loss: float) -> None:
        state.counts[decision.arm] += 1
        state.losses[decision.arm] += loss
