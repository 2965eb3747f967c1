"""Blocks of rounds: simulate and check_world refuse the same ones, with the same sentence."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from wakeful.worlds import Block, DuelBlock, World
from wakeful.worlds.blocks import checked_block, checked_duel_block

AWAKE, LOSSES = np.ones((4, 2), np.bool_), np.full((4, 2), 0.5)
ROWS, PAIRS, EVEN = np.zeros(4, np.int64), np.ones((1, 2, 2), np.bool_), np.full((1, 2, 2), 0.5)


@dataclass(frozen=True, eq=False)
class Given(World):
    """Yields one block, for ever."""

    block: Any
    n_arms: int = 2

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Any]:
        while True:
            yield self.block


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        (
            Block(AWAKE & [True, False] & ~AWAKE, LOSSES),
            "awake must be true somewhere in every row, got 'none in row 0'",
        ),
        (Block(AWAKE, LOSSES + 1), "losses must be between 0 and 1 where awake, got 1.5"),
        (Block(AWAKE, LOSSES, LOSSES - 1), "expected must be between 0 and 1 where awake, got -0.5"),
        (Block(AWAKE, LOSSES[:3]), "losses must be of the shape of awake, (4, 2), got (3, 2)"),
    ],
)
def test_simulate_refuses_a_block_with_the_sentence_of_the_check(block: Block, sentence: str) -> None:
    with pytest.raises(wk.SimulationError, match=re.escape(sentence)):
        wk.simulate(wk.Uniform(), Given(block), rounds=4, runs=1, jobs=1)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        checked_block(block, 2)


def test_rounds_that_are_not_played_are_not_looked_at() -> None:
    spoilt = LOSSES.copy()
    spoilt[3] = 7.0
    found = checked_block(Block(AWAKE, spoilt), 2, most=3)
    assert found.losses.tolist() == spoilt[:3].tolist()
    coins = np.array([0.0, 0.5, 0.9, 1.0])
    assert checked_duel_block(DuelBlock(PAIRS, ROWS, EVEN, ROWS, coins), 2, 2, most=3).coins.size == 3
    with pytest.raises(ValueError, match=r"^coins must be from 0 to below 1, got 1\.0$"):
        checked_duel_block(DuelBlock(PAIRS, ROWS, EVEN, ROWS, coins), 2, 2)


def test_numbers_of_sleepers_may_be_anything() -> None:
    awake = AWAKE & [True, False]
    assert np.isnan(checked_block(Block(awake, np.where(awake, 0.5, np.nan)), 2).losses[:, 1]).all()


def test_arrays_of_any_layout_are_taken() -> None:
    found = checked_block(Block(np.asfortranarray(AWAKE), np.asfortranarray(LOSSES), np.ones((4, 2), np.int8)), 2)
    assert all(array is not None and array.flags.c_contiguous for array in found)
    assert found.expected is not None
    assert found.expected.dtype == np.float64
