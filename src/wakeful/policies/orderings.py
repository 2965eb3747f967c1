"""Policies over orderings of the arms: exponential weights over all K! of them, and a fixed one."""

import math
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wakeful.inputs import must_be, whole
from wakeful.numerics.arrays import Floats, Ints
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exact_log, exp
from wakeful.policies.kernels import Kernels
from wakeful.policies.learning_rates import checked_factor
from wakeful.policies.policy import Guarantee, Policy, checked_horizon_of
from wakeful.policies.spec import set_frozen
from wakeful.policies.state_ranges import COUNTS, ESTIMATES, NOTHING, Range, Ranges
from wakeful.policies.uniform import CountState, count_learn

MOST_ORDERED_ARMS = 7  # 5,040 orderings; one more arm would be eight times that


class OrderingState(NamedTuple):
    """`losses[n]`: estimated loss of always playing the first awake arm of ordering n."""

    losses: Floats  # (K!,)
    clock: Ints  # decisions


class Orderings(NamedTuple):
    """All orderings, in lexicographic order, and the learning rate's numerator."""

    orderings: Ints  # (K!, K)
    numerator: float


@dataclass(frozen=True)
class OrderingExp4(Policy):
    """EXP4 over all K! orderings: the optimal but inefficient algorithm for ordering regret, any losses.

    Each ordering advises its first awake arm; `p` is their average under weights `exp(-eta_t L[n])`,
    `eta_t = scale sqrt(log K! / (K t))`, and an ordering that advised the played arm k gets `L[n] += l / p(k)`.
    O(K! K) a round, so at most seven arms.

    Parameters:
        scale: what the learning rate is multiplied by

    >>> OrderingExp4().start(n_arms=4).losses.size
    24
    """

    scale: float = 1.0

    from_others: ClassVar[str | None] = "weights"
    ranges: ClassVar[Ranges] = {"losses": ESTIMATES, "clock": COUNTS}

    def __post_init__(self) -> None:
        """Refuse parameters that make no sense."""
        set_frozen(
            self,
            scale=checked_factor("scale", self.scale),
        )

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_exp4_law, _exp4_learn, _exp4_remember)

    def memo_range(self, n_arms: int) -> Range:
        """Return zero: decisions of this policy have no memo."""
        return NOTHING

    def start(self, n_arms: int) -> OrderingState:
        """Return no losses, for at most `MOST_ORDERED_ARMS` arms."""
        if n_arms > MOST_ORDERED_ARMS:
            raise ValueError(must_be("arms", f"at most {MOST_ORDERED_ARMS} for OrderingExp4", n_arms))
        return OrderingState(np.zeros(math.factorial(n_arms)), np.zeros(1, np.int64))

    def parameters(self, n_arms: int) -> Orderings:
        """Return all orderings of `n_arms` arms, and the rate."""
        numerator = self.scale * math.sqrt(_log_orderings(n_arms) / n_arms)
        return Orderings(_all_orderings(n_arms), numerator)

    def grow(self, state: OrderingState, n_arms: int) -> OrderingState:
        """Give each ordering the losses of the same ordering without the new arms, which were asleep so far."""
        grown = self.start(n_arms)
        grown.clock[:] = state.clock
        old = next(k for k in range(1, n_arms + 1) if math.factorial(k) == state.losses.size)
        position = {tuple(ordering): n for n, ordering in enumerate(_all_orderings(old).tolist())}
        for n, ordering in enumerate(_all_orderings(n_arms).tolist()):
            grown.losses[n] = state.losses[position[tuple(k for k in ordering if k < old)]]
        return grown

    def guarantee(self, rounds: int, n_arms: int, awake_total: int) -> Guarantee:
        """Return the bound on ordering regret, any losses: `log K! / eta_T + (K / 2) sum eta_t`."""
        checked_horizon_of(rounds, n_arms, awake_total)
        size, c = _log_orderings(n_arms), self.parameters(n_arms).numerator
        return Guarantee("ordering", "any", (size / c + n_arms * c) * math.sqrt(rounds))


