"""Verdicts are computed: rules turn with the numbers, claims turn with the policies."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wakeful as wk
from wakeful import worlds
from wakeful.lab.results import Results
from wakeful.numerics.arrays import Floats
from wakeful.paper import (
    bandit_claims,
    circle,
    duel_claims,
    evidence,
    line_twelve,
    relation_claims,
    theory,
    theory_claims,
)
from wakeful.paper.claims import RULES, judged
from wakeful.paper.contents import FAILS, HOLDS, IN_PART, UNTESTED, VERDICTS
from wakeful.paper.experiments import DOUBLING, EXP3G, ONLINE, SI, SP_SI, SP_UCB, UCB
from wakeful.paper.group_duels import GroupDuels
from wakeful.paper.possible import most
from wakeful.paper.settings import Settings
from wakeful.paper.verdicts import (
    Interval,
    growth,
    interval,
    is_below,
    is_less,
    is_linear,
    is_not_less,
    is_root,
    is_sublinear,
    is_true,
    together,
)


def results(regret: str, **curves: Floats) -> Results:
    """Return results whose policies have these curves (runs, checkpoints)."""
    stacked = np.array(list(curves.values()))
    rounds = 100 * np.arange(1, stacked.shape[2] + 1)
    policies = {name: name for name in curves}
    regrets = {regret: stacked}
    return Results(policies, "made up", int(rounds[-1]), stacked.shape[1], 0, rounds, regrets, np.empty((0, 0)))


def around(mean: float, power: float = 1.0, runs: int = 20) -> Floats:
    """Return curves that grow like t^power to about `mean`."""
    noise = 1.0 + 0.05 * np.random.default_rng(3).standard_normal((runs, 1))
    return mean * noise * (np.arange(1, 41) / 40.0) ** power


def test_an_interval_is_student_s() -> None:
    values = np.random.default_rng(0).normal(3.0, 1.0, 30)
    error = values.std(ddof=1) / math.sqrt(30)
    assert interval(values) == pytest.approx(
        (values.mean(), values.mean() - 2.04523 * error, values.mean() + 2.04523 * error)
    )
    assert interval([5.0]) == (5.0, -math.inf, math.inf)
    with pytest.raises(ValueError, match="values must be"):
        interval([])


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_growth_finds_the_exponent(power: float) -> None:
    found = growth(np.arange(1, 41), around(100.0, power))
    assert found.mean == pytest.approx(power)
    assert found.low <= power + 1e-9
    assert found.high >= power - 1e-9


def test_growth_without_regret() -> None:
    marks = np.arange(1, 41)
    assert growth(marks, -around(100.0)).mean == 0.0
    rising = np.linspace(-1.0, 1.0, 40) * np.ones((5, 1))
    assert growth(marks, rising)[1:] == (-math.inf, math.inf)  # positive at the end only: nobody can tell
    assert growth(marks, around(1.0, runs=1))[1:] == (-math.inf, math.inf)


def test_rules_turn_at_their_limits() -> None:
    below, across, above = Interval(-2, -3, -1), Interval(0, -1, 1), Interval(2, 1, 3)
    assert [is_less(x) for x in (below, across, above)] == [HOLDS, IN_PART, FAILS]
    assert [is_not_less(x, 0.5) for x in (below, across, above)] == [FAILS, IN_PART, HOLDS]
    assert [is_below(x, 0.0, most=9.0) for x in (below, across, above)] == [HOLDS, IN_PART, FAILS]
    assert [is_below(x, 0.0, most=0.0) for x in (below, across, above)] == [UNTESTED, UNTESTED, FAILS]
    linear, bent, root = Interval(1.0, 0.95, 1.05), Interval(0.8, 0.6, 0.95), Interval(0.5, 0.44, 0.56)
    assert [is_linear(x) for x in (linear, bent, root)] == [HOLDS, IN_PART, FAILS]
    assert [is_sublinear(x) for x in (linear, bent, root)] == [FAILS, IN_PART, HOLDS]
    assert [is_root(x) for x in (linear, bent, root)] == [FAILS, IN_PART, HOLDS]
    assert [is_true(x) for x in ([True, True], [True, False], [False])] == [HOLDS, IN_PART, FAILS]
    with pytest.raises(ValueError, match="verdicts must be one or more"):
        together([])


RULES_OF_INTERVALS: dict[str, Callable[[Interval], str]] = {
    "less": is_less,
    "not less": lambda found: is_not_less(found, 0.2),
    "below": lambda found: is_below(found, 0.5, most=1.0),
    "linear": is_linear,
    "root": is_root,
    "sublinear": is_sublinear,
    "half": bandit_claims.is_half,
    "all": bandit_claims.is_all,
}
lengths = st.floats(0.0, 2.0)


@pytest.mark.parametrize("name", RULES_OF_INTERVALS)
@given(mean=st.floats(-2.0, 2.0), reach=lengths, left=lengths, right=lengths)
def test_a_wider_interval_never_says_more(name: str, mean: float, reach: float, left: float, right: float) -> None:
    rule = RULES_OF_INTERVALS[name]
    narrow, wide = Interval(mean, mean - reach, mean + reach), Interval(mean, mean - reach - left, mean + reach + right)
    if rule(wide) in (HOLDS, FAILS):
        assert rule(narrow) == rule(wide)


@pytest.mark.parametrize("name", RULES_OF_INTERVALS)
def test_an_interval_without_ends_decides_nothing(name: str) -> None:
    found = {RULES_OF_INTERVALS[name](Interval(mean, -math.inf, math.inf)) for mean in np.linspace(-2.0, 2.0, 81)}
    assert found == {IN_PART}


@given(st.lists(st.sampled_from(VERDICTS), min_size=1), st.data())
def test_a_part_that_is_less_sure_never_makes_the_whole_hold(verdicts: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(verdicts) - 1))
    for less_sure in (IN_PART, UNTESTED):
        changed = [*verdicts[:place], less_sure, *verdicts[place + 1 :]]
        assert together(changed) != HOLDS


def test_noise_has_no_exponent() -> None:
    """Mean regrets of which nobody knows whether they are positive: no verdict on how they grow."""
    noise = np.random.default_rng(0).normal(size=(20, 40))
    for shift in (-0.05, 0.05):
        found = growth(np.arange(1, 41), noise - noise.mean() + shift)
        assert (is_sublinear(found), is_root(found), is_linear(found)) == (IN_PART,) * 3


def test_a_worse_policy_turns_the_claim_that_it_beats_both() -> None:
    def verdict(own: float) -> str:
        found = results("policy", **{SI: around(own), UCB: around(100.0), EXP3G: around(200.0)})
        return bandit_claims.beats_both("x", "here", "it does", found).verdict

    assert [verdict(own) for own in (50.0, 150.0, 300.0)] == [HOLDS, IN_PART, FAILS]


def test_really_worse_policies_turn_it_too() -> None:
    fine: dict[str, wk.Policy] = {SI: wk.SIExp3(), UCB: wk.SleepingUCB(), EXP3G: wk.SleepingExp3G()}
    for policies, verdict in ((fine, HOLDS), (fine | {SI: wk.FixedOrdering((2, 1, 0))}, FAILS)):
        found = wk.simulate(policies, worlds.Dependent(), 400, 12, seed=5, regrets=("policy",))
        claim = bandit_claims.beats_both("dependent", "here", "it does", found)
        assert claim.verdict == verdict
        assert claim.numbers["seed"] == 5


def test_linear_and_sublinear_claims_turn() -> None:
    for power, verdict in ((1.0, HOLDS), (0.5, FAILS)):
        found = results("policy", **{UCB: around(100.0, power), EXP3G: around(100.0, power)})
        assert bandit_claims.linear_baselines(found).verdict == verdict
    for power, verdict in ((0.5, HOLDS), (0.62, IN_PART), (0.75, FAILS), (1.0, FAILS)):
        assert duel_claims.root_of_duels(results("dueling", **{SP_SI: around(100.0, power)})).verdict == verdict


def test_duel_claims_turn() -> None:
    for ucb, verdict in ((50.0, HOLDS), (200.0, FAILS)):
        found = results("dueling", **{SP_SI: around(100.0), SP_UCB: around(ucb)})
        assert list(found.policies) == [SP_SI, SP_UCB]
        assert duel_claims.ucb_outperforms(4, found).verdict == verdict
        assert duel_claims.categories(found).verdict == (FAILS if verdict == HOLDS else HOLDS)
    bound = float(wk.regret.theorem_two([4_000], 4)[0])
    for regret, power, verdict in ((10.0, 0.5, UNTESTED), (2 * bound, 0.5, FAILS), (10.0, 1.0, FAILS)):
        found = results("dueling", **{SP_SI: around(regret, power)})
        assert duel_claims.theorem_two_path(found).verdict == verdict


def test_the_printed_rate_does_not_give_the_printed_constant() -> None:
    assert theory.derived(0.5).answers == [True] + [False] * 6
    assert theory.derived(0.5, sharpened=True).answers == [True] * 3 + [False] * 4
    assert all(theory.derived(2.0).answers)
    low = results("internal", **{"printed rate": around(10.0)})
    claim = theory_claims.printed(low, low)
    assert claim.verdict == IN_PART
    assert "K = 2 to 8 (with the constant e - 2 to 17), and in both worlds here (0.927 and 0.993)" in claim.measured
    high = results("internal", **{"corrected rate": around(1e6), "x": around(1.0)})
    fine = results("internal", **{"corrected rate": around(10.0)})
    assert theory_claims.corrected(fine, fine).verdict == HOLDS
    assert theory_claims.corrected(high, fine).verdict == FAILS


def test_where_the_printed_rate_has_the_printed_bound() -> None:
    """The condition is the bound of the sharpened theorem, held against the printed one, and nothing else."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        arms, rounds = int(rng.integers(2, 50)), int(rng.integers(100, 10**6))
        total = rounds * rng.uniform(1.0, arms)
        bound = wk.SIExp3(eta=math.sqrt(math.log(arms) / (2 * total)), exploration=0.0).bound(rounds, arms, total)
        ratio = math.log(arms * (arms - 1)) / (2 * math.log(arms)) + rounds / (4 * total)
        assert theory.excess(0.5, arms, total / rounds) == pytest.approx(ratio, rel=1e-12)
        assert bound.sharpened / bound.paper == pytest.approx(ratio, rel=1e-12)
    all_awake = [theory.excess(0.5, k, k) <= 1.0 for k in range(2, 500)]
    assert all_awake == [True] * 7 + [False] * 491
    assert max(theory.excess(0.5, k, k) for k in range(2, 500)) < 1.005


