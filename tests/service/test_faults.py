"""Short versions of the faults that `make soak` repeats for long: crashes, pauses, a full disk, a lost connection."""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from service_disk import in_small_file_system
from service_load import Clients, call, check, create, kills, restarts, served


def test_kills_under_load_lose_and_double_nothing_on_sqlite(tmp_path: Path) -> None:
    assert kills(str(tmp_path / "wakeful.db"), 3, seed=1, folder=tmp_path) > 50


def test_three_processes_on_one_postgresql_one_killed_one_paused_end_equal(
    new_postgres: Callable[[], str], tmp_path: Path
) -> None:
    assert kills(new_postgres(), 2, seed=2, folder=tmp_path, processes=3, pause=7.0) > 50


def test_a_stopped_service_answers_what_it_accepted(tmp_path: Path) -> None:
    url = str(tmp_path / "wakeful.db")
    with served(url, log=tmp_path / "log") as service:
        create(service.port, "shop", "bandit")
        with Clients([service.port], "shop", "bandit", 4, seed=3) as clients:
            for _ in range(2):
                time.sleep(0.5)
                assert service.stop() == 0
                service.start()
    check(url, "shop", clients.journal)


def test_connections_that_are_cut_in_the_midst_change_nothing_by_halves(tmp_path: Path) -> None:
    url = str(tmp_path / "wakeful.db")
    with served(url, log=tmp_path / "log") as service:
        create(service.port, "shop", "bandit")
        body = b'{"id": "cut"}'
        head = b"POST /v1/bandits/shop/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        whole = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
        for cut in range(0, len(whole) + 1, 7):
            with socket.create_connection(("127.0.0.1", service.port), timeout=5) as connection:
                connection.sendall(whole[:cut])
        with socket.create_connection(("127.0.0.1", service.port), timeout=5) as connection:
            connection.sendall(whole)  # complete, and gone before the answer
        status, answer = call(service.port, "POST", "/v1/bandits/shop/decisions", {"id": "cut"})
        assert status in {200, 201}
        assert answer["id"] == "cut"
        assert call(service.port, "GET", "/v1/bandits/shop")[1]["decisions"] == 1


def test_a_full_disk_refuses_and_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    assert int(in_small_file_system(folder)) > 20


def test_postgresql_is_restarted_under_load(own_postgres: Any, tmp_path: Path) -> None:
    assert restarts(own_postgres, own_postgres.get_uri(), 2, seed=4, folder=tmp_path) > 20
