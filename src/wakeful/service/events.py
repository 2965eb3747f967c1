"""The events of a bandit's log: what each holds, how it is written, and the chain of hashes over all of them.

Arms are written as positions, in the order in which they were added; a position is never used again. A set of arms is
one bit for each arm that there was at that time, and probabilities are written exactly, eight bytes each, of the arms
in the set.
"""

from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder

from wakeful.numerics.arrays import Floats, Mask

BEGINNING = sha256(b"wakeful log 1").digest()  # what the first event of every log is chained to


class Event(Struct, array_like=True):
    """Something that happened to a bandit, at a `time` in seconds since 1970; times never go back within a log."""

    time: float

    @property
    def own_id(self) -> str | None:
        """The client's own id of a decision, by which a repeated request is known."""
        return None

    @property
    def about(self) -> int | None:
        """The decision whose wait this event ends; less than zero for late feedback, which ends nothing."""
        return None


class Choosing(Event):
    """A choice was made; `id` is the client's own, or ""."""

    id: str

    @property
    def own_id(self) -> str | None:
        """The client's own id, if it gave one."""
        return self.id or None


class Ending(Event):
    """Something about the decision of event number `decision` came, or did not."""

    decision: int

    @property
    def about(self) -> int:
        """The decision."""
        return self.decision


class Created(Event, tag=1):
    """The bandit was made. `seed` is that of its draws."""

    name: str
    kind: str
    policy: dict[str, Any]
    arms: list[str]
    seed: int
    wait: float | None
    default_loss: float | None
    versions: str


class Configured(Event, tag=2):
    """Settings changed; `wait` holds for decisions from now on."""

    wait: float | None
    default_loss: float | None


class ArmAdded(Event, tag=3):
    """An arm was added, at the next position."""

    arm: str


class ArmRetired(Event, tag=4):
    """An arm was retired."""

    arm: int


class ArmRevived(Event, tag=5):
    """A retired arm is available again."""

    arm: int


class Decided(Choosing, tag=6):
    """A decision: all of `wakeful.Decision`, the client's own `id` or "", and until when feedback may come."""

    n_arms: int
    awake: bytes
    probabilities: bytes
    arm: int
    clock: int
    memo: float
    deadline: float | None
    versions: str


class Dueled(Choosing, tag=7):
    """A duel: all of `wakeful.Duel`, for each arm drawn whom it was drawn from and with which probabilities.

    `limits` are the `groups`, `within` or `pairs` that were asked for, without which it could not be computed again.
    """

    n_arms: int
    arms: list[int]
    allowed: list[bytes]
    laws: list[bytes]
    clock: int
    memos: list[float]
    shown: list[int]
    group: str | None
    deadline: float | None
    versions: str
    limits: dict[str, Any] | None = None


class Answered(Ending, tag=8):
    """Feedback for the decision of event number `decision`: its loss, or the left arm's share of the win."""

    value: float


class Expired(Ending, tag=9):
    """No feedback came in time: from now on none is learned. `value` is the default loss that was, or None."""

    value: float | None


class Late(Ending, tag=10):
    """Feedback that came after the decision had expired; it is not learned."""

    value: float

    @property
    def about(self) -> int:
        """The decision, as a number less than zero."""
        return -self.decision


class Recorded(Event, tag=11):
    """A decision that somebody else made."""

    arm: int
    n_arms: int
    awake: bytes
    probability: float | None
    loss: float


class DuelRecorded(Event, tag=12):
    """A duel that somebody else arranged; `share` is the left arm's of the win."""

    left: int
    right: int
    share: float
    group: str | None
    probability: float | None
    n_arms: int
    awake: bytes | None


AnyEvent = (
    Created
    | Configured
    | ArmAdded
    | ArmRetired
    | ArmRevived
    | Decided
    | Dueled
    | Answered
    | Expired
    | Late
    | Recorded
    | DuelRecorded
)
Choice = Decided | Dueled  # what feedback can be about
Outcome = Answered | Expired  # what ends the wait for it
encode = Encoder().encode
decode = Decoder(AnyEvent).decode


class Entry(NamedTuple):
    """An event in its place: its number from 1, its bytes, and the hash of the log up to it."""

    number: int
    event: AnyEvent
    body: bytes
    hash: bytes

    @property
    def own_id(self) -> str | None:
        """The client's own id of a decision."""
        return self.event.own_id

    @property
    def about(self) -> int | None:
        """The decision whose wait the event ends; less than zero for late feedback."""
        return self.event.about


def chained(before: bytes, number: int, body: bytes) -> bytes:
    """Return the hash of a log up to the event `number` with this body, given the hash up to the event before it."""
    return sha256(before + number.to_bytes(8, "big") + body).digest()


def entry(before: bytes, number: int, event: AnyEvent) -> Entry:
    """Return an event in its place after the log whose hash is `before`."""
    body = encode(event)
    return Entry(number, event, body, chained(before, number, body))


def packed(mask: Mask) -> bytes:
    """Return a set of arms as bits."""
    return np.packbits(mask).tobytes()


def unpacked(bits: bytes, n_arms: int) -> Mask:
    """Return the set of arms that `packed` wrote."""
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=n_arms).view(np.bool_)


def spread(numbers: bytes, mask: Mask) -> Floats:
    """Return the probabilities of all arms, from those of the arms in `mask`; or rows of them, one after the other."""
    p = np.zeros(mask.shape)
    p[mask] = np.frombuffer(numbers, "<f8")
    return p
