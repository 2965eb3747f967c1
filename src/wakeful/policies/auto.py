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
from wakeful.numerics.exponentials import LOWEST, exponentiate, log, take_logs
from wakeful.policies.guard import GUARD_RANGES, MOST_EXPLORED, guard_bound, guard_law, guard_learn, no_guard
from wakeful.policies.kernels import Kernels
from wakeful.policies.policy import Guarantee, Policy, checked_horizon_of
from wakeful.policies.records import KAPPAS, RANGES, REACH, RHOS, SHORTEST_MEMORY, add_loss, no_records, read_set
from wakeful.policies.spec import set_frozen
from wakeful.policies.state_ranges import NOTHING, Range, Ranges

GREED = 4.0  # how much less an arm is played with each standard deviation, for every awake arm and two more
GREED_FORGETTING = 8.0  # the same for a reading that forgets: what it explores today it will not know tomorrow
BEND = 2.0  # standard deviations beyond which more do not make an arm rarer still
PATIENCE = 100.0  # observations by which the time until an arm is overdue grows at most beyond that of IMED
BOUND_WIDTH = 0.8  # of the bounds by which the shortest memory plays: as in `SleepingUCB(0.2)` for means near 1/2
BOUND_STEEPNESS = 2.5  # how much less an arm is played there the farther its mean is from the lowest bound
SHARPNESS = 2.0  # how many times the evidence for a reading counts
NEGLIGIBLE = 1e-5  # the weight, beside the best, below which a reading does not play


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
    guard_gains: Floats
    guard_squares: Floats
    guard_losses: Floats
    switched: Ints


class Belief(NamedTuple):
    """What `Auto` believes of the world, and the shares of its belief that support it."""

    text: str
    pooling: dict[float, float]  # kappa, how much other awake sets tell about this one: its share
    memory: dict[float, float]  # how many of the last decisions count: its share

    def __str__(self) -> str:
        """Return the sentence."""
        return self.text


