"""Short versions of faults that `make soak` repeats for long: crashes, pauses, full disks, cut connections, clocks."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from service_clock import clock_jumps
from service_cuts import cuts
from service_disk import in_small_file_system
from service_load import Clients, check, create, kills, restarts, served


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


def test_connections_that_are_cut_anywhere_lose_and_double_nothing(tmp_path: Path) -> None:
    cut = cuts(str(tmp_path / "wakeful.db"), 1.0, seed=5, folder=tmp_path)
    assert min(cut) > 10


def test_a_clock_that_jumps_back_an_hour_under_load_loses_and_doubles_nothing(tmp_path: Path) -> None:
    assert clock_jumps(str(tmp_path / "wakeful.db"), 2, seed=6, folder=tmp_path) > 50


def test_a_full_disk_refuses_and_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    assert int(in_small_file_system(folder)) > 20


def test_postgresql_is_restarted_under_load(own_postgres: Any, tmp_path: Path) -> None:
    assert restarts(own_postgres, own_postgres.get_uri(), 2, seed=4, folder=tmp_path) > 20
