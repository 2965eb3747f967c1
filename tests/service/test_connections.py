"""Clients that are slow, silent, rude or too many: each is dealt with, and the service goes on."""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

import raw_http
from raw_http import answers, check_refusal, connection, decision, until_closed
from serving import PATIENCE, new_bandit, served
from slow_clients import BIG, never_reading
from wakeful.service import connections
from wakeful.service.connections import LimitedProtocol, Limits

HEAD = raw_http.HEAD % b"drinks"
WHOLE = decision("drinks")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("store"), read_timeout=2.0) as found:
        with httpx.Client(base_url=found, timeout=PATIENCE) as client:
            new_bandit(client)
        yield found


def goes_on(address: str) -> None:
    """Check that the service answers others."""
    assert httpx.post(f"{address}/v1/bandits/drinks/decisions", json={}, timeout=60).status_code == 201


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        HEAD[:20],
        HEAD,
        HEAD + b"content-length: 10\r\n\r\n{",
        HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
    ids=["nothing", "part of a line", "no end of headers", "part of a body", "part of a chunked body"],
)
def test_a_request_that_does_not_arrive_is_answered_408(address: str, sent: bytes) -> None:
    with connection(address) as client:
        client.sendall(sent)
        started = time.monotonic()
        check_refusal(until_closed(client), 408, "timeout")
        assert time.monotonic() - started > 0.5
    goes_on(address)


def test_a_slow_request_that_arrives_in_time_is_answered(tmp_path: Path) -> None:
    with served(tmp_path, read_timeout=60.0) as address:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            new_bandit(client, "drinks")
        with connection(address) as slow:
            for part in (WHOLE[:30], WHOLE[30:-1], WHOLE[-1:]):
                slow.sendall(part)
                time.sleep(0.1)
            assert slow.recv(100).startswith(b"HTTP/1.1 201 ")


def test_a_listener_that_goes_is_forgotten_although_another_request_waits_behind_it(address: str) -> None:
    asked = b"".join(b"GET %s HTTP/1.1\r\nhost: localhost\r\n\r\n" % path for path in (b"/v1/changes", b"/health"))
    with connection(address) as client:
        client.sendall(asked)
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")
        assert "wakeful_listeners 1.0" in httpx.get(f"{address}/metrics", timeout=PATIENCE).text
    until = time.monotonic() + PATIENCE
    while "wakeful_listeners 0.0" not in httpx.get(f"{address}/metrics", timeout=PATIENCE).text:
        assert time.monotonic() < until
        goes_on(address)  # so that there is something to tell
        time.sleep(0.2)


def test_nothing_is_written_after_the_last_answer(address: str, caplog: pytest.LogCaptureFixture) -> None:
    with connection(address) as client:
        client.sendall(b"POST /nothing HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nno number\r\n")
        check_refusal(until_closed(client), 400, "bad_request")
    goes_on(address)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_connections_that_are_cut_harm_nobody(address: str) -> None:
    for length in range(0, len(WHOLE), 7):
        with connection(address) as client:
            client.sendall(WHOLE[:length])
    goes_on(address)


def test_what_is_no_http_is_refused(address: str) -> None:
    with connection(address) as client:
        client.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        check_refusal(until_closed(client), 400, "bad_request")
    goes_on(address)


@pytest.mark.parametrize(
    "part",
    [b"x: " + b"y" * 1000 + b"\r\n", b"y" * 1000],
    ids=["many headers", "one long header"],
)
def test_a_head_that_is_too_long_is_refused_before_it_ends(address: str, part: bytes) -> None:
    with connection(address) as client:
        client.sendall(HEAD + b"z: " + part * 80)
        check_refusal(until_closed(client), 413, "too_large")
    goes_on(address)


@pytest.mark.parametrize("path", [b"/" + b"x" * 70_000, b"/v1/bandits/" + b"x" * 70_000 + b"/decisions"])
def test_a_path_that_is_too_long_is_refused(address: str, path: bytes) -> None:
    with connection(address) as client:
        client.sendall(HEAD.replace(b"/v1/bandits/drinks/decisions", path) + b"content-length: 2\r\n\r\n{}")
        check_refusal(until_closed(client), 414, "path_too_long")
    goes_on(address)


