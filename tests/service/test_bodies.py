"""Bodies that are not what they should be are refused, each with its own sentence and the field that is wrong."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serving import connected, error_of, new_bandit
from wakeful.service.bodies import BodyDecoder, Gone, TooLong, check_media, read_body
from wakeful.service.messages import Batch, Feedback, NewBandit, NewDecision
from wakeful.service.refusals import Refused

LOSS = BodyDecoder(Feedback)
DECISION = BodyDecoder(NewDecision)
BANDIT = BodyDecoder(NewBandit)
DEEP = b'{"arms": ["a"], "parameters": {"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}"

REFUSED: list[tuple[Any, bytes, str, str | None, str]] = [
    (LOSS, b"", "bad_request", None, "body must be JSON, got nothing"),
    (LOSS, b"  ", "bad_request", None, "body must be JSON, got nothing"),
    (LOSS, b'{"loss": 0.5', "bad_request", None, "body must be JSON: Expecting ',' delimiter at position 12"),
    (LOSS, b'{"loss": NaN}', "bad_request", None, "numbers must be finite, got 'NaN'"),
    (LOSS, b'{"loss": -Infinity}', "bad_request", None, "numbers must be finite, got '-Infinity'"),
    (LOSS, b'{"loss": 01}', "bad_request", None, "body must be JSON: Expecting ',' delimiter at position 10"),
    (LOSS, b'{"loss": 1} 2', "bad_request", None, "body must be JSON: Extra data at position 12"),
    (LOSS, b'\xef\xbb\xbf{"loss": 1}', "bad_request", None, "body must be JSON: Unexpected UTF-8 BOM"),
    (LOSS, b'{"winner": "\xff"}', "bad_request", None, "body must be UTF-8, got another byte at position 12"),
    (LOSS, b'{"winner": "\\ud800"}', "bad_request", None, "text must be Unicode, got half of a surrogate pair"),
    (LOSS, b'{"loss": 0.1, "loss": 0.2}', "bad_request", "loss", "keys of an object must be given once each"),
    (LOSS, b'{"loss": null, "loss": 0.2}', "bad_request", "loss", "given once each"),
    (LOSS, b'{"loss": 1e999}', "invalid", "loss", "loss must be a number between 0 and 1, got inf"),
    (LOSS, b'{"loss": true}', "invalid", "loss", "loss must be a number between 0 and 1, got True"),
    (LOSS, b'{"loss": "0.5"}', "invalid", "loss", "loss must be a number between 0 and 1, got '0.5'"),
    (LOSS, b'{"loss": 1.5}', "invalid", "loss", "loss must be a number between 0 and 1, got 1.5"),
    (LOSS, b'{"loss": -1e-9}', "invalid", "loss", "loss must be a number between 0 and 1, got -1e-09"),
    (LOSS, b'{"los": 1}', "invalid", "los", "'winner', got 'los' (did you mean 'loss'?)"),
    (LOSS, b'{"loss": 2, "reward": NaN}', "bad_request", None, "numbers must be finite, got 'NaN'"),
    (LOSS, b"[]", "invalid", None, "body must be an object, got []"),
    (LOSS, b"null", "invalid", None, "body must be an object, got None"),
    (DECISION, b'{"awake": []}', "invalid", "awake", "awake must be a list of 1 to 2,000 items, got []"),
    (DECISION, b'{"awake": ["a", 3]}', "invalid", "awake[1]", "awake[1] must be text of 1 to 200 characters, got 3"),
    (DECISION, b'{"awake": [""]}', "invalid", "awake[0]", "awake[0] must be text of 1 to 200 characters, got ''"),
    (DECISION, b'{"awake": "a"}', "invalid", "awake", "awake must be a list of 1 to 2,000 items, got 'a'"),
    (DECISION, b'{"distinct": 1}', "invalid", "distinct", "distinct must be true or false, got 1"),
    (DECISION, b'{"pairs": [["a"]]}', "invalid", "pairs[0]", "pairs[0] must be a list of 2 items, got ['a']"),
    (DECISION, b'{"groups": {"a": 1}}', "invalid", "groups[...]", "groups[...] must be text of 1 to 200 characters"),
    (DECISION, b'{"groups": {"a": "x", "a": "y"}}', "bad_request", "a", "given once each, got 'a'"),
    (DECISION, b'{"awake": ["a"], "id": "x", "id": "y"}', "bad_request", "id", "given once each, got 'id'"),
    (DECISION, b'{"awake": ["a"], "awake": ["b"]}', "bad_request", "awake", "given once each, got 'awake'"),
    (BANDIT, b"{}", "invalid", "arms", "arms must be a list of 1 to 2,000 items, got nothing"),
    (BANDIT, b'{"arms": ["a"], "kind": "duelling"}', "invalid", "kind", "(did you mean 'dueling'?)"),
    (BANDIT, b'{"arms": ["a"], "seed": 1.5}', "invalid", "seed", "between 0 and 9,223,372,036,854,775,807"),
    (BANDIT, b'{"arms": ["a"], "seed": 9223372036854775808}', "invalid", "seed", "807, got 9223372036854775808"),
    (BANDIT, b'{"arms": ["a"], "parameters": {"eta": 1e400}}', "invalid", "parameters.eta", "a finite number, got inf"),
    (BANDIT, b'{"arms": ["a"], "parameters": {"x": [0.5, {"y": -1e400}]}}', "invalid", "parameters.x[1].y", "got -inf"),
    (BANDIT, b'{"arms": ["a"], "wait": 0}', "invalid", "wait", "wait must be a number above 0, at most 1e+10, got 0"),
    (BANDIT, b'{"arms": ["a"], "arms": ["b"]}', "bad_request", "arms", "given once each, got 'arms'"),
    (BANDIT, b'{"arms": ["a"], "parameters": {"eta": 1, "eta": 2}}', "bad_request", "eta", "got 'eta'"),
    (BANDIT, DEEP, "bad_request", None, "body must be nested less deeply"),
    (BodyDecoder(Batch), b'{"feedback": [{"decision": "d1", "los": 1}]}', "invalid", "feedback[0].los", "did you mean"),
    (BodyDecoder(Batch), b'{"feedback": [{"loss": 1}]}', "invalid", "feedback[0].decision", "got nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("decoder", "body", "code", "field", "sentence"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_wrong_is_refused(decoder: Any, body: bytes, code: str, field: str | None, sentence: str) -> None:
    with pytest.raises(Refused) as caught:
        decoder(body)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert sentence in caught.value.message
    assert "\n" not in caught.value.message


def test_what_is_right_is_decoded() -> None:
    assert LOSS(b'{"loss": 1}').loss == 1.0
    assert DECISION(b"{}") == NewDecision()
    assert DECISION(b'{"awake": ["a:b", "c:d:e"], "id": ":::"}').awake == ["a:b", "c:d:e"]
    assert DECISION(b'{"groups": {"a": "x", "b": "x"}, "within": true}').groups == {"a": "x", "b": "x"}
    assert DECISION(b'{"awake": null, "id": null}') == NewDecision()
    assert BANDIT(b'{"arms": ["a"], "parameters": {"eta": 0.1}}').parameters == {"eta": 0.1}


FIELDS = st.sampled_from([("loss", 0.5), ("loss", None), ("reward", 0.25), ("reward", None), ("winner", "a:b")])


@given(st.lists(FIELDS, max_size=5))
def test_a_key_is_given_twice_or_it_is_not(pairs: list[tuple[str, Any]]) -> None:
    body = "{" + ",".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in pairs) + "}"
    if len({name for name, _ in pairs}) < len(pairs):
        with pytest.raises(Refused, match="given once"):
            LOSS(body.encode())
    else:
        assert LOSS(body.encode()) == Feedback(**dict(pairs))


def received(*parts: bytes, ends: bool = True) -> Any:
    """Return a body that arrives in parts; without an end, the client goes away."""
    messages: Iterator[Any] = iter(
        [
            *(
                {"type": "http.request", "body": part, "more_body": not ends or n + 1 < len(parts)}
                for n, part in enumerate(parts)
            ),
            {"type": "http.disconnect"},
        ]
    )

    async def receive() -> Any:
        return next(messages)

    return receive


HEADERS = {b"content-type": b"application/json"}


def test_a_body_is_read_up_to_its_limit() -> None:
    assert asyncio.run(read_body(received(b"abc", b"de"), HEADERS, 5)) == b"abcde"
    assert asyncio.run(read_body(received(b"abcde"), HEADERS, 5)) == b"abcde"
    for parts in ([b"abcdef"], [b"abc", b"def"], [b"abc", b"", b"def", b"never read"]):
        with pytest.raises(TooLong, match="at most 5 bytes"):
            asyncio.run(read_body(received(*parts), HEADERS, 5))
    for length in (b"6", b"-1", b"x"):
        with pytest.raises(TooLong):
            asyncio.run(read_body(received(b"a"), {**HEADERS, b"content-length": length}, 5))
    for parts in ([], [b"a"]):
        with pytest.raises(Gone):
            asyncio.run(read_body(received(*parts, ends=False), HEADERS, 5))


@pytest.mark.parametrize(
    "media", [b"application/json; charset=utf-8", b"Application/JSON", b'application/json;charset="UTF-8"']
)
def test_json_is_json_however_it_is_written(media: bytes) -> None:
    check_media(media)


@pytest.mark.parametrize(
    "media", [b"", b"text/plain", b"application/x-www-form-urlencoded", b"application/json; charset=latin-1"]
)
def test_other_types_are_refused(media: bytes) -> None:
    with pytest.raises(Refused, match="Content-Type must be application/json"):
        check_media(media)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with connected(tmp_path_factory.mktemp("store"), max_body=1_000) as found:
        new_bandit(found)
        yield found


def test_faults_over_http_are_never_errors_of_the_service(client: httpx.Client) -> None:
    path, headers = "/v1/bandits/drinks/decisions", {"content-type": "application/json"}
    error_of(client.post(path, content=b'{"awake": 3, "id": "\xff"}', headers=headers), 400, "bad_request")
    error_of(client.post(path, content=b"{}"), 415, "unsupported_type")
    error_of(client.post(path, data={"awake": "tea"}), 415, "unsupported_type")
    error_of(client.post(path, json={"awake": ["x" * 1_000]}), 413, "too_large")
    error_of(client.post(path, content=(b" " * 100 for _ in range(20)), headers=headers), 413, "too_large")
    error_of(client.post(path, json={"awake": ["nobody"]}), 422, "invalid")
    error_of(client.put("/v1/bandits/x", json={"arms": ["a", "a"]}), 422, "invalid")
    error_of(client.put("/v1/bandits/x", json={"arms": ["a"], "policy": "os.system"}), 422, "invalid")
    assert client.post(path, json={}).status_code == 201
    assert client.get("/v1/bandits/drinks").json()["decisions"] == 1
