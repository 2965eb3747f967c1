"""Rejection replay: a policy chooses in every row of a log, and rows in which it chose what was logged are its own."""

from typing import Any, NamedTuple

import numpy as np

from wakeful.inputs import must_be
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.decision import Decision
from wakeful.policies.kernels import Entry, draw, indices, is_drawable, law, learn, remember
from wakeful.policies.policy import LAW, Policy, compiled, plain_law

N_PARAMETERS = 0  # bound, as in `kernels`: how many of `fields` are parameters
Parameters: Any = tuple  # bound: the named tuple of parameters
State: Any = tuple  # bound: the named tuple of state arrays


class Replayed(NamedTuple):
    """What rejection replay did in each row."""

    accepted: Mask  # (T,), whether the policy chose what was logged and the row was kept
    wanted: Floats  # (K,), the sum over all rows of its probabilities


def replay(
    policy: Policy, state: Any, awake: Mask, arms: Ints, losses: Floats, uniforms: Floats, kept: Mask
) -> Replayed:
    """Let a policy choose in every row; where it chooses what was logged, it learns as from a decision of its own.

    If every awake arm was logged with the same probability and a row with n awake arms is kept with a probability
    proportional to n, every row is accepted with the same probability, whatever is awake and whatever the policy wants:
    the accepted rows are a run of the policy's own (Li, Chu, Langford and Wang 2011, for sets that change).

    Parameters:
        policy: what chooses and learns
        state: what it has learned so far, changed in place
        awake: (T, K), contiguous, which arms were awake, one or more in every row
        arms: (T,), the arms that were chosen
        losses: (T,), what they lost
        uniforms: (T,), uniform numbers to choose with
        kept: (T,), whether a row may be accepted
    """
    made = Replayed(np.zeros(len(arms), np.bool_), np.zeros(awake.shape[1]))
    rows = (awake, arms, losses, uniforms, kept)
    if policy.kernels is None:
        _replay_plainly(policy, state, made, *rows)
        return made
    n_arms = awake.shape[1]
    run = compiled(policy, REPLAY, state, n_arms)
    if run(*rows, *made, policy.fields(state, n_arms)) >= 0:
        raise ValueError(must_be(f"probabilities of {policy!r}", LAW, made.wanted))
    return made


def _replay(
    awake: Mask,
    arms: Ints,
    losses: Floats,
    uniforms: Floats,
    kept: Mask,
    accepted: Mask,
    wanted: Floats,
    fields: tuple[Any, ...],
) -> int:
    """Choose in every row and learn from accepted ones; return the first row with invalid probabilities, or -1."""
    parameters = Parameters(*fields[:N_PARAMETERS])
    state = State(*fields[N_PARAMETERS:])
    p = np.zeros(awake.shape[1])
    for t in range(arms.size):
        here = indices(awake[t])
        law(parameters, state, here, p)
        if not is_drawable(p, here):
            for k in range(p.size):  # as in `spectate`
                wanted[k] = p[k]
            return t
        arm, coin = draw(p, here, uniforms[t])
        if arm == arms[t] and kept[t]:
            accepted[t] = True
            memo = remember(parameters, state, here, p, arm, coin)
            learn(parameters, state, here, p, arm, memo, losses[t])
        for k in here:
            wanted[k] += p[k]
            p[k] = 0.0
    return -1


_ONE, _MASK, _ROWS = np.zeros(1), np.zeros(1, np.bool_), np.zeros((1, 1), np.bool_)
REPLAY = Entry("replay", _replay, (_ROWS, np.zeros(1, np.int64), _ONE, _ONE, _MASK, _MASK, _ONE), nogil=True)


def _replay_plainly(
    policy: Policy,
    state: Any,
    made: Replayed,
    awake: Mask,
    arms: Ints,
    losses: Floats,
    uniforms: Floats,
    kept: Mask,
) -> None:
    """Do the same one row at a time, for a policy without kernels."""
    for t, mask in enumerate(awake):
        p, here = plain_law(policy, state, mask), indices(mask)
        made.wanted[:] += p
        arm, coin = draw(p, here, float(uniforms[t]))
        if arm == arms[t] and kept[t]:
            made.accepted[t] = True
            decision = Decision(int(arm), float(p[arm]), tuple(here.tolist()), p, t + 1, 0.0)
            memo = policy.remember(state, decision, coin)
            policy.update(state, decision._replace(memo=memo), float(losses[t]))
