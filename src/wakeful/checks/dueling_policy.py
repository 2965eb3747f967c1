"""`check_dueling_policy`: the checks that every dueling policy must pass.

Each check is a function of a policy that raises `AssertionError` with a sentence. `CHECKS` lists them all;
`check_dueling_policy` runs them in order.
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wakeful.bandits.dueling_bandit import DuelingBandit
from wakeful.checks.duel_trials import (
    PolicyHarness,
    all_to,
    assert_finite,
    bytes_of,
    distinct_sets,
    grown_harness,
    laws_of,
    masks_of,
    padded_pick,
    play_round,
    play_rounds,
    random_preferences,
    redrawn_uniforms,
    rounds_of,
    same_laws,
    try_round,
)
from wakeful.checks.policy import check_is_data
from wakeful.checks.trials import EXACT, N_ARMS
from wakeful.checks.uncompiled import require_same_uncompiled
from wakeful.duels.duel import Duel
from wakeful.duels.pairs import distinct_pairs
from wakeful.duels.policy import DuelingPolicy, a_dueling_policy, fitting_duel_state
from wakeful.inputs import require
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.suite import run_checks

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
            uniforms, two belong to each arm: the coin of `law` and the number that draws the arm; left wins if the
            round's coin is below its preference.

    >>> from wakeful import Sparring, Uniform
    >>> check_dueling_policy(Sparring(Uniform()))
    """
    a_dueling_policy(policy)
    run_checks("policy", policy, CHECKS)
    if literal is not None:
        check_literal(policy, literal)


def check_state(policy: DuelingPolicy) -> None:
    """The state is a named tuple of finite arrays, made anew by every `start`, and does not grow with the rounds."""
    state, other, duel = (policy.start(*arguments) for arguments in ((N_ARMS,), (N_ARMS,), (N_ARMS, 2)))
    require(isinstance(state, tuple), f"a state must be a named tuple, got {state!r}")
    require(hasattr(state, "_fields"), f"a state must be a named tuple, got {state!r}")
    for name, a, b, c in zip(state._fields, state, other, duel, strict=True):
        require(isinstance(a, np.ndarray), f"state.{name} must be an array of at least one dimension, got {a!r}")
        require(a.ndim >= 1, f"state.{name} must be an array of at least one dimension, got {a!r}")
        require(a.dtype.kind in "biuf", f"state.{name} must be an array of numbers, got {a.dtype}")
        require(not np.shares_memory(a, b), f"start must make state.{name} anew")
        require(
            a.shape == c.shape, f"start must make room for two arms at a time by itself, got state.{name} {a.shape}"
        )
    shapes = [array.shape for array in state]
    harness = PolicyHarness(policy, N_ARMS)
    play_rounds(harness, 500, seed=1)
    require([array.shape for array in harness.state] == shapes, "the state must not grow")
    assert_finite(harness.state)
    fitting_duel_state(policy, harness.state, N_ARMS, 2)


def check_uncompiled(policy: DuelingPolicy) -> None:
    """Without the compiler, in a process of its own, the policy makes the same choices; no index leaves its array."""
    require_same_uncompiled(policy, _compared_choices)


def check_law(policy: DuelingPolicy) -> None:
    """Probabilities are valid and zero except on the arms allowed, for all kinds of pairs; asking changes nothing."""
    for n_arms in (1, 2, N_ARMS, 7):
        harness, rng = PolicyHarness(policy, n_arms), np.random.default_rng(n_arms)
        for t, (setting, pairs) in enumerate(rounds_of(60, n_arms, seed=2)):
            try:
                try_round(harness, pairs, rng)
            except AssertionError as problem:
                raise AssertionError(f"{problem}, with {setting} of {n_arms} arms in round {t + 1}") from problem


def check_battles(policy: DuelingPolicy) -> None:
    """Battles of three and four arms have valid probabilities, and room for them in a state does not change a duel."""
    for size in (3, 4):
        harness, rng = PolicyHarness(policy, size + 2, size), np.random.default_rng(size)
        for _ in range(50):
            try_round(harness, distinct_sets(rng, size + 2, size), rng, size)
        assert_finite(harness.state)
    duel, roomy, rng = PolicyHarness(policy, N_ARMS), PolicyHarness(policy, N_ARMS, 4), np.random.default_rng(3)
    for _, pairs in rounds_of(80, N_ARMS, seed=3):
        uniforms, shares = rng.random(4), all_to(int(rng.integers(2)))
        pick, other = (one.choose(pairs, uniforms) for one in (duel, roomy))
        require(same_laws(pick, other), f"two of a battle must be a duel, got {other.laws} for {pick.laws}")
        duel.update(pick, shares)
        roomy.update(other, shares)


