"""`wakeful serve`: its help, its settings, and its errors of one line."""

import builtins
import logging
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from wakeful.cli import main
from wakeful.service import server
from wakeful.service.server import listen
from wakeful.service.settings import SERVICE_SETTINGS, Settings
from wakeful.service.stores import open_store


def test_help_shows_every_setting_with_its_three_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    for setting in SERVICE_SETTINGS.values():
        assert setting.flag in said
        assert f"[{setting.variable}, {setting.name}]" in said
    assert "WAKEFUL_TOKENS" in said
    assert "--token " not in said


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Return a list of the settings that the service was run with; it is not run."""
    found: list[Settings] = []

    def run(settings: Settings, environment: Any, started: Any) -> None:
        found.append(settings)
        started("http://127.0.0.1:8000", None)

    monkeypatch.setattr(server, "run", run)
    return found


def test_options_the_environment_and_a_file(
    tmp_path: Path, used: list[Settings], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "service.toml"
    config.write_text('db = "other.db"\nrate = 7\nmax_body = 5000\n')
    monkeypatch.setenv("WAKEFUL_RATE", "8")
    monkeypatch.setenv("WAKEFUL_MAX_BODY", "6000")
    assert main(["serve", "--config", str(config), "--max-body", "7000", "--log-requests"]) == 0
    assert (used[0].db, used[0].rate, used[0].max_body, used[0].log_requests) == ("other.db", 8.0, 7000, True)
    assert capsys.readouterr().out == "wakeful serves other.db at http://127.0.0.1:8000\n"
    monkeypatch.setenv("WAKEFUL_CONFIG", str(config))
    assert main(["serve", "--db", "postgresql://me:secret@host/db"]) == 0
    assert (used[1].max_body, used[1].db) == (6000, "postgresql://me:secret@host/db")
    assert capsys.readouterr().out == "wakeful serves postgresql://me:***@host/db at http://127.0.0.1:8000\n"
    assert main(["serve", "--db", "postgresql://host/db?user=me&password=secret&connect_timeout=5"]) == 0
    assert "postgresql://host/db?user=me&password=***&connect_timeout=5 at" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--port", "x"], 2, "--port must be a whole number from 0 to 65535, got 'x'"),
        (["--config", "none.toml"], 1, "wakeful: No such file or directory: 'none.toml'"),
        (["--log-level", "loud"], 2, "--log-level must be one of 'debug', 'info', 'warning', 'error', got 'loud'"),
        (["--host", "0.0.0.0"], 2, "--host must be a loopback address where there are no tokens"),
        (["--token-file", "none"], 1, "No such file or directory"),
        (["--db", "mysql://x"], 2, "db must be a file, sqlite:///file, or postgresql://..., got 'mysql://x'"),
        (["--db", "postgresql://127.0.0.1:1/x"], 1, "PostgreSQL does not answer: connection failed"),
        (["--db", "postgress://me:se/c@ret@x/y"], 2, "or postgresql://..., got 'postgress://me:***@x/y'"),
    ],
)
def test_errors_are_one_line(
    options: list[str],
    code: int,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WAKEFUL_TOKENS", raising=False)
    assert main(["serve", "--port", "0", *options]) == code
    said = capsys.readouterr().err
    assert sentence in said
    assert len([line for line in said.splitlines() if not line.startswith("{")]) == 1


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--db", str(tmp_path / "x.db"), "--port", str(port)]) == 1
    assert f"wakeful: cannot listen on 127.0.0.1 port {port}: Address already in use" in capsys.readouterr().err


def test_a_database_that_another_process_has_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.db")
    with closing(open_store(path)):
        assert main(["serve", "--db", path, "--port", "0"]) == 1
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("{")]
    assert said == [f"wakeful: {path} is open in another process; only one may write to it at a time"]


def test_loggers_are_as_before_when_the_service_has_ended() -> None:
    logger = logging.getLogger("wakeful")
    before = logger.handlers, logger.propagate, logger.level
    with server.logs_as_json("error"):
        assert logger.level == logging.ERROR
        assert not logger.propagate
    assert (logger.handlers, logger.propagate, logger.level) == before


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name.startswith("wakeful.service.server"):
            raise ImportError("No module named 'starlette'")
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["serve"]) == 1
    assert "pip install 'wakeful[service]'" in capsys.readouterr().err
