"""Compiled entry points of a policy: probabilities, one choice, one decision to count, one update, a whole run.

Each is a template; `compiled_entry` binds a policy's kernels into it. They take parameters and state as one plain
tuple, `fields`, because that is what the compiler unpacks fastest and what its cache recognises.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import bind_kernels, kernel
from wakeful.policies.counts import NO_COUNTS, count_decision, count_feedback

FLOOR = 1e-18  # an arm less likely than this is never drawn, so no importance weight exceeds its inverse
CLOSE = 1e-9  # how far from one the sum of probabilities may be
COIN = 0.5  # given to `remember` as its coin if the memo of the decision is known already

FINE, NOT_A_LAW, NOT_DRAWN, NO_MEMO = range(4)  # what `update` answers

N_PARAMETERS = 0  # bound: how many of `fields` are parameters
Parameters: Any = tuple  # bound: the named tuple of parameters
State: Any = tuple  # bound: the named tuple of state arrays


def law(parameters: Any, state: Any, awake: Ints, p: Floats) -> None:
    """Bound: write the probabilities of the `awake` arms into `p`, which is zero elsewhere."""


def learn(parameters: Any, state: Any, awake: Ints, p: Floats, arm: int, memo: float, loss: float) -> None:
    """Bound: add one feedback to `state`."""


@kernel
def remember(parameters: Any, state: Any, awake: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count one decision in `state` and return the number its feedback will need; by default nothing."""
    return 0.0


class Kernels(NamedTuple):
    """The compiled functions of a policy: its probabilities, its learning, and its memo of a decision.

    `law(parameters, state, awake, p)` fills `p`; `learn(parameters, state, awake, p, arm, memo, loss)`
    adds one feedback; `remember(parameters, state, awake, p, arm, coin)` counts a decision and returns
    its memo. `awake` holds the sorted indices of the awake arms, `coin` is uniform on [0, 1): the memo may
    depend on it, what is counted in the state may not, as a copy that counts the decision later does not have it.
    """

    law: Callable[..., None]
    learn: Callable[..., None]
    remember: Callable[..., float] = remember

    @property
    def counts_decisions(self) -> bool:
        """Whether choosing an arm changes the state."""
        return self.remember is not remember


@dataclass(frozen=True, eq=False)
class Entry:
    """An entry point: a template into which the kernels of a policy are bound."""

    name: str
    template: Callable[..., Any]
    examples: tuple[Any, ...]  # arguments of the types it is compiled for, without `fields`, its last one
    nogil: bool = False  # whether other threads run meanwhile


@cache
def compiled_entry(entry: Entry, name: str, kernels: Kernels, parameters: Any, state: Any) -> Any:
    """Bind the kernels of the policy called `name` into one template; it is compiled when it is first called."""
    types = bound_types(parameters, state)
    return bind_kernels(entry.template, f"{name}.{entry.name}", kernels._asdict(), nogil=entry.nogil, **types)


def bound_types(parameters: Any, state: Any) -> dict[str, Any]:
    """Return what templates call the named tuples of parameters and state, and the number of parameters."""
    return {"Parameters": parameters, "State": state, "N_PARAMETERS": len(parameters._fields)}


@kernel
def indices(mask: Mask) -> Ints:
    """Return the positions where `mask` is true; without branches, which would be mispredicted."""
    found = np.empty(mask.size, np.int64)
    n = 0
    for k in range(mask.size):
        found[n] = k
        n += int(mask[k])
    return found[:n]


@kernel
def draw(p: Floats, awake: Ints, u: float) -> tuple[int, float]:
    """Draw an arm from `p` with the uniform `u`; return it and a new uniform, the position of `u` in its share."""
    before = 0.0
    last = awake[0]
    for k in awake:
        if p[k] >= FLOOR:
            last = k
            if u < before + p[k]:
                return k, max(0.0, min((u - before) / p[k], 1.0 - 2.0**-53))
            before += p[k]
    return last, 1.0 - 2.0**-53


@kernel
def is_drawable(p: Floats, awake: Ints) -> bool:
    """Whether `p` is not negative on the `awake` arms and sums to one there."""
    total = 0.0
    for k in awake:
        total += p[k] if p[k] >= 0.0 else np.nan
    return bool(abs(total - 1.0) <= CLOSE)


