"""The folder of a report: ours or empty before any work, and everything in it written atomically."""

import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any

from wakeful import atomic
from wakeful.inputs import must_be
from wakeful.lab import tables
from wakeful.lab.results import Results
from wakeful.logs.parquet import arrow
from wakeful.paper.contents import Claim

MARK = ".wakeful-report"  # says that a folder is ours, from its first moment on
WORK = ".work"  # finished units of work
MANIFEST, CLAIMS, REPORT, ALL_RESULTS = "MANIFEST.json", "claims.json", "report.html", "results.parquet"
TOP_FILES = (MANIFEST, CLAIMS, REPORT, ALL_RESULTS)  # the files of a report outside its folders
REPORT_FOLDERS = (".", "figures", "results")  # where files of a report are
PACKAGES = ("wakeful", "numpy", "numba", "scipy", "matplotlib", "pyarrow")


def opened(path: str | os.PathLike[str], parts: Sequence[str] = ()) -> Path:
    """Return the folder, made if need be, or say why no report of these parts can be written there."""
    out = Path(path)
    lost = sorted(set(_parts(out)) - set(parts)) if parts else []
    if lost:
        rule = f"another folder than that of a report with more in it than --only asks for ({', '.join(lost)})"
        raise ValueError(must_be("--out", rule, str(out)))
    if out.exists() and not out.is_dir():
        raise ValueError(must_be("--out", "a folder", str(out)))
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()) and not (out / MARK).is_file():
            raise ValueError(must_be("--out", "a new or empty folder, or one of an earlier report", str(out)))
        atomic.write_text(out / MARK, "Written by `wakeful reproduce`, which goes on from what is in .work.\n")
        for name in (WORK, "figures", "results"):
            (out / name).mkdir(exist_ok=True)
            atomic.remove_leftovers(out / name)
        for name in TOP_FILES:
            atomic.checked_target(out / name)
    except OSError as problem:
        raise ValueError(must_be("--out", "a folder that can be written to", str(out)) + f": {problem}") from None
    return out


def _parts(out: Path) -> list[str]:
    """Return the parts of the report in a folder, if there is one."""
    return _last_manifest(out, "parts")


def _last_manifest(out: Path, key: str) -> list[str]:
    """Return what the manifest in a folder lists under `key`, if there is one that does."""
    try:
        found = json.loads((out / MANIFEST).read_text(encoding="utf-8"))[key]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def remove_old(out: Path, kept: Iterable[str]) -> None:
    """Remove the files that the last manifest names and a new report does not have; all others are the user's."""
    for name in set(_last_manifest(out, "files")) - set(kept):
        place = PurePosixPath(name)
        if place.parent.as_posix() in REPORT_FOLDERS and (out / place).is_file():
            (out / place).unlink()


def write_json(path: Path, value: Any) -> None:
    """Write plain data; what is not a number has no place in JSON and becomes null."""
    atomic.write_text(path, json.dumps(_plain(value), indent=1, allow_nan=False) + "\n")


def write_claims(out: Path, claims: Sequence[Claim]) -> None:
    """Write the claims."""
    write_json(out / CLAIMS, [claim.to_dict() for claim in claims])


def write_results(out: Path, found: Mapping[str, Results]) -> list[str]:
    """Write one Parquet file for each experiment, and one of all with a column that names it; return their names."""
    pa, pq = arrow()
    parts, names = [], []
    for name, results in found.items():
        names.append(f"results/{name}.parquet")
        results.save(out / names[-1])
        table = pq.read_table(out / names[-1]).replace_schema_metadata(None)
        parts.append(table.add_column(0, "experiment", pa.array([name] * len(table)).dictionary_encode()))
    if parts:
        names.append(ALL_RESULTS)
        tables.write(out / ALL_RESULTS, pa.concat_tables(parts, promote_options="default"))
    return names


def manifest(command: Sequence[str], seed: int, quick: bool, **more: Any) -> dict[str, Any]:
    """Return what is needed to get the same numbers again."""
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "command": list(command),
        "seed": seed,
        "quick": quick,
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "byte_order": sys.byteorder,
        },
        "peak_memory_bytes": _peak_memory(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        **more,
    }


def _peak_memory() -> int | None:
    """Return the most memory that this process has had, where the system tells."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _version(package: str) -> str | None:
    """Return the version of a package, if it is installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _plain(value: Any) -> Any:
    """Return data with null in place of numbers that are none."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if value - value == 0.0 else None
    return value
