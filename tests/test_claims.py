"""Verdicts are computed: rules turn with the numbers, claims turn with the policies."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import wakeful as wk
from wakeful import worlds
from wakeful.entries import Floats
from wakeful.paper import bandit_claims, duel_claims, evidence, line_twelve, relation_claims, theory, theory_claims
from wakeful.paper.bench import Bench
from wakeful.paper.claims import RULES, judged
from wakeful.paper.contents import FAILS, HOLDS, IN_PART
from wakeful.paper.experiments import EXP3G, SI, SP_SI, SP_UCB, UCB
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
from wakeful.results import Results


def results(regret: str, **curves: Floats) -> Results:
    """Return results whose policies have these curves (runs, checkpoints), names with _ for -."""
    names = [name.replace("_", "-") for name in curves]
    stacked = np.array(list(curves.values()))
    rounds = 100 * np.arange(1, stacked.shape[2] + 1)
    policies = dict(zip(names, names, strict=True))
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
    assert [is_not_less(x) for x in (below, across, above)] == [FAILS, HOLDS, HOLDS]
    assert [is_below(x, 0.0) for x in (below, across, above)] == [HOLDS, IN_PART, FAILS]
    linear, bent, root = Interval(1.0, 0.95, 1.05), Interval(0.8, 0.7, 0.95), Interval(0.5, 0.4, 0.6)
    assert [is_linear(x) for x in (linear, bent, root)] == [HOLDS, IN_PART, FAILS]
    assert [is_sublinear(x) for x in (linear, bent, root)] == [FAILS, IN_PART, HOLDS]
    assert [is_root(x) for x in (linear, bent, root)] == [FAILS, IN_PART, HOLDS]
    assert [is_true(x) for x in ([True, True], [True, False], [False])] == [HOLDS, IN_PART, FAILS]
    with pytest.raises(ValueError, match="verdicts must be one or more"):
        together([])


def test_a_worse_policy_turns_the_claim_that_it_beats_both() -> None:
    def verdict(own: float) -> str:
        found = results("policy", SI_EXP3=around(own), S_UCB=around(100.0), S_EXP3=around(200.0))
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
        found = results("policy", S_UCB=around(100.0, power), S_EXP3=around(100.0, power))
        assert bandit_claims.linear_baselines(found).verdict == verdict
    for power, verdict in ((0.5, HOLDS), (0.75, IN_PART), (1.0, FAILS)):
        assert duel_claims.root_of_duels(results("dueling", Sp_SI_EXP3=around(100.0, power))).verdict == verdict


def test_duel_claims_turn() -> None:
    for ucb, verdict in ((50.0, HOLDS), (200.0, FAILS)):
        found = results("dueling", Sp_SI_EXP3=around(100.0), Sp_UCB=around(ucb))
        assert list(found.policies) == [SP_SI, SP_UCB]
        assert duel_claims.ucb_outperforms(4, found).verdict == verdict
        assert duel_claims.categories(found).verdict == (FAILS if verdict == HOLDS else HOLDS)
    bound = float(wk.regret.theorem_two([4_000], 4)[0])
    for regret, power, verdict in ((10.0, 0.5, HOLDS), (2 * bound, 0.5, FAILS), (10.0, 1.0, FAILS)):
        found = results("dueling", Sp_SI_EXP3=around(regret, power))
        assert duel_claims.theorem_two_path(found).verdict == verdict


def test_the_printed_rate_does_not_give_the_printed_constant() -> None:
    assert theory.derived(0.5).answers == [True] + [False] * 6
    assert all(theory.derived(2.0).answers)
    low = results("internal", **{"printed rate": around(10.0)})
    claim = theory_claims.printed(low, low)
    assert claim.verdict == IN_PART
    assert "only below K = 3" in claim.measured
    high = results("internal", **{"corrected rate": around(1e6), "x": around(1.0)})
    fine = results("internal", **{"corrected rate": around(10.0)})
    assert theory_claims.corrected(fine, fine).verdict == HOLDS
    assert theory_claims.corrected(high, fine).verdict == IN_PART


def test_line_twelve_regrets_half_of_all_rounds() -> None:
    found = line_twelve.studied(Bench(quick=True, runs=100))
    ends = {name: found.told.curve("internal", name)[0] for name in found.told.policies}
    assert ends[line_twelve.PRINTED] == pytest.approx(line_twelve.HORIZONS / 2, rel=0.1)
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
    found = evidence.studied(Bench(quick=True, runs=1))
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
    claims = judged({"relations": evidence.studied(Bench(quick=True, runs=1))}, seed=0, quick=True)
    assert len({claim.id for claim in claims}) == len(claims) >= 12
    for claim in claims:
        assert all((claim.id, claim.where, claim.claim, claim.measured, claim.reason))
        assert claim.numbers["quick"] is True
        json.dumps(claim.to_dict())
    assert len(RULES) >= 35
