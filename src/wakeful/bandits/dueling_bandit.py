"""`DuelingBandit`: chooses the arms of a duel among those that are awake right now, and learns from the winner."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wakeful.bandits.allowed_pairs import AllowedPairs, Groups, Question, asked, number_of_arms
from wakeful.bandits.arms import Awake
from wakeful.bandits.duel_counts import DuelCounts
from wakeful.bandits.duel_history import DuelHistory
from wakeful.bandits.learner import checked_uniform, copied
from wakeful.bandits.winners import check_parts, given_duel, refusal, shares_of
from wakeful.duels.auto_pairs import AutoPairs
from wakeful.duels.duel import Duel, shown_places
from wakeful.duels.kernels import Pick, empty_pick
from wakeful.duels.policy import DuelingPolicy, a_dueling_policy, fitting_duel_state, step
from wakeful.inputs import must_be, real, whole
from wakeful.limits import claim, state_bytes
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.kernels import FINE
from wakeful.policies.policy import LAW, checked_memo
from wakeful.policies.state_ranges import TOTALS, is_like

AT_HAND_BYTES = 1 << 20  # about: of tuples of names kept at hand


class Room(NamedTuple):
    """Arrays that compiled code reads and fills for one duel; they are reused, except the probabilities."""

    pick: Pick
    allowed: Mask  # (M, K)
    uniforms: Floats  # (2M,)
    probabilities: Floats  # (M,)
    shares: Floats  # (M,)


class DuelingBandit(DuelHistory):
    """Chooses two arms among those that may meet right now, and learns from who wins.

    As with `Bandit`, the duel carries what its feedback needs: late, in any order, to another copy, or never. The
    policy chooses the arms; a fair coin puts one of them on the left and the other on the right, and what the policy
    learns does not depend on it. So judges who prefer one side make no arm look better; `ranking().side_effect` shows
    how much they do.

    Parameters:
        policy: how to choose, such as `Sparring(SIExp3())` or `StablePair()`; by default `AutoPairs()`
        arms: the names of the arms, or how many there are (then they are called 0, 1, ...)
        seed: of the random stream: a whole number, a `numpy.random.SeedSequence`, or None for a fresh one

    >>> from wakeful import SIExp3, Sparring
    >>> arena = DuelingBandit(Sparring(SIExp3()), arms=["a", "b", "c"], seed=7)
    >>> duel = arena.choose(distinct=True)
    >>> duel.left != duel.right
    True
    >>> arena.update(duel, winner=duel.left)
    >>> float(arena.win_matrix().sum())
    1.0
    """

    kind = "wakeful dueling bandit"
    recipe = DuelingPolicy
    added = frozenset({"duel_counts"})

    def __init__(
        self,
        policy: DuelingPolicy | None = None,
        arms: int | Iterable[Hashable] | None = None,
        seed: int | np.random.SeedSequence | None = None,
    ) -> None:
        policy = AutoPairs() if policy is None else a_dueling_policy(policy)
        if arms is None:
            raise TypeError(must_be("arms", "the names of the arms, or how many there are", arms))
        super().__init__(policy, arms, seed)
        self._size = 2  # the most arms chosen at a time so far: what the state has room for
        self._wins = np.zeros((len(self._arms), len(self._arms)))
        self._results = DuelCounts()
        self._pairs = AllowedPairs(self._arms)
        self._names: dict[bytes, tuple[Any, ...]] = {}  # by positions
        self._admit: Callable[..., int] | None
        self._use(policy.start(len(self._arms)))

    def choose(
        self,
        awake: Awake = None,
        *,
        distinct: bool = False,
        groups: Groups | None = None,
        within: bool = False,
        pairs: Any = None,
        size: int | None = None,
        group: Hashable | None = None,
    ) -> Duel:
        """Choose two arms that may meet: any two that are awake, an arm and itself included, unless told otherwise.

        Parameters:
            awake: the arms that can be chosen: names, a boolean mask, or nothing if all can
            distinct: whether they must be two different arms
            groups: the group of every arm that is awake, by name; only arms of different groups meet
            within: whether, the other way round, only two different arms of the same group meet
            pairs: instead of all these, the pairs that may meet: names, in either order, or a symmetric (K, K) mask
            size: how many different arms to choose, instead of two; the winner is the best of them all
            group: what the duel belongs to, for a ranking of each group: a string or a whole number; with `within`, by
                default the group of its arms
        """
        question = asked(
            awake, distinct, groups, pairs, size, within, group
        )  # before the lock: it may run code of the caller's
        with self._lock:
            mask, many = self._pairs.mask(question)
            state, fields = self._roomy(many)
            memos, clock = self._room(many).pick.memos, self._rounds + 1
            memos[-1] = np.nan  # until the last arm is drawn
            uniforms = [self._stream.draw() for _ in range(2 * many)]
            try:
                duel = self._drawn(mask, uniforms, fields, question)
            except BaseException:  # refused, or an interrupt before or after compiled code ran
                if np.isnan(memos[-1]) or many > self._size:  # no duel, or one in a state that is not taken yet
                    self._stream.put_back(*uniforms)
                else:
                    self._rounds = clock  # the state has counted it
                raise
            self._rounds = clock
            if many > self._size:
                self._use(state, many)
            return duel

    def propose(
        self,
        awake: Awake,
        uniforms: Sequence[float],
        *,
        distinct: bool = False,
        groups: Groups | None = None,
        within: bool = False,
        pairs: Any = None,
        size: int | None = None,
        group: Hashable | None = None,
    ) -> Duel:
        """Return the duel that `choose` would arrange with these numbers; change nothing. `admit` counts it.

        Parameters:
            awake, distinct, groups, within, pairs, size, group: as in `choose`
            uniforms: two uniform numbers in [0, 1) for each arm to choose: four for a duel; they also decide the sides
        """
        question = asked(awake, distinct, groups, pairs, size, within, group)
        drawn = [checked_uniform("uniforms", u) for u in uniforms]
        with self._lock:
            mask, many = self._pairs.mask(question)
            if len(drawn) != 2 * many:
                raise ValueError(must_be("uniforms", f"{2 * many} numbers, two for each arm", drawn))
            state, fields = self._roomy(many)
            kernels = self._policy.kernels
            if many <= self._size and (kernels is None or kernels.counts_decisions):  # in a copy: nothing changes here
                fields = self._policy.fields(copied(state), len(self._arms))
            return self._drawn(mask, drawn, fields, question)

    def admit(self, duel: Duel | dict[str, Any]) -> None:
        """Count a duel that `propose` returned, here or in another copy, once; feedback may come after it.

        The duel may also be the dictionary that its `to_dict` returned.
        """
        duel = given_duel(duel)
        with self._lock:
            check_parts(duel)
            room, laws = self._placed(duel)
            size = len(duel.arms)
            self._check_growth(size)
            state, fields = self._roomy(size)
            pick = Pick(*room.pick[:3], laws, room.pick.memos)
            if self._admit is None:  # compiled when first needed: most bandits never do
                self._admit = step(self._policy, "admit", state, len(self._arms))
            answer = self._admit(pick, room.allowed, room.probabilities, fields)
            if answer == FINE:
                if size > self._size:
                    self._use(state, size)
                self._rounds += 1
        if answer != FINE:
            raise ValueError(refusal(duel, answer))

    def update(self, duel: Duel | dict[str, Any], *, winner: Any) -> None:
        """Learn who won.

        Parameters:
            duel: what `choose` returned, or the dictionary of it that `to_dict` returned
            winner: the name of the arm, `"left"`, `"right"` or `"tie"`, or the left arm's share of the win as a float
                in [0, 1], 0.5 being a tie; of more than two arms, the name
        """
        duel = given_duel(duel)
        with self._lock:
            shares = shares_of(duel, winner)
            size = len(shares)
            room, laws = self._placed(duel)
            for m, share in enumerate(shares):
                room.shares[m] = share
            self._check_growth(size)
            state, fields = self._roomy(size)
            pick = Pick(*room.pick[:3], laws, room.pick.memos)
            answer = self._update(pick, room.allowed, room.probabilities, room.shares, fields)
            if answer == FINE:
                if size > self._size:
                    self._use(state, size)
                self._count(pick.arms.tolist(), shares, duel.shown[0] if duel.shown else None, duel.group)
        if answer != FINE:
            raise ValueError(refusal(duel, answer))

    def _add(self, name: Hashable | None) -> Hashable:
        """Add an arm and return its name; the lock is held."""
        grown = self._policy.grow(self._state, len(self._arms) + 1, self._size)
        wins = np.pad(self._wins, (0, 1))
        position = self._arms.add(name)
        self._wins = wins
        self._forget_masks()
        self._use(grown)
        return self._arms.names[position]

    def _forget_masks(self) -> None:
        """Forget what depends on the number of arms."""
        self._pairs.forget()
        self._names.clear()

    def _roomy(self, size: int) -> tuple[Any, Any]:
        """Return a state with room for `size` arms at a time, and its fields: the current one if it has."""
        if size <= self._size:
            return self._state, self._fields
        state = self._policy.grow(self._state, len(self._arms), size)
        return state, self._policy.fields(state, len(self._arms))

    def _drawn(self, mask: Mask, uniforms: list[float], fields: Any, question: Question) -> Duel:
        """Draw the arms of a duel from the pairs of `mask`, counting it in `fields`."""
        size = len(uniforms) // 2
        names, room = self._arms.names, self._room(size)
        pick = Pick(*room.pick[:3], np.empty((size, len(names))), room.pick.memos)
        for n, u in enumerate(uniforms):
            room.uniforms[n] = u
        wrong = self._choose(mask, room.uniforms, pick, fields)
        if wrong >= 0:
            raise ValueError(must_be(f"probabilities of {self._policy!r}", LAW, pick.laws[wrong]))
        arms = pick.arms.tolist()
        allowed = [self._named(row[:n]) for row, n in zip(pick.awake, pick.sizes.tolist(), strict=True)]
        return Duel(
            tuple([names[k] for k in arms]),
            tuple([pick.laws.item(m, k) for m, k in enumerate(arms)]),
            tuple(allowed),
            pick.laws,
            self._rounds + 1,
            tuple(pick.memos.tolist()),
            self._decider,
            shown_places(uniforms),
            question.group_of(names[arms[0]]),
        )

    def _check_growth(self, size: int) -> None:
        """Raise an error for a battle of so many arms that the state would become too large: it comes from outside."""
        if size <= self._size:
            return
        needed = state_bytes(partial(self._policy.start, size=size), len(self._arms))
        if needed > self.max_bytes:
            rule = (
                f"few enough for a state of at most {self.max_bytes:,} bytes, not {needed:,} (max_bytes, an attribute"
            )
            raise ValueError(must_be("duel.arms", f"{rule} of this bandit, raises the limit)", f"{size} arms"))

    def _room(self, size: int) -> "Room":
        """Return room to work in for `size` arms at a time; it is kept for sizes that this bandit has chosen."""
        room = self._rooms.get(size)
        if room is None:
            n_arms = len(self._arms)
            floats = np.zeros(2 * size), np.zeros(size), np.zeros(size)
            room = Room(empty_pick(size, n_arms), np.zeros((size, n_arms), np.bool_), *floats)
            if size <= self._size:
                self._rooms[size] = room
        return room

    def _named(self, positions: Any) -> tuple[Any, ...]:
        """Return the names of the arms at these positions."""
        key = positions.tobytes()
        try:
            return self._names[key]
        except KeyError:
            pass
        if len(self._names) * (len(self._arms) + 64) >= AT_HAND_BYTES:
            self._names.clear()
        names = self._names[key] = tuple([self._arms.names[k] for k in positions.tolist()])
        return names

    def _placed(self, duel: Duel) -> tuple["Room", Floats]:
        """Return the arrays of a duel in terms of positions, if it fits this bandit, otherwise raise an error."""
        arms, probabilities, names, laws, clock, memos, decider, _, _ = duel
        if decider is not self._decider:
            self._check_decider("duel.policy", decider)
        size, n_arms = len(arms), len(self._arms)
        if size > 2 and (size > n_arms or len(set(arms)) < size):
            raise ValueError(must_be("duel.arms", "two arms, or more that all differ", arms))
        if not isinstance(laws, np.ndarray) or laws.dtype != np.float64 or laws.ndim != 2 or len(laws) != size:
            raise TypeError(must_be("duel.laws", f"a float64 array of {size} rows", laws))
        if not self._initial_arms <= laws.shape[1] <= n_arms:
            raise ValueError(must_be("duel.laws", f"rows of {n_arms} probabilities", laws))
        whole("duel.clock", clock, "a whole number, at least 1", 1)
        room = self._room(size)
        for m in range(size):
            known, mask, _ = self._arms.known(names[m], "duel.allowed")
            if known is not names[m] and known != names[m]:
                raise ValueError(must_be("duel.allowed", "tuples in the order of this bandit's arms", names[m]))
            room.allowed[m] = mask
            room.pick.arms[m] = self._arms.of("duel.arms", arms[m])
            room.pick.memos[m] = checked_memo("duel.memos", memos[m], self._memo_range)
            room.probabilities[m] = real("duel.probabilities", probabilities[m], "between 0 and 1", 0.0, 1.0)
        if laws.shape[1] < n_arms:
            laws = np.pad(laws, ((0, 0), (0, n_arms - laws.shape[1])))
        return room, laws if laws.flags.c_contiguous else np.ascontiguousarray(laws)

    def _use(self, state: Any, size: int | None = None) -> None:
        """Take `state`, with room for `size` arms at a time (if it changed), as the current one, and its steps."""
        n_arms = len(self._arms)
        fields, memo_range = self._policy.fields(state, n_arms), self._policy.memo_range(n_arms)
        steps = [step(self._policy, name, state, n_arms) for name in ("choose", "update")]
        self._state, self._fields, self._memo_range = state, fields, memo_range
        self._size = self._size if size is None else size
        self._choose, self._update = steps
        self._admit = None
        self._rooms: dict[int, Room] = {}

    @classmethod
    def _state_bytes(cls, policy: Any, n_arms: int) -> int:
        """Return about how many bytes the state of a new one takes, wins included."""
        return super()._state_bytes(policy, n_arms) + 8 * n_arms**2

    def _record(self) -> dict[str, Any]:
        """Return everything, the wins among the arrays."""
        record = super()._record()
        record["arrays"]["win_matrix"] = self._wins.copy()
        record["arrays"]["duel_counts"] = self._results.to_array()
        return {**record, "size": self._size, "groups": self._results.groups[1:]}

    def _fitting(self, record: Mapping[str, Any], arrays: dict[str, Any]) -> Any:
        """Return the state of these arrays, if it is one of the policy's; take the wins."""
        size = number_of_arms(record["size"], len(self._arms))
        wins, counted = arrays.pop("win_matrix"), arrays.pop("duel_counts", None)
        state = type(self._state)(**arrays)
        claim("size", size, state_bytes(partial(self._policy.start, size=size), len(self._arms)))
        fitting_duel_state(self._policy, state, len(self._arms), size)
        if not is_like((wins,), (self._wins,)) or not TOTALS.holds(wins):
            raise ValueError(must_be("state", f"one whose win_matrix holds {TOTALS}", wins))
        if counted is None:  # older files do not have it
            self._results = DuelCounts.from_wins(wins)
        else:
            self._results = DuelCounts.from_array(counted, record["groups"], len(self._arms))
        self._wins, self._size = wins, size
        return state
