"""Games: equilibria of every sub-game, degenerate ones too, and self-play, compiled and plain alike."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import policies as literal
from reference import worlds as reference
from wakeful import Decision, PerSet, Policy, SBExp3, SIExp3, SleepingUCB
from wakeful.worlds import self_play
from wakeful.worlds.games import EXPLOITABLE, Game, random_game, rock_paper_scissors

entries = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(1, 15).map(lambda n: 10.0**-n))


@st.composite
def games(draw: st.DrawFn, most: int = 6) -> Any:
    """Matrices with ties, repeated rows and entries of very different sizes."""
    n_columns = draw(st.integers(1, most))
    rows = draw(st.lists(st.lists(entries, min_size=n_columns, max_size=n_columns), min_size=1, max_size=most))
    return np.array([rows[k] for k in draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=most))])


def test_rock_paper_scissors_is_the_papers_matrix() -> None:
    assert rock_paper_scissors() == Game((1 + np.array(reference.P)) / 2)


@pytest.mark.parametrize(("awake", "strategy"), reference.ROCK_PAPER_SCISSORS.items())
def test_sub_games_of_rock_paper_scissors(awake: tuple[int, ...], strategy: tuple[float, ...]) -> None:
    mask = np.isin(np.arange(3), awake)
    row, column, value = rock_paper_scissors().nash(mask, mask)
    assert np.allclose(row, strategy, rtol=0, atol=1e-12)
    assert np.allclose(column, strategy, rtol=0, atol=1e-12)
    assert value == pytest.approx(0.5, abs=1e-12)
    assert not row[~mask].any()
    assert not column[~mask].any()


def test_the_players_may_have_different_awake_actions() -> None:
    row, column, value = rock_paper_scissors().nash([True, True, False], [False, False, True])  # against Scissors
    assert row.tolist() == [1.0, 0.0, 0.0]
    assert column.tolist() == [0.0, 0.0, 1.0]
    assert value == 0.0


@settings(deadline=None, max_examples=300)
@given(games(most=4))
def test_value_equals_the_exact_one(losses: Any) -> None:
    assert abs(Game(losses).nash().value - float(reference.game_value(losses.tolist()))) <= EXPLOITABLE


@settings(deadline=None, max_examples=200)
@given(games(), st.randoms(use_true_random=False))
def test_no_sub_game_can_be_exploited(losses: Any, random: Any) -> None:
    rows, columns = ([k for k in range(n) if random.random() < 0.7] or [0] for n in losses.shape)
    masks = [np.isin(np.arange(n), awake) for n, awake in zip(losses.shape, (rows, columns), strict=True)]
    game = Game(losses)
    row, column, _ = game.nash(*masks)
    gap = reference.exploitability(losses.tolist(), row.tolist(), column.tolist(), tuple(rows), tuple(columns))
    assert gap <= EXPLOITABLE
    assert game.exploitability(row, column, *masks) == pytest.approx(max(gap, 0.0), abs=1e-15)
    for law, mask in ((row, masks[0]), (column, masks[1])):
        assert not law[~mask].any()
        assert (law >= 0).all()
        assert law.sum() == pytest.approx(1.0, abs=1e-12)


@settings(deadline=None)
@given(st.tuples(*[st.floats(0, 1, allow_subnormal=False)] * 4))
def test_two_by_two(losses: tuple[float, float, float, float]) -> None:
    found = Game(np.reshape(losses, (2, 2))).nash().value
    assert found == pytest.approx(reference.two_by_two(*losses), abs=EXPLOITABLE)


@pytest.mark.parametrize(
    "losses", [[[0.3]], np.full((5, 5), 0.7), np.zeros((1, 6)), np.eye(7), np.ones((6, 1))], ids=str
)
def test_degenerate_games(losses: Any) -> None:
    row, column, value = Game(losses).nash()
    assert value == pytest.approx(float(reference.game_value(np.array(losses).tolist())), abs=1e-12)
    assert Game(losses).exploitability(row, column) <= 1e-12


@pytest.mark.parametrize("seed", [10, 122, 752, 1861, 2480, 2547, 3467, *range(10)])
def test_losses_that_nearly_tie(seed: int) -> None:
    """Ones and zeros with noise as small as a tolerance; on the first seven, one programme alone leaves a gap."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 8, 2))
    noise = rng.integers(0, 2, shape) + rng.normal(size=shape) * 10.0 ** -rng.integers(5, 12)
    game = Game(np.clip(noise, 0.0, 1.0))
    row, column, _ = game.nash()
    assert game.exploitability(row, column) <= EXPLOITABLE


