"""Where awake sets and losses come from: the paper's worlds, adversaries, games, logs, and yours."""

from wakeful.worlds.adversaries import Drifting, Spiteful, SwitchingBest
from wakeful.worlds.availability import Cycling, LossDependentSleep, MarkovSleep
from wakeful.worlds.checks import check_world
from wakeful.worlds.counterexamples import ExternalNotOrdering, OrderingNotExternal
from wakeful.worlds.opponents import BestResponse, NashOpponent
from wakeful.worlds.paper import Dependent, RandomDependent, RandomGame, RockPaperScissors, Stochastic
from wakeful.worlds.replay import Replay
from wakeful.worlds.self_play import SelfPlay, self_play
from wakeful.worlds.world import AdaptiveRun, AdaptiveWorld, Block, World

__all__ = [
    "AdaptiveRun",
    "AdaptiveWorld",
    "BestResponse",
    "Block",
    "Cycling",
    "Dependent",
    "Drifting",
    "ExternalNotOrdering",
    "LossDependentSleep",
    "MarkovSleep",
    "NashOpponent",
    "OrderingNotExternal",
    "RandomDependent",
    "RandomGame",
    "Replay",
    "RockPaperScissors",
    "SelfPlay",
    "Spiteful",
    "Stochastic",
    "SwitchingBest",
    "World",
    "check_world",
    "self_play",
]
