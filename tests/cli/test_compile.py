"""`wakeful compile` fills the folder of compiled code, and later processes compile nothing."""

import os
import subprocess
import sys
from pathlib import Path

DECIDING = """
import wakeful as wk
bandit = wk.Bandit(wk.Uniform(), 3, seed=0)
bandit.update(bandit.choose(), loss=0.5)
bandit.report()
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment)


def test_code_is_compiled_once_into_the_folder_that_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    done = run(folder, "-m", "wakeful", "compile", "uniform")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Uniform(): ")
    assert f"compiled code is kept in {folder}" in done.stdout
    kept = set(folder.rglob("*.wakeful"))
    assert kept
    again = run(folder, "-c", DECIDING)
    assert again.returncode == 0, again.stderr
    assert set(folder.rglob("*.wakeful")) == kept


def test_a_folder_that_cannot_be_written_to_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(tmp_path / "file" / "code", "-m", "wakeful", "compile", "uniform")
    assert done.returncode == 1
    assert "NUMBA_CACHE_DIR must be a folder that can be written to" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_policy_that_is_unknown_is_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "wakeful", "compile", "unifrm")
    assert done.returncode == 2
    assert "did you mean 'Uniform'?" in done.stderr
