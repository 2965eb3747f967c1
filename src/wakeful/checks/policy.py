"""`check_policy`: the checks that every policy must pass.

Each check is a function of a policy that raises `AssertionError` with a sentence. `CHECKS` lists them all;
`check_policy` runs them in order.
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wakeful.bandits.bandit import Bandit
from wakeful.checks.trials import BOUND_ROUNDS, EXACT, N_ARMS, WORLDS, regret_of, rounds_of
from wakeful.checks.uncompiled import require_same_uncompiled
from wakeful.inputs import require
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.decision import Decision
from wakeful.policies.play import play
from wakeful.policies.policy import Policy, a_policy, is_law
from wakeful.policies.spec import Recipe, kinds, subclasses
from wakeful.policies.spectate import BY_COUNTS, BY_WEIGHTS
from wakeful.policies.state_ranges import refuse_out_of_range
from wakeful.policies.suite import require_equal_copy, require_frozen, run_checks

WORST_CASE_ROUNDS = 20_000
BOUND_RUNS = 20

Literal = Callable[[Mask, Floats, Floats], list[int]]


def check_policy(policy: Policy, literal: Literal | None = None) -> None:
    """Run every check on `policy`; raise `AssertionError` at the first that fails, naming it.

    Parameters:
        policy: an instance of your class
        literal: an independent implementation to compare with, draw by draw: a function of awake sets (T, K),
            losses (T, K) and T uniform numbers that returns the arms played

    >>> from wakeful import Uniform
    >>> check_policy(Uniform())
    """
    a_policy(policy)
    run_checks("policy", policy, CHECKS)
    if literal is not None:
        check_literal(policy, literal)


def check_is_data(policy: Recipe) -> None:
    """Parameters are frozen, print as the code that makes them, and go to JSON and back."""
    require_frozen("policy", policy)
    rule = "a policy must be defined at the top of a module, so that it prints as the code that makes it"
    require("<locals>" not in type(policy).__qualname__, rule)
    scope = {cls.__name__: cls for cls in (*subclasses(Recipe), *kinds(policy))}
    require_equal_copy("policy", policy, eval(repr(policy), scope))
    require(type(policy).from_dict(json.loads(json.dumps(policy.to_dict()))) == policy, "JSON must bring it back")


def check_state(policy: Policy) -> None:
    """The state is a named tuple of arrays, made anew by every `start`, and does not grow."""
    state, other = policy.start(N_ARMS), policy.start(N_ARMS)
    require(isinstance(state, tuple), f"a state must be a named tuple, got {state!r}")
    require(hasattr(state, "_fields"), f"a state must be a named tuple, got {state!r}")
    for name, a, b in zip(state._fields, state, other, strict=True):
        require(isinstance(a, np.ndarray), f"state.{name} must be an array of at least one dimension, got {a!r}")
        require(a.ndim >= 1, f"state.{name} must be an array of at least one dimension, got {a!r}")
        require(not np.shares_memory(a, b), f"start must make state.{name} anew")
    size = sum(array.nbytes for array in state)
    bandit = _run(policy, 500)
    refuse_out_of_range(bandit.state, policy.ranges)
    if not policy.grows:
        require(sum(array.nbytes for array in bandit.state) == size, "the state must not grow")


def check_law(policy: Policy) -> None:
    """Probabilities are valid and zero on arms asleep at every step, and asking for them changes nothing."""
    bandit = Bandit(policy, N_ARMS, seed=1)
    for awake, losses in zip(*rounds_of(300, N_ARMS, 1), strict=True):
        before = _frozen(bandit)
        p = bandit.probabilities(awake)
        _assert_law(p, awake)
        require(np.array_equal(p, bandit.probabilities(awake)), "the same question must get the same answer")
        require(_frozen(bandit) == before, "probabilities must not change the state")
        decision = bandit.choose(awake)
        require(np.array_equal(p, decision.probabilities), "choose must draw from what probabilities says")
        require(decision.probability == p[decision.arm] > 0.0, "a decision carries its arm's probability")
        bandit.update(decision, loss=float(losses[decision.arm]))


def check_repeatable(policy: Policy) -> None:
    """The same seed gives the same choices, one step at a time or in one run."""
    awake, losses = rounds_of(400, N_ARMS, 2)
    steps = _choices(Bandit(policy, N_ARMS, seed=3), awake, losses)
    require(steps == _choices(Bandit(policy, N_ARMS, seed=3), awake, losses), "the same seed must repeat the choices")
    rng = np.random.Generator(np.random.PCG64(3))
    require(steps == play(policy, awake, losses, rng).tolist(), "play must make the choices of a Bandit")


def check_saved(policy: Policy) -> None:
    """A bandit saved in the middle continues as if nothing had happened."""
    awake, losses = rounds_of(200, N_ARMS, 4)
    bandit = Bandit(policy, N_ARMS, seed=5)
    _choices(bandit, awake[:100], losses[:100])
    pending = bandit.choose(awake[0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved.wakeful"
        bandit.save(path)
        loaded = Bandit.load(path)
    require(_frozen(loaded) == _frozen(bandit), "what is loaded must equal what was saved")
    read = Bandit.from_record(json.loads(json.dumps(bandit.to_record(), default=np.ndarray.tolist)))
    require(read.to_bytes() == bandit.to_bytes(), "a record that went through JSON must give the same bandit")
    for one in (bandit, loaded):
        one.update(Decision.from_dict(json.loads(json.dumps(pending.to_dict()))), loss=0.5)
    after = [_choices(one, awake[100:], losses[100:]) for one in (bandit, loaded)]
    require(after[0] == after[1], "a loaded bandit must continue identically")


def check_folding(policy: Policy) -> None:
    """A fresh copy that applies a log of proposals and feedback in its order has the live state, bit for bit."""
    awake, losses = rounds_of(150, N_ARMS, 16)
    live, copy = Bandit(policy, N_ARMS, seed=16), Bandit(policy, N_ARMS, seed=17)
    uniforms = np.random.Generator(np.random.PCG64(16)).random(len(awake)).tolist()
    waiting: list[Decision] = []
    for t, row in enumerate(awake):
        decision, before = live.choose(row), _frozen(copy)
        proposal = copy.propose(row, uniforms[t])
        require(_frozen(copy) == before, "propose must change nothing")
        require(proposal == decision, f"propose must return what choose does, got {proposal} for {decision}")
        waiting.append(Decision.from_dict(json.loads(json.dumps(proposal.to_dict()))))
        copy.admit(waiting[-1])
        if t % 3:  # so that some feedback comes late, and some never
            heard = waiting.pop(t % len(waiting))
            for one in (live, copy):
                one.update(heard, loss=float(losses[t, heard.arm]))
        same = [a.tobytes() for a in live.state] == [a.tobytes() for a in copy.state] and live.rounds == copy.rounds
        require(same, "a copy that counts the same decisions in the same order must have the same state")


def check_from_others(policy: Policy) -> None:
    """It says how it learns from decisions of others; if with weights, what it adds is in proportion to the loss."""
    rule = "from_others must be 'counts', 'weights', or None for a policy that cannot learn from decisions of others"
    require(policy.from_others in {None, BY_COUNTS, BY_WEIGHTS}, f"{rule}, got {policy.from_others!r}")
    if policy.from_others != BY_WEIGHTS:
        return
    bandit = _run(policy, 60)
    decision, changes = bandit.choose(), []
    for loss in (0.5, 1.0):
        state = type(bandit.state)(*(array.copy() for array in bandit.state))
        policy.update(state, decision, loss)
        changes.append([after.astype(float) - before for before, after in zip(bandit.state, state, strict=True)])
    for name, half, whole in zip(bandit.state._fields, *changes, strict=True):
        same = np.allclose(2.0 * half, whole, rtol=1e-9, atol=1e-9)
        require(same, f"with from_others='weights', twice the loss must change state.{name} twice as much")


def check_late_feedback(policy: Policy) -> None:
    """Feedback may come late, in another order, or never; where the policy says so, its order is irrelevant."""
    laws = []
    for order in range(3):
        bandit = Bandit(policy, N_ARMS, seed=6)
        awake, losses = rounds_of(120, N_ARMS, 6)
        decisions = [bandit.choose(row) for row in awake]
        feedback = [(d, float(losses[t, d.arm])) for t, d in enumerate(decisions) if t % 3]
        shuffled = [feedback[i] for i in np.random.default_rng(order).permutation(len(feedback))]
        for decision, loss in feedback if order == 0 else shuffled:
            bandit.update(decision, loss=loss)
        _assert_law(bandit.probabilities(), np.ones(N_ARMS, np.bool_))
        laws.append([bandit.probabilities(row) for row in awake])
    if policy.order_free:
        require(np.allclose(laws[0], laws[1], rtol=0, atol=EXACT), "the order of feedback must not matter")
        require(np.allclose(laws[0], laws[2], rtol=0, atol=EXACT), "the order of feedback must not matter")


def check_worst_case(policy: Policy) -> None:
    """Twenty thousand losses of the likeliest arm leave the probabilities valid and the state finite."""
    bandit = Bandit(policy, N_ARMS, seed=7)
    rng = np.random.default_rng(7)
    awake = rng.random((WORST_CASE_ROUNDS, N_ARMS)) < 0.7
    awake[np.arange(WORST_CASE_ROUNDS), rng.integers(N_ARMS, size=WORST_CASE_ROUNDS)] = True
    for t, row in enumerate(awake):
        decision = bandit.choose(row)
        surest = decision.probability >= decision.probabilities.max()
        always = t < WORST_CASE_ROUNDS // 4  # first every arm always loses, then the likeliest one
        bandit.update(decision, loss=1.0 if always or surest else 0.0)
    for row in awake[:200]:
        _assert_law(bandit.probabilities(row), row)
    for array in bandit.state:
        require(np.isfinite(array).all(), "the state must stay finite")
    refuse_out_of_range(bandit.state, policy.ranges)


def check_one_arm(policy: Policy) -> None:
    """Where one arm is awake, it is played, and a bandit may grow from there."""
    bandit = Bandit(policy, N_ARMS, seed=8)
    for k in range(N_ARMS):
        decision = bandit.choose([k])
        require((decision.arm, decision.probability) == (k, 1.0), "an arm awake alone must be played")
        bandit.update(decision, loss=1.0)
    pending = bandit.choose()
    name = bandit.add_arm()
    require(name == N_ARMS, "a new arm must be called by its position")
    bandit.update(pending, loss=0.5)
    _assert_law(bandit.probabilities(), np.ones(N_ARMS + 1, np.bool_))
    require(bandit.choose([name]).arm == name, "a new arm must be played where it is awake alone")


def check_relabelling(policy: Policy) -> None:
    """Other labels for the arms give the same probabilities under those labels."""
    if not policy.symmetric:
        return
    label = np.array([2, 0, 3, 1])  # arm k is called label[k] by the other bandit
    bandit, other = Bandit(policy, N_ARMS, seed=9), Bandit(policy, N_ARMS, seed=10)
    for awake, losses in zip(*rounds_of(200, N_ARMS, 9), strict=True):
        decision = bandit.choose(awake)
        other.choose(_relabelled(awake, label))  # thrown away: only what it counts at decisions matters
        p = bandit.probabilities(awake)
        q = other.probabilities(_relabelled(awake, label))
        require(np.allclose(q, _relabelled(p, label), rtol=0, atol=EXACT), f"{q} must be {p} under other labels")
        arm = int(label[decision.arm])
        here = tuple(np.flatnonzero(_relabelled(awake, label)).tolist())
        probabilities = _relabelled(decision.probabilities, label)
        renamed = Decision(arm, decision.probability, here, probabilities, decision.clock, decision.memo)
        loss = float(losses[decision.arm])
        bandit.update(decision, loss=loss)
        other.update(renamed, loss=loss)


def check_refusals(policy: Policy) -> None:
    """Bad input is refused with a sentence and changes nothing."""
    bandit = _run(policy, 30)
    decision = bandit.choose()
    p = decision.probabilities
    shares = {k: np.eye(N_ARMS)[k] for k in range(N_ARMS)}
    other = (decision.arm + 1) % N_ARMS
    bad: list[Callable[[], Any]] = [
        lambda: bandit.choose([]),
        lambda: bandit.choose([0, 0]),
        lambda: bandit.choose([N_ARMS]),
        lambda: bandit.choose(np.ones(N_ARMS + 1, np.bool_)),
        lambda: bandit.choose(np.zeros(N_ARMS, np.bool_)),
        lambda: bandit.update(decision, loss=float("nan")),
        lambda: bandit.update(decision, loss=1.5),
        lambda: bandit.update(decision, reward=-0.1),
        lambda: bandit.update(decision),
        lambda: bandit.update(decision, loss=0.5, reward=0.5),
        lambda: bandit.update(decision._replace(arm=N_ARMS), loss=0.5),
        lambda: bandit.update(decision._replace(awake=(other,)), loss=0.5),
        lambda: bandit.update(decision._replace(probabilities=p[:-1]), loss=0.5),
        lambda: bandit.update(decision._replace(probabilities=p * 1.1), loss=0.5),
        lambda: bandit.update(decision._replace(probabilities=shares[other], probability=0.0), loss=0.5),
        lambda: bandit.update(decision._replace(probability=decision.probability / 2), loss=0.5),
        lambda: bandit.update(decision._replace(memo=float("inf")), loss=0.5),
    ]
    before = _frozen(bandit)
    for attempt in bad:
        require(" must be " in _refusal(attempt), "a refusal must say what must be")
        require(_frozen(bandit) == before, "a refusal must change nothing")


def check_uncompiled(policy: Policy) -> None:
    """Without the compiler, in a process of its own, the policy makes the same choices."""
    require_same_uncompiled(policy, _compared_choices)


def check_kernels_match_methods(policy: Policy) -> None:
    """In a class with kernels and plain methods, both give the same results."""
    written = [name for name in ("probabilities", "update") if getattr(type(policy), name) is not getattr(Policy, name)]
    if policy.kernels is None or not written:
        return
    awake, losses = rounds_of(300, N_ARMS, 12)
    bandit = Bandit(policy, N_ARMS, seed=12)
    plain = policy.start(N_ARMS)
    for t in range(300):
        require(
            np.allclose(policy.probabilities(plain, awake[t]), bandit.probabilities(awake[t]), rtol=0, atol=EXACT),
            "probabilities must agree with the law kernel",
        )
        decision = bandit.choose(awake[t])
        policy.remember(plain, decision, 0.0)
        policy.update(plain, decision, float(losses[t, decision.arm]))
        bandit.update(decision, loss=float(losses[t, decision.arm]))


def check_guarantee(policy: Policy) -> None:
    """The bound a policy states holds for its mean regret over fixed seeds, in worlds it is stated for."""
    promise = policy.guarantee(BOUND_ROUNDS, N_ARMS, BOUND_ROUNDS * N_ARMS)
    if promise is None:
        return
    for name, world in WORLDS.items():
        if promise.losses == "any" or name == "iid":
            regrets, totals = [], []
            for run in range(BOUND_RUNS):
                awake, losses = world(np.random.default_rng([run, 13]))
                choices = play(policy, awake, losses, np.random.default_rng([run, 14]))
                regrets.append(regret_of(promise.regret, awake, losses, choices))
                totals.append(int(awake.sum()))
            worst = float(np.mean(regrets, axis=0).max())
            bound = policy.guarantee(BOUND_ROUNDS, N_ARMS, int(np.mean(totals)))
            if bound is None:
                raise AssertionError("a guarantee must not come and go")
            require(worst <= bound.bound, f"{promise.regret} regret {worst:.1f} exceeds {bound.bound:.1f} ({name})")


def check_literal(policy: Policy, literal: Literal) -> None:
    """Draw by draw, the policy plays what an independent implementation plays."""
    for seed in range(3):
        awake, losses = rounds_of(250, N_ARMS, 15 + seed)
        uniforms = np.random.default_rng(seed).random(len(awake))
        expected = literal(awake, losses, uniforms)
        played = play(policy, awake, losses, np.random.default_rng(seed)).tolist()
        require(played == expected, f"{policy!r} must play what its literal version plays (seed {seed})")


CHECKS: tuple[Callable[[Policy], None], ...] = (
    check_is_data,
    check_state,
    check_law,
    check_repeatable,
    check_saved,
    check_late_feedback,
    check_folding,
    check_from_others,
    check_worst_case,
    check_one_arm,
    check_relabelling,
    check_refusals,
    check_uncompiled,
    check_kernels_match_methods,
    check_guarantee,
)


def _run(policy: Policy, rounds: int) -> Bandit:
    """Return a bandit after some rounds."""
    bandit = Bandit(policy, N_ARMS, seed=0)
    _choices(bandit, *rounds_of(rounds, N_ARMS, 0))
    return bandit


def _choices(bandit: Bandit, awake: Mask, losses: Floats) -> list[int]:
    """Let `bandit` play the rounds, one step at a time."""
    arms: list[int] = []
    for row, loss in zip(awake, losses, strict=True):
        decision = bandit.choose(row)
        bandit.update(decision, loss=float(loss[decision.arm]))
        arms.append(decision.arm)
    return arms


def _relabelled(values: Any, label: Any) -> Any:
    """Return the array whose entry at label[k] is values[k]."""
    moved = np.empty_like(values)
    moved[label] = values
    return moved


def _refusal(attempt: Callable[[], Any]) -> str:
    """Return the sentence with which `attempt` is refused."""
    try:
        attempt()
    except (ValueError, TypeError) as refusal:
        return str(refusal)
    raise AssertionError("bad input must be refused")


def _frozen(bandit: Bandit) -> tuple[Any, ...]:
    """Return everything in a bandit, to compare before and after."""
    stream = json.dumps(bandit._stream.state)
    return (bandit.arms, bandit.retired, bandit.rounds, stream, *(array.tobytes() for array in bandit.state))


def _assert_law(p: Any, awake: Mask) -> None:
    """Raise unless `p` are probabilities of the `awake` arms, exactly zero elsewhere."""
    array = isinstance(p, np.ndarray) and p.dtype == np.float64
    if array and is_law(p, awake) and abs(p.sum() - 1.0) <= EXACT:  # first, because to print arrays takes long
        return
    require(array, f"probabilities must be a float64 array, got {p!r}")
    require(p.shape == awake.shape, f"probabilities must have one entry for each arm, got {p}")
    require((p >= 0.0).all(), f"probabilities must not be negative or NaN, got {p}")
    require(not p[~awake].any(), f"a sleeping arm must have probability 0, got {p} on {awake}")
    require(abs(p.sum() - 1.0) <= EXACT, f"probabilities must sum to one, got {p}")


def _compared_choices(policy: Policy) -> list[int]:
    """Return the choices that `check_uncompiled` compares."""
    awake, losses = rounds_of(150, N_ARMS, 11)
    choices: list[int] = play(policy, awake, losses, np.random.default_rng(11)).tolist()
    return choices
