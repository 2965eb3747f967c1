"""`Policy`, the class of all policies: parameters, an initial state, probabilities, and an update.

A `Policy` is a frozen dataclass of parameters. Its state is a named tuple of arrays that the caller keeps. The
state is a sum of one increment per feedback (and one per decision), so that late, reordered and missing feedback
need no special care. The `Decision` carries what its feedback needs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.inputs import instance_of, must_be, real, truths, whole
from wakeful.numerics.arrays import Floats, Mask
from wakeful.numerics.compile import specialised
from wakeful.policies.counts import NO_COUNTS
from wakeful.policies.decision import Decision
from wakeful.policies.kernels import CLOSE, ENTRIES, FINE, Entry, Kernels, compiled_entry, draw, indices
from wakeful.policies.spec import Recipe, full_name
from wakeful.policies.state_ranges import ANY_MEMO, Range, Ranges, is_like, refuse_out_of_range

LAW = "non-negative, zero on arms that are asleep, summing to one"


class Guarantee(NamedTuple):
    """What a policy's theory promises: a bound on the expectation of one regret, in one kind of world."""

    regret: str  # "internal", "external" or "ordering"
    losses: str  # "any", or "iid" where losses must be drawn independently of what is awake
    bound: float


class Policy(Recipe, ABC):
    """A way to choose among awake arms; subclass it as a frozen dataclass of parameters.

    Write `start`, `probabilities` and `update` in plain Python, or `start` and `kernels` (then the other
    two come with them, and the compiled loop too). Class variables say what `check_policy` may expect.
    """

    symmetric: ClassVar[bool] = True  # relabelling the arms relabels the probabilities
    order_free: ClassVar[bool] = True  # the same feedback in another order gives the same probabilities
    grows: ClassVar[bool] = False  # the state takes more memory the longer it runs
    from_others: ClassVar[str | None] = None  # decisions of others: "counts", "weights" (`spectate.py`), or refused
    keeps_switch_gains: ClassVar[bool] = False  # `switch_gains` works, so that bandits count their squares
    ranges: ClassVar[Ranges] = {}  # what the numbers of each field of the state may be, by the name of the field

    @property
    def kernels(self) -> Kernels | None:
        """The compiled functions of the policy, or None if it is in plain Python; may be a class attribute."""
        return None

    @abstractmethod
    def start(self, n_arms: int) -> Any:
        """Return the state before the first round: a named tuple of NumPy arrays."""

    def memo_range(self, n_arms: int) -> Range:
        """Return what the memo of a decision may be: feedback with another one is refused."""
        return ANY_MEMO

    def probabilities(self, state: Any, awake: Mask) -> Floats:
        """Return the probabilities of the next choice: length K, zero where `awake` is false, summing to one."""
        mask = np.array(truths("awake", awake, "a mask of K booleans"))
        p = np.zeros(mask.size)
        fitting_state(self, state, p.size)
        if mask.ndim != 1 or not mask.any():
            raise ValueError(must_be("awake", "a mask of K booleans, one of them true", awake))
        if not compiled(self, "law", state, p.size)(mask, p, self.fields(state, p.size)):
            raise ValueError(must_be(f"probabilities of {self!r}", LAW, p))
        return p

    def remember(self, state: Any, decision: Decision, coin: float) -> float:
        """Count a decision in `state`; return its memo. `coin` is uniform, independent of the arm."""
        if self.kernels is None:
            return 0.0
        p, awake = decision.probabilities, np.array(decision.awake, np.int64)
        fitting_state(self, state, p.size)
        return self.kernels.remember(self.parameters(p.size), state, awake, p, decision.arm, coin)

    def update(self, state: Any, decision: Decision, loss: float) -> None:
        """Add one feedback to `state`, in place; `decision` holds indices of arms."""
        arm, probability, awake, p, _, memo, _ = decision
        fitting_state(self, state, len(p))
        mask = np.zeros(len(p), np.bool_)
        for k in (arm, *awake):
            if whole("decision.arm", k, f"indices below {len(p)}", 0) >= len(p):
                raise ValueError(must_be("decision.arm", f"indices below {len(p)}", k))
            mask[k] = k in awake
        real("loss", loss, "a number between 0 and 1", 0.0, 1.0)
        checked_memo("decision.memo", memo, self.memo_range(len(p)))
        law = np.array(p, np.float64)
        learn = compiled(self, "update", state, law.size)
        fields = self.fields(state, law.size)
        if learn(mask, law, arm, float(probability), float(memo), loss, NO_COUNTS, fields) != FINE:
            raise ValueError(must_be("decision", "one whose arm can be drawn from its probabilities", decision))

    def grow(self, state: Any, n_arms: int) -> Any:
        """Return `state` for `n_arms` arms, the new ones as if they had been asleep so far."""
        grown = self.start(n_arms)
        for old, new in zip(state, grown, strict=True):
            new[tuple(map(slice, old.shape))] = old
        return grown

    def guarantee(self, rounds: int, n_arms: int, awake_total: int) -> Guarantee | None:
        """Return the bound proven for `rounds` rounds with `awake_total` awake arms in sum, if there is one."""
        return None

    def switch_gains(self, state: Any) -> Floats:
        """Return the K x K estimated gains of playing j whenever i was played, where the policy keeps them."""
        raise ValueError(must_be("policy", "one that estimates switch gains, such as SIExp3()", self))

    def words(self, state: Any, names: Sequence[Hashable]) -> str:
        """Return what the policy believes, in a sentence about the arms called `names`, if it has anything to say."""
        return ""