def _law(mask: Mask, p: Floats, fields: tuple[Any, ...]) -> bool:
    """Fill `p` with the probabilities of the arms of `mask`; return whether `_choose` could draw from them."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    awake = indices(mask)
    law(parameters, state, awake, p)
    return is_drawable(p, awake)


def _choose(mask: Mask, u: float, p: Floats, counts: Floats, fields: tuple[Any, ...]) -> tuple[int, float, float]:
    """Fill `p`, draw an arm with the uniform `u`, count the decision; return arm, probability and memo.

    The arm is -1, and nothing is counted, if the kernel wrote invalid probabilities.
    """
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    awake = indices(mask)
    law(parameters, state, awake, p)
    if not is_drawable(p, awake):
        return -1, 0.0, 0.0
    arm, coin = draw(p, awake, u)
    count_decision(counts, mask, awake, arm)
    return arm, p[arm], remember(parameters, state, awake, p, arm, coin)


@kernel
def fault(mask: Mask, p: Floats, arm: int, probability: float, memo: float) -> int:
    """Return what is wrong with a decision: `FINE` if `p` are probabilities on `mask` that `arm` can be drawn from."""
    total = 0.0
    for k in range(p.size):
        if not 0.0 <= p[k] <= 1.0 + CLOSE or (p[k] > 0.0 and not mask[k]):
            return NOT_A_LAW
        total += p[k]
    if abs(total - 1.0) > CLOSE:
        return NOT_A_LAW
    if arm >= p.size or p[arm] != probability or p[arm] < FLOOR:
        return NOT_DRAWN
    return FINE if 0.0 <= memo < np.inf else NO_MEMO


def _admit(
    mask: Mask, p: Floats, arm: int, probability: float, memo: float, counts: Floats, fields: tuple[Any, ...]
) -> int:
    """Count a decision that another copy made, unless there is a fault in it."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    answer = fault(mask, p, arm, probability, memo)
    if answer == FINE:
        awake = indices(mask)
        count_decision(counts, mask, awake, arm)
        remember(parameters, state, awake, p, arm, COIN)
    return answer


def _update(
    mask: Mask,
    p: Floats,
    arm: int,
    probability: float,
    memo: float,
    loss: float,
    counts: Floats,
    fields: tuple[Any, ...],
) -> int:
    """Add one feedback to the state, unless there is a fault in the decision."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    answer = fault(mask, p, arm, probability, memo)
    if answer == FINE:
        awake = indices(mask)
        count_feedback(counts, mask, awake, p, arm, loss)
        learn(parameters, state, awake, p, arm, memo, loss)
    return answer


def _play(awake: Mask, losses: Floats, rng: np.random.Generator, choices: Ints, fields: tuple[Any, ...]) -> None:
    """Play every row of `awake` and `losses`; write the arms into `choices`, -1 where no arm is awake."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    rounds, n_arms = awake.shape
    p = np.zeros(n_arms)
    arms = np.empty(n_arms, np.int64)
    for t in range(rounds):
        n = 0
        for k in range(n_arms):
            arms[n] = k  # as in `indices`
            n += int(awake[t, k])
        choices[t] = -1
        if n > 0:
            here = arms[:n]
            law(parameters, state, here, p)
            arm, coin = draw(p, here, rng.random())
            memo = remember(parameters, state, here, p, arm, coin)
            learn(parameters, state, here, p, arm, memo, losses[t, arm])
            choices[t] = arm
            for k in here:
                p[k] = 0.0


_ONE, _INTS, _MASK = np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.bool_)
_ROWS = np.zeros((1, 1), np.bool_), np.zeros((1, 1))
ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("law", _law, (_MASK, _ONE)),
        Entry("choose", _choose, (_MASK, 0.5, _ONE, NO_COUNTS)),
        Entry("admit", _admit, (_MASK, _ONE, 0, 1.0, 0.0, NO_COUNTS)),
        Entry("update", _update, (_MASK, _ONE, 0, 1.0, 0.0, 0.5, NO_COUNTS)),
        Entry("play", _play, (*_ROWS, np.random.default_rng(0), _INTS), nogil=True),
    )
}
