"""Write files atomically: to a temporary file in the same folder first, which then replaces the old file."""

import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR
from pathlib import Path
from typing import BinaryIO

from wakeful.inputs import must_be

try:
    import fcntl
except ImportError:  # Windows has no such locks, so files of killed writers cannot be recognised and stay
    fcntl = None  # type: ignore[assignment]

PART = re.compile(r"\.wakeful-[0-9a-f]{32}\.part")  # the name of a file that is being written
CLEANING_PERIOD = 60.0  # seconds: how often a process looks for what killed writers left in a folder
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its other end

_cleaned: dict[Path, float] = {}  # when each folder was cleaned last


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of `path` once all is written and on disk; after any error the old one stays.

    A symbolic link stays, and the file that it points to is replaced. The file keeps the permissions of the one it
    replaces. What killed writers left in the folder is removed.
    """
    target = checked_target(path)
    remove_leftovers(target.parent)
    part, handle = _new_part(target.parent)
    lock = os.dup(handle)  # keeps the lock until the file has its name
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        if fcntl is None:
            os.close(lock)  # an open file cannot be renamed on Windows
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    finally:
        if fcntl is not None:
            os.close(lock)
    sync_folder(target.parent)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, atomically."""
    with replacing(path) as file:
        file.write(text.encode())


def checked_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that `path` points to, if it can be written: it is a regular file or does not exist."""
    target = Path(os.path.realpath(path))
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return target
    sentence = must_be("path", "a new name or that of a regular file", str(path))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, sentence)
    if not stat.S_ISREG(mode):
        raise ValueError(sentence)
    return target


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read its bytes; refuse anything else: a device may never end, a pipe may never begin."""

    def open_at_once(name: str, flags: int) -> int:
        return os.open(name, flags | NO_WAIT)

    file = open(os.fspath(path), "rb", opener=open_at_once)  # noqa: SIM115  # whoever asked for it closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ValueError(must_be("path", "that of a regular file", str(path)))
    return file


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Return what a regular file of at most `most` bytes holds; its size is checked before it is read."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            rule = f"a file of at most {most:,} bytes (max_bytes raises the limit)"
            raise ValueError(must_be("path", rule, str(path)) + f": it has {size:,}")
        return file.read(size)


def remove_leftovers(folder: Path) -> None:
    """Remove the files that killed writers left in a folder, and no other: those that no living writer has locked.

    Each process looks once a minute, since a folder may hold many files.
    """
    now = time.monotonic()
    if fcntl is None or now - _cleaned.get(folder, -CLEANING_PERIOD) < CLEANING_PERIOD:
        return
    _cleaned[folder] = now
    with suppress(OSError):  # a folder that may be written but not listed
        for name in os.listdir(folder):
            if PART.fullmatch(name):
                _remove_if_left(folder / name)


def _remove_if_left(part: Path) -> None:
    """Remove a temporary file unless its writer lives; leave links, pipes and files of other users alone."""
    with suppress(OSError):
        handle = os.open(part, os.O_RDWR | NO_LINK | NO_WAIT)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
        finally:
            os.close(handle)


def _new_part(folder: Path) -> tuple[Path, int]:
    """Make an empty file under a random name, locked as long as its writer lives; return its path and handle."""
    while True:
        part = folder / f".wakeful-{secrets.token_hex(16)}.part"
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | NO_LINK, 0o666)
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks: what is left there stays
                fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return part, handle
        os.close(handle)  # another process took it for one that was left, before it was locked


def sync_folder(folder: Path) -> None:
    """Make the new name durable, where the system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