def fitting_state(policy: Policy, state: Any, n_arms: int) -> Any:
    """Return `state` if it is one that the policy can have: fields, shapes, types and ranges; kernels trust them."""
    free = policy.grows and policy.kernels is None  # only plain Python can give a state other shapes
    if not is_like(state, policy.start(n_arms), free):
        raise ValueError(must_be("state", f"one that {policy!r}.start({n_arms}) could have grown into", state))
    refuse_out_of_range(state, policy.ranges)
    return state


def checked_memo(name: str, memo: Any, allowed: Range) -> float:
    """Return a memo as a float, if it is one that the policy writes."""
    if type(memo) is float and allowed.low <= memo <= allowed.high:
        return memo
    return real(name, memo, f"what the policy noted, {allowed}", allowed.low, allowed.high)


def state_type(policy: Policy) -> Any:
    """Return the type of a policy's states, however many arms it asks for."""
    n_arms = 1
    while True:
        try:
            return type(policy.start(n_arms))
        except ValueError:
            n_arms *= 2
            if n_arms > 1 << 20:
                raise


def a_policy(value: object) -> Policy:
    """Return `value` if it is a policy, else say what is wrong with it."""
    policy: Policy = instance_of("policy", value, (Policy,), "a policy for bandits, such as SIExp3()")
    return policy


def checked_horizon_of(rounds: Any, n_arms: Any, awake_total: Any) -> None:
    """Refuse numbers of rounds, arms and awake arms that no history has."""
    whole("rounds", rounds, "a number of rounds", 0)
    whole("n_arms", n_arms, "a number of arms, at least 1", 1)
    real("awake_total", awake_total, "a sum of |S_t|", 0.0)


def compiled(policy: Policy, entry: str | Entry, state: Any, n_arms: int) -> Callable[..., Any]:
    """Return an entry point of a policy with kernels, one of `ENTRIES` or another, compiled for this state."""
    if policy.kernels is None:
        rule = "one with the methods probabilities and update, or with kernels"
        raise TypeError(must_be("policy", rule, policy))
    types: tuple[Any, Any] = type(policy.parameters(n_arms)), type(state)
    name = full_name(policy)
    wanted = ENTRIES[entry] if isinstance(entry, str) else entry
    lazy = compiled_entry(wanted, name, policy.kernels, *types)
    return specialised(lazy, name, *wanted.examples, policy.fields(state, n_arms))  # type: ignore[no-any-return]


def decide(policy: Policy, state: Any, awake: Mask, uniform: Callable[[], float], clock: int) -> Decision:
    """Choose an arm with one uniform number in plain Python, for policies without kernels; arms are indices."""
    p = plain_law(policy, state, awake)
    here = indices(awake)
    arm, coin = draw(p, here, uniform())
    decision = Decision(int(arm), float(p[arm]), tuple(here.tolist()), p, clock, 0.0)
    memo = policy.remember(state, decision, coin)
    return decision._replace(memo=memo) if memo else decision


def plain_law(policy: Policy, state: Any, awake: Mask) -> Floats:
    """Return a copy of what `policy.probabilities` returns, if these are valid probabilities."""
    p = np.array(policy.probabilities(state, awake.copy()), dtype=np.float64)
    if not is_law(p, awake):
        raise ValueError(must_be(f"{type(policy).__name__}.probabilities", LAW, p))
    return p


def is_law(p: Floats, awake: Mask) -> bool:
    """Whether `p` are probabilities of the arms of `awake`: non-negative, zero elsewhere, summing to one."""
    fits = p.shape == awake.shape and bool((p >= 0.0).all()) and not p[~awake].any()
    return fits and abs(float(p.sum()) - 1.0) <= CLOSE
