"""What a state may hold, as every policy says: inside, nothing hangs or is NaN; outside, it is refused."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import duel_cases
import wakeful as wk
from own_policy import EpsilonGreedy
from policy_cases import CASES
from wakeful.bandits.dueling_bandit import DuelingBandit
from wakeful.duels.kernels import empty_pick
from wakeful.duels.pairs import distinct_pairs
from wakeful.duels.policy import DuelingPolicy, step
from wakeful.policies.policy import Policy, fitting_state
from wakeful.policies.state_ranges import ANY_MEMO, MOST, Range

POLICIES = [case.policy for case in CASES]
DUELS = [case.policy for case in duel_cases.CASES]
N_ARMS = 3
STATES = 60


@contextmanager
def seconds(most: int) -> Iterator[None]:
    """Interrupt what takes longer; compiled code cannot be interrupted, so that it ends the process."""
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(most)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def drawn(rng: np.random.Generator, allowed: Range, array: Any) -> Any:
    """Return an array of numbers in the range: ends, zeros, and anything between, near and far from zero."""
    far = np.nextafter(allowed.high, -np.inf)
    spread = np.exp(rng.uniform(-40.0, 0.0, array.shape)) * rng.choice([allowed.low, far], array.shape)
    ends = rng.choice([allowed.low, far, 0.0, 1.0, 2.0], array.shape)
    chosen = rng.choice([0, 1, 2], array.shape)
    values = np.select([chosen == 0, chosen == 1], [spread, ends], rng.integers(0, 50, array.shape))
    values = np.clip(np.floor(values) if allowed.whole else values, allowed.low, far)
    return values.astype(array.dtype)


def random_state(policy: Any, fresh: Any, rng: np.random.Generator) -> Any:
    """Return a state all of whose fields hold numbers in their ranges."""
    fields = {}
    for name, array in fresh._asdict().items():
        if array.dtype == np.bool_:
            fields[name] = rng.random(array.shape) < 0.5
        else:
            fields[name] = drawn(rng, policy.ranges[name], array)
    return type(fresh)(**fields)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_whatever_a_state_may_hold_there_are_probabilities(policy: Policy) -> None:
    rng = np.random.default_rng(1)
    bandit = wk.Bandit(policy, N_ARMS, seed=0)
    bandit.probabilities()  # compiled now, not within the limit
    bandit.update(bandit.choose(), loss=0.5)
    with seconds(60):
        for _ in range(STATES):
            state = random_state(policy, policy.start(N_ARMS), rng)
            fitting_state(policy, state, N_ARMS)
            for field, array in zip(bandit.state, state, strict=True):
                field[...] = array
            awake = np.flatnonzero(rng.random(N_ARMS) < 0.7).tolist() or [0]
            p = bandit.probabilities(awake)
            assert abs(p.sum() - 1.0) <= 1e-9
            bandit.update(bandit.choose(awake), loss=1.0)  # it accepts its own decision
            assert all(np.isfinite(array).all() for array in bandit.state)


@pytest.mark.parametrize("policy", DUELS, ids=repr)
def test_whatever_a_state_may_hold_there_are_duels(policy: DuelingPolicy) -> None:
    rng, pairs = np.random.default_rng(2), distinct_pairs(N_ARMS)
    start = policy.start(N_ARMS)
    choose = step(policy, "choose", start, N_ARMS)
    with seconds(60):
        for _ in range(STATES):
            state = random_state(policy, start, rng)
            pick = empty_pick(2, N_ARMS)
            assert choose(pairs, rng.random(4), pick, policy.fields(state, N_ARMS)) == -1, state
            assert np.isfinite(pick.laws).all()


def wrong_values(array: Any, allowed: Range) -> list[float]:
    """Return numbers that the field may not hold."""
    beyond = [2.0 * allowed.low - 1.0, 2.0 * allowed.high + 2.0]
    if array.dtype.kind == "i":
        return [-1, MOST + 2, 2**62, 2**63 - 1]
    return [*beyond, np.nan, np.inf, -np.inf] + ([0.5] if allowed.whole else [])


def changed_states(policy: Any, fresh: Any) -> Iterator[tuple[str, Any]]:
    """Yield states in which one number of one field is wrong."""
    for name, array in fresh._asdict().items():
        if array.dtype != np.bool_ and array.size:
            for value in wrong_values(array, policy.ranges[name]):
                bad = array.copy()
                bad.flat[-1] = value
                yield name, fresh._replace(**{name: bad})


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_whatever_a_state_may_not_hold_is_refused_wherever_it_comes_in(policy: Policy, tmp_path: Path) -> None:
    awake, losses = np.ones((2, N_ARMS), np.bool_), np.zeros((2, N_ARMS))
    bandit = wk.Bandit(policy, N_ARMS, seed=0)
    decision = bandit.choose()
    for n, (name, state) in enumerate(changed_states(policy, policy.start(N_ARMS))):
        ways: list[Callable[[], Any]] = [
            partial(policy.probabilities, state, awake[0]),
            partial(policy.remember, state, decision, 0.5),
            partial(policy.update, state, decision, 0.5),
            partial(wk.play, policy, awake, losses, np.random.default_rng(0), state),
        ]
        for way in ways:
            with pytest.raises(ValueError, match=rf"^state must be one whose {name} holds (whole )?numbers from"):
                way()
        bandit._state = state
        bandit.save(tmp_path / str(n))
        with pytest.raises(ValueError, match=f"state must be one whose {name} holds"):
            wk.Bandit.load(tmp_path / str(n))


@pytest.mark.parametrize("policy", DUELS, ids=repr)
def test_whatever_a_dueling_state_may_not_hold_is_not_loaded(policy: DuelingPolicy, tmp_path: Path) -> None:
    arena = DuelingBandit(policy, N_ARMS, seed=0)
    for name, state in changed_states(policy, policy.start(N_ARMS)):
        arena._state = state
        arena.save(tmp_path / "duel")
        with pytest.raises(ValueError, match=f"state must be one whose {name} holds"):
            DuelingBandit.load(tmp_path / "duel")


@pytest.mark.parametrize("policy", [*POLICIES, *DUELS], ids=repr)
def test_every_policy_says_what_every_field_may_hold(policy: Any) -> None:
    numbers = {name for name, array in policy.start(N_ARMS)._asdict().items() if array.dtype != np.bool_}
    assert set(policy.ranges) == numbers
    assert policy.memo_range(N_ARMS) != ANY_MEMO


@dataclass(frozen=True)
class Modest(EpsilonGreedy):
    """Says of its losses what is not so: they go beyond three."""

    ranges = {"losses": Range(0.0, 3.0)}  # noqa: RUF012  # frozen by what it means


def test_the_suite_finds_a_policy_that_leaves_the_ranges_it_states() -> None:
    with pytest.raises(AssertionError, match="state must be one whose losses holds numbers from 0 to 3"):
        wk.check_policy(Modest())


FORGED = [
    (wk.SleepingExp3(), 0.0),
    (wk.SleepingExp3G(), 0.0),
    (wk.SIExp3(), 0.0),
    (wk.SIExp3(), 1e101),
    (wk.SBExp3(), 0.0),
    (wk.SleepingThompson(), 1.5),
    (wk.SleepingUCB(), 0.5),
    (wk.PerSet(wk.SleepingUCB()), 0.5),
    (wk.Uniform(), 1.0),
]


@pytest.mark.parametrize(("policy", "memo"), FORGED, ids=repr)
def test_feedback_with_the_memo_of_another_policy_is_refused(policy: Policy, memo: float) -> None:
    bandit = wk.Bandit(policy, N_ARMS, seed=0)
    decision = bandit.choose()
    forged = decision._replace(memo=memo)
    before = [array.tobytes() for array in bandit.state]
    with pytest.raises(ValueError, match=r"decision\.memo must be what the policy noted"):
        bandit.update(forged, loss=1.0)
    with pytest.raises(ValueError, match=r"decision\.memo must be what the policy noted"):
        policy.update(bandit.state, forged, 1.0)
    assert [array.tobytes() for array in bandit.state] == before
    bandit.update(decision, loss=1.0)


def test_a_duel_with_the_memo_of_another_policy_is_refused() -> None:
    for policy, memo in ((wk.RelativeUCB(), 0.5), (wk.Sparring(wk.SIExp3()), 0.0)):
        arena = DuelingBandit(policy, N_ARMS, seed=0)
        duel = arena.choose()
        with pytest.raises(ValueError, match=r"duel\.memos must be what the policy noted"):
            arena.update(duel._replace(memos=(duel.memos[0], memo)), winner="left")


EXTREME = [5e-324, 1e-150, 1e100]
PARAMETERS: list[Policy] = [
    *(wk.SIExp3(eta=eta, exploration=x) for eta in EXTREME for x in EXTREME),
    *(wk.SBExp3(eta=eta, exploration=x) for eta in EXTREME for x in (0.0, *EXTREME)),
    *(wk.SleepingExp3(eta=eta, exploration=x) for eta in EXTREME for x in (0.0, *EXTREME)),
    *(wk.SleepingExp3G(eta=eta, exploration=x, max_sets=4) for eta in EXTREME for x in (0.0, *EXTREME)),
    *(wk.OrderingExp4(scale=scale) for scale in EXTREME),
    *(wk.SleepingUCB(constant=constant) for constant in EXTREME),
]


def test_no_policy_refuses_its_own_decisions_whatever_its_parameters() -> None:
    for policy in PARAMETERS:
        bandit = wk.Bandit(policy, N_ARMS, seed=0)
        for t in range(60):
            bandit.update(bandit.choose([0, 1] if t % 3 else None), loss=float(t % 2))
        fitting_state(policy, bandit.state, N_ARMS)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (wk.SIExp3, {"exploration": 1e101}),
        (wk.SleepingExp3, {"exploration": 1e308}),
        (wk.OrderingExp4, {"scale": 1e308}),
        (wk.SleepingUCB, {"constant": 1e308}),
        (wk.RelativeMED, {"slack": 1e308}),
        (wk.DoubleThompson, {"constant": 1e308}),
    ],
)
def test_parameters_that_no_number_can_hold_the_effect_of_are_refused(kind: Any, parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must be .*, at most 1e\+100, got"):
        kind(**parameters)
