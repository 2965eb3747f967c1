"""Rankings: scales, filters, rank intervals, chances, and every form in which they are shown."""

import csv
import io
import math

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import wakeful as wk
from wakeful.bandits.bradley_terry import SIDED, PairResults, fit_strengths
from wakeful.bandits.ranked_arms import Rank
from wakeful.bandits.ranking import Ranking, ranking

NAMES = ["a", "b", "c", "d"]
WINS = np.array([[0.0, 30, 40, 25], [10, 0, 30, 20], [5, 12, 0, 18], [2, 3, 9, 0]])
FEW = WINS // 4


def with_ties(left_bonus: float = 0.0) -> PairResults:
    """Return a round of duels in which ties, and sides that matter, are reported."""
    first, second = np.nonzero(~np.eye(4, dtype=bool))
    counts = WINS[first, second] + left_bonus
    return PairResults(
        first, second, counts, WINS[second, first], np.full(first.size, 12.0), np.full(first.size, SIDED)
    )


def test_scales_show_the_same_strengths() -> None:
    log, elo, chance = (ranking(NAMES, WINS, scale=scale) for scale in ("log", "elo", "probability"))
    for one, other, third in zip(log, elo, chance, strict=True):
        for n in (2, 3, 4):
            assert other[n] == pytest.approx(1500 + 400 * math.log10(math.exp(one[n])))
            assert third[n] == pytest.approx(1 / (1 + math.exp(-one[n])))
        assert (one.arm, one[5:]) == (other.arm, other[5:]) == (third.arm, third[5:])


def test_narrower_levels_give_narrower_intervals_of_strengths_and_ranks() -> None:
    wide, narrow = ranking(NAMES, FEW, level=0.999), ranking(NAMES, FEW, level=0.5)
    for one, other in zip(wide, narrow, strict=True):
        assert one.low < other.low < other.strength == one.strength < other.high < one.high
        assert one.best_rank <= other.best_rank <= other.rank <= other.worst_rank <= one.worst_rank
    assert wide[0].worst_rank > narrow[0].worst_rank == 1


def test_a_rank_interval_counts_those_that_are_surely_stronger_or_weaker() -> None:
    found = ranking(NAMES, FEW, level=0.9)
    z = 2.128045234184984  # of 1 - 0.1 / 2 / 3: three comparisons
    for one in found:
        sure = []
        for other in found:
            if other.arm != one.arm:
                chance = found.probability(one.arm, other.arm)
                logit = [math.log(p / (1 - p)) for p in chance[:3]]
                sure.append(math.copysign(abs(logit[0]) > (logit[2] - logit[0]) * z / 1.6448536269514722, logit[0]))
        assert one.best_rank == 1 + sure.count(-1.0)
        assert one.worst_rank == 4 - sure.count(1.0)
    assert [(r.best_rank, r.worst_rank) for r in found] == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_filters_leave_strengths_alone_and_rank_those_that_are_shown() -> None:
    everybody = {rank.arm: rank for rank in ranking(NAMES, WINS)}
    some = ranking(NAMES, WINS, arms=["d", "b"])
    assert [(rank.rank, rank.arm) for rank in some] == [(1, "b"), (2, "d")]
    assert all(rank[2:7] == everybody[rank.arm][2:7] for rank in some)
    assert all(rank.worst_rank <= 2 for rank in some)
    assert [rank.arm for rank in ranking(NAMES, WINS, min_duels=100)] == ["a", "b", "c"]
    assert len(ranking(NAMES, WINS, min_duels=1e6)) == 0


def test_chances_add_up_and_know_sides_and_ties() -> None:
    found = ranking(NAMES, with_ties(left_bonus=15.0))
    one, other = found.probability("a", "b"), found.probability("b", "a")
    assert one.probability + other.probability + one.tie == pytest.approx(1.0)
    assert one.tie == other.tie > 0.1
    assert one.low < one.probability < one.high
    left, right = (found.probability("a", "b", side=side) for side in ("left", "right"))
    assert left.probability > one.probability > right.probability
    mirrored = found.probability("b", "a", side="right")
    assert left.probability + mirrored.probability + left.tie == pytest.approx(1.0)
    assert found.side_effect is not None
    assert found.tie_rate is not None
    assert found.side_effect.low > 0.0
    assert 0.0 < found.tie_rate.low < found.tie_rate.value < found.tie_rate.high < 1.0
    plain = ranking(NAMES, WINS)
    assert (plain.side_effect, plain.tie_rate, plain.probability("a", "b").tie) == (None, None, 0.0)


def test_intervals_of_chances_are_those_of_the_delta_method() -> None:
    results = with_ties(left_bonus=15.0)
    found, fitted = ranking(NAMES, results, level=0.9), fit_strengths(results, 4)

    def logit(values: NDArray[np.float64]) -> float:
        half = 0.5 * (values[0] - values[3] - values[4])
        return float(half - np.log(np.exp(-half) + np.exp(values[5])))

    slopes = np.array([(logit(fitted.values + h) - logit(fitted.values - h)) / 2e-5 for h in 1e-5 * np.eye(6)])
    reach = 1.6448536269514722 * np.sqrt(slopes @ fitted.covariance @ slopes)
    chance = found.probability("a", "d", side="right")
    expected = [1 / (1 + np.exp(-logit(fitted.values) - x)) for x in (0.0, -reach, reach)]
    np.testing.assert_allclose(chance[:3], expected, rtol=1e-6)


