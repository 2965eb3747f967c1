"""`check_dueling_policy`: what every dueling policy must get right, ours and yours.

Each check is a function of a policy that raises `AssertionError` with a sentence. `CHECKS` lists them all;
`check_dueling_policy` runs them in order.
"""

import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np

from wakeful.duel import Duel
from wakeful.duel_policy import (
    NO_LAW,
    DuelingPolicy,
    DuelKernels,
    Pick,
    a_dueling_policy,
    empty_pick,
    partners,
    remember,
    share_win,
    step,
)
from wakeful.dueling_bandit import DuelingBandit
from wakeful.entries import FINE, NO_MEMO, Floats, Ints, Mask
from wakeful.pairs import distinct_pairs
from wakeful.recipe import Recipe, subclasses

EXACT = 1e-9  # laws that should be the same differ by rounding only
N_ARMS = 4
MORE_ARMS = 6  # those that a policy grows to
SLACK = 0.05  # how much less often than by chance the right arms may be played in a short run
STREAK = 100_000  # wins of one arm, compiled; a twentieth of that in plain Python
ORDER_ROUNDS = 1_000
WINNER_ROUNDS = 100

Literal = Callable[[Mask, Floats, Floats, Floats], Any]


def check_dueling_policy(policy: DuelingPolicy, literal: Literal | None = None) -> None:
    """Run every check on `policy`; raise `AssertionError` at the first that fails, naming it.

    Parameters:
        policy: an instance of your class
        literal: an independent implementation to compare with, draw by draw: a function of the pairs that may meet
            (T, K, K), preferences (K, K), uniforms (T, 4) and coins (T,) that returns the arms played, (T, 2). Of the
            uniforms, two belong to each arm: the law's coin and what draws from it; left wins where its coin is below
            its preference.

    >>> from wakeful import Sparring, Uniform
    >>> check_dueling_policy(Sparring(Uniform()))
    """
    a_dueling_policy(policy)
    for check in CHECKS:
        try:
            check(policy)
        except Exception as problem:
            name = check.__name__.removeprefix("check_").replace("_", " ")
            again = f"wakeful.duel_suite.{check.__name__}(policy) repeats it"
            raise AssertionError(f"{policy!r} fails the check {name!r}: {problem} ({again})") from problem
    if literal is not None:
        check_literal(policy, literal)


def check_is_data(policy: DuelingPolicy) -> None:
    """Parameters are frozen, print as the code that makes them, and go to JSON and back."""
    assert is_dataclass(policy), "a policy must be a dataclass"
    names = [field.name for field in fields(policy)]
    try:
        setattr(policy, names[0] if names else "anything", None)
    except FrozenInstanceError:
        pass
    else:
        raise AssertionError("a policy must be a frozen dataclass")
    rule = "a policy must be defined at the top of a module, so that it prints as the code that makes it"
    assert "<locals>" not in type(policy).__qualname__, rule
    scope = {cls.__name__: cls for cls in (*subclasses(Recipe), *_kinds(policy))}
    again = eval(repr(policy), scope)
    assert again == policy, f"eval(repr(policy)) must be the policy, got {policy!r}"
    assert hash(again) == hash(policy), "equal policies must have equal hashes"
    assert _from_json(policy) == policy, "JSON must bring it back"


def check_state(policy: DuelingPolicy) -> None:
    """The state is a named tuple of finite arrays, made anew by every `start`, and does not grow with the rounds."""
    state, other, duel = (policy.start(*arguments) for arguments in ((N_ARMS,), (N_ARMS,), (N_ARMS, 2)))
    assert isinstance(state, tuple), f"a state must be a named tuple, got {state!r}"
    assert hasattr(state, "_fields"), f"a state must be a named tuple, got {state!r}"
    for name, a, b, c in zip(state._fields, state, other, duel, strict=True):
        assert isinstance(a, np.ndarray), f"state.{name} must be an array of at least one dimension, got {a!r}"
        assert a.ndim >= 1, f"state.{name} must be an array of at least one dimension, got {a!r}"
        assert a.dtype.kind in "biuf", f"state.{name} must be an array of numbers, got {a.dtype}"
        assert not np.shares_memory(a, b), f"start must make state.{name} anew"
        assert a.shape == c.shape, f"start must make room for two arms at a time by itself, got state.{name} {a.shape}"
    shapes = [array.shape for array in state]
    ring = _Ring(policy, N_ARMS)
    _play_rounds(ring, 500, seed=1)
    assert [array.shape for array in ring.state] == shapes, "the state must not grow"
    _assert_finite(ring.state)


