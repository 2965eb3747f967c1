"""Regrets against their definitions, and histories that are none."""

import math
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from reference import regret as literal
from wakeful import SBExp3, SIExp3, Uniform, play, regret
from wakeful.regret import set_table
from wakeful.regret.best_ordering import best_ordering
from wakeful.regret.tally import FEW, REGRETS, Tally

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
@pytest.mark.parametrize("function", [regret.internal, regret.external, regret.swap, regret.ordering, regret.policy])
def test_what_is_no_history_is_refused(function: Any, what: str, awake: Any, losses: Any, choices: Any) -> None:
    with pytest.raises(EITHER, match=rf"^{what} must be "):
        function(awake, losses, choices)


def test_infinite_losses_do_not_make_the_best_ordering_a_search_without_end() -> None:
    history = "[[True, True]], [[math.inf, math.inf]], [0]"
    code = f"import math, wakeful\ntry: wakeful.regret.ordering({history})\nexcept ValueError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], timeout=10, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("losses must be ")


def scalars(history: Any) -> dict[str, float]:
    """Every regret as one number, by its definition where there is no search, else by its function."""
    internal = np.array(literal.internal(*history)) if len(history[0]) else np.zeros((1, 1))
    swap = internal.max(axis=1).sum()
    best = regret.ordering(*history).value, regret.policy(*history).value
    return dict(zip(REGRETS, (internal.max(), internal.sum(axis=0).max(), swap, *best), strict=True))


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


def drawn(rng: np.random.Generator, rounds: int, n_arms: int) -> tuple[Any, Any, Any]:
    """A long history whose sums are exact."""
    awake = rng.random((rounds, n_arms)) < 0.5
    choices = np.where(awake.any(axis=1), (awake * rng.random(awake.shape)).argmax(axis=1), -1)
    return awake, rng.integers(65, size=awake.shape) / 64, choices


@settings(deadline=None, max_examples=50)
@given(histories(), some.data())
def test_a_tally_of_blocks_in_two_halves_is_that_of_the_whole(history: Any, data: Any) -> None:
    n_arms = len(history[0][0])
    rows = np.array(history[0]), np.array(history[1]), np.array(history[2])
    tallies = [Tally(n_arms), Tally(n_arms)]
    for stop in range(len(history[2])):
        tallies[data.draw(some.integers(0, 1))].add(*(part[stop : stop + 1] for part in rows))
    tallies[0].merge(tallies[1])
    assert tallies[0].values() == scalars(history)
    somebody = rows[0].any(axis=1)
    assert tallies[0].rounds == somebody.sum()
    assert tallies[0].awake_total == rows[0].sum()
    assert tallies[0].learner_loss == rows[1][somebody, rows[2][somebody]].sum()


@pytest.mark.parametrize("n_arms", [1, 2, 11, 31, 32, 61, 62, 63, 70, 130])
def test_a_tally_finds_every_awake_set_again_however_many_arms_there_are(n_arms: int) -> None:
    rng = np.random.default_rng(n_arms)
    pool, losses, choices = drawn(rng, 3 * FEW, n_arms)
    which = rng.integers(len(pool), size=1500)
    awake = pool[which]
    choices = choices[which]
    losses = rng.integers(65, size=awake.shape) / 64
    whole, one, two = (Tally(n_arms, ["policy", "internal"]) for _ in range(3))
    whole.add(awake, losses, choices)
    one.add(awake[:700], losses[:700], choices[:700])
    two.add(awake[700:], losses[700:], choices[700:])
    one.merge(two)
    sets: dict[bytes, Any] = {}
    for row, loss, arm in zip(awake, losses, choices, strict=True):
        if arm >= 0:
            gain = np.where(row, loss[arm] - loss, -np.inf)
            sets[row.tobytes()] = sets.get(row.tobytes(), 0.0) + gain
    assert whole.awake_sets().shape == (len(sets), n_arms) == one.awake_sets().shape
    assert whole.values()["policy"] == sum(gain.max() for gain in sets.values())
    assert whole.values() == one.values()
    np.testing.assert_array_equal(whole.internal_matrix(), one.internal_matrix())


def test_sets_of_many_arms_that_share_a_key_are_told_apart() -> None:
    some_bits = np.random.default_rng(13).integers(1, 2**31, size=3000).tolist()
    hashes = sorted((set_table._mixed(7 * set_table.MIX + bits), bits) for bits in some_bits)
    gap, low, high = min((b[0] - a[0], a[1], b[1]) for a, b in pairwise(hashes))
    pair = np.zeros((2, 70), np.bool_)
    for row, first, second in ((0, low, gap * set_table.MIX), (1, high, 0)):
        pair[row, :62] = [(first | second << 31) >> k & 1 for k in range(62)]
    assert set_table._key(pair, 0) == set_table._key(pair, 1)
    tally = Tally(70, "policy")
    tally.add(pair, np.zeros((2, 70)), pair.argmax(axis=1))
    np.testing.assert_array_equal(tally.awake_sets(), pair)


def test_a_tally_merged_with_itself_counts_twice() -> None:
    tally = Tally(4)
    tally.add(*drawn(np.random.default_rng(6), 200, 4))
    twice = {name: 2 * value for name, value in tally.values().items()}
    tally.merge(tally)
    assert tally.values() == twice


def test_tallies_of_other_things_are_not_merged() -> None:
    for other in (Tally(3), Tally(2, ["policy"]), None):
        with pytest.raises(ValueError, match=r"^other must be a tally of 2 arms, internal, "):
            Tally(2).merge(other)  # type: ignore[arg-type]


def test_a_refused_block_changes_nothing() -> None:
    tally = Tally(2)
    tally.add(TWO, HALF, [1, 0])
    before = tally.values(), tally.learner_loss, tally.rounds, tally.awake_total
    for _, awake, losses, choices in BAD:
        with pytest.raises(EITHER):
            tally.add(awake, losses, choices)
    with pytest.raises(ValueError, match=r"^awake must be of 2 arms, got 3"):
        tally.add([[True, True, True]], [[0.0, 0.0, 0.0]], [0])
    assert before == (tally.values(), tally.learner_loss, tally.rounds, tally.awake_total)


def test_a_tally_knows_what_it_was_not_asked_for() -> None:
    with pytest.raises(ValueError, match=r"^regrets must be among them one of ordering, policy"):
        Tally(2, "swap").best_policy()
    with pytest.raises(ValueError, match=r"^regrets must be among them one of internal, external, swap"):
        Tally(2, "policy").internal_matrix()


def test_a_block_may_be_read_only_or_strided() -> None:
    awake, losses, choices = drawn(np.random.default_rng(7), 100, 5)
    tally, again = Tally(5), Tally(5)
    tally.add(awake, losses, choices)
    for part in (awake, losses, choices):
        part.flags.writeable = False
    again.add(awake[::2], np.asfortranarray(losses)[::2], choices[::2].astype(np.int32))
    again.add(awake[1::2], losses[1::2], choices[1::2])
    assert tally.values() == again.values()


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
            context.setattr("wakeful.regret.best_ordering.MOST_ARMS", 6)
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
            context.setattr("wakeful.regret.best_ordering.MOST_ARMS", 4)
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