def test_the_prices_of_an_online_rate_are_derived() -> None:
    """Of rates for the printed bound `2 log K / eta + eta A`, A = sum |S_t|; all over sqrt(A log K)."""
    best = min(2.0 / c + c for c in np.linspace(0.5, 3.0, 10_001))
    online = 2.0 / math.sqrt(0.5) + 2.0 * math.sqrt(0.5)  # log(K(K-1)) / eta_T + sum_t eta_t |S_t|
    assert theory_claims.PRICES[ONLINE] == pytest.approx(online / best, rel=1e-6)
    epochs = sum(best * math.sqrt(2.0**m) for m in range(40))
    assert theory_claims.PRICES[DOUBLING] == pytest.approx(epochs / (best * math.sqrt(2.0**39)), rel=1e-6)


def test_line_twelve_regrets_half_of_all_rounds() -> None:
    found = line_twelve.run_study(Settings(quick=True, runs=100))
    ends = {name: found.told.curve("internal", name)[0] for name in found.told.policies}
    assert ends[line_twelve.MULTIPLIED] == pytest.approx(line_twelve.SWITCH_HORIZONS / 2, rel=0.1)
    assert (np.abs(ends[line_twelve.SUMMED]) < 5.0).all()
    assert found.held.final("internal", line_twelve.SUMMED).mean() < line_twelve.bound(found.held.rounds)
    assert theory_claims.line_twelve(found).verdict == FAILS
    tame = replace(found.told, regrets={"internal": found.told.regrets["internal"][::-1]})
    held = replace(found.held, regrets={"internal": np.zeros((2, 3, 1))})
    assert theory_claims.line_twelve(line_twelve.Switch(tame, held)).verdict == HOLDS
    assert (
        theory_claims.line_twelve(
            line_twelve.Switch(tame, replace(held, regrets={"internal": np.full((2, 3, 1), 1e6)}))
        ).verdict
        == FAILS
    )