def test_games_of_fifty_actions_are_solved() -> None:
    rng = np.random.default_rng(0)
    for game in (random_game(50, rng), Game(rng.random((50, 50))), Game(rng.integers(2, size=(50, 50)) / 1)):
        row, column, _ = game.nash()
        assert game.exploitability(row, column) <= EXPLOITABLE


def test_random_games_are_symmetric_and_uniform() -> None:
    rng = np.random.default_rng(1)
    drawn = np.array([random_game(4, rng).losses for _ in range(4000)])
    assert np.allclose(drawn + drawn.transpose(0, 2, 1), 1.0, rtol=0, atol=1e-15)
    above = np.sort(drawn[:, 0, 3])
    assert np.abs(above - np.arange(1, 4001) / 4000).max() < 1.95 / np.sqrt(4000)  # Kolmogorov-Smirnov at 0.1 %
    assert random_game(7, rng).nash().value == pytest.approx(0.5, abs=EXPLOITABLE)


def test_games_compare_and_print() -> None:
    game = Game(np.array([[0.0, 1.0], [0.25, 0.5]]))
    assert repr(game) == "Game([[0.0, 1.0], [0.25, 0.5]])"
    assert eval(repr(game)) == game
    assert hash(eval(repr(game))) == hash(game)
    assert game != Game(game.losses.T)
    assert game != "a game"
    assert hash(Game(np.array([[0.0]]))) == hash(Game(np.array([[-0.0]])))
    with pytest.raises(ValueError, match="read-only"):
        game.losses[0, 0] = 1.0


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda game: Game(np.array([[1.5]])), "losses must be between 0 and 1"),
        (lambda game: Game(np.array([[np.nan]])), "losses must be between 0 and 1"),
        (lambda game: Game(np.array([0.5])), "losses must be a matrix of numbers"),
        (lambda game: Game(np.zeros((0, 3))), "losses must be a matrix of numbers"),
        (lambda game: Game("RPS"), "losses must be a matrix of numbers"),  # type: ignore[arg-type]
        (lambda game: game.nash([True, False]), "awake_rows must be 3 booleans"),
        (lambda game: game.nash([1, 0, 1]), "awake_rows must be 3 booleans"),
        (lambda game: game.nash(None, [False] * 3), "awake_columns must be true somewhere"),
        (lambda game: game.exploitability([1.0, 0.5, 0.0], [1.0, 0.0, 0.0]), "row must be probabilities"),
        (
            lambda game: game.exploitability([1.0, 0, 0], [1.0, 0, 0], None, [False, True, True]),
            "column must be probabilities",
        ),
        (lambda game: random_game(0, np.random.default_rng(0)), "n_arms must be a whole number from 1"),
    ],
)
def test_bad_input_is_refused(attempt: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        attempt(rock_paper_scissors())


# Self-play


@dataclass(frozen=True)
class Plain(Policy):
    """A policy without its kernels."""

    policy: Policy

    def start(self, n_arms: int) -> Any:
        return self.policy.start(n_arms)

    def probabilities(self, state: Any, awake: Any) -> Any:
        return self.policy.probabilities(state, awake)

    def remember(self, state: Any, decision: Decision, coin: float) -> float:
        return self.policy.remember(state, decision, coin)

    def update(self, state: Any, decision: Decision, loss: float) -> None:
        self.policy.update(state, decision, loss)


def awake_sets(rounds: int, n_arms: int = 3, seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, 77])
    awake = rng.random((rounds, n_arms)) < 0.7
    awake[np.arange(rounds), rng.integers(n_arms, size=rounds)] = True
    return awake


PAIRS = [(SIExp3(), SIExp3(eta="sqrt")), (PerSet(SBExp3()), SleepingUCB())]


@pytest.mark.parametrize(("row", "column"), PAIRS, ids=repr)
def test_compiled_and_plain_self_play_agree(row: Policy, column: Policy) -> None:
    awake = awake_sets(400)
    fast = self_play(rock_paper_scissors(), row, column, awake, seed=5)
    for players in ((Plain(row), column), (row, Plain(column)), (Plain(row), Plain(column))):
        slow = self_play(rock_paper_scissors(), players[0], players[1], awake, seed=5)
        assert np.array_equal(fast.rows, slow.rows)
        assert np.array_equal(fast.columns, slow.columns)
        for name in ("average_rows", "average_columns", "exploitability"):
            assert np.allclose(getattr(fast, name), getattr(slow, name), rtol=0, atol=1e-12, equal_nan=True)


