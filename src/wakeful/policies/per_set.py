"""PerSet: one learner for each distinct awake set, for worlds with few of them."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from wakeful.inputs import whole
from wakeful.limits import claim
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.awake_sets import count, find
from wakeful.numerics.compile import kernel
from wakeful.policies.decision import Decision
from wakeful.policies.kernels import Kernels
from wakeful.policies.policy import Policy, a_policy, state_type
from wakeful.policies.spec import set_frozen
from wakeful.policies.stacked import Copies, around, rows, stack, stacked_type
from wakeful.policies.state_ranges import COUNTS, Ranges

TABLE = 2  # the fields of a state before the stacked ones of the inner policy: sets, set_counts


@dataclass(frozen=True)
class PerSet(Copies, Policy):  # type: ignore[override]  # asks the inner policy
    """One copy of a policy for each awake set: small *policy* regret where there are few sets.

    The first `max_sets` distinct sets get a learner of their own, in the order in which they appear; all
    later ones share one more. Memory is that of `max_sets + 1` inner states, from the start.

    Parameters:
        policy: what plays on each set
        max_sets: how many sets get a learner of their own

    >>> from wakeful import SleepingUCB
    >>> PerSet(SleepingUCB(), max_sets=3).start(n_arms=2).inner_losses.shape
    (4, 2)
    """

    policy: Policy
    max_sets: int = 256

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        a_policy(self.policy)
        set_frozen(self, max_sets=whole("max_sets", self.max_sets, "a number of sets, at least 1", 1))

    @property
    def from_others(self) -> str | None:  # type: ignore[override]
        """How the inner policy learns from decisions of others."""
        return self.policy.from_others

    @property
    def ranges(self) -> Ranges:  # type: ignore[override]
        """Those of the inner policy, and counts of sets."""
        return {"set_counts": COUNTS, **super().ranges}

    @property
    def kernels(self) -> Kernels | None:
        """The compiled functions of this policy, if the inner policy has any."""
        inner = self.policy.kernels
        return None if inner is None else _kernels(inner, state_type(self.policy))

    def start(self, n_arms: int) -> Any:
        """Return an empty table of sets and `max_sets + 1` inner states, stacked."""
        inner = self.policy.start(n_arms)
        size = sum(array.nbytes for array in inner) + n_arms + np.dtype(np.int64).itemsize
        claim("max_sets", self.max_sets, (self.max_sets + 1) * size)
        table = np.zeros((self.max_sets, n_arms), np.bool_), np.zeros(self.max_sets, np.int64)
        kind = stacked_type("PerSetState", inner._fields, "sets", "set_counts")
        return kind(*table, *stack(inner, self.max_sets + 1))

    def grow(self, state: Any, n_arms: int) -> Any:
        """Grow the table and every inner state."""
        grown = self.start(n_arms)
        grown.sets[:, : state.sets.shape[1]] = state.sets
        grown.set_counts[:] = state.set_counts
        self._grow_copies(state[TABLE:], grown[TABLE:], n_arms)
        return grown

    def probabilities(self, state: Any, awake: Mask) -> Floats:
        """Return the probabilities of this set's own learner."""
        if self.kernels is not None:
            return super().probabilities(state, awake)
        row = row_of(state, np.flatnonzero(awake))
        return self.policy.probabilities(self._copy(state[TABLE:], row), awake)

    def remember(self, state: Any, decision: Decision, coin: float) -> float:
        """Count the set, and the decision in its learner."""
        if self.kernels is not None:
            return super().remember(state, decision, coin)
        row = counted_row(state, np.array(decision.awake, np.int64))
        return self.policy.remember(self._copy(state[TABLE:], row), decision, coin)

    def update(self, state: Any, decision: Decision, loss: float) -> None:
        """Teach this set's own learner."""
        if self.kernels is not None:
            super().update(state, decision, loss)
        else:
            row = owned_row(state, np.array(decision.awake, np.int64))
            self.policy.update(self._copy(state[TABLE:], row), decision, loss)


@kernel
def row_of(state: Any, awake: Ints) -> int:
    """Return the row of the learner for the set `awake`: its own, the next free one, or the shared last."""
    row = find(state.sets, state.set_counts, awake)
    return row if row >= 0 else state.set_counts.size


@kernel
def owned_row(state: Any, awake: Ints) -> int:
    """Return the same row, taken by `awake` if it was free: feedback may be older than this copy of the state."""
    row = row_of(state, awake)
    if row < state.set_counts.size and state.set_counts[row] == 0:
        count(state.sets, state.set_counts, row, awake)
    return row


@kernel
def counted_row(state: Any, awake: Ints) -> int:
    """Return the same row, taken by `awake` if it was free, and count the decision there."""
    row = row_of(state, awake)
    if row < state.set_counts.size:
        count(state.sets, state.set_counts, row, awake)
    return row


# Bound by `_kernels`: the inner policy's state and kernels.
Inner: Any = tuple
inner_law: Any = None
inner_learn: Any = None
inner_remember: Any = None


def _law(parameters: Any, state: Any, awake: Ints, p: Floats) -> None:
    """Ask the learner of this set."""
    inner_law(parameters, Inner(*rows(state[TABLE:], row_of(state, awake))), awake, p)


def _learn(parameters: Any, state: Any, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Teach the learner of this set."""
    inner_learn(parameters, Inner(*rows(state[TABLE:], owned_row(state, awake))), awake, p, arm, memo, loss)


def _remember(parameters: Any, state: Any, awake: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count the set, and the decision in its learner."""
    learner = Inner(*rows(state[TABLE:], counted_row(state, awake)))
    return float(inner_remember(parameters, learner, awake, p, arm, coin))


@cache
def _kernels(inner: Kernels, state: Any) -> Kernels:
    """Return the three kernels around those of the inner policy."""
    return Kernels(*around(inner, state, _law, _learn, _remember))
