"""Worlds, which say which arms are awake and what they lose: the paper's, adversaries, games, logs, duels."""

from wakeful.worlds.adversaries import Ambush, Drifting, LateBloomer, Spiteful, SwitchingBest
from wakeful.worlds.availability import Cycling, LossDependentSleep, MarkovSleep
from wakeful.worlds.checks import check_world
from wakeful.worlds.counterexamples import ExternalNotOrdering, OrderingNotExternal
from wakeful.worlds.duel_checks import check_duel_world
from wakeful.worlds.duel_graphs import GraphDuels, PathDuels, SleepingDuels, StubbornPairs
from wakeful.worlds.duel_world import AdaptiveDuelRun, AdaptiveDuelWorld, DuelBlock, DuelWorld
from wakeful.worlds.duels import BradleyTerry, CategoryDuels, CyclicDuels, PlackettLuce, Preferences, UtilityDuels
from wakeful.worlds.opponents import BestResponse, NashOpponent
from wakeful.worlds.paper import Dependent, RandomDependent, RandomGame, RockPaperScissors, Stochastic
from wakeful.worlds.replay import Replay
from wakeful.worlds.self_play import SelfPlay, self_play
from wakeful.worlds.world import AdaptiveRun, AdaptiveWorld, Block, World

__all__ = [
    "AdaptiveDuelRun",
    "AdaptiveDuelWorld",
    "AdaptiveRun",
    "AdaptiveWorld",
    "Ambush",
    "BestResponse",
    "Block",
    "BradleyTerry",
    "CategoryDuels",
    "CyclicDuels",
    "Cycling",
    "Dependent",
    "Drifting",
    "DuelBlock",
    "DuelWorld",
    "ExternalNotOrdering",
    "GraphDuels",
    "LateBloomer",
    "LossDependentSleep",
    "MarkovSleep",
    "NashOpponent",
    "OrderingNotExternal",
    "PathDuels",
    "PlackettLuce",
    "Preferences",
    "RandomDependent",
    "RandomGame",
    "Replay",
    "RockPaperScissors",
    "SelfPlay",
    "SleepingDuels",
    "Spiteful",
    "Stochastic",
    "StubbornPairs",
    "SwitchingBest",
    "UtilityDuels",
    "World",
    "check_duel_world",
    "check_world",
    "self_play",
]
