"""`wakeful compile` fills the folder of compiled code, and later processes compile nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DECIDING = """
import wakeful as wk
bandit = wk.Bandit(wk.Uniform(), 3, seed=0)
bandit.update(bandit.choose(), loss=0.5)
bandit.report()
"""


# The administrator can write everywhere, so what another user may not do fails here by hand.
READ_ONLY = """
import os
from numba.core.caching import _CacheLocator
ensure = _CacheLocator.ensure_cache_path
def ensure_cache_path(self):
    if not self.get_cache_path().startswith(os.environ["XDG_CACHE_HOME"]):
        raise PermissionError(13, "Permission denied")
    ensure(self)
_CacheLocator.ensure_cache_path = ensure_cache_path
"""


def run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **more}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the compiled code of a policy, and what was said about it in a file beside."""
    folder = tmp_path_factory.mktemp("filled") / "code"
    done = run(folder, "-m", "wakeful", "compile", "uniform")
    assert done.returncode == 0, done.stderr
    (folder.parent / "said").write_text(done.stdout)
    return folder


def test_code_is_compiled_once_into_the_folder_that_is_named(filled: Path) -> None:
    said = (filled.parent / "said").read_text()
    assert said.startswith("Uniform(): ")
    assert f"compiled code is kept in {filled}" in said
    kept = set(filled.rglob("*.wakeful"))
    assert kept
    again = run(filled, "-c", DECIDING)
    assert again.returncode == 0, again.stderr
    assert set(filled.rglob("*.wakeful")) == kept


@pytest.mark.parametrize("home", ["home", "file/home"], ids=["written", "nowhere to write"])
def test_a_folder_that_can_only_be_read_is_read(tmp_path: Path, filled: Path, home: str) -> None:
    folder, place = tmp_path / "code", tmp_path / home
    shutil.copytree(filled, folder)
    (tmp_path / "file").write_text("")
    kept = set(tmp_path.rglob("*.wakeful"))
    again = run(folder, "-c", READ_ONLY + DECIDING, HOME=str(place), XDG_CACHE_HOME=str(place))
    assert (again.returncode, again.stderr) == (0, "")
    assert set(tmp_path.rglob("*.wakeful")) == kept
    other = run(
        folder, "-c", READ_ONLY + DECIDING.replace("Uniform()", "FixedOrdering((0,))"), XDG_CACHE_HOME=str(place)
    )
    assert other.returncode == 0, other.stderr
    new = set(tmp_path.rglob("*.wakeful")) - kept
    assert all(path.is_relative_to(place) for path in new)
    assert bool(new) is (home == "home")
    assert ("cannot be kept on disk" in other.stderr) is (home != "home")


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
