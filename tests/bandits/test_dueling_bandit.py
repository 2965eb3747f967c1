"""`DuelingBandit`: all ways to say who may meet, feedback in all its forms, files, arms that come and go."""

import copy
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from wakeful.bandits.ranking import ranking
from wakeful.duels.duel import shown_places
from wakeful.duels.kernels import empty_pick
from wakeful.duels.policy import step

NAMES = ["a", "b", "c", "d", "e"]


def arena(policy: wk.DuelingPolicy | None = None, seed: int = 3, arms: Any = NAMES) -> wk.DuelingBandit:
    return wk.DuelingBandit(policy or wk.Sparring(wk.SIExp3()), arms, seed)


def many(bandit: wk.DuelingBandit, n: int = 200, **how: Any) -> list[tuple[Any, ...]]:
    """Choose and learn many times; the first name in the alphabet wins."""
    chosen = []
    for _ in range(n):
        duel = bandit.choose(**how)
        bandit.update(duel, winner=min(duel.arms))
        chosen.append(duel.arms)
    return chosen


def test_anybody_may_meet_anybody_even_itself() -> None:
    assert set(many(arena(wk.Sparring(wk.Uniform())), 1000)) == set(itertools.product(NAMES, NAMES))


def test_distinct_arms() -> None:
    assert all(left != right for left, right in many(arena(), distinct=True))


@pytest.mark.parametrize("awake", [["d", "b"], ("b", "d"), np.array([0, 1, 0, 1, 0], bool), iter(["b", "d"])])
def test_only_those_awake_meet(awake: Any) -> None:
    if isinstance(awake, list | tuple | np.ndarray):
        assert {name for duel in many(arena(), awake=awake) for name in duel} == {"b", "d"}
    else:
        assert set(arena().choose(awake).arms) <= {"b", "d"}


def test_groups_meet_across_only() -> None:
    groups = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "z"}
    chosen = many(arena(), 500, groups=groups)
    assert all(groups[left] != groups[right] for left, right in chosen)
    assert {frozenset(duel) for duel in chosen} == {
        frozenset(p) for p in itertools.combinations(NAMES, 2) if groups[p[0]] != groups[p[1]]
    }


def test_groups_of_those_awake_are_enough() -> None:
    assert set(arena().choose(["a", "c"], groups={"a": 1, "c": 2}).arms) == {"a", "c"}


@pytest.mark.parametrize("kind", ["list", "tuple", "iterator", "mask", "both ways"])
def test_any_pairs(kind: str) -> None:
    pairs = [("a", "b"), ("b", "c"), ("d", "d")]
    mask = np.zeros((5, 5), bool)
    for left, right in pairs:
        mask[NAMES.index(left), NAMES.index(right)] = mask[NAMES.index(right), NAMES.index(left)] = True
    forms: dict[str, Callable[[], Any]] = {
        "list": lambda: pairs,
        "tuple": lambda: tuple(pairs),
        "iterator": lambda: iter(pairs),
        "mask": lambda: mask,
        "both ways": lambda: [*pairs, ("b", "a")],
    }
    bandit = arena()
    found = set()
    for _ in range(300):
        duel = bandit.choose(pairs=forms[kind]())
        bandit.update(duel, winner=0.5)
        found.add(duel.arms)
    assert found == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("d", "d")}


