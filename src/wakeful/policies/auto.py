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
LONGEST_WAIT = 100.0  # observations by which the time until an arm is overdue grows at most beyond that of IMED
BOUND_WIDTH = 0.8  # of the bounds by which the shortest memory plays: as in `SleepingUCB(0.2)` for means near 1/2
BOUND_STEEPNESS = 2.5  # how much less an arm is played there the farther its mean is from the lowest bound
EVIDENCE_FACTOR = 2.0  # how many times the evidence for a reading counts
LEAST_WEIGHT = 1e-5  # the weight, beside the best, below which a reading does not play


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

    Each step is carried out for all readings and arms in one loop over flat arrays, which the compiler vectorises.
    """
    size = awake.size
    weights = np.empty(RHOS.size * KAPPAS.size)
    remembering, forgetting, shortest = _weigh(state.evidence, weights)
    by_odds = remembering + forgetting
    n, mean = np.empty((by_odds + shortest) * size), np.empty((by_odds + shortest) * size)
    read_set(state, weights, find(state.sets, state.set_counts, awake, REACH), awake, n, mean)
    _odds(size, remembering, n[: by_odds * size], mean[: by_odds * size])
    _bounds(size, n[by_odds * size :], mean[by_odds * size :])
    start, total = 0, 0.0
    for weight in weights:
        if weight > 0.0:
            _add(weight, awake, n, start, p)
            total += weight
            start += size
    for k in awake:
        p[k] /= total


@kernel
def _weigh(evidence: Floats, weights: Floats) -> tuple[int, int, int]:
    """Write what each reading counts in the mixture; return how many count all, some or the fewest decisions."""
    top = -np.inf
    for r in range(RHOS.size):
        for a in range(KAPPAS.size):
            top = max(top, evidence[a, r])
            weights[r * KAPPAS.size + a] = EVIDENCE_FACTOR * evidence[a, r]
    for m in range(weights.size):
        weights[m] -= EVIDENCE_FACTOR * top
    exponentiate(weights)
    remembering, forgetting, shortest = 0, 0, 0
    for m in range(weights.size):
        if weights[m] < LEAST_WEIGHT:
            weights[m] = 0.0
        elif m < KAPPAS.size:
            remembering += 1
        elif m < SHORTEST_MEMORY * KAPPAS.size:
            forgetting += 1
        else:
            shortest += 1
    return remembering, forgetting, shortest


@kernel
def _odds(size: int, remembering: int, n: Floats, mean: Floats) -> None:
    """Turn `n` into what readings play, up to a factor: Maillard sampling with relative entropies, greedier.

    `n` and `mean` hold the `size` awake arms of one reading after the other. The first readings, as many as
    `remembering`, count all decisions.
    """
    x, overdue, extra = np.empty(n.size), np.empty(n.size), np.empty(n.size)
    for start in range(0, n.size, size):
        best = 1.0
        for i in range(start, start + size):
            best = min(best, mean[i])
        for i in range(start, start + size):
            x[i], overdue[i] = mean[i] / best, (1.0 - mean[i]) / (1.0 - best)
    take_logs(x)
    take_logs(overdue)
    for i in range(n.size):
        x[i] = max(n[i] * (mean[i] * x[i] + (1.0 - mean[i]) * overdue[i]), 0.0)
        overdue[i] = max(-x[i], LOWEST)
    exponentiate(overdue)
    for start in range(0, n.size, size):
        greed, most = (GREED if start < remembering * size else GREED_FORGETTING) * (size + 2.0), 0.0
        for i in range(start, start + size):
            most = max(most, n[i])
        for i in range(start, start + size):
            overdue[i] *= most / min(size * n[i], n[i] + LONGEST_WAIT)
            extra[i] = 1.0 + greed * min(math.sqrt(2.0 * x[i]), BEND)  # the root: standard deviations
    take_logs(extra)
    for i in range(n.size):
        n[i] = max(-x[i] - extra[i] / (1.0 + overdue[i]), LOWEST)
    exponentiate(n)


@kernel
def _bounds(size: int, n: Floats, mean: Floats) -> None:
    """Turn `n`, laid out as in `_odds`, into what the shortest memory plays, up to a factor: mostly the lowest bound.

    The bound b of an arm of mean m is that of Wilson (1927), where `n (m - b)^2 = w b (1 - b)`.
    """
    for start in range(0, n.size, size):
        total, lowest, least = 1.0, 1.0, np.inf
        for i in range(start, start + size):
            total += n[i]
        width = BOUND_WIDTH * log(total)
        for i in range(start, start + size):
            share = width / n[i]
            root = math.sqrt(share * mean[i] * (1.0 - mean[i]) + 0.25 * share * share)
            lowest = min(lowest, mean[i] * mean[i] / (mean[i] + 0.5 * share + root))
        for i in range(start, start + size):
            n[i] *= (mean[i] - lowest) * (mean[i] - lowest) / (lowest * (1.0 - lowest))
            least = min(least, n[i])  # the width, but for rounding
        for i in range(start, start + size):
            n[i] = max(-BOUND_STEEPNESS * (n[i] - least), LOWEST)
    exponentiate(n)


@kernel
def _add(weight: float, awake: Ints, odds: Floats, start: int, p: Floats) -> None:
    """Add `weight` times the probabilities that have the odds from `start` on to `p`."""
    total = 0.0
    for i in range(awake.size):
        total += odds[start + i]
    for i in range(awake.size):
        p[awake[i]] += weight * odds[start + i] / total