def test_the_summed_reading_is_our_policy() -> None:
    adversary = line_twelve.switching(400)
    firsts, gains = line_twelve.played(adversary, 400, 1, multiplied=False, rng=np.random.default_rng(8))
    assert firsts.shape == gains.shape == (400, 1)
    policy = wk.SIExp3(eta="sqrt", exploration=0.0)
    state = policy.start(2)
    rng = np.random.default_rng(8)
    for t in range(400):
        assert policy.probabilities(state, np.ones(2, np.bool_))[0] == pytest.approx(firsts[t, 0], rel=1e-9, abs=1e-12)
        loss = float(adversary(t, np.zeros(1))[0])
        wk.play(policy, np.ones((1, 2), np.bool_), [[loss, 1.0 - loss]], rng, state)
    with pytest.raises(ValueError, match="rounds must be"):
        line_twelve.played(adversary, 0, 1, multiplied=True)


def test_witnesses_are_what_they_claim() -> None:
    open_one = evidence.internal_without_ordering(400)
    assert (open_one.internal, open_one.external.max(), open_one.ordering, open_one.policy) == (0.0, 0.0, 100.0, 100.0)
    awake, losses, _ = evidence.internal_without_ordering(400, np.random.default_rng(0)).history
    assert awake[:, :2].all()
    assert 150 < awake[:, 2].sum() < 250
    assert (losses == evidence.internal_without_ordering(400, np.random.default_rng(1)).history.losses).all()
    other = evidence.external_without_internal(400)
    assert (other.internal, other.external.max()) == (200.0, 0.0)


