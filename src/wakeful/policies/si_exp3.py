"""SI-EXP3, the paper's Algorithm 1: exponential weights over pairs of arms, for internal sleeping regret."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exact_log
from wakeful.numerics.stationary import solve
from wakeful.policies.kernels import Kernels
from wakeful.policies.learning_rates import (
    AWAKE,
    CONSTANT,
    EPOCH,
    LARGEST_RATE,
    ROUNDS,
    Rate,
    checked_eta,
    checked_exploration,
    checked_horizon,
    epoch,
    rate_at,
    rates_of,
)
from wakeful.policies.policy import Guarantee, Policy, checked_horizon_of
from wakeful.policies.spec import set_frozen
from wakeful.policies.state_ranges import COUNTS, DIFFERENCES, Range, Ranges

ANYTIME = 4.0  # our default rate over the one that the bound asks for, chosen by measurement: docs/default-rate.md


class SwitchState(NamedTuple):
    """`losses[i, j]`: estimated loss of playing j whenever i was played, less the learner's own."""

    losses: Floats  # (K, K)
    clock: Ints  # decisions, awake arms over all decisions
    rate: Floats  # the learning rate of the current epoch, for the doubling trick


class Bound(NamedTuple):
    """Upper bounds on the expected internal regret E[R(i -> j)], for every pair of arms."""

    paper: float  # Theorem 1 as printed, for the best constant rate: 2 sqrt(2 log K sum |S_t|)
    sharpened: float  # for this policy's own learning rate, without |S_t| under the root


@dataclass(frozen=True)
class SIExp3(Policy):
    """SI-EXP3, Algorithm 1: small sleeping internal regret against any losses and any awake sets.

    For each pair of arms an expert i -> j says "play j instead of i". The probabilities are the fixed point of their
    weighted advice: the stationary distribution of the Markov chain with rates `exp(-eta_t L[i, j])` on the awake
    arms. After arm k lost l, for every other awake arm i: `L[k, i] -= l`, `L[i, k] += l p(i) / (p(k) + gamma_t)`.

    Parameters:
        eta: the learning rate: a constant; `"anytime"`, `4 sqrt(log(K(K-1)) / 2t)`; `"sqrt"`, t^-1/2,
            the paper's experiments; `"horizon"`, `sqrt(log(K(K-1)) / horizon)`; `"paper"`,
            `sqrt(log K / (2 sum |S_s|))`, Theorem 1's, online; `"doubling"`, the horizon's rate for epochs of
            1, 2, 4, ... rounds, each starting from nothing (feedback for an earlier epoch is dropped)
        exploration: implicit exploration, `gamma_t = exploration * eta_t`; 0 is the paper
        horizon: the number of rounds, for `eta="horizon"`

    >>> from wakeful import Bandit
    >>> bandit = Bandit(SIExp3(eta="sqrt", exploration=0.0), arms=["tea", "coffee"], seed=1)
    >>> for _ in range(100):
    ...     decision = bandit.choose()
    ...     bandit.update(decision, loss=0.2 if decision.arm == "tea" else 0.8)
    >>> bool(bandit.probabilities()[0] > 0.9)
    True
    """

    eta: float | str = "anytime"
    exploration: float = 0.0625
    horizon: float | None = None

    schedules: ClassVar[tuple[str, ...]] = ("anytime", "sqrt", "horizon", "paper", "doubling")
    from_others: ClassVar[str | None] = "weights"
    keeps_switch_gains: ClassVar[bool] = True
    ranges: ClassVar[Ranges] = {"losses": DIFFERENCES, "clock": COUNTS, "rate": Range(0.0, LARGEST_RATE)}

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(self, eta=checked_eta(self.eta, self.schedules), exploration=checked_exploration(self.exploration))
        set_frozen(self, horizon=checked_horizon(self.eta, self.horizon))

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_switch_law, _switch_learn, _switch_remember)

    def memo_range(self, n_arms: int) -> Range:
        """Return what learning rates may be."""
        return rates_of(self.parameters(n_arms))

    def start(self, n_arms: int) -> SwitchState:
        """Return no losses and no decisions."""
        return SwitchState(np.zeros((n_arms, n_arms)), np.zeros(2, np.int64), np.zeros(1))

    def parameters(self, n_arms: int) -> Rate:
        """Return the schedule for `n_arms` arms."""
        size = _log_pairs(n_arms)
        match self.eta:
            case "anytime":
                numerator, counter = ANYTIME * math.sqrt(size / 2), ROUNDS
            case "sqrt":
                numerator, counter = 1.0, ROUNDS
            case "horizon":
                numerator, counter = math.sqrt(size / float(self.horizon or 1.0)), CONSTANT
            case "paper":
                numerator, counter = math.sqrt(exact_log(max(n_arms, 2)) / 2), AWAKE
            case "doubling":
                numerator, counter = math.sqrt(size), EPOCH
            case _:
                numerator, counter = float(self.eta), CONSTANT
        return Rate(numerator, counter, float(self.exploration))

    def bound(self, rounds: int, n_arms: int, awake_total: float | None = None) -> Bound:
        """Return the bounds on E[R(i -> j)] after `rounds` rounds: the paper's and the sharpened one.

        Parameters:
            rounds: how many rounds
            n_arms: K
            awake_total: sum of |S_t|, by default K in every round

        >>> SIExp3(eta="horizon", horizon=10_000, exploration=0.0).bound(10_000, n_arms=10)
        Bound(paper=1357.2..., sharpened=424.2...)
        """
        awake = rounds * n_arms if awake_total is None else awake_total
        checked_horizon_of(rounds, n_arms, awake)
        size = _log_pairs(n_arms)
        c, counter, exploration = self.parameters(n_arms)
        root = math.sqrt(rounds)
        if counter == CONSTANT:
            sharpened = size / c + (1.0 + exploration) * c * rounds
        elif counter == EPOCH:
            sharpened = (2.0 + exploration) * sum(math.sqrt(size * 2**m) for m in range(rounds.bit_length()))
        elif counter == ROUNDS:
            # rounds with eta_t > 1, at most c^2 of them, cost at most 1 each
            sharpened = (size / c + (1.0 + exploration) * 2.0 * c) * root + c * c
        else:
            sharpened = size / c * math.sqrt(awake) + (1.0 + exploration) * 2.0 * c * root + c * c
        return Bound(2.0 * math.sqrt(2.0 * math.log(n_arms) * awake), sharpened)

    def guarantee(self, rounds: int, n_arms: int, awake_total: int) -> Guarantee:
        """Return the sharpened bound: internal regret, any losses."""
        return Guarantee("internal", "any", self.bound(rounds, n_arms, awake_total).sharpened)

    def switch_gains(self, state: SwitchState) -> Floats:
        """Return -L: the estimated gain of playing j whenever i was and j was awake (in this epoch, if doubling)."""
        return 0.0 - state.losses

    def words(self, state: SwitchState, names: Sequence[Hashable]) -> str:
        """Return the switch with the largest estimated gain, which bounds the estimated internal regret."""
        gains = self.switch_gains(state)
        i, j = (int(k) for k in np.unravel_index(int(gains.argmax()), gains.shape))
        if gains[i, j] <= 0.0:
            return "No switch from one arm to another is estimated to have gained anything."
        switch = f"{names[j]!r} whenever {names[i]!r} was played and both were awake"
        return f"The best switch in hindsight, playing {switch}, is estimated to have gained {gains[i, j]:,.1f} in all."


