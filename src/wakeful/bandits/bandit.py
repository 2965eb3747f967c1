"""`Bandit`: a policy with names for its arms, its state and its random stream; the class to embed."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import zeros

from wakeful.bandits.arms import AT_HAND, Awake, listed
from wakeful.bandits.bandit_history import BanditHistory
from wakeful.bandits.estimates import are_counts
from wakeful.bandits.feedback import FLOAT64, LOSS_TYPES, given_decision, in_positions, is_vector, loss_of, refusal
from wakeful.bandits.learner import checked_uniform, copied
from wakeful.inputs import must_be, real, whole
from wakeful.numerics.arrays import Floats, Mask
from wakeful.numerics.compile import call_compiled
from wakeful.policies.auto import Auto
from wakeful.policies.counts import (
    NO_COUNTS,
    WIDTH,
    by_arm,
    decision_counted,
    feedback_counted,
    grown_counts,
    start_counts,
    with_rare,
)
from wakeful.policies.decision import Decision, new_decision
from wakeful.policies.kernels import COIN, FINE
from wakeful.policies.policy import (
    LAW,
    Policy,
    a_policy,
    checked_memo,
    compiled,
    decide,
    fitting_state,
    is_law,
    plain_law,
)
from wakeful.policies.state_ranges import is_like

COUNTED = "decision_counts"  # what the counts are called in files


class Bandit(BanditHistory):
    """Decides among the arms that are awake right now, and learns from what happens.

    A bandit stores nothing between `choose` and `update`: the decision carries what its feedback needs, so
    feedback may come late, in any order, to a loaded copy in another process, or never. Give the feedback of a
    decision only once; a bandit does not notice that it has seen it before. Threads may share a bandit. Processes may
    not: two copies that both decide draw the same random numbers and learn apart, so let one process decide and the
    others send it their feedback, or share a log with `propose` and `admit` (`docs/deployment.md`). A forked child gets
    a random stream of its own, and so does `Bandit.load(path, seed=...)`.

    Parameters:
        policy: how to choose, such as `SIExp3()`; by default `Auto()`
        arms: the names of the arms, or how many there are (then they are called 0, 1, ...)
        seed: of the random stream: a whole number, a `numpy.random.SeedSequence`, or None for a fresh one

    >>> from wakeful import SIExp3
    >>> bandit = Bandit(SIExp3(), arms=["tea", "coffee", "juice"], seed=7)
    >>> decision = bandit.choose(["tea", "juice"])
    >>> decision.arm in {"tea", "juice"}, decision.probability
    (True, 0.5)
    >>> bandit.update(decision, loss=0.3)
    >>> bandit.probabilities(["tea", "juice"]).shape
    (3,)
    """

    kind = "wakeful bandit"
    recipe = Policy
    added = frozenset({COUNTED})

    def __init__(
        self,
        policy: Policy | None = None,
        arms: int | Iterable[Hashable] | None = None,
        seed: int | np.random.SeedSequence | None = None,
    ) -> None:
        policy = Auto() if policy is None else policy
        super().__init__(a_policy(policy), arms, seed)  # type: ignore[arg-type]  # None is refused there
        self._choose: Callable[..., tuple[int, float, float]] | None  # None: a policy without kernels
        self._law: Callable[..., bool] | None  # this and the next two: None until first needed
        self._admit: Callable[..., int] | None
        self._update: Callable[..., int] | None
        self._fields: tuple[Any, ...]
        self._latest: tuple[Decision | None, int, Mask]  # the last one made, its position and mask, which are trusted
        self._counts = start_counts(len(self._arms), policy.keeps_switch_gains)
        self._use(policy.start(len(self._arms)))

    def choose(self, awake: Awake = None) -> Decision:
        """Choose one of the arms `awake`: names, a boolean mask, or nothing if all are."""
        if type(awake) not in AT_HAND:
            awake = listed(awake)  # before the lock, because an iterator may call this bandit
        with self._lock:
            names, mask, _ = self._arms.awake(awake)
            clock = self._rounds + 1
            if self._choose is None:
                made = decide(self._policy, self._state, mask, self._stream.draw, clock)
                position, probability, _, p, _, memo, _ = made
                call_compiled(decision_counted, self._counts, mask, np.flatnonzero(mask), position)
            else:
                p, u = zeros(mask.size), self._stream.draw()
                try:
                    position, probability, memo = self._choose(mask, u, p, self._counts, self._fields)
                except BaseException:  # an interrupt, just before or just after compiled code ran
                    if is_law(np.where(mask, p, 0.0), mask):
                        self._rounds = clock  # the state has counted it
                    else:
                        self._stream.put_back(u)
                    raise
                if position < 0:
                    self._stream.put_back(u)
                    raise ValueError(must_be(f"probabilities of {self._policy!r}", LAW, p))
            self._rounds = clock
            arm = self._arms.names[position]
            made = new_decision(Decision, (arm, probability, names, p, clock, memo, self._decider))
            self._latest = made, position, mask
            return made

    def propose(self, awake: Awake, uniform: float) -> Decision:
        """Return the decision that `choose` would make with this `uniform` number in [0, 1); change nothing.

        `admit` counts it, here and in every copy: `choose` is the two together, with the bandit's own random numbers.
        """
        awake, u = listed(awake), checked_uniform("uniform", uniform)
        with self._lock:
            names, mask, _ = self._arms.awake(awake)
            clock = self._rounds + 1
            if self._choose is None:
                state = copied(self._state)
                position, probability, _, p, _, memo, _ = decide(self._policy, state, mask, lambda: u, clock)
            else:
                p, fields = np.zeros(mask.size), self._fields
                if self._counting:  # in a copy: nothing changes here
                    fields = self._policy.fields(copied(self._state), mask.size)
                position, probability, memo = self._choose(mask, u, p, NO_COUNTS, fields)
                if position < 0:
                    raise ValueError(must_be(f"probabilities of {self._policy!r}", LAW, p))
            arm = self._arms.names[position]
            made = new_decision(Decision, (arm, probability, names, p, clock, memo, self._decider))
            self._latest = made, position, mask
            return made

    def admit(self, decision: Decision | dict[str, Any]) -> None:
        """Count a decision that `propose` returned, here or in another copy, once; feedback may come after it.

        The decision may also be the dictionary that its `to_dict` returned.
        """
        with self._lock:
            latest, position, mask = self._latest
            if latest is not None and decision is latest and is_vector(latest[3], mask):
                p, probability, memo = latest[3], latest[1], latest[5]
            else:
                decision = given_decision(decision)
                position, mask, probability, memo = self._placed(decision)
                p = np.zeros(mask.size)
                p[: decision.probabilities.size] = decision.probabilities
            if self._choose is None:
                answer = self._admit_plainly(decision, position, mask)
            else:
                if self._admit is None:
                    self._admit = compiled(self._policy, "admit", self._state, mask.size)
                answer = self._admit(mask, p, position, probability, memo, self._counts, self._fields)
            if answer == FINE:
                self._rounds += 1
        if answer != FINE:
            raise ValueError(refusal(decision, answer))

    def admit_rows(self, masks: Mask, laws: Floats, arms: Sequence[int], memos: Sequence[float]) -> int:
        """Count many decisions, as `admit` counts one, in less time; return how many were counted before a wrong one.

        Arms are positions here, not names. The policy must have kernels.

        Parameters:
            masks: (T, K) booleans, which arms were awake at each decision
            laws: (T, K), the probabilities of all arms at each decision
            arms: the position of the arm chosen at each decision
            memos: the memo of each decision
        """
        n, n_arms = 0, masks.shape[1]
        with self._lock:
            if self._admit is None:
                self._admit = compiled(self._policy, "admit", self._state, n_arms)
            admit, counts, fields = self._admit, self._counts, self._fields
            low, high = self._least_memo, self._most_memo
            for mask, p, arm, memo in zip(masks, laws, arms, memos, strict=True):
                if not 0 <= arm < n_arms or not low <= memo <= high:
                    break
                if admit(mask, p, arm, float(p[arm]), memo, counts, fields) != FINE:
                    break
                self._rounds += 1
                n += 1
        return n

    def update(
        self, decision: Decision | dict[str, Any], *, loss: float | None = None, reward: float | None = None
    ) -> None:
        """Learn from the `loss` of a decision, or from its `reward`, which is 1 - loss; both lie in [0, 1].

        The decision may also be the dictionary that its `to_dict` returned.
        """
        if reward is None and type(loss) in LOSS_TYPES and 0.0 <= loss <= 1.0:  # type: ignore[operator]  # a number then
            lost = float(loss)  # type: ignore[arg-type]
        else:
            lost = loss_of(loss, reward)
        with self._lock:
            latest, position, mask = self._latest
            if (
                latest is not None and decision is latest and is_vector(latest[3], mask)
            ):  # only its array can have changed since
                probability, memo = latest[1], latest[5]
            else:
                decision = given_decision(decision)
                position, mask, probability, memo = self._placed(decision)
            if self._choose is None:
                answer = self._update_plainly(decision, position, mask, lost)
            else:
                if self._update is None:
                    self._update = compiled(self._policy, "update", self._state, mask.size)
                p, counts = decision[3], self._counts
                answer = self._update(mask, p, position, probability, memo, lost, counts, self._fields)
        if answer != FINE:
            raise ValueError(refusal(decision, answer))

    def probabilities(self, awake: Awake = None) -> Floats:
        """Return the probabilities of the next choice, an array of length K, exactly 0.0 if asleep; change nothing."""
        awake = listed(awake)
        with self._lock:
            mask = self._arms.awake(awake)[1]
            if self._choose is None:
                return plain_law(self._policy, self._state, mask)
            if self._law is None:
                self._law = compiled(self._policy, "law", self._state, mask.size)
            p = np.zeros(mask.size)
            if not self._law(mask, p, self._fields):
                raise ValueError(must_be(f"probabilities of {self._policy!r}", LAW, p))
            return p

    def _add(self, name: Hashable | None) -> Hashable:
        """Add an arm and return its name; the lock is held."""
        grown = self._policy.grow(self._state, len(self._arms) + 1)
        counts = grown_counts(self._counts, len(self._arms) + 1)
        position = self._arms.add(name)
        self._counts = counts
        self._use(grown)
        return self._arms.names[position]

    def _use(self, state: Any) -> None:
        """Use `state` from now on; if the policy has kernels, compile what chooses now and the rest when it is needed.

        Loading what learns takes as long as the first decision of a process, which does without it.
        """
        self._state = state
        self._latest = None, 0, self._arms.retired
        self._least_memo, self._most_memo, _ = self._policy.memo_range(len(self._arms))
        self._law = self._choose = self._admit = self._update = None
        kernels = self._policy.kernels
        if kernels is not None:
            n_arms = len(self._arms)
            self._fields, self._counting = self._policy.fields(state, n_arms), kernels.counts_decisions
            self._choose = compiled(self._policy, "choose", state, n_arms)

    @classmethod
    def _state_bytes(cls, policy: Any, n_arms: int) -> int:
        """Return about how many bytes the state of a new one takes, counts included."""
        width = WIDTH + (n_arms if policy.keeps_switch_gains else 0)
        return super()._state_bytes(policy, n_arms) + 8 * n_arms * width

    def _record(self) -> dict[str, Any]:
        """Return everything, the counts among the arrays."""
        record = super()._record()
        record["arrays"][COUNTED] = by_arm(self._counts)
        return record

    def _fitting(self, record: Mapping[str, Any], arrays: dict[str, Any]) -> Any:
        """Return the state of these arrays, if it is one of the policy's; take the counts, if there are any."""
        saved, own = arrays.pop(COUNTED, None), by_arm(self._counts)
        if saved is not None:
            saved = with_rare(saved, own.shape[1])
            if not is_like((saved,), (own,)) or not are_counts(by_arm(saved)):
                raise ValueError(must_be("state", f"one whose {COUNTED} holds sums of feedback", saved))
            self._counts = by_arm(saved)
        return fitting_state(self._policy, type(self._state)(**arrays), len(self._arms))

    def _placed(self, decision: Decision) -> tuple[int, Mask, float, float]:
        """Return position, mask, probability and memo of a decision that may be this bandit's, else refuse it."""
        if type(decision) is not Decision:
            raise TypeError(must_be("decision", "a Decision from choose, or its to_dict()", decision))
        arm, probability, awake, p, clock, memo, decider = decision
        if decider is not self._decider:
            self._check_decider("decision.policy", decider)
        position = self._arms.of("decision.arm", arm)
        names, mask, _ = self._arms.known(awake, "decision.awake")
        if names is not awake and names != awake:
            raise ValueError(must_be("decision.awake", "a tuple in the order of this bandit's arms", awake))
        if type(p) is not np.ndarray or p.dtype != FLOAT64 or not p.flags.c_contiguous:
            raise TypeError(must_be("decision.probabilities", "a float64 array", p))
        if p.shape != mask.shape and not self._is_earlier(p, mask):
            raise ValueError(must_be("decision.probabilities", f"one for each of {mask.size} arms", p))
        if type(probability) is not float:
            probability = real("decision.probability", probability, "between 0 and 1", 0.0, 1.0)
        if type(memo) is not float or not self._least_memo <= memo <= self._most_memo:
            memo = checked_memo("decision.memo", memo, self._policy.memo_range(mask.size))
        if type(clock) is not int or clock < 1:
            whole("decision.clock", clock, "a whole number, at least 1", 1)
        return position, mask, probability, memo

    def _is_earlier(self, p: Floats, mask: Mask) -> bool:
        """Whether `p` is from before arms were added: shorter by arms that are asleep in `mask`."""
        return p.ndim == 1 and self._initial_arms <= p.size < mask.size and not mask[p.size :].any()

    def _update_plainly(self, decision: Decision, position: int, mask: Mask, loss: float) -> int:
        """Update a policy without kernels, in terms of positions; answer as compiled code does."""
        own, answer = in_positions(decision, position, mask)
        if answer == FINE:
            self._policy.update(self._state, own, loss)
            here = np.flatnonzero(mask)
            call_compiled(feedback_counted, self._counts, mask, here, own.probabilities, position, loss)
        return answer

    def _admit_plainly(self, decision: Decision, position: int, mask: Mask) -> int:
        """Count a decision of a policy without kernels, in terms of positions; answer as compiled code does."""
        own, answer = in_positions(decision, position, mask)
        if answer == FINE:
            self._policy.remember(self._state, own._replace(memo=0.0), COIN)
            call_compiled(decision_counted, self._counts, mask, np.flatnonzero(mask), position)
        return answer
