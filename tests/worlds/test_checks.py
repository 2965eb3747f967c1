"""`check_world` finds what is wrong with a world."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from wakeful.worlds import (
    AdaptiveRun,
    AdaptiveWorld,
    Block,
    Drifting,
    Stochastic,
    World,
    check_world,
)


@dataclass(frozen=True)
class Coins(World):
    """A user's world, and what may be wrong with it."""

    wrong: str = ""
    n_arms: int = 2

    @property
    def length(self) -> int | None:
        return {"too long": 5, "too short": 500}.get(self.wrong)

    def blocks(self, rng: np.random.Generator, size: int) -> Any:
        buffer = np.ones((size, 2), bool)
        for _ in range(3 if self.wrong == "ends" else 100):
            buffer = buffer if self.wrong == "reuses" else buffer.copy()
            buffer[:] = rng.random((size, 2)) < (0.5 if self.wrong in {"nobody", "reuses"} else 1.0)
            if self.wrong == "reuses":
                buffer[:, 0] = True
            yield self._spoilt(Block(buffer, rng.random((size, 2)), np.full((size, 2), 0.5)), size)

    def _spoilt(self, block: Block, size: int) -> Any:  # noqa: PLR0911  # one way to be wrong a line
        match self.wrong:
            case "tuple":
                return tuple(block)
            case "shape":
                return block._replace(losses=block.losses[:, :1])
            case "columns":
                return block._replace(losses=np.asfortranarray(block.losses))
            case "type":
                return block._replace(awake=block.awake.astype(int))
            case "list":
                return block._replace(losses=block.losses.tolist())
            case "large":
                return block._replace(losses=block.losses + 1)
            case "expected":
                return block._replace(expected=np.full((size, 2), np.nan))
            case "size":
                return Block(block.awake[:-1], block.losses[:-1]) if size > 1 else block
            case "global":
                return block._replace(losses=np.random.random((size, 2)))  # noqa: NPY002
        return block


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("nobody", "'blocks': awake must be true somewhere in every row, got 'none in row"),
        ("tuple", "blocks must yield Block"),
        ("shape", r"losses must be of the shape of awake, \(1, 2\), got \(1, 1\)"),
        ("columns", "losses must be contiguous"),
        ("type", "awake must be of type bool, got int64"),
        ("list", "losses must be an array"),
        ("large", "losses must be between 0 and 1 where awake, got 1"),
        ("expected", "expected must be between 0 and 1 where awake, got nan"),
        ("size", "a block must have 7 rounds, got 6"),
        ("ends", "'length': a world whose length is None must not end, got 3 blocks"),
        ("too long", "'length': there must be 5 rounds, got"),
        ("too short", "'length': there must be 500 rounds, got"),
        ("global", "'repeatable': the same seed must give the same blocks"),
        ("reuses", "'own arrays': blocks must not share memory with each other"),
    ],
)
def test_the_checker_says_what_is_wrong(wrong: str, sentence: str) -> None:
    check_world(Coins())
    with pytest.raises(AssertionError, match=sentence):
        check_world(Coins(wrong))


def test_the_checker_wants_frozen_data_that_prints_as_code() -> None:
    class Bare(World):
        n_arms = 2

        def blocks(self, rng: np.random.Generator, size: int) -> Any:
            return Coins().blocks(rng, size)

    @dataclass
    class Thawed(Bare):
        pass

    @dataclass(frozen=True)
    class Fine(Bare):
        pass

    @dataclass(frozen=True, repr=False)
    class Loud(Bare):
        def __repr__(self) -> str:
            return "<loud>"

    @dataclass(frozen=True, eq=False)
    class Lonely(Bare):
        pass

    @dataclass(frozen=True)
    class Nobody(Coins):
        n_arms: int = 0

    check_world(Fine())
    with pytest.raises(TypeError, match="world must be a frozen dataclass"):
        check_world(Bare())
    with pytest.raises(AssertionError, match="'is data': a world must be a frozen dataclass"):
        check_world(Thawed())
    with pytest.raises(AssertionError, match="'is data': a world must print as the code that makes it"):
        check_world(Loud())
    with pytest.raises(AssertionError, match=r"'is data': eval\(repr\(world\)\) must be the world"):
        check_world(Lonely())
    with pytest.raises(AssertionError, match="n_arms must be a whole number from 1, got 0"):
        check_world(Nobody())


@dataclass(frozen=True)
class Mirror(AdaptiveWorld):
    """A user's adaptive world, and what may be wrong with it."""

    wrong: str = ""
    n_arms: int = 3

    def start(self, rng: np.random.Generator) -> AdaptiveRun:
        return MirrorRun(self.wrong, rng)


class MirrorRun(AdaptiveRun):
    def __init__(self, wrong: str, rng: np.random.Generator) -> None:
        self.wrong, self.rng = wrong, rng

    def awake(self) -> Any:
        nobody = self.wrong == "nobody" and self.rng.random() < 0.2
        return np.zeros(3, bool) if nobody else np.ones(3, bool)

    def losses(self, probabilities: Any) -> Any:
        if self.wrong == "global":
            return np.random.random(3)  # noqa: NPY002
        return probabilities * (4.0 if self.wrong == "large" else 1.0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("nobody", "awake must be 3 booleans, true somewhere"),
        ("large", "losses must be 3 numbers, between 0 and 1 where awake"),
        ("global", "the same seed and probabilities must give the same rounds"),
    ],
)
def test_the_checker_says_what_is_wrong_with_adaptive_worlds(wrong: str, sentence: str) -> None:
    check_world(Mirror())
    with pytest.raises(AssertionError, match=sentence):
        check_world(Mirror(wrong))


@dataclass(frozen=True)
class ClaimsTooMuch(Drifting):
    """Means that move, said to stay."""

    expected_by_set: ClassVar[bool] = True


@dataclass(frozen=True)
class KnowsNothing(Stochastic):
    """Expected losses that are said to be known."""

    def blocks(self, rng: np.random.Generator, size: int) -> Any:
        return (block._replace(expected=None) for block in super().blocks(rng, size))


@pytest.mark.parametrize(
    ("world", "words"), [(ClaimsTooMuch(), "the same for the same set"), (KnowsNothing(), "got None")]
)
def test_a_false_claim_about_expected_losses_is_found(world: World, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_world(world)
