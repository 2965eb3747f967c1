"""A tally adds up blocks of rounds."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from histories import BAD, EITHER, HALF, TWO, drawn, histories, scalars
from wakeful.regret import set_table
from wakeful.regret.tally import FIRST_SETS, Tally


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
    pool, losses, choices = drawn(rng, 3 * FIRST_SETS, n_arms)
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
