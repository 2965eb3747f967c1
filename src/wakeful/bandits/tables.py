"""Tables for people: the same rows as aligned text, Markdown, HTML, CSV and a data frame."""

import csv
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple
from unicodedata import category, east_asian_width

from wakeful import atomic

MARKDOWN = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\|`*_[]#~$"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "\n": " ", "\r": " "}
)
LATEX = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ", "\r": " "}
    | {"[": "{[}", "*": "{*}"}  # the end of a row would take one that begins the next row for an option of its own
)
ESCAPES = {  # characters that a terminal obeys in place of showing them, and those that turn the direction of text
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would take a text that begins so for a formula

CSS = """\
:root { color-scheme: light dark; --line: #8884; --soft: #777; }
@media (prefers-color-scheme: dark) { :root { --soft: #aaa; } }
.wakeful { font: 15px/1.4 system-ui, sans-serif; max-width: 60rem; margin: 1rem auto; padding: 0 .75rem; }
.wakeful h1, .wakeful p { overflow-wrap: anywhere; }
.wakeful h1 { font-size: 1.2rem; margin: 0 0 .5rem; }
.wakeful .scroll { overflow-x: auto; }
.wakeful table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.wakeful th, .wakeful td { padding: .3rem .5rem; border-bottom: 1px solid var(--line); text-align: left;
  white-space: nowrap; }
.wakeful td.name { white-space: normal; overflow-wrap: anywhere; }
.wakeful td.name:not(:empty) { min-width: 7rem; }
.wakeful th { font-weight: 600; color: var(--soft); }
.wakeful .number { text-align: right; }
.wakeful p { color: var(--soft); margin: .5rem 0; }
.wakeful td.faint { color: var(--soft); }
@media (max-width: 40rem) {
  .wakeful { font-size: 13px; padding: 0 .35rem; }
  .wakeful th, .wakeful td { padding: .3rem .2rem; }
  .wakeful tr :first-child { padding-left: 0; }
  .wakeful tr :last-child { padding-right: 0; }
  .wakeful th { white-space: normal; vertical-align: bottom; }
  .wakeful td.name:not(:empty) { min-width: 3.5rem; }
  .wakeful .minor { display: none; }
}
"""


def as_text(value: Any) -> str:
    """Return a value for people: nothing for None, text as it is."""
    return "" if value is None else str(value)


class Column(NamedTuple):
    """One column of a table.

    Parameters:
        name: in data frames and CSV
        head: what people read above it
        show: turns a value into what people read
        number: whether it is set to the right
        minor: whether HTML leaves it out where the window is narrow
    """

    name: str
    head: str
    show: Callable[[Any], str] = as_text
    number: bool = True
    minor: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of values, each in a column, that print as an aligned table.

    Parameters:
        columns: what is in each column
        rows: the values, as many in each row as there are columns
        title: of the HTML page
        notes: sentences below the HTML table
        faint: the positions of rows that HTML shows in grey

    >>> Table((Column("arm", "arm", number=False), Column("wins", "won", "{:.1f}".format)), [["tea", 3], ["juice", 10]])
    arm      won
    tea      3.0
    juice   10.0
    """

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    notes: tuple[str, ...] = ()
    faint: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        """Return the aligned table."""
        return self.to_text()

    def to_text(self) -> str:
        """Return an aligned table of plain text, in which no name controls the terminal."""
        lines = [[column.head for column in self.columns], *self._shown()]
        lines = [[" ".join(cell.split()).translate(ESCAPES) for cell in line] for line in lines]
        widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "   ".join(_padded(*part) for part in zip(line, widths, self.columns, strict=True)).rstrip()
            for line in lines
        )

    def to_markdown(self) -> str:
        """Return a Markdown table; what Markdown would take for marks is escaped."""
        heads = [column.head for column in self.columns]
        rule = ["---:" if column.number else "---" for column in self.columns]
        lines = [[cell.translate(MARKDOWN) for cell in line] for line in (heads, *self._shown())]
        return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], rule, *lines[1:]))

    def to_latex(self) -> str:
        """Return a LaTeX table with the rules of the package booktabs; what LaTeX would take for marks is escaped."""
        lines = [[_latex(cell) for cell in line] for line in ([c.head for c in self.columns], *self._shown())]
        rows = [" & ".join(line) + r" \\" for line in lines]
        places = "".join("r" if column.number else "l" for column in self.columns)
        body = [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]
        return "\n".join([rf"\begin{{tabular}}{{{places}}}", *body, r"\end{tabular}"])

    def to_html(self, path: str | os.PathLike[str] | None = None, *, whole_page: bool = True) -> str:
        """Return a page of HTML that needs no other file, for wide and narrow windows, light and dark.

        Parameters:
            path: where to write it as well, if it is given
            whole_page: if False, return only the part that belongs into the body of another page
        """
        heads = "".join(f"<th{_classes(column)}>{escape(column.head)}</th>" for column in self.columns)
        rows = "\n".join(self._html_row(n, row) for n, row in enumerate(self._shown()))
        title = f"<h1>{escape(self.title)}</h1>\n" if self.title else ""
        notes = "".join(f"<p>{escape(note)}</p>\n" for note in self.notes)
        table = f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
        part = f'<div class="wakeful">\n{title}<div class="scroll">{table}</div>\n{notes}</div>'
        page = f"<style>\n{CSS}</style>\n{part}\n"
        if whole_page:
            page = (
                '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                f"<title>{escape(self.title)}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n{part}\n</body>\n</html>\n"
            )
        if path is not None:
            atomic.write_text(path, page)
        return page

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the values, not rounded, as comma-separated text; write it to `path` as well, if that is given.

        A text that a spreadsheet would take for a formula gets an apostrophe in front of it.
        """
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        writer.writerows([[_harmless(value) for value in row] for row in self.rows])
        if path is not None:
            atomic.write_text(path, file.getvalue())
        return file.getvalue()

    def to_frame(self) -> Any:
        """Return the values as a data frame of pandas, or of polars where only that is installed."""
        values = zip(*self.rows, strict=True) if self.rows else [() for _ in self.columns]
        columns = {column.name: list(cells) for column, cells in zip(self.columns, values, strict=True)}
        try:
            import pandas as pd
        except ImportError:
            import polars as pl

            return pl.DataFrame(columns)
        return pd.DataFrame(columns)

    def _shown(self) -> list[list[str]]:
        """Return what people read in each cell."""
        return [[column.show(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows]

    def _html_row(self, n: int, cells: list[str]) -> str:
        """Return one row of HTML."""
        faint = " faint" if n in self.faint else ""
        parts = [
            f"<td{_classes(column, faint)}>{escape(cell)}</td>"
            for column, cell in zip(self.columns, cells, strict=True)
        ]
        return f"<tr>{''.join(parts)}</tr>"


def _width(text: str) -> int:
    """Return how many places of a terminal a text takes: two for a wide letter, none for an accent on another."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(c) in "WF" else category(c) not in {"Mn", "Me", "Cf"} for c in text)


def _padded(cell: str, wide: int, column: Column) -> str:
    """Return a cell with spaces before it, if it is a number, or after it."""
    spaces = " " * (wide - _width(cell))
    return spaces + cell if column.number else cell + spaces


def _classes(column: Column, more: str = "") -> str:
    """Return the attribute with the classes of a cell."""
    return f' class="{"number" if column.number else "name"}{" minor" if column.minor else ""}{more}"'


def _latex(text: str) -> str:
    """Return text as LaTeX shows it."""
    return text.translate(LATEX)


def _harmless(value: Any) -> Any:
    """Return a value that a spreadsheet shows as it is."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