@dataclass(frozen=True)
class Auto(Policy):
    """The policy to start with: it finds out whether losses depend on what is awake, and whether the world moves.

    Losses are counted by arm and by awake set, with four lengths of memory. Twenty ways to read these records (five
    degrees of pooling over awake sets times four memories) predict every loss; those that predict well decide. A
    reading plays arm k with probability proportional to `exp(-x - y)`, where x is n(k) times the relative entropy of
    the mean loss of k to that of the best awake arm, and y makes the policy greedier as long as k is not overdue;
    `docs/auto.md` has all of it.

    With `guard`, external regret is bounded against any losses and awake sets: every awake arm is also tried with
    probability `guard t^(-1/3) / |S|`, and once the estimated regret to some arm is larger than chance explains,
    SB-EXP3 takes over for good.

    Parameters:
        max_sets: how many awake sets have a record of their own; the others are read from the pooled record
        guard: how much is explored for the bound against adversaries; 0 for no bound, 0.25 for a sensible one

    >>> from wakeful import Bandit
    >>> bandit = Bandit(Auto(), arms=["tea", "coffee", "juice"], seed=7)
    >>> for _ in range(100):
    ...     decision = bandit.choose()
    ...     bandit.update(decision, reward=1.0 if decision.arm == "tea" else 0.0)
    >>> bool(bandit.probabilities()[0] > 0.99)
    True
    >>> print(bandit.policy.belief(bandit.state))
    Losses do not depend on what is available (60 %); all decisions count (60 %).
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
        """The compiled half."""
        return Kernels(_law, _learn)

    def memo_range(self, n_arms: int) -> Range:
        """Return that there is no memo."""
        return NOTHING

    def start(self, n_arms: int) -> AutoState:
        """Return records of nothing."""
        return AutoState(*no_records(n_arms, self.max_sets), *no_guard(n_arms))

    def belief(self, state: Any) -> Belief:
        """Return what the policy believes of the world, in words and numbers."""
        shares = np.exp(state.evidence - state.evidence.max())
        shares /= shares.sum()
        pooling = dict(zip(KAPPAS.tolist(), shares.sum(axis=1).tolist(), strict=True))
        lengths = [math.inf if rho == 1.0 else float(round(1.0 / (1.0 - rho))) for rho in RHOS.tolist()]
        memory = dict(zip(lengths, shares.sum(axis=0).tolist(), strict=True))
        text = f"{_pooling_text(pooling)}; {_memory_text(memory)}."
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


def _pooling_text(pooling: dict[float, float]) -> str:
    """Return in words whether losses depend on what is awake, by the larger share."""
    apart = 1.0 - pooling[math.inf]
    if pooling[math.inf] >= 0.5:
        return f"Losses do not depend on what is available ({pooling[math.inf]:.0%})".replace("%", " %")
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
    """Write into `p` what the readings play, each weighted by its evidence.

    All readings are computed together, step by step, so that the compiler vectorises each step over readings and arms.
    """
    weights = np.empty((RHOS.size, KAPPAS.size))
    remembering, forgetting, shortest = _weigh(state.evidence, weights)
    by_odds, lines = remembering + forgetting, remembering + forgetting + shortest
    n, mean = np.empty((lines, awake.size)), np.empty((lines, awake.size))
    row = find(state.sets, state.set_counts, awake, REACH)
    read_set(state, weights, row, awake, n, mean)
    _odds(remembering, n[:by_odds], mean[:by_odds])
    _bounds(n[by_odds:], mean[by_odds:])
    line, total = 0, 0.0
    for weight in weights.reshape(weights.size):
        if weight > 0.0:
            _add(weight, awake, n[line], p)
            total += weight
            line += 1
    for k in awake:
        p[k] /= total


@kernel
def _weigh(evidence: Floats, weights: Floats) -> tuple[int, int, int]:
    """Write what each reading counts in the mixture; return how many count all, some or the fewest decisions."""
    top = evidence.max()
    for r in range(RHOS.size):
        for a in range(KAPPAS.size):
            weights[r, a] = SHARPNESS * (evidence[a, r] - top)
    exponentiate(weights.reshape(weights.size))
    remembering, forgetting, shortest = 0, 0, 0
    for r in range(RHOS.size):
        for a in range(KAPPAS.size):
            if weights[r, a] < NEGLIGIBLE:
                weights[r, a] = 0.0
            elif r == 0:
                remembering += 1
            elif r < SHORTEST_MEMORY:
                forgetting += 1
            else:
                shortest += 1
    return remembering, forgetting, shortest


@kernel
def _odds(remembering: int, n: Floats, mean: Floats) -> None:
    """Turn each line of `n` into what one reading plays, up to a factor: Maillard sampling, greedier.

    The first lines, as many as `remembering`, are of readings that count all decisions.
    """
    lines, size = n.shape
    logs, extra = np.empty((2, lines, size)), np.empty((lines, size))
    for m in range(lines):
        best = mean[m].min()
        for i in range(size):
            logs[0, m, i], logs[1, m, i] = mean[m, i] / best, (1.0 - mean[m, i]) / (1.0 - best)
    take_logs(logs.reshape(logs.size))
    x, overdue = logs[0], logs[1]  # they take the place of the logarithms
    for m in range(lines):
        for i in range(size):
            x[m, i] = max(n[m, i] * (mean[m, i] * logs[0, m, i] + (1.0 - mean[m, i]) * logs[1, m, i]), 0.0)
            overdue[m, i] = max(-x[m, i], LOWEST)
    exponentiate(overdue.reshape(overdue.size))
    for m in range(lines):
        greed, most = (GREED if m < remembering else GREED_FORGETTING) * (size + 2.0), n[m].max()
        for i in range(size):
            overdue[m, i] *= most / min(size * n[m, i], n[m, i] + PATIENCE)
            extra[m, i] = 1.0 + greed * min(math.sqrt(2.0 * x[m, i]), BEND)  # the root: standard deviations
    take_logs(extra.reshape(extra.size))
    for m in range(lines):
        for i in range(size):
            n[m, i] = max(-x[m, i] - extra[m, i] / (1.0 + overdue[m, i]), LOWEST)
    exponentiate(n.reshape(n.size))


@kernel
def _bounds(n: Floats, mean: Floats) -> None:
    """Turn each line of `n` into what the shortest memory plays, up to a factor: most often by the lowest lower bound.

    The bound b of an arm of mean m is that of Wilson (1927), where `n (m - b)^2 = w b (1 - b)`.
    """
    lines, size = n.shape
    for m in range(lines):
        total, lowest = 1.0, 1.0
        for i in range(size):
            total += n[m, i]
        width = BOUND_WIDTH * log(total)
        for i in range(size):
            share = width / n[m, i]
            root = math.sqrt(share * mean[m, i] * (1.0 - mean[m, i]) + 0.25 * share * share)
            lowest = min(lowest, mean[m, i] * mean[m, i] / (mean[m, i] + 0.5 * share + root))
        for i in range(size):
            n[m, i] *= (mean[m, i] - lowest) * (mean[m, i] - lowest) / (lowest * (1.0 - lowest))
        least = n[m].min()  # the width, but for rounding
        for i in range(size):
            n[m, i] = max(-BOUND_STEEPNESS * (n[m, i] - least), LOWEST)
    exponentiate(n.reshape(n.size))


@kernel
def _add(weight: float, awake: Ints, odds: Floats, p: Floats) -> None:
    """Add `weight` times the probabilities that have these odds to `p`."""
    total = 0.0
    for i in range(awake.size):
        total += odds[i]
    for i in range(awake.size):
        p[awake[i]] += weight * odds[i] / total
