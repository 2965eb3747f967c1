"""Levels of confidence, and how many standard errors an interval of a level reaches on each side."""

from typing import Any

from wakeful.inputs import must_be, real


def z_score(level: Any) -> float:
    """Return how many standard errors an interval of this level reaches on each side, if it is a level.

    >>> round(z_score(0.95), 3)
    1.96
    """
    rule = "between 0 and 1, both excluded"
    number = real("level", level, rule, 0.0, 1.0)
    if not 0.0 < number < 1.0:
        raise ValueError(must_be("level", rule, level))
    return normal_quantile(0.5 + 0.5 * number)


def normal_quantile(probability: float) -> float:
    """Return the number that a standard normal draw is below with this probability."""
    from statistics import NormalDist  # brings decimal and fractions, which no decision needs

    return NormalDist().inv_cdf(probability)
