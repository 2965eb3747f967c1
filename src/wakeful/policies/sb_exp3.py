"""SB-EXP3: exponential weights over arms, for external sleeping regret."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exact_log
from wakeful.policies.kernels import Kernels
from wakeful.policies.learning_rates import (
    AWAKE,
    CONSTANT,
    ROUNDS,
    Rate,
    checked_eta,
    checked_exploration,
    gibbs,
    rate_at,
    rates_of,
)
from wakeful.policies.policy import Guarantee, Policy, checked_horizon_of
from wakeful.policies.spec import set_frozen
from wakeful.policies.state_ranges import COUNTS, DIFFERENCES, Range, Ranges


class ArmState(NamedTuple):
    """`losses[i]`: estimated loss of arm i while awake, less the learner's own."""

    losses: Floats  # (K,)
    clock: Ints  # decisions, awake arms less one over all decisions


@dataclass(frozen=True)
class SBExp3(Policy):
    """SB-EXP3: small sleeping external regret against any losses and awake sets, O(|S_t|) a round.

    `p(i)` is proportional to `exp(-eta_t L[i])` on the awake arms; after arm k lost l, every awake arm i gets
    `L[i] += 1{i = k} l / p(k) - l`. Use it where losses do not depend on what is awake. Where they do, no fixed
    order of the arms is good: use `SIExp3` or `PerSet`.

    Parameters:
        eta: the learning rate: a constant; `"anytime"`, `sqrt(log K / (2 sum(|S_s| - 1)))`; `"sqrt"`, t^-1/2
        exploration: implicit exploration, `gamma_t = exploration * eta_t` added to `p(k)`

    >>> SBExp3().start(n_arms=3).losses
    array([0., 0., 0.])
    """

    eta: float | str = "anytime"
    exploration: float = 0.0

    schedules: ClassVar[tuple[str, ...]] = ("anytime", "sqrt")
    from_others: ClassVar[str | None] = "weights"
    ranges: ClassVar[Ranges] = {"losses": DIFFERENCES, "clock": COUNTS}

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(self, eta=checked_eta(self.eta, self.schedules), exploration=checked_exploration(self.exploration))

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_arm_law, _arm_learn, _arm_remember)

    def memo_range(self, n_arms: int) -> Range:
        """Return what learning rates may be."""
        return rates_of(self.parameters(n_arms))

    def start(self, n_arms: int) -> ArmState:
        """Return no losses and no decisions."""
        return ArmState(np.zeros(n_arms), np.zeros(2, np.int64))

    def parameters(self, n_arms: int) -> Rate:
        """Return the schedule for `n_arms` arms."""
        match self.eta:
            case "anytime":
                numerator, counter = math.sqrt(exact_log(max(n_arms, 2)) / 2), AWAKE
            case "sqrt":
                numerator, counter = 1.0, ROUNDS
            case _:
                numerator, counter = float(self.eta), CONSTANT
        return Rate(numerator, counter, float(self.exploration))

    def guarantee(self, rounds: int, n_arms: int, awake_total: int) -> Guarantee:
        """Return the bound on external regret, any losses: `log K / eta_T + sum eta_t (|S_t| - 1)`.

        Exploration adds its bias, at most `gamma_t |S_t|` in a round with more than one arm awake.
        """
        checked_horizon_of(rounds, n_arms, awake_total)
        c, counter, exploration = self.parameters(n_arms)
        rivals = max(awake_total - rounds, 0)
        size, root = math.log(n_arms), math.sqrt(rounds)
        if counter == CONSTANT:
            bound = size / c + c * rivals + exploration * c * min(awake_total, 2 * rivals)
        elif counter == ROUNDS:
            bound = size / c * root + 2.0 * c * (n_arms - 1) * root + exploration * 2.0 * c * n_arms * root + c * c
        else:
            bound = (size / c + 2.0 * c + 4.0 * exploration * c) * math.sqrt(rivals) + c * c
        return Guarantee("external", "any", bound)


@kernel
def _arm_law(rate: Rate, state: ArmState, awake: Ints, p: Floats) -> None:
    """Write p(i) proportional to exp(-eta L[i]) into `p`."""
    eta = rate_at(rate, state.clock[0] + 1, state.clock[1] + awake.size - 1)
    gibbs(state.losses, eta, awake, p)


@kernel
def _arm_remember(rate: Rate, state: ArmState, awake: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count the decision; its memo is its learning rate."""
    state.clock[0] += 1
    state.clock[1] += awake.size - 1
    return rate_at(rate, state.clock[0], state.clock[1])


@kernel
def _arm_learn(rate: Rate, state: ArmState, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Add the centred estimate to `state.losses` on the awake arms; it is zero if only one arm is awake."""
    if awake.size == 1:
        return
    for i in awake:
        state.losses[i] -= loss
    state.losses[arm] += loss / (p[arm] + rate.exploration * memo)
