"""What bandits and dueling bandits share: a policy, names, a state, a random stream, and a file to keep them in."""

import json
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from wakeful import files
from wakeful.arms import Arms, plain_names
from wakeful.inputs import must_be, whole
from wakeful.recipe import Recipe, full_name
from wakeful.stream import Stream

Kind = TypeVar("Kind", bound=Recipe)


class Learner(ABC, Generic[Kind]):
    """A policy with names for its arms, its state and its random stream; threads may share it."""

    kind: ClassVar[str]  # what its files are called
    recipe: ClassVar[type[Recipe]]  # what its policy is

    _state: Any

    def __init__(
        self, policy: Kind, arms: int | Iterable[Hashable], seed: int | np.random.SeedSequence | None = None
    ) -> None:
        self._policy = policy
        self._decider = full_name(policy)  # what its decisions say of who made them
        self._arms = Arms(arms)
        self._fewest = len(self._arms)  # arms at the first decision: the shortest law a decision can carry
        self._stream = Stream(seed)
        self._rounds = 0
        self._lock = threading.Lock()

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
        return tuple(n for n, gone in zip(self._arms.names, self._arms.retired, strict=True) if gone)

    @property
    def rounds(self) -> int:
        """How many decisions were made."""
        return self._rounds

    @property
    def state(self) -> Any:
        """What was learned: a named tuple of arrays; look, and do not touch."""
        return self._state

    def retire_arm(self, name: Hashable) -> None:
        """Let an arm sleep for good; its name stays taken and late feedback is still learned."""
        with self._lock:
            self._arms.retire(name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to `path`, atomically; `load` continues with the very same choices."""
        with self._lock:
            header = {**self._header(), "arms": plain_names(self._arms.names)}
            if not _can_be_read(header["policy"], self._policy):
                raise ValueError(must_be("policy", "made of plain values to be saved", self._policy))
            files.write(path, header, self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; a policy class of your own must have been imported before."""
        return files.read(path, cls.kind, cls._restored)

    def __repr__(self) -> str:
        """Show the policy, the arms and how many decisions were made."""
        return f"<{type(self).__name__} {self._policy!r}, {len(self._arms)} arms, {self._rounds} rounds>"

    def __deepcopy__(self, memo: Any) -> Self:
        """Return one that is the same and goes its own way."""
        with self._lock:
            return self._restored(self._header(), {name: array.copy() for name, array in self._arrays().items()})

    def _arrays(self) -> dict[str, Any]:
        """Return all that a file keeps as arrays, by name."""
        arrays: dict[str, Any] = self._state._asdict()
        return arrays

    def _header(self) -> dict[str, Any]:
        """Return all that is not an array."""
        return {
            "kind": self.kind,
            "policy": self._policy.to_dict(),
            "arms": list(self._arms.names),
            "retired": np.flatnonzero(self._arms.retired).tolist(),
            "fewest_arms": self._fewest,
            "rounds": self._rounds,
            "random": self._stream.state,
        }

    @classmethod
    def _restored(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        """Return what a file holds, if all its parts fit each other."""
        if not isinstance(header["arms"], list):
            raise TypeError(must_be("arms", "a list of names", header["arms"]))
        learner = cls(cls.recipe.from_dict(header["policy"]), header["arms"])  # type: ignore[arg-type]
        for position in header["retired"]:
            learner._arms.retire(learner.arms[whole("retired", position, "positions of arms", 0)])
        learner._fewest = whole("fewest_arms", header["fewest_arms"], "at least 1", 1)
        if learner._fewest > len(learner.arms):
            raise ValueError(must_be("fewest_arms", "at most all arms", learner._fewest))
        learner._rounds = whole("rounds", header["rounds"], "at least 0", 0)
        learner._stream.state = header["random"]
        if set(arrays) != set(learner._arrays()):
            raise ValueError(must_be("arrays", ", ".join(learner._arrays()), sorted(arrays)))
        ordered = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        learner._use(learner._fitting(header, ordered))
        return learner

    def _check_decider(self, field: str, decider: Any) -> None:
        """Refuse a decision of another policy; one that does not say whose it is counts as this bandit's."""
        rule = f"{self._decider!r}, that of this bandit"
        if not isinstance(decider, str):
            raise TypeError(must_be(field, rule, decider))
        if decider and decider != self._decider:
            raise ValueError(must_be(field, rule, decider))

    @abstractmethod
    def _use(self, state: Any) -> None:
        """Take `state` as the current one."""

    @abstractmethod
    def _fitting(self, header: dict[str, Any], arrays: dict[str, Any]) -> Any:
        """Return the state of these arrays, if it is one of the policy's."""


def _can_be_read(record: Any, policy: Recipe) -> bool:
    """Whether a policy survives JSON."""
    try:
        return Recipe.from_dict(json.loads(json.dumps(record))) == policy
    except (TypeError, ValueError):
        return False
