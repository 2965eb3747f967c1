"""Bandits on disk: one zip file with a readable header and plain arrays, written whole or not at all."""

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wakeful.inputs import must_be

VERSION = 1
HEADER = "wakeful.json"
ArrayMap = Mapping[str, np.ndarray[Any, Any]]


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: ArrayMap) -> None:
    """Write `header` and `arrays` to `path` so that a crash leaves the old file or the new one, never half."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(HEADER, json.dumps({"version": VERSION, **header}, indent=1))
                for field, array in arrays.items():
                    with archive.open(f"{field}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Read what `write` wrote as a `kind`; refuse anything else, whole."""
    rule = f"a {kind} file, complete and unchanged"
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(HEADER))
            if not isinstance(header, dict) or header.get("kind") != kind:
                raise ValueError(must_be("path", rule, str(path)) + ": it holds something else")
            if header["version"] != VERSION:
                found = f": its version is {header['version']!r}, this is {VERSION}"
                raise ValueError(must_be("path", "a file of a version this Wakeful can read", str(path)) + found)
            names = [name for name in archive.namelist() if name != HEADER]
            arrays = {name.removesuffix(".npy"): _array(archive.read(name)) for name in names}
    except (
        zipfile.BadZipFile,
        KeyError,
        EOFError,
        UnicodeDecodeError,
        json.JSONDecodeError,
        NotImplementedError,
    ) as e:
        raise ValueError(must_be("path", rule, str(path)) + f": {e}") from None
    return header, arrays


def _array(data: bytes) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return array


def _umask() -> int:
    """Return the process's umask; it can be read only by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where the system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
