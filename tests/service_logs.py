"""A small database of the service in which everything happens that can, for tests of what reads and keeps logs."""

import random
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

from wakeful.service.engine import Engine
from wakeful.service.events import BEGINNING, AnyEvent, entry
from wakeful.service.ledger import Ledger
from wakeful.service.messages import Changes, Feedback, NewBandit, NewDecision, NewRecord
from wakeful.service.requests import AddArm, Configure, Create, Decide, Record, Report, RetireArm
from wakeful.service.store import Store
from wakeful.service.stores import open_store
from wakeful.service.turn import versions

ARMS = ["tea", "coffee", "juice"]
GROUPS = {"tea": "hot", "coffee": "hot", "juice": "cold", "water": "cold"}
LIMITS: list[dict[str, Any]] = [
    {},
    {"distinct": True},
    {"groups": GROUPS, "awake": ARMS},
    {"groups": GROUPS, "within": True},
    {"pairs": [("tea", "juice"), ("coffee", "juice")], "group": "asked"},
]


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def fill(
    url: str, rounds: int = 30, *, policy: str | None = "SIExp3", arena: str | None = "UniformPairs", snapshot: int = 40
) -> Engine:
    """Make a shop and an arena, let everything happen to them, and return the engine, which the caller closes."""
    clock = Clock()
    engine = Engine(open_store(url), clock=clock, snapshot=snapshot)
    engine.run([
        Create("shop", NewBandit(arms=ARMS, policy=policy, seed=7, wait=12.0, default_loss=1.0)),
        Create("arena", NewBandit(arms=ARMS, kind="dueling", policy=arena, seed=7)),
        Record("shop", [NewRecord(arm="tea", awake=["tea", "juice"], probability=0.5, loss=0.25)]),
        Record("arena", [NewRecord(left="tea", right="juice", winner="tie", group="given")]),
        AddArm("shop", "water"), AddArm("arena", "water"),
    ])  # fmt: skip
    rng = random.Random(1)
    waiting: list[tuple[str, str]] = []
    forgotten: list[tuple[str, str]] = []
    for n in range(rounds):
        clock.now += 1.5
        asked = [Decide("shop", NewDecision(awake=rng.sample(ARMS, 2), id=f"mine {n}" if n % 3 == 0 else None))]
        asked += [Decide("arena", NewDecision(**LIMITS[n % len(LIMITS)]))]
        waiting += [(request.bandit, made.id) for request, (made, _) in zip(asked, engine.run(asked), strict=True)]
        rng.shuffle(waiting)
        late = [id for name, id in forgotten if name == "shop" and n % 7 == 0]
        engine.run([Report("shop", id, Feedback(loss=0.5)) for id in late[:1]])
        forgotten += [waiting.pop()] if n % 4 == 0 else []
        told = [waiting.pop() for _ in range(rng.randrange(1 + len(waiting) // 2))]
        engine.run([Report(name, id, feedback(name, rng)) for name, id in told])
        engine.sweep()
        if n == rounds // 2:
            engine.run([Configure("arena", Changes(wait=15.0)), RetireArm("shop", "water"), AddArm("shop", "water")])
    return engine


def feedback(name: str, rng: random.Random) -> Feedback:
    """Return some feedback."""
    if name == "shop":
        return Feedback(loss=rng.random())
    return Feedback(winner=rng.choice(["left", "right", "tie"]))


def events_of(store: Store, name: str) -> dict[int, AnyEvent]:
    """Return all events of a log."""
    with store.transaction(writes=False):
        row = store.row(name)
        assert row is not None
        return {item.number: item.event for item in store.entries(row, 0)}


def number_of(store: Store, name: str, kind: type, after: int = 0) -> int:
    """Return the number of the first event of a kind."""
    return next(n for n, event in events_of(store, name).items() if isinstance(event, kind) and n > after)


def rewrite(store: Store, name: str, change: Callable[[dict[int, AnyEvent]], Iterable[AnyEvent] | None]) -> None:
    """Change events of a log as somebody would who computes all hashes anew, and removes what gives him away."""
    found = events_of(store, name)
    events = change(found) or found.values()
    before, entries = BEGINNING, []
    for number, event in enumerate(events, 1):
        entries.append(entry(before, number, event))
        before = entries[-1].hash
    with store.transaction(writes=True):
        row = store.lock([name])[name]
        store.execute("DROP INDEX event_about")
        for table in ("event", "snapshot"):
            store.execute(f"DELETE FROM {table} WHERE bandit = ?", (row.id,))
        store.append(row, entries)


def expected_of(engine: Engine) -> dict[str, Any]:
    """Return what a database must fold to, in any version: counts and hashes exactly, numbers to the last digits."""
    return {
        "versions": versions(),
        "bandits": {
            name: {
                "head": ledger.head,
                "hash": ledger.hash.hex(),
                "counts": [ledger.decisions, ledger.feedback, ledger.expired, ledger.late],
                "waiting": sorted(ledger.waiting),
                "digest": digest_of(ledger),
                "numbers": _numbers(ledger),
            }
            for name, ledger in sorted(engine.ledgers.items())
        },
    }


def digest_of(ledger: Ledger) -> str:
    """Return a hash of the state of a bandit, array by array."""
    arrays = ledger.bandit.to_record()["arrays"]
    return sha256(b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays))).hexdigest()


def _numbers(ledger: Ledger) -> list[float]:
    """Return numbers that show the state of a bandit."""
    bandit = ledger.bandit
    found = bandit.win_matrix() if ledger.kind == "dueling" else bandit.probabilities()
    return [float(number) for number in found.ravel()]
