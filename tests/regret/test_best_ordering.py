"""The best ordering in hindsight, exact or bracketed."""

import math
import subprocess
import sys

import numpy as np
import pytest

from histories import drawn
from reference import regret as literal
from wakeful import regret
from wakeful.regret.best_ordering import best_ordering


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


def test_infinite_losses_do_not_make_the_best_ordering_a_search_without_end() -> None:
    history = "[[True, True]], [[math.inf, math.inf]], [0]"
    code = f"import math, wakeful\ntry: wakeful.regret.ordering({history})\nexcept ValueError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], timeout=200, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("losses must be ")


def test_twenty_arms_and_thousands_of_sets_have_an_exact_best_ordering() -> None:
    rng = np.random.default_rng(8)
    awake, _, choices = drawn(rng, 3000, 20)
    means = rng.permutation(20) / 32
    best = regret.ordering(awake, np.tile(means, (3000, 1)), choices)
    assert best.exact
    assert best.value == regret.policy(awake, np.tile(means, (3000, 1)), choices).value
    assert list(best.ordering[:8]) == np.argsort(means)[:8].tolist()


@pytest.mark.parametrize("n_arms", [40, 64])
def test_more_arms_that_fall_apart_have_an_exact_best_ordering(n_arms: int) -> None:
    history = np.ones((1, n_arms), np.bool_), np.zeros((1, n_arms)), [0]
    assert regret.ordering(*history) == (0.0, tuple(range(n_arms)), 0.0)
    assert math.fsum(regret.external(*history)) == 0.0
    rng = np.random.default_rng(9)
    awake, losses, _ = drawn(rng, 60, n_arms)
    awake[:, 5:] = False  # the first five compete, the others are alone
    alone = np.eye(n_arms, dtype=np.bool_)[5:]
    awake, losses = np.vstack([awake, alone]), np.vstack([losses, losses[: n_arms - 5]])
    choices = np.where(awake.any(axis=1), awake.argmax(axis=1), -1)
    best = regret.ordering(awake, losses, choices)
    assert best.exact
    assert best.value == literal.ordering(awake[:60, :5].tolist(), losses[:60].tolist(), choices[:60].tolist())


def test_more_arms_on_few_sets_have_an_exact_best_ordering(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(10)
    for n_arms in (7, 9, 11):
        sets = drawn(rng, 6, n_arms)[0]
        sets = np.unique(sets[sets.any(axis=1)], axis=0)
        gains = rng.integers(-64, 65, size=sets.shape) / 64
        exact = best_ordering(sets, gains)
        with monkeypatch.context() as context:
            context.setattr("wakeful.regret.best_ordering.MOST_ARMS_EXACT", 6)
            found = best_ordering(sets, gains)
        assert found.value == found.upper == exact.value
        assert sorted(found.ordering) == list(range(n_arms))


def test_beyond_that_the_best_ordering_is_bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    found_best = 0
    for _ in range(20):
        history = drawn(rng, 300, 8)
        exact = regret.ordering(*history)
        with monkeypatch.context() as context:
            context.setattr("wakeful.regret.best_ordering.MOST_ARMS_EXACT", 4)
            found = regret.ordering(*history)
        assert exact.exact
        assert not found.exact
        assert literal.of_ordering(history[0], history[1], history[2], found.ordering) == found.value
        assert found.value <= exact.value <= found.upper <= regret.policy(*history).value
        found_best += found.value == exact.value
    assert found_best >= 10


def test_seventy_arms_with_means_have_an_exact_best_ordering() -> None:
    rng = np.random.default_rng(12)
    awake, _, choices = drawn(rng, 500, 70)
    means = rng.permutation(70) / 128
    best = regret.ordering(awake, np.tile(means, (500, 1)), choices)
    assert best.exact
    assert list(best.ordering) == np.argsort(means).tolist()