def check_uncompiled(policy: DuelingPolicy) -> None:
    """Without the compiler, in a process of its own, the policy makes the same choices; no index leaves its array."""
    if policy.kernels is None:
        return
    rule = "a policy with kernels must stand in a module that another process can import, not in a script"
    assert type(policy).__module__ != "__main__", rule
    task = json.dumps([sorted({kind.__module__ for kind in _kinds(policy)}), policy.to_dict()])
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    command = [sys.executable, "-c", "import sys, wakeful.duel_suite; wakeful.duel_suite.replay(sys.argv[1])", task]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"a policy with kernels must be importable and run uncompiled: {done.stderr[-500:]}"
    assert json.loads(done.stdout) == _replayed(policy), "compiled and uncompiled must make the same choices"


def check_law(policy: DuelingPolicy) -> None:
    """Every law is one on exactly the arms allowed, whoever may meet whom, and asking for it changes nothing."""
    for n_arms in (1, 2, N_ARMS, 7):
        ring, rng = _Ring(policy, n_arms), np.random.default_rng(n_arms)
        for t, (setting, pairs) in enumerate(_rounds_of(60, n_arms, seed=2)):
            try:
                _try_round(ring, pairs, rng)
            except AssertionError as problem:
                raise AssertionError(f"{problem}, with {setting} of {n_arms} arms in round {t + 1}") from problem


def check_battles(policy: DuelingPolicy) -> None:
    """Sets of three and four arms are drawn from laws as well, and room for them leaves a duel what it is."""
    for size in (3, 4):
        ring, rng = _Ring(policy, size + 2, size), np.random.default_rng(size)
        for _ in range(50):
            _try_round(ring, _distinct_sets(rng, size + 2, size), rng, size)
        _assert_finite(ring.state)
    duel, roomy, rng = _Ring(policy, N_ARMS), _Ring(policy, N_ARMS, 4), np.random.default_rng(3)
    for _, pairs in _rounds_of(80, N_ARMS, seed=3):
        uniforms, shares = rng.random(4), _won_by(int(rng.integers(2)))
        pick, other = (one.choose(pairs, uniforms) for one in (duel, roomy))
        assert _same_laws(pick, other), f"two of a battle must be a duel, got {other.laws} for {pick.laws}"
        duel.update(pick, shares)
        roomy.update(other, shares)


def check_repeatable(policy: DuelingPolicy) -> None:
    """The same uniforms give the same choices, one step at a time or in one run, of duels and of battles."""
    for size, n_arms in ((2, N_ARMS), (3, 5)):
        chance = np.random.default_rng([size, 4])
        masks = _masks_of(150, n_arms, 4)
        if size > 2:
            masks = np.array([_distinct_sets(chance, n_arms, size) for _ in range(60)])
        preferences, coins = _random_preferences(n_arms, chance), chance.random(len(masks))
        steps = []
        for _ in range(2):
            ring, rng = _Ring(policy, n_arms, size), np.random.default_rng(5)
            rounds = zip(masks, coins, strict=True)
            steps.append([_play_round(ring, pairs, rng, preferences, coin, size) for pairs, coin in rounds])
        assert steps[0] == steps[1], "the same uniforms must repeat the choices"
        run = _Ring(policy, n_arms, size).play(masks, preferences, coins, np.random.default_rng(5), size)
        assert steps[0] == run.tolist(), "playing all rounds at once must make the choices of single steps"


