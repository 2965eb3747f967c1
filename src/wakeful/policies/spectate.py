"""Learn from decisions that somebody else made: rows of a log, folded into the state of a policy one after the other.

In a round with awake arms S and losses l, let q be the policy's own probabilities and let somebody else choose arm k
with probability m(k), which is positive wherever q is. There are two kinds of policies (`Policy.from_others`):

"counts"
    The policy keeps counts and means of what was observed. Who chose the arm does not matter: a loss is counted as if
    the policy had chosen the arm itself.
"weights"
    The policy adds estimates `f(q, k, l(k))` that are linear in the loss and unbiased if k is drawn from q. Here k is
    drawn from m, so the estimate is multiplied by `w = q(k) / m(k)`, that is, the loss is:

    sum_k m(k) f(q, k, w l(k)) = sum_k m(k) q(k) / m(k) f(q, k, l(k)) = sum_k q(k) f(q, k, l(k)).

    So, given the state, what one row adds is in expectation what the policy's own decision would have added. Of
    `SIExp3(exploration=0.0)`, for example, this is `q(i) (l(j) - l(i))` for L[i, j]: after arm k lost l, awake arms i
    get `L[k, i] -= l q(k) / m(k)` and `L[i, k] += l q(i) / m(k)`.

In both cases a row counts as a decision: the clock and the learning rates are those of the log.
"""

from typing import Any, NamedTuple

import numpy as np

from wakeful.inputs import must_be
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.decision import Decision
from wakeful.policies.kernels import FLOOR, Entry, is_drawable, law, learn, remember
from wakeful.policies.policy import LAW, Policy, a_policy, compiled, plain_law

BY_COUNTS, BY_WEIGHTS = "counts", "weights"  # what `Policy.from_others` may be, or None
NO_TABLE: Floats = np.zeros((0, 0))  # no predicted losses

N_PARAMETERS = 0  # bound, as in `kernels`: how many of `fields` are parameters
Parameters: Any = tuple  # bound: the named tuple of parameters
State: Any = tuple  # bound: the named tuple of state arrays


class Folded(NamedTuple):
    """What the policy would have done in each row, before it learned from that row."""

    own: Floats  # (T,), its probability of the arm that was chosen
    expected: Floats  # (T,), the predicted loss of its decision, `sum_k q(k) predicted(k)`; zero without predictions
    wanted: Floats  # (K,), the sum over all rows of its probabilities


def refuse_spectator(policy: Policy, has_probabilities: bool) -> None:
    """Raise unless the policy can learn from decisions of others, whose probabilities may be unknown."""
    a_policy(policy)
    if policy.from_others not in {BY_COUNTS, BY_WEIGHTS}:
        rule = "one that can learn from decisions of others (its from_others is 'counts' or 'weights')"
        raise ValueError(must_be("policy", rule, policy))
    if policy.from_others == BY_WEIGHTS and not has_probabilities:
        rule = f"known, since {policy!r} divides losses by them"
        raise ValueError(must_be("probabilities of the logged arms", rule, None))


