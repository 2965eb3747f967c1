"""Facts that need no simulation: equations solved, games solved, definitions compared, a lower bound evaluated."""

from typing import NamedTuple

import numpy as np

from wakeful import games, regret
from wakeful.numerics.arrays import Floats
from wakeful.paper.circle import ORDERS, least_regret, models, ordered
from wakeful.paper.settings import Settings
from wakeful.paper.theory import fixed_point_error
from wakeful.worlds.draws import awake_sets
from wakeful.worlds.duels import by_utility, utilities
from wakeful.worlds.paper import PAIRS_AND_ALL

HORIZONS = (1e8, 1e16)  # between which the growth of the lower bound is taken
GAMES = 20  # random games


class Facts(NamedTuple):
    """What was computed, for the claims that need it."""

    seed: int
    fixed_point: Floats  # errors of the equation that defines p_t, one for each set of weights
    duels: tuple[float, float]  # largest differences a round: from Condorcet regret, from that of sleeping duels
    histories: int  # on which these were compared
    paper: float  # probability of Paper in the equilibrium of {Rock, Paper}
    means: Floats  # mean losses of the three actions while awake, against the Nash opponent
    values: Floats  # of the sub-games of Rock-Paper-Scissors
    random_values: Floats  # of sub-games of random games
    orders: tuple[bool, bool]  # whether the two models of the lower bound have a total order
    least: tuple[float, float]  # regrets that no policy avoids on a circle, at HORIZONS


def run_study(settings: Settings) -> Facts:
    """Compute everything."""
    paper, means, values = _rock_paper_scissors()
    small, large = (HORIZONS[0] ** (-n / 7) for n in (3, 2))
    first, second = (ordered(model, order) for model, order in zip(models(small, large), ORDERS, strict=True))
    return Facts(
        seed=settings.seed,
        fixed_point=_fixed_points(settings.seed),
        duels=_differences(settings.seed, 200),
        histories=200,
        paper=paper,
        means=means,
        values=values,
        random_values=_random_values(settings.seed),
        orders=(first, second),
        least=(least_regret(HORIZONS[0]), least_regret(HORIZONS[1])),
    )


def _fixed_points(seed: int) -> Floats:
    """Return by how much the equation of p_t is missed, for random weights."""
    rng = np.random.default_rng([seed, 31])
    sizes = [(n, spread) for n in (2, 3, 10, 30) for spread in (1.0, 10.0)]
    return np.array([fixed_point_error(n, spread, rng) for n, spread in sizes for _ in range(12)])


def _differences(seed: int, trials: int) -> tuple[float, float]:
    """Return how far SI-DB regret is from Condorcet regret for all pairs, and from the sleeping one for S x S."""
    worst = [0.0, 0.0]
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        preferences = by_utility(utilities(rng, 5))
        choices = rng.integers(5, size=(40, 2))
        everybody = regret.dueling(choices, np.ones((5, 5), np.bool_), preferences).per_round
        worst[0] = max(worst[0], float(np.abs(everybody - regret.condorcet(choices, preferences).per_round).max()))
        awake = rng.random((40, 5)) < 0.5
        np.put_along_axis(awake, choices, True, axis=1)
        masks = awake[:, :, np.newaxis] & awake[:, np.newaxis]
        sleeping = regret.sleeping_dueling(choices, awake, preferences).per_round
        worst[1] = max(worst[1], float(np.abs(regret.dueling(choices, masks, preferences).per_round - sleeping).max()))
    return worst[0], worst[1]


def _rock_paper_scissors() -> tuple[float, Floats, Floats]:
    """Return the chance of Paper on {Rock, Paper}, mean losses of the actions, and values of the sub-games."""
    game = games.rock_paper_scissors()
    masks = np.array([[k in members for k in range(3)] for members in PAIRS_AND_ALL])
    found = [game.nash(mask, mask) for mask in masks]
    losses = np.where(masks, [game.losses @ nash.column for nash in found], np.nan)
    return float(found[0].row[1]), np.nanmean(losses, axis=0), np.array([nash.value for nash in found])


def _random_values(seed: int) -> Floats:
    """Return the values of sub-games of random games."""
    values = []
    for trial in range(GAMES):
        rng = np.random.default_rng([seed, trial])
        game, sets = games.random_game(10, rng), awake_sets(rng, 4, 10, smallest=2)
        values += [game.nash(mask, mask).value for mask in sets]
    return np.array(values)
