"""The one writer of files: whole or not at all, only onto regular files, and nothing is left of killed writers."""

import fcntl
import os
import secrets
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from processes import running
from wakeful import Bandit, Uniform, atomic


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test looks for leftovers as a new process would."""
    monkeypatch.setattr(atomic, "_cleaned", {})


def put(path: Path, text: str = "new") -> None:
    atomic.write_text(path, text)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def a_link_to_a_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


@pytest.mark.parametrize("make", [os.mkfifo, a_socket, a_link_to_a_pipe, lambda path: path.symlink_to("/dev/null")])
def test_what_is_no_regular_file_is_neither_replaced_nor_read(make: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "b"
    make(path)
    before = {name: os.lstat(tmp_path / name).st_ino for name in os.listdir(tmp_path)}
    with pytest.raises(ValueError, match=r"^path must be a new name or that of a regular file, got '.*b'$"):
        Bandit(Uniform(), 2).save(path)
    with pytest.raises((ValueError, OSError), match=r"path must be that of a regular file|No such device"):
        Bandit.load(path)
    assert {name: os.lstat(tmp_path / name).st_ino for name in os.listdir(tmp_path)} == before


def test_a_device_is_refused() -> None:
    with pytest.raises(ValueError, match="path must be a new name or that of a regular file, got '/dev/null'"):
        atomic.checked_target("/dev/null")
    with pytest.raises(ValueError, match="path must be that of a regular file, got '/dev/zero'"):
        atomic.read_bytes("/dev/zero", 100)


def test_a_link_that_leads_nowhere_leads_to_a_file_afterwards(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    put(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


DIES = """
import os, sys
from pathlib import Path
from wakeful import atomic

with atomic.replacing(Path(sys.argv[1]) / "b") as file:
    file.write(b"half")
    file.flush()
    print("ready", flush=True)
    sys.stdin.read()
"""


@contextmanager
def writer(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that is in the middle of writing `b`."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with running("-c", DIES, str(folder), text=True, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process


def test_what_a_killed_writer_left_is_removed_by_the_next_one_and_nothing_else(tmp_path: Path) -> None:
    with writer(tmp_path):
        pass  # it is killed
    (left,) = os.listdir(tmp_path)
    with writer(tmp_path) as alive:  # it has removed what the dead one left
        (part,) = os.listdir(tmp_path)
        assert part != left
        assert atomic.PART.fullmatch(part)
        others = {f".wakeful-{'0' * 32}.part.txt", ".wakeful-0123.part", ".b.part", f"wakeful-{'0' * 32}.part"}
        for name in others:
            (tmp_path / name).touch()
        link, pipe = f".wakeful-{'a' * 32}.part", f".wakeful-{'b' * 32}.part"
        (tmp_path / link).symlink_to(".b.part")
        os.mkfifo(tmp_path / pipe)
        put(tmp_path / "c")
        assert set(os.listdir(tmp_path)) == {part, "c", link, pipe, *others}
        alive.communicate()
    assert set(os.listdir(tmp_path)) == {"b", "c", link, pipe, *others}
    assert (tmp_path / "b").read_text() == "half"


def test_a_part_that_is_removed_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock
    removed: list[str] = []

    def flock(handle: int, how: int) -> None:
        if not removed:
            removed.extend(os.listdir(tmp_path))
            (tmp_path / removed[0]).unlink()
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    put(tmp_path / "b")
    assert len(removed) == 1
    assert os.listdir(tmp_path) == ["b"]


def test_names_of_parts_cannot_be_guessed_and_links_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = set()
    for _ in range(3):
        with atomic.replacing(tmp_path / "b"):
            names |= {name for name in os.listdir(tmp_path) if name != "b"}
    assert len(names) == 3
    monkeypatch.setattr(secrets, "token_hex", lambda size: "0" * 2 * size)
    (tmp_path / "victim").write_text("mine")
    (tmp_path / f".wakeful-{'0' * 32}.part").symlink_to("victim")
    with pytest.raises(FileExistsError):
        put(tmp_path / "b")
    assert (tmp_path / "victim").read_text() == "mine"


def test_after_an_error_the_old_file_stays_with_its_permissions(tmp_path: Path) -> None:
    put(tmp_path / "b", "old")
    (tmp_path / "b").chmod(0o640)
    with pytest.raises(ZeroDivisionError), atomic.replacing(tmp_path / "b") as file:
        file.write(b"half" * (1 // 0))
    assert (os.listdir(tmp_path), (tmp_path / "b").read_text()) == (["b"], "old")
    put(tmp_path / "b")
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").read_text() == "new"


def test_no_file_stays_open(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    put(tmp_path / "b")
    for path in (tmp_path, Path("/dev/null")):
        with pytest.raises((ValueError, OSError)):
            put(path)
        with pytest.raises((ValueError, OSError)):
            atomic.read_bytes(path, 10)
    assert len(os.listdir("/dev/fd")) == before
