"""The OpenAPI document has every route, and the service keeps to it, whatever requests are made from it."""

import inspect
import os
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import checks
from schemathesis.specs.openapi import checks as openapi_checks

from serving import PATIENCE, new_bandit, served
from wakeful.service.names import served_name
from wakeful.service.openapi import document
from wakeful.service.refusals import STATUS, Refused
from wakeful.service.routes import OPERATIONS

DOCUMENT = document(OPERATIONS)
FINITE = schemathesis.openapi.from_dict(DOCUMENT).exclude(path="/v1/changes")  # that one never ends
KEPT = [
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
]
EXAMPLES = os.environ.get("WAKEFUL_EXAMPLES")  # so many requests of each operation, others in each run: `make soak`
SEEDED = settings(
    max_examples=int(EXAMPLES or 4),
    derandomize=EXAMPLES is None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("store")) as found:
        with httpx.Client(base_url=found, timeout=PATIENCE) as client:
            for name, more in (
                ("drinks", {"policy": "SIExp3"}),
                ("arena", {"kind": "dueling", "arms": ["a", "b", "c"]}),
            ):
                new_bandit(client, name, **more)
                client.post(f"/v1/bandits/{name}/decisions", json={"id": "one"}).raise_for_status()
        yield found


def test_it_has_every_route_with_its_body_its_answers_and_its_refusals() -> None:
    found = {(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert found == {(operation.method, operation.path) for operation in OPERATIONS}
    for operation in OPERATIONS:
        about = DOCUMENT["paths"][operation.path][operation.method.lower()]
        assert about["summary"].endswith((".", ";")) or "." in inspect.getdoc(operation.run)  # type: ignore[operator]
        assert ("requestBody" in about) == (operation.body is not None)
        assert set(map(str, operation.answers)) <= set(about["responses"])
        names = {each["name"] for each in about["parameters"] if each["in"] == "path"}
        assert names == set(re.findall(r"\{(\w+)\}", operation.path))
        assert about.get("x-scopes", []) == list(operation.scopes)


def references(part: Any) -> Iterator[str]:
    """Yield all references in a part of the document."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref":
                yield value
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def test_every_reference_leads_somewhere_and_nothing_is_left_over() -> None:
    used = set(references(DOCUMENT))
    parts = DOCUMENT["components"]
    made = {f"#/components/{kind}/{name}" for kind in ("schemas", "responses") for name in parts[kind]}
    assert used <= made
    assert {name for name in made - used if "/schemas/" in name} == set()
    assert set(parts["responses"]) == set(STATUS)


def test_names_that_the_service_refuses_do_not_fit_the_pattern() -> None:
    for field, path in (("name", "/v1/bandits/{name}"), ("arm", "/v1/bandits/{name}/arms/{arm}")):
        (found,) = (each for each in DOCUMENT["paths"][path]["delete"]["parameters"] if each["name"] == field)
        for name in ("a", "é", "a\nb", "\x7f", "\x80", "\x9f", "\xa0", "\u2028", "a/b"):
            fits = re.search(found["schema"]["pattern"], name) is not None
            try:
                served_name(field, name)
            except Refused:
                assert not fits, (field, name)
            else:
                assert fits, (field, name)


def test_names_of_operations_are_unique() -> None:
    names = [operation.run.__name__ for operation in OPERATIONS]
    assert len(set(names)) == len(names)


def test_it_is_served(address: str) -> None:
    assert httpx.get(f"{address}/openapi.json").json() == DOCUMENT


@FINITE.parametrize()
@SEEDED
def test_the_service_keeps_to_it(case: Any, address: str) -> None:
    case.call_and_validate(base_url=address, checks=[*KEPT, openapi_checks.negative_data_rejection], timeout=PATIENCE)


@FINITE.include(path_regex="{name}").exclude(method="DELETE").parametrize()
@SEEDED
def test_the_service_keeps_to_it_where_there_are_bandits(case: Any, address: str) -> None:
    for name in ("drinks", "arena"):
        case.path_parameters["name"] = name
        if "id" in case.path_parameters:
            case.path_parameters["id"] = "one"
        case.call_and_validate(base_url=address, checks=KEPT, timeout=PATIENCE)
