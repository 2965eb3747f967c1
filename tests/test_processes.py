"""Children of tests hear an interrupt and end with their test, even under `nohup make test &`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from processes import running

ASLEEP = "import time; print('on', flush=True); time.sleep(600)"


def test_a_child_hears_an_interrupt() -> None:
    with running("-c", ASLEEP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT


def test_a_child_hears_an_interrupt_when_the_tests_run_in_the_background() -> None:
    here = f"{__file__}::{test_a_child_hears_an_interrupt.__name__}"
    command = f"trap '' INT QUIT; exec {sys.executable} -m pytest -q -p no:cacheprovider {here}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout


def test_a_child_ends_with_its_test() -> None:
    with pytest.raises(RuntimeError, match="the test fails"), running("-c", ASLEEP) as process:
        raise RuntimeError("the test fails")
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_a_test_that_hangs_fails_in_time(tmp_path: Path) -> None:
    """Under the settings of this project, with a smaller limit."""
    (tmp_path / "test_hang.py").write_text("import time\n\n\ndef test_hang():\n    time.sleep(600)\n")
    command = [sys.executable, "-m", "pytest", "-q", "-o", "timeout=0.5", "-p", "no:cacheprovider", str(tmp_path)]
    config = Path(__file__).parent.parent / "pyproject.toml"
    done = subprocess.run([*command, "-c", str(config)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "Timeout (>0.5s)" in done.stdout


def test_every_test_has_a_time_limit(request: pytest.FixtureRequest) -> None:
    assert 0 < float(request.config.getini("timeout")) <= 600


def test_every_child_is_started_where_its_end_is_seen_to() -> None:
    """`Popen` as a context manager waits for a child for ever; `running`, `browser` and `service_load` kill theirs."""
    here = Path(__file__).parent
    starting = {path.name for path in here.rglob("*.py") if "subprocess.Popen(" in path.read_text(encoding="utf-8")}
    assert starting - {Path(__file__).name} == {"processes.py", "browser.py", "service_load.py"}
