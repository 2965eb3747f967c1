"""`Bandit`: a policy with names for its arms, its state and its random stream; the class to embed."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy import zeros

from wakeful.bandits.arms import AT_HAND, Awake, listed
from wakeful.bandits.estimates import are_counts, switch_errors
from wakeful.bandits.learner import Learner, checked_uniform, copied
from wakeful.bandits.levels import z_score
from wakeful.bandits.others import (
    LogLike,
    LogRows,
    Rows,
    checked_log,
    checked_probability,
    learn_rows,
    places,
)
from wakeful.bandits.report import Explanation, Report, make_explanation, make_report
from wakeful.bandits.switch_gains import SwitchGains, named_gains
from wakeful.inputs import must_be, one_of, real, whole
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.auto import Auto
from wakeful.policies.counts import (
    NO_COUNTS,
    WIDTH,
    decision_counted,
    feedback_counted,
    grown_counts,
    start_counts,
)
from wakeful.policies.decision import Decision, new_decision
from wakeful.policies.kernels import COIN, FINE, FLOOR, NO_MEMO, NOT_A_LAW, NOT_DRAWN
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
from wakeful.policies.spectate import refuse_spectator
from wakeful.policies.state_ranges import is_like

COUNTED = "decision_counts"  # what the counts are called in files
FLOAT64 = np.dtype(np.float64)
NUMBERS = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.bool_})  # what most losses are


class Bandit(Learner[Policy]):
    """Decides among the arms that are awake right now, and learns from what happens.

    A bandit stores nothing between `choose` and `update`: the decision carries what its feedback needs, so
    feedback may come late, in any order, to a loaded copy in another process, or never. Give the feedback of a
    decision only once; a bandit does not notice that it has seen it before. Threads may share a bandit. Processes may
    not: two copies that both decide draw the same random numbers and learn apart, so let one process decide and the
    others send it their feedback, or share a log with `propose` and `admit` (`docs/deployment.md`). A forked child gets
    a random stream of its own, and so does `Bandit.load(path, seed=...)`.

    Parameters:
        policy: how to choose, such as `SIExp3()`
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
        self._law: Callable[..., bool] | None
        self._choose: Callable[..., tuple[int, float, float]] | None
        self._admit: Callable[..., int] | None
        self._update: Callable[..., int] | None
        self._fields: tuple[Any, ...]
        self._latest: tuple[Decision | None, int, Mask]  # the last choice, its position and mask: `update` trusts them
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
                position, probability, here, p, _, memo, _ = made
                decision_counted(self._counts, here, position)
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
            state = copied(self._state)
            if self._choose is None:
                position, probability, _, p, _, memo, _ = decide(self._policy, state, mask, lambda: u, clock)
            else:
                p = np.zeros(mask.size)
                fields = self._policy.fields(state, mask.size)
                position, probability, memo = self._choose(mask, u, p, NO_COUNTS, fields)
                if position < 0:
                    raise ValueError(must_be(f"probabilities of {self._policy!r}", LAW, p))
            arm = self._arms.names[position]
            return Decision(arm, probability, names, p, clock, memo, self._decider)

    def admit(self, decision: Decision | dict[str, Any]) -> None:
        """Count a decision that `propose` returned, here or in another copy, once; feedback may come after it."""
        decision = given_decision(decision)
        with self._lock:
            position, mask, probability, memo = self._placed(decision)
            if self._choose is None:
                answer = self._admit_plainly(decision, position, mask)
            else:
                p = np.zeros(mask.size)
                p[: decision.probabilities.size] = decision.probabilities
                if self._admit is None:  # compiled when first needed: most bandits never do
                    self._admit = compiled(self._policy, "admit", self._state, mask.size)
                answer = self._admit(mask, p, position, probability, memo, self._counts, self._fields)
            if answer == FINE:
                self._rounds += 1
        if answer != FINE:
            raise ValueError(_refusal(decision, answer))

    def update(
        self, decision: Decision | dict[str, Any], *, loss: float | None = None, reward: float | None = None
    ) -> None:
        """Learn from the `loss` of a decision, or from its `reward`, which is 1 - loss; both lie in [0, 1].

        The decision may also be the dictionary that its `to_dict` returned.
        """
        if reward is None and type(loss) in NUMBERS and 0.0 <= loss <= 1.0:  # type: ignore[operator]  # a number then
            lost = float(loss)  # type: ignore[arg-type]
        else:
            lost = _loss(loss, reward)
        with self._lock:
            latest, position, mask = self._latest
            if (
                latest is not None and decision is latest and _is_vector(latest[3], mask)
            ):  # only its array can have changed since
                probability, memo = latest[1], latest[5]
            else:
                decision = given_decision(decision)
                position, mask, probability, memo = self._placed(decision)
            if self._update is None:
                answer = self._update_plainly(decision, position, mask, lost)
            else:
                p, counts = decision[3], self._counts
                answer = self._update(mask, p, position, probability, memo, lost, counts, self._fields)
        if answer != FINE:
            raise ValueError(_refusal(decision, answer))

    def record(
        self,
        arm: Hashable,
        *,
        awake: Awake = None,
        probability: float | None = None,
        loss: float | None = None,
        reward: float | None = None,
    ) -> None:
        """Learn from one decision that somebody else made; it counts as a decision of this bandit.

        Parameters:
            arm: what was chosen
            awake: the arms that were available: names, a boolean mask, or nothing if all that are not retired were
            probability: with which it was chosen; policies that divide losses by it, such as `SIExp3`, need it
            loss, reward: what came of it, one of the two, in [0, 1]

        >>> bandit = Bandit(arms=["tea", "coffee", "juice"], seed=7)
        >>> bandit.record("tea", awake=["tea", "juice"], probability=0.5, loss=0.3)
        >>> bandit.rounds, bandit.report().arms[0].mean_loss
        (1, 0.3)
        """
        awake, lost, chance = listed(awake), _loss(loss, reward), checked_probability(probability)
        refuse_spectator(self._policy, chance is not None)
        with self._lock:
            _, mask, _ = self._arms.awake(None) if awake is None else self._arms.known(awake, "awake")
            position = self._arms.of("arm", arm)
            if not mask[position]:
                raise ValueError(must_be("arm", "one of the arms that were awake", arm))
            chances = None if chance is None else np.array([chance])
            self._learn([LogRows(mask[None], np.array([position]), np.array([lost]), chances)], np.arange(mask.size))

    def learn(self, log: LogLike, *, unknown_arms: str = "refuse") -> None:
        """Learn from a log of decisions that somebody else made, row by row; they count as decisions of this bandit.

        After an error nothing has changed. Losses of policies that divide by probabilities, such as `SIExp3`, are
        weighted so that what each row adds is right in expectation, whoever chose.

        Parameters:
            log: a `wk.Log`
            unknown_arms: `"refuse"` a log with an arm that this bandit does not have, or `"add"` such arms
        """
        one_of("unknown_arms", unknown_arms, ("refuse", "add"))
        names = checked_log(self._policy, log)
        with self._lock:
            missing = [name for name, k in zip(names, places(names, self._arms.names), strict=True) if k is None]
            if missing and unknown_arms == "refuse":
                rule = "of arms that this bandit has (unknown_arms='add' adds others)"
                raise ValueError(must_be("log", rule, missing[0]))
            before = self._arms.copy(), self._state, self._counts
            try:
                for name in missing:
                    self._add(name)
                self._learn(log.blocks(), np.array(places(names, self._arms.names), np.int64))
            except BaseException:
                self._arms, state, self._counts = before
                self._use(state)
                raise

    def _learn(self, blocks: Iterable[Rows], where: Ints) -> None:
        """Fold blocks of rows into a copy of state and counts, which is used once all went well."""
        state, counts, done, stream = copied(self._state), self._counts.copy(), 0, self._stream.state
        try:
            for rows in blocks:
                coins = np.array([self._stream.draw() for _ in range(len(rows.arms))])
                learn_rows(self._policy, state, counts, rows, where, coins)
                done += len(rows.arms)
        except BaseException:
            self._stream.state = stream
            raise
        self._counts = counts
        self._rounds += done
        self._use(state)

    def probabilities(self, awake: Awake = None) -> Floats:
        """Return the probabilities of the next choice, an array of length K, exactly 0.0 if asleep; change nothing."""
        awake = listed(awake)
        with self._lock:
            mask = self._arms.awake(awake)[1]
            if self._policy.kernels is None:
                return plain_law(self._policy, self._state, mask)
            if self._law is None:  # compiled when first needed: a decision does without
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

    def switch_gains(self) -> SwitchGains:
        """Return the K x K array of estimated gains, had j been played whenever i was and j was awake.

        It also has the names of the arms (`arms`), the standard errors (`errors`, K x K) and a table (`table()`).
        """
        with self._lock:
            gains = self._policy.switch_gains(self._state)
            errors = switch_errors(self._counts) if self._policy.keeps_switch_gains else np.full(gains.shape, np.nan)
            return named_gains(gains, tuple(self._arms.names), errors)

    def report(self, level: float = 0.95) -> Report:
        """Return what was seen and learned, arm by arm, with intervals of this `level`; `docs/report.md`.

        >>> bandit = Bandit(arms=["tea", "coffee"], seed=7)
        >>> bandit.update(bandit.choose(), loss=1)
        >>> [(arm.arm, arm.chosen) for arm in bandit.report().arms]
        [('tea', 0), ('coffee', 1)]
        """
        z_score(level)
        p = self.probabilities()
        with self._lock:
            words = self._policy.words(self._state, self._arms.names)
            about = list(self._arms.names), self._arms.retired, self._counts.copy()
            return make_report(repr(self._policy), *about, p, self._rounds, words, level)

    def explain(self, decision: Decision | dict[str, Any], level: float = 0.95) -> Explanation:
        """Return why a decision was made: how likely each awake arm was, what is known of it, what the policy says."""
        z_score(level)
        decision = given_decision(decision)
        with self._lock:
            _, mask, _, _ = self._placed(decision)
            now = mask & ~self._arms.retired
        law = self.probabilities(now) if now.any() else np.zeros(mask.size)
        with self._lock:
            words, here = self._policy.words(self._state, self._arms.names), np.flatnonzero(mask).tolist()
            return make_explanation(decision, decision.probabilities, here, law, self._counts, words, level)

    def _use(self, state: Any) -> None:
        """Use `state` from now on, with its compiled functions if the policy has kernels."""
        self._state = state
        self._latest = None, 0, self._arms.retired
        self._least_memo, self._most_memo, _ = self._policy.memo_range(len(self._arms))
        self._law = self._choose = self._admit = self._update = None
        if self._policy.kernels is not None:
            n_arms = len(self._arms)
            self._fields = self._policy.fields(state, n_arms)
            self._choose, self._update = (
                compiled(self._policy, entry, state, n_arms) for entry in ("choose", "update")
            )

    @classmethod
    def _state_bytes(cls, policy: Any, n_arms: int) -> int:
        """Return about how many bytes the state of a new one takes, counts included."""
        width = WIDTH + (n_arms if policy.keeps_switch_gains else 0)
        return super()._state_bytes(policy, n_arms) + 8 * n_arms * width

    def _record(self) -> dict[str, Any]:
        """Return everything, the counts among the arrays."""
        record = super()._record()
        record["arrays"][COUNTED] = self._counts.copy()
        return record

    def _fitting(self, record: Mapping[str, Any], arrays: dict[str, Any]) -> Any:
        """Return the state of these arrays, if it is one of the policy's; take the counts, if there are any."""
        counts = arrays.pop(COUNTED, self._counts)
        if not is_like((counts,), (self._counts,)) or not are_counts(counts):
            raise ValueError(must_be("state", f"one whose {COUNTED} holds sums of feedback", counts))
        self._counts = counts
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
        own, answer = _plain(decision, position, mask)
        if answer == FINE:
            self._policy.update(self._state, own, loss)
            feedback_counted(self._counts, own.awake, own.probabilities, position, loss)
        return answer

    def _admit_plainly(self, decision: Decision, position: int, mask: Mask) -> int:
        """Count a decision of a policy without kernels, in terms of positions; answer as compiled code does."""
        own, answer = _plain(decision, position, mask)
        if answer == FINE:
            self._policy.remember(self._state, own._replace(memo=0.0), COIN)
            decision_counted(self._counts, own.awake, position)
        return answer


