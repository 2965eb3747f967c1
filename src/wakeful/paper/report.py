"""Writes the report: one self-contained HTML file for phones, desktops and print, in a light and a dark theme."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from wakeful import atomic
from wakeful.inputs import must_be, one_of
from wakeful.paper.closing import again, version
from wakeful.paper.contents import (
    CLAIM,
    FAILS,
    HOLDS,
    IN_PART,
    OUR_CLAIM,
    QUESTION,
    UNTESTED,
    Claim,
    Picture,
    Section,
    Table,
    Term,
    counted,
)
from wakeful.paper.inline_svg import inline
from wakeful.paper.markup import html, plain, slug

MARKS = {  # drawn, not typed: the same on every machine, and told apart without colour
    HOLDS: '<path d="M5 10.5l3.5 3.5L15 7"/>',
    IN_PART: '<path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor" stroke="none"/>',
    FAILS: '<path d="M6.5 6.5l7 7m0-7l-7 7"/>',
    UNTESTED: '<path d="M6 10h8"/>',
}
CSS_CLASSES = {HOLDS: "holds", IN_PART: "part", FAILS: "fails", UNTESTED: "untested"}
SAID_BY = {CLAIM: "", QUESTION: "open question", OUR_CLAIM: "ours"}  # how a claim is marked in the table
UP = '<p class="up"><a href="#contents">Back to the contents</a></p>'
FIT = 420  # points: a wider figure does not fit a phone and scrolls
# Nothing may be fetched and nothing may run, whatever a report contains.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write(
    out: Path,
    title: str,
    sections: Sequence[Section],
    claims: Sequence[Claim],
    manifest: Mapping[str, Any],
    quick: bool,
) -> None:
    """Write `out/report.html` from the claims, the sections and their figures in `out/figures`, atomically."""
    for claim in claims:
        one_of("verdict", claim.verdict, CSS_CLASSES)
        one_of("kind", claim.kind, SAID_BY)
    names = ["main", "contents", "claims", "again", *(slug(section.id) for section in sections)]
    if len(set(names)) < len(names):
        raise ValueError(must_be("section ids", "different, and none of main, contents, claims, again", names[4:]))
    shown = [_section(section, out / "figures") for section in sections]
    after = 1 + max((n for n, section in enumerate(sections) if section.pictures), default=-1)
    main = [
        _summary(title, sections, claims, manifest, quick),
        _contents(sections[:after], claims, sections[after:]),
        *shown[:after],  # what there is to see, then what is said of it, then what one looks up
        _claims(claims) if claims else "",
        *shown[after:],
        again(manifest),
    ]
    atomic.write_text(out / "report.html", _page(title, "\n".join(filter(None, main))))


def _page(title: str, body: str) -> str:
    """Return the whole file."""
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<main id="main">
{body}
</main>
</body>
</html>
"""


def _summary(
    title: str, sections: Sequence[Section], claims: Sequence[Claim], manifest: Mapping[str, Any], quick: bool
) -> str:
    """Return what this is, how many claims hold, and which do not."""
    explained = [f'<a href="#{slug(s.id)}">{html(s.title)}</a>' for s in sections if s.id in {"glossary", "labels"}]
    look_up = f" To look things up: {', '.join(explained)}." if explained else ""
    return f"""<header>
<p class="kicker">Wakeful {escape(version(manifest))}</p>
<h1>{escape(title)}</h1>
{_banner() if quick else ""}<p class="lead">The experiments of “One Arrow, Two Kills” (Gaillard, Saha and Dan, \
AISTATS 2023), run again from scratch, and its claims beside what was measured. Every verdict is computed from the \
numbers of this run; none is typed in.{look_up}</p>
{_tally(claims) if claims else ""}
</header>"""


