"""`check_duel_world` finds what is wrong with a world of duels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pytest

from wakeful.duels.pairs import distinct_pairs
from wakeful.worlds.duel_checks import check_duel_world
from wakeful.worlds.duel_world import AdaptiveDuelRun, AdaptiveDuelWorld, DuelBlock, DuelWorld, steady


@dataclass(frozen=True)
class Mine(DuelWorld):
    """A user's world, and what may be wrong with it."""

    wrong: str = ""
    n_arms: int = 2
    size: int = 2

    @property
    def length(self) -> int | None:
        return {"too long": 5, "too short": 500}.get(self.wrong)

    def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[Any]:
        shared = np.full((1, 2, 2), 0.5)
        for block in islice(
            steady(rng, rounds, np.ones((2, 2), np.bool_), shared[0]), 3 if self.wrong == "ends" else 100
        ):
            if self.wrong == "reuses":
                shared[0, [0, 1], [1, 0]] = 0.5 + block.coins[0] / 2, 0.5 - block.coins[0] / 2
            yield self._spoilt(block, shared)

    def _spoilt(self, block: DuelBlock, shared: Any) -> Any:
        mask, coins = block.pair_sets, block.coins
        spoilt: dict[str, Any] = {
            "tuple": tuple(block),
            "asymmetric": block._replace(pair_sets=np.triu(mask)),
            "nobody": block._replace(pair_sets=~mask),
            "shape": block._replace(pair_sets=np.ones((1, 3, 3), np.bool_)),
            "flat": block._replace(preferences=block.preferences[0]),
            "columns": block._replace(coins=np.repeat(coins, 2)[::2]),
            "type": block._replace(which=block.which.astype(np.int32)),
            "list": block._replace(coins=coins.tolist()),
            "one": block._replace(preferences=block.preferences * 1.5),
            "second": block._replace(preferences=np.concatenate([block.preferences, block.preferences * 1.5])),
            "pairs": block._replace(pair_sets=np.concatenate([mask, np.triu(mask)])),
            "nan": block._replace(preferences=block.preferences * np.nan),
            "row": block._replace(which=block.which + 1),
            "law": block._replace(law=block.law - 1),
            "coin": block._replace(coins=coins * 0 + 1),
            "size": block._replace(which=block.which[1:], law=block.law[1:], coins=coins[1:]),
            "global": block._replace(coins=np.random.random(coins.size)),  # noqa: NPY002
            "reuses": block._replace(preferences=shared),
        }
        return spoilt.get(self.wrong, block)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("tuple", "blocks must yield DuelBlock"),
        ("asymmetric", r"pairs must be symmetric, got '\(0, 1\) without \(1, 0\)'"),
        ("nobody", "pairs must be at least one"),
        ("shape", r"pair_sets must be of shape \(1, 2, 2\), got \(1, 3, 3\)"),
        ("flat", r"preferences must be of shape \(2, 2, 2\), got \(2, 2\)"),
        ("columns", "coins must be contiguous"),
        ("type", "which must be of type int64, got int32"),
        ("list", "coins must be an array"),
        ("one", r"P\(j, i\) = 1, got '0.75 \+ 0.75 for \(0, 0\)'"),
        ("second", r"P\(j, i\) = 1, got '0.75 \+ 0.75 for \(0, 0\)'"),
        ("pairs", "pairs must be symmetric"),
        ("nan", "preferences must be between 0 and 1, got nan"),
        ("row", "which must be rows from 0 to 0, got 1"),
        ("law", "law must be rows from 0 to 0, got -1"),
        ("coin", "coins must be from 0 to below 1, got 1.0"),
        ("size", "block must be of one or more rounds, got 0"),
        ("ends", "'length': a world whose length is None must not end, got 3 blocks"),
        ("too long", "'length': there must be 5 rounds, got"),
        ("too short", "'length': there must be 500 rounds, got"),
        ("global", "'repeatable': the same seed must give the same blocks"),
        ("reuses", "'own arrays': blocks must not share memory with each other"),
    ],
)
def test_the_checker_says_what_is_wrong(wrong: str, sentence: str) -> None:
    check_duel_world(Mine())
    with pytest.raises(AssertionError, match=sentence):
        check_duel_world(Mine(wrong))


def test_the_checker_looks_at_the_size_and_at_the_class() -> None:
    @dataclass
    class Thawed(DuelWorld):
        n_arms: int = 2

        def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
            return Mine().blocks(rng, rounds)

    class Plain(DuelWorld):
        n_arms = 2

        def blocks(self, rng: np.random.Generator, rounds: int) -> Iterator[DuelBlock]:
            return Mine().blocks(rng, rounds)

    with pytest.raises(AssertionError, match="size must be 2 unless the pairs are those of different arms"):
        check_duel_world(Mine(size=3))
    with pytest.raises(AssertionError, match="a world must be a frozen dataclass"):
        check_duel_world(Thawed())
    with pytest.raises(TypeError, match="world must be a frozen dataclass"):
        check_duel_world(Plain())


@dataclass(frozen=True)
class Foe(AdaptiveDuelWorld):
    """A user's adaptive world, and what may be wrong with it."""

    wrong: str = ""
    n_arms: int = 3

    def start(self, rng: np.random.Generator) -> AdaptiveDuelRun:
        return FoeRun(self.wrong)


class FoeRun(AdaptiveDuelRun):
    def __init__(self, wrong: str) -> None:
        self.wrong, self.last = wrong, 0

    def pairs(self) -> Any:
        mask = distinct_pairs(3)
        mask[self.last, (self.last + 1) % 3] = mask[(self.last + 1) % 3, self.last] = False
        return mask[:2] if self.wrong == "shape" else mask

    def preferences(self) -> Any:
        return np.full((3, 3), 0.6 if self.wrong == "uneven" else 0.5)

    def played(self, arms: Sequence[int]) -> None:
        self.last = np.random.randint(3) if self.wrong == "global" else arms[0]  # noqa: NPY002


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("shape", r"pairs must be a \(3, 3\) array of booleans"),
        ("uneven", r"P\(j, i\) = 1, got '0.6 \+ 0.6 for \(0, 0\)'"),
        ("global", "'adaptive repeatable': the same seed and choices must give the same rounds"),
    ],
)
def test_the_checker_says_what_is_wrong_with_adaptive_worlds(wrong: str, sentence: str) -> None:
    check_duel_world(Foe())
    with pytest.raises(AssertionError, match=sentence):
        check_duel_world(Foe(wrong))
