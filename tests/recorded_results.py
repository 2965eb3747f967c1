"""Results of every policy and every world at fixed seeds, as digests; run as a program, it records them anew.

Record them again only when results are meant to change, and say so in the changelog.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import wakeful as wk
from duel_cases import CASES as DUEL_CASES
from policy_cases import CASES
from wakeful import worlds

RECORD = Path(__file__).parent / "data" / "results.json"
WORLDS = (
    worlds.Stochastic(6),
    worlds.Dependent(),
    worlds.RockPaperScissors(),
    worlds.RandomDependent(),
    worlds.RandomGame(),
    worlds.SwitchingBest(),
    worlds.LateBloomer(change=60),
    worlds.Ambush(change=60),
    worlds.Drifting(),
    worlds.Cycling(),
    worlds.MarkovSleep(),
    worlds.LossDependentSleep(),
    worlds.ExternalNotOrdering(),
    worlds.OrderingNotExternal(),
    worlds.Spiteful(4),
    worlds.NashOpponent(wk.games.rock_paper_scissors()),
    worlds.BestResponse(wk.games.rock_paper_scissors()),
    worlds.Replay(np.ones((150, 2), np.bool_), np.tile([0.25, 0.5], (150, 1))),
)
DUEL_WORLDS = (
    worlds.UtilityDuels(),
    worlds.CategoryDuels(),
    worlds.PlackettLuce((4.0, 3.0, 2.0, 1.0)),
    worlds.BradleyTerry((0.7, 0.4, 0.2, 0.1)),
    worlds.CyclicDuels(),
    worlds.PathDuels(),
    worlds.SleepingDuels(),
    worlds.GraphDuels(),
    worlds.StubbornPairs(),
    worlds.Preferences(((0.5, 0.7), (0.3, 0.5))),
)


def pairs() -> Iterator[tuple[Any, Any]]:
    """Yield what is played: every policy in one world, and every world with one policy."""
    yield from ((case.policy, worlds.Stochastic(5)) for case in CASES)
    yield from ((wk.SIExp3(), world) for world in WORLDS)
    yield from ((case.policy, worlds.UtilityDuels(5)) for case in DUEL_CASES)
    yield from ((wk.Sparring(), world) for world in DUEL_WORLDS)


def digest(policy: Any, world: Any) -> str:
    """Return a digest of all regrets of a short simulation, to the last bit."""
    results = wk.simulate(policy, world, rounds=150, runs=2, seed=11, jobs=1)
    found = hashlib.sha256()
    for name, curves in sorted(results.regrets.items()):
        found.update(name.encode() + curves.tobytes())
    return found.hexdigest()[:16]


def key(policy: Any, world: Any) -> str:
    """Return the name of a record."""
    return f"{policy!r} in {world!r}"


if __name__ == "__main__":
    RECORD.write_text(json.dumps({key(*pair): digest(*pair) for pair in pairs()}, indent=1) + "\n")
