"""Bandits on disk: one zip file with a readable header and plain arrays, written whole or not at all."""

import io
import json
import os
import secrets
import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from wakeful.inputs import must_be

VERSION = 1
HEADER = "wakeful.json"
ArrayMap = Mapping[str, np.ndarray[Any, Any]]
Built = TypeVar("Built")


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: ArrayMap) -> None:
    """Write `header` and `arrays` to `path` so that a crash leaves the old file or the new one, never half."""
    target = Path(os.path.realpath(path))  # behind a symbolic link, the file it points to
    part = target.parent / f".wakeful-{secrets.token_hex(8)}.part"
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(HEADER, json.dumps({"version": VERSION, **header}, indent=1))
                for field, array in arrays.items():
                    with archive.open(f"{field}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def read(path: str | os.PathLike[str], kind: str, build: Callable[[dict[str, Any], dict[str, Any]], Built]) -> Built:
    """Return what `build` makes of the header and the arrays that `write` wrote; refuse anything else, whole."""
    data = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            header = json.loads(archive.read(HEADER))
            version = header["version"] if header["kind"] == kind else None
            if version == VERSION:
                names = [name for name in archive.namelist() if name != HEADER]
                return build(header, {name.removesuffix(".npy"): _array(archive.read(name)) for name in names})
    except Exception as problem:  # whatever goes wrong with somebody's bytes, it is the bytes that are wrong
        rule = f"a {kind} file, complete and unchanged"
        raise ValueError(must_be("path", rule, str(path)) + f": {problem}") from problem
    rule, found = "a file of a version this Wakeful can read", f"its version is {version!r}, this is {VERSION}"
    if version is None:
        rule, found = f"a {kind} file", f"it holds a {header['kind']}"
    raise ValueError(must_be("path", rule, str(path)) + f": {found}")


def _array(data: bytes) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return array


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where the system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
