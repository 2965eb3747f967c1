"""Games against an opponent who plays the Nash equilibrium, or who sees the learner's probabilities.

Both players have the same awake set, drawn uniformly from a given family in each round.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import Any, ClassVar

import numpy as np

from wakeful.inputs import must_be
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.spec import set_frozen
from wakeful.worlds.draws import CHUNK, bernoulli
from wakeful.worlds.games import Game
from wakeful.worlds.world import AdaptiveRun, AdaptiveWorld, Block, World, checked_run, forever

Sets = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class NashOpponent(World):
    """A game against an opponent who plays the Nash equilibrium of each sub-game, whatever the learner does.

    Parameters:
        game: a square game; the learner has the rows
        sets: the awake sets, tuples of actions; one of them at random in each round; nothing: all awake
        bernoulli: losses of 0 and 1, drawn with the game's losses as means, instead of these themselves

    >>> from wakeful.worlds.games import rock_paper_scissors
    >>> next(NashOpponent(rock_paper_scissors(), ((0, 1),)).blocks(np.random.default_rng(0), 1)).expected
    array([[1. , 0.5, 0. ]])
    """

    expected_by_set: ClassVar[bool] = True

    game: Game
    sets: Sets | None = None
    bernoulli: bool = False

    def __post_init__(self) -> None:
        """Check that game and sets fit."""
        _normalise_sets(self, self.game, self.sets)
        if not isinstance(self.bernoulli, bool):
            raise TypeError(must_be("bernoulli", "True or False", self.bernoulli))

    @property
    def n_arms(self) -> int:
        """The number of actions."""
        return len(self.game.losses)

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw sets, and the opponent's actions."""
        checked_run(rng, size)
        masks = _masks(self.n_arms, self.sets)
        strategies = _strategies(self.game, self.sets)
        expected = strategies @ self.game.losses.T
        against = self.game.losses.T  # one row for each action of the opponent
        which, actions = np.nonzero(strategies)  # a round is one of these pairs of set and action
        chances = np.cumsum(strategies[which, actions])

        def draw() -> Block:
            found = np.searchsorted(chances, rng.random(size) * len(masks), side="right")
            pair = np.minimum(found, chances.size - 1)
            losses = against[actions[pair]]
            drawn = bernoulli(rng, losses) if self.bernoulli else losses
            return Block(masks[which[pair]], drawn, expected[which[pair]])

        return forever(draw)


@dataclass(frozen=True)
class BestResponse(AdaptiveWorld):
    """A game against an opponent who sees the learner's probabilities and plays the best response to them.

    Parameters:
        game: a square game; the learner has the rows
        sets: the awake sets, tuples of actions; one of them at random in each round; nothing: all awake

    >>> from wakeful.worlds.games import rock_paper_scissors
    >>> run = BestResponse(rock_paper_scissors()).start(np.random.default_rng(0))
    >>> run.awake()
    array([ True,  True,  True])
    >>> run.losses(np.array([0.8, 0.1, 0.1]))  # mostly Rock: the answer is Paper
    array([1. , 0.5, 0. ])
    """

    game: Game
    sets: Sets | None = None

    def __post_init__(self) -> None:
        """Check that game and sets fit."""
        _normalise_sets(self, self.game, self.sets)

    @property
    def n_arms(self) -> int:
        """The number of actions."""
        return len(self.game.losses)

    def start(self, rng: np.random.Generator) -> AdaptiveRun:
        """Return a run whose sets come from `rng`."""
        checked_run(rng)
        return _Answers(self.game.losses, _masks(self.n_arms, self.sets), rng)


class _Answers(AdaptiveRun):
    """One run of `BestResponse`."""

    def __init__(self, game_losses: Floats, masks: Mask, rng: np.random.Generator) -> None:
        self._game_losses = game_losses
        self._rows = _shuffled(masks, rng)
        self._now: Mask = masks[0]

    def awake(self) -> Mask:
        """Return the set of the next round."""
        self._now = next(self._rows)
        return np.array(self._now)

    def losses(self, probabilities: Floats) -> Floats:
        """Return the losses against the awake action that costs the learner most; the first of several."""
        costs = np.where(self._now, probabilities @ self._game_losses, -1.0)
        return self._game_losses[:, int(costs.argmax())].copy()


def _shuffled(masks: Mask, rng: np.random.Generator) -> Iterator[Mask]:
    """Yield rows of `masks` at random, as copies."""
    while True:
        yield from masks[rng.integers(len(masks), size=CHUNK)]


def _normalise_sets(world: Any, game: Any, sets: Any) -> None:
    """Keep `sets` as sorted tuples of plain numbers, if they are sets of actions of a square game."""
    if not isinstance(game, Game):
        raise TypeError(must_be("game", "a Game", game))
    n_arms = len(game.losses)
    if game.losses.shape[1] != n_arms:
        raise ValueError(must_be("game", "square", game))
    if sets is None:
        return
    rule = f"tuples of distinct actions from 0 to {n_arms - 1}"
    try:
        plain = tuple(tuple(sorted(map(_action, actions))) for actions in sets)
    except TypeError:
        raise TypeError(must_be("sets", rule, sets)) from None
    fits = [s and s[0] >= 0 and s[-1] < n_arms and len(set(s)) == len(s) for s in plain]
    if not fits or not all(fits):
        raise ValueError(must_be("sets", rule, sets))
    set_frozen(world, sets=plain)


def _action(value: Any) -> int:
    """Return the index of an action as a plain number; booleans are refused."""
    if isinstance(value, bool | np.bool_):
        raise TypeError
    return index(value)


def _masks(n_arms: int, sets: Sets | None) -> Mask:
    """Return one row of booleans for each set."""
    masks = np.zeros((1 if sets is None else len(sets), n_arms), np.bool_)
    for row, actions in zip(masks, sets or [range(n_arms)], strict=True):
        row[list(actions)] = True
    return masks


@lru_cache(maxsize=64)  # the same game is played in every run, and a linear programme takes milliseconds
def _strategies(game: Game, sets: Sets | None) -> Floats:
    """Return the opponent's equilibrium probabilities in each sub-game."""
    return np.array([game.nash(mask, mask).column for mask in _masks(len(game.losses), sets)])