@dataclass(frozen=True)
class FixedOrdering(Policy):
    """Play the first awake arm of a fixed ordering; it learns nothing.

    Parameters:
        ordering: indices of arms, best first; arms it does not name come after it, in their own order

    >>> import numpy as np
    >>> policy = FixedOrdering((2, 0))
    >>> policy.probabilities(policy.start(3), np.array([True, True, False]))
    array([1., 0., 0.])
    """

    ordering: tuple[int, ...]

    symmetric: ClassVar[bool] = False  # it prefers arms by their index
    from_others: ClassVar[str | None] = "counts"
    ranges: ClassVar[Ranges] = {"counts": COUNTS}

    def __post_init__(self) -> None:
        """Refuse an ordering with repeated or negative indices."""
        if not isinstance(self.ordering, tuple):
            raise TypeError(must_be("ordering", "a tuple of arm indices, best first", self.ordering))
        rule = "a tuple of arm indices, best first"
        set_frozen(self, ordering=tuple(whole("ordering", arm, rule, 0) for arm in self.ordering))
        if len(set(self.ordering)) < len(self.ordering):
            raise ValueError(must_be("ordering", "a tuple without repeated arms", self.ordering))

    @property
    def kernels(self) -> Kernels:
        """The compiled functions of this policy."""
        return Kernels(_fixed_law, count_learn)

    def memo_range(self, n_arms: int) -> Range:
        """Return zero: decisions of this policy have no memo."""
        return NOTHING

    def start(self, n_arms: int) -> CountState:
        """Return no observations, if the ordering speaks of `n_arms` arms at most."""
        if any(arm >= n_arms for arm in self.ordering):
            raise ValueError(must_be("ordering", f"of arms below {n_arms}", self.ordering))
        return CountState(np.zeros(n_arms))

    def parameters(self, n_arms: int) -> Orderings:
        """Return the ordering, completed by the arms it does not name."""
        rest = [k for k in range(n_arms) if k not in self.ordering]
        return Orderings(np.array([[*self.ordering, *rest][:n_arms]], np.int64), 0.0)


def _log_orderings(n_arms: int) -> float:
    """Return log K!; with one arm there is nothing to tune."""
    return exact_log(max(math.factorial(n_arms), 2))


@cache
def _all_orderings(n_arms: int) -> Ints:
    """Return the K! orderings as rows, in lexicographic order."""
    return np.array(list(permutations(range(n_arms))), np.int64)


@kernel
def _first(ordering: Ints, p: Floats) -> int:
    """Return the first arm of `ordering` that is awake: `p` is negative on arms that are asleep."""
    for k in ordering:
        if p[k] >= 0.0:
            return int(k)
    return -1


@kernel
def _marks(n_arms: int, awake: Ints) -> Floats:
    """Return zeros on the awake arms and -1 on the others."""
    marks = np.full(n_arms, -1.0)
    for k in awake:
        marks[k] = 0.0
    return marks


@kernel
def _exp4_law(parameters: Orderings, state: OrderingState, awake: Ints, p: Floats) -> None:
    """Add up the weights of the orderings that advise each arm."""
    eta = parameters.numerator / math.sqrt(state.clock[0] + 1.0)
    least = state.losses.min()
    marks = _marks(parameters.orderings.shape[1], awake)
    for k in awake:
        p[k] = 0.0
    total = 0.0
    for n in range(state.losses.size):
        weight = exp(-eta * (state.losses[n] - least))
        p[_first(parameters.orderings[n], marks)] += weight
        total += weight
    for k in awake:
        p[k] /= total


@kernel
def _exp4_remember(parameters: Orderings, state: OrderingState, awake: Ints, p: Floats, arm: int, coin: float) -> float:
    """Count the decision."""
    state.clock[0] += 1
    return 0.0


@kernel
def _exp4_learn(
    parameters: Orderings, state: OrderingState, awake: Ints, p: Floats, arm: int, memo: float, loss: float
) -> None:
    """Charge every ordering that advised `arm`."""
    marks = _marks(parameters.orderings.shape[1], awake)
    for n in range(state.losses.size):
        if _first(parameters.orderings[n], marks) == arm:
            state.losses[n] += loss / p[arm]


@kernel
def _fixed_law(parameters: Orderings, state: Any, awake: Ints, p: Floats) -> None:
    """Give everything to the first awake arm."""
    p[_first(parameters.orderings[0], _marks(parameters.orderings.shape[1], awake))] = 1.0
