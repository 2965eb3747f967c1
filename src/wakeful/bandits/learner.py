"""`Learner`, the common part of `Bandit` and `DuelingBandit`: policy, names, state, random stream, saving, loading."""

import json
import os
import sys
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from wakeful import files
from wakeful.bandits.arms import Arms, new_name
from wakeful.bandits.random_stream import SAVED, Seed, Stream, checked_seed
from wakeful.inputs import must_be, real, whole
from wakeful.limits import MAX_BYTES, at_most, claim, state_bytes
from wakeful.policies.spec import Recipe, full_name

Kind = TypeVar("Kind", bound=Recipe)


class Learner(ABC, Generic[Kind]):
    """A policy with names for its arms, its state and its random stream; threads may share it."""

    kind: ClassVar[str]  # what its files are called
    recipe: ClassVar[type[Recipe]]  # what its policy is
    added: ClassVar[frozenset[str]] = frozenset()  # arrays that files of earlier versions do not have

    _state: Any

    def __init__(
        self, policy: Kind, arms: int | Iterable[Hashable], seed: int | np.random.SeedSequence | None = None
    ) -> None:
        self._policy = policy
        self._decider = full_name(policy)  # the policy's name, which every decision carries
        self._arms = Arms(arms)
        self._initial_arms = len(self._arms)  # arms at the first decision: no decision has fewer probabilities
        self._stream = Stream(seed)
        self._rounds = 0
        self._lock = threading.Lock()
        with _adding:
            _alive.add(self)

    @property
    def policy(self) -> Kind:
        """The policy."""
        return self._policy

    @property
    def arms(self) -> tuple[Hashable, ...]:
        """The names of all arms, retired ones among them."""
        return tuple(self._arms.names)

    @property
    def retired(self) -> tuple[Hashable, ...]:
        """The names of the retired arms."""
        with self._lock:
            return tuple(n for n, gone in zip(self._arms.names, self._arms.retired, strict=True) if gone)

    @property
    def rounds(self) -> int:
        """How many decisions were made."""
        return self._rounds

    @property
    def state(self) -> Any:
        """What was learned: a named tuple of arrays; do not change it."""
        return self._state

    def add_arm(self, name: Hashable | None = None) -> Hashable:
        """Add an arm and return its name; it is treated as one that was asleep until now."""
        with self._lock:
            return self._add(name)

    def ensure_arms(self, names: Iterable[Hashable]) -> tuple[Hashable, ...]:
        """Add the arms of `names` that are not there yet, and revive those that are retired; return what was added.

        Other arms stay as they are. Calling it again, or from several programs that share a state, changes nothing.
        """
        if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
            raise TypeError(must_be("names", "a list of names", names))
        wanted = list(dict.fromkeys(new_name(name, "names") for name in names))
        with self._lock:
            missing = [name for name in wanted if name not in self._arms.position]
            for name in missing:
                self._add(name)
            for name in wanted:
                self._arms.revive(name)
        return tuple(missing)

    def retire_arm(self, name: Hashable) -> None:
        """Make an arm unavailable until `revive_arm`; it keeps its name, and late feedback is still learned."""
        with self._lock:
            self._arms.retire(name)

    def revive_arm(self, name: Hashable) -> None:
        """Make a retired arm available again, with all that was learned of it; it was asleep meanwhile."""
        with self._lock:
            self._arms.revive(name)

    def to_record(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON, and the arrays, copied, by name under `arrays`.

        `json.dumps(record, default=np.ndarray.tolist)` writes all of it; `from_record` takes lists as well as arrays.
        """
        with self._lock:
            record = self._record()
        if not _can_be_read(record["policy"], self._policy):
            raise ValueError(must_be("policy", "made of plain values to be saved", self._policy))
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any], max_bytes: int = MAX_BYTES) -> Self:
        """Return what `to_record` described; a policy class of your own must have been imported before.

        Its state may take at most `max_bytes` of memory.
        """
        rule = f"one that {cls.__name__}.to_record returned"
        if not isinstance(record, Mapping):
            raise TypeError(must_be("record", rule, record))
        if record.get("kind") != cls.kind:
            raise ValueError(must_be("record['kind']", repr(cls.kind), record.get("kind")))
        if not files.is_readable(record.get("version")):
            raise ValueError(must_be("record['version']", f"from 1 to {files.VERSION}", record.get("version")))
        most = whole("max_bytes", max_bytes, "a number of bytes, at least 1", 1)
        try:
            with at_most(most):
                return cls._restored(record)
        except Exception as problem:  # records from outside can fail in any way; the error says that they are wrong
            raise ValueError(must_be("record", rule, list(record)) + f": {problem}") from problem

    def to_bytes(self) -> bytes:
        """Return the bytes that `save` writes, for a database or a cache."""
        record = self.to_record()
        arrays = record.pop("arrays")
        return files.encode(record, arrays)

    @classmethod
    def from_bytes(cls, data: bytes, max_bytes: int = MAX_BYTES, seed: Seed = SAVED) -> Self:
        """Return what `to_bytes` described, as `load` does of a file."""
        _refuse_bad_seed(seed)
        return files.decode(data, cls.kind, partial(cls._built, seed), max_bytes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to `path`, atomically; `load` continues with the very same choices."""
        record = self.to_record()
        arrays = record.pop("arrays")
        files.write(path, record, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], max_bytes: int = MAX_BYTES, seed: Seed = SAVED) -> Self:
        """Read what `save` wrote; a policy class of your own must have been imported before.

        Without a `seed` it goes on with the random numbers of the one that was saved. If that one goes on as well, both
        draw the same numbers: give the copy a `seed` of its own (None for a fresh one), or let one process decide.

        Parameters:
            path: of the file
            max_bytes: a file that would take more memory is refused before it is unpacked
            seed: of a new random stream: a whole number, a `numpy.random.SeedSequence`, or None for a fresh one
        """
        _refuse_bad_seed(seed)
        return files.read(path, cls.kind, partial(cls._built, seed), max_bytes)

    def __repr__(self) -> str:
        """Show the policy, the arms and how many decisions were made."""
        return f"<{type(self).__name__} {self._policy!r}, {len(self._arms)} arms, {self._rounds} rounds>"

    def __copy__(self) -> Self:
        """Return an independent copy, which shares nothing with this one."""
        with self._lock:
            record = self._record()
        return self._restored(record)

    def __deepcopy__(self, memo: Any) -> Self:
        """Do what `__copy__` does."""
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        """Let process pools send it: what travels are the bytes of `to_bytes`."""
        return partial(type(self).from_bytes, max_bytes=sys.maxsize), (self.to_bytes(),)

    def _record(self) -> dict[str, Any]:
        """Return what `to_record` does, whether the policy can be read again or not."""
        return {
            "version": files.VERSION,
            "kind": self.kind,
            "policy": self._policy.to_dict(),
            "arms": list(self._arms.names),
            "retired": np.flatnonzero(self._arms.retired).tolist(),
            "fewest_arms": self._initial_arms,
            "rounds": self._rounds,
            "random": self._stream.state,
            "arrays": {name: array.copy() for name, array in self._state._asdict().items()},
        }

    @classmethod
    def _built(cls, seed: Seed, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return what a file holds, with a new random stream if there is a seed for one."""
        learner = cls._restored({**header, "arrays": arrays})
        if seed is not SAVED:
            learner._stream = Stream(seed)
        return learner

    @classmethod
    def _restored(cls, record: Mapping[str, Any]) -> Self:
        """Return what a record describes, if all its parts fit each other."""
        if not isinstance(record["arms"], list):
            raise TypeError(must_be("arms", "a list of names", record["arms"]))
        if not isinstance(record["arrays"], Mapping):
            raise TypeError(must_be("arrays", "arrays by name", record["arrays"]))
        policy = cls.recipe.from_dict(record["policy"])
        claim("arms", f"{len(record['arms'])} of them", cls._state_bytes(policy, len(record["arms"])))
        learner = cls(policy, record["arms"])  # type: ignore[arg-type]
        for position in record["retired"]:
            learner._arms.retire(learner.arms[whole("retired", position, "positions of arms", 0)])
        learner._initial_arms = whole("fewest_arms", record["fewest_arms"], "at least 1", 1)
        if learner._initial_arms > len(learner.arms):
            raise ValueError(must_be("fewest_arms", "at most all arms", learner._initial_arms))
        learner._rounds = whole("rounds", record["rounds"], "at least 0", 0)
        learner._stream.state = record["random"]
        needed = learner._record()["arrays"]
        if set(record["arrays"]) | (cls.added if record["version"] == 1 else set()) != set(needed):
            raise ValueError(must_be("arrays", ", ".join(needed), sorted(record["arrays"])))
        arrays = {name: _restored_array(given, needed[name]) for name, given in record["arrays"].items()}
        learner._use(learner._fitting(record, arrays))
        return learner

    @classmethod
    def _state_bytes(cls, policy: Any, n_arms: int) -> int:
        """Return about how many bytes the state of a new learner takes."""
        return state_bytes(policy.start, n_arms)

    def _check_decider(self, field: str, decider: Any) -> None:
        """Refuse a decision of another policy; one that does not say whose it is counts as this bandit's."""
        rule = f"{self._decider!r}, that of this bandit"
        if not isinstance(decider, str):
            raise TypeError(must_be(field, rule, decider))
        if decider and decider != self._decider:
            raise ValueError(must_be(field, rule, decider))

    @abstractmethod
    def _add(self, name: Hashable | None) -> Hashable:
        """Add an arm and return its name; the lock is held."""

    @abstractmethod
    def _use(self, state: Any) -> None:
        """Take `state` as the current one."""

    @abstractmethod
    def _fitting(self, record: Mapping[str, Any], arrays: dict[str, Any]) -> Any:
        """Return the state of these arrays, if it is one of the policy's."""


def _refuse_bad_seed(seed: Seed) -> None:
    """Raise for what is no seed, before a file is read: it is not the file that is wrong."""
    if seed is not SAVED:
        checked_seed(seed)


def _restored_array(given: Any, like: Any) -> Any:
    """Return an array of a record; a list, which JSON makes of an array, gets the type and shape of `like` again."""
    found = np.array(given, order="C")
    if isinstance(given, np.ndarray):
        return found
    if found.size == like.size == 0:
        found = found.reshape(like.shape)
    typed = found.astype(like.dtype)
    return typed if np.array_equal(typed, found) else found


def copied(state: Any) -> Any:
    """Return a state that is the same and shares nothing."""
    return type(state)(*(array.copy() for array in state))


def checked_uniform(name: str, value: Any) -> float:
    """Return a number of [0, 1)."""
    rule = "a number from 0 to 1, 1 excluded"
    number = real(name, value, rule, 0.0, 1.0)
    if number == 1.0:
        raise ValueError(must_be(name, rule, value))
    return number


def _can_be_read(record: Any, policy: Recipe) -> bool:
    """Whether a policy survives JSON."""
    try:
        return Recipe.from_dict(json.loads(json.dumps(record))) == policy
    except (TypeError, ValueError):
        return False


# A fork copies locks in their current state, but not the threads that would release them. So a fork waits until no call
# of any learner is running; the child then starts with consistent learners and free locks.
LOCK_SECONDS = 1.0  # seconds for a call in another thread to end; after that the child gets a new lock
_alive: "weakref.WeakSet[Learner[Any]]" = weakref.WeakSet()
_adding = threading.Lock()
_waited: list[threading.Lock] = []
_forks = [0]  # how often this process has forked, those before it counted


def _before_fork() -> None:
    """Wait for every call under way, and let none begin."""
    _adding.acquire()
    _forks[0] += 1
    locks = [learner._lock for learner in _alive]
    _waited.extend(lock for lock in locks if lock.acquire(timeout=LOCK_SECONDS))


def _after_fork() -> None:
    """Let calls begin again."""
    while _waited:
        _waited.pop().release()
    _adding.release()


def _in_child() -> None:
    """Do the same; replace locks that a thread of the parent held, and random streams, which would repeat its draws."""
    for learner in list(_alive):
        if learner._lock not in _waited:
            learner._lock = threading.Lock()
        learner._stream = learner._stream.branch(_forks[0])
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