def test_the_table_shows_ties_and_retired_arms_only_where_there_are_some() -> None:
    plain = str(ranking(NAMES, WINS)).splitlines()
    assert plain[0].split() == ["strength", "95", "%", "from", "to", "ranks", "wins", "duels"]
    assert len(plain) == 5
    marked = ranking(NAMES, with_ties(), retired=["b"], level=0.9, scale="elo")
    lines = str(marked).splitlines()
    assert lines[0].split() == ["Elo", "90", "%", "from", "to", "ranks", "wins", "ties", "duels"]
    assert [line.endswith("retired") for line in lines[1:]] == [False, True, False, False]
    assert [rank.retired for rank in marked] == [False, True, False, False]


def test_every_form_holds_the_same_rows() -> None:
    found = ranking(NAMES, with_ties(), retired=["d"])
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert tuple(frame.columns) == Rank._fields
    assert frame["strength"].tolist() == [rank.strength for rank in found]
    rows = list(csv.reader(io.StringIO(found.to_csv())))
    assert [float(row[2]) for row in rows[1:]] == [rank.strength for rank in found]
    assert len(found.to_markdown().splitlines()) == 6
    page = found.to_html(title="Drinks <x>")
    assert "<title>Drinks &lt;x&gt;</title>" in page
    assert page.count("<tr>") == 5
    assert "tie in" in page
    assert page.count("faint") > 5
    assert "<html" not in found.to_html(whole_page=False)
    assert "400 Elo points" in ranking(NAMES, WINS, scale="elo").to_html()


def test_names_cannot_break_a_page() -> None:
    odd = ["<script>alert(1)</script>", "a|b", "x\ny", 7]
    found = ranking(odd, WINS)
    assert "<script>" not in found.to_html()
    assert r"a\|b" in found.to_markdown()
    assert len(str(found).splitlines()) == len(found.to_markdown().splitlines()) - 1 == 5


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"scale": "Elo"}, "scale must be one of 'log', 'elo', 'probability', got 'Elo' (did you mean 'elo'?)"),
        ({"level": 1.0}, "level must be between 0 and 1, both excluded, got 1.0"),
        ({"level": "95"}, "level must be between 0 and 1, both excluded, got '95'"),
        ({"min_duels": -1}, "min_duels must be zero or more, got -1"),
        ({"arms": "a"}, "arms must be a list of arm names, got 'a'"),
        ({"arms": ["a", "e"]}, "arms must be among the arms 'a', 'b', 'c', 'd', got 'e'"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], text: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        ranking(NAMES, WINS, **arguments)  # type: ignore[arg-type]
    assert str(caught.value) == text


def test_wrong_arms_and_sides_of_a_chance() -> None:
    found = ranking(NAMES, WINS)
    assert isinstance(found, Ranking)
    with pytest.raises(ValueError, match="second must be among the arms 'a', 'b', 'c', 'd', got 'x'"):
        found.probability("a", "x")
    with pytest.raises(ValueError, match="side must be one of 'left', 'right', got 'top'"):
        found.probability("a", "b", side="top")


def test_arms_that_have_not_played_come_last() -> None:
    wins = np.zeros((6, 6))
    wins[1:5, 1:5] = WINS
    found = ranking(["new", *NAMES, "newer"], wins)
    assert [rank.arm for rank in found] == [*NAMES, "new", "newer"]
    assert (found[4].rank, found[4].best_rank, found[4].worst_rank) == (5, 1, 6)
    assert found[4].strength == pytest.approx(0.0, abs=1e-12)
    assert found[3].strength < 0.0
    played = ranking(NAMES, WINS)
    assert [rank.strength for rank in found[:4]] == pytest.approx([rank.strength for rank in played], abs=1e-9)


def test_an_empty_ranking_says_why() -> None:
    found = ranking(NAMES, WINS, min_duels=1000)
    assert len(found) == 0
    assert repr(found) == "No arm to show: none of those asked for has played at least 1,000 duels."
    assert repr(found) in found.to_html()
    assert found.to_csv().count("\n") == 1


def test_an_arm_without_duels_is_shown_at_zero_not_below() -> None:
    arena = wk.DuelingBandit(wk.UniformPairs(), ["a", "b", "c", "d"], seed=0)
    for winner in ("c", "b", "c"):
        for left, right, best in (("a", "b", "a"), ("b", "c", winner), ("c", "a", "c")):
            arena.record(left, right, best)
    for _ in range(2):
        arena.record("b", "a", "b")
    last = str(arena.ranking()).splitlines()[-1]
    assert last.split()[:3] == ["4", "d", "0.000"]