@pytest.mark.parametrize(
    "line", [b"OPTIONS * HTTP/1.1", b"GET http://localhost/health HTTP/1.1", b"CONNECT a:1 HTTP/1.1"]
)
def test_unusual_requests_are_answered(address: str, line: bytes) -> None:
    with connection(address) as client:
        client.sendall(line + b"\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        assert re.match(rb"HTTP/1.1 [24]\d\d ", until_closed(client))
    goes_on(address)


def test_requests_may_follow_each_other_without_waiting_for_answers(address: str) -> None:
    with connection(address) as client:
        client.sendall(WHOLE * 5)
        found = b""
        while found.count(b"HTTP/1.1 201 ") < 5:
            part = client.recv(65536)
            assert part
            found += part


GET = b"GET /v1/bandits/drinks HTTP/1.1\r\nhost: localhost\r\n\r\n"


NO_HTTP = b"no HTTP\r\n\r\n"


@pytest.mark.parametrize(
    ("before", "then", "status", "code"),
    [
        (WHOLE, NO_HTTP, 400, "bad_request"),
        (GET, NO_HTTP, 400, "bad_request"),
        (WHOLE + WHOLE + GET, NO_HTTP, 400, "bad_request"),
        (GET + WHOLE, HEAD + b"transfer-encoding: chunked\r\n\r\nno length\r\n", 400, "bad_request"),
        (GET + WHOLE, HEAD + b"content-length: 9\r\n\r\n{", 408, "timeout"),
        (WHOLE, HEAD + b"x: " + b"y" * 70_000, 413, "too_large"),
    ],
    ids=["short", "long", "several", "a broken body", "half a body", "a long head"],
)
def test_what_is_wrong_is_answered_after_the_requests_before_it(
    address: str, before: bytes, then: bytes, status: int, code: str
) -> None:
    whole = before.count(b"HTTP/1.1")
    with connection(address) as client:
        client.sendall(before + then)
        found = answers(client, whole + 1)
        assert until_closed(client) == b""
    assert [re.match(rb"HTTP/1.1 20[01] ", answer) is not None for answer in found] == [True] * whole + [False]
    check_refusal(found[-1], status, code)


def test_a_connection_without_requests_is_closed_after_a_while(tmp_path: Path) -> None:
    with served(tmp_path, keep_alive=1) as address:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            new_bandit(client)
        for request in (WHOLE, b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"):
            with connection(address) as quiet:
                for _ in range(4):  # as long as there are requests, it stays
                    quiet.sendall(request)
                    assert answers(quiet, 1)
                    time.sleep(0.5)
                started = time.monotonic()
                assert until_closed(quiet) == b""
                assert 0.2 < time.monotonic() - started < 30


class Unread:
    """A transport whose client reads nothing."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def get_write_buffer_size(self) -> int:
        """Return how much was not read."""
        return 100

    def close(self) -> None:
        """Wait until all is read, and close then."""
        self.done.append("close")

    def abort(self) -> None:
        """Close at once."""
        self.done.append("abort")


def test_an_idle_connection_whose_answer_nobody_reads_is_closed_all_the_same() -> None:
    found: Any = LimitedProtocol.__new__(LimitedProtocol)
    found._limits, found.transport = Limits(1, 3.0, None), Unread()  # type: ignore[arg-type]  # it is not asked
    found._ended, found._since, found._idle, found.timeout_keep_alive = False, None, 10.0, 1
    found._unread, found._unread_since = 0, 0.0
    for now in (10.5, 11.5, 12.5, 13.2, 14.0):
        found.check(now)
    assert found.transport.done == ["close", "abort"]


def test_a_request_that_begins_before_the_last_answer_may_take_long(tmp_path: Path) -> None:
    with served(tmp_path, keep_alive=1, read_timeout=20.0) as address:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            new_bandit(client)
        with connection(address) as slow:
            slow.sendall(WHOLE + WHOLE[:50])
            assert len(answers(slow, 1)) == 1
            time.sleep(3.0)
            slow.sendall(WHOLE[50:])
            assert len(answers(slow, 1)) == 1


def test_a_connection_whose_request_was_answered_before_it_had_arrived_is_closed_after_a_while(tmp_path: Path) -> None:
    with served(tmp_path, keep_alive=1, read_timeout=20.0) as address, connection(address) as early:
        early.sendall(HEAD.replace(b"json", b"text") + b"content-length: 9\r\n\r\n123")
        assert answers(early, 1)[0].startswith(b"HTTP/1.1 415 ")
        time.sleep(2.0)
        early.sendall(b"456789")
        started = time.monotonic()
        early.settimeout(10.0)
        assert until_closed(early) == b""
        assert time.monotonic() - started > 0.5


def test_more_connections_than_allowed_are_told_so_and_others_are_served(tmp_path: Path) -> None:
    with served(tmp_path, max_connections=20) as address, ExitStack() as stack:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            new_bandit(client)
        time.sleep(0.5)  # its connection is gone then
        kept = [stack.enter_context(connection(address)) for _ in range(20)]
        kept[0].sendall(WHOLE)
        assert kept[0].recv(65536).startswith(b"HTTP/1.1 201 ")
        for pause in [0.0] * 30 + [0.2] * 3:  # those who send late may read why, too
            with connection(address) as late:
                time.sleep(pause)
                late.sendall(WHOLE)
                time.sleep(pause)
                answer = until_closed(late)
                check_refusal(answer, 503, "unavailable")
        kept[1].sendall(WHOLE)
        assert kept[1].recv(65536).startswith(b"HTTP/1.1 201 ")
        kept[2].close()
        time.sleep(0.5)
        goes_on(address)


def has_room_again(address: str, seconds: float = 60.0) -> bool:
    """Whether another connection is accepted, at once or within these seconds, however busy the machine is."""
    end = time.monotonic() + seconds
    while httpx.get(f"{address}/health", timeout=60).status_code != 200:
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def test_a_client_that_never_reads_is_closed(tmp_path: Path) -> None:
    with served(tmp_path, read_timeout=5.0, max_connections=1) as address:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            new_bandit(client, "big", arms=BIG)
        with never_reading(address):
            assert httpx.get(f"{address}/health", timeout=60).status_code == 503  # it has the only place
            assert has_room_again(address)  # its answers are 14 megabytes, which nobody keeps for ever


def test_a_refused_client_that_never_reads_is_closed_although_many_linger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_LINGERING", 0)
    with served(tmp_path, read_timeout=1.0, max_connections=1) as address:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            new_bandit(client, "big", arms=BIG)
        with never_reading(address) as silent:
            time.sleep(2.0)  # more than the network holds
            silent.sendall(b"no HTTP\r\n\r\n")
            assert has_room_again(address)