def test_self_play_equals_the_literal_one() -> None:
    game, awake = random_game(3, np.random.default_rng(2)), awake_sets(300)
    keys = [np.random.SeedSequence(9, spawn_key=(player,)) for player in range(2)]
    uniforms = np.transpose([np.random.default_rng(key).random(300) for key in keys])
    players = literal.SIExp3(3, "anytime", 0.0625), literal.SIExp3(3, "sqrt", 0.0625)
    rows, columns, laws = reference.self_play(game.losses.tolist(), players, awake, uniforms)
    marks = [1, 50, 299]
    found = self_play(game, SIExp3(), SIExp3(eta="sqrt"), awake, seed=9, checkpoints=marks)
    assert found.rows.tolist() == rows
    assert found.columns.tolist() == columns
    assert sorted(map(tuple, found.awake_rows)) == sorted(set(map(tuple, awake)))
    for s, mask in enumerate(found.awake_rows):
        S = tuple(np.flatnonzero(mask).tolist())
        for c, mark in enumerate([*marks, 300]):
            here = [law for law, row in zip(laws[:mark], awake, strict=False) if np.array_equal(row, mask)]
            if not here:
                assert np.isnan(found.exploitability[c, s])
                continue
            x, y = ([sum(p[side].get(k, 0.0) for p in here) / len(here) for k in range(3)] for side in range(2))
            gap = reference.exploitability(game.losses.tolist(), x, y, S, S)
            if mark < 300:
                assert found.exploitability[c, s] == pytest.approx(gap, abs=1e-9)
            else:
                assert np.allclose(found.average_rows[s], x, rtol=0, atol=1e-9)
                assert np.allclose(found.average_columns[s], y, rtol=0, atol=1e-9)


def test_average_play_of_learners_of_their_own_for_each_set_comes_close_to_nash() -> None:
    game = rock_paper_scissors()
    found = self_play(game, PerSet(SBExp3()), PerSet(SBExp3()), awake_sets(60_000), seed=1)
    assert found.checkpoints[-1] == 60_000
    assert found.exploitability[-1].max() < 0.05
    assert found.exploitability[-1].max() < np.nanmax(found.exploitability[len(found.checkpoints) // 2])
    for rows, mask in zip(found.average_rows, found.awake_rows, strict=True):
        assert np.allclose(rows, game.nash(mask, mask).row, rtol=0, atol=0.1)


def test_self_play_of_players_with_different_actions() -> None:
    game = Game(np.random.default_rng(3).random((3, 4)))
    rows, columns = awake_sets(500, 3), awake_sets(500, 4, seed=1)
    found = self_play(game, SIExp3(), SIExp3(), rows, seed=4, awake_columns=columns)
    assert rows[np.arange(500), found.rows].all()
    assert columns[np.arange(500), found.columns].all()
    assert len(found.awake_rows) == len({*map(tuple, np.hstack([rows, columns]))})


def test_self_play_repeats_and_leaves_the_seed_alone() -> None:
    seed = np.random.SeedSequence(3)
    runs = [self_play(rock_paper_scissors(), SIExp3(), SIExp3(), awake_sets(50), seed) for _ in range(2)]
    assert np.array_equal(runs[0].rows, runs[1].rows)
    assert np.array_equal(runs[0].columns, runs[1].columns)
    assert not np.array_equal(runs[0].rows, runs[0].columns)
    assert seed.n_children_spawned == 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"awake": np.ones((5, 2), bool)}, r"awake must be a \(T, 3\) array of booleans"),
        ({"awake": np.zeros((5, 3), bool)}, "true somewhere in every row"),
        ({"awake_columns": np.ones((4, 3), bool)}, r"awake_columns must be of shape \(5, 3\)"),
        ({"checkpoints": [2, 2]}, "checkpoints must be rising whole numbers from 1 to 5"),
        ({"checkpoints": [6]}, "checkpoints must be rising whole numbers from 1 to 5"),
        ({"checkpoints": [0.5]}, "checkpoints must be rising whole numbers from 1 to 5"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"row_policy": SIExp3}, "policy must be an instance"),
        ({"game": np.eye(3)}, "game must be a Game"),
    ],
)
def test_self_play_refuses(change: dict[str, Any], sentence: str) -> None:
    fine: dict[str, Any] = {
        "game": rock_paper_scissors(),
        "row_policy": SIExp3(),
        "column_policy": SIExp3(),
        "awake": np.ones((5, 3), bool),
        "seed": 0,
    }
    with pytest.raises((ValueError, TypeError), match=sentence):
        self_play(**{**fine, **change})
