"""`DuelingPolicy`, the class of all dueling policies: they draw one arm after the other, given those before it.

A duel has two arms, left and right; a battle has more. A symmetric K x K mask, `pairs`, says which arms may meet. The
first arm is one that has a partner; each later arm is one that may meet all arms chosen before it (in a duel, the
paper's A_t(i)). A policy learns from the arms drawn, the probabilities and the sets they were drawn from, and how the
win was shared.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from wakeful.duels.kernels import DUEL_EXAMPLES, DuelKernels, Pick, compiled_step, plain_step
from wakeful.inputs import instance_of, must_be
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import specialised
from wakeful.policies.spec import Recipe, full_name
from wakeful.policies.state_ranges import ANY_MEMO, Range, Ranges, is_like, refuse_out_of_range


class DuelingPolicy(Recipe, ABC):
    """A rule that chooses the arms of a duel; subclass it as a frozen dataclass of parameters.

    Write `start` and `kernels`, or `start`, `law`, `learn` and perhaps `remember` in plain Python.
    """

    symmetric: ClassVar[bool] = True  # relabelling the arms relabels the probabilities
    order_free: ClassVar[bool] = True  # the same feedback in another order gives the same probabilities
    from_others: ClassVar[str | None] = None  # duels of others: "counts", "weights" (`spectate.py`), or refused
    ranges: ClassVar[Ranges] = {}  # what the numbers of each field of the state may be, by the name of the field

    @property
    def kernels(self) -> DuelKernels | None:
        """The compiled functions of the policy, or None if it is in plain Python; may be a class attribute."""
        return None

    @abstractmethod
    def start(self, n_arms: int, size: int = 2) -> Any:
        """Return the state before the first round, for `size` arms at a time: a named tuple of NumPy arrays."""

    def memo_range(self, n_arms: int) -> Range:
        """Return what the memo of one position may be: feedback with another one is refused."""
        return ANY_MEMO

    def law(self, state: Any, pairs: Mask, awake: Ints, chosen: Ints, coin: float, p: Floats) -> None:
        """Write the probabilities of the next arm, one of `awake`, into `p`."""
        raise TypeError(must_be("policy", "one with the methods law and learn, or with kernels", self))

    def remember(self, state: Any, awake: Ints, chosen: Ints, p: Floats, arm: int, coin: float) -> float:
        """Count one position of a decision in `state`; return its memo."""
        return 0.0

    def learn(self, state: Any, pick: Pick, shares: Floats) -> None:
        """Add one feedback to `state`, in place."""
        raise TypeError(must_be("policy", "one with the methods law and learn, or with kernels", self))

    def grow(self, state: Any, n_arms: int, size: int = 2) -> Any:
        """Return `state` for `n_arms` arms and `size` at a time, the new ones as if they had been asleep so far."""
        grown = self.start(n_arms, size)
        for old, new in zip(state, grown, strict=True):
            new[tuple(map(slice, old.shape))] = old
        return grown


def a_dueling_policy(value: object) -> DuelingPolicy:
    """Return `value` if it is a dueling policy, else say what is wrong with it."""
    rule = "a policy for duels, such as Sparring(SIExp3())"
    policy: DuelingPolicy = instance_of("policy", value, (DuelingPolicy,), rule)
    return policy


def fitting_duel_state(policy: DuelingPolicy, state: Any, n_arms: int, size: int) -> Any:
    """Return `state` if it is one that the policy can have: fields, shapes, types and ranges; kernels trust them."""
    if not is_like(state, policy.start(n_arms, size)):
        raise ValueError(must_be("state", f"one that {policy!r}.start({n_arms}, {size}) could have grown into", state))
    refuse_out_of_range(state, policy.ranges)
    return state


def step(policy: DuelingPolicy, name: str, state: Any, n_arms: int) -> Callable[..., Any]:
    """Return the entry point called `name` of a policy: compiled if it has kernels, otherwise in plain Python."""
    types: tuple[Any, Any] = type(policy.parameters(n_arms)), type(state)
    if policy.kernels is None:
        return plain_step(name, policy, *types)
    label = full_name(policy)
    entry = compiled_step(name, label, policy.kernels, *types)
    return specialised(entry, label, *DUEL_EXAMPLES[name], policy.fields(state, n_arms))  # type: ignore[no-any-return]
