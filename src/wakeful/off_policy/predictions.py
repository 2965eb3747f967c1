"""Predictions of the loss of every arm, each from the rows before: the means of its losses so far."""

import numpy as np

from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import call_compiled

STRENGTH = 1.0  # rows of the mean of all losses that are added to the mean of an arm


class ArmMeans:
    """Counts and sums of the losses of each arm so far.

    >>> means = ArmMeans(2)
    >>> means.predict(np.array([0, 0, 1]), np.array([1.0, 0.0, 0.5])).round(3)
    array([[0.5  , 0.5  ],
           [0.875, 0.75 ],
           [0.5  , 0.5  ]])
    """

    def __init__(self, n_arms: int) -> None:
        self._sums = np.zeros((2, n_arms + 1))  # counts and losses; the last column is for all arms together

    def predict(self, arms: Ints, losses: Floats) -> Floats:
        """Return the predictions of all arms before each row, (T, K), and learn from the rows."""
        table = np.empty((arms.size, self._sums.shape[1] - 1))
        call_compiled(_predict, arms, losses, self._sums, table)
        return table


def _predict(arms: Ints, losses: Floats, sums: Floats, table: Floats) -> None:
    """Fill the table row by row."""
    n_arms = table.shape[1]
    for t in range(arms.size):
        usual = (sums[1, n_arms] + 0.5) / (sums[0, n_arms] + 1.0)
        for k in range(n_arms):
            table[t, k] = (sums[1, k] + STRENGTH * usual) / (sums[0, k] + STRENGTH)
        for k in (arms[t], n_arms):
            sums[0, k] += 1.0
            sums[1, k] += losses[t]
