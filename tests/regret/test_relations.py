"""The paper's relations between regrets, on random histories, and the histories that witness what does not hold."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from reference import regret as literal
from wakeful import relations
from wakeful.regret.relations import History, Inequality

NAN = float("nan")


@some.composite
def histories(draw: Any) -> History:
    """Any awake sets, any choices; losses NaN for sleepers."""
    n_arms, rounds = draw(some.integers(1, 5)), draw(some.integers(1, 30))
    rng = np.random.default_rng(draw(some.integers(0, 2**32)))
    awake = rng.random((rounds, n_arms)) < draw(some.floats(0.2, 1.0))
    choices = np.where(awake.any(axis=1), (awake * rng.random(awake.shape)).argmax(axis=1), -1)
    return History(awake, np.where(awake, rng.random(awake.shape), NAN), choices)


def means(history: History) -> Any:
    """Expected losses of as many arms, some of them equal."""
    share = some.integers(0, 4).map(lambda n: n / 4)
    n_arms = history.awake.shape[1]
    return some.lists(share, min_size=n_arms, max_size=n_arms)


@settings(deadline=None)
@given(histories())
def test_external_regret_is_the_sum_of_internal_regrets(history: History) -> None:
    relation = relations.internal_gives_external(history)
    assert relation.holds
    np.testing.assert_allclose(relation.external, literal.external(*(part.tolist() for part in history)), atol=1e-12)


@pytest.mark.parametrize(
    "relation",
    [
        relations.internal_bounds_ordering,
        relations.ordering_bounds_internal,
        relations.ordering_bounds_external,
        relations.policy_is_ordering,
    ],
)
@settings(deadline=None)
@given(data=some.data())
def test_what_holds_for_iid_losses(relation: Callable[[History, Any], Inequality], data: Any) -> None:
    history = data.draw(histories())
    found = relation(history, data.draw(means(history)))
    assert found.holds
    np.testing.assert_array_equal(found.history.awake, history.awake)


def test_the_sides_of_lemma_two_are_its_own() -> None:
    history = History(np.ones((2, 3), np.bool_), np.zeros((2, 3)), np.array([2, 1]))
    relation = relations.internal_bounds_ordering(history, [0.0, 0.25, 1.0])
    assert (relation.left, relation.right) == (1.25, 1.0 + 0.75 + 0.25)


def test_a_relation_that_fails_says_so() -> None:
    history = History(np.ones((2, 1), np.bool_), np.zeros((2, 1)), np.zeros(2, np.int64))
    assert not Inequality(history, 1.0, 0.5).holds
    assert not relations.Equality(history, 0.5, 1.0).holds
    assert not relations.Identity(history, np.zeros(1), np.ones(1)).holds


@settings(deadline=None, max_examples=60)
@given(some.integers(0, 2**32), some.integers(1, 5), some.integers(1, 6), some.integers(1, 8))
def test_policy_regret_is_ordering_regret_for_iid_sets(seed: int, n_arms: int, n_sets: int, rounds: int) -> None:
    rng = np.random.default_rng(seed)
    sets = rng.random((n_sets, n_arms)) < 0.6
    found = relations.policy_is_ordering_for_iid_sets(
        sets, rng.dirichlet(np.ones(n_sets)), rng.random((rounds, n_arms))
    )
    assert found.holds
    assert found.history.awake.shape == (n_sets * rounds, n_arms)


@pytest.mark.parametrize("rounds", [4, 400])
def test_no_external_regret_but_ordering_regret(rounds: int) -> None:
    witness = relations.external_without_ordering(rounds)
    np.testing.assert_allclose(witness.external, [0.0, 0.0, 0.0], atol=1e-9)
    assert witness.ordering == pytest.approx(rounds / 6)
    assert witness.internal == pytest.approx(rounds / 6)


@pytest.mark.parametrize("rounds", [4, 400])
def test_no_ordering_regret_but_external_and_policy_regret(rounds: int) -> None:
    witness = relations.ordering_without_external(rounds)
    history = [part.tolist() for part in witness.history]
    assert witness.ordering == 0.0 == literal.ordering(*history)
    assert literal.external(*history)[0] == witness.external[0] == rounds / 4
    assert relations.policy_above_ordering(rounds).policy == rounds / 4


def test_the_printed_example_has_no_external_regret() -> None:
    witness = relations.printed_ordering_without_external(40)
    assert witness.external.max() == 0.0 == witness.external[0]
    assert witness.ordering == 0.0
    assert witness.policy == 10.0


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (relations.external_without_ordering, 2),
        (relations.ordering_without_external, 4),
        (relations.printed_ordering_without_external, 4),
        (relations.policy_above_ordering, 4),
    ],
)
@pytest.mark.parametrize("rounds", [0, 7, -4, 4.0, None])
def test_rounds_that_do_not_divide_are_refused(make: Any, parts: int, rounds: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^rounds must be a multiple of {parts}, got"):
        make(rounds)


def test_means_and_probabilities_that_do_not_fit_are_refused() -> None:
    history = relations.external_without_ordering(2).history
    for wrong in ([0.5, 0.5], [[0.5, 0.5, 0.5]], [NAN, 0.5, 0.5]):
        with pytest.raises(ValueError, match=r"^means must be 3 finite numbers"):
            relations.policy_is_ordering(history, wrong)
    for wrong in ([0.5], [0.5, 0.6], [1.5, -0.5]):
        with pytest.raises(ValueError, match=r"^probabilities must be one for each set"):
            relations.policy_is_ordering_for_iid_sets([[True], [True]], wrong, [[0.5]])
