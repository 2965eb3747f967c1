"""Sparring: one bandit policy for each side of a duel, each trying to win against the other."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from wakeful.duels.kernels import DuelKernels, Pick
from wakeful.duels.policy import DuelingPolicy
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.decision import Decision
from wakeful.policies.kernels import Kernels
from wakeful.policies.policy import Policy, a_policy, state_type
from wakeful.policies.si_exp3 import SIExp3
from wakeful.policies.stacked import Copies, around, rows, stack, stacked_type


@dataclass(frozen=True)
class Sparring(Copies, DuelingPolicy):  # type: ignore[override]  # asks the inner policy
    """One copy of a bandit policy for each side: the left one chooses any arm, the right one a partner of that arm.

    The side that loses has a loss of one, the winner of zero; in a battle all lose except the winner. With `SIExp3`
    this is the paper's Sparring SI-EXP3, with `SleepingUCB` its Sp-UCB. Sublinear regret is proven for
    `A_t = S_t x S_t`; on general pairs it can be linear (`worlds.PathDuels`): use `StablePair` there.

    Parameters:
        policy: what plays on each side

    >>> from wakeful import SIExp3
    >>> Sparring(SIExp3()).start(n_arms=3).inner_losses.shape
    (2, 3, 3)
    """

    policy: Policy = field(default_factory=SIExp3)

    def __post_init__(self) -> None:
        """Refuse anything but a policy."""
        a_policy(self.policy)

    @property
    def from_others(self) -> str | None:  # type: ignore[override]
        """What the inner policy does with decisions of others."""
        return self.policy.from_others

    @property
    def kernels(self) -> DuelKernels | None:
        """The compiled functions of this policy, if the inner policy has any."""
        inner = self.policy.kernels
        return None if inner is None else _kernels(inner, state_type(self.policy))

    def start(self, n_arms: int, size: int = 2) -> Any:
        """Return `size` inner states, stacked."""
        inner = self.policy.start(n_arms)
        return stacked_type("SparringState", inner._fields)(*stack(inner, size))

    def grow(self, state: Any, n_arms: int, size: int = 2) -> Any:
        """Grow every side, and start those that are new."""
        grown = self.start(n_arms, size)
        self._grow_copies(state, grown, n_arms)
        return grown

    def law(self, state: Any, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
        """Ask the side whose turn it is."""
        mask = np.zeros(p.size, np.bool_)
        mask[awake] = True
        p[:] = self.policy.probabilities(self._copy(state, chosen.size), mask)

    def remember(self, state: Any, awake: Ints, chosen: Ints, p: Floats, arm: int, coin: float) -> float:
        """Count the decision of the side whose turn it is."""
        decision = Decision(int(arm), float(p[arm]), tuple(awake.tolist()), p, 1, 0.0)
        return self.policy.remember(self._copy(state, chosen.size), decision, coin)

    def learn(self, state: Any, pick: Pick, shares: Floats) -> None:
        """Teach every side what it lost."""
        for side, arm in enumerate(pick.arms.tolist()):
            awake, p = pick.awake[side, : pick.sizes[side]], pick.laws[side]
            decision = Decision(arm, float(p[arm]), tuple(awake.tolist()), p, 1, float(pick.memos[side]))
            self.policy.update(self._copy(state, side), decision, 1.0 - float(shares[side]))


# Bound by `_kernels`: the inner policy's state and kernels.
Inner: Any = tuple
inner_law: Any = None
inner_learn: Any = None
inner_remember: Any = None


def _law(parameters: Any, state: Any, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
    """Ask the side whose turn it is."""
    inner_law(parameters, Inner(*rows(state, chosen.size)), awake, p)


def _learn(parameters: Any, state: Any, pick: Pick, shares: Floats) -> None:
    """Teach every side what it lost."""
    for side in range(pick.arms.size):
        learner, awake = Inner(*rows(state, side)), pick.awake[side, : pick.sizes[side]]
        loss = 1.0 - shares[side]
        inner_learn(parameters, learner, awake, pick.laws[side], pick.arms[side], pick.memos[side], loss)


def _remember(parameters: Any, state: Any, awake: Ints, chosen: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count the decision of the side whose turn it is."""
    return float(inner_remember(parameters, Inner(*rows(state, chosen.size)), awake, p, arm, coin))


@cache
def _kernels(inner: Kernels, state: Any) -> DuelKernels:
    """Return the three kernels around those of the inner policy."""
    return DuelKernels(*around(inner, state, _law, _learn, _remember))
