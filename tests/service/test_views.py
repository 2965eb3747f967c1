"""Readings as JSON have the fields and the numbers that the library's own objects have."""

import numpy as np
import pytest

from wakeful import Bandit, DuelingBandit, SIExp3
from wakeful.bandits.ranked_arms import Rank
from wakeful.bandits.report import ArmReport, Candidate
from wakeful.service import readings, views
from wakeful.service.answers import encode
from wakeful.service.refusals import Refused


def played(rounds: int = 20) -> Bandit:
    """Return a bandit that has learned something, of one arm nothing."""
    bandit = Bandit(SIExp3(), ["tea", "coffee", "juice"], seed=1)
    for n in range(rounds):
        bandit.update(bandit.choose(["tea", "juice"]), loss=n % 2)
    return bandit


def fought(rounds: int = 40) -> DuelingBandit:
    """Return a dueling bandit that has seen wins and ties on both sides."""
    arena = DuelingBandit(arms=["a", "b", "c"], seed=1)
    for n in range(rounds):
        duel = arena.choose(distinct=True, group="code" if n % 2 else "prose")
        arena.update(duel, winner="tie" if n % 5 == 0 else "left" if n % 3 else "right")
    return arena


def test_the_types_have_the_fields_of_the_library() -> None:
    for kind, rows in (
        (readings.ArmReading, ArmReport),
        (readings.CandidateReading, Candidate),
        (readings.RankReading, Rank),
    ):
        assert kind.__struct_fields__ == rows._fields


def test_a_report_has_the_numbers_of_the_report() -> None:
    bandit = played()
    found, real = views.report(bandit, 0.9), bandit.report(0.9)
    assert (found.title, found.notes, found.words) == (real.title, list(real.notes), real.words)
    assert (found.loss, found.uniform_loss, found.level) == (real.loss, real.uniform_loss, 0.9)
    assert (found.gain.value, found.gain.low, found.gain.high) == tuple(real.gain)
    assert [arm.mean_loss for arm in found.arms][::2] == [arm.mean_loss for arm in real.arms][::2]
    assert b'"arm":"coffee","awake":0,"chosen":0,"feedback":0,"pending":0,"mean_loss":null,"low":null' in encode(found)


def test_a_ranking_has_the_numbers_of_the_ranking() -> None:
    arena = fought()
    found, real = views.ranking(arena, "elo", 0.9, None), arena.ranking(scale="elo", level=0.9)
    assert [tuple(getattr(row, name) for name in Rank._fields) for row in found.rows] == [tuple(rank) for rank in real]
    assert found.notes == list(real.notes)
    assert found.side_effect is not None
    assert found.tie_rate is not None
    assert real.side_effect is not None
    assert (found.side_effect.value, found.side_effect.low) == (real.side_effect.value, real.side_effect.low)
    assert sorted(found.groups) == ["code", "prose"]
    one = views.ranking(arena, "log", 0.95, "code")
    assert [row.duels for row in one.rows] == [rank.duels for rank in arena.ranking(group="code")]
    with pytest.raises(Refused, match="group must be one that duels have had, got 'x'"):
        views.ranking(arena, "log", 0.95, "x")


def test_probabilities_are_those_of_the_arms_in_the_order_asked_for() -> None:
    bandit = played()
    p = bandit.probabilities(["juice", "tea"])
    assert views.probabilities(bandit, ["juice", "tea"]).probabilities == [p[2], p[0]]
    bandit.retire_arm("tea")
    assert views.probabilities(bandit, None).awake == ["coffee", "juice"]


def test_arrays_have_names() -> None:
    bandit, arena = played(), fought()
    gains = views.switch_gains(bandit)
    assert gains.arms == ["tea", "coffee", "juice"]
    assert np.array_equal(np.array(gains.gains), np.asarray(bandit.switch_gains()))
    wins = views.wins(arena)
    assert np.array_equal(np.array(wins.wins), arena.win_matrix())


def test_what_one_kind_does_not_have_is_refused() -> None:
    bandit, arena = played(1), fought(1)
    for call in (
        lambda: views.report(arena, 0.95),
        lambda: views.probabilities(arena, None),
        lambda: views.switch_gains(arena),
    ):
        with pytest.raises(Refused, match="bandit must be a bandit that is not dueling, got 'DuelingBandit'"):
            call()
    for read in (lambda: views.ranking(bandit, "elo", 0.95, None), lambda: views.wins(bandit)):
        with pytest.raises(Refused, match="bandit must be a dueling bandit, got 'Bandit'"):
            read()


def test_who_won() -> None:
    assert [views.winner_of("a", "b", share) for share in (1.0, 0.5, 0.0)] == ["a", "tie", "b"]
