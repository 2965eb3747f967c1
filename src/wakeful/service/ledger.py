"""`Ledger`: the state of one bandit, folded from its log, event by event, in the order of the log."""

import sys
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from wakeful.bandits.bandit import Bandit
from wakeful.bandits.dueling_bandit import DuelingBandit
from wakeful.duels.duel import Duel
from wakeful.duels.policy import DuelingPolicy
from wakeful.numerics.arrays import Ints, Mask
from wakeful.policies.decision import Decision
from wakeful.policies.policy import Policy
from wakeful.policies.spec import full_name
from wakeful.service.events import (
    BEGINNING,
    Answered,
    AnyEvent,
    ArmAdded,
    ArmRetired,
    ArmRevived,
    Choice,
    Configured,
    Created,
    Decided,
    Dueled,
    DuelRecorded,
    Entry,
    Expired,
    Late,
    Outcome,
    Recorded,
    packed,
    spread,
    unpacked,
)

MOST_SETS = 4096  # awake sets whose names and bits are kept at hand
MOST_TOGETHER = 100_000  # probabilities of decisions that are folded together


class Saved(Struct, frozen=True, array_like=True):
    """A ledger as bytes hold it."""

    created: Created
    head: int
    hash: bytes
    time: float
    wait: float | None
    default_loss: float | None
    decisions: int
    feedback: int
    expired: int
    late: int
    waiting: list[tuple[int, float]]
    bandit: bytes