def test_all_ways_to_say_the_same_choose_the_same() -> None:
    mask = ~np.eye(5, dtype=bool)
    listed = list(itertools.combinations(NAMES, 2))
    groups = {name: name for name in NAMES}
    ways: list[dict[str, Any]] = [
        {"distinct": True},
        {"pairs": mask},
        {"pairs": listed},
        {"groups": groups},
        {"size": 2},
    ]
    first, *others = (many(arena(), **how) for how in ways)
    assert all(other == first for other in others)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"awake": []}, "awake must be a set of at least one arm"),
        ({"awake": ["z"]}, "awake must be among the arms"),
        ({"awake": ["a", "a"]}, "awake must be without repeated arms"),
        (
            {"awake": ["a"], "distinct": True},
            "awake must be arms of which 2 different arms can be chosen, got \\['a'\\]",
        ),
        ({"awake": ["a", "b"], "size": 3}, "awake must be arms of which 3 different arms"),
        ({"size": 1}, "size must be a number of arms, from 2 to 5, got 1"),
        ({"size": 6}, "size must be a number of arms, from 2 to 5, got 6"),
        ({"groups": dict.fromkeys(NAMES, "x")}, "awake must be arms of which 2 different groups can be chosen"),
        ({"groups": {"a": 1}}, "groups must be given for every arm that is awake, got none for 'b'"),
        ({"groups": {"q": 1}}, "groups must be among the arms .*, got 'q'"),
        ({"pairs": []}, "pairs must be at least one"),
        ({"pairs": np.zeros((5, 5), bool)}, "pairs must be at least one"),
        ({"pairs": [("a", "z")]}, "pairs must be among the arms .*, got 'z'"),
        ({"pairs": np.eye(4, dtype=bool)}, "pairs must be a \\(5, 5\\) array"),
        ({"pairs": np.triu(np.ones((5, 5), bool))}, "pairs must be symmetric, got"),
        ({"pairs": [("a", "b")], "awake": ["a", "b"]}, "awake must be left out if pairs is given"),
        ({"pairs": [("a", "b")], "size": 2}, "size must be left out if pairs"),
    ],
)
def test_what_cannot_be_is_refused(how: dict[str, Any], words: str) -> None:
    bandit = arena()
    with pytest.raises(ValueError, match=words):
        bandit.choose(**how)
    assert bandit.rounds == 0
    assert bandit.choose(distinct=True) == arena().choose(distinct=True)  # nothing changed, no number was drawn


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"awake": "ab"}, "awake must be a list"),
        ({"groups": ["a"]}, "groups must be a mapping"),
        ({"groups": {name: [] for name in NAMES}}, "groups must be a mapping to groups that can be hashed"),
        ({"pairs": "ab"}, "pairs must be a list of pairs"),
        ({"pairs": ["ab"]}, "pairs must be a list of pairs"),
        ({"pairs": [("a", "b", "c")]}, "pairs must be a list of pairs"),
        ({"size": 2.5}, "size must be a number of arms"),
    ],
)
def test_what_is_no_such_thing_is_refused(how: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        arena().choose(**how)


def test_the_same_win_said_in_all_ways() -> None:
    bandits = [arena() for _ in range(4)]
    for _ in range(50):
        duels = [bandit.choose(distinct=True) for bandit in bandits]
        assert all(duel == duels[0] for duel in duels)
        for bandit, duel, winner in zip(bandits, duels, (duels[0].left, "left", 1.0, np.float64(1.0)), strict=True):
            bandit.update(duel, winner=winner)
    assert all(np.array_equal(bandit.state.inner_losses, bandits[0].state.inner_losses) for bandit in bandits)


def test_ties_count_one_half() -> None:
    bandit = arena()
    duel = bandit.choose(distinct=True)
    bandit.update(duel, winner=0.5)
    i, j = (NAMES.index(name) for name in duel.arms)
    wins = bandit.win_matrix()
    assert (wins[i, j], wins[j, i], wins.sum()) == (0.5, 0.5, 1.0)


def test_an_arm_that_meets_itself_shares_the_win() -> None:
    one, two = arena(), arena()
    duels = [bandit.choose(pairs=[("c", "c")]) for bandit in (one, two)]
    one.update(duels[0], winner="c")
    two.update(duels[1], winner=0.5)
    assert np.array_equal(one.state.inner_losses, two.state.inner_losses)
    assert one.win_matrix()[2, 2] == 1.0


def test_arms_may_be_numbers_and_may_be_called_left() -> None:
    numbers = arena(arms=3)
    duel = numbers.choose([0, 1], distinct=True)
    numbers.update(duel, winner=1)
    assert numbers.win_matrix()[1, 0] == 1.0
    odd = arena(arms=["left", "right"])
    duel = odd.choose(distinct=True)
    odd.update(duel, winner="left")  # the arm of that name, on whichever side
    assert odd.win_matrix()[0, 1] == 1.0


@pytest.mark.parametrize("winner", ["z", "lef", 1.5, -0.1, None, True, float("nan"), [1.0], 2, np.array([0.5, 0.5])])
def test_winners_that_cannot_be_are_refused(winner: Any) -> None:
    bandit = arena()
    duel = bandit.choose(distinct=True)
    before = copy.deepcopy(bandit.state)
    with pytest.raises((ValueError, TypeError), match="winner must be"):
        bandit.update(duel, winner=winner)
    assert all(np.array_equal(a, b) for a, b in zip(before, bandit.state, strict=True))
    assert not bandit.win_matrix().any()


def test_a_typo_gets_a_hint() -> None:
    bandit = arena(arms=["espresso", "ristretto"])
    with pytest.raises(ValueError, match="did you mean 'espresso'"):
        bandit.update(bandit.choose(distinct=True), winner="expresso")


def test_duels_go_to_json_and_back() -> None:
    one, two = arena(), arena()
    for n in range(60):
        size = 2 + n % 3
        duel = one.choose(size=size)
        assert two.choose(size=size) == duel
        back = wk.Duel.from_dict(json.loads(json.dumps(duel.to_dict())))
        assert back == duel
        assert hash(back) == hash(duel)
        one.update(duel, winner=max(duel.arms))
        two.update(back, winner=max(duel.arms))
    assert all(np.array_equal(a, b) for a, b in zip(one.state, two.state, strict=True))
    assert duel != "something else"


@pytest.mark.parametrize(
    "change",
    [
        {"arms": ["a", "z"]},
        {"arms": ["a"]},
        {"arms": ["a", "b", "c"]},
        {"probabilities": [0.1, 0.3]},
        {"probabilities": [2.0, 0.25]},
        {"allowed": [["a"], ["b"]]},
        {"allowed": [["b", "a", "c", "d", "e"], ["b"]]},
        {"laws": [[0.5] * 5, [0.5] * 5]},
        {"laws": [[1.0, 0.0, 0.0, 0.0, 0.0]]},
        {"memos": [-1.0, 0.0]},
        {"memos": [float("inf"), 0.0]},
        {"clock": 0},
        {"policy": "StablePair"},
        {"policy": 7},
    ],
)
def test_duels_that_cannot_be_are_refused_and_nothing_changes(change: dict[str, Any]) -> None:
    bandit = arena()
    record = bandit.choose(distinct=True).to_dict() | change
    before = copy.deepcopy(bandit.state)
    with pytest.raises((ValueError, TypeError), match=" must be "):
        bandit.update(wk.Duel.from_dict(record), winner="left")
    assert all(np.array_equal(a, b) for a, b in zip(before, bandit.state, strict=True))


@pytest.mark.parametrize("record", [7, {}, {"arms": 1}, None])
def test_records_that_are_none_are_refused(record: Any) -> None:
    with pytest.raises(ValueError, match="duel must be a record of"):
        wk.Duel.from_dict(record)
    with pytest.raises((TypeError, ValueError), match=r"duel must be a (Duel|record of)"):
        arena().update(record, winner="left")


def test_late_and_reordered_feedback_gives_the_same_state() -> None:
    one, two = arena(), arena()
    duels = [one.choose(distinct=True) for _ in range(30)]
    for duel in duels:
        assert two.choose(distinct=True) == duel
        one.update(duel, winner=duel.right)
    for duel in reversed(duels):
        two.update(duel, winner=duel.right)
    for a, b in zip(one.state, two.state, strict=True):
        assert a == pytest.approx(b, rel=1e-12)


@pytest.mark.parametrize("size", [2, 4])
def test_a_file_continues_identically(tmp_path: Path, size: int) -> None:
    bandit = arena()
    many(bandit, 40, size=size)
    bandit.retire_arm("e")
    bandit.save(tmp_path / "arena.wakeful")
    back = wk.DuelingBandit.load(tmp_path / "arena.wakeful")
    twin = copy.deepcopy(bandit)
    assert (back.rounds, back.arms, back.retired, back.policy) == (40, tuple(NAMES), ("e",), bandit.policy)
    assert np.array_equal(back.win_matrix(), bandit.win_matrix())
    assert many(back, 40, distinct=True) == many(bandit, 40, distinct=True) == many(twin, 40, distinct=True)


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    wk.Bandit(wk.SIExp3(), 3).save(tmp_path / "bandit.wakeful")
    with pytest.raises(ValueError, match="it holds a wakeful bandit"):
        wk.DuelingBandit.load(tmp_path / "bandit.wakeful")


def test_a_new_arm_is_one_that_slept() -> None:
    small, large = arena(arms=["a", "b", "c"]), arena(arms=["a", "b", "c", "d"])
    early = small.choose(distinct=True)
    assert large.choose(["a", "b", "c"], distinct=True).arms == early.arms
    assert small.add_arm("d") == "d"
    small.update(early, winner="left")  # made before the arm came
    many(small, 100, distinct=True)
    assert {name for duel in many(small, 200, distinct=True) for name in duel} == {"a", "b", "c", "d"}
    with pytest.raises(ValueError, match="name must be different from"):
        small.add_arm("a")


def test_retired_arms_are_not_chosen() -> None:
    bandit = arena()
    many(bandit, 20)
    bandit.retire_arm("c")
    assert "c" not in {name for duel in many(bandit, 300) for name in duel}
    with pytest.raises(ValueError, match="pairs must be without arms that are retired, got 'c'"):
        bandit.choose(pairs=[("a", "c")])


def test_battles_choose_distinct_arms_and_learn_from_the_winner() -> None:
    bandit = arena(wk.Sparring(wk.SIExp3(eta="sqrt")))
    chosen = many(bandit, 3000, size=3)
    assert all(len(set(arms)) == 3 for arms in chosen)
    assert sum("a" in arms for arms in chosen[-1000:]) > 900  # the first name always wins
    groups = {"a": 1, "b": 1, "c": 2, "d": 3, "e": 3}
    assert all(len({groups[n] for n in arms}) == 3 for arms in many(bandit, 100, size=3, groups=groups))
    duel = bandit.choose(size=3)
    with pytest.raises(ValueError, match="winner must be one of"):
        bandit.update(duel, winner=0.5)


def test_the_winner_of_a_battle_beats_every_other() -> None:
    bandit = arena()
    duel = bandit.choose(size=4)
    bandit.update(duel, winner=duel.arms[2])
    wins = bandit.win_matrix()
    assert wins.sum() == 3.0
    assert wins[NAMES.index(duel.arms[2])].sum() == 3.0


def test_a_ranking_for_people() -> None:
    bandit = arena(wk.Sparring(wk.Uniform()))
    many(bandit, 800, distinct=True)
    ranks = bandit.ranking()
    assert [rank.arm for rank in ranks] == NAMES
    assert all(rank.low < rank.strength < rank.high for rank in ranks)
    assert sum(rank.strength for rank in ranks) == pytest.approx(0.0, abs=1e-9)
    assert sum(rank.wins for rank in ranks) == 800
    assert len(str(ranks).splitlines()) == 6
    assert ranks[0] == ranks[:2][0]


def test_intervals_of_the_ranking_hold_what_they_should() -> None:
    rng = np.random.default_rng(5)
    truth = np.array([0.8, 0.3, 0.0, -0.4, -0.7])
    covered = 0
    for _ in range(200):
        wins = np.zeros((5, 5))
        for i, j in itertools.combinations(range(5), 2):
            wins[i, j] = rng.binomial(60, 1.0 / (1.0 + np.exp(truth[j] - truth[i])))
            wins[j, i] = 60 - wins[i, j]
        ranks = {rank.arm: rank for rank in ranking(range(5), wins)}
        covered += sum(ranks[k].low <= truth[k] <= ranks[k].high for k in range(5))
    assert 0.92 <= covered / 1000 <= 0.98


def test_the_bandit_draws_what_the_loop_draws() -> None:
    for policy in (wk.Sparring(wk.SIExp3()), wk.Sparring(wk.SleepingUCB())):
        for size in (2, 3):
            bandit = arena(policy, seed=11)
            pairs = ~np.eye(5, dtype=bool)
            coins = np.random.default_rng(1).random(300)
            preferences = np.triu(np.full((5, 5), 0.8), 1) + np.tril(np.full((5, 5), 0.2), -1) + np.eye(5) / 2
            state = policy.start(5, size)
            choices, zeros = np.zeros((300, size), np.int64), np.zeros(300, np.int64)
            rounds = pairs[None], zeros, preferences[None], zeros, coins, np.random.default_rng(11), choices
            step(policy, "play", state, 5)(*rounds, empty_pick(size, 5), policy.fields(state, 5))
            for t in range(300):
                duel = bandit.choose(size=size)
                arms = [NAMES.index(name) for name in duel.arms]
                assert arms == choices[t].tolist()
                number, rest = divmod(coins[t] * size * (size - 1) / 2, 1.0)
                left, right = list(itertools.combinations(range(size), 2))[int(number)]
                won = left if rest < preferences[arms[left], arms[right]] else right
                bandit.update(duel, winner=duel.arms[won])


def test_a_battle_from_another_copy_makes_room_for_itself() -> None:
    one, two = arena(), arena()
    battle = one.choose(size=4)
    two.update(battle, winner=battle.arms[3])
    assert two.state.inner_losses.shape == (4, 5, 5)
    assert two.choose(size=4).arms != ()
    assert many(two, 20, size=4)


def test_a_refused_battle_changes_nothing() -> None:
    one, two = arena(), arena()
    record = one.choose(size=5).to_dict()
    record["probabilities"] = [0.9] * 5
    with pytest.raises(ValueError, match=r"duel\.probabilities must be"):
        two.update(wk.Duel.from_dict(record), winner=record["arms"][0])
    assert two.state.inner_losses.shape == (2, 5, 5)
    record["arms"] = ["a", "a", "b", "c", "d"]
    with pytest.raises(ValueError, match=r"duel\.arms must be two arms, or more that all differ"):
        two.update(wk.Duel.from_dict(record), winner="a")


class NoRoom(wk.Sparring):
    """A policy that cannot grow."""

    def grow(self, state: Any, n_arms: int, size: int = 2) -> Any:
        raise MemoryError


def test_a_state_that_cannot_grow_leaves_all_as_it_was() -> None:
    bandit = arena(NoRoom(wk.Uniform()))  # which takes less time to compile than the default
    for _ in range(2):
        with pytest.raises(MemoryError):
            bandit.choose(size=4)
        with pytest.raises(MemoryError):
            bandit.add_arm("f")
    assert bandit.arms == tuple(NAMES)
    assert bandit.win_matrix().shape == (5, 5)
    many(bandit, 20, distinct=True)


def test_what_was_remembered_of_sets_is_forgotten_when_arms_change() -> None:
    bandit = arena(wk.Sparring(wk.Uniform()), arms=["a", "b", "c"])
    many(bandit, 20, distinct=True)
    bandit.add_arm("d")
    assert {name for duel in many(bandit, 200, distinct=True) for name in duel} == {"a", "b", "c", "d"}
    bandit.retire_arm("a")
    assert {name for duel in many(bandit, 200, distinct=True) for name in duel} == {"b", "c", "d"}


def test_laws_shorter_than_any_that_was_made_are_refused() -> None:
    record = arena(arms=["a", "b"]).choose(distinct=True).to_dict()
    with pytest.raises(ValueError, match=r"duel\.laws must be rows of 5 probabilities"):
        arena().update(wk.Duel.from_dict(record), winner="left")


@pytest.mark.parametrize("part", ["arms", "probabilities", "allowed", "memos"])
def test_a_duel_without_a_part_is_refused(part: str) -> None:
    bandit = arena()
    missing: Any = {part: None}
    duel = bandit.choose(distinct=True)._replace(**missing)
    with pytest.raises(TypeError, match="duel must be one whose parts are tuples"):
        bandit.update(duel, winner="left")
    missing[part] = ()
    with pytest.raises(ValueError, match="duel must be of two or more arms"):
        bandit.update(duel._replace(**missing), winner="left")


def test_truth_values_win_nothing() -> None:
    bandit = arena(arms=2)
    duel = bandit.choose(distinct=True)
    for winner in (True, np.True_, False, np.False_):
        with pytest.raises(ValueError, match="winner must be"):
            bandit.update(duel, winner=winner)
    with pytest.raises(TypeError, match="distinct must be True or False"):
        bandit.choose(distinct="no")  # type: ignore[arg-type]
    assert bandit.choose(distinct=np.True_).arms  # type: ignore[arg-type]


def test_groups_that_cannot_be_found_again_are_refused() -> None:
    with pytest.raises(ValueError, match="groups must be a mapping to groups that can be found again, got nan"):
        arena().choose(groups={**dict.fromkeys(NAMES, 1), "a": float("nan")})


class Asking(dict[str, int]):
    """A mapping that asks the arena while it is asked."""

    def __init__(self, bandit: wk.DuelingBandit) -> None:
        super().__init__({name: n for n, name in enumerate(NAMES)})
        self.bandit = bandit

    def keys(self) -> Any:
        self.bandit.choose()
        return super().keys()


def test_a_mapping_may_ask_the_very_bandit() -> None:
    bandit = arena()
    assert bandit.choose(groups=Asking(bandit)).arms


def test_files_with_wins_below_zero_are_refused(tmp_path: Path) -> None:
    bandit = arena()
    bandit._wins[0, 1] = -1.0
    bandit.save(tmp_path / "arena.wakeful")
    with pytest.raises(ValueError, match="state must be one whose win_matrix holds"):
        wk.DuelingBandit.load(tmp_path / "arena.wakeful")


def test_a_file_of_battles_can_be_saved_again(tmp_path: Path) -> None:
    bandit = arena()
    many(bandit, 5, size=3)
    for _ in range(2):
        bandit.save(tmp_path / "arena.wakeful")
        bandit = wk.DuelingBandit.load(tmp_path / "arena.wakeful")
    assert bandit.state.inner_losses.shape[0] == 3
    many(bandit, 5, size=3)


def test_what_is_no_dueling_policy_is_refused() -> None:
    for value, words in ((wk.SIExp3(), "a policy for duels"), (wk.Sparring, "an instance"), (7, "a policy for duels")):
        with pytest.raises(TypeError, match=f"policy must be {words}"):
            wk.DuelingBandit(value, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="policy must be a policy for bandits"):
        wk.Sparring(wk.Sparring())  # type: ignore[arg-type]


def test_it_prints() -> None:
    assert repr(arena()) == f"<DuelingBandit {wk.Sparring()!r}, 5 arms, 0 rounds>"
    assert eval(repr(wk.Sparring(wk.SleepingUCB())), vars(wk)) == wk.Sparring(wk.SleepingUCB())


def test_places_are_drawn_evenly_and_learned_from_by_role() -> None:
    uniforms = np.random.default_rng(3).random((6_000, 6)).tolist()
    seen = [shown_places(row) for row in uniforms]
    counts = [seen.count(places) for places in itertools.permutations(range(3))]
    assert sum((n - 1_000) ** 2 / 1_000 for n in counts) < 20.5  # chi-square, five degrees of freedom, level 0.001
    left, right = (wk.DuelingBandit(wk.Sparring(), NAMES, seed=1) for _ in range(2))
    one = left.propose(None, [0.1, 0.2, 0.3, 0.4], distinct=True)
    other = one._replace(shown=one.shown[::-1])
    assert sorted(one.shown) == [0, 1]
    assert one.left == other.right == one.in_order[0]
    assert one.right == other.left == one.in_order[1]
    assert one.probability == math.prod(one.probabilities) / 2
    for bandit, duel, winners in ((left, one, ("left", "left", "right")), (right, other, ("right", "right", "left"))):
        bandit.admit(duel)
        for winner in winners:
            bandit.update(duel, winner=winner)
    assert all(np.array_equal(a, b) for a, b in zip(left.state, right.state, strict=True))
    assert left.ranking().side_effect.value > 0.0  # type: ignore[union-attr]
    assert right.ranking().side_effect.value < 0.0  # type: ignore[union-attr]


def test_a_share_is_that_of_the_arm_on_the_left() -> None:
    for shown in ((0, 1), (1, 0)):
        bandit = wk.DuelingBandit(wk.UniformPairs(), NAMES, seed=1)
        duel = bandit.choose(distinct=True)._replace(shown=shown)
        bandit.update(duel, winner=0.75)
        left, right = NAMES.index(duel.left), NAMES.index(duel.right)
        assert bandit.win_matrix()[left, right] == 0.75
        assert bandit.win_matrix()[right, left] == 0.25


def test_the_policy_to_start_with_is_the_default() -> None:
    assert wk.DuelingBandit(arms=NAMES, seed=1).policy == wk.AutoPairs()


def test_a_duel_is_refused_whose_places_are_none() -> None:
    bandit = arena(seed=1)
    duel = bandit.choose(distinct=True)
    for shown in ((0, 0), (1,), (0, 2), (True, False)):
        with pytest.raises(ValueError, match="shown must be the places 0 to 1"):
            bandit.update(duel._replace(shown=shown), winner="left")
        with pytest.raises((TypeError, ValueError), match="shown must be"):
            wk.Duel.from_dict({**duel.to_dict(), "shown": list(shown)})
    old = duel.to_dict()
    del old["shown"]
    assert wk.Duel.from_dict(old).left == duel.arms[0]


def test_calls_without_feedback_differ() -> None:
    bandit = wk.DuelingBandit(arms=10, seed=3)
    pairs = {frozenset(bandit.choose(distinct=True).arms) for _ in range(200)}
    assert len(pairs) > 30
