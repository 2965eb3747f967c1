"""`BanditHistory`, the part of `Bandit` that looks back: decisions of others, reports, explanations, switch gains."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from wakeful.bandits.arms import Awake, listed
from wakeful.bandits.estimates import switch_errors
from wakeful.bandits.feedback import given_decision, loss_of
from wakeful.bandits.learner import Learner, copied
from wakeful.bandits.levels import z_score
from wakeful.bandits.others import (
    LogRows,
    Rows,
    checked_log,
    checked_probability,
    learn_rows,
    places,
)
from wakeful.bandits.report import Explanation, Report, make_explanation, make_report
from wakeful.bandits.switch_gains import SwitchGains, named_gains
from wakeful.inputs import must_be, one_of
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.decision import Decision
from wakeful.policies.kernels import CLOSE
from wakeful.policies.policy import Policy
from wakeful.policies.spectate import refuse_spectator


class BanditHistory(Learner[Policy]):
    """Learns from decisions that somebody else made, and says what was seen and learned so far."""

    _counts: Floats  # (..., K), what happened to each arm: `policies/counts.py`

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

        >>> from wakeful import Bandit
        >>> bandit = Bandit(arms=["tea", "coffee", "juice"], seed=7)
        >>> bandit.record("tea", awake=["tea", "juice"], probability=0.5, loss=0.3)
        >>> bandit.rounds, bandit.report().arms[0].mean_loss
        (1, 0.3)
        """
        awake, lost, chance = listed(awake), loss_of(loss, reward), checked_probability(probability)
        refuse_spectator(self._policy, chance is not None)
        with self._lock:
            _, mask, _ = self._arms.awake(None) if awake is None else self._arms.known(awake, "awake")
            position = self._arms.of("arm", arm)
            if not mask[position]:
                raise ValueError(must_be("arm", "one of the arms that were awake", arm))
            if chance is not None and chance < 1.0 - CLOSE and mask.sum() == 1:
                raise ValueError(must_be("probability", "1 where one arm alone is awake", probability))
            chances = None if chance is None else np.array([chance])
            self._learn([LogRows(mask[None], np.array([position]), np.array([lost]), chances)], np.arange(mask.size))

    def learn(self, log: Any, *, unknown_arms: str = "refuse") -> None:
        """Learn from a log of decisions that somebody else made, row by row; they count as decisions of this bandit.

        After an error nothing has changed. Losses of policies that divide by probabilities, such as `SIExp3`, are
        weighted so that what each row adds is right in expectation, whoever chose.

        Parameters:
            log: a `wk.Log`; or the path of a file, a data frame of pandas or polars, an Arrow table, or a mapping of
                columns, which `wk.Log.read` and `wk.Log` read, with more options
            unknown_arms: `"refuse"` a log with an arm that this bandit does not have, or `"add"` such arms
        """
        one_of("unknown_arms", unknown_arms, ("refuse", "add"))
        given = checked_log(self._policy, log)
        names = tuple(given.arms)
        with self._lock:
            missing = [name for name, k in zip(names, places(names, self._arms.names), strict=True) if k is None]
            if missing and unknown_arms == "refuse":
                rule = "of arms that this bandit has (unknown_arms='add' adds others)"
                raise ValueError(must_be("log", rule, missing[0]))
            before = self._arms.copy(), self._state, self._counts
            try:
                for name in missing:
                    self._add(name)
                self._learn(given.blocks(), np.array(places(names, self._arms.names), np.int64))
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

        >>> from wakeful import Bandit
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

    @abstractmethod
    def probabilities(self, awake: Awake = None) -> Floats:
        """Return the probabilities of the next choice."""

    @abstractmethod
    def _placed(self, decision: Decision) -> tuple[int, Mask, float, float]:
        """Return position, mask, probability and memo of a decision that may be this bandit's, else refuse it."""
