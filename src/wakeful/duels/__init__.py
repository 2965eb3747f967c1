"""Policies that choose two arms for a duel: what every one must have, and one file for each.

Whoever imports one has all of them, so that a saved arena finds its policy by name.
"""

from wakeful.duels.auto_pairs import AutoPairs
from wakeful.duels.double_thompson import DoubleThompson
from wakeful.duels.relative_med import RelativeMED
from wakeful.duels.relative_ucb import RelativeUCB
from wakeful.duels.sparring import Sparring
from wakeful.duels.stable_pair import StablePair
from wakeful.duels.uniform_pairs import UniformPairs

__all__ = ["AutoPairs", "DoubleThompson", "RelativeMED", "RelativeUCB", "Sparring", "StablePair", "UniformPairs"]
