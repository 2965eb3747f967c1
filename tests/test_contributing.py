"""The files that CONTRIBUTING.md names for typical changes exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = TEXT.partition("## Ten typical changes")[2].partition("## Rules")[0].splitlines()


def missing(path: str) -> bool:
    """Whether no file has this path, `<name>` standing for any name, from the top or inside the package."""
    pattern = path.replace("<name>", "*").rstrip("/")
    return not any(next(folder.glob(pattern), None) for folder in (ROOT, ROOT / "src" / "wakeful"))


def test_there_are_ten_changes() -> None:
    assert sum(row.startswith("| ") for row in ROWS) == 1 + 10


def test_every_file_it_names_is_there() -> None:
    paths = [path for path in re.findall(r"`([^`]+)`", "\n".join(ROWS)) if "/" in path or path.endswith((".py", ".md"))]
    assert len(paths) > 30
    assert [path for path in paths if missing(path)] == []
