"""Who may ask what: tokens and their scopes, names of the server, rates."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from serving import connected, error_of
from wakeful.service.access import MOST_CLIENTS, Access, read_tokens
from wakeful.service.refusals import Refused
from wakeful.service.routes import OPERATIONS

ALL, DECIDES, READS = "all-0123456789abcdef", "decides-0123456789", "reads-0123456789ab"
TOKENS = f"{ALL}\n{DECIDES} decide, feedback  # the shop\n\n# nobody\n{READS} read"


def bearer(token: str) -> dict[str, str]:
    """Return the header of a token."""
    return {"authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with connected(tmp_path_factory.mktemp("store"), TOKENS) as found:
        found.put("/v1/bandits/drinks", json={"arms": ["tea", "juice"]}, headers=bearer(ALL)).raise_for_status()
        yield found


def test_a_request_needs_a_token_that_is_known(client: httpx.Client) -> None:
    for headers in ({}, bearer("wrong"), bearer(ALL[:-1]), bearer(ALL + "x"), {"authorization": f"Basic {ALL}"}):
        answer = client.get("/v1/bandits", headers=headers)
        error_of(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
    assert client.get("/v1/bandits", headers=bearer(READS)).status_code == 200
    assert client.get("/v1/bandits", headers={"authorization": f"bearer  {READS}"}).status_code == 200


def test_a_token_may_do_what_its_scopes_say(client: httpx.Client) -> None:
    made = client.post("/v1/bandits/drinks/decisions", json={}, headers=bearer(DECIDES))
    assert made.status_code == 201
    path = f"/v1/bandits/drinks/decisions/{made.json()['id']}"
    assert client.post(f"{path}/feedback", json={"loss": 1}, headers=bearer(DECIDES)).status_code == 200
    assert client.post("/v1/bandits/drinks/batch", json={}, headers=bearer(DECIDES)).status_code == 200
    error_of(client.get(path, headers=bearer(DECIDES)), 403, "forbidden")
    error_of(client.put("/v1/bandits/x", json={"arms": ["a"]}, headers=bearer(DECIDES)), 403, "forbidden")
    problem = error_of(client.post("/v1/bandits/drinks/decisions", json={}, headers=bearer(READS)), 403, "forbidden")
    assert problem["message"] == "token must be one with the scope 'decide', got one with 'read'"
    assert client.get(path, headers=bearer(READS)).status_code == 200


def test_only_what_tells_nothing_needs_no_token(client: httpx.Client) -> None:
    free = {operation.path for operation in OPERATIONS if not operation.scopes}
    assert free == {"/health", "/openapi.json", "/docs", "/", "/static/{file}"}
    for operation in OPERATIONS:
        path = operation.path.format(name="drinks", id="d2", arm="tea", file="page.js")
        refused = client.request(operation.method, path).status_code == 401
        assert refused == (operation.path not in free), operation.path


def test_where_no_token_is_asked_for_the_host_must_be_one_of_ours(tmp_path: Path) -> None:
    with connected(tmp_path, hosts=("localhost", "127.0.0.1", "shop.internal")) as client:
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1:8000", "shop.internal"):
            assert client.get("/v1/bandits", headers={"host": host}).status_code == 200
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]:80"):
            assert error_of(client.get("/v1/bandits", headers={"host": host}), 403, "forbidden")["field"] == "Host"


def test_addresses_of_version_six_are_hosts_too() -> None:
    Access().check({b"host": b"[::1]:8000"}, None, ())
    with pytest.raises(Refused, match="got ''"):
        Access().check({}, None, ())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("short", "tokens in file must be at least 16 visible characters of ASCII other than .* got '5 characters'"),
        ("0123456789abcdéf", "tokens in file must be at least 16 visible characters of ASCII .* got '16 characters'"),
        ("0123456789abcdef#rest read", "other than '#', ',' and ';', got '21 characters'"),
        ("0123456789abcdef,read", "got '21 characters'"),
        ("0123456789abcdef;0123456789abcdef read", "got '33 characters'"),
        ("0123456789abcdef write", "scopes in file must be one of 'decide', 'feedback', 'read', 'admin', got 'write'"),
    ],
)
def test_bad_tokens_are_refused_and_never_shown(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        read_tokens(text, "file")
    assert text.split(maxsplit=1)[0] not in str(caught.value)


def test_tokens_are_kept_as_hashes() -> None:
    assert ALL not in repr(read_tokens(TOKENS, "file"))


def asked(access: Access, token: str = "", address: str = "1.2.3.4") -> bool:
    """Whether a request is within the rate."""
    headers = {b"authorization": b"Bearer " + token.encode(), b"host": b"localhost"}
    try:
        access.check(headers, (address, 1), ())
    except Refused as problem:
        return problem.code != "too_many"
    return True


def test_each_token_and_each_address_has_its_own_rate() -> None:
    now = [0.0]
    access = Access(read_tokens(TOKENS, "file"), rate=2.0, burst=3, clock=lambda: now[0])
    assert [asked(access, ALL) for _ in range(4)] == [True, True, True, False]
    assert asked(access, READS)
    now[0] = 0.4
    assert not asked(access, ALL)
    now[0] = 0.5
    assert [asked(access, ALL, "5.6.7.8") for _ in range(2)] == [True, False]
    now[0] = 1e9
    assert [asked(access, ALL) for _ in range(4)] == [True, True, True, False]


def test_wrong_tokens_count_for_the_address_that_tries_them() -> None:
    access = Access(read_tokens(TOKENS, "file"), rate=1e-3, burst=2, clock=lambda: 0.0)
    assert [asked(access, f"wrong {n}") for n in range(3)] == [True, True, False]
    assert asked(access, "wrong", "5.6.7.8")
    assert asked(access, ALL)


def test_the_address_that_was_silent_longest_is_forgotten_first() -> None:
    access: Any = Access(rate=1.0, burst=2, clock=lambda: 0.0)
    for n in range(MOST_CLIENTS):
        assert asked(access, address=str(n))
    assert asked(access, address="0")
    assert asked(access, address="new")
    assert len(access._buckets) == MOST_CLIENTS
    assert not asked(access, address="0")
    assert [asked(access, address="1") for _ in range(3)] == [True, True, False]


def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    with connected(tmp_path, rate=0.2, burst=2) as client:
        assert [client.get("/v1/bandits").status_code for _ in range(2)] == [200, 200]
        answer = client.get("/v1/bandits")
        error_of(answer, 429, "too_many")
        assert 1 <= int(answer.headers["retry-after"]) <= 5
        assert client.get("/health").status_code == 200
