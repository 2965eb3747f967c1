"""The bounds that policies state: each formula worked out by hand, and one that must hold with much exploration."""

import math

import numpy as np
import pytest

import wakeful as wk
from policy_cases import CASES, Case
from wakeful import regret
from wakeful.policies.policy import Guarantee, Policy

LOG_2, LOG_4, LOG_12, LOG_24 = map(math.log, (2, 4, 12, 24))

# Policy, (rounds, arms, awake arms in all), what it promises. Square roots of rounds are whole numbers.
STATED = {
    # log K / c + c rivals + exploration c min(awake, 2 rivals), rivals = awake - rounds
    "SBExp3, constant": (wk.SBExp3(eta=0.1), (100, 4, 300), "external", "any", 10 * LOG_4 + 20),
    "and exploration, much asleep": (
        wk.SBExp3(eta=0.1, exploration=0.5), (100, 4, 130), "external", "any", 10 * LOG_4 + 3 + 0.05 * 60,
    ),
    "and exploration, little asleep": (
        wk.SBExp3(eta=0.1, exploration=0.5), (100, 4, 300), "external", "any", 10 * LOG_4 + 20 + 0.05 * 300,
    ),
    "one arm at a time": (wk.SBExp3(eta=0.1, exploration=9.0), (100, 4, 100), "external", "any", 10 * LOG_4),
    "rounds with nobody": (wk.SBExp3(eta=0.1, exploration=9.0), (100, 4, 60), "external", "any", 10 * LOG_4),
    # 3 sqrt(3 K / (4 a)) (T + 1)^(2/3) + 8 K (T + 1)^(1/3) / a + 1, and the bound of SB-EXP3
    "Auto, guarded": (
        wk.Auto(guard=0.25), (63, 4, 99), "external", "any",
        48 * math.sqrt(12) + 512 + 1 + 24 * math.sqrt(LOG_2) + LOG_2,
    ),
    # (log K + 2 (K - 1) + 2 exploration K) sqrt T + 1
    "SBExp3, sqrt": (wk.SBExp3(eta="sqrt"), (100, 4, 300), "external", "any", 10 * (LOG_4 + 6) + 1),
    "SBExp3, sqrt, exploration": (
        wk.SBExp3(eta="sqrt", exploration=0.5), (100, 4, 300), "external", "any", 10 * (LOG_4 + 6 + 4) + 1,
    ),
    # c = sqrt(log K / 2): (log K / c + 2 c + 4 exploration c) sqrt(rivals) + c^2, where log K / c = 2 c
    "SBExp3": (wk.SBExp3(), (100, 4, 325), "external", "any", 4 * math.sqrt(LOG_2) * 15 + LOG_2),
    "SBExp3, exploration": (
        wk.SBExp3(exploration=0.5), (100, 4, 325), "external", "any", 6 * math.sqrt(LOG_2) * 15 + LOG_2,
    ),
    # 4 sqrt(c K T log T) + K (1 + pi^2 / 3)
    "SleepingUCB": (
        wk.SleepingUCB(), (100, 2, 150), "ordering", "iid", 160 * math.sqrt(math.log(100)) + 2 + 2 * math.pi**2 / 3,
    ),
    "SleepingUCB, narrow": (
        wk.SleepingUCB(constant=2.0), (100, 2, 150), "ordering", "iid",
        80 * math.sqrt(math.log(100)) + 2 + 2 * math.pi**2 / 3,
    ),
    "SleepingUCB, one round": (
        wk.SleepingUCB(), (1, 2, 2), "ordering", "iid", 16 * math.sqrt(LOG_2) + 2 + 2 * math.pi**2 / 3,
    ),
    # c = scale sqrt(log K! / K): (log K! / c + K c) sqrt T = (1 / scale + scale) sqrt(K T log K!)
    "OrderingExp4": (wk.OrderingExp4(), (100, 4, 300), "ordering", "any", 40 * math.sqrt(LOG_24)),
    "OrderingExp4, scaled": (
        wk.OrderingExp4(scale=2.0), (100, 4, 300), "ordering", "any", 2.5 * 20 * math.sqrt(LOG_24),
    ),
    # n = log(K (K - 1)); n / c + (1 + exploration) c T
    "SIExp3, constant": (wk.SIExp3(eta=0.1, exploration=0.0), (100, 4, 300), "internal", "any", 10 * LOG_12 + 10),
    "SIExp3, constant, exploration": (
        wk.SIExp3(eta=0.1, exploration=0.5), (100, 4, 300), "internal", "any", 10 * LOG_12 + 15,
    ),
    # c = sqrt(n / horizon)
    "SIExp3, horizon": (
        wk.SIExp3(eta="horizon", horizon=100, exploration=0.0), (100, 4, 300), "internal", "any",
        20 * math.sqrt(LOG_12),
    ),
    "SIExp3, past its horizon, exploration": (
        wk.SIExp3(eta="horizon", horizon=100, exploration=0.5), (400, 4, 900), "internal", "any",
        70 * math.sqrt(LOG_12),
    ),
    # (n + 2 (1 + exploration)) sqrt T + 1
    "SIExp3, sqrt": (wk.SIExp3(eta="sqrt", exploration=0.0), (100, 4, 300), "internal", "any", 10 * (LOG_12 + 2) + 1),
    "SIExp3, sqrt, exploration": (
        wk.SIExp3(eta="sqrt", exploration=0.5), (100, 4, 300), "internal", "any", 10 * (LOG_12 + 3) + 1,
    ),
    # c = 4 sqrt(n / 2) = 2 sqrt(2 n): (n / c + 2 (1 + exploration) c) sqrt T + c^2
    "SIExp3, anytime": (
        wk.SIExp3(exploration=0.0), (100, 4, 300), "internal", "any", 42.5 * math.sqrt(2 * LOG_12) + 8 * LOG_12,
    ),
    "SIExp3, anytime, exploration": (
        wk.SIExp3(), (100, 4, 300), "internal", "any", 45 * math.sqrt(2 * LOG_12) + 8 * LOG_12,
    ),
    # c = sqrt(log K / 2): n / c sqrt(awake) + 2 (1 + exploration) c sqrt T + c^2
    "SIExp3, paper": (
        wk.SIExp3(eta="paper", exploration=0.0), (100, 4, 225), "internal", "any",
        15 * LOG_12 / math.sqrt(LOG_2) + 20 * math.sqrt(LOG_2) + LOG_2,
    ),
    "SIExp3, paper, exploration": (
        wk.SIExp3(eta="paper", exploration=0.5), (100, 4, 225), "internal", "any",
        15 * LOG_12 / math.sqrt(LOG_2) + 30 * math.sqrt(LOG_2) + LOG_2,
    ),
    # (2 + exploration) sqrt(n) (1 + sqrt 2 + 2 + ...), one term for each epoch that was begun: 1, 2-3, 4-7, 8-15
    "SIExp3, doubling": (
        wk.SIExp3(eta="doubling", exploration=0.0), (7, 4, 20), "internal", "any",
        2 * math.sqrt(LOG_12) * (1 + math.sqrt(2) + 2),
    ),
    "SIExp3, doubling, one round into an epoch, exploration": (
        wk.SIExp3(eta="doubling", exploration=0.5), (8, 4, 20), "internal", "any",
        2.5 * math.sqrt(LOG_12) * (1 + math.sqrt(2) + 2 + math.sqrt(8)),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("policy", "history", "name", "losses", "bound"), STATED.values(), ids=STATED)
def test_a_guarantee_is_its_formula(
    policy: Policy, history: tuple[int, int, int], name: str, losses: str, bound: float
) -> None:
    stated = policy.guarantee(*history)
    assert isinstance(stated, Guarantee)
    assert (stated.regret, stated.losses) == (name, losses)
    assert stated.bound == pytest.approx(bound, rel=1e-13)


def test_the_numbers_themselves() -> None:
    """A few of the above to the last digit of a pocket calculator."""
    history = (100, 4, 300)
    assert wk.SBExp3(eta=0.1, exploration=0.5).guarantee(*history).bound == pytest.approx(48.862944, abs=1e-6)
    assert wk.OrderingExp4().guarantee(*history).bound == pytest.approx(71.308388, abs=1e-6)
    assert wk.SIExp3().guarantee(*history).bound == pytest.approx(120.198105, abs=1e-6)
    stated = wk.SleepingUCB().guarantee(100, 2, 150)
    assert stated is not None
    assert stated.bound == pytest.approx(351.934300, abs=1e-6)


def test_policies_without_a_proof_promise_nothing() -> None:
    silent = (
        wk.SleepingUCB(constant=1.99), wk.SleepingExp3G(), wk.SleepingExp3(), wk.SleepingThompson(), wk.Uniform(),
        wk.FixedOrdering((0, 1)), wk.PerSet(wk.SIExp3()),
    )  # fmt: skip
    assert [policy.guarantee(100, 4, 300) for policy in silent] == [None] * len(silent)


def test_no_policy_is_missing_here() -> None:
    stating = {type(stated[0]) for stated in STATED.values()}
    promising = {type(case.policy) for case in CASES if case.policy.guarantee(100, 4, 300) is not None}
    assert promising == stating


@pytest.mark.parametrize("exploration", [0.0, 0.5])
@pytest.mark.parametrize("eta", ["paper", "anytime", "horizon", "doubling"])
def test_both_bounds_of_si_exp3(eta: str, exploration: float) -> None:
    policy = wk.SIExp3(eta=eta, exploration=exploration, horizon=100 if eta == "horizon" else None)
    bound = policy.bound(100, 4, awake_total=200)
    assert bound.paper == pytest.approx(2 * math.sqrt(2 * LOG_4 * 200), rel=1e-13)  # whatever the learning rate is
    assert bound.sharpened == policy.guarantee(100, 4, 200).bound
    assert policy.bound(100, 4) == policy.bound(100, 4, awake_total=400)
    assert policy.bound(100, 4).paper == pytest.approx(40 * math.sqrt(2 * LOG_4), rel=1e-13)


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.policy))
@pytest.mark.parametrize("history", [(0, 1, 0), (0, 3, 0), (1, 1, 1), (50, 1, 50), (50, 3, 0)])
def test_there_is_a_bound_for_one_arm_and_for_no_rounds(case: Case, history: tuple[int, int, int]) -> None:
    stated = case.policy.guarantee(*history)
    assert stated is None or 0.0 <= stated.bound < math.inf


def test_exploration_that_hides_the_best_arm_is_paid_for_in_the_bound() -> None:
    """A hundred arms, one of them good: with so much exploration, 10,000 rounds are too few to find it."""
    T, K = 10_000, 100
    policy = wk.SBExp3(eta=1e-3, exploration=100)
    awake, losses = np.ones((T, K), np.bool_), np.ones((T, K))
    losses[:, 37] = 0.0
    regrets = [
        regret.external(awake, losses, wk.play(policy, awake, losses, np.random.default_rng(seed)))[37]
        for seed in range(5)
    ]
    assert np.mean(regrets) > 9_000
    assert np.mean(regrets) <= policy.guarantee(T, K, T * K).bound
