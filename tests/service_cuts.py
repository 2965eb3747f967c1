"""Connections that are cut at any byte, under load, and the proof afterwards that nothing was lost or doubled."""

from pathlib import Path
from typing import NamedTuple

from cutting_proxy import cutting
from raw_http import connection, decision
from service_load import Clients, Say, call, check, create, served, silently, verify, work_for


class Cut(NamedTuple):
    """How many connections were cut in their request and in their answer, and how many events were logged."""

    in_requests: int
    in_answers: int
    events: int


def cuts(
    url: str, seconds: float, *, seed: int, folder: Path, clients: int = 4, step: int = 7, say: Say = silently
) -> Cut:
    """Cut one request after each `step` bytes, then connections of clients at random for so many seconds."""
    with served(url, log=folder / "service.log") as service:
        create(service.port, "shop", "bandit")
        _cut_one_request(service.port, step)
        with (
            cutting(service.port, seed) as proxy,
            Clients([proxy.port], "shop", "bandit", clients, seed) as load,
        ):
            work_for(seconds, load, say)
        load.journal.asked.add("cut")
        assert service.stop() == 0
    events = check(url, "shop", load.journal)
    verify(url)
    return Cut(proxy.done["request"], proxy.done["answer"], events)


def _cut_one_request(port: int, step: int) -> None:
    """Cut a request for a decision after each so many bytes; it is decided at most once."""
    whole, address = decision("shop", b'{"id": "cut"}'), f"http://127.0.0.1:{port}"
    for length in [*range(0, len(whole), step), len(whole)]:  # the last one is complete, and gone before the answer
        with connection(address) as client:
            client.sendall(whole[:length])
    status, answer = call(port, "POST", "/v1/bandits/shop/decisions", {"id": "cut"})
    assert status in {200, 201}, answer
    assert answer["id"] == "cut"
    assert call(port, "GET", "/v1/bandits/shop")[1]["decisions"] == 1
