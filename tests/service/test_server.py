"""The server: started by the command, stopped by a signal with all accepted requests answered; its logs; its tokens."""

import asyncio
import json
import logging
import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from processes import running
from serving import PATIENCE, connected, error_of, new_bandit
from wakeful.service.http import App
from wakeful.service.server import JsonLines, known_tokens, listen
from wakeful.service.settings import Settings


@contextmanager
def command(folder: Path, *options: str, **environment: str) -> Iterator[tuple[str, Any]]:
    """Yield the address of `wakeful serve` in a process of its own, and the process."""
    told: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": folder}
    given = {**os.environ, **environment}
    with running("-m", "wakeful", "serve", "--port", "0", *options, env=given, **told) as process:
        assert process.stdout is not None
        found = re.search(r"at (http://\S+)$", process.stdout.readline())
        assert found
        yield found[1], process


def ended(process: Any) -> list[dict[str, Any]]:
    """Wait for a process to end with code 0, and return its logs."""
    _, logs = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, logs
    return [json.loads(line) for line in logs.splitlines()]


def test_it_starts_with_nothing_and_keeps_all_when_it_is_stopped(tmp_path: Path) -> None:
    with command(tmp_path) as (address, process):
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            new_bandit(client)
            client.post("/v1/bandits/drinks/decisions", json={"id": "mine"})
        process.send_signal(signal.SIGTERM)
        logs = ended(process)
    assert [line["message"] for line in logs if line["level"] == "info"] == ["started", "stopping", "stopped"]
    assert (tmp_path / "wakeful.db").is_file()
    with command(tmp_path, "--log-requests") as (address, process):
        found = httpx.get(f"{address}/v1/bandits/drinks/decisions/mine?", timeout=PATIENCE).json()
        assert found["state"] == "pending"
        process.send_signal(signal.SIGINT)
        logs = ended(process)
    request = next(line for line in logs if line["message"] == "request")
    assert (request["status"], request["method"], request["client"]) == (200, "GET", "127.0.0.1")


def test_what_was_accepted_is_answered_when_it_stops(tmp_path: Path) -> None:
    answered: list[int] = []
    acknowledged: list[str] = []
    begun = threading.Event()

    def ask(address: str) -> None:
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            try:
                while True:
                    answer = client.post("/v1/bandits/drinks/decisions", json={})
                    answered.append(answer.status_code)
                    if answer.status_code == 201:
                        acknowledged.append(answer.json()["id"])
                    if len(answered) > 200:
                        begun.set()
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                pass  # the listening socket is gone, or a quiet connection was closed; a request never runs out of time

    with command(tmp_path) as (address, process):
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            new_bandit(client)
        threads = [threading.Thread(target=ask, args=(address,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        assert begun.wait(PATIENCE)
        process.send_signal(signal.SIGTERM)
        ended(process)
        for thread in threads:
            thread.join(PATIENCE)
    assert set(answered) <= {201, 503}
    with connected(tmp_path) as client:
        kept = client.get("/v1/bandits/drinks").json()["decisions"]
        assert len(acknowledged) <= kept <= len(acknowledged) + len(threads)
        for made in acknowledged[-len(threads) :]:
            assert client.get(f"/v1/bandits/drinks/decisions/{made}").status_code == 200


def test_tokens_come_from_the_environment_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("0123456789abcdef read\n")
    both = known_tokens(Settings(token_file=str(path)), {"WAKEFUL_TOKENS": "fedcba9876543210; 9876543210fedcba decide"})
    assert [sorted(token.scopes) for token in both] == [["admin", "decide", "feedback", "read"], ["decide"], ["read"]]
    assert known_tokens(Settings(), {}) == ()
    path.write_text("# nobody\n")
    with pytest.raises(ValueError, match="--token-file must be a file with at least one token"):
        known_tokens(Settings(token_file=str(path)), {})
    with pytest.raises(OSError, match="No such file"):
        known_tokens(Settings(token_file=str(tmp_path / "none")), {})


def test_it_listens_elsewhere_with_a_token(tmp_path: Path) -> None:
    with command(tmp_path, "--host", "0.0.0.0", WAKEFUL_TOKENS="0123456789abcdef") as (address, _):
        place = address.replace("0.0.0.0", "127.0.0.1")
        error_of(httpx.get(f"{place}/v1/bandits"), 401, "unauthorized")
        headers = {"authorization": "Bearer 0123456789abcdef"}
        assert httpx.get(f"{place}/v1/bandits", headers=headers, timeout=PATIENCE).json() == {"bandits": []}


def test_a_variable_that_is_misspelt_is_named(tmp_path: Path) -> None:
    with command(tmp_path, WAKEFUL_TOKEN="0123456789abcdef", WAKEFUL_PRICE="5") as (_, process):
        process.send_signal(signal.SIGTERM)
        logs = ended(process)
    warned = [line["message"] for line in logs if line["level"] == "warning"]
    assert warned == ["WAKEFUL_TOKEN is not read (did you mean 'WAKEFUL_TOKENS'?)"]


def test_a_port_that_is_taken_is_named() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1 port {port}: Address already in use"):
            listen("127.0.0.1", port)


def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="--host must be an address of this machine, got 'no such host'"):
        listen("no such host", 0)


def test_version_six_of_the_internet_protocol() -> None:
    if not socket.has_ipv6:
        return
    with listen("::1", 0) as found:
        assert found.family == socket.AF_INET6


def test_logs_are_lines_of_json() -> None:
    made: list[dict[str, Any]] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            line = JsonLines().format(record)
            assert "\n" not in line
            made.append(json.loads(line))

    logger = logging.Logger("test")
    logger.addHandler(Kept())
    logger.info("two\nlines %s", "é", extra={"about": {"id": 7}})
    try:
        dict[str, int]()["inside"]
    except KeyError:
        logger.exception("failed")
    assert (made[0]["message"], made[0]["id"], made[0]["level"]) == ("two\nlines é", 7, "info")
    assert "KeyError: 'inside'" in made[1]["exception"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made[0]["time"])


class Failing:
    """A desk that fails with what nobody expects."""

    class engine:  # noqa: N801 (as the desk's attribute is called)
        class store:  # noqa: N801
            name = "/secret/place"

    changes, waiting, is_ready, batch_sizes = 0, 0, False, ()

    async def ask(self, request: Any) -> Any:
        """Fail."""
        raise ZeroDivisionError("SELECT * FROM /secret/place")


async def answers() -> list[httpx.Response]:
    """Return what a service answers whose desk fails."""
    transport = httpx.ASGITransport(App(Failing(), Settings()))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return [
            await client.get("/v1/bandits"),
            await client.post("/v1/bandits/x/decisions", json={}),
            await client.get("/health"),
        ]


def test_what_nobody_expects_is_answered_500_with_an_id_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    *failed, health = asyncio.run(answers())
    for answer in failed:
        problem = error_of(answer, 500, "failed")
        assert "secret" not in answer.text
        assert "Zero" not in answer.text
        number = re.search(r"the id ([0-9a-f]{16})$", problem["message"])
        assert number
        records = [record for record in caplog.records if getattr(record, "about", {}).get("id") == number[1]]
        assert len(records) == 1
        assert records[0].exc_info
    assert (health.status_code, health.json()["status"]) == (503, "unavailable")