def _tally(claims: Sequence[Claim]) -> str:
    """Return how many claims have which verdict, and links to all that do not simply hold."""
    counts = {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in CSS_CLASSES}
    tiles = "".join(
        f'<li class="{CSS_CLASSES[verdict]}">{_mark(verdict)}<b>{count}</b><span>{verdict}</span></li>'
        for verdict, count in counts.items()
        if count or verdict != UNTESTED
    )
    links = "".join(map(_linked, (FAILS, IN_PART, UNTESTED), [claims] * 3))
    return (
        f'<ul class="tally" aria-label="{len(claims)} claims by verdict">{tiles}</ul>\n'
        f'<p><a href="#claims"><strong>{counted(claims).capitalize()}.</strong></a></p>\n{links}'
    )


def _linked(verdict: str, claims: Sequence[Claim]) -> str:
    """Return links to all claims with this verdict, the paper's, its open questions and ours."""
    found = [claim for claim in claims if claim.verdict == verdict]
    links = "; ".join(_link(claim) for claim in found)
    return f'<p class="{CSS_CLASSES[verdict]}"><b>{verdict.capitalize()}:</b> {links}.</p>\n' if links else ""


def _link(claim: Claim) -> str:
    """Return a link to a claim, by its place in the paper."""
    said_by = f" ({SAID_BY[claim.kind]})" if SAID_BY[claim.kind] else ""
    return f'<a href="#claim-{slug(claim.id)}" title="{escape(plain(claim.claim))}">{html(claim.where)}</a>{said_by}'


def _banner() -> str:
    """Return the warning that goes with a quick run."""
    return (
        '<p class="banner" role="note"><strong>Quick run.</strong> Fewer runs and shorter horizons than in the paper: '
        "good for a look, not for a citation. Without <code>--quick</code>, <code>wakeful reproduce</code> has the "
        "size of the paper.</p>\n"
    )


def _contents(before: Sequence[Section], claims: Sequence[Claim], after: Sequence[Section]) -> str:
    """Return the table of contents."""
    entries = [(section.id, section.title) for section in before] + [("claims", "Claims")] * bool(claims)
    entries += [(section.id, section.title) for section in after] + [("again", "Run it again, cite it")]
    links = "".join(f'<li><a href="#{slug(id)}">{html(name)}</a></li>' for id, name in entries)
    return f'<nav aria-labelledby="contents"><h2 id="contents">Contents</h2><ol>{links}</ol></nav>'


def _claims(claims: Sequence[Claim]) -> str:
    """Return the claims as a table, which becomes cards where it is narrow; so the roles are spelt out."""
    heads = ("Verdict", "In the paper", "Claim", "Measured", "Why")
    head = "".join(f'<th role="columnheader" scope="col">{name}</th>' for name in heads)
    rows = "\n".join(map(_claim, claims))
    return f"""<section aria-labelledby="claims">
<h2 id="claims">Claims</h2>
<table class="claims" role="table">
<caption>{_claims_caption(claims)}</caption>
<thead role="rowgroup"><tr role="row">{head}</tr></thead>
<tbody role="rowgroup">
{rows}
</tbody>
</table>
{UP}
</section>"""


def _claims_caption(claims: Sequence[Claim]) -> str:
    """Return how to read the table of claims."""
    marked = [f"“{words}”" for kind, words in SAID_BY.items() if words and any(c.kind == kind for c in claims)]
    others = f" Rows marked {' or '.join(marked)} are no claims of the paper; they are counted too." if marked else ""
    return (
        f"What the paper says and what we found: {len(claims)} claims.{others} Brackets hold 95 % confidence "
        "intervals. Numbers of theorems and lemmas are those of docs/paper.md; a typeset copy may count differently."
    )


def _claim(claim: Claim) -> str:
    """Return a row of the claims."""
    kind, name = CSS_CLASSES[claim.verdict], f"claim-{slug(claim.id)}"
    cells = (("In the paper", claim.where), ("Claim", claim.claim), ("Measured", claim.measured), ("Why", claim.reason))
    rest = "".join(f'<td role="cell" data-label="{label}">{html(words)}</td>' for label, words in cells)
    verdict = f'<a href="#{name}" class="verdict">{_mark(claim.verdict)}{escape(claim.verdict)}</a>'
    verdict += f" <small>{SAID_BY[claim.kind]}</small>" if SAID_BY[claim.kind] else ""
    return f'<tr role="row" id="{name}" class="{kind}"><th role="rowheader" scope="row">{verdict}</th>{rest}</tr>'


