"""Tables for people: every form shows the same rows, and no text in a cell can break it."""

import csv
import io
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import browser
import wakeful as wk
from pages import binary
from wakeful.bandits.tables import Column, Table

COLUMNS = (Column("arm", "the arm", number=False), Column("wins", "won", "{:,.1f}".format, minor=True))
ROWS = [["tea", 3.25], ["<b>|`juice`|\n</b>", 1000.0], ["=1+1", 0.0]]
TABLE = Table(COLUMNS, ROWS, "Drinks & <more>", ("Note <1>.",), frozenset({1}))


class Cells(HTMLParser):
    """Collects the texts of cells, and every tag."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self._inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag in {"td", "th"}:
            self.cells.append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside &= tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.cells[-1] += data


def test_text_is_aligned_and_one_line_for_each_row() -> None:
    lines = str(TABLE).splitlines()
    assert lines[0].split() == ["the", "arm", "won"]
    assert [line.split()[-1] for line in lines] == ["won", "3.2", "1,000.0", "0.0"]
    assert len({len(line) for line in lines}) == 1


def test_wide_letters_and_accents_do_not_move_columns() -> None:
    names = ["tea", "\u65e5\u672c\u8a9e", "the\u0301", "\U0001f375"]  # Japanese, an accent of its own, an emoji
    lines = str(Table(COLUMNS, [[name, 1.0] for name in names])).splitlines()
    assert lines[1:] == [f"{name}{' ' * spaces}1.0" for name, spaces in zip(names, (7, 4, 7, 8), strict=True)]


def test_markdown_keeps_its_columns_whatever_the_names() -> None:
    lines = TABLE.to_markdown().splitlines()
    assert lines[1] == "| --- | ---: |"
    assert lines[3] == r"| &lt;b&gt;\|\`juice\`\| &lt;/b&gt; | 1,000.0 |"
    assert len(lines) == 5


def test_html_is_one_page_without_other_files_and_escapes_names(tmp_path: Path) -> None:
    page = TABLE.to_html(tmp_path / "table.html")
    assert (tmp_path / "table.html").read_text(encoding="utf-8") == page
    parser = Cells()
    parser.feed(page)
    assert parser.cells == ["the arm", "won", "tea", "3.2", "<b>|`juice`|\n</b>", "1,000.0", "=1+1", "0.0"]
    assert parser.tags.isdisjoint({"b", "script", "link", "img", "more"})
    assert "<h1>Drinks &amp; &lt;more&gt;</h1>" in page
    assert "<p>Note &lt;1&gt;.</p>" in page
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page
    assert '<td class="number minor faint">1,000.0</td>' in page


def test_html_as_a_part_of_another_page() -> None:
    part = TABLE.to_html(whole_page=False)
    assert "<html" not in part
    assert part.count("<table>") == 1
    assert part.startswith("<style>")


def test_csv_holds_exact_values_and_no_formulas(tmp_path: Path) -> None:
    text = TABLE.to_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == text
    rows = list(csv.reader(io.StringIO(text)))
    assert rows == [["arm", "wins"], ["tea", "3.25"], ["<b>|`juice`|\n</b>", "1000.0"], ["'=1+1", "0.0"]]


def test_a_frame_of_pandas_or_else_of_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = TABLE.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["wins"].tolist() == [3.25, 1000.0, 0.0]
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    other = TABLE.to_frame()
    assert type(other).__module__.startswith("polars")
    assert other["arm"].to_list() == [row[0] for row in ROWS]


def test_an_empty_table_still_has_its_columns() -> None:
    empty = Table(COLUMNS, [])
    assert str(empty) == "the arm   won"
    assert list(empty.to_frame().columns) == ["arm", "wins"]
    assert empty.to_csv() == "arm,wins\n"


def test_latex_escapes_what_latex_would_take_for_marks() -> None:
    table = Table((Column("arm", "arm_1", number=False), Column("won", "%")), [["a & b_{c}", 3], ["x\\y~^|<>$#\n", 10]])
    assert table.to_latex() == (
        "\\begin{tabular}{lr}\n\\toprule\narm\\_1 & \\% \\\\\n\\midrule\n"
        "a \\& b\\_\\{c\\} & 3 \\\\\n"
        "x\\textbackslash{}y\\textasciitilde{}\\textasciicircum{}\\textbar{}"
        "\\textless{}\\textgreater{}\\$\\#  & 10 \\\\\n"
        "\\bottomrule\n\\end{tabular}"
    )


def test_no_name_is_an_option_of_the_row_above_it_in_latex() -> None:
    table = Table((Column("arm", "arm", number=False),), [["[4pt]"], ["*star"]])
    assert table.to_latex().splitlines()[3:6] == [r"\midrule", r"{[}4pt] \\", r"{*}star \\"]


def test_markdown_shows_no_formulas() -> None:
    assert Table((Column("arm", "arm", number=False),), [["$x$"]]).to_markdown().endswith(r"| \$x\$ |")


def test_no_name_controls_the_terminal() -> None:
    table = Table(
        (Column("arm", "arm", number=False), Column("won", "won")), [["\x1b[2J\u202etea\x9b", 1], ["👩\u200d🍳", 2]]
    )
    assert str(table).splitlines() == [
        "arm                    won",
        r"\x1b[2J\u202etea\x9b     1",
        "👩\u200d🍳                     2",
    ]


def test_on_a_phone_nothing_is_cut_off(tmp_path: Path) -> None:
    path = binary()
    bandit = wk.Bandit(wk.Uniform(), ["tea", "coffee", "x" * 60], seed=0)
    for _ in range(12_000):
        bandit.update(bandit.choose(), loss=0.5)
    bandit.retire_arm("coffee")
    arena = wk.DuelingBandit(wk.UniformPairs(), ["atlas", "birch", "x" * 60], seed=0)
    arena.learn([("atlas", "birch", "left"), ("birch", "x" * 60, "right")] * 600)
    arena.retire_arm("birch")
    shown: dict[str, Any] = {
        "report": bandit.report(),
        "why": bandit.explain(bandit.choose()),
        "ranks": arena.ranking(scale="elo"),
    }
    with browser.running(path) as chromium:
        for name, table in shown.items():
            table.to_html(tmp_path / f"{name}.html")
            page = chromium.open((tmp_path / f"{name}.html").as_uri(), 390)
            hidden = "[...document.querySelectorAll('.scroll, body')].map(e => e.scrollWidth - e.clientWidth)"
            assert page.evaluate(hidden) == [0, 0], name
