"""An arena that learns from results which others arranged, and ranks its arms by all of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import wakeful as wk

ROWS = [("a", "b", "a"), ("b", "c", "right"), ("c", "a", "tie"), ("b", "a", "b"), ("a", "c", 0.75)] * 4


def arena(policy: wk.DuelingPolicy | None = None, arms: Any = ("a", "b", "c"), seed: int = 3) -> wk.DuelingBandit:
    return wk.DuelingBandit(policy or wk.UniformPairs(), arms=arms, seed=seed)


def unchanged(bandit: wk.DuelingBandit, before: bytes) -> bool:
    return bandit.to_bytes() == before


def test_many_results_are_learned_as_one_by_one() -> None:
    one, many = arena(), arena()
    for left, right, winner in ROWS:
        one.record(left, right, winner=winner)
    learned = many.learn(ROWS)
    assert (learned.duels, learned.skipped, learned.added) == (20, (), ())
    assert str(learned) == "Learned 20 duels; skipped 0 rows; added 0 arms."
    np.testing.assert_array_equal(one.win_matrix(), many.win_matrix())
    np.testing.assert_array_equal(one.state.wins, many.state.wins)
    np.testing.assert_array_equal(many.state.wins, many.win_matrix())
    assert one.rounds == many.rounds == many.state.clock[0] == 20
    assert one.to_bytes() == many.to_bytes()
    assert one.choose() == many.choose()
    assert sorted(rank.duels for rank in many.ranking()) == [12.0, 12.0, 16.0]
    assert {rank.arm: (rank.wins, rank.ties) for rank in many.ranking()} == {"a": (7, 4), "b": (4, 0), "c": (5, 4)}


def test_new_arms_are_added_all_at_once_or_refused() -> None:
    bandit = arena(arms=["a"])
    bandit.choose()
    learned = bandit.learn(ROWS, unknown_arms="add")
    assert learned.added == ("b", "c")
    assert bandit.arms == ("a", "b", "c")
    assert bandit.state.wins.shape == (3, 3)
    bandit.update(bandit.choose(["b", "c"], distinct=True), winner="left")
    before = bandit.to_bytes()
    with pytest.raises(ValueError, match="row 1 of results: right must be among the arms 'a', 'b', 'c', got 'd'"):
        bandit.learn([("a", "d", "a")])
    assert unchanged(bandit, before)
    assert bandit.learn([("a", "d", "a")], on_error="skip").skipped[0].line == 1
    assert unchanged(bandit, before)


def test_a_bad_row_changes_nothing_and_skipping_reports_it() -> None:
    bandit = arena()
    before = bandit.to_bytes()
    rows = [*ROWS, ("a", "b", "x"), ("d", "d", "d")]
    with pytest.raises(ValueError, match="row 21 of results: winner must be the name of the left or the right arm"):
        bandit.learn(rows)
    assert unchanged(bandit, before)
    learned = bandit.learn(rows, on_error="skip", unknown_arms="add")
    assert (learned.duels, [problem.line for problem in learned.skipped]) == (20, [21, 22])
    assert bandit.arms == ("a", "b", "c")


def test_results_of_too_many_arms_are_refused_before_memory_is_taken() -> None:
    bandit = arena()
    rows = [(f"x{n}", f"y{n}", "left" if n % 2 else "right") for n in range(20_000)]
    with pytest.raises(ValueError, match="results must be of few enough arms for a state of at most"):
        bandit.learn(rows, unknown_arms="add")
    assert bandit.arms == ("a", "b", "c")


def test_sides_matter_unless_the_order_of_names_says_nothing() -> None:
    rng = np.random.default_rng(2)
    pairs = [tuple(rng.permutation(["a", "b", "c"])[:2].tolist()) for _ in range(400)]
    rows = [(left, right, "left" if rng.random() < 0.7 else "right") for left, right in pairs]
    sided, plain = arena(), arena()
    sided.learn(rows)
    plain.learn(rows, sides=False)
    effect = sided.ranking().side_effect
    assert effect is not None
    assert 0.5 < effect.low < np.log(0.7 / 0.3) < effect.high
    assert plain.ranking().side_effect is None
    winners_first = [(left, right, left) for left, right in pairs]
    with pytest.raises(ValueError, match="sides=False where left and right are no sides, got '400 wins on the left"):
        arena().learn(winners_first)
    assert arena().learn(winners_first, sides=False).duels == 400
    with pytest.raises(TypeError, match="sides must be True or False, got 'no'"):
        arena().record("a", "b", winner="a", sides="no")  # type: ignore[arg-type]


def test_a_ranking_for_each_group() -> None:
    bandit = arena(arms=["a", "b", "c", "d"])
    bandit.learn([("a", "b", "a", "code"), ("b", "a", "a", "code"), ("b", "c", "b", "prose"), ("b", "c", "c", "prose")])
    bandit.record("a", "d", winner="tie", group="prose")
    assert bandit.groups == ("code", "prose")
    assert [rank.arm for rank in bandit.ranking(group="code")] == ["a", "b"]
    by_group = bandit.ranking_by_group(scale="elo")
    assert list(by_group) == ["code", "prose"]
    assert {rank.arm for rank in by_group["prose"]} == {"a", "b", "c", "d"}
    assert by_group["code"].scale == "elo"
    assert len(bandit.ranking(group="code", min_duels=0)) == 4
    assert bandit.ranking().tie_rate is not None
    with pytest.raises(ValueError, match=r"group must be one of 'code', 'prose', got 'cod' \(did you mean 'code'\?\)"):
        bandit.ranking(group="cod")
    with pytest.raises(TypeError, match="group must be a string or a whole number, got"):
        bandit.record("a", "b", winner="a", group=("x",))


def test_retired_arms_are_marked_and_can_be_left_out() -> None:
    bandit = arena()
    bandit.learn(ROWS)
    bandit.retire_arm("b")
    assert {rank.arm for rank in bandit.ranking() if rank.retired} == {"b"}
    assert {rank.arm for rank in bandit.ranking(arms=["a", "c"])} == {"a", "c"}
    bandit.record("b", "a", winner="b")  # a result that came late
    assert bandit.ranking().probability("a", "b").probability > 0.0


def test_policies_that_divide_by_probabilities_need_them() -> None:
    bandit = arena(wk.Sparring(wk.SIExp3(eta=0.3, exploration=0.0)))
    before = bandit.to_bytes()
    with pytest.raises(ValueError, match="probability of the pair must be given, since Sparring"):
        bandit.record("a", "b", winner="a")
    with pytest.raises(ValueError, match="probability of the pair must be given, since Sparring"):
        bandit.learn(ROWS)
    with pytest.raises(ValueError, match="awake must be a set with both arms of the duel"):
        bandit.record("a", "b", winner="a", probability=0.5, awake=["b", "c"])
    assert unchanged(bandit, before)
    bandit.record("a", "b", winner="a", probability=1 / 6)
    bandit.record("a", "b", winner="a", probability=0.5, awake=["a", "b"])
    frame = pd.DataFrame(ROWS, columns=["left", "right", "winner"])
    bandit.learn(frame.assign(probability=1 / 6, awake="a|b|c"))
    assert bandit.rounds == 22
    assert np.abs(bandit.state.inner_losses).sum() > 1.0


def test_what_was_recorded_survives(tmp_path: Path) -> None:
    bandit = arena()
    bandit.learn([(*row, "x") for row in ROWS])
    bandit.record("a", "b", winner="tie", sides=False)
    bandit.save(tmp_path / "arena.wakeful")
    record = json.loads(json.dumps(bandit.to_record(), default=np.ndarray.tolist))
    for again in (wk.DuelingBandit.load(tmp_path / "arena.wakeful"), wk.DuelingBandit.from_record(record)):
        assert list(again.ranking()) == list(bandit.ranking())
        assert list(again.ranking(group="x")) == list(bandit.ranking(group="x"))
        assert again.groups == ("x",)
    empty = arena()
    record = json.loads(json.dumps(empty.to_record(), default=np.ndarray.tolist))
    assert wk.DuelingBandit.from_record(record).win_matrix().sum() == 0.0
    with pytest.raises(ValueError, match="duel_counts must be"):
        wk.DuelingBandit.from_record({**record, "arrays": {**record["arrays"], "duel_counts": [[1.0] * 7]}})


def test_an_arena_saved_without_counts_still_has_its_ranking() -> None:
    bandit = arena()
    for _ in range(40):
        duel = bandit.choose(distinct=True)
        bandit.update(duel, winner=min(duel.arms))
    record = bandit.to_record()
    del record["arrays"]["duel_counts"], record["groups"]
    old = wk.DuelingBandit.from_record({**record, "version": 1})
    strengths, before = ({rank.arm: rank.strength for rank in each.ranking()} for each in (old, bandit))
    assert strengths == pytest.approx(before, abs=0.2)  # without sides
    assert [rank.duels for rank in old.ranking()] == [rank.duels for rank in bandit.ranking()]


def test_wrong_options_of_learn() -> None:
    with pytest.raises(ValueError, match="unknown_arms must be one of 'refuse', 'add', got 'ad'"):
        arena().learn(ROWS, unknown_arms="ad")
    with pytest.raises(ValueError, match="on_error must be one of 'raise', 'skip', got 'pass'"):
        arena().learn(ROWS, on_error="pass")
    assert arena().learn([]).duels == 0


GROUPS = {"a": "hot", "b": "hot", "c": "cold", "d": "cold", "e": "dry"}


def test_duels_within_groups_belong_to_them() -> None:
    bandit = arena(arms=list(GROUPS))
    for _ in range(60):
        duel = bandit.choose(groups=GROUPS, within=True)
        assert duel.left != duel.right
        assert duel.group == GROUPS[duel.left] == GROUPS[duel.right] != "dry"
        bandit.update(wk.Duel.from_dict(json.loads(json.dumps(duel.to_dict()))), winner="tie")
    assert sorted(map(str, bandit.groups)) == ["cold", "hot"]
    assert {rank.arm for rank in bandit.ranking(group="hot")} == {"a", "b"}
    assert all(rank.ties == rank.duels for rank in bandit.ranking(group="cold"))
    assert bandit.win_matrix()[0, 1] == bandit.win_matrix()[1, 0] > 0.0
    across = bandit.choose(groups=GROUPS, group="final")
    assert GROUPS[across.left] != GROUPS[across.right]
    assert across.group == "final"
    three = bandit.choose(["a", "b", "c", "d"], groups={**GROUPS, "c": "hot"}, within=True, size=3)
    assert sorted(three.arms) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"within": True}, "groups must be given if within is, got None"),
        ({"within": 1, "groups": GROUPS}, "within must be True or False, got 1"),
        ({"within": True, "groups": {**GROUPS, "e": 1.5}}, "groups must be a mapping to groups that are each a"),
        ({"within": True, "groups": GROUPS, "awake": ["a", "c", "e"]}, "groups must be such that 2 arms have"),
        ({"within": True, "groups": GROUPS, "size": 3}, "groups must be such that 3 arms have the same one, got"),
        ({"group": 1.5}, "group must be a string or a whole number, got 1.5"),
    ],
)
def test_groups_that_make_no_sense(arguments: dict[str, Any], text: str) -> None:
    bandit = arena(arms=list(GROUPS))
    before = bandit.to_bytes()
    with pytest.raises((ValueError, TypeError)) as caught:
        bandit.choose(**arguments)
    assert str(caught.value).startswith(text)
    assert unchanged(bandit, before)


def test_ties_are_told_by_their_name_and_counted_as_ties() -> None:
    bandit = arena()
    duel = bandit.choose(distinct=True)
    bandit.update(duel, winner="tie")
    bandit.update(bandit.choose(distinct=True), winner=0.5)
    assert sum(rank.ties for rank in bandit.ranking()) == 4.0
    assert bandit.win_matrix().sum() == 2.0
    named = wk.DuelingBandit(wk.UniformPairs(), arms=["tie", "x"], seed=1)
    named.update(named.choose(distinct=True), winner="tie")
    assert named.win_matrix().tolist() == [[0.0, 1.0], [0.0, 0.0]]
    with pytest.raises(ValueError, match=r"or a share between 0 and 1, got 'ties' \(did you mean 'tie'\?\)"):
        bandit.update(duel, winner="ties")
    with pytest.raises(TypeError, match="group must be a string or a whole number"):
        bandit.update(duel._replace(group=["x"]), winner="tie")  # type: ignore[arg-type]


def test_the_arena_knows_on_which_side_its_arms_stood() -> None:
    bandit = arena()
    rng = np.random.default_rng(1)
    for _ in range(300):
        bandit.update(bandit.choose(distinct=True), winner="left" if rng.random() < 0.75 else "right")
    effect = bandit.ranking().side_effect
    assert effect is not None
    assert 0.6 < effect.low < np.log(3.0) < effect.high
    shared = wk.DuelingBandit(wk.UniformPairs(), arms=4, seed=1)
    battle = shared.choose(size=3)
    shared.update(battle, winner=battle.arms[0])
    assert {rank.arm: rank.wins for rank in shared.ranking()}[battle.arms[0]] == 2.0
    assert shared.ranking().side_effect is None
