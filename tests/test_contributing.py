"""The files that CONTRIBUTING.md names, for questions and for typical changes, exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUESTIONS = TEXT.partition("| question | file |")[2].partition("## Typical changes")[0].splitlines()
CHANGES = TEXT.partition("## Typical changes")[2].partition("## Rules")[0].splitlines()


def missing(path: str) -> bool:
    """Whether no file has this path, `<name>` standing for any name, from the top or inside the package."""
    pattern = path.replace("<name>", "*").rstrip("/")
    return not any(next(folder.glob(pattern), None) for folder in (ROOT, ROOT / "src" / "wakeful"))


def test_there_are_ten_questions_and_ten_changes_or_more() -> None:
    assert sum(row.startswith("| ") for row in QUESTIONS) >= 10
    assert sum(row.startswith("| ") for row in CHANGES) >= 1 + 10


def test_every_file_it_names_is_there() -> None:
    found = re.findall(r"`([^`]+)`", "\n".join(QUESTIONS + CHANGES))
    paths = [path for path in found if "/" in path or path.endswith((".py", ".md"))]
    assert len(paths) > 50
    assert [path for path in paths if path != "/docs" and missing(path)] == []
