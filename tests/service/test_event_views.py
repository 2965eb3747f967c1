"""Events as JSON: every kind, arms by name, probabilities as numbers, and not too much at once."""

from typing import Any, get_args

import numpy as np
import pytest

from wakeful.service import event_views
from wakeful.service import events as e
from wakeful.service.answers import encode
from wakeful.service.event_views import KIND, event_list, event_row

NAMES = ["tea", "coffee", "juice"]
AWAKE = e.packed(np.array([True, False, True]))
P = np.array([0.25, 0.75]).tobytes()

ROWS: list[tuple[Any, dict[str, Any]]] = [
    (
        e.Created(1.0, "drinks", "bandit", {"policy": "Auto", "parameters": {}}, NAMES, 7, None, 0.5, "v"),
        {"name": "drinks", "bandit_kind": "bandit", "policy": "Auto", "parameters": {}, "arms": NAMES, "seed": 7,
         "wait": None, "default_loss": 0.5, "versions": "v"},
    ),
    (e.Configured(1.0, 2.0, None), {"wait": 2.0, "default_loss": None}),
    (e.ArmAdded(1.0, "milk"), {"arm": "milk"}),
    (e.ArmRetired(1.0, 2), {"arm": "juice"}),
    (e.ArmRevived(1.0, 0), {"arm": "tea"}),
    (
        e.Decided(1.0, "", 3, AWAKE, P, 2, 4, 0.5, None, "v"),
        {"id": "d9", "awake": ["tea", "juice"], "probabilities": [0.25, 0.75], "arm": "juice", "probability": 0.75,
         "clock": 4, "memo": 0.5, "deadline": None, "versions": "v"},
    ),
    (
        e.Dueled(1.0, "mine", 3, [2, 0], [AWAKE] * 2, [P, P], 4, [0.5] * 2, [1, 0], "code", 5.0, "v", {"within": True}),
        {"id": "mine", "arms": ["juice", "tea"], "allowed": [["tea", "juice"]] * 2,
         "probabilities": [[0.25, 0.75]] * 2, "left": "tea", "right": "juice", "clock": 4, "memos": [0.5, 0.5],
         "shown": [1, 0], "group": "code", "deadline": 5.0, "versions": "v", "limits": {"within": True}},
    ),
    (e.Answered(1.0, 5, 0.25), {"decision": 5, "value": 0.25}),
    (e.Expired(1.0, 5, None), {"decision": 5, "value": None}),
    (e.Late(1.0, 5, 1.0), {"decision": 5, "value": 1.0}),
    (
        e.Recorded(1.0, 0, 3, AWAKE, 0.5, 1.0),
        {"arm": "tea", "awake": ["tea", "juice"], "probability": 0.5, "loss": 1.0},
    ),
    (
        e.DuelRecorded(1.0, 0, 2, 0.5, None, None, 3, None),
        {"left": "tea", "right": "juice", "share": 0.5, "group": None, "probability": None, "awake": None},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("event", "fields"), ROWS, ids=[type(event).__name__ for event, _ in ROWS])
def test_an_event_as_json(event: Any, fields: dict[str, Any]) -> None:
    row = event_row(NAMES, 9, event)
    assert row == {"number": 9, "kind": KIND[type(event)], "time": 1.0, **fields}
    assert encode(row)


def test_every_kind_of_event_is_there() -> None:
    kinds = set(get_args(e.AnyEvent))
    assert kinds == set(KIND) == {type(event) for event, _ in ROWS}


def test_an_answer_ends_after_many_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(n, ROWS[5][0]) for n in range(11, 21)]
    assert event_list(NAMES, found, 10).last == 20
    monkeypatch.setattr(event_views, "MOST_NUMBERS", 5)
    part = event_list(NAMES, found, 10)
    assert (len(part.events), part.last) == (3, 13)
    assert event_list(NAMES, [], 10).last == 10
