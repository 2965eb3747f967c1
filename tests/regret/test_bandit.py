"""Regrets against their definitions, and histories that are none."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from histories import BAD, EITHER, histories, scalars
from reference import regret as literal
from wakeful import SBExp3, SIExp3, Uniform, play, regret
from wakeful.regret.tally import REGRETS, Tally

INF = float("inf")


@settings(deadline=None)
@given(histories())
def test_internal_regret_is_its_definition(history: Any) -> None:
    np.testing.assert_array_equal(regret.internal(*history), literal.internal(*history))


@settings(deadline=None)
@given(histories())
def test_external_regret_is_its_definition(history: Any) -> None:
    np.testing.assert_array_equal(regret.external(*history), literal.external(*history))


@settings(deadline=None)
@given(histories())
def test_external_regret_to_an_arm_is_the_sum_of_internal_regrets_to_it(history: Any) -> None:
    np.testing.assert_array_equal(regret.external(*history), np.array(literal.internal(*history)).sum(axis=0))
    assert not np.diag(regret.internal(*history)).any()


@settings(deadline=None)
@given(histories())
def test_ordering_regret_is_the_largest_over_all_orderings_and_names_one_that_has_it(history: Any) -> None:
    value, best, upper = regret.ordering(*history)
    assert value == upper
    assert value == literal.ordering(*history)
    assert value == literal.of_ordering(history[0], history[1], history[2], best)
    assert sorted(best) == list(range(len(history[0][0])))


@settings(deadline=None)
@given(histories(most_arms=4))
def test_swap_regret_is_the_largest_over_all_swaps_and_names_one_that_has_it(history: Any) -> None:
    value, best = regret.swap(*history)
    assert value == literal.swap(*history) == literal.of_swap(history[0], history[1], history[2], best)


def test_an_arm_that_no_swap_would_have_bettered_keeps_its_place() -> None:
    awake, losses = np.ones((3, 3), np.bool_), np.array([[0.5, 0.5, 0.5], [1.0, 0.0, 1.0], [0.0, 0.0, 0.5]])
    assert regret.swap(awake, losses, [2, 1, 2]) == (0.5, (0, 1, 0))
    assert regret.swap(awake[:1], losses[:1], [2]) == (0.0, (0, 1, 2))


@settings(deadline=None)
@given(histories(most_arms=3))
def test_policy_regret_is_the_largest_over_all_policies_and_names_one_that_has_it(history: Any) -> None:
    value, best = regret.policy(*history)
    assert value == literal.policy(*history) == literal.of_policy(history[0], history[1], history[2], best)
    assert set(best) == {tuple(k for k, up in enumerate(row) if up) for row in history[0]} - {()}


@settings(deadline=None)
@given(histories())
def test_a_policy_is_no_weaker_than_an_ordering_and_a_swap_than_a_pair_of_arms(history: Any) -> None:
    value = {
        name: float(regret.curve(name, history[0], history[1], history[2], [len(history[2])])[0]) for name in REGRETS
    }
    assert value["policy"] >= value["ordering"]
    assert value["swap"] >= max(value["internal"], value["external"])
    assert value["internal"] >= 0.0


def test_a_played_history_may_be_given_as_it_comes() -> None:
    rng = np.random.default_rng(5)
    awake, losses = rng.random((300, 4)) < 0.5, rng.random((300, 4))
    choices = play(SIExp3(), awake, losses, rng)
    assert -1 in choices
    history = awake.tolist(), losses.tolist(), choices.tolist()
    np.testing.assert_allclose(regret.internal(awake, losses, choices), literal.internal(*history), atol=1e-12)
    np.testing.assert_allclose(regret.external(awake, losses, choices), literal.external(*history), atol=1e-12)
    assert regret.ordering(awake, losses, choices).value == pytest.approx(literal.ordering(*history))
    strided = np.asfortranarray(awake), losses[:, ::-1][:, ::-1], choices.astype(np.int8)
    np.testing.assert_array_equal(regret.internal(*strided), regret.internal(awake, losses, choices))


@pytest.mark.parametrize("rounds", [0, 3])
def test_a_history_without_anybody_awake_has_no_regret(rounds: int) -> None:
    history = np.zeros((rounds, 2), np.bool_), np.ones((rounds, 2)), np.full(rounds, -1)
    assert not regret.internal(*history).any()
    assert not regret.external(*history).any()
    assert regret.ordering(*history).value == 0.0


@pytest.mark.parametrize(("what", "awake", "losses", "choices"), BAD)
@pytest.mark.parametrize("function", [regret.internal, regret.external, regret.swap, regret.ordering, regret.policy])
def test_what_is_no_history_is_refused(function: Any, what: str, awake: Any, losses: Any, choices: Any) -> None:
    with pytest.raises(EITHER, match=rf"^{what} must be "):
        function(awake, losses, choices)


@settings(deadline=None, max_examples=50)
@given(histories(), some.data())
def test_curves_are_the_regrets_of_prefixes(history: Any, data: Any) -> None:
    stops = sorted(data.draw(some.lists(some.integers(1, len(history[2])), max_size=5)))
    for name in REGRETS:
        values = regret.curve(name, history[0], history[1], history[2], stops)
        assert values.tolist() == [scalars([part[:stop] for part in history])[name] for stop in stops]
        assert regret.curve(name, history[0], history[1], history[2], [0]).tolist() == [0.0]


@pytest.mark.parametrize("stops", [[2, 1], [-1], [4], [1.0], 1, [[1]], ["1"]])
def test_checkpoints_that_are_none_are_refused(stops: Any) -> None:
    with pytest.raises(EITHER, match=r"^checkpoints must be numbers of rounds in order, at most 3, got"):
        regret.curve("policy", np.ones((3, 1), np.bool_), np.zeros((3, 1)), [0, 0, 0], stops)


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(ValueError, match=r"^name must be one of .*did you mean 'policy'"):
        regret.curve("polcy", np.ones((1, 1), np.bool_), np.zeros((1, 1)), [0], [1])
    with pytest.raises(ValueError, match=r"^regrets must be one of .*did you mean 'swap'"):
        Tally(3, ["swop"])
    with pytest.raises(ValueError, match=r"^name must be one of 'policy', got 'swap'"):
        Tally(3, "policy").value("swap")


def test_bounds_are_those_of_the_policy_at_every_checkpoint() -> None:
    policy = SIExp3()
    bounds = regret.bound(policy, [10, 100], 4, [25, 300])
    assert bounds.paper is not None
    assert bounds.regret == "internal"
    assert [(p, s) for p, s in zip(bounds.paper, bounds.sharpened, strict=True)] == [
        policy.bound(10, 4, 25),
        policy.bound(100, 4, 300),
    ]
    other = regret.bound(SBExp3(), [10], 4)
    stated = SBExp3().guarantee(10, 4, 40)
    assert stated is not None
    assert (other.regret, other.paper, other.sharpened.tolist()) == ("external", None, [stated.bound])
    with pytest.raises(ValueError, match=r"^policy must be one that states a guarantee"):
        regret.bound(Uniform(), [10], 4)
    with pytest.raises(ValueError, match=r"^awake_total must be 2 numbers"):
        regret.bound(policy, [10, 20], 4, [20])
