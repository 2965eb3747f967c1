"""Wakeful: decide among the options that are available right now, and learn from what happens."""

from wakeful import games, regret, relations, worlds
from wakeful.bandit import Bandit
from wakeful.duel import Duel
from wakeful.duel_index import RelativeMED, RelativeUCB, UniformPairs
from wakeful.duel_policy import DuelingPolicy, DuelKernels, Pick
from wakeful.duel_suite import check_dueling_policy
from wakeful.duel_thompson import DoubleThompson
from wakeful.dueling_bandit import DuelingBandit
from wakeful.entries import Kernels
from wakeful.exp3 import SBExp3, SIExp3
from wakeful.index import SleepingThompson, SleepingUCB, Uniform
from wakeful.lab import SimulationError, simulate
from wakeful.ordering import FixedOrdering, OrderingExp4
from wakeful.per_set import PerSet
from wakeful.play import play
from wakeful.policy import Decision, Guarantee, Policy
from wakeful.results import Results
from wakeful.sleeping_exp3 import SleepingExp3, SleepingExp3G
from wakeful.sparring import Sparring
from wakeful.stable_pair import StablePair
from wakeful.stationary import stationary
from wakeful.suite import check_policy
from wakeful.worlds import check_world

__version__ = "0.1.0"

__all__ = [
    "Bandit",
    "Decision",
    "DoubleThompson",
    "Duel",
    "DuelKernels",
    "DuelingBandit",
    "DuelingPolicy",
    "FixedOrdering",
    "Guarantee",
    "Kernels",
    "OrderingExp4",
    "PerSet",
    "Pick",
    "Policy",
    "RelativeMED",
    "RelativeUCB",
    "Results",
    "SBExp3",
    "SIExp3",
    "SimulationError",
    "SleepingExp3",
    "SleepingExp3G",
    "SleepingThompson",
    "SleepingUCB",
    "Sparring",
    "StablePair",
    "Uniform",
    "UniformPairs",
    "check_dueling_policy",
    "check_policy",
    "check_world",
    "games",
    "play",
    "regret",
    "relations",
    "simulate",
    "stationary",
    "worlds",
]
