"""Folding many events at once gives what folding one after the other gives, bit for bit."""

import random
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from wakeful.service import ledger as ledger_module
from wakeful.service.engine import Engine
from wakeful.service.events import Answered, Created, Entry, Expired, entry
from wakeful.service.folding import follow
from wakeful.service.ledger import Ledger
from wakeful.service.messages import Feedback, NewBandit, NewDecision
from wakeful.service.requests import AddArm, Create, Decide, Report, RetireArm
from wakeful.service.store import DamagedLogError, Row
from wakeful.service.stores import open_store

ARMS = ["tea", "juice", "milk", "water"]
ROW = Row(1, "shop", 0, b"", 1)
KINDS = [("Auto", "bandit", None), ("SIExp3", "bandit", 60.0), ("SleepingExp3", "bandit", None)]
KINDS += [("UniformPairs", "dueling", 60.0)]


def a_log(folder: Path, policy: str, kind: Any, wait: float | None) -> list[tuple[Entry, Any]]:
    """Return the events of a bandit whose arms came and went, each with the decision that it is about."""
    rng = random.Random(3)
    engine = Engine(open_store(f"sqlite:///{folder / 'wakeful.db'}"))
    engine.run([Create("shop", NewBandit(arms=ARMS, kind=kind, policy=policy, seed=1, wait=wait))])
    body = Feedback(winner="left") if kind == "dueling" else Feedback(loss=0.25)
    for turn in range(8):
        asked = [Decide("shop", NewDecision(awake=rng.sample(ARMS, 3))) for _ in range(rng.randrange(1, 9))]
        ids = [made.id for made, _ in engine.run(asked)]
        engine.run([Report("shop", id, body) for id in ids if rng.random() < 0.5])
        if turn == 3:
            engine.run([AddArm("shop", "coffee"), RetireArm("shop", "coffee")])
    with engine.store.transaction(writes=False):
        items = list(engine.store.entries(engine.store.rows()[0], 0))
    engine.store.close()
    events = {item.number: item.event for item in items}
    return [(one, events[one.event.decision] if isinstance(one.event, Answered | Expired) else None) for one in items]


def begun(tail: list[tuple[Entry, Any]]) -> Ledger:
    """Return the ledger that a log begins with."""
    created = tail[0][0].event
    assert isinstance(created, Created)
    return Ledger(created)


@pytest.mark.parametrize(("policy", "kind", "wait"), KINDS)
@pytest.mark.parametrize("together", [1, 30, 100_000])
def test_events_folded_together_are_those_folded_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str, kind: str, wait: float | None, together: int
) -> None:
    monkeypatch.setattr(ledger_module, "MOST_TOGETHER", together)
    tail = a_log(tmp_path, policy, kind, wait)
    one, other = begun(tail), begun(tail)
    for item, choice in tail:
        one.take(item, choice)
    for cut in range(0, len(tail), 17):
        follow(other, ROW, tail[cut : cut + 17])
    assert one.to_bytes() == other.to_bytes()
    assert one.waiting == other.waiting


def test_nothing_is_learned_of_events_that_do_not_follow(tmp_path: Path) -> None:
    tail = a_log(tmp_path, *KINDS[0])
    ledger = begun(tail)
    follow(ledger, ROW, tail[:3])
    before = ledger.to_bytes()
    with pytest.raises(DamagedLogError, match="gap after event 4"):
        follow(ledger, ROW, [tail[3], *tail[5:]])
    wrong = tail[4][0]._replace(body=tail[5][0].body)
    with pytest.raises(DamagedLogError, match="event 5 of 'shop' is wrong"):
        follow(ledger, ROW, [tail[3], (wrong, None), *tail[5:]])
    assert ledger.to_bytes() == before
    follow(ledger, ROW, tail[3:])


@pytest.mark.parametrize("change", [{"memo": 1.0}, {"arm": 5}, {"arm": -1}, {"probabilities": bytes(24)}])
def test_an_odd_decision_among_others_is_treated_as_it_is_alone(tmp_path: Path, change: dict[str, Any]) -> None:
    tail = a_log(tmp_path, "Auto", "bandit", None)
    one, other = begun(tail), begun(tail)
    made: list[Any] = [tail[1][0].event] * 3
    made[1] = replace(made[1], **change)
    items = [tail[0][0]]
    for event in made:
        items.append(entry(items[-1].hash, len(items) + 1, event))

    def alone() -> None:
        for item in items:
            one.take(item)

    found = []
    for fold in (alone, lambda: other.take_all([(item, None) for item in items])):
        try:
            fold()
            found.append("")
        except (ValueError, IndexError) as problem:
            found.append(str(problem))
    assert found[0] == found[1]
    assert bool(found[0]) == (change != {"arm": -1})  # the last arm: nothing that a service writes
    assert one.head == other.head == (2 if found[0] else 4)
    assert one.to_bytes() == other.to_bytes()
