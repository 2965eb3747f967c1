"""`Bandit`: a policy with names for its arms, its state and its random stream; the class to embed."""

import json
import math
import os
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from wakeful import files
from wakeful.arms import Arms, Awake, listed, plain_names
from wakeful.entries import FINE, FLOOR, NO_MEMO, NOT_A_LAW, NOT_DRAWN, Floats, Mask
from wakeful.inputs import must_be, real, whole
from wakeful.policy import (
    LAW,
    Decision,
    Policy,
    a_policy,
    compiled,
    decide,
    fitting_state,
    is_law,
    new_decision,
    plain_law,
)
from wakeful.stream import Stream

KIND = "wakeful bandit"
FLOAT64 = np.dtype(np.float64)
AT_HAND = frozenset({type(None), list, tuple, np.ndarray})  # ways to say who is awake that run no code of the caller's


class Bandit:
    """Decides among the arms that are awake right now, and learns from what happens.

    Between `choose` and `update` nothing is remembered: the decision carries what its feedback needs, so
    feedback may come late, in any order, to a loaded copy in another process, or never. Each decision should
    get feedback at most once; a bandit cannot know that it has seen one before. Threads may share a bandit.

    Parameters:
        policy: how to choose, such as `SIExp3()`
        arms: the names of the arms, or how many there are (then they are called 0, 1, ...)
        seed: of the random stream: a whole number, a `numpy.random.SeedSequence`, or None for a fresh one

    >>> from wakeful import SIExp3
    >>> bandit = Bandit(SIExp3(), arms=["tea", "coffee", "juice"], seed=7)
    >>> decision = bandit.choose(["tea", "juice"])
    >>> decision.arm in {"tea", "juice"}, decision.probability
    (True, 0.5)
    >>> bandit.update(decision, loss=0.3)
    >>> bandit.probabilities(["tea", "juice"]).shape
    (3,)
    """

    def __init__(
        self,
        policy: Policy,
        arms: int | Iterable[Hashable],
        seed: int | np.random.SeedSequence | None = None,
    ) -> None:
        self._policy = a_policy(policy)
        self._arms = Arms(arms)
        self._fewest = len(self._arms)  # arms at the first decision: the shortest law a decision can carry
        self._stream = Stream(seed)
        self._rounds = 0
        self._law: Callable[..., None] | None
        self._choose: Callable[..., tuple[int, float, float]] | None
        self._update: Callable[..., int] | None
        self._lock = threading.Lock()
        self._use(policy.start(len(self._arms)))

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self._policy

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """The names of all arms, retired ones among them."""
        return tuple(self._arms.names)

    @property
    def retired(self) -> tuple[Hashable, ...]:
        """The names of the retired arms."""
        return tuple(n for n, gone in zip(self._arms.names, self._arms.retired, strict=True) if gone)

    @property
    def rounds(self) -> int:
        """How many decisions were made."""
        return self._rounds

    @property
    def state(self) -> Any:
        """What was learned: a named tuple of arrays; look, and do not touch."""
        return self._state

    def choose(self, awake: Awake = None) -> Decision:
        """Choose one of the arms `awake`: names, a boolean mask, or nothing if all are."""
        if type(awake) not in AT_HAND:
            awake = listed(awake)  # before the lock: an iterator may ask this very bandit
        with self._lock:
            names, mask = self._arms.awake(awake)
            clock = self._rounds + 1
            if self._choose is None:
                made = decide(self._policy, self._state, mask, self._stream.draw, clock)
                position, probability, _, p, _, memo = made
            else:
                p = np.zeros(mask.size)
                position, probability, memo = self._choose(mask, self._stream.draw(), p, self._fields)
                if position < 0:
                    raise ValueError(must_be(f"law of {self._policy!r}", LAW, p))
            self._rounds = clock
            return new_decision((self._arms.names[position], probability, names, p, clock, memo))

    def update(self, decision: Decision, *, loss: float | None = None, reward: float | None = None) -> None:
        """Learn the `loss` (or the `reward`, one less the loss) of a decision; both lie in [0, 1]."""
        lost = loss if reward is None and type(loss) is float and 0.0 <= loss <= 1.0 else _loss(loss, reward)
        with self._lock:
            position, mask, probability, memo = self._placed(decision)
            if self._update is None:
                answer = self._update_plainly(decision, position, mask, lost)
            else:
                answer = self._update(mask, decision[3], position, probability, memo, lost, self._fields)
        if answer != FINE:
            raise ValueError(_refusal(decision, answer))

    def probabilities(self, awake: Awake = None) -> Floats:
        """Return the law of the next choice among `awake`: length K, exactly 0.0 on sleepers; changes nothing."""
        awake = listed(awake)
        with self._lock:
            mask = self._arms.awake(awake)[1]
            if self._law is None:
                return plain_law(self._policy, self._state, mask)
            p = np.zeros(mask.size)
            self._law(mask, p, self._fields)
            return p

    def add_arm(self, name: Hashable | None = None) -> Hashable:
        """Add an arm and return its name; it is treated as one that was asleep until now."""
        with self._lock:
            grown = self._policy.grow(self._state, len(self._arms) + 1)
            position = self._arms.add(name)
            self._use(grown)
            return self._arms.names[position]

    def retire_arm(self, name: Hashable) -> None:
        """Let an arm sleep for good; its name stays taken and late feedback is still learned."""
        with self._lock:
            self._arms.retire(name)

    def switch_gains(self) -> Floats:
        """Return the K x K matrix of estimated gains, had j been played whenever i was and j was awake."""
        return self._policy.switch_gains(self._state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to `path`, atomically; `load` continues with the very same choices."""
        with self._lock:
            header = {**self._header(), "arms": plain_names(self._arms.names)}
            if not _can_be_read(header["policy"], self._policy):
                raise ValueError(must_be("policy", "made of plain values to be saved", self._policy))
            files.write(path, header, self._state._asdict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Bandit":
        """Read what `save` wrote; a policy class of your own must have been imported before."""
        return files.read(path, KIND, cls._restored)

    def __repr__(self) -> str:
        """Show the policy, the arms and how many decisions were made."""
        return f"<Bandit {self._policy!r}, {len(self._arms)} arms, {self._rounds} rounds>"

    def __deepcopy__(self, memo: Any) -> "Bandit":
        """Return a bandit that is the same and goes its own way."""
        with self._lock:
            return self._restored(self._header(), {k: v.copy() for k, v in self._state._asdict().items()})

    def _header(self) -> dict[str, Any]:
        """Return all that is not the state."""
        return {
            "kind": KIND,
            "policy": self._policy.to_dict(),
            "arms": list(self._arms.names),
            "retired": np.flatnonzero(self._arms.retired).tolist(),
            "fewest_arms": self._fewest,
            "rounds": self._rounds,
            "random": self._stream.state,
        }

    def _use(self, state: Any) -> None:
        """Take `state` as the current one, and the compiled steps for it if the policy has kernels."""
        self._state = state
        self._law = self._choose = self._update = None
        if self._policy.kernels is not None:
            n_arms = len(self._arms)
            self._fields = self._policy.fields(state, n_arms)
            self._law, self._choose, self._update = (
                compiled(self._policy, entry, state, n_arms) for entry in ("law", "choose", "update")
            )

    @classmethod
    def _restored(cls, header: dict[str, Any], arrays: dict[str, Any]) -> "Bandit":
        """Return the bandit of a file, if all its parts fit each other."""
        if not isinstance(header["arms"], list):
            raise TypeError(must_be("arms", "a list of names", header["arms"]))
        bandit = cls(Policy.from_dict(header["policy"]), header["arms"])
        for position in header["retired"]:
            bandit._arms.retire(bandit.arms[whole("retired", position, "positions of arms", 0)])
        bandit._fewest = whole("fewest_arms", header["fewest_arms"], "at least 1", 1)
        if bandit._fewest > len(bandit.arms):
            raise ValueError(must_be("fewest_arms", "at most all arms", bandit._fewest))
        bandit._rounds = whole("rounds", header["rounds"], "at least 0", 0)
        bandit._stream.state = header["random"]
        if set(arrays) != set(bandit.state._fields):
            raise ValueError(must_be("arrays", ", ".join(bandit.state._fields), sorted(arrays)))
        ordered = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        bandit._use(fitting_state(bandit.policy, type(bandit.state)(**ordered), len(bandit.arms)))
        return bandit

    def _placed(self, decision: Decision) -> tuple[int, Mask, float, float]:
        """Return position, mask, probability and memo of a decision that may be this bandit's, else refuse it."""
        if type(decision) is not Decision:
            raise TypeError(must_be("decision", "a Decision from choose or Decision.from_dict", decision))
        arm, probability, awake, p, clock, memo = decision
        position = self._arms.of("decision.arm", arm)
        names, mask = self._arms.known(awake, "decision.awake")
        if names is not awake and names != awake:
            raise ValueError(must_be("decision.awake", "a tuple in the order of this bandit's arms", awake))
        if type(p) is not np.ndarray or (p.dtype is not FLOAT64 and p.dtype != FLOAT64) or not p.flags.c_contiguous:
            raise TypeError(must_be("decision.probabilities", "a float64 array", p))
        if p.shape != mask.shape and not self._is_earlier(p, mask):
            raise ValueError(must_be("decision.probabilities", f"one for each of {mask.size} arms", p))
        if type(probability) is not float:
            probability = real("decision.probability", probability, "between 0 and 1", 0.0, 1.0)
        if type(memo) is not float:
            memo = real("decision.memo", memo, "zero or positive", 0.0)
        if type(clock) is not int or clock < 1:
            whole("decision.clock", clock, "a whole number, at least 1", 1)
        return position, mask, probability, memo

    def _is_earlier(self, p: Floats, mask: Mask) -> bool:
        """Whether `p` is as long as a law was before arms were added, and they sleep in `mask`."""
        return p.ndim == 1 and self._fewest <= p.size < mask.size and not mask[p.size :].any()

    def _update_plainly(self, decision: Decision, position: int, mask: Mask, loss: float) -> int:
        """Update a policy without kernels, in terms of positions; answer as compiled code does."""
        p = np.zeros(mask.size)
        p[: decision.probabilities.size] = decision.probabilities
        if not is_law(p, mask):
            return NOT_A_LAW
        if p[position] != decision.probability or p[position] < FLOOR:
            return NOT_DRAWN
        if not 0.0 <= decision.memo < math.inf:
            return NO_MEMO
        here = tuple(np.flatnonzero(mask).tolist())
        self._policy.update(self._state, decision._replace(arm=position, awake=here, probabilities=p), loss)
        return FINE


def _can_be_read(record: Any, policy: Policy) -> bool:
    """Whether a policy survives JSON."""
    try:
        return Policy.from_dict(json.loads(json.dumps(record))) == policy
    except (TypeError, ValueError):
        return False


def _loss(loss: float | None, reward: float | None) -> float:
    """Return the loss that exactly one of `loss` and `reward` gives."""
    if (loss is None) == (reward is None):
        raise ValueError(must_be("feedback", "exactly one of loss and reward", {"loss": loss, "reward": reward}))
    if reward is not None:
        return 1.0 - _share("reward", reward)
    return _share("loss", loss)


def _share(name: str, value: Any) -> float:
    """Return a number in [0, 1]; True and False count as 1 and 0."""
    if type(value) is float and 0.0 <= value <= 1.0:
        return value
    return real(
        name, float(value) if isinstance(value, bool | np.bool_) else value, "a number between 0 and 1", 0.0, 1.0
    )


def _refusal(decision: Decision, answer: int) -> str:
    """Return the sentence for what `update` answered."""
    if answer == NOT_DRAWN:
        rule = "that of an arm which its probabilities can have drawn"
        return must_be("decision.probability", rule, decision.probability)
    if answer == NO_MEMO:
        return must_be("decision.memo", "zero or positive, and finite", decision.memo)
    return must_be("decision.probabilities", LAW, decision.probabilities)
