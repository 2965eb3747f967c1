"""The same seeds give the same results, to the last bit, as when they were recorded."""

import json
from typing import Any

import pytest

from recorded_results import RECORD, digest, key, pairs

PAIRS = {key(*pair): pair for pair in pairs()}


@pytest.fixture(scope="module")
def recorded() -> dict[str, str]:
    """Return the digests as they were recorded."""
    found: dict[str, str] = json.loads(RECORD.read_text())
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_results_are_those_recorded(name: str, recorded: Any) -> None:
    assert digest(*PAIRS[name]) == recorded[name]


def test_every_record_is_looked_at(recorded: Any) -> None:
    assert set(recorded) == set(PAIRS)
