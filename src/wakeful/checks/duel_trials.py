"""Test harness: runs a dueling policy on given uniforms, without names or a random stream; and the pairs it plays."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar, cast

import numpy as np

from wakeful.bandits.learner import copied
from wakeful.checks.trials import EXACT
from wakeful.duels.kernels import NO_LAW, DuelKernels, Pick, empty_pick, partners, share_win
from wakeful.duels.policy import DuelingPolicy, step
from wakeful.inputs import require
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.policies.kernels import FINE, NO_MEMO
from wakeful.policies.spec import Recipe


@dataclass(frozen=True)
class _Plain(Recipe):
    """A policy without its kernels, as methods in plain Python, which count decisions if that is wanted."""

    policy: DuelingPolicy
    counts: bool
    kernels: ClassVar[DuelKernels | None] = None

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


class PolicyHarness:
    """A policy and its state, driven by uniforms that are handed in; what it does wrong is an `AssertionError`."""

    def __init__(
        self, policy: DuelingPolicy, n_arms: int, size: int = 2, state: Any = None, compiled: bool = True
    ) -> None:
        self.policy = policy
        self.n_arms = n_arms
        self.state = policy.start(n_arms, size) if state is None else state
        self._kernels = policy.kernels if compiled else None
        self._steps: dict[tuple[str, bool], Callable[..., Any]] = {}
        self._fields = policy.fields(self.state, n_arms)

    @property
    def compiled(self) -> bool:
        """Whether its steps are compiled: plain Python takes a hundred times as long."""
        return not isinstance(self._step("update"), FunctionType)

    def ask(self, pairs: Mask, uniforms: Floats) -> Pick:
        """Return the arms that would be drawn and their probabilities, checked; count nothing."""
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
        if answer != FINE:  # asked here, because to print arrays takes longer than to learn
            require(answer != NO_MEMO, f"a memo must be zero or positive, and finite, got {pick.memos}")
            rule = "non-negative and zero on all arms but those allowed"
            raise AssertionError(f"probabilities must be {rule}, got {pick.laws}")
        for name in ("arms", "sizes", "laws", "memos"):
            require(np.array_equal(getattr(own, name), getattr(pick, name)), f"learn must not change pick.{name}")
        for mine, theirs, n in zip(own.awake, pick.awake, pick.sizes, strict=True):
            require(np.array_equal(mine[:n], theirs[:n]), "learn must not change pick.awake")
        require(np.array_equal(given, shares), "learn must not change the shares")

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
        require(NO_LAW not in choices, f"probabilities must be non-negative and sum to one, got {pick.laws}")
        return choices

    def _drawn(self, pairs: Mask, uniforms: Floats, counts: bool) -> Pick:
        pick = empty_pick(uniforms.size // 2, self.n_arms)
        fields = self._fields
        if not counts and self._kernels is not None and self._kernels.counts_decisions:  # in a copy of the state
            fields = self.policy.fields(copied(self.state), self.n_arms)
        wrong = self._step("choose", counts)(pairs, uniforms, pick, fields)
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
            itself = self._kernels is not None or (counts and self.policy.kernels is None)
            policy = self.policy if itself else _Plain(self.policy, counts)
            self._steps[name, counts] = step(cast(DuelingPolicy, policy), name, self.state, self.n_arms)
        return self._steps[name, counts]


def _assert_law(pick: Pick, m: int, pairs: Mask) -> None:
    """Raise unless the probabilities of position `m` are valid, and zero on arms that may not be drawn there."""
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
            raise AssertionError(f"probabilities must {rule}, got {p} for arms {allowed.tolist()}{after}")


def same_laws(one: Pick, other: Pick) -> bool:
    """Whether two picks have the same arms and the same probabilities, up to rounding."""
    return np.array_equal(one.arms, other.arms) and np.allclose(one.laws, other.laws, rtol=0, atol=EXACT)


def _equal(one: Pick, other: Pick) -> bool:
    """Whether two picks have the same arms and exactly the same probabilities."""
    return np.array_equal(one.arms, other.arms) and np.array_equal(one.laws, other.laws)


def bytes_of(state: Any) -> bytes:
    """Return all bytes of a state, to compare before and after."""
    return b"".join(array.tobytes() for array in state)


def all_to(position: int, size: int = 2) -> Floats:
    """Return shares that give the whole win to one position."""
    shares = np.zeros(size)
    shares[position] = 1.0
    return shares


def _winner(preferences: Floats, pick: Pick, coin: float) -> Floats:
    """Return the shares of a win that `coin` decides."""
    shares = np.empty(pick.arms.size)
    share_win(preferences, pick.arms, coin, shares)
    return shares


def redrawn_uniforms(pick: Pick, uniforms: Floats, laws: Floats, label: Ints) -> Floats:
    """Return uniforms that draw the arms of `pick`, called `label[k]`, from `laws`, and leave the same coins."""
    moved = uniforms.copy()
    for m, arm in enumerate(pick.arms):
        p, q, name = pick.laws[m], laws[m], label[arm]
        coin = (uniforms[2 * m + 1] - p[:arm].sum()) / p[arm]
        moved[2 * m + 1] = q[:name].sum() + coin * q[name]
    return moved


def padded_pick(pick: Pick, n_arms: int) -> Pick:
    """Return a pick among more arms, the new ones asleep."""
    more = ((0, 0), (0, n_arms - pick.laws.shape[1]))
    return pick._replace(awake=np.pad(pick.awake, more), laws=np.pad(pick.laws, more))


def grown_harness(harness: PolicyHarness, n_arms: int, size: int) -> PolicyHarness:
    """Return a harness whose state has grown, and check that it is like a new one."""
    state, fresh = harness.policy.grow(harness.state, n_arms, size), harness.policy.start(n_arms, size)
    for name, array, like in zip(fresh._fields, state, fresh, strict=True):
        told = f"{array.dtype} {array.shape} for {like.dtype} {like.shape}"
        fits = (array.dtype, array.shape) == (like.dtype, like.shape)
        require(fits, f"grow must return a state like that of start({n_arms}, {size}), got {told} in state.{name}")
    return PolicyHarness(harness.policy, n_arms, size, state)


def random_preferences(n_arms: int, rng: np.random.Generator) -> Floats:
    """Return a random preference matrix."""
    above = np.triu(rng.random((n_arms, n_arms)), 1)
    return above + np.tril(1.0 - above.T, -1) + np.eye(n_arms) / 2


def assert_finite(state: Any) -> None:
    """Raise if a number of a state is not finite."""
    for name, array in zip(state._fields, state, strict=True):
        require(np.isfinite(array).all(), f"state.{name} must stay finite")


# Which pairs are allowed


def _awake(rng: np.random.Generator, n_arms: int, least: int) -> Mask:
    """Return a random set of arms, `least` of them or more."""
    mask = np.zeros(n_arms, np.bool_)
    mask[rng.permutation(n_arms)[: rng.integers(least, n_arms + 1)]] = True
    return mask


def _square(rng: np.random.Generator, n_arms: int) -> Mask:
    awake = _awake(rng, n_arms, 1)
    return np.outer(awake, awake)


def _distinct(rng: np.random.Generator, n_arms: int) -> Mask:
    return distinct_sets(rng, n_arms, min(2, n_arms))


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


PAIR_SETTINGS: dict[str, Callable[[np.random.Generator, int], Mask]] = {
    "S x S": _square,
    "any graph": _graph,
    "one pair": _one_pair,
    "distinct arms": _distinct,
    "groups": _groups,
}


def distinct_sets(rng: np.random.Generator, n_arms: int, least: int) -> Mask:
    """Return the pairs of different arms of a random set, `least` of them or more."""
    awake = _awake(rng, n_arms, least)
    pairs: Mask = np.outer(awake, awake) & ~np.eye(n_arms, dtype=np.bool_)
    return pairs


def rounds_of(rounds: int, n_arms: int, seed: int) -> Iterator[tuple[str, Mask]]:
    """Yield a mask of allowed pairs for every round, of every kind in turn, with the name of its kind."""
    rng = np.random.default_rng([seed, n_arms])
    names = list(PAIR_SETTINGS) if n_arms > 1 else ["S x S"]
    for t in range(rounds):
        name = names[t % len(names)]
        yield name, PAIR_SETTINGS[name](rng, n_arms)


def masks_of(rounds: int, n_arms: int, seed: int) -> Mask:
    """Return the masks of `rounds_of`, (T, K, K)."""
    return np.array([pairs for _, pairs in rounds_of(rounds, n_arms, seed)])


# What is done with a harness


def try_round(harness: PolicyHarness, pairs: Mask, rng: np.random.Generator, size: int = 2) -> None:
    """Ask for the probabilities twice, choose, and let one arm win."""
    uniforms, mask, before = rng.random(2 * size), pairs.copy(), bytes_of(harness.state)
    asked = harness.ask(mask, uniforms)
    require(bytes_of(harness.state) == before, "asking for probabilities must not change the state")
    require(np.array_equal(mask, pairs), "asking for probabilities must not change the allowed pairs")
    require(_equal(asked, harness.ask(mask, uniforms)), "the same question must get the same answer")
    pick = harness.choose(mask, uniforms)
    require(_equal(asked, pick), "choose must draw from the probabilities that law returned")
    harness.update(pick, all_to(int(rng.integers(size)), size))


def play_round(
    harness: PolicyHarness, pairs: Mask, rng: np.random.Generator, preferences: Floats, coin: float, size: int
) -> list[int]:
    """Play one round and return the arms."""
    pick = harness.choose(pairs, rng.random(2 * size))
    harness.update(pick, _winner(preferences, pick, coin))
    arms: list[int] = pick.arms.tolist()
    return arms


def play_rounds(harness: PolicyHarness, rounds: int, seed: int) -> None:
    """Play some rounds, one step at a time, each with a winner."""
    rng = np.random.default_rng(seed)
    for pairs in masks_of(rounds, harness.n_arms, seed):
        harness.update(harness.choose(pairs, rng.random(4)), all_to(int(rng.integers(2))))


def laws_of(harness: PolicyHarness, masks: Mask) -> Iterator[Pick]:
    """Yield what the harness would draw for each of the masks, always with the same uniforms."""
    rng = np.random.default_rng(19)
    for pairs in masks:
        yield harness.ask(pairs, rng.random(4))
