"""Names in paths: what any client can address, and nothing that two readers could understand apart."""

import pytest

from wakeful.service.names import checked_id, name_in_path
from wakeful.service.refusals import Refused


@pytest.mark.parametrize(
    ("raw", "name"), [("shop", "shop"), ("caf%C3%A9", "café"), ("a%20b", "a b"), ("...", "..."), (".x", ".x")]
)
def test_names_are_resolved(raw: str, name: str) -> None:
    assert name_in_path("name", raw) == name


@pytest.mark.parametrize("raw", [".", "..", "%2E", "%2e%2E", "a%2Fb", "a%00", "a%0Ab", "%FF", "x" * 201, "%41" * 201])
def test_names_that_cannot_be_addressed_are_refused(raw: str) -> None:
    with pytest.raises(Refused) as refused:
        name_in_path("name", raw)
    assert refused.value.status == 422


def test_arms_have_the_names_that_their_owner_gave_them() -> None:
    assert name_in_path("arm", "a%2Fb") == "a/b"
    assert name_in_path("arm", "%2E%2E") == ".."


@pytest.mark.parametrize("own_id", ["a/b", ".", "..", "a\nb", "a\x7f", "a\x85b", "\x9b31m", "a\u2028b"])
def test_ids_that_no_path_can_hold_are_refused(own_id: str) -> None:
    with pytest.raises(Refused):
        checked_id("id", own_id)
    assert checked_id("id", "visit 1") == "visit 1"