def test_relation_claims_turn_when_a_relation_breaks() -> None:
    found = evidence.run_study(Settings(quick=True, runs=1))
    lemma = relation_claims.lemma("lemma-1", "Lemma 1", "it holds", "Lemma 1")
    assert lemma(found).verdict == HOLDS
    broken = replace(found, checks=found.checks | {"Lemma 1": evidence.Checked(3, 2, 1.0)})
    assert lemma(broken).verdict == IN_PART
    assert relation_claims.printed_example(found).verdict == FAILS
    assert relation_claims.open_question(found).verdict == FAILS
    tame = found.witnesses["external without ordering"]._replace(ordering=0.0)
    tamed = replace(found, witnesses=found.witnesses | {"external without ordering": tame})
    assert relation_claims.external_not_ordering(found).verdict == HOLDS
    assert relation_claims.external_not_ordering(tamed).verdict == IN_PART


def test_histories_are_those_of_the_simulation() -> None:
    policy, world = wk.SIExp3(eta="sqrt", exploration=0.0), worlds.Stochastic(n_arms=10)
    found = wk.simulate(policy, world, 500, 3, seed=4, regrets=("policy",), checkpoints=[500])
    for run in range(3):
        past, means = evidence.history_of(policy, world, 500, 4, run)
        assert wk.regret.policy(*past).value == pytest.approx(found.final("policy", repr(policy))[run])
        assert means is not None


def test_every_claim_of_a_quick_study_is_whole() -> None:
    claims = judged({"relations": evidence.run_study(Settings(quick=True, runs=1))}, quick=True)
    assert len({claim.id for claim in claims}) == len(claims) == 11
    for claim in claims:
        assert all((claim.id, claim.where, claim.claim, claim.measured, claim.reason))
        assert claim.numbers["quick"] is True
        json.dumps(claim.to_dict())
    assert len(RULES) >= 35


def test_the_world_of_groups_is_one() -> None:
    for world in (GroupDuels(), GroupDuels(n_arms=2, n_groups=2, rate=0.1)):
        worlds.check_duel_world(world)
    block = next(GroupDuels(n_arms=7).blocks(np.random.default_rng(2), 1_000))
    apart: Floats = np.array(~block.pair_sets.any(axis=0), np.float64)
    assert (
        (apart @ apart > 0.0) == (apart > 0.0)
    ).all()  # those that never meet are groups: i with j and j with k, so i with k
    assert 2 <= np.linalg.matrix_rank(apart) <= 3
    with pytest.raises(ValueError, match="n_arms must be a whole number from 3, got 2"):
        GroupDuels(n_arms=2)


@pytest.mark.parametrize("notion", ["internal", "external", "ordering"])
def test_nobody_regrets_more_than_is_possible(notion: str) -> None:
    world, rounds = worlds.Dependent(), 2_000
    players: dict[str, wk.Policy] = {str(order): wk.FixedOrdering(order) for order in permutations(range(3))}
    found = wk.simulate(players, world, rounds, 8, regrets=(notion,), checkpoints=[rounds])
    limit = most(world, rounds, notion)
    assert max(found.final(notion, name).mean() for name in players) <= 1.05 * limit
    assert limit == pytest.approx({"internal": 0.375, "external": 0.375, "ordering": 0.625}[notion] * rounds, rel=0.05)


def test_nobody_regrets_more_than_is_possible_in_duels() -> None:
    assert most(worlds.PathDuels(), 1_000, "dueling") == pytest.approx(1_000 * (10.1 / 20.1 + 10 / 10.1 - 1) / 2)
    with pytest.raises(ValueError, match="notion must be one of"):
        most(worlds.PathDuels(), 1_000, "duelling")


def test_the_lower_bound_is_that_of_the_page() -> None:
    """Both models have a total order, and the least regret grows like T^(4/7) with a constant of 0.03."""
    for rounds in (1e4, 1e8, 1e16):
        assert circle.least_regret(rounds) > 0.03 * rounds ** (4 / 7)
        for model, order in zip(circle.models(rounds ** (-3 / 7), rounds ** (-2 / 7)), circle.ORDERS, strict=True):
            assert circle.ordered(model, order)
            assert not circle.ordered(model, order[::-1])
            assert (model + model.T == 1.0).all()