def _section(section: Section, figures: Path) -> str:
    """Return a section: paragraphs, figures, tables."""
    name = slug(section.id)
    parts = [f'<section aria-labelledby="{name}">', f'<h2 id="{name}">{html(section.title)}</h2>']
    parts += [f"<p>{html(words)}</p>" for words in section.text]
    parts += [_figure(picture, figures) for picture in section.pictures]
    parts += [_table(table) for table in section.tables]
    parts += [_glossary(section.terms)] * bool(section.terms)
    return "\n".join([*parts, UP, "</section>"])


def _glossary(terms: Sequence[Term]) -> str:
    """Return words and what they mean."""
    rows = (
        f'<div id="term-{slug(term.name.partition(",")[0])}"><dt>{html(term.name)}</dt><dd>{html(term.text)}</dd></div>'
        for term in terms
    )
    return f'<dl class="glossary">{"".join(rows)}</dl>'


def _figure(picture: Picture, figures: Path) -> str:
    """Return a figure drawn in the page itself, and its caption: what it shows, then how it was made."""
    name = f"figure-{slug(picture.name)}"
    drawing, width = _drawing(picture, figures, "")
    if picture.narrow:
        drawing += f"\n{_drawing(picture, figures, '-narrow')[0]}"
    kind = ' class="wide"' if width > FIT else ""
    made = f'<p class="made">{html(picture.made)}</p>' if picture.made else ""
    return (
        f'<figure id="{name}"{kind}>\n{drawing}\n'
        f"<figcaption><p>{html(picture.caption)}</p>{made}</figcaption>\n</figure>"
    )


def _drawing(picture: Picture, figures: Path, which: str) -> tuple[str, float]:
    """Return one drawing of a figure in a box that scrolls, and its width in points."""
    drawing, width = inline(
        figures / f"{picture.name}{which}.svg", f"{slug(picture.name)}{which}--", plain(picture.alt)
    )
    focus = f' tabindex="0" role="group" aria-label="{escape(plain(picture.alt))}"' if width > FIT else ""
    return f'<div class="drawing{which}"{focus}>{drawing}</div>', width


def _table(table: Table) -> str:
    """Return a table that scrolls inside itself; its first column names the rows, columns of numbers end flush."""
    columns = zip(*table.rows, strict=True)
    kinds = [' class="number"' if _are_numbers(column) else "" for column in columns] or [""] * len(table.header)
    head = "".join(f'<th scope="col"{kind}>{html(c)}</th>' for c, kind in zip(table.header, kinds, strict=True))
    rows = "\n".join(_row(row, kinds) for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(plain(table.caption))}">\n'
        f"<table>\n<caption>{html(table.caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _row(row: Sequence[str], kinds: Sequence[str]) -> str:
    """Return a row of a table."""
    cells = "".join(f"<td{kind}>{html(cell)}</td>" for cell, kind in list(zip(row, kinds, strict=True))[1:])
    return f'<tr><th scope="row"{kinds[0]}>{html(row[0])}</th>{cells}</tr>'


def _mark(verdict: str) -> str:
    """Return the sign of a verdict: a tick, half a disc, a cross or a dash, each in a ring."""
    ring = '<circle cx="10" cy="10" r="8.5"/>'
    return f'<svg class="mark" viewBox="0 0 20 20" aria-hidden="true">{ring}{MARKS[verdict]}</svg>'


def _are_numbers(column: Sequence[str]) -> bool:
    """Whether the cells of a column are numbers, intervals or shares, and not words; some may be empty."""
    cells = [re.sub(r"(?<=\d)e(?=[-+]?\d)", "", cell) for cell in column if cell not in {"", "-"}]
    return bool(cells) and all(any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell)) for cell in cells)