def check_repeatable(policy: DuelingPolicy) -> None:
    """The same uniforms give the same choices, one step at a time or in one run, of duels and of battles."""
    for size, n_arms in ((2, N_ARMS), (3, 5)):
        chance = np.random.default_rng([size, 4])
        masks = masks_of(150, n_arms, 4)
        if size > 2:
            masks = np.array([distinct_sets(chance, n_arms, size) for _ in range(60)])
        preferences, coins = random_preferences(n_arms, chance), chance.random(len(masks))
        steps = []
        for _ in range(2):
            harness, rng = PolicyHarness(policy, n_arms, size), np.random.default_rng(5)
            rounds = zip(masks, coins, strict=True)
            steps.append([play_round(harness, pairs, rng, preferences, coin, size) for pairs, coin in rounds])
        require(steps[0] == steps[1], "the same uniforms must repeat the choices")
        run = PolicyHarness(policy, n_arms, size).play(masks, preferences, coins, np.random.default_rng(5), size)
        require(steps[0] == run.tolist(), "playing all rounds at once must make the choices of single steps")


def check_saved(policy: DuelingPolicy) -> None:
    """A dueling bandit saved in the middle continues as if nothing had happened."""
    masks, rng = masks_of(100, N_ARMS, 6), np.random.default_rng(6)
    shares = rng.integers(2, size=len(masks)).astype(np.float64)
    arena = DuelingBandit(policy, N_ARMS, seed=7)
    arena.choose(size=3)  # makes room for three, and is never heard of again
    _duels(arena, masks[:50], shares[:50])
    pending = [arena.choose(pairs=masks[0]), arena.choose(size=3)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved.wakeful"
        arena.save(path)
        loaded = DuelingBandit.load(path)
    require(bytes_of(loaded.state) == bytes_of(arena.state), "what is loaded must equal what was saved")
    read = DuelingBandit.from_record(json.loads(json.dumps(arena.to_record(), default=np.ndarray.tolist)))
    require(read.to_bytes() == arena.to_bytes(), "a record that went through JSON must give the same bandit")
    for one in (arena, loaded):
        for duel in pending:
            one.update(Duel.from_dict(json.loads(json.dumps(duel.to_dict()))), winner=duel.right)
    after = [_duels(one, masks[50:], shares[50:]) for one in (arena, loaded)]
    require(after[0] == after[1], "a loaded bandit must continue identically")


def check_folding(policy: DuelingPolicy) -> None:
    """A fresh copy that applies a log of proposals and feedback in its order has the live state, bit for bit."""
    live, copy = (DuelingBandit(policy, N_ARMS, seed=seed) for seed in (22, 23))
    rng = np.random.Generator(np.random.PCG64(22))
    waiting: list[Duel] = []
    for t, pairs in enumerate(masks_of(90, N_ARMS, 22)):
        asked: dict[str, Any] = {"size": 3} if t % 10 == 5 else {"pairs": pairs}
        duel, before = live.choose(**asked), bytes_of(copy.state)
        proposal = copy.propose(None, rng.random(6 if t % 10 == 5 else 4).tolist(), **asked)
        require(bytes_of(copy.state) == before, "propose must change nothing")
        require(proposal == duel, f"propose must return what choose does, got {proposal} for {duel}")
        waiting.append(Duel.from_dict(json.loads(json.dumps(proposal.to_dict()))))
        copy.admit(waiting[-1])
        if t % 3:  # so that some feedback comes late, and some never
            heard = waiting.pop(t % len(waiting))
            for one in (live, copy):
                one.update(heard, winner=heard.arms[t % 2])
        same = bytes_of(live.state) == bytes_of(copy.state) and live.rounds == copy.rounds
        require(same, "a copy that counts the same duels in the same order must have the same state")


def check_late_feedback(policy: DuelingPolicy) -> None:
    """Feedback may come late, in another order, or never; where the policy says so, its order is irrelevant."""
    masks = masks_of(90, N_ARMS, 8)
    heard = []
    for order in range(3):
        harness, rng = PolicyHarness(policy, N_ARMS), np.random.default_rng(8)
        picks = [harness.choose(pairs, rng.random(4)) for pairs in masks]
        feedback = [(pick, all_to(int(rng.integers(2)))) for t, pick in enumerate(picks) if t % 3]
        shuffled = [feedback[i] for i in np.random.default_rng(order).permutation(len(feedback))]
        for pick, shares in feedback if order == 0 else shuffled:
            harness.update(pick, shares)
        heard.append(list(laws_of(harness, masks)))
    if policy.order_free:
        for first, *others in zip(*heard, strict=True):
            require(all(same_laws(first, other) for other in others), "the order of feedback must not matter")


def check_relabelling(policy: DuelingPolicy) -> None:
    """Other labels for the arms give the same probabilities under those labels, with the same coins."""
    if not policy.symmetric:
        return
    label = np.array([2, 0, 3, 1])  # arm k is called label[k] in the other harness
    harness, other, rng = PolicyHarness(policy, N_ARMS), PolicyHarness(policy, N_ARMS), np.random.default_rng(9)
    for _, pairs in rounds_of(120, N_ARMS, seed=9):
        uniforms, shares = rng.random(4), all_to(int(rng.integers(2)))
        renamed = np.empty_like(pairs)
        renamed[np.ix_(label, label)] = pairs
        pick = harness.choose(pairs, uniforms)
        expected = np.empty_like(pick.laws)
        expected[:, label] = pick.laws
        twin = other.choose(renamed, redrawn_uniforms(pick, uniforms, expected, label))
        same = np.allclose(twin.laws, expected, rtol=0, atol=EXACT) and np.array_equal(twin.arms, label[pick.arms])
        require(same, f"{twin.laws} must be {pick.laws} under other labels")
        harness.update(pick, shares)
        other.update(twin, shares)


def check_ties(policy: DuelingPolicy) -> None:
    """A win may be shared: in halves, in other parts, among all arms of a battle."""
    for size, shared in ((2, [0.5, 0.5]), (2, [0.25, 0.75]), (3, [1 / 3, 1 / 3, 1 / 3]), (3, [0.5, 0.0, 0.5])):
        harness, rng = PolicyHarness(policy, N_ARMS, size), np.random.default_rng(10)
        for _, mask in rounds_of(60, N_ARMS, seed=10):
            pairs = mask if size == 2 else distinct_sets(rng, N_ARMS, size)
            try:
                harness.update(harness.choose(pairs, rng.random(2 * size)), np.array(shared))
                harness.ask(pairs, rng.random(2 * size))
                assert_finite(harness.state)
            except Exception as problem:
                raise AssertionError(f"a win shared as {shared} must be accepted: {problem}") from problem


def check_winner(policy: DuelingPolicy) -> None:
    """An arm that always wins is not played less than without feedback, nor than one that always loses."""
    none = _share_of_winner(policy, {})
    for name, sides in (("on the left", [0]), ("on the right", [1]), ("on both sides", [0, 1])):
        wins, loses = (_share_of_winner(policy, dict.fromkeys(sides, outcome)) for outcome in (1.0, 0.0))
        told = f"an arm that always wins {name} must not be played less than"
        require(
            wins >= loses - SLACK, f"{told} one that always loses there, got {wins:.2f} and {loses:.2f} of all plays"
        )
        require(wins >= none - SLACK or len(sides) == 1, f"{told} without feedback, got {wins:.2f} and {none:.2f}")


def check_order(policy: DuelingPolicy) -> None:
    """Where three arms are clearly ordered, the best two meet at least as often as they do by chance."""
    met = []
    for best in range(3):
        rank = (np.arange(3) - best) % 3
        preferences = np.array([0.05, 0.2, 0.5, 0.8, 0.95])[2 + rank - rank[:, np.newaxis]]
        masks = np.repeat(distinct_pairs(3)[np.newaxis], ORDER_ROUNDS, axis=0)
        coins = np.random.default_rng(11).random(ORDER_ROUNDS)
        choices = PolicyHarness(policy, 3).play(masks, preferences, coins, np.random.default_rng(12))
        met.append(float(np.mean((rank[choices] < 2).all(axis=1))))
    often = float(np.mean(met))
    require(often >= 1 / 3 - SLACK, f"the best two of three must meet in 0.33 of all rounds or more, got {often:.2f}")


def check_grow(policy: DuelingPolicy) -> None:
    """Arms that are added are as if they had been asleep, and room for larger battles changes no duel."""
    harness, sleepy, rng = PolicyHarness(policy, N_ARMS), PolicyHarness(policy, MORE_ARMS), np.random.default_rng(13)
    for _, pairs in rounds_of(100, N_ARMS, seed=13):
        uniforms, shares = rng.random(4), all_to(int(rng.integers(2)))
        asleep = np.pad(pairs, (0, MORE_ARMS - N_ARMS))
        pick = harness.choose(pairs, uniforms)
        wide = padded_pick(pick, MORE_ARMS)
        sleepy.choose(
            asleep, redrawn_uniforms(pick, uniforms, wide.laws, np.arange(N_ARMS))
        )  # it counts the same decision
        harness.update(pick, shares)
        sleepy.update(wide, shares)
    before = bytes_of(harness.state)
    larger = grown_harness(harness, MORE_ARMS, 2)
    for one, other in zip(*(laws_of(r, masks_of(60, MORE_ARMS, 14)) for r in (larger, sleepy)), strict=True):
        require(same_laws(one, other), f"new arms must be as if asleep so far, got {one.laws} for {other.laws}")
    roomy = grown_harness(harness, N_ARMS, N_ARMS)
    for one, other in zip(*(laws_of(r, masks_of(60, N_ARMS, 15)) for r in (roomy, harness)), strict=True):
        require(same_laws(one, other), f"room for battles must not change a duel, got {one.laws} for {other.laws}")
    for _ in range(10):
        try_round(roomy, distinct_pairs(N_ARMS), rng, N_ARMS)
    require(bytes_of(harness.state) == before, "grow must not change the state it is given")


def check_streaks(policy: DuelingPolicy) -> None:
    """A hundred thousand wins of one arm, on either side, and losses after them leave everything finite."""
    harness, rng = PolicyHarness(policy, N_ARMS), np.random.default_rng(16)
    masks = masks_of(100, N_ARMS, 16)
    for side in range(2):
        pick = harness.choose(distinct_pairs(N_ARMS), rng.random(4))
        harness.repeat(pick, all_to(side), STREAK if harness.compiled else STREAK // 20)
        assert_finite(harness.state)
        list(laws_of(harness, masks))
    falls = np.full((N_ARMS, N_ARMS), 0.5)
    falls[pick.arms[1], :], falls[:, pick.arms[1]] = 0.0, 1.0
    pair_sets = np.concatenate([masks] * (20 if harness.compiled else 5))
    harness.play(pair_sets, falls, rng.random(len(pair_sets)), rng)
    assert_finite(harness.state)
    fitting_duel_state(policy, harness.state, N_ARMS, 2)
    list(laws_of(harness, masks))


def check_kernels_match_methods(policy: DuelingPolicy) -> None:
    """In a class with kernels and plain methods, both give the same results."""
    if policy.kernels is None or type(policy).law is DuelingPolicy.law:
        return
    harness, plain, rng = (
        PolicyHarness(policy, N_ARMS),
        PolicyHarness(policy, N_ARMS, compiled=False),
        np.random.default_rng(17),
    )
    for _, pairs in rounds_of(120, N_ARMS, seed=17):
        uniforms, shares = rng.random(4), all_to(int(rng.integers(2)))
        pick, other = (one.choose(pairs, uniforms) for one in (harness, plain))
        require(same_laws(pick, other), f"the method law must agree with the kernel, got {other.laws} for {pick.laws}")
        require(np.allclose(pick.memos, other.memos), f"remember must agree, got {other.memos} for {pick.memos}")
        harness.update(pick, shares)
        plain.update(other, shares)


def check_literal(policy: DuelingPolicy, literal: Literal) -> None:
    """Draw by draw, the policy plays what an independent implementation plays."""
    for seed in range(3):
        chance = np.random.default_rng([seed, 18])
        masks, preferences = masks_of(200, N_ARMS, 18 + seed), random_preferences(N_ARMS, chance)
        coins = chance.random(len(masks))
        expected = literal(masks, preferences, np.random.default_rng(seed).random((len(masks), 4)), coins)
        played = PolicyHarness(policy, N_ARMS).play(masks, preferences, coins, np.random.default_rng(seed))
        same = np.array_equal(played, expected)
        require(same, f"{policy!r} must play what its literal version plays (seed {seed})")


CHECKS: tuple[Callable[[DuelingPolicy], None], ...] = (
    check_is_data,
    check_state,
    check_uncompiled,
    check_law,
    check_battles,
    check_repeatable,
    check_saved,
    check_late_feedback,
    check_folding,
    check_relabelling,
    check_ties,
    check_winner,
    check_order,
    check_grow,
    check_streaks,
    check_kernels_match_methods,
)


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
        harness, rng = PolicyHarness(policy, 3), np.random.default_rng(20)
        for _ in range(WINNER_ROUNDS):
            pick = harness.choose(pairs, rng.random(4))
            side = pick.arms.tolist().index(arm) if arm in pick.arms else -1
            share = outcome.get(side, 0.5)
            if outcome:
                harness.update(pick, np.array([share, 1.0 - share] if side == 0 else [1.0 - share, share]))
            plays.append(side >= 0)
    return float(np.mean(plays))


def _compared_choices(policy: DuelingPolicy) -> list[Any]:
    """Return the choices that `check_uncompiled` compares."""
    chance = np.random.default_rng(21)
    battles = np.array([distinct_sets(chance, 5, 3) for _ in range(40)])
    rounds = ((2, masks_of(120, N_ARMS, 21)), (3, battles))
    return [
        PolicyHarness(policy, masks.shape[1], size)
        .play(
            masks,
            random_preferences(masks.shape[1], chance),
            chance.random(len(masks)),
            np.random.default_rng(22),
            size,
        )
        .tolist()
        for size, masks in rounds
    ]