def fold(
    policy: Policy,
    state: Any,
    awake: Mask,
    arms: Ints,
    losses: Floats,
    probabilities: Floats | None,
    coins: Floats,
    predicted: Floats = NO_TABLE,
) -> Folded:
    """Let a policy learn, in order, from rows that somebody else decided; change `state` in place.

    The arguments are trusted, except that a policy which cannot learn from others is refused before anything changes.

    Parameters:
        policy: what learns
        state: what it has learned so far, changed in place
        awake: (T, K), contiguous, which arms were awake, one or more in every row
        arms: (T,), the arms that were chosen, each of them awake
        losses: (T,), what they lost, between 0 and 1
        probabilities: (T,), with which they were chosen, at least `FLOOR`; None if unknown
        coins: (T,), uniform numbers, for policies that round losses with a coin
        predicted: (T, K), predictions of the losses of all awake arms, if `Folded.expected` is needed

    >>> from wakeful import SleepingUCB
    >>> policy = SleepingUCB()
    >>> state = policy.start(2)
    >>> rows = np.array([[True, True], [True, False]])
    >>> fold(policy, state, rows, np.array([1, 0]), np.array([0.25, 1.0]), None, np.zeros(2)).own
    array([0.5, 1. ])
    >>> state
    MeanState(counts=array([1., 1.]), losses=array([1.  , 0.25]), clock=array([2]))
    """
    refuse_spectator(policy, probabilities is not None)
    weighted = policy.from_others == BY_WEIGHTS
    logged = probabilities if weighted and probabilities is not None else np.ones(len(arms))
    made = Folded(np.zeros(len(arms)), np.zeros(len(arms)), np.zeros(awake.shape[1]))
    rows = (awake, arms, logged, losses, coins, predicted)
    if policy.kernels is None:
        _fold_plainly(policy, state, weighted, made, *rows)
        return made
    broken = compiled(policy, FOLD, state, awake.shape[1])(*rows, weighted, *made, policy.fields(state, awake.shape[1]))
    if broken >= 0:
        raise ValueError(must_be(f"probabilities of {policy!r}", LAW, made.wanted))
    return made


def _fold(
    awake: Mask,
    arms: Ints,
    logged: Floats,
    losses: Floats,
    coins: Floats,
    predicted: Floats,
    weighted: bool,
    own: Floats,
    expected: Floats,
    wanted: Floats,
    fields: tuple[Any, ...],
) -> int:
    """Fold every row into the state; return the first row for which the probabilities are invalid, or -1."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    rounds, n_arms = awake.shape
    p = np.zeros(n_arms)
    found = np.empty(n_arms, np.int64)
    for t in range(rounds):
        n = 0
        for k in range(n_arms):
            found[n] = k  # as in `kernels.indices`
            n += int(awake[t, k])
        here = found[:n]
        law(parameters, state, here, p)
        if not is_drawable(p, here):
            for k in range(n_arms):  # a loop: an assignment of whole arrays would take longer to compile
                wanted[k] = p[k]
            return t
        arm = arms[t]
        own[t] = p[arm]
        for k in here:
            wanted[k] += p[k]
            if predicted.shape[0] > 0:
                expected[t] += p[k] * predicted[t, k]
        memo = remember(parameters, state, here, p, arm, coins[t])
        loss = losses[t]
        if weighted:
            p[arm] = max(p[arm], FLOOR)  # so that l w / p(k) is l / m(k) even where p(k) is too small for a number
            loss *= p[arm] / logged[t]
        learn(parameters, state, here, p, arm, memo, loss)
        for k in here:
            p[k] = 0.0
    return -1


_INTS, _ONE, _ROWS = np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1), np.bool_)
_FOLD_EXAMPLES = (_ROWS, _INTS, _ONE, _ONE, _ONE, np.zeros((1, 1)), True, _ONE, _ONE, _ONE)
FOLD = Entry("fold", _fold, _FOLD_EXAMPLES, nogil=True)


def _fold_plainly(
    policy: Policy,
    state: Any,
    weighted: bool,
    made: Folded,
    awake: Mask,
    arms: Ints,
    logged: Floats,
    losses: Floats,
    coins: Floats,
    predicted: Floats,
) -> None:
    """Do the same one row at a time, for a policy without kernels."""
    for t, mask in enumerate(awake):
        p = plain_law(policy, state, mask)
        arm, here = int(arms[t]), tuple(np.flatnonzero(mask).tolist())
        made.own[t] = p[arm]
        made.wanted[:] += p
        if len(predicted):
            made.expected[t] = float(p @ predicted[t])
        if weighted:
            p[arm] = max(p[arm], FLOOR)
        decision = Decision(arm, float(p[arm]), here, p, t + 1, 0.0)
        memo = policy.remember(state, decision, float(coins[t]))
        loss = float(losses[t]) * (float(p[arm] / logged[t]) if weighted else 1.0)
        policy.update(state, decision._replace(memo=memo), loss)
