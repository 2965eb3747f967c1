"""Learning from decisions of others: what a row adds is, in expectation, what the policy's own decision would add."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from policy_cases import CASES
from wakeful import Auto, OrderingExp4, PerSet, Policy, SBExp3, SIExp3, SleepingExp3G, SleepingUCB, Uniform, play
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.decision import Decision
from wakeful.policies.spectate import fold

N_ARMS = 4
POLICIES = [case.policy for case in CASES if case.policy.from_others is not None]
WEIGHTED = [policy for policy in POLICIES if policy.from_others == "weights"]
COUNTING = [policy for policy in POLICIES if policy.from_others == "counts"]
AWAKE = np.array([True, True, False, True])
LOSSES = np.array([0.9, 0.25, np.nan, 0.6])
LOGGED = np.array([0.2, 0.7, 0.0, 0.1])  # what somebody else chose from


def played(policy: Policy, rounds: int = 40) -> Any:
    """Return the state of a policy after some rounds of its own."""
    rng = np.random.default_rng(5)
    awake = rng.random((rounds, N_ARMS)) < 0.7
    state = policy.start(N_ARMS)
    play(policy, awake, rng.random(awake.shape), rng, state)
    return state


def copy(state: Any) -> Any:
    return type(state)(*(array.copy() for array in state))


def row(policy: Policy, state: Any, arm: int, coin: float = 0.5) -> Any:
    """Return the state after one logged row."""
    after, one = copy(state), np.ones(1)
    fold(policy, after, AWAKE[np.newaxis], np.array([arm]), LOSSES[arm] * one, LOGGED[arm] * one, coin * one)
    return after


def own(policy: Policy, state: Any, arm: int, coin: float = 0.5) -> Any:
    """Return the state after a decision of the policy's own for `arm`."""
    after = copy(state)
    p = policy.probabilities(after, AWAKE)
    p[arm] = max(p[arm], 1e-18)
    decision = Decision(arm, float(p[arm]), tuple(np.flatnonzero(AWAKE).tolist()), p, 1, 0.0)
    decision = decision._replace(memo=policy.remember(after, decision, coin))
    policy.update(after, decision, float(LOSSES[arm]))
    return after


def mean_change(policy: Policy, state: Any, weights: Floats, step: Any) -> list[Any]:
    """Return the expected change of every field, over arms drawn from `weights`."""
    total = [np.zeros(array.shape) for array in state]
    for arm in np.flatnonzero(AWAKE):
        for change, before, after in zip(total, state, step(policy, state, int(arm)), strict=True):
            change[...] += weights[arm] * (after.astype(float) - before)
    return total


