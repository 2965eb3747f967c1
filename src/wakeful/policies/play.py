"""`play`: run a policy through given rounds, compiled where it has kernels."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wakeful.inputs import must_be
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.policy import Policy, a_policy, compiled, decide, fitting_state
from wakeful.policies.rounds import checked_awake, checked_numbers, refuse_outside


def play(policy: Policy, awake: ArrayLike, losses: ArrayLike, rng: np.random.Generator, state: Any = None) -> Ints:
    """Return the arm played in each round, -1 where no arm is awake, with immediate feedback.

    One uniform number is drawn a round, so a `Bandit` with the same stream makes the same choices.

    Parameters:
        policy: what to run
        awake: (T, K) booleans, which arms are awake
        losses: (T, K) numbers in [0, 1]; those of arms that are asleep are ignored
        rng: where the uniform numbers come from
        state: to go on from, changed in place; by default the policy's own start

    >>> from wakeful import SleepingUCB
    >>> awake = np.array([[True, False], [False, True], [False, False]])
    >>> play(SleepingUCB(), awake, np.zeros((3, 2)), np.random.default_rng(0))
    array([ 0,  1, -1])
    """
    a_policy(policy)
    mask = checked_awake("awake", awake)
    values = checked_numbers("losses", losses, mask)
    refuse_outside("losses", values, mask)
    if not isinstance(rng, np.random.Generator):
        raise TypeError(must_be("rng", "a numpy.random.Generator", rng))
    n_arms = mask.shape[1]
    state = policy.start(n_arms) if state is None else fitting_state(policy, state, n_arms)
    return runner(policy, state, n_arms)(mask, values, rng)


def runner(policy: Policy, state: Any, n_arms: int) -> Callable[[Mask, Floats, np.random.Generator], Ints]:
    """Return a function that plays blocks of rounds and goes on from `state`; it trusts its arguments."""
    if policy.kernels is None:
        return partial(_play_plainly, policy, state, count(1))
    run = compiled(policy, "play", state, n_arms)
    fields = policy.fields(state, n_arms)

    def play_on(awake: Mask, losses: Floats, rng: np.random.Generator) -> Ints:
        choices = np.empty(len(awake), np.int64)
        run(awake, losses, rng, choices, fields)
        return choices

    return play_on


def _play_plainly(
    policy: Policy, state: Any, clock: Iterator[int], awake: Mask, losses: Floats, rng: np.random.Generator
) -> Ints:
    """Do the same one round at a time, for a policy without kernels; `clock` counts its decisions."""
    choices = np.full(len(awake), -1, np.int64)
    for t, row in enumerate(awake):
        if row.any():
            decision = decide(policy, state, row, rng.random, next(clock))
            policy.update(state, decision, float(losses[t, decision.arm]))
            choices[t] = decision.arm
    return choices
