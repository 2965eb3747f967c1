"""The paper's counterexamples: ordering and external regret do not imply each other.

Each is a world and a learner, given by `choices`, one of whose regrets is small and the other one linear.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wakeful.inputs import must_be, whole
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.rounds import checked_awake
from wakeful.policies.spec import set_frozen
from wakeful.worlds.world import Block, World, checked_run, cut, forever


@dataclass(frozen=True)
class ExternalNotOrdering(World):
    """No external regret, yet linear ordering regret, even for constant losses: arm k = 1, 2, 3 loses k / 3.

    Arms 1 and 2 are awake in the first half, arms 2 and 3 in the second. The learner plays 1, then 3: every external
    regret is 0 and the ordering (1, 2, 3) loses T / 6 less. (The paper's losses are k; here they are divided by 3.)

    Parameters:
        rounds: T, even

    >>> from wakeful import regret
    >>> world = ExternalNotOrdering(600)
    >>> awake, losses, _ = next(world.blocks(np.random.default_rng(0), 600))
    >>> regret.external(awake, losses, world.choices(awake)).round(9)
    array([0., 0., 0.])
    >>> round(regret.ordering(awake, losses, world.choices(awake)).value, 9)
    100.0
    """

    expected_by_set: ClassVar[bool] = True

    rounds: int = 1000

    def __post_init__(self) -> None:
        """Check the number of rounds."""
        set_frozen(self, rounds=whole("rounds", self.rounds, "an even number from 2", 2))
        if self.rounds % 2:
            raise ValueError(must_be("rounds", "an even number from 2", self.rounds))

    @property
    def n_arms(self) -> int:
        """Three arms."""
        return 3

    @property
    def length(self) -> int:
        """As many rounds as it was made for."""
        return self.rounds

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Yield both halves; nothing is random."""
        checked_run(rng, size)
        awake = np.ones((self.rounds, 3), np.bool_)
        awake[: self.rounds // 2, 2] = False
        awake[self.rounds // 2 :, 0] = False
        losses = np.tile(np.arange(1, 4) / 3, (self.rounds, 1))
        return cut(Block(awake, losses, losses), size)

    def choices(self, awake: Mask) -> Ints:
        """Return what the learner of the example plays on these awake sets: arm 1 where it is awake, else arm 3."""
        return np.where(checked_awake("awake", awake, 3)[:, 0], 0, 2)


@dataclass(frozen=True)
class OrderingNotExternal(World):
    """No ordering regret, yet linear external regret: losses are a function of the awake set, one of four at random.

    | awake | losses | the learner plays |
    |---|---|---|
    | {1, 2} | 0, 1 | 2 |
    | {2, 3} | 0, 1 | 2 |
    | {3, 4} | 0, 1 | 3 |
    | {2, 4} | 1, 0 | 4 |

    The learner loses T / 4 in expectation, as does the best ordering, but its external regret against arm 1 is T / 4.
    This corrects the example of Appendix A.1, where that regret is 0.

    >>> from wakeful import regret
    >>> world = OrderingNotExternal()
    >>> awake, losses, _ = next(world.blocks(np.random.default_rng(0), 4000))
    >>> bool(regret.external(awake, losses, world.choices(awake)).max() > 900)
    True
    >>> regret.ordering(awake, losses, world.choices(awake)).value < 100
    True
    """

    expected_by_set: ClassVar[bool] = True

    @property
    def n_arms(self) -> int:
        """Four arms."""
        return 4

    def blocks(self, rng: np.random.Generator, size: int) -> Iterator[Block]:
        """Draw sets uniformly and look up their losses."""
        checked_run(rng, size)

        def draw() -> Block:
            which = rng.integers(4, size=size)
            return Block(_SETS[which], _LOSSES[which], _LOSSES[which])

        return forever(draw)

    def choices(self, awake: Mask) -> Ints:
        """Return what the learner of the example plays on these awake sets."""
        mask = checked_awake("awake", awake, 4)
        known = (mask[:, np.newaxis] == _SETS).all(axis=2)
        if not known.any(axis=1).all():
            raise ValueError(must_be("awake", "sets of this world", awake))
        choices: Ints = _CHOICES[known.argmax(axis=1)]
        return choices


_SETS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 1, 0, 1]], np.bool_)
_LOSSES: Floats = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]], np.float64)
_CHOICES: Ints = np.array([1, 1, 2, 3])