def _log_pairs(n_arms: int) -> float:
    """Return log(K(K-1)), the log of the number of experts; with one arm there is nothing to tune."""
    return exact_log(max(n_arms * (n_arms - 1), 2))


@kernel
def _switch_law(rate: Rate, state: SwitchState, awake: Ints, p: Floats) -> None:
    """Write the stationary distribution of the rates exp(-eta L) on the awake arms into `p`."""
    n = awake.size
    if n == 1:
        p[awake[0]] = 1.0
        return
    rounds = state.clock[0] + 1
    if rate.counter == EPOCH:
        eta = state.rate[0] if epoch(rounds) < rounds else 0.0  # the first round of an epoch forgets
    else:
        eta = rate_at(rate, rounds, state.clock[1] + n)
    room = np.empty((n + 1, n))  # one allocation, for the log-weights and the probabilities
    weights, law = room[:n], room[n]
    for i in range(n):
        for j in range(n):
            weights[i, j] = -eta * state.losses[awake[i], awake[j]]
    solve(weights, law)
    for i in range(n):
        p[awake[i]] = law[i]


@kernel
def _switch_remember(rate: Rate, state: SwitchState, awake: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count the decision; its memo is its learning rate. A new epoch of the doubling trick forgets."""
    state.clock[0] += 1
    state.clock[1] += awake.size
    eta = rate_at(rate, state.clock[0], state.clock[1])
    if rate.counter == EPOCH:
        if epoch(state.clock[0]) == state.clock[0]:
            state.losses[:] = 0.0
            state.rate[0] = eta
        eta = state.rate[0]  # constant within an epoch, even if an arm is added
    return eta


@kernel
def _switch_learn(rate: Rate, state: SwitchState, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Change row and column `arm` of `state.losses` on the awake arms."""
    if loss == 0.0 or (rate.counter == EPOCH and memo != state.rate[0]):
        return  # nothing to add, or decided in an epoch that is over
    weight = loss / (p[arm] + rate.exploration * memo)
    for i in awake:
        if i != arm:
            state.losses[arm, i] -= loss
            state.losses[i, arm] += p[i] * weight
