"""Self-play: two policies learn a zero-sum game from each other, at compiled speed where both have kernels."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from wakeful.inputs import must_be, whole
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.compile import bind_kernels, specialised
from wakeful.policies.kernels import Kernels, draw
from wakeful.policies.policy import Policy, a_policy, decide
from wakeful.policies.rounds import checked_awake, refuse_nobody
from wakeful.policies.spec import full_name
from wakeful.worlds.games import Game, gaps


class SelfPlay(NamedTuple):
    """The choices of two policies and their average play. Sub-games are the S distinct pairs of awake sets.

    The average play is the mean of the probabilities that the policies drew from; NaN in a sub-game not yet played.
    """

    rows: Ints  # (T,), what the row player chose
    columns: Ints  # (T,)
    awake_rows: Mask  # (S, number of rows), one row for each sub-game
    awake_columns: Mask  # (S, number of columns)
    average_rows: Floats  # (S, number of rows), the average play at the end
    average_columns: Floats  # (S, number of columns)
    checkpoints: Ints  # (C,), numbers of rounds
    exploitability: Floats  # (C, S), of the average play in each sub-game after so many rounds


def self_play(
    game: Game,
    row_policy: Policy,
    column_policy: Policy,
    awake: ArrayLike,
    seed: int | np.random.SeedSequence,
    *,
    awake_columns: ArrayLike | None = None,
    checkpoints: ArrayLike | None = None,
) -> SelfPlay:
    """Let two policies play `game` against each other, each seeing only its own loss.

    Parameters:
        game: what they play
        row_policy: loses `losses[i, j]`
        column_policy: loses `1 - losses[i, j]`
        awake: (T, K), which arms are awake
        seed: each player draws from a stream of its own made from it
        awake_columns: (T, number of columns), where the column player's awake actions are others
        checkpoints: numbers of rounds, rising, at which to look; by default about twenty, evenly spread in log scale

    >>> from wakeful import SIExp3
    >>> from wakeful.worlds.games import rock_paper_scissors
    >>> result = self_play(rock_paper_scissors(), SIExp3(), SIExp3(), np.ones((9000, 3), bool), seed=1)
    >>> bool(result.exploitability[-1, 0] < 0.1)
    True
    """
    if not isinstance(game, Game):
        raise TypeError(must_be("game", "a Game", game))
    rows = _checked_rounds("awake", awake, game.losses.shape[0])
    columns = rows if awake_columns is None else _checked_rounds("awake_columns", awake_columns, game.losses.shape[1])
    if columns.shape != (rows.shape[0], game.losses.shape[1]):
        raise ValueError(must_be("awake_columns", f"of shape {(rows.shape[0], game.losses.shape[1])}", columns.shape))
    marks = _checked_checkpoints(checkpoints, rows.shape[0])
    sets, which = _sub_games(np.hstack([rows, columns]))
    set_rows, set_columns = sets[:, : rows.shape[1]], sets[:, rows.shape[1] :]
    sums = np.zeros(set_rows.shape), np.zeros(set_columns.shape)
    choices = np.empty((2, rows.shape[0]), np.int64)
    play = _player(game, a_policy(row_policy), a_policy(column_policy), seed)
    found = []
    for start, stop in pairwise([0, *marks.tolist(), rows.shape[0]]):
        part = slice(start, stop)
        play(rows[part], columns[part], which[part], *sums, *choices[:, part])
        found.append(gaps(game.losses, _averages(sums[0]), _averages(sums[1]), set_rows, set_columns))
    exploitability = np.array(found[: marks.size])
    averages = _averages(sums[0]), _averages(sums[1])
    return SelfPlay(choices[0], choices[1], set_rows, set_columns, *averages, marks, exploitability)


def _player(game: Game, row: Policy, column: Policy, seed: int | np.random.SeedSequence) -> Callable[..., None]:
    """Return a function that plays some more rounds, compiled where both policies have kernels."""
    streams = _streams(seed)
    n_rows, n_columns = game.losses.shape
    states = row.start(n_rows), column.start(n_columns)
    if row.kernels is None or column.kernels is None:
        clock = count(1)
        return lambda *rounds: _play_plainly(game.losses, (row, column), states, streams, clock, *rounds)
    fields = row.fields(states[0], n_rows), column.fields(states[1], n_columns)
    given = (game.losses.copy(), *streams, *fields)
    label = f"{full_name(row)}-{full_name(column)}"
    types = (type(row.parameters(n_rows)), type(states[0])), (type(column.parameters(n_columns)), type(states[1]))
    entry = _bound(label, (row.kernels, column.kernels), types)
    mask, whole_numbers, reals = np.zeros((1, 1), np.bool_), np.zeros(1, np.int64), np.zeros((1, 1))
    like = (mask, mask, whole_numbers, reals, reals, whole_numbers, whole_numbers)
    run = specialised(entry, label, *given, *like)
    return lambda *rounds: run(*given, *rounds)


@cache
def _bound(label: str, kernels: tuple[Kernels, Kernels], types: tuple[tuple[Any, Any], ...]) -> Any:
    """Bind the kernels of both players into the template."""
    functions: dict[str, Any] = {}
    names: dict[str, Any] = {}
    for side, own, (parameters, state) in zip(("row", "column"), kernels, types, strict=True):
        functions |= {f"{side}_{field}": function for field, function in own._asdict().items()}
        names |= {f"{side}_parameters": parameters, f"{side}_state": state, f"{side}_size": len(parameters._fields)}
    return bind_kernels(_play, f"{label}.play", functions, **names)


# Bound: the kernels of both players, the named tuples of their parameters and state, how many parameters there are.
row_law: Any = None
row_learn: Any = None
row_remember: Any = None
row_parameters: Any = None
row_state: Any = None
row_size = 0
column_law: Any = None
column_learn: Any = None
column_remember: Any = None
column_parameters: Any = None
column_state: Any = None
column_size = 0


def _play(
    losses: Floats,
    row_rng: np.random.Generator,
    column_rng: np.random.Generator,
    row_fields: tuple[Any, ...],
    column_fields: tuple[Any, ...],
    awake_rows: Mask,
    awake_columns: Mask,
    which: Ints,
    row_sums: Floats,
    column_sums: Floats,
    rows: Ints,
    columns: Ints,
) -> None:
    """Play every round; write the choices into `rows` and `columns`, add probabilities to the sums of each sub-game."""
    a, s = row_parameters(*row_fields[:row_size]), row_state(*row_fields[row_size:])
    b, r = column_parameters(*column_fields[:column_size]), column_state(*column_fields[column_size:])
    for t in range(which.size):
        x, y = np.zeros(losses.shape[0]), np.zeros(losses.shape[1])
        here, there = np.flatnonzero(awake_rows[t]), np.flatnonzero(awake_columns[t])
        row_law(a, s, here, x)
        column_law(b, r, there, y)
        i, row_coin = draw(x, here, row_rng.random())
        j, column_coin = draw(y, there, column_rng.random())
        row_memo = row_remember(a, s, here, x, i, row_coin)
        column_memo = column_remember(b, r, there, y, j, column_coin)
        row_learn(a, s, here, x, i, row_memo, losses[i, j])
        column_learn(b, r, there, y, j, column_memo, 1.0 - losses[i, j])
        rows[t], columns[t] = i, j
        row_sums[which[t]] += x
        column_sums[which[t]] += y


def _play_plainly(
    losses: Floats,
    policies: tuple[Policy, Policy],
    states: tuple[Any, Any],
    streams: list[np.random.Generator],
    clock: Iterator[int],
    awake_rows: Mask,
    awake_columns: Mask,
    which: Ints,
    row_sums: Floats,
    column_sums: Floats,
    rows: Ints,
    columns: Ints,
) -> None:
    """Do the same one decision at a time, for policies without kernels."""
    for t, game in enumerate(which):
        now = next(clock)
        row = decide(policies[0], states[0], awake_rows[t], streams[0].random, now)
        column = decide(policies[1], states[1], awake_columns[t], streams[1].random, now)
        loss = float(losses[row.arm, column.arm])
        policies[0].update(states[0], row, loss)
        policies[1].update(states[1], column, 1.0 - loss)
        rows[t], columns[t] = row.arm, column.arm
        row_sums[game] += row.probabilities
        column_sums[game] += column.probabilities


def _sub_games(awake: Mask) -> tuple[Mask, Ints]:
    """Return the distinct rows, in order, and which of them each row is; `unique` of whole rows takes far longer."""
    which = np.zeros(len(awake), np.int64)
    for byte in np.packbits(awake, axis=1).T:
        _, first, which = np.unique(which * 256 + byte, return_index=True, return_inverse=True)
    return awake[first], which


def _averages(sums: Floats) -> Floats:
    """Return the mean probabilities of each row, NaN where there are none yet."""
    totals = sums.sum(axis=1, keepdims=True)
    means: Floats = np.divide(sums, totals, out=np.full(sums.shape, np.nan), where=totals > 0.0)
    return means


def _streams(seed: int | np.random.SeedSequence) -> list[np.random.Generator]:
    """Return a stream for each player; a given sequence is not changed."""
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(whole("seed", seed, "a whole number from 0, or a SeedSequence", 0))
    keys = [(*seed.spawn_key, player) for player in range(2)]
    return [np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key)) for key in keys]


def _checked_rounds(name: str, awake: ArrayLike, size: int) -> Mask:
    """Return which arms are awake in each round."""
    mask = checked_awake(name, awake, size)
    if not len(mask):
        raise ValueError(must_be(name, "of one or more rounds", awake))
    refuse_nobody(name, mask)
    return mask


def _checked_checkpoints(checkpoints: ArrayLike | None, rounds: int) -> Ints:
    """Return rising numbers of rounds; by default about twenty."""
    if checkpoints is None:
        return np.unique(np.geomspace(1, rounds, 20).round().astype(np.int64))
    rule = f"rising whole numbers from 1 to {rounds}"
    marks = np.asarray(checkpoints)
    if marks.ndim != 1 or marks.dtype.kind not in "iu" or marks.size == 0:
        raise TypeError(must_be("checkpoints", rule, checkpoints))
    if marks[0] < 1 or marks[-1] > rounds or (np.diff(marks.astype(np.int64)) <= 0).any():
        raise ValueError(must_be("checkpoints", rule, checkpoints))
    return marks.astype(np.int64)
