"""The short way and the ordinary way: the same requests get the same answers, byte for byte, and do the same."""

import json
import logging
import re
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from raw_http import answers, connection
from serving import PATIENCE, new_bandit, served
from wakeful.service.engine import Engine
from wakeful.service.lane import Exchange, Lane

TOKENS = "0123456789abcdef\ndecide0123456789 decide\nfeedback012345678 feedback"
DECIDE, FEEDBACK = "/v1/bandits/drinks/decisions", "/v1/bandits/drinks/decisions/%s/feedback"
KEY = "authorization: Bearer 0123456789abcdef"


def post(path: str, body: Any, *headers: str, version: str = "1.1") -> bytes:
    """Return the bytes of a request; a body that is no bytes is written as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = "".join(f"{line.lower()}\r\n" for line in headers)
    lines = ["Host: localhost", "" if KEY[:13] in given else KEY]
    lines += ["" if "content-type" in given else "Content-Type: application/json"]
    lines += ["" if "transfer-encoding" in given else f"Content-Length: {len(content)}", *headers]
    head = "\r\n".join([f"POST {path} HTTP/{version}", *filter(None, lines)])
    return head.encode("latin-1") + b"\r\n\r\n" + content


DONE = [  # carried out, all but the last ones
    post(DECIDE, {}),
    post(DECIDE, {"awake": ["tea", "juice"]}),
    post(DECIDE, {"awake": ["tea"], "id": "mine/../x"}),
    post(DECIDE, {"awake": ["tea", "juice"], "id": "mine"}),
    post(DECIDE, {"awake": ["juice", "tea"], "id": "mine"}),
    post(DECIDE, {"awake": ["tea"], "id": "mine"}),
    post(DECIDE, {}, "Content-Type: application/json; charset=utf-8"),
    post(DECIDE, {}, "Connection: keep-alive"),
    post("/v1/bandits/dr%69nks/decisions", {}),
    post("/v1/bandits/caf%C3%A9/decisions", {}),
    post(FEEDBACK % "d2", {"loss": 0.5}),
    post(FEEDBACK % "d2", {"reward": 0.5}),
    post(FEEDBACK % "d2", {"loss": 0.6}),
    post(FEEDBACK % "mine", {"reward": 1}),
    post(FEEDBACK % "m%69ne", {"reward": 1}),
    post("/v1/bandits/arena/decisions", {"distinct": True}),
    post("/v1/bandits/arena/decisions/d2/feedback", {"winner": "left"}),
    post("/v1/bandits/arena/decisions/d2/feedback", {"loss": 0.5}),
    post("/v1/bandits/arena/decisions", {"pairs": [["a", "b"]]}),
    post(DECIDE, b"  {}  "),
    post(DECIDE, {}, "Authorization: Bearer decide0123456789"),
    post(FEEDBACK % "d3", {"loss": 1}, "Authorization: bearer feedback012345678"),
]
FROM_ELSEWHERE = [
    post(DECIDE, {}, "Origin: https://example.org"),
    post(DECIDE, b"[", "Origin: https://example.com"),
    post(DECIDE, {}, "X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: https"),
    post(FEEDBACK % "d2", {"loss": 0.5}, "X-Forwarded-For: 10.0.0.2, 10.0.0.3"),
    post(DECIDE, {}, "X-Forwarded-For: 10.0.0.4", "X-Forwarded-For: 127.0.0.1", "Authorization: Bearer wrong"),
    post(DECIDE, {}, "X-Forwarded-For: ", "Authorization: Bearer wrong"),
]
REFUSED = [
    post(DECIDE, {"awake": []}),
    post(DECIDE, {"awake": ["water"]}),
    post(DECIDE, {"awake": ["tea", "tea"]}),
    post(DECIDE, {"awak": ["tea"]}),
    post(DECIDE, {"id": "d7"}),
    post(DECIDE, {"id": "a\nb"}),
    post(DECIDE, {"distinct": True}),
    post(DECIDE, b'{"awake": ["tea"], "awake": ["juice"]}'),
    post(DECIDE, b""),
    post(DECIDE, b"["),
    post(DECIDE, b"\xff"),
    post(DECIDE, b'{"id": "\\ud800"}'),
    post(DECIDE, {}, "Content-Type: text/plain"),
    post(DECIDE, {}, "Content-Encoding: gzip"),
    post(DECIDE, {"id": "x" * 2000}),
    post(DECIDE, {}, "Authorization: Bearer wrong"),
    post(DECIDE, {}, "Authorization: Basic 0123456789abcdef"),
    post(DECIDE, {}, "Authorization: Bearer feedback012345678"),
    post(FEEDBACK % "d4", {"loss": 0.5}, "Authorization: Bearer decide0123456789"),
    post("/v1/bandits/nobody/decisions", {}),
    post("/v1/bandits/../decisions", {}),
    post("/v1/bandits/%FF/decisions", {}),
    post("/v1/bandits//decisions", {}),
    post("/v1/bandits/a%2Fb/decisions", {}),
    post(f"/v1/bandits/{'n' * 300}/decisions", {}),
    post(FEEDBACK % "nobody", {"loss": 0.5}),
    post(FEEDBACK % "d999", {"loss": 0.5}),
    post(FEEDBACK % "d4", {"loss": 1.5}),
    post(FEEDBACK % "d4", b'{"loss": NaN}'),
    post(FEEDBACK % "d4", b'{"loss": 1e999}'),
    post(FEEDBACK % "d4", {"loss": True}),
    post(FEEDBACK % "d4", {"loss": 0.5, "reward": 0.5}),
    post(FEEDBACK % "d4", {}),
    post(FEEDBACK % "d4", {"winner": "tea"}),
]
EARLY = [  # answered before the body has arrived
    post(DECIDE, {}, "Content-Type: text/plain")[:-1],
    post(DECIDE, {}, "Authorization: Bearer wrong")[:-2],
    post("/v1/bandits/%FF/decisions", {})[:-1],
    post(FEEDBACK % "d4", {}, "Content-Encoding: gzip")[:-1],
]
UNUSUAL = [  # these take the ordinary way
    post(DECIDE + "?", {}),
    post(DECIDE + "?x=1", {}),
    post(DECIDE + "#x", {}),
    post(DECIDE + "/d4?x/feedback", {"loss": 0.5}),
    post("/v1/bandits/drinks?x/decisions", {}),
    post(DECIDE + "/", {}),
    post(f"/v1/bandits/{'n' * 70_000}/decisions", {}),
    post(DECIDE.replace("drinks", "é"), {}),
    post("http://localhost" + DECIDE, {}),
    post(DECIDE, b"2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
    post(DECIDE, {}, "Connection: upgrade", "Upgrade: h2c"),
    post(DECIDE, {"awake": ["x" * 70_000]}),
    post(DECIDE, {}, version="1.0"),
    post(DECIDE, {}, "Connection: keep-alive", version="1.0"),
    b"POST %s HTTP/1.1\r\nhost: localhost\r\n%s\r\n\r\n" % (DECIDE.encode(), KEY.encode()),
]
CLOSING = [post(DECIDE, {}, "Connection: close"), post(DECIDE, b"?", "Connection: close")]
TOGETHER = [  # several requests in one go
    post(DECIDE, {}) + post(DECIDE, {"id": "second"}) + post(FEEDBACK % "second", {"loss": 0.25}),
    post(DECIDE, b"[") + b"GET /v1/bandits/nobody HTTP/1.1\r\nhost: x\r\n%s\r\n\r\n" % KEY.encode() + post(DECIDE, {}),
    post(DECIDE, b"[", "Connection: close") + post(DECIDE, {}),
]


class Told(NamedTuple):
    """What a service answers and logs, what it counts, and how many requests went the short way."""

    answers: list[list[bytes]]
    logged: list[dict[str, Any]]
    counted: list[str]
    short: int


def asked(folder: Path, requests: list[bytes], patch: pytest.MonkeyPatch, *, is_short: bool, **settings: Any) -> Told:
    """Return what a new service says to requests, each on a connection of its own and then all that can on one."""
    short, logged, answer = [], [], Exchange.set_result

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            about = vars(record).get("about", {})
            if record.getMessage() == "request":
                logged.append({key: value for key, value in about.items() if key != "seconds"})

    def counted(self: Exchange, result: Any) -> None:
        short.append(result)
        answer(self, result)

    patch.setattr(Exchange, "set_result", counted)
    if not is_short:
        patch.setattr(Lane, "takes", lambda *_: False)
    logger, handler = logging.getLogger("wakeful.service"), Kept()
    logger.addHandler(handler)
    patch.setattr(logger, "level", logging.INFO)
    folder.mkdir()
    with served(folder, TOKENS, log_requests=True, max_body=100_000, **settings) as address:
        key = {"authorization": "Bearer 0123456789abcdef"}
        with httpx.Client(base_url=address, timeout=PATIENCE, headers=key) as client:
            for name in ("drinks", "caf%C3%A9"):
                new_bandit(client, name)
            new_bandit(client, "arena", kind="dueling", arms=["a", "b", "c"])
        found = []
        for request in requests:
            with connection(address) as one:
                one.sendall(request)
                found.append([without_date(item) for item in answers(one, request.count(b" HTTP/1."))])
        text = httpx.get(f"{address}/metrics", timeout=PATIENCE, headers=key).text
    logger.removeHandler(handler)
    patch.undo()
    total = [line for line in text.splitlines() if line.startswith(("wakeful_requests_total", "wakeful_events"))]
    return Told(found, logged, total, len(short))


def without_date(answer: bytes) -> bytes:
    """Return an answer without what depends on when it was given, or on chance."""
    assert answer.count(b"\r\ndate: ") <= 1
    return re.sub(rb"\r\ndate: [^\r]*|under the id [0-9a-f]{16}", b"", answer)


def both(folder: Path, requests: list[bytes], patch: pytest.MonkeyPatch, **settings: Any) -> tuple[Told, Told]:
    """Return what both ways say."""
    ordinary = asked(folder / "ordinary", requests, patch, is_short=False, **settings)
    return asked(folder / "short", requests, patch, is_short=True, **settings), ordinary


@pytest.mark.parametrize(
    ("requests", "share", "settings"),
    [
        (DONE + REFUSED + EARLY + CLOSING + FROM_ELSEWHERE, 1, {}),
        (UNUSUAL, 0, {}),
        (TOGETHER, 0.3, {}),
        (DONE + FROM_ELSEWHERE, 1, {"proxies": ("127.0.0.1",)}),
        (FROM_ELSEWHERE, 1, {"proxies": ("10.0.0.1",)}),
        (FROM_ELSEWHERE * 2, 1, {"proxies": ("127.0.0.1",), "rate": 0.001, "burst": 4}),
        (DONE + FROM_ELSEWHERE, 0, {"origins": ("https://example.org",)}),
    ],
    ids=[
        "usual",
        "unusual",
        "together",
        "from proxies",
        "from other proxies",
        "at a rate",
        "where there are other origins",
    ],
)
def test_both_ways_answer_the_same(
    requests: list[bytes], share: float, settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, ordinary = both(tmp_path, requests, monkeypatch, **settings)
    for request, one, other in zip(requests, short.answers, ordinary.answers, strict=True):
        assert one == other, request
    assert short[:3] == ordinary[:3]
    assert ordinary.short == 0
    number = sum(map(len, short.answers))
    assert share * number <= short.short <= (number if share else 0)


def test_the_answers_are_those_that_were_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked(tmp_path / "short", DONE + REFUSED + UNUSUAL + CLOSING + TOGETHER, monkeypatch, is_short=True)
    statuses = [[int(item[9:12]) for item in one] for one in found.answers]
    done = statuses[: len(DONE)]
    assert [status for (status,) in done] == [201] * 2 + [422, 201, 200, 409] + [201] * 4 + [
        200,
        200,
        409,
        200,
        200,
    ] + [
        201,
        200,
        422,
        201,
        201,
        201,
        200,
    ]
    assert all(400 <= status < 500 for (status,) in statuses[len(DONE) : len(DONE) + len(REFUSED)])
    assert statuses[-5:] == [[201], [400], [201, 201, 200], [400, 404, 201], [400]]
    assert all(b"connection: close\r\n" in found.answers[n][0] for n in (-5, -4, -1))
    assert not any(b"connection" in item for one in found.answers[: len(DONE)] for item in one)


def test_both_ways_have_the_same_limits_of_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short, ordinary = both(tmp_path, [post(DECIDE, {})] * 6, monkeypatch, rate=0.001, burst=6)
    assert short[:3] == ordinary[:3]
    assert [int(item[9:12]) for (item,) in short.answers] == [201] * 3 + [429] * 3
    assert short.short == 6


def test_both_ways_fail_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begin, told = Engine.begin, []
    for is_short in (False, True):

        def failing(self: Engine, requests: Any) -> Any:
            if any(getattr(getattr(r, "body", None), "id", None) == "bad" for r in requests):
                raise ZeroDivisionError("SELECT * FROM /secret/place")
            return begin(self, requests)

        monkeypatch.setattr(Engine, "begin", failing)
        requests = [post(DECIDE, {"id": "bad"}), post(DECIDE, {"id": "good"})]
        told.append(asked(tmp_path / str(is_short), requests, monkeypatch, is_short=is_short))
    assert told[0].answers == told[1].answers
    assert [int(item[9:12]) for (item,) in told[1].answers] == [500, 201]
    assert b"secret" not in told[1].answers[0][0]
    assert told[1].short == 2


def test_who_goes_away_before_the_answer_has_decided_all_the_same(tmp_path: Path) -> None:
    with served(tmp_path) as address, httpx.Client(base_url=address, timeout=PATIENCE) as client:
        new_bandit(client)
        for number in range(20):
            with connection(address) as one:
                one.sendall(post(DECIDE, {"id": f"{number}"}))
        for number in range(20):
            assert client.post(DECIDE, json={"id": f"{number}"}).status_code in {200, 201}
        assert client.get("/v1/bandits/drinks").json()["decisions"] == 20