class Ledger:
    """One bandit and how much has happened to it: a function of its log alone.

    Attributes:
        bandit: the `Bandit` or `DuelingBandit`
        head, hash: number of the last event, and the hash of the log up to it
        time: of the last event
        waiting: the deadlines of decisions that wait for feedback, by number of event, where they have one
    """

    def __init__(self, created: Created) -> None:
        self.created_by = created
        self.head, self.hash, self.time = 0, BEGINNING, created.time
        self.wait, self.default_loss = created.wait, created.default_loss
        self.decisions = self.feedback = self.expired = self.late = 0
        self.waiting: dict[int, float] = {}
        self.bandit: Any
        if created.kind == "dueling":
            self.bandit = DuelingBandit(DuelingPolicy.from_dict(created.policy), created.arms, created.seed)
        else:
            self.bandit = Bandit(Policy.from_dict(created.policy), created.arms, created.seed)
        self._name_arms()

    def _name_arms(self) -> None:
        """Take the names of the arms, and forget what depends on how many there are."""
        self.names: tuple[str, ...] = self.bandit.arms
        self.positions = {name: k for k, name in enumerate(self.names)}
        self.decider = full_name(self.bandit.policy)  # which every decision carries
        self._has_kernels = self.kind != "dueling" and self.bandit.policy.kernels is not None
        self._bits: dict[Hashable, tuple[bytes, Ints]] = {}  # by names
        self._sets: dict[bytes, tuple[tuple[Any, ...], Mask]] = {}  # by bits

    @property
    def name(self) -> str:
        """The name of the bandit."""
        return self.created_by.name

    @property
    def kind(self) -> str:
        """`"bandit"` or `"dueling"`."""
        return self.created_by.kind

    @property
    def created(self) -> float:
        """When it was made."""
        return self.created_by.time

    @property
    def pending(self) -> int:
        """How many decisions wait for feedback, with or without a deadline."""
        return self.decisions - self.feedback - self.expired

    def take(self, item: Entry, choice: Choice | None = None, made: Decision | Duel | None = None) -> None:
        """Fold the next event.

        Parameters:
            item: the event, whose number is the one after `head`
            choice: what it is about, if it is feedback or an expiry
            made: the decision it holds, if that is at hand
        """
        event = item.event
        if isinstance(event, Choice):
            self.bandit.admit(self.decision_of(event) if made is None else made)
            self.decisions += 1
            if event.deadline is not None:
                self.waiting[item.number] = event.deadline
        elif isinstance(event, Outcome):
            self._settle(event, choice)
        else:
            self._change(event)
        self.head, self.hash, self.time = item.number, item.hash, event.time

    def take_all(self, tail: Sequence[tuple[Entry, Choice | None]]) -> None:
        """Fold the next events, each with what it is about; decisions that follow one another are folded together."""
        run: list[Entry] = []
        for item, choice in tail:
            event = item.event
            if self._has_kernels and type(event) is Decided and event.n_arms == len(self.names):
                run.append(item)
                if len(run) * len(self.names) >= MOST_TOGETHER:
                    self._take_run(run)
            else:
                self._take_run(run)
                self.take(item, choice)
        self._take_run(run)

    def _take_run(self, items: list[Entry]) -> None:
        """Fold decisions without names, as `take` does each of them, and empty the list."""
        if not items:
            return
        made: list[Any] = [item.event for item in items]
        bits = np.frombuffer(b"".join([event.awake for event in made]), np.uint8)
        masks = np.unpackbits(bits.reshape(len(made), -1), axis=1, count=len(self.names)).view(np.bool_)
        laws = spread(b"".join([event.probabilities for event in made]), masks)
        n = self.bandit.admit_rows(masks, laws, [event.arm for event in made], [event.memo for event in made])
        self.decisions += n
        for item, event in zip(items[:n], made, strict=False):
            if event.deadline is not None:
                self.waiting[item.number] = event.deadline
            self.head, self.hash, self.time = item.number, item.hash, event.time
        for item in items[n:]:
            self.take(item)  # which says what is wrong with it
        items.clear()

    def _settle(self, event: Answered | Expired, choice: Choice | None) -> None:
        """Learn from feedback, or from its absence."""
        if choice is None:
            raise ValueError(f"event about decision {event.decision} must be folded with that decision")
        if event.value is not None:
            decision = self.decision_of(choice)
            if isinstance(decision, Duel):
                self.bandit.update(decision, winner=event.value)
            else:
                self.bandit.update(decision, loss=event.value)
        if isinstance(event, Answered):
            self.feedback += 1
        else:
            self.expired += 1
        self.waiting.pop(event.decision, None)

    def _change(self, event: AnyEvent) -> None:
        """Fold all that is neither a decision nor the end of its wait."""
        match event:
            case Configured():
                self.wait, self.default_loss = event.wait, event.default_loss
            case ArmAdded():
                self.bandit.add_arm(event.arm)
                self._name_arms()
            case ArmRetired():
                self.bandit.retire_arm(self.names[event.arm])
            case ArmRevived():
                self.bandit.revive_arm(self.names[event.arm])
            case Late():
                self.late += 1
            case Recorded():
                names = self.names_of(event.awake, event.n_arms)[0]
                arm = self.names[event.arm]
                self.bandit.record(arm, awake=names, probability=event.probability, loss=event.loss)
            case DuelRecorded():
                left, right = self.names[event.left], self.names[event.right]
                awake = None if event.awake is None else self.names_of(event.awake, event.n_arms)[0]
                chance = event.probability
                self.bandit.record(left, right, winner=event.share, group=event.group, probability=chance, awake=awake)

    def decided(self, decision: Decision, own_id: str, time: float, versions: str) -> Decided:
        """Return the event of a decision."""
        bits, here = self.bits_of(decision.awake)
        p = decision.probabilities
        arm, deadline = self.positions[decision.arm], None if self.wait is None else time + self.wait
        chances = p[here].astype("<f8", copy=False).tobytes()
        clock, memo = decision.clock, decision.memo
        return Decided(time, own_id, p.size, bits, chances, arm, clock, memo, deadline, versions)

    def dueled(self, duel: Duel, own_id: str, time: float, versions: str, limits: dict[str, Any] | None) -> Dueled:
        """Return the event of a duel, with the limits on who may meet whom that were asked for."""
        sets = [self.bits_of(names) for names in duel.allowed]
        laws = [row[here].astype("<f8", copy=False).tobytes() for row, (_, here) in zip(duel.laws, sets, strict=True)]
        deadline = None if self.wait is None else time + self.wait
        group = None if duel.group is None else str(duel.group)
        return Dueled(
            time,
            own_id,
            duel.laws.shape[1],
            [self.positions[arm] for arm in duel.arms],
            [bits for bits, _ in sets],
            laws,
            duel.clock,
            list(duel.memos),
            list(duel.shown),
            group,
            deadline,
            versions,
            limits,
        )

    def decision_of(self, event: Choice) -> Decision | Duel:
        """Return the decision or duel that an event holds, exactly as it was."""
        names = self.names
        if isinstance(event, Decided):
            awake, mask = self.names_of(event.awake, event.n_arms)
            p = spread(event.probabilities, mask)
            chance = float(p[event.arm])
            return Decision(names[event.arm], chance, awake, p, event.clock, event.memo, self.decider)
        sets = [self.names_of(bits, event.n_arms) for bits in event.allowed]
        laws = np.array([spread(row, mask) for row, (_, mask) in zip(event.laws, sets, strict=True)])
        chances = tuple(float(laws[m, arm]) for m, arm in enumerate(event.arms))
        return Duel(
            tuple(names[arm] for arm in event.arms),
            chances,
            tuple(allowed for allowed, _ in sets),
            laws,
            event.clock,
            tuple(event.memos),
            self.decider,
            tuple(event.shown),
            event.group,
        )

    def bits_of(self, names: tuple[Any, ...]) -> tuple[bytes, Ints]:
        """Return a set of arms, in the order of the arms, as bits and as positions."""
        try:
            return self._bits[names]
        except KeyError:
            pass
        if len(self._bits) >= MOST_SETS:
            self._bits.clear()
        here = np.array([self.positions[name] for name in names], np.int64)
        mask = np.zeros(len(self.names), np.bool_)
        mask[here] = True
        found = self._bits[names] = packed(mask), here
        return found

    def names_of(self, bits: bytes, n_arms: int) -> tuple[tuple[Any, ...], Mask]:
        """Return the names of a set of arms, and the set as a mask of the first `n_arms` arms."""
        found = self._sets.get(bits)
        if found is not None and found[1].size == n_arms:
            return found
        if len(self._sets) >= MOST_SETS:
            self._sets.clear()
        mask = unpacked(bits, n_arms)
        made = self._sets[bits] = tuple([self.names[k] for k in np.flatnonzero(mask).tolist()]), mask
        return made

    def to_bytes(self) -> bytes:
        """Return everything, for a snapshot."""
        return save(
            Saved(
                self.created_by,
                self.head,
                self.hash,
                self.time,
                self.wait,
                self.default_loss,
                self.decisions,
                self.feedback,
                self.expired,
                self.late,
                list(self.waiting.items()),
                self.bandit.to_bytes(),
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> "Ledger":
        """Return what `to_bytes` wrote."""
        saved = restore(data)
        ledger = cls.__new__(cls)
        ledger.created_by = saved.created
        for field in ("head", "hash", "time", "wait", "default_loss", "decisions", "feedback", "expired", "late"):
            setattr(ledger, field, getattr(saved, field))
        ledger.waiting = dict(saved.waiting)
        kind: Any = DuelingBandit if saved.created.kind == "dueling" else Bandit
        ledger.bandit = kind.from_bytes(saved.bandit, max_bytes=sys.maxsize)
        ledger._name_arms()
        return ledger


save = Encoder().encode
restore = Decoder(Saved).decode
