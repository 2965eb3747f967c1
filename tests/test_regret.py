"""Regrets against their definitions, and histories that are none."""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from reference import regret as literal
from wakeful import SIExp3, play, regret

NAN, INF = float("nan"), float("inf")
EITHER = (ValueError, TypeError)


@some.composite
def histories(draw: Any, most_arms: int = 5) -> tuple[list[list[bool]], list[list[float]], list[int]]:
    """Awake sets, some of them empty; losses whose sums are exact, NaN for sleepers; arms that were awake."""
    n_arms = draw(some.integers(1, most_arms))
    flags = some.lists(some.booleans(), min_size=n_arms, max_size=n_arms)
    awake: list[list[bool]] = draw(some.lists(flags, min_size=1, max_size=12))
    share = some.integers(0, 64).map(lambda n: n / 64)
    losses = [[draw(share) if up else NAN for up in row] for row in awake]
    choices = [draw(some.sampled_from([k for k in range(n_arms) if row[k]] or [-1])) for row in awake]
    return awake, losses, choices


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
    value, best = regret.ordering(*history)
    assert value == literal.ordering(*history)
    assert value == literal.of_ordering(history[0], history[1], history[2], best)
    assert sorted(best) == list(range(len(history[0][0])))


def test_ordering_regret_of_seven_arms_is_found_among_all_5040_orderings() -> None:
    rng = np.random.default_rng(3)
    awake = rng.random((25, 7)) < 0.5
    awake[:, 0] |= ~awake.any(axis=1)
    losses = rng.integers(65, size=(25, 7)) / 64
    choices = [int(rng.choice(np.flatnonzero(row))) for row in awake]
    history = awake.tolist(), losses.tolist(), choices
    assert regret.ordering(awake, losses, choices).value == literal.ordering(*history)


def test_ordering_regret_of_twelve_arms_takes_no_twelve_factorial() -> None:
    rng = np.random.default_rng(4)
    losses = np.linspace(0.0, 1.0, 12) * np.ones((300, 1))
    awake = rng.random((300, 12)) < 0.5
    choices = np.where(awake.any(axis=1), awake.argmax(axis=1), -1)
    assert regret.ordering(awake, losses, choices).value == pytest.approx(0.0, abs=1e-9)


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


TWO = [[True, True], [True, False]]
HALF = [[0.5, 0.5], [0.5, 0.5]]
BAD: list[tuple[str, Any, Any, Any]] = [
    ("awake", [[1, 1], [1, 0]], HALF, [0, 0]),
    ("awake", [[1.0, 1.0], [1.0, 0.0]], HALF, [0, 0]),
    ("awake", [True, True], HALF, [0, 0]),
    ("awake", [TWO], [HALF], [0]),
    ("awake", [[True], [True, False]], HALF, [0, 0]),
    ("awake", None, HALF, [0, 0]),
    ("awake", "yes", HALF, [0, 0]),
    ("losses", TWO, [[0.5, 0.5]], [0, 0]),
    ("losses", TWO, [0.5, 0.5], [0, 0]),
    ("losses", TWO, [[0.5], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, [[NAN, 0.5], [0.5, 0.5]], [1, 0]),
    ("losses", TWO, [[0.5, NAN], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, [[-INF, 0.5], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, [["x", 0.5], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, [[10**400, 0.5], [0.5, 0.5]], [0, 0]),
    ("losses", TWO, np.array([[1j, 0.5], [0.5, 0.5]]), [0, 0]),
    ("losses", TWO, None, [0, 0]),
    ("choices", TWO, HALF, [0]),
    ("choices", TWO, HALF, [0, 0, 0]),
    ("choices", TWO, HALF, [[0, 0]]),
    ("choices", TWO, HALF, [0.0, 0.0]),
    ("choices", TWO, HALF, [True, True]),
    ("choices", TWO, HALF, ["0", "0"]),
    ("choices", TWO, HALF, None),
    ("choices", TWO, HALF, [0, 1]),
    ("choices", TWO, HALF, [-1, 0]),
    ("choices", TWO, HALF, [-2, 0]),
    ("choices", TWO, HALF, [2, 0]),
    ("choices", TWO, HALF, [2**63, 0]),
    ("choices", TWO, HALF, [2**64 - 1, 0]),
    ("choices", TWO, HALF, [2**80, 0]),
]


@pytest.mark.parametrize(("what", "awake", "losses", "choices"), BAD)
@pytest.mark.parametrize("function", [regret.internal, regret.external, regret.ordering])
def test_what_is_no_history_is_refused(function: Any, what: str, awake: Any, losses: Any, choices: Any) -> None:
    with pytest.raises(EITHER, match=rf"^{what} must be "):
        function(awake, losses, choices)


def test_infinite_losses_do_not_make_the_best_ordering_a_search_without_end() -> None:
    history = "[[True, True]], [[math.inf, math.inf]], [0]"
    code = f"import math, wakeful\ntry: wakeful.regret.ordering({history})\nexcept ValueError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], timeout=10, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("losses must be ")


@pytest.mark.parametrize("n_arms", [40, 64])
def test_more_arms_than_memory_has_room_for_orderings_of_are_refused(n_arms: int) -> None:
    history = np.ones((1, n_arms), np.bool_), np.zeros((1, n_arms)), [0]
    with pytest.raises(ValueError, match=r"^awake must be "):
        regret.ordering(*history)
    assert math.fsum(regret.external(*history)) == 0.0
