"""Wakeful: decide among the options that are available right now, and learn from what happens."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wakeful.bandits.bandit import Bandit
from wakeful.numerics.stationary import stationary
from wakeful.policies.auto import Auto
from wakeful.policies.decision import Decision
from wakeful.policies.kernels import Kernels
from wakeful.policies.orderings import FixedOrdering, OrderingExp4
from wakeful.policies.per_set import PerSet
from wakeful.policies.play import play
from wakeful.policies.policy import Guarantee, Policy
from wakeful.policies.sb_exp3 import SBExp3
from wakeful.policies.si_exp3 import SIExp3
from wakeful.policies.sleeping_exp3 import SleepingExp3, SleepingExp3G
from wakeful.policies.thompson import SleepingThompson
from wakeful.policies.ucb import SleepingUCB
from wakeful.policies.uniform import Uniform

if TYPE_CHECKING:
    from wakeful import regret, worlds
    from wakeful.bandits.dueling_bandit import DuelingBandit
    from wakeful.checks.dueling_policy import check_dueling_policy
    from wakeful.checks.policy import check_policy
    from wakeful.duels import (
        AutoPairs,
        DoubleThompson,
        RelativeMED,
        RelativeUCB,
        Sparring,
        StablePair,
        UniformPairs,
    )
    from wakeful.duels.duel import Duel
    from wakeful.duels.kernels import DuelKernels, Pick
    from wakeful.duels.policy import DuelingPolicy
    from wakeful.lab.results import Results
    from wakeful.lab.simulate import SimulationError, simulate
    from wakeful.lab.world_results import WorldResults
    from wakeful.logs.log import Log
    from wakeful.off_policy.evaluate import evaluate
    from wakeful.off_policy.evaluation import Evaluation
    from wakeful.regret import relations
    from wakeful.service.client import AsyncClient, Client
    from wakeful.worlds import check_world, games

__version__ = "0.1.0"

__all__ = [
    "AsyncClient",
    "Auto",
    "AutoPairs",
    "Bandit",
    "Client",
    "Decision",
    "DoubleThompson",
    "Duel",
    "DuelKernels",
    "DuelingBandit",
    "DuelingPolicy",
    "Evaluation",
    "FixedOrdering",
    "Guarantee",
    "Kernels",
    "Log",
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
    "WorldResults",
    "check_dueling_policy",
    "check_policy",
    "check_world",
    "evaluate",
    "games",
    "play",
    "regret",
    "relations",
    "simulate",
    "stationary",
    "worlds",
]

# What a decision does not need, by the module that has it: imported when it is first used.
_LATER = {
    "AsyncClient": "service.client",
    "AutoPairs": "duels",
    "Client": "service.client",
    "DoubleThompson": "duels",
    "Duel": "duels.duel",
    "DuelKernels": "duels.kernels",
    "DuelingBandit": "bandits.dueling_bandit",
    "DuelingPolicy": "duels.policy",
    "Evaluation": "off_policy.evaluation",
    "Log": "logs.log",
    "Pick": "duels.kernels",
    "RelativeMED": "duels",
    "RelativeUCB": "duels",
    "Results": "lab.results",
    "SimulationError": "lab.simulate",
    "Sparring": "duels",
    "StablePair": "duels",
    "UniformPairs": "duels",
    "WorldResults": "lab.world_results",
    "check_dueling_policy": "checks.dueling_policy",
    "check_policy": "checks.policy",
    "check_world": "worlds.checks",
    "evaluate": "off_policy.evaluate",
    "games": "worlds.games",
    "regret": "regret",
    "relations": "regret.relations",
    "simulate": "lab.simulate",
    "worlds": "worlds",
}


def __getattr__(name: str) -> Any:
    """Import what is used for the first time; from then on it is found without this function."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_LATER[name]}")
    value = globals()[name] = getattr(module, name, module)
    return value


def __dir__() -> list[str]:
    """List the public names, also those that were not used yet."""
    return sorted({*globals(), *__all__})
