"""Links of the README and the documents lead somewhere, and every document can be reached from the README."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


def anchor(heading: str) -> str:
    """Return the name that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def links(page: Path) -> list[str]:
    """Return where a page leads to, addresses of the web left out."""
    found = [a or b for a, b in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))]
    return [link for link in found if not link.startswith("http")]


def broken(page: Path, link: str) -> bool:
    """Whether a link leads to no file, or to no heading of one."""
    file, _, name = link.partition("#")
    target = (page.parent / file).resolve() if file else page
    if not target.exists():
        return True
    return bool(name) and name not in map(anchor, HEADING.findall(CODE.sub("", target.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert [link for link in links(page) if broken(page, link)] == []


def test_a_link_to_nowhere_is_found() -> None:
    assert not broken(ROOT / "README.md", "docs/paper.md#theorem-2-is-false-for-general-a_t")
    assert broken(ROOT / "README.md", "docs/nothing.md")
    assert broken(ROOT / "README.md", "docs/paper.md#nothing")


def test_every_document_and_figure_can_be_reached_from_the_readme() -> None:
    reached, new = set[Path](), [ROOT / "README.md"]
    while new:
        page = new.pop()
        reached.add(page)
        found = (
            {(page.parent / link.partition("#")[0]).resolve() for link in links(page)} if page.suffix == ".md" else ()
        )
        new += [target for target in found if target not in reached and target.is_file()]
    wanted = {*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "figures").iterdir(), ROOT / "CONTRIBUTING.md"}
    assert sorted(path.name for path in wanted - reached) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_line_of_prose_underlines_the_one_before(page: Path) -> None:
    """Markdown takes a line of = or - below a paragraph for the mark of a heading."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    assert re.findall(r"^[^\n|].*\n(?:=+|-+)[ ]*$", text, re.MULTILINE) == []
