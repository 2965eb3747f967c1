"""The files of deploy/ fit the program: options, settings, extras and paths that they name exist."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from serving import served
from wakeful import cli
from wakeful.cli.names import known_policies, parse
from wakeful.cli.options import from_file
from wakeful.service.settings import SERVICE_SETTINGS, TOKENS, resolve

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
VARIABLES = {setting.variable for setting in SERVICE_SETTINGS.values()} | {TOKENS}


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile."""
    lines = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def of(kind: str) -> list[str]:
    """Return the arguments of all instructions of a kind."""
    return [rest for word, rest in instructions() if word == kind]


def check_compiled(command: str) -> None:
    """Check that a command compiles policies that there are."""
    names = shlex.split(command)
    assert names[:1] == ["compile"]
    assert {type(parse("policy", name, known_policies())).__name__ for name in names[1:]} == {"Auto", "AutoPairs"}


def test_the_image_runs_as_a_user_without_rights_and_keeps_its_data_in_a_volume() -> None:
    order = [word for word, _ in instructions()]
    assert order[0] == "FROM"
    assert of("USER") == ["wakeful"]
    assert order.index("USER") < order.index("ENTRYPOINT")
    assert of("VOLUME") == of("WORKDIR") == ["/var/lib/wakeful"]
    assert json.loads(of("ENTRYPOINT")[0]) + json.loads(of("CMD")[0]) == ["wakeful", "serve"]


def test_the_image_installs_extras_that_there_are_from_files_that_there_are() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (installed,) = [run for run in of("RUN") if "pip install" in run]
    assert set(re.search(r"\[(.*)\]", installed)[1].split(",")) <= set(extras)  # type: ignore[index]
    for copied in of("COPY"):
        assert all((ROOT / name).exists() for name in copied.split()[:-1])


def test_the_image_compiles_when_it_is_built_into_the_folder_it_reads() -> None:
    (compiles,) = [run for run in of("RUN") if "wakeful compile" in run]
    variables = dict(pair.split("=", 1) for text in of("ENV") for pair in text.split())
    check_compiled(compiles.partition("&&")[0].removeprefix("wakeful "))
    assert variables["NUMBA_CACHE_DIR"] in compiles
    served = {name: value for name, value in variables.items() if name.startswith("WAKEFUL_")}
    assert set(served) <= VARIABLES
    settings = resolve({}, {}, served)
    assert settings.db.startswith(of("VOLUME")[0])
    assert str(settings.port) == of("EXPOSE")[0]


def test_the_health_check_of_the_image_tells_a_service_that_runs(tmp_path: Path) -> None:
    (check,) = of("HEALTHCHECK")
    command: list[str] = json.loads(check[check.index("[") :])
    assert command[0] == "python"
    with served(tmp_path) as address:
        there = [sys.executable, "-c", command[2].replace("http://127.0.0.1:8000", address)]
        assert subprocess.run(there, check=False).returncode == 0
    assert subprocess.run(there, check=False, capture_output=True).returncode != 0


def test_two_services_share_one_database_in_the_compose_file() -> None:
    yaml: Any = import_module("yaml")
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = dict(found["services"])
    database = services.pop("postgres")
    assert len(services) == 2
    assert set(found["volumes"]) == {database["volumes"][0].split(":")[0]}
    for service in services.values():
        assert set(service["environment"]) <= VARIABLES
        assert service["environment"]["WAKEFUL_DB"].startswith("postgresql://wakeful:")
        assert service["depends_on"] == {"postgres": {"condition": "service_healthy"}}
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
        assert service["ports"][0].startswith("127.0.0.1:")
    assert len({service["ports"][0] for service in services.values()}) == 2
    assert database["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]


def unit() -> dict[str, list[str]]:
    """Return the lines of the unit, by key."""
    found: dict[str, list[str]] = {}
    for line in (DEPLOY / "wakeful.service").read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def test_the_unit_starts_what_there_is() -> None:
    found = unit()
    (start,), (before,) = found["ExecStart"], found["ExecStartPre"]
    check_compiled(before.partition("wakeful ")[2])
    options = cli._parser().parse_args(shlex.split(start)[1:])
    assert options.config == "/etc/wakeful.toml"
    names = {setting.partition("=")[0] for setting in found["Environment"]}
    assert {name for name in names if name.startswith("WAKEFUL_")} <= VARIABLES
    assert found["DynamicUser"] == found["NoNewPrivileges"] == ["yes"]
    assert found["SystemCallErrorNumber"] == ["EPERM"]  # without it, importing NumPy would end the process


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    systemd = shutil.which("systemd-analyze")
    program = shutil.which("true")
    text = (DEPLOY / "wakeful.service").read_text()
    assert text.count("/opt/wakeful/bin/wakeful ") == 2
    if systemd is not None:  # where there is none, the unit is of no use either
        path = tmp_path / "wakeful.service"
        path.write_text(text.replace("/opt/wakeful/bin/wakeful ", f"{program} "))
        done = subprocess.run([systemd, "verify", "--man=no", path], capture_output=True, text=True, check=False)
        assert "wakeful.service" not in done.stderr, done.stderr


def test_the_example_of_settings_is_accepted() -> None:
    settings = resolve({}, from_file(DEPLOY / "wakeful.toml", list(SERVICE_SETTINGS)), {})
    assert settings.db == "/var/lib/wakeful/wakeful.db"
    assert settings.proxies == ("127.0.0.1",)
    commented = re.findall(r"^# (\w+) = ", (DEPLOY / "wakeful.toml").read_text(), re.MULTILINE)
    assert commented
    assert set(commented) <= set(SERVICE_SETTINGS)


@pytest.mark.parametrize("command", ["verify", "backup", "export", "import", "compact", "delete"])
def test_every_command_is_in_the_documents_and_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"`wakeful {command}" in (ROOT / "docs" / "operations.md").read_text()
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    assert ended.value.code == 0
    assert "--db" in capsys.readouterr().out