def given_decision(decision: Any) -> Decision:
    """Return a decision, also of the dictionary that its `to_dict` returned."""
    return Decision.from_dict(decision) if isinstance(decision, dict) else decision


def _is_vector(p: Floats, mask: Mask) -> bool:
    """Whether `p` still has the type, shape and order in memory that compiled code needs beside `mask`."""
    return p.dtype is FLOAT64 and p.shape == mask.shape and p.flags.c_contiguous


def _plain(decision: Decision, position: int, mask: Mask) -> tuple[Decision, int]:
    """Return a decision in terms of positions, as policies without kernels get it, and what is wrong with it."""
    p = np.zeros(mask.size)
    p[: decision.probabilities.size] = decision.probabilities
    answer = FINE
    if not is_law(p, mask):
        answer = NOT_A_LAW
    elif p[position] != decision.probability or p[position] < FLOOR:
        answer = NOT_DRAWN
    elif not 0.0 <= decision.memo < math.inf:
        answer = NO_MEMO
    here = tuple(np.flatnonzero(mask).tolist())
    return decision._replace(arm=position, awake=here, probabilities=p), answer


def _loss(loss: float | None, reward: float | None) -> float:
    """Return the loss that exactly one of `loss` and `reward` gives."""
    if (loss is None) == (reward is None):
        raise ValueError(must_be("feedback", "exactly one of loss and reward", {"loss": loss, "reward": reward}))
    if reward is not None:
        return 1.0 - _share("reward", reward)
    return _share("loss", loss)


def _share(name: str, value: Any) -> float:
    """Return a number in [0, 1]; True and False count as 1 and 0."""
    if type(value) in NUMBERS and 0.0 <= value <= 1.0:
        return float(value)
    return real(
        name, float(value) if isinstance(value, bool | np.bool_) else value, "a number between 0 and 1", 0.0, 1.0
    )


def _refusal(decision: Decision, answer: int) -> str:
    """Return the sentence for what `update` answered."""
    if answer == NOT_DRAWN:
        rule = "that of an arm which its probabilities can have drawn"
        return must_be("decision.probability", rule, decision.probability)
    if answer == NO_MEMO:
        return must_be("decision.memo", "zero or positive, and finite", decision.memo)
    return must_be("decision.probabilities", LAW, decision.probabilities)
