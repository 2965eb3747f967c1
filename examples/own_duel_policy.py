"""A dueling policy of your own: the arm with the best record, against the rival that beats it most."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import wakeful as wk


class Wins(NamedTuple):
    wins: Any  # (K, K): how often the row's arm beat the column's


@dataclass(frozen=True)
class GreedyDuels(wk.DuelingPolicy):
    epsilon: float = 0.1

    def start(self, n_arms: int, size: int = 2) -> Wins:
        return Wins(np.zeros((n_arms, n_arms)))

    def law(self, state: Wins, pairs: Any, awake: Any, chosen: Any, coin: float, p: Any) -> None:
        rivals = chosen if chosen.size else awake
        won, lost = state.wins[np.ix_(awake, rivals)].sum(axis=1), state.wins[np.ix_(rivals, awake)].sum(axis=0)
        record = (won + 1) / (won + lost + 2)
        best = record >= record.max() - 1e-12
        p[awake] = self.epsilon / awake.size + (1 - self.epsilon) * best / best.sum()

    def learn(self, state: Wins, pick: wk.Pick, shares: Any) -> None:
        for m, arm in enumerate(pick.arms):
            state.wins[arm, np.delete(pick.arms, m)] += shares[m]
