"""Decisions that somebody else made: one row of them, or a log, folded into the state and the counts of a bandit."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from wakeful.inputs import must_be, real
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import call_compiled
from wakeful.policies.counts import (
    ANSWERED,
    CHOSEN,
    LIKELY,
    LOSS,
    RARE,
    RARE_LOSS,
    SQUARE,
    TIMES_AWAKE,
    UNIFORM,
    UNLIKELY,
    VARIANCE,
    WIDTH,
)
from wakeful.policies.kernels import FLOOR
from wakeful.policies.policy import Policy
from wakeful.policies.spectate import fold, refuse_spectator


class Rows(Protocol):
    """Some rows of a log."""

    @property
    def awake(self) -> Mask:
        """(T, K), which arms were awake."""

    @property
    def arms(self) -> Ints:
        """(T,), the arms chosen."""

    @property
    def losses(self) -> Floats:
        """(T,), what they lost."""

    @property
    def probabilities(self) -> Floats | None:
        """(T,), with which they were chosen, if that is known."""


class LogRows(NamedTuple):
    """Rows that were not read from a log."""

    awake: Mask
    arms: Ints
    losses: Floats
    probabilities: Floats | None


class LogLike(Protocol):
    """What `Bandit.learn` takes: names of arms, and rows in blocks."""

    @property
    def arms(self) -> Sequence[str]:
        """The names of the arms, by position."""

    def blocks(self) -> Iterable[Rows]:
        """Return the rows, in order."""


def checked_log(policy: Policy, log: Any) -> LogLike:
    """Return a log that the policy can learn from: the one given, or that of a file or a table."""
    if not hasattr(log, "arms") or not callable(getattr(log, "blocks", None)):
        from wakeful.logs.log import as_log

        log = as_log(log)
    refuse_spectator(policy, getattr(log, "has_probabilities", True))
    return log  # type: ignore[no-any-return]  # as just checked


def places(arms: Sequence[str], names: Sequence[Hashable]) -> list[int | None]:
    """Return where each arm of a log is among the `names` of a bandit; whole numbers are texts in logs."""
    texts = {str(name): k for k, name in enumerate(names) if not isinstance(name, str)}
    texts |= {name: k for k, name in enumerate(names) if isinstance(name, str)}
    return [texts.get(arm) for arm in arms]


def learn_rows(policy: Policy, state: Any, counts: Floats, rows: Rows, where: Ints, coins: Floats) -> None:
    """Fold rows into `state` and `counts`; `where` says which arm of the bandit each arm of the log is."""
    n_arms = counts.shape[1]
    awake = np.zeros((len(rows.arms), n_arms), np.bool_)
    awake[:, where] = rows.awake
    arms = np.ascontiguousarray(where[rows.arms])
    losses = np.ascontiguousarray(rows.losses, np.float64)
    given = rows.probabilities
    made = fold(policy, state, awake, arms, losses, given, coins)
    known = given is not None
    logged = np.ones(len(arms)) if given is None else np.ascontiguousarray(given, np.float64)
    call_compiled(_count_rows, counts, awake, arms, losses, logged, known, made.own)


def checked_probability(value: Any) -> float | None:
    """Return the probability with which somebody chose an arm, if it is known."""
    if value is None:
        return None
    rule = "a number above 0, at most 1, or None if it is unknown"
    number = real("probability", value, rule, 0.0, 1.0)
    if number < FLOOR:
        raise ValueError(must_be("probability", rule, value))
    return number


def _count_rows(
    counts: Floats, awake: Mask, arms: Ints, losses: Floats, logged: Floats, known: bool, own: Floats
) -> None:
    """Count rows as `policies.counts` does; of the probabilities only those of the chosen arms are known, if any.

    So each estimate `w l` is for the chosen arm alone, `(w - 1)^2` estimates its variance, and squared switch gains are
    bounded with `q(i) <= 1 - q(k)`. If no probability is known, all arms count with their mean losses. Arms that
    somebody else tries where the bandit would hardly do so tell what they lose there.
    """
    for t in range(len(arms)):
        arm, loss = arms[t], losses[t]
        share = 1.0 / awake[t].sum()
        weight = share / logged[t] if known else 0.0
        for k in range(awake.shape[1]):
            if awake[t, k]:
                counts[TIMES_AWAKE, k] += 1.0
                if not known:
                    counts[UNLIKELY, k] += share
                if counts.shape[0] > WIDTH and k != arm:
                    counts[WIDTH + arm, k] += (loss * (1.0 - own[t]) / logged[t]) ** 2
                    counts[WIDTH + k, arm] += (loss * own[t] / logged[t]) ** 2
        counts[CHOSEN, arm] += 1.0
        counts[ANSWERED, arm] += 1.0
        counts[LOSS, arm] += loss
        counts[SQUARE, arm] += loss * loss
        if known and own[t] < LIKELY * share:  # a look at an arm that the bandit itself hardly ever chooses there
            counts[RARE, arm] += 1.0
            counts[RARE_LOSS, arm] += loss
        counts[UNIFORM, arm] += weight * loss
        counts[VARIANCE, arm] += (weight - 1.0) ** 2
