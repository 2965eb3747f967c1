"""Auto: the policy to start with; the data decide what to pool over awake sets and what to forget. `docs/auto.md`."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.inputs import real, whole
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.awake_sets import find
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exponentiate, take_logs
from wakeful.policies.bounds import by_arm, odds_by_bounds, sums
from wakeful.policies.guard import GUARD_RANGES, MOST_EXPLORED, guard_bound, guard_law, guard_learn, no_guard
from wakeful.policies.kernels import Kernels
from wakeful.policies.policy import Guarantee, Policy, checked_horizon_of
from wakeful.policies.records import (
    KAPPAS,
    LEVELLED,
    POOLED,
    RANGES,
    REACH,
    RHOS,
    add_loss,
    no_records,
    read_set,
    usual,
)
from wakeful.policies.spec import set_frozen
from wakeful.policies.state_ranges import NOTHING, Range, Ranges

SPREAD_BY_ARM = 0.5  # a in the width of bounds, `log(c + N / (a n))`, for each awake arm
SPREAD_OF_TWO = 12.0  # a if there are only two arms: often each of them is seen alone, too, whatever is played
EVIDENCE_FACTOR = 2.0  # how many times the evidence for a reading counts
LEAST_WEIGHT = 1e-5  # the weight, beside that of the best reading, below which one does not play
MOST_AGAINST = 6.0  # nats against a memory that forgets: enough that one which predicts no better has no weight


class AutoState(NamedTuple):
    """The fields of `Records`, then those of `Guard`."""

    sets: Mask
    set_counts: Ints
    own_counts: Floats
    own_losses: Floats
    counts: Floats
    losses: Floats
    scale: Floats
    totals: Floats
    evidence: Floats
    level: Floats
    set_level: Floats
    guard_gains: Floats
    guard_squares: Floats
    guard_losses: Floats
    switched: Ints


class Belief(NamedTuple):
    """What `Auto` believes of the world, and the shares of its belief that support it."""

    text: str
    pooling: dict[float, float]  # kappa, how much other awake sets tell about this one: its share
    memory: dict[float, float]  # about how many of the last decisions count, infinite if most of all: its share

    def __str__(self) -> str:
        """Return the sentence."""
        return self.text


@dataclass(frozen=True)
class Auto(Policy):
    """The policy to start with: it finds out whether losses depend on what is awake, and whether the world moves.

    Losses are counted by arm and by awake set, with four lengths of memory. Twenty ways to read these records (five
    ways to pool over awake sets times four memories) predict every loss; those that predict well decide. Each
    of them has a lower confidence bound of the loss of every awake arm, and mostly plays the arm with the lowest one;
    `docs/auto.md` has all of it.

    With `guard`, external regret is bounded against any losses and awake sets: every awake arm is also tried with
    probability `guard t^(-1/3) / |S|`, and once the estimated regret to some arm is larger than chance explains,
    SB-EXP3 takes over for good.

    Parameters:
        max_sets: how many awake sets have a record of their own, the first that come; later ones are read from the
            pooled record, so if losses depend on what is awake, choose more than there will be
        guard: how much is explored for the bound against adversaries; 0 for no bound, 0.25 for a sensible one

    >>> from wakeful import Bandit
    >>> bandit = Bandit(Auto(), arms=["tea", "coffee", "juice"], seed=7)
    >>> for _ in range(100):
    ...     decision = bandit.choose()
    ...     bandit.update(decision, reward=1.0 if decision.arm == "tea" else 0.0)
    >>> bool(bandit.probabilities()[0] > 0.99)
    True
    >>> print(bandit.policy.belief(bandit.state))
    Losses do not depend on what is available (87 %); all decisions count (100 %).
    """

    max_sets: int = 256
    guard: float = 0.0

    order_free: ClassVar[bool] = False  # what was learned first is forgotten first
    ranges: ClassVar[Ranges] = {**RANGES, **GUARD_RANGES}

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(self, max_sets=whole("max_sets", self.max_sets, "a number of sets, at least 1", 1))
        set_frozen(self, guard=real("guard", self.guard, f"between 0 and {MOST_EXPLORED}", 0.0, MOST_EXPLORED))

    @property
    def from_others(self) -> str | None:  # type: ignore[override]
        """Count decisions of others; with a guard, refuse them: it compares the policy's own losses with others."""
        return "counts" if self.guard == 0.0 else None

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_law, _learn)

    def memo_range(self, n_arms: int) -> Range:
        """Return that there is no memo."""
        return NOTHING

    def start(self, n_arms: int) -> AutoState:
        """Return records of nothing."""
        return AutoState(*no_records(n_arms, self.max_sets), *no_guard(n_arms))

    def belief(self, state: Any) -> Belief:
        """Return what the policy believes of the world, in words and numbers."""
        shares = np.exp(state.evidence - state.evidence.max()) / np.exp(_forgetting(state.totals))
        shares /= shares.sum()
        pooling: dict[float, float] = {}
        for kappa, share in zip(KAPPAS.tolist(), shares.sum(axis=1).tolist(), strict=True):
            pooling[kappa] = pooling.get(kappa, 0.0) + share
        memory: dict[float, float] = {}
        for counted, share in zip(state.counts.sum(axis=1) / state.scale, shares.sum(axis=0).tolist(), strict=True):
            length = math.inf if counted >= state.totals[0] / 2.0 else float(f"{counted:.2g}")
            memory[length] = memory.get(length, 0.0) + share
        text = f"{_pooling_text(pooling, shares[LEVELLED].sum() > shares[POOLED].sum())}; {_memory_text(memory)}."
        if self.guard > 0.0 and state.switched[0] > 0:
            text += " An arm would have been better by more than chance: SB-EXP3 plays since then."
        return Belief(text, pooling, memory)

    def words(self, state: Any, names: Sequence[Hashable]) -> str:
        """Return what the policy believes, in words."""
        return str(self.belief(state))

    def guarantee(self, rounds: int, n_arms: int, awake_total: int) -> Guarantee | None:
        """Return the bound on external regret, any losses, that a guard brings: `docs/auto.md` has the proof."""
        checked_horizon_of(rounds, n_arms, awake_total)
        if self.guard == 0.0:
            return None
        return Guarantee("external", "any", guard_bound(self.guard, rounds, n_arms, awake_total))


