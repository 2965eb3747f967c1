"""Opponents in games."""

import numpy as np
import pytest

from wakeful.worlds import (
    BestResponse,
)
from wakeful.worlds.games import random_game
from world_draws import assert_frequencies


def test_best_response_costs_the_learner_most() -> None:
    game = random_game(4, np.random.default_rng(5))
    sets = ((0, 1, 2, 3), (1, 3), (0, 2, 3))
    run = BestResponse(game, sets).start(np.random.default_rng(6))
    laws = np.random.default_rng(7)
    found = []
    for _ in range(3000):
        awake = run.awake()
        S = tuple(np.flatnonzero(awake).tolist())
        found.append(S)
        p = laws.exponential(size=4) * awake
        losses = run.losses(p / p.sum())
        assert p @ losses == pytest.approx(max(p @ game.losses[:, j] for j in S), rel=1e-12)
        assert losses.tolist() in game.losses.T[list(S)].tolist()
    assert_frequencies(found, dict.fromkeys(sets, 1 / 3))
