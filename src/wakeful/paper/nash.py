"""The paper's question on games: does SI-EXP3 find the Nash equilibrium of every sub-game?

In self-play two learners meet, each seeing its own loss only; against the Nash opponent one learner meets somebody who
plays the equilibrium already. How far from it the average play is, is its exploitability, for each sub-game.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from wakeful.lab.progress import Progress
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.paper.experiments import EXP3G, IX, OURS, PAPERS, SI, UCB
from wakeful.paper.settings import Settings
from wakeful.policies.play import play
from wakeful.policies.policy import Policy
from wakeful.worlds import NashOpponent, self_play
from wakeful.worlds.draws import awake_sets
from wakeful.worlds.games import Game, gaps, random_game, rock_paper_scissors
from wakeful.worlds.paper import PAIRS_AND_ALL

PLAYERS: dict[str, Policy] = {name: (PAPERS | OURS)[name] for name in (SI, IX, UCB, EXP3G)}
ACTIONS = ("Rock", "Paper", "Scissors")
GAME_SIZE, N_SETS = 5, 4  # of the random games
FOUND = ("self", "random", "nash", "regret", "share")  # what is kept of a policy, in the order of `Exploited`


class Exploited(NamedTuple):
    """How much the average play of each policy can be exploited."""

    rounds: Ints  # (C,), checkpoints
    sub_games: tuple[str, ...]  # of Rock-Paper-Scissors
    self_play: dict[str, Floats]  # policy: (runs, C, sub-games)
    random_games: dict[str, Floats]  # policy: (runs, C), the mean over the sub-games of a random game
    against_nash: dict[str, Floats]  # policy: (runs, C, sub-games), what the learner alone can lose
    regret: dict[str, Floats]  # policy: (runs, C), policy regret against the Nash opponent
    paper_share: dict[str, Floats]  # policy: (runs,), of Paper in {Rock, Paper}, second half, against the Nash opponent
    seed: int


def run_study(settings: Settings, progress: Progress | None = None) -> Exploited:
    """Let every player play itself and the Nash opponent."""
    rounds, runs = settings.size(100_000, 20_000), settings.runs or settings.size(10, 4)
    marks = np.unique(np.geomspace(50, rounds, 24).astype(np.int64))

    def study(policy: Policy) -> Any:
        about = {"study": "nash", "policy": repr(policy), "rounds": rounds, "runs": runs}
        return settings.kept(about, lambda: _studied(policy, runs, rounds, marks, settings.seed))

    found: dict[str, dict[str, Floats]] = {name: {} for name in FOUND}
    with ThreadPoolExecutor(settings.jobs) as threads:
        for n, (name, arrays) in enumerate(zip(PLAYERS, threads.map(study, PLAYERS.values()), strict=True), 1):
            for key, own in found.items():
                own[name] = arrays[key]
            if progress is not None:
                progress(n, len(PLAYERS))
    sub_games = tuple(" or ".join(ACTIONS[k] for k in members) for members in PAIRS_AND_ALL)
    own_play, random, nash, regret, share = (found[key] for key in FOUND)
    return Exploited(marks, sub_games, own_play, random, nash, regret, share, settings.seed)


def _studied(policy: Policy, runs: int, rounds: int, marks: Ints, seed: int) -> dict[str, Any]:
    """Return the exploitabilities of one policy in all runs."""
    masks = _masks(PAIRS_AND_ALL, 3)
    game = rock_paper_scissors()
    kept: dict[str, list[Any]] = {name: [] for name in FOUND}
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        kept["self"].append(_self_play(game, policy, masks, rounds, marks, rng))
        other = random_game(GAME_SIZE, rng)
        sets = awake_sets(rng, N_SETS, GAME_SIZE, smallest=2)
        kept["random"].append(_self_play(other, policy, sets, rounds, marks, rng).mean(axis=1))
        for key, value in zip(
            ("nash", "regret", "share"), _against_nash(game, policy, rounds, marks, rng), strict=True
        ):
            kept[key].append(value)
    return {name: np.array(values) for name, values in kept.items()}


def _self_play(game: Game, policy: Policy, masks: Mask, rounds: int, marks: Ints, rng: np.random.Generator) -> Floats:
    """Return the exploitability (C, sub-games) of a policy's average play against itself, in the order of `masks`."""
    awake = masks[rng.integers(len(masks), size=rounds)]
    found = self_play(game, policy, policy, awake, int(rng.integers(2**32)), checkpoints=marks)
    places = [int(np.flatnonzero((found.awake_rows == mask).all(axis=1))[0]) for mask in masks]
    values: Floats = found.exploitability[:, places]
    return values


def _against_nash(
    game: Game, policy: Policy, rounds: int, marks: Ints, rng: np.random.Generator
) -> tuple[Floats, Floats, float]:
    """Return how far the learner's average play is from equilibrium, its policy regret, and its share of Paper."""
    masks = _masks(PAIRS_AND_ALL, 3)
    block = next(NashOpponent(game, PAIRS_AND_ALL).blocks(rng, rounds))
    assert block.expected is not None
    choices = play(policy, block.awake, block.losses, rng)
    which = (block.awake[:, np.newaxis] == masks).all(axis=2).argmax(axis=1)
    counts = np.zeros((rounds, len(masks), 3))
    counts[np.arange(rounds), which, choices] = 1.0
    sums = np.cumsum(counts, axis=0)[marks - 1]
    shares = sums / np.maximum(sums.sum(axis=2, keepdims=True), 1.0)
    late = np.arange(rounds) >= rounds // 2
    columns = np.array([game.nash(mask, mask).column for mask in masks])
    lost = np.stack([gaps(game.losses, row, columns, masks, masks) for row in shares])
    own = block.expected[np.arange(rounds), choices] - np.where(block.awake, block.expected, 1.0).min(axis=1)
    return lost, np.cumsum(own)[marks - 1], float((choices[late & (which == 0)] == 1).mean())


def _masks(sets: tuple[tuple[int, ...], ...], n_arms: int) -> Mask:
    """Return one row of booleans for each set."""
    return np.array([[k in members for k in range(n_arms)] for members in sets])