def check_saved(policy: DuelingPolicy) -> None:
    """A dueling bandit saved in the middle continues as if nothing had happened."""
    masks, rng = _masks_of(100, N_ARMS, 6), np.random.default_rng(6)
    shares = rng.integers(2, size=len(masks)).astype(np.float64)
    arena = DuelingBandit(policy, N_ARMS, seed=7)
    arena.choose(size=3)  # makes room for three, and is never heard of again
    _duels(arena, masks[:50], shares[:50])
    pending = [arena.choose(pairs=masks[0]), arena.choose(size=3)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved.wakeful"
        arena.save(path)
        loaded = DuelingBandit.load(path)
    assert _frozen(loaded.state) == _frozen(arena.state), "what is loaded must equal what was saved"
    for one in (arena, loaded):
        for duel in pending:
            one.update(Duel.from_dict(json.loads(json.dumps(duel.to_dict()))), winner=duel.right)
    after = [_duels(one, masks[50:], shares[50:]) for one in (arena, loaded)]
    assert after[0] == after[1], "a loaded bandit must continue identically"


def check_late_feedback(policy: DuelingPolicy) -> None:
    """Feedback may come late, in another order, or never; where the policy says so, its order is irrelevant."""
    masks = _masks_of(90, N_ARMS, 8)
    heard = []
    for order in range(3):
        ring, rng = _Ring(policy, N_ARMS), np.random.default_rng(8)
        picks = [ring.choose(pairs, rng.random(4)) for pairs in masks]
        feedback = [(pick, _won_by(int(rng.integers(2)))) for t, pick in enumerate(picks) if t % 3]
        shuffled = [feedback[i] for i in np.random.default_rng(order).permutation(len(feedback))]
        for pick, shares in feedback if order == 0 else shuffled:
            ring.update(pick, shares)
        heard.append(list(_laws(ring, masks)))
    if policy.order_free:
        for first, *others in zip(*heard, strict=True):
            assert all(_same_laws(first, other) for other in others), "the order of feedback must not matter"


def check_relabelling(policy: DuelingPolicy) -> None:
    """Other labels for the arms give the same laws under those labels, with the same coins."""
    if not policy.symmetric:
        return
    label = np.array([2, 0, 3, 1])  # arm k is called label[k] in the other ring
    ring, other, rng = _Ring(policy, N_ARMS), _Ring(policy, N_ARMS), np.random.default_rng(9)
    for _, pairs in _rounds_of(120, N_ARMS, seed=9):
        uniforms, shares = rng.random(4), _won_by(int(rng.integers(2)))
        renamed = np.empty_like(pairs)
        renamed[np.ix_(label, label)] = pairs
        pick = ring.choose(pairs, uniforms)
        expected = np.empty_like(pick.laws)
        expected[:, label] = pick.laws
        twin = other.choose(renamed, _redrawn(pick, uniforms, expected, label))
        same = np.allclose(twin.laws, expected, rtol=0, atol=EXACT) and np.array_equal(twin.arms, label[pick.arms])
        assert same, f"{twin.laws} must be {pick.laws} under other labels"
        ring.update(pick, shares)
        other.update(twin, shares)


def check_ties(policy: DuelingPolicy) -> None:
    """A win may be shared: in halves, in other parts, among all arms of a battle."""
    for size, shared in ((2, [0.5, 0.5]), (2, [0.25, 0.75]), (3, [1 / 3, 1 / 3, 1 / 3]), (3, [0.5, 0.0, 0.5])):
        ring, rng = _Ring(policy, N_ARMS, size), np.random.default_rng(10)
        for _, mask in _rounds_of(60, N_ARMS, seed=10):
            pairs = mask if size == 2 else _distinct_sets(rng, N_ARMS, size)
            try:
                ring.update(ring.choose(pairs, rng.random(2 * size)), np.array(shared))
                ring.ask(pairs, rng.random(2 * size))
                _assert_finite(ring.state)
            except Exception as problem:
                raise AssertionError(f"a win shared as {shared} must be accepted: {problem}") from problem


def check_winner(policy: DuelingPolicy) -> None:
    """An arm that always wins is not played less than without feedback, nor than one that always loses."""
    none = _share_of_winner(policy, {})
    for name, sides in (("on the left", [0]), ("on the right", [1]), ("on both sides", [0, 1])):
        wins, loses = (_share_of_winner(policy, dict.fromkeys(sides, outcome)) for outcome in (1.0, 0.0))
        told = f"an arm that always wins {name} must not be played less than"
        assert wins >= loses - SLACK, f"{told} one that always loses there, got {wins:.2f} and {loses:.2f} of all plays"
        assert wins >= none - SLACK or len(sides) == 1, f"{told} without feedback, got {wins:.2f} and {none:.2f}"


def check_order(policy: DuelingPolicy) -> None:
    """Where three arms are clearly ordered, the best two meet at least as often as they do by chance."""
    met = []
    for best in range(3):
        rank = (np.arange(3) - best) % 3
        preferences = np.array([0.05, 0.2, 0.5, 0.8, 0.95])[2 + rank - rank[:, np.newaxis]]
        masks = np.repeat(distinct_pairs(3)[np.newaxis], ORDER_ROUNDS, axis=0)
        coins = np.random.default_rng(11).random(ORDER_ROUNDS)
        choices = _Ring(policy, 3).play(masks, preferences, coins, np.random.default_rng(12))
        met.append(float(np.mean((rank[choices] < 2).all(axis=1))))
    often = float(np.mean(met))
    assert often >= 1 / 3 - SLACK, f"the best two of three must meet in 0.33 of all rounds or more, got {often:.2f}"


def check_grow(policy: DuelingPolicy) -> None:
    """Arms that are added are as if they had been asleep, and room for larger battles changes no duel."""
    ring, sleepy, rng = _Ring(policy, N_ARMS), _Ring(policy, MORE_ARMS), np.random.default_rng(13)
    for _, pairs in _rounds_of(100, N_ARMS, seed=13):
        uniforms, shares = rng.random(4), _won_by(int(rng.integers(2)))
        asleep = np.pad(pairs, (0, MORE_ARMS - N_ARMS))
        pick = ring.choose(pairs, uniforms)
        wide = _padded(pick, MORE_ARMS)
        sleepy.choose(asleep, _redrawn(pick, uniforms, wide.laws, np.arange(N_ARMS)))  # it counts the same decision
        ring.update(pick, shares)
        sleepy.update(wide, shares)
    before = _frozen(ring.state)
    larger = _grown(ring, MORE_ARMS, 2)
    for one, other in zip(*(_laws(r, _masks_of(60, MORE_ARMS, 14)) for r in (larger, sleepy)), strict=True):
        assert _same_laws(one, other), f"new arms must be as if asleep so far, got {one.laws} for {other.laws}"
    roomy = _grown(ring, N_ARMS, N_ARMS)
    for one, other in zip(*(_laws(r, _masks_of(60, N_ARMS, 15)) for r in (roomy, ring)), strict=True):
        assert _same_laws(one, other), f"room for battles must not change a duel, got {one.laws} for {other.laws}"
    for _ in range(10):
        _try_round(roomy, distinct_pairs(N_ARMS), rng, N_ARMS)
    assert _frozen(ring.state) == before, "grow must not change the state it is given"


def check_streaks(policy: DuelingPolicy) -> None:
    """A hundred thousand wins of one arm, on either side, and the fall after them leave laws and the state finite."""
    ring, rng = _Ring(policy, N_ARMS), np.random.default_rng(16)
    masks = _masks_of(100, N_ARMS, 16)
    for side in range(2):
        pick = ring.choose(distinct_pairs(N_ARMS), rng.random(4))
        ring.repeat(pick, _won_by(side), STREAK if ring.compiled else STREAK // 20)
        _assert_finite(ring.state)
        list(_laws(ring, masks))
    falls = np.full((N_ARMS, N_ARMS), 0.5)
    falls[pick.arms[1], :], falls[:, pick.arms[1]] = 0.0, 1.0
    pair_sets = np.concatenate([masks] * (20 if ring.compiled else 5))
    ring.play(pair_sets, falls, rng.random(len(pair_sets)), rng)
    _assert_finite(ring.state)
    list(_laws(ring, masks))


def check_kernels_match_methods(policy: DuelingPolicy) -> None:
    """A class that has kernels and also plain methods means the same by both."""
    if policy.kernels is None or type(policy).law is DuelingPolicy.law:
        return
    ring, plain, rng = _Ring(policy, N_ARMS), _Ring(policy, N_ARMS, compiled=False), np.random.default_rng(17)
    for _, pairs in _rounds_of(120, N_ARMS, seed=17):
        uniforms, shares = rng.random(4), _won_by(int(rng.integers(2)))
        pick, other = (one.choose(pairs, uniforms) for one in (ring, plain))
        assert _same_laws(pick, other), f"the method law must agree with the kernel, got {other.laws} for {pick.laws}"
        assert np.allclose(pick.memos, other.memos), f"remember must agree, got {other.memos} for {pick.memos}"
        ring.update(pick, shares)
        plain.update(other, shares)


def check_literal(policy: DuelingPolicy, literal: Literal) -> None:
    """Draw by draw, the policy plays what an independent implementation plays."""
    for seed in range(3):
        chance = np.random.default_rng([seed, 18])
        masks, preferences = _masks_of(200, N_ARMS, 18 + seed), _random_preferences(N_ARMS, chance)
        coins = chance.random(len(masks))
        expected = literal(masks, preferences, np.random.default_rng(seed).random((len(masks), 4)), coins)
        played = _Ring(policy, N_ARMS).play(masks, preferences, coins, np.random.default_rng(seed))
        same = np.array_equal(played, expected)
        assert same, f"{policy!r} must play what its literal version plays (seed {seed})"


CHECKS: tuple[Callable[[DuelingPolicy], None], ...] = (
    check_is_data,
    check_state,
    check_uncompiled,
    check_law,
    check_battles,
    check_repeatable,
    check_saved,
    check_late_feedback,
    check_relabelling,
    check_ties,
    check_winner,
    check_order,
    check_grow,
    check_streaks,
    check_kernels_match_methods,
)


def _kinds(recipe: Recipe) -> Iterator[type]:
    """Yield the classes of a policy and of the recipes in it."""
    for field in fields(recipe):  # type: ignore[arg-type]
        if isinstance(getattr(recipe, field.name), Recipe):
            yield from _kinds(getattr(recipe, field.name))
    yield type(recipe)


def _from_json(policy: DuelingPolicy) -> DuelingPolicy:
    """Return the policy after a way through JSON."""
    return DuelingPolicy.from_dict(json.loads(json.dumps(policy.to_dict())))


def _duels(arena: DuelingBandit, masks: Mask, shares: Floats) -> list[Any]:
    """Let a bandit play the rounds."""
    arms = []
    for pairs, share in zip(masks, shares.tolist(), strict=True):
        duel = arena.choose(pairs=pairs)
        arena.update(duel, winner=share)
        arms.append(duel.arms)
    return arms


def _share_of_winner(policy: DuelingPolicy, outcome: dict[int, float]) -> float:
    """Return how often an arm is played that has `outcome` on these sides and ties else, on average over all arms."""
    pairs, plays = distinct_pairs(3), []
    for arm in range(3):
        ring, rng = _Ring(policy, 3), np.random.default_rng(20)
        for _ in range(WINNER_ROUNDS):
            pick = ring.choose(pairs, rng.random(4))
            side = pick.arms.tolist().index(arm) if arm in pick.arms else -1
            share = outcome.get(side, 0.5)
            if outcome:
                ring.update(pick, np.array([share, 1.0 - share] if side == 0 else [1.0 - share, share]))
            plays.append(side >= 0)
    return float(np.mean(plays))


def _replayed(policy: DuelingPolicy) -> list[Any]:
    """Return the choices that `check_uncompiled` compares."""
    chance = np.random.default_rng(21)
    battles = np.array([_distinct_sets(chance, 5, 3) for _ in range(40)])
    rounds = ((2, _masks_of(120, N_ARMS, 21)), (3, battles))
    return [
        _Ring(policy, masks.shape[1], size)
        .play(
            masks,
            _random_preferences(masks.shape[1], chance),
            chance.random(len(masks)),
            np.random.default_rng(22),
            size,
        )
        .tolist()
        for size, masks in rounds
    ]


def replay(task: str) -> None:
    """Play the rounds of `check_uncompiled` with the policy described by `task` and print the choices."""
    modules, record = json.loads(task)
    for module in modules:
        importlib.import_module(module)
    print(_replayed(DuelingPolicy.from_dict(record)))


# The ring in which a policy is tried, without names or a stream of its own


@dataclass(frozen=True)
class _Variant(Recipe):
    """A policy that counts no decisions, so that choosing is only asking, or one that leaves its kernels aside."""

    policy: DuelingPolicy
    counts: bool = True
    compiled: bool = True

    @property
    def kernels(self) -> DuelKernels | None:
        """The kernels, if wanted, without counting if that is not."""
        kernels = self.policy.kernels if self.compiled else None
        return kernels if kernels is None or self.counts else kernels._replace(remember=remember)

    def parameters(self, n_arms: int) -> Any:
        """Return the policy's."""
        return self.policy.parameters(n_arms)

    def law(self, *arguments: Any) -> None:
        """Ask the policy."""
        self.policy.law(*arguments)

    def remember(self, *arguments: Any) -> float:
        """Count, if wanted."""
        return self.policy.remember(*arguments) if self.counts else 0.0

    def learn(self, *arguments: Any) -> None:
        """Teach the policy."""
        self.policy.learn(*arguments)


class _Ring:
    """A policy and its state, driven by uniforms that are handed in; what it does wrong is an `AssertionError`."""

    def __init__(
        self, policy: DuelingPolicy, n_arms: int, size: int = 2, state: Any = None, compiled: bool = True
    ) -> None:
        self.policy = policy
        self.n_arms = n_arms
        self.state = policy.start(n_arms, size) if state is None else state
        self._kernels = compiled
        self._steps: dict[tuple[str, bool], Callable[..., Any]] = {}
        self._fields = policy.fields(self.state, n_arms)

    @property
    def compiled(self) -> bool:
        """Whether its steps are: plain Python needs a hundred times as long."""
        return not isinstance(self._step("update"), FunctionType)

    def ask(self, pairs: Mask, uniforms: Floats) -> Pick:
        """Return who would be drawn and from which laws, each a law on exactly the arms allowed; count nothing."""
        pick = self._drawn(pairs, uniforms, counts=False)
        for m in range(pick.arms.size):
            _assert_law(pick, m, pairs)
        return pick

    def choose(self, pairs: Mask, uniforms: Floats) -> Pick:
        """Draw arms and count the decision."""
        return self._drawn(pairs, uniforms, counts=True)

    def update(self, pick: Pick, shares: Floats) -> None:
        """Learn how the win was shared, from a copy of `pick`, which must stay as it is."""
        own = Pick(pick.arms.copy(), pick.awake.copy(), pick.sizes.copy(), pick.laws.copy(), pick.memos.copy())
        given = shares.copy()
        answer = self._learner(own)(given)
        assert answer != NO_MEMO, f"a memo must be zero or positive, and finite, got {pick.memos}"
        assert answer == FINE, f"laws must be non-negative and zero on all arms but those allowed, got {pick.laws}"
        for name in ("arms", "sizes", "laws", "memos"):
            assert np.array_equal(getattr(own, name), getattr(pick, name)), f"learn must not change pick.{name}"
        for mine, theirs, n in zip(own.awake, pick.awake, pick.sizes, strict=True):
            assert np.array_equal(mine[:n], theirs[:n]), "learn must not change pick.awake"
        assert np.array_equal(given, shares), "learn must not change the shares"

    def repeat(self, pick: Pick, shares: Floats, times: int) -> None:
        """Learn the same feedback many times."""
        learn = self._learner(pick)
        for _ in range(times):
            learn(shares)

    def play(
        self, pair_sets: Mask, preferences: Floats, coins: Floats, rng: np.random.Generator, size: int = 2
    ) -> Ints:
        """Play all rounds at once, with immediate feedback; return the arms."""
        rounds = np.arange(len(pair_sets))
        choices = np.full((len(pair_sets), size), -1, np.int64)
        table, always = preferences[np.newaxis], np.zeros(len(pair_sets), np.int64)
        pick = empty_pick(size, self.n_arms)
        self._step("play")(pair_sets, rounds, table, always, coins, rng, choices, pick, self._fields)
        assert NO_LAW not in choices, f"laws must be non-negative and sum to one, got {pick.laws}"
        return choices

    def _drawn(self, pairs: Mask, uniforms: Floats, counts: bool) -> Pick:
        pick = empty_pick(uniforms.size // 2, self.n_arms)
        wrong = self._step("choose", counts)(pairs, uniforms, pick, self._fields)
        if wrong >= 0:
            _assert_law(pick, wrong, pairs)
        return pick

    def _learner(self, pick: Pick) -> Callable[[Floats], int]:
        """Return a function of shares that teaches the state what came of `pick`."""
        allowed = np.zeros(pick.laws.shape, np.bool_)
        for m, n in enumerate(pick.sizes):
            allowed[m, pick.awake[m, :n]] = True
        probabilities = pick.laws[np.arange(pick.arms.size), pick.arms]
        learn = self._step("update")
        return lambda shares: int(learn(pick, allowed, probabilities, shares, self._fields))

    def _step(self, name: str, counts: bool = True) -> Callable[..., Any]:
        if (name, counts) not in self._steps:
            policy = self.policy if counts and self._kernels else _Variant(self.policy, counts, self._kernels)
            self._steps[name, counts] = step(cast(DuelingPolicy, policy), name, self.state, self.n_arms)
        return self._steps[name, counts]


def _assert_law(pick: Pick, m: int, pairs: Mask) -> None:
    """Raise unless the law of position `m` is one on exactly the arms that may be drawn there."""
    p, chosen = pick.laws[m], pick.arms[:m]
    room = np.empty(len(pairs), np.int64)
    allowed = room[: partners(pairs, chosen, room)]
    asleep = np.ones(p.size, np.bool_)
    asleep[allowed] = False
    wrong = {
        "not be negative": (p < 0.0).any(),
        "not be NaN": np.isnan(p).any(),
        "be zero on all arms but those allowed": p[asleep].any(),
        "sum to one": not abs(p.sum() - 1.0) <= EXACT,
    }
    for rule, broken in wrong.items():
        if broken:
            after = f" after {chosen.tolist()}" if m else ""
            raise AssertionError(f"a law must {rule}, got {p} for arms {allowed.tolist()}{after}")


def _same_laws(one: Pick, other: Pick) -> bool:
    """Whether two picks are the same arms from the same laws, up to rounding."""
    return np.array_equal(one.arms, other.arms) and np.allclose(one.laws, other.laws, rtol=0, atol=EXACT)


def _equal(one: Pick, other: Pick) -> bool:
    """Whether two picks are the same arms from exactly the same laws."""
    return np.array_equal(one.arms, other.arms) and np.array_equal(one.laws, other.laws)


def _frozen(state: Any) -> bytes:
    """Return all bytes of a state, to compare before and after."""
    return b"".join(array.tobytes() for array in state)


def _won_by(position: int, size: int = 2) -> Floats:
    """Return shares that give the whole win to one position."""
    shares = np.zeros(size)
    shares[position] = 1.0
    return shares


def _winner(preferences: Floats, pick: Pick, coin: float) -> Floats:
    """Return the shares of a win that `coin` decides."""
    shares = np.empty(pick.arms.size)
    share_win(preferences, pick.arms, coin, shares)
    return shares


def _redrawn(pick: Pick, uniforms: Floats, laws: Floats, label: Ints) -> Floats:
    """Return uniforms that draw the arms of `pick`, called `label[k]`, from `laws`, and leave the same coins."""
    moved = uniforms.copy()
    for m, arm in enumerate(pick.arms):
        p, q, name = pick.laws[m], laws[m], label[arm]
        coin = (uniforms[2 * m + 1] - p[:arm].sum()) / p[arm]
        moved[2 * m + 1] = q[:name].sum() + coin * q[name]
    return moved


def _padded(pick: Pick, n_arms: int) -> Pick:
    """Return a pick among more arms, the new ones asleep."""
    more = ((0, 0), (0, n_arms - pick.laws.shape[1]))
    return pick._replace(awake=np.pad(pick.awake, more), laws=np.pad(pick.laws, more))


def _grown(ring: _Ring, n_arms: int, size: int) -> _Ring:
    """Return a ring whose state has grown, to just what a new one would be like."""
    state, fresh = ring.policy.grow(ring.state, n_arms, size), ring.policy.start(n_arms, size)
    for name, array, like in zip(fresh._fields, state, fresh, strict=True):
        told = f"{array.dtype} {array.shape} for {like.dtype} {like.shape}"
        fits = (array.dtype, array.shape) == (like.dtype, like.shape)
        assert fits, f"grow must return a state like that of start({n_arms}, {size}), got {told} in state.{name}"
    return _Ring(ring.policy, n_arms, size, state)


def _random_preferences(n_arms: int, rng: np.random.Generator) -> Floats:
    """Return a random preference matrix."""
    above = np.triu(rng.random((n_arms, n_arms)), 1)
    return above + np.tril(1.0 - above.T, -1) + np.eye(n_arms) / 2


def _assert_finite(state: Any) -> None:
    """Raise where a number of a state is none."""
    for name, array in zip(state._fields, state, strict=True):
        assert np.isfinite(array).all(), f"state.{name} must stay finite"


# Who may meet whom


def _awake(rng: np.random.Generator, n_arms: int, least: int) -> Mask:
    """Return a random set of arms, `least` of them or more."""
    mask = np.zeros(n_arms, np.bool_)
    mask[rng.permutation(n_arms)[: rng.integers(least, n_arms + 1)]] = True
    return mask


def _square(rng: np.random.Generator, n_arms: int) -> Mask:
    awake = _awake(rng, n_arms, 1)
    return np.outer(awake, awake)


def _distinct(rng: np.random.Generator, n_arms: int) -> Mask:
    return _distinct_sets(rng, n_arms, min(2, n_arms))


def _groups(rng: np.random.Generator, n_arms: int) -> Mask:
    labels = rng.integers(3, size=n_arms)
    awake = _awake(rng, n_arms, 2)
    here = np.flatnonzero(awake)
    labels[here[0]], labels[here[1]] = 0, 1
    pairs: Mask = np.outer(awake, awake) & (labels[:, np.newaxis] != labels)
    return pairs


def _graph(rng: np.random.Generator, n_arms: int) -> Mask:
    edges = rng.random((n_arms, n_arms)) < 0.3
    edges[rng.integers(n_arms), rng.integers(n_arms)] = True
    return edges | edges.T


def _one_pair(rng: np.random.Generator, n_arms: int) -> Mask:
    pairs = np.zeros((n_arms, n_arms), np.bool_)
    i, j = rng.integers(n_arms, size=2)
    pairs[i, j] = pairs[j, i] = True
    return pairs


SETTINGS: dict[str, Callable[[np.random.Generator, int], Mask]] = {
    "S x S": _square,
    "any graph": _graph,
    "one pair": _one_pair,
    "distinct arms": _distinct,
    "groups": _groups,
}


def _distinct_sets(rng: np.random.Generator, n_arms: int, least: int) -> Mask:
    """Return the pairs of different arms of a random set, `least` of them or more."""
    awake = _awake(rng, n_arms, least)
    pairs: Mask = np.outer(awake, awake) & ~np.eye(n_arms, dtype=np.bool_)
    return pairs


def _rounds_of(rounds: int, n_arms: int, seed: int) -> Iterator[tuple[str, Mask]]:
    """Yield who may meet whom: every round another mask, every kind of them in turn, with its name."""
    rng = np.random.default_rng([seed, n_arms])
    names = list(SETTINGS) if n_arms > 1 else ["S x S"]
    for t in range(rounds):
        name = names[t % len(names)]
        yield name, SETTINGS[name](rng, n_arms)


def _masks_of(rounds: int, n_arms: int, seed: int) -> Mask:
    """Return the masks of `rounds_of`, (T, K, K)."""
    return np.array([pairs for _, pairs in _rounds_of(rounds, n_arms, seed)])


# What is done with a ring


def _try_round(ring: _Ring, pairs: Mask, rng: np.random.Generator, size: int = 2) -> None:
    """Ask for the laws twice, choose, and let somebody win."""
    uniforms, mask, before = rng.random(2 * size), pairs.copy(), _frozen(ring.state)
    asked = ring.ask(mask, uniforms)
    assert _frozen(ring.state) == before, "asking for a law must not change the state"
    assert np.array_equal(mask, pairs), "asking for a law must not change who may meet"
    assert _equal(asked, ring.ask(mask, uniforms)), "the same question must get the same answer"
    pick = ring.choose(mask, uniforms)
    assert _equal(asked, pick), "choose must draw from the laws that asking says"
    ring.update(pick, _won_by(int(rng.integers(size)), size))


def _play_round(
    ring: _Ring, pairs: Mask, rng: np.random.Generator, preferences: Floats, coin: float, size: int
) -> list[int]:
    """Play one round and return the arms."""
    pick = ring.choose(pairs, rng.random(2 * size))
    ring.update(pick, _winner(preferences, pick, coin))
    arms: list[int] = pick.arms.tolist()
    return arms


def _play_rounds(ring: _Ring, rounds: int, seed: int) -> None:
    """Play some rounds, one step at a time, somebody winning."""
    rng = np.random.default_rng(seed)
    for pairs in _masks_of(rounds, ring.n_arms, seed):
        ring.update(ring.choose(pairs, rng.random(4)), _won_by(int(rng.integers(2))))


def _laws(ring: _Ring, masks: Mask) -> Iterator[Pick]:
    """Yield what the ring would draw, and from which laws, for each of the masks and always the same uniforms."""
    rng = np.random.default_rng(19)
    for pairs in masks:
        yield ring.ask(pairs, rng.random(4))
