"""How much it matters on which side of a duel an arm is shown."""

import math
from typing import NamedTuple

SPREAD = 1.959963984540054  # standard errors on each side of a 95 % interval


class SideEffect(NamedTuple):
    """How often the arm on the left won, between `low` and `high` with 95 % confidence, in so many duels."""

    left: float
    low: float
    high: float
    duels: int

    def __str__(self) -> str:
        """Say it in a sentence."""
        share, low, high = (f"{100 * x:.1f}" for x in self[:3])
        return f"The arm on the left won {share} % of {self.duels:,} duels (95 %: {low} to {high} %)."


def side_effect(left_wins: float, duels: int) -> SideEffect:
    """Return the share of duels that the left arm won, with Wilson's interval; ties count one half.

    >>> print(side_effect(2_200.0, 4_000))
    The arm on the left won 55.0 % of 4,000 duels (95 %: 53.5 to 56.5 %).
    """
    if duels == 0:
        return SideEffect(0.5, 0.0, 1.0, 0)
    share, square = left_wins / duels, SPREAD**2 / duels
    middle = (share + square / 2.0) / (1.0 + square)
    radius = math.sqrt(share * (1.0 - share) * square + square**2 / 4.0) / (1.0 + square)
    return SideEffect(share, max(middle - radius, 0.0), min(middle + radius, 1.0), duels)
