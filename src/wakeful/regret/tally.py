"""`Tally`: the sums over rounds from which every regret is computed; its memory does not grow with the rounds.

Two sums are enough. Let g_t(k) = l_t(k_t) - l_t(k), what would have been gained by playing the awake arm k. The sums of
g_t(k) are kept for every awake set and arm (policy and ordering regret), and for every arm played and arm (internal,
external and swap regret).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wakeful.inputs import must_be, one_of, whole
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import call_compiled, kernel
from wakeful.policies.rounds import checked_awake, checked_numbers
from wakeful.regret.best_ordering import Found, best_ordering
from wakeful.regret.set_table import find_row, place_all

REGRETS = ("internal", "external", "swap", "ordering", "policy")
OF_SETS = {"ordering", "policy"}  # the regrets that look at the awake set; the others look at the arm played

FIRST_SETS = 64  # awake sets that a new tally has room for

NO_FAULT, NOT_FINITE, NOT_AWAKE = range(3)  # what `_fault` answers


class Tally:
    """The regrets of a history that comes in blocks of rounds; expected losses give pseudo-regrets.

    Parameters:
        n_arms: K
        regrets: which to keep, among `REGRETS`; by default all
        max_entries: at most so many numbers are kept for distinct awake sets; nothing: as many as there are
        by_set: whether losses are a function of the awake set. Policy regret is then a sum over rounds, and sets
            beyond `max_entries` need not be kept; otherwise `add` refuses them, and the tally is of no further use

    >>> tally = Tally(2, ["external", "policy"])
    >>> tally.add([[True, True], [True, False]], [[1.0, 0.25], [0.5, 0.0]], [0, 0])
    >>> tally.add([[True, True]], [[0.0, 0.5]], [0])
    >>> tally.values()
    {'external': 0.25, 'policy': 0.25}
    >>> tally.rounds, tally.learner_loss, tally.awake_total
    (3, 1.5, 5)
    """

    def __init__(
        self,
        n_arms: int,
        regrets: Iterable[str] = REGRETS,
        max_entries: int | None = None,
        by_set: bool = False,
    ) -> None:
        self.n_arms = whole("n_arms", n_arms, "a number of arms, at least 1", 1)
        names = [regrets] if isinstance(regrets, str) else list(regrets)
        self.regrets = tuple(dict.fromkeys(one_of("regrets", name, REGRETS) for name in names))
        of_sets, of_arms = bool(OF_SETS & set(names)), bool(set(names) - OF_SETS)
        self._counts = np.zeros(2, np.int64)  # distinct awake sets, rounds in which an arm is awake
        self._lost = np.zeros(1)
        self._awake_total = 0
        self._pairs = np.zeros((self.n_arms, self.n_arms) if of_arms else (0, 0))
        room = FIRST_SETS if of_sets else 0
        self._slots = np.full(2 * room, -1, np.int64)  # rows of the three below, found by hashing
        self._keys = np.zeros(room, np.int64)
        self._sets = np.zeros((room, self.n_arms), np.bool_)
        self._gains = np.zeros((room, self.n_arms))
        rule = "a whole number from 1, or None"
        self._max_entries = None if max_entries is None else whole("max_entries", max_entries, rule, 1)
        self._by_set = by_set and "ordering" not in names
        self._full = False
        self._beyond = np.zeros(1)  # policy regret on sets for which there was no room

    def add(self, awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> None:
        """Add rounds: (T, K) booleans, (T, K) losses, (T,) arms; rounds in which no arm is awake count for nothing."""
        mask, values, arms = history(awake, losses, choices)
        if mask.shape[1] != self.n_arms:
            raise ValueError(must_be("awake", f"of {self.n_arms} arms", mask.shape[1]))
        done = 0
        while done < arms.size:
            sums = (self._pairs, self._lost, self._beyond)
            done = call_compiled(_add, mask, values, arms, done, self._full, *self._table(), *sums)
            if done < arms.size:
                self._grow()
        self._awake_total += int(np.count_nonzero(mask))

    def merge(self, other: "Tally") -> None:
        """Add all rounds of another tally of the same arms and regrets."""
        if not isinstance(other, Tally) or (other.n_arms, set(other.regrets)) != (self.n_arms, set(self.regrets)):
            raise ValueError(must_be("other", f"a tally of {self.n_arms} arms, {', '.join(self.regrets)}", other))
        if self._sets.size:
            sets, gains = other.awake_sets(), other._set_gains().copy()
            self._reserve(int(self._counts[0]) + len(sets))
            call_compiled(_merge, sets, gains, *self._table())
        self._counts[1] += other._counts[1]
        self._pairs += other._pairs
        self._lost += other._lost
        self._beyond += other._beyond
        self._awake_total += other._awake_total

    def values(self) -> dict[str, float]:
        """Return the regrets asked for, each as one number: internal and external are the largest of theirs."""
        return {name: self.value(name) for name in self.regrets}

    def value(self, name: str) -> float:
        """Return one of the regrets asked for."""
        match one_of("name", name, self.regrets):
            case "internal":
                return float(self._pairs.max())
            case "external":
                return float(self._pairs.sum(axis=0).max())
            case "swap":
                return float(self._pairs.max(axis=1).sum())
            case "ordering":
                return self.best_ordering().value
            case _:
                return self.best_policy()[0]

    def internal_matrix(self) -> Floats:
        """Return the (K, K) internal regrets R(i -> j)."""
        if not self._pairs.size:
            raise ValueError(must_be("regrets", "among them one of internal, external, swap", self.regrets))
        return self._pairs.copy()

    def best_policy(self) -> tuple[float, Ints]:
        """Return the regret against the best policy, and its arm for each row of `awake_sets()`."""
        gains = self._set_gains()
        best = np.empty(len(gains), np.int64)
        call_compiled(_best_arms, self._sets, gains, best)
        return float(gains[np.arange(best.size), best].sum()) + float(self._beyond[0]), best

    def best_ordering(self) -> Found:
        """Return the best ordering, the regret against it, and an upper bound on the regret against any ordering."""
        return best_ordering(self.awake_sets(), self._set_gains())

    def awake_sets(self) -> Mask:
        """Return the distinct awake sets so far, (M, K), in the order in which they came, as far as there was room."""
        return self._sets[: len(self._set_gains())].copy()

    @property
    def learner_loss(self) -> float:
        """The sum of the losses of the arms played."""
        return float(self._lost[0])

    @property
    def rounds(self) -> int:
        """How many rounds there were in which an arm is awake."""
        return int(self._counts[1])

    @property
    def awake_total(self) -> int:
        """How many arms were awake, summed over rounds: what bounds depend on."""
        return self._awake_total

    @property
    def entries(self) -> int:
        """How many numbers are kept for distinct awake sets: what memory depends on."""
        return int(self._gains.size)

    def _set_gains(self) -> Floats:
        """Return what each arm would have gained, for each distinct awake set."""
        if not self._sets.size:
            raise ValueError(must_be("regrets", "among them one of ordering, policy", self.regrets))
        gains: Floats = self._gains[: self._counts[0]]
        return gains

    def _table(self) -> tuple[Ints, Ints, Mask, Floats, Ints]:
        return self._slots, self._keys, self._sets, self._gains, self._counts

    def _grow(self) -> None:
        """Make room for twice as many awake sets; at the limit, stop keeping new sets or raise an error."""
        room = len(self._sets)
        if self._max_entries is None or 2 * room * self.n_arms <= self._max_entries:
            self._reserve(2 * room)
        elif self._by_set:
            self._full = True
        else:
            rule = f"of at most {room:,} distinct sets of {self.n_arms} arms for policy and ordering regret"
            advice = "ask for external, internal or swap regret, or see expected_by_set in docs/worlds.md"
            raise ValueError(must_be("awake", f"{rule} ({advice})", "more"))

    def _reserve(self, sets: int) -> None:
        """Make room for as many distinct awake sets, at least doubling it."""
        old = len(self._sets)
        if sets <= old:
            return
        size = max(2 * old, 1 << (sets - 1).bit_length())
        self._keys, self._sets, self._gains = (_longer(a, size) for a in (self._keys, self._sets, self._gains))
        self._slots = np.full(2 * size, -1, np.int64)
        call_compiled(place_all, self._slots, self._keys, int(self._counts[0]))


def history(awake: ArrayLike, losses: ArrayLike, choices: ArrayLike) -> tuple[Mask, Floats, Ints]:
    """Return the three as contiguous arrays that belong together, else say what does not fit."""
    mask = checked_awake("awake", awake)
    values = checked_numbers("losses", losses, mask)
    arms = np.asarray(choices)
    if arms.shape != mask.shape[:1] or not (np.issubdtype(arms.dtype, np.integer) or not arms.size):
        raise ValueError(must_be("choices", f"{mask.shape[0]} indices of arms", choices))
    arms = np.ascontiguousarray(arms, np.int64)
    fault = call_compiled(_fault, mask, values, arms)
    if fault == NOT_FINITE:
        raise ValueError(must_be("losses", "finite where awake", losses))
    if fault == NOT_AWAKE:
        raise ValueError(must_be("choices", "arms that were awake", choices))
    return mask, values, arms


def _longer(array: Any, size: int) -> Any:
    """Return a copy of `array` with `size` rows, the new ones zero."""
    grown = np.zeros((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


def _fault(awake: Mask, losses: Floats, choices: Ints) -> int:
    """Return what is wrong with the losses or the arms of a history."""
    rounds, n_arms = awake.shape
    wild, wrong = False, False
    for t in range(rounds):
        anybody = False
        for k in range(n_arms):
            wild |= awake[t, k] & (not abs(losses[t, k]) < np.inf)
            anybody |= awake[t, k]
        arm = choices[t]
        wrong |= anybody and (arm < 0 or arm >= n_arms or not awake[t, arm])
    return NOT_FINITE if wild else NOT_AWAKE if wrong else NO_FAULT


def _add(
    awake: Mask, losses: Floats, choices: Ints, start: int, full: bool,
    slots: Ints, keys: Ints, sets: Mask, gains: Floats, counts: Ints, pairs: Floats, lost: Floats, beyond: Floats,
) -> int:  # fmt: skip
    """Add rounds from `start` to the sums; return the first not added, for want of room, or how many there are.

    Where the table is `full`, what the best arm of a round with an unknown set would have gained is added to `beyond`.
    """
    rounds = choices.size
    total = 0.0
    t = start
    while t < rounds:
        if _any_awake(awake, t):
            arm = choices[t]
            own = losses[t, arm]
            if slots.size:
                row = find_row(slots, keys, sets, counts, awake, t)
                if row >= 0:
                    _add_gains(awake, losses, t, own, gains, row)
                elif full:
                    beyond[0] += own - _least(awake, losses, t)
                else:
                    break
            if pairs.size:
                _add_gains(awake, losses, t, own, pairs, arm)
            total += own
            counts[1] += 1
        t += 1
    lost[0] += total
    return t


def _merge(awake: Mask, extra: Floats, slots: Ints, keys: Ints, sets: Mask, gains: Floats, counts: Ints) -> None:
    """Add the gains `extra` on the sets `awake` to a table that has room for them."""
    for s in range(awake.shape[0]):
        row = find_row(slots, keys, sets, counts, awake, s)
        for k in range(extra.shape[1]):
            gains[row, k] += extra[s, k]


def _best_arms(sets: Mask, gains: Floats, best: Ints) -> None:
    """Write the awake arm with the largest gain on each set, the first of equals, into `best`."""
    for s in range(best.size):
        most = -np.inf
        for k in range(gains.shape[1]):
            if sets[s, k] and gains[s, k] > most:
                most, best[s] = gains[s, k], k


@kernel
def _any_awake(awake: Mask, t: int) -> bool:
    """Whether an arm is awake in row `t`."""
    found = False
    for k in range(awake.shape[1]):
        found |= awake[t, k]
    return found


@kernel
def _add_gains(awake: Mask, losses: Floats, t: int, own: float, sums: Floats, row: int) -> None:
    """Add `own` less the losses of the awake arms of round `t` to row `row` of `sums`; no branch to mispredict."""
    for k in range(awake.shape[1]):
        sums[row, k] += own - losses[t, k] if awake[t, k] else 0.0


@kernel
def _least(awake: Mask, losses: Floats, t: int) -> float:
    """Return the smallest loss of an awake arm in row `t`."""
    least = np.inf
    for k in range(awake.shape[1]):
        if awake[t, k] and losses[t, k] < least:
            least = losses[t, k]
    return least