def _pooling_text(pooling: dict[float, float], has_levels: bool) -> str:
    """Return in words whether losses depend on what is awake, by the larger share."""
    apart = 1.0 - pooling[math.inf]
    if pooling[math.inf] >= 0.5:
        text = f"Losses do not depend on what is available ({pooling[math.inf]:.0%})".replace("%", " %")
        return f"{text}, but at times all arms lose more, depending on which are available" if has_levels else text
    kappa = max((k for k in pooling if k < math.inf), key=pooling.__getitem__)
    rest = "nothing" if kappa == 0.0 else f"at most {kappa:.0f} decisions"
    return f"Losses depend on what is available ({apart:.0%}): what was seen elsewhere counts as {rest}".replace(
        "%", " %"
    )


def _memory_text(memory: dict[float, float]) -> str:
    """Return in words how far back decisions count, by the largest share."""
    length = max(memory, key=memory.__getitem__)
    which = "all decisions" if length == math.inf else f"the last {length:,.0f} decisions"
    return f"{which} count ({memory[length]:.0%})".replace("%", " %")


@kernel
def _law(parameters: Any, state: Any, awake: Ints, p: Floats) -> None:
    """Write the mixture of what the readings play into `p`, or what the guard does."""
    if awake.size == 1:
        p[awake[0]] = 1.0
        return
    if parameters.guard == 0.0 or state.switched[0] == 0:
        _mixture(state, awake, p)
    if parameters.guard > 0.0:
        guard_law(parameters.guard, state, awake, p)


@kernel
def _learn(parameters: Any, state: Any, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Weigh the readings and count the loss; with a guard, count what it needs."""
    if parameters.guard > 0.0:
        guard_learn(parameters.guard, state, awake, p, arm, loss)
    add_loss(state, awake, arm, loss)


@kernel
def _mixture(state: Any, awake: Ints, p: Floats) -> None:
    """Write into `p` what the readings play, each weighted by its evidence."""
    size = awake.size
    weights = np.empty(RHOS.size * KAPPAS.size)
    readings = _weigh(state, weights)
    n, mean = np.empty(readings * size), np.empty(readings * size)
    read_set(state, weights, find(state.sets, state.set_counts, awake, REACH), awake, n, mean)
    spread = SPREAD_BY_ARM * size if state.counts.shape[1] > 2 else SPREAD_OF_TWO
    odds = odds_by_bounds(readings, spread, by_arm(readings, n), by_arm(readings, mean))
    shares, m, total = sums(readings, odds), 0, 0.0
    for weight in weights:
        if weight > 0.0:
            shares[m] = weight / shares[m]
            total += weight
            m += 1
    for i in range(size):
        for m in range(readings):
            p[awake[i]] += shares[m] * odds[i * readings + m]
        p[awake[i]] /= total


@kernel
def _forgetting(totals: Floats) -> Floats:
    """Return how many nats each memory has against it: one that forgets must predict better, the more was seen.

    It explores for ever. Where losses are always the same, say, it predicts them as well as a memory of everything.
    """
    against: Floats = 1.0 + (1.0 - RHOS) * totals[0] / usual(totals[0], totals[1])[1]
    take_logs(against)
    for r in range(RHOS.size):
        against[r] = min(against[r], MOST_AGAINST)
    return against


@kernel
def _weigh(state: Any, weights: Floats) -> int:
    """Write what each reading counts in the mixture; return how many have a weight.

    The level of a set is the same for all its arms, so the two readings that pool with one memory play alike: one of
    them has the weight of both.
    """
    against, top = _forgetting(state.totals), -np.inf
    for r in range(RHOS.size):
        for a in range(KAPPAS.size):
            m = r * KAPPAS.size + a
            weights[m] = EVIDENCE_FACTOR * (state.evidence[a, r] - against[r])
            top = max(top, weights[m])
    for m in range(weights.size):
        weights[m] -= top
    exponentiate(weights)
    for start in range(0, weights.size, KAPPAS.size):
        weights[start + POOLED] += weights[start + LEVELLED]
        weights[start + LEVELLED] = 0.0
    readings = 0
    for m in range(weights.size):
        if weights[m] < LEAST_WEIGHT:
            weights[m] = 0.0
        else:
            readings += 1
    return readings