@pytest.mark.parametrize("policy", WEIGHTED, ids=repr)
def test_a_row_adds_in_expectation_what_an_own_decision_would(policy: Policy) -> None:
    state = played(policy)
    logged = mean_change(policy, state, LOGGED, row)
    expected = mean_change(policy, state, policy.probabilities(state, AWAKE), own)
    for found, wanted in zip(logged, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("policy", COUNTING, ids=repr)
@pytest.mark.parametrize("arm", [0, 1, 3])
def test_policies_that_count_take_a_row_as_their_own(policy: Policy, arm: int) -> None:
    state = played(policy)
    for coin in (0.1, 0.95):
        for found, wanted in zip(row(policy, state, arm, coin), own(policy, state, arm, coin), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_the_expected_change_is_that_of_full_information() -> None:
    """Against the definitions: what each state holds if all losses were seen and nothing was estimated."""
    here = np.flatnonzero(AWAKE)
    loss = np.where(AWAKE, LOSSES, 0.0)
    pairs: Policy = SIExp3(eta=0.2, exploration=0.0)
    state = played(pairs)
    q = pairs.probabilities(state, AWAKE)
    wanted = np.zeros((N_ARMS, N_ARMS))
    for i in here:
        wanted[i, here] = q[i] * (loss[here] - loss[i])
    np.testing.assert_allclose(mean_change(pairs, state, LOGGED, row)[0], wanted, atol=1e-12)

    arms: Policy = SBExp3()
    state = played(arms)
    wanted = np.where(AWAKE, loss - arms.probabilities(state, AWAKE) @ loss, 0.0)
    np.testing.assert_allclose(mean_change(arms, state, LOGGED, row)[0], wanted, atol=1e-12)

    orderings: Policy = OrderingExp4()
    state = played(orderings)
    firsts = [next(k for k in ordering if AWAKE[k]) for ordering in orderings.parameters(N_ARMS).orderings]
    np.testing.assert_allclose(mean_change(orderings, state, LOGGED, row)[0], loss[firsts], atol=1e-12)


def test_own_decisions_in_a_log_teach_what_they_taught() -> None:
    """A log of the policy's own decisions, with its own probabilities, gives its own state."""
    policies: list[Policy] = [SIExp3(), SleepingExp3G(), SleepingUCB()]
    for policy in policies:
        rng = np.random.default_rng(8)
        awake, losses = rng.random((200, N_ARMS)) < 0.6, rng.random((200, N_ARMS))
        awake = awake[awake.any(axis=1)]
        live, logged = policy.start(N_ARMS), policy.start(N_ARMS)
        arms = play(policy, awake, losses[: len(awake)], np.random.default_rng(3), live)
        lost = losses[np.arange(len(awake)), arms]
        p, after = np.ones(len(arms)), copy(logged)
        for t in range(len(arms)):
            p[t] = policy.probabilities(after, awake[t])[arms[t]]
            cut = slice(t, t + 1)
            fold(policy, after, awake[cut], arms[cut], lost[cut], p[cut], np.zeros(1))
        for found, wanted in zip(after, live, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
        made = fold(policy, logged, awake, arms, lost, p, np.zeros(len(arms)))
        np.testing.assert_allclose(made.own - p, 0.0, atol=1e-9)


def test_an_arm_that_the_policy_never_plays_still_teaches() -> None:
    policy: Policy = SBExp3(eta=50.0)
    state = policy.start(2)
    state.losses[:] = 1000.0, 0.0
    assert policy.probabilities(state, np.ones(2, bool))[0] == 0.0
    one = np.ones(1)
    fold(policy, state, np.ones((1, 2), bool), np.array([0]), 0.5 * one, 0.25 * one, one / 2)
    assert state.losses[0] == 1002.0  # 0.5 / 0.25
    assert state.clock.tolist() == [1, 1]


def test_what_the_policy_would_have_done_is_returned() -> None:
    policy = Uniform()
    state = policy.start(3)
    awake = np.array([[True, True, False], [True, True, True]])
    table = np.array([[0.2, 0.4, np.inf], [0.3, 0.6, 0.9]])
    made = fold(policy, state, awake, np.array([0, 2]), np.zeros(2), None, np.zeros(2), table)
    np.testing.assert_allclose(made.own, [1 / 2, 1 / 3])
    np.testing.assert_allclose(made.expected, [0.3, 0.6])
    np.testing.assert_allclose(made.wanted, [5 / 6, 5 / 6, 1 / 3])


def test_who_cannot_learn_from_others_is_refused() -> None:
    rows = np.ones((1, 2), bool), np.array([0]), np.zeros(1)
    for policy in (Auto(guard=0.25), PerSet(Auto(guard=0.25)), Silent()):
        with pytest.raises(ValueError, match="policy must be one that can learn from decisions of others"):
            fold(policy, policy.start(2), *rows, np.ones(1), np.ones(1))
    with pytest.raises(ValueError, match=r"probabilities of the logged arms must be known, since SIExp3\("):
        fold(SIExp3(), SIExp3().start(2), *rows, None, np.ones(1))


@dataclass(frozen=True)
class Plain(Policy):
    """A user's policy in plain Python: SB-EXP3 with a constant rate."""

    from_others: ClassVar[str | None] = "weights"

    def start(self, n_arms: int) -> Any:
        return SBExp3().start(n_arms)

    def probabilities(self, state: Any, awake: Mask) -> Floats:
        p = np.where(awake, np.exp(-0.1 * (state.losses - state.losses[awake].min())), 0.0)
        return np.asarray(p / p.sum())

    def update(self, state: Any, decision: Decision, loss: float) -> None:
        if len(decision.awake) > 1:
            state.losses[list(decision.awake)] -= loss
            state.losses[decision.arm] += loss / decision.probability


@dataclass(frozen=True)
class Silent(Plain):
    """One that says nothing about decisions of others."""

    from_others: ClassVar[str | None] = None


def test_policies_in_plain_python_learn_the_same() -> None:
    rng = np.random.default_rng(2)
    awake = rng.random((50, 3)) < 0.8
    awake[~awake.any(axis=1)] = True
    arms = np.array([rng.choice(np.flatnonzero(mask)) for mask in awake])
    logged, losses = 1.0 / awake.sum(axis=1), rng.random(50)
    states, made = [], []
    policy: Policy
    for policy in (SBExp3(eta=0.1), Plain()):
        states.append(policy.start(3))
        made.append(fold(policy, states[-1], awake, arms, losses, logged, rng.random(50), rng.random(awake.shape) * 0))
    np.testing.assert_allclose(states[0].losses, states[1].losses, atol=1e-9)
    np.testing.assert_allclose(made[0].own, made[1].own, atol=1e-9)
    np.testing.assert_allclose(made[0].wanted, made[1].wanted, atol=1e-9)
