"""Regrets of bandits and duels, in hindsight: against the best switch, arm, ordering or policy."""

from wakeful.regret.bandit import (
    BestOrdering,
    BestPolicy,
    BestSwap,
    Bounds,
    bound,
    curve,
    external,
    internal,
    ordering,
    policy,
    swap,
)
from wakeful.regret.duel import DuelRegret, condorcet, dueling, sleeping_dueling, theorem_two, theorem_two_sharpened
from wakeful.regret.tally import REGRETS, Tally

__all__ = [
    "REGRETS",
    "BestOrdering",
    "BestPolicy",
    "BestSwap",
    "Bounds",
    "DuelRegret",
    "Tally",
    "bound",
    "condorcet",
    "curve",
    "dueling",
    "external",
    "internal",
    "ordering",
    "policy",
    "sleeping_dueling",
    "swap",
    "theorem_two",
    "theorem_two_sharpened",
]
