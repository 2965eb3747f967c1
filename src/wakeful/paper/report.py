"""The report: one HTML file that needs nothing else, for phones, desktops and paper, by day and by night."""

import re
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from wakeful import atomic
from wakeful.inputs import must_be, one_of
from wakeful.paper.contents import (
    CLAIM,
    FAILS,
    HOLDS,
    IN_PART,
    OURS,
    QUESTION,
    UNTESTED,
    Claim,
    Picture,
    Section,
    Table,
)

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
PAPER = "Gaillard, Saha, Dan: One Arrow, Two Kills: A Unified Framework for Achieving Optimal Regret Guarantees in "
PAPER += "Sleeping Bandits. AISTATS 2023"
MARKS = {  # drawn, not typed: the same on every machine, and told apart without colour
    HOLDS: '<path d="M5 10.5l3.5 3.5L15 7"/>',
    IN_PART: '<path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor" stroke="none"/>',
    FAILS: '<path d="M6.5 6.5l7 7m0-7l-7 7"/>',
    UNTESTED: '<path d="M6 10h8"/>',
}
KINDS = {HOLDS: "holds", IN_PART: "part", FAILS: "fails", UNTESTED: "untested"}
SAID_BY = {CLAIM: "", QUESTION: "open question", OURS: "ours"}  # how a claim is marked in the table
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
    """Write `out/report.html` from the claims, the sections and their figures in `out/figures`, whole or not at all."""
    for claim in claims:
        one_of("verdict", claim.verdict, KINDS)
        one_of("kind", claim.kind, SAID_BY)
    names = ["main", "contents", "claims", "again", *(_slug(section.id) for section in sections)]
    if len(set(names)) < len(names):
        raise ValueError(must_be("section ids", "different, and none of main, contents, claims, again", names[4:]))
    main = [
        _summary(title, claims, manifest, quick),
        _contents(sections, claims),
        _claims(claims) if claims else "",
        *(_section(section, out / "figures") for section in sections),
        _again(manifest),
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


def _summary(title: str, claims: Sequence[Claim], manifest: Mapping[str, Any], quick: bool) -> str:
    """Return what this is, how many claims hold, and which do not."""
    counts = [(verdict, sum(claim.verdict == verdict for claim in claims)) for verdict in KINDS]
    counts = [(verdict, count) for verdict, count in counts if count or verdict != UNTESTED]
    tiles = "".join(
        f'<li class="{KINDS[verdict]}">{_mark(verdict)}<b>{count}</b><span>{verdict}</span></li>'
        for verdict, count in counts
    )
    tally = f'<ul class="tally" aria-label="{len(claims)} claims by verdict">{tiles}</ul>' if claims else ""
    return f"""<header>
<p class="kicker">Wakeful {escape(_version(manifest))}</p>
<h1>{escape(title)}</h1>
{_banner() if quick else ""}<p class="lead">The experiments of “One Arrow, Two Kills” (Gaillard, Saha and Dan, \
AISTATS 2023), played again from scratch, and its claims beside what was measured. Every verdict is computed from the \
numbers of this run; none is typed in.</p>
{tally}
{_failing(claims)}</header>"""


def _failing(claims: Sequence[Claim]) -> str:
    """Return links to what the paper claims and does not hold; its open questions and our own results are no claims."""
    failing = [claim for claim in claims if claim.verdict == FAILS and claim.kind == CLAIM]
    links = [f'<a href="#claim-{_slug(claim.id)}">{escape(claim.where)}</a>' for claim in failing]
    return f"<p>What does not hold: {'; '.join(links)}.</p>\n" if links else ""


def _banner() -> str:
    """Return the warning that goes with a quick run."""
    return (
        '<p class="banner" role="note"><strong>Quick run.</strong> Fewer runs and shorter horizons than in the paper: '
        "good for a look, not for a citation. Without <code>--quick</code>, <code>wakeful reproduce</code> has the "
        "size of the paper.</p>\n"
    )


def _contents(sections: Sequence[Section], claims: Sequence[Claim]) -> str:
    """Return the table of contents."""
    entries = [("claims", "Claims")] * bool(claims)
    entries += [(section.id, section.title) for section in sections] + [("again", "Run it again, cite it")]
    links = "".join(f'<li><a href="#{_slug(id)}">{escape(name)}</a></li>' for id, name in entries)
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
    kind, name = KINDS[claim.verdict], f"claim-{_slug(claim.id)}"
    cells = (("In the paper", claim.where), ("Claim", claim.claim), ("Measured", claim.measured), ("Why", claim.reason))
    rest = "".join(f'<td role="cell" data-label="{label}">{_text(words)}</td>' for label, words in cells)
    verdict = f'<a href="#{name}" class="verdict">{_mark(claim.verdict)}{escape(claim.verdict)}</a>'
    verdict += f" <small>{SAID_BY[claim.kind]}</small>" if SAID_BY[claim.kind] else ""
    return f'<tr role="row" id="{name}" class="{kind}"><th role="rowheader" scope="row">{verdict}</th>{rest}</tr>'


def _section(section: Section, figures: Path) -> str:
    """Return a section: paragraphs, figures, tables."""
    name = _slug(section.id)
    parts = [f'<section aria-labelledby="{name}">', f'<h2 id="{name}">{escape(section.title)}</h2>']
    parts += [f"<p>{_text(words)}</p>" for words in section.text]
    parts += [_figure(picture, figures) for picture in section.pictures]
    parts += [_table(table) for table in section.tables]
    return "\n".join([*parts, UP, "</section>"])


def _figure(picture: Picture, figures: Path) -> str:
    """Return a figure drawn in the page itself, and its caption."""
    name = f"figure-{_slug(picture.name)}"
    drawing, width = inline(figures / f"{picture.name}.svg", f"{_slug(picture.name)}--", picture.alt)
    focus = f' tabindex="0" role="group" aria-label="{escape(picture.alt)}"' if width > FIT else ""
    kind = ' class="wide"' if width > FIT else ""
    return (
        f'<figure id="{name}"{kind}>\n<div class="drawing"{focus}>{drawing}</div>\n'
        f"<figcaption>{_text(picture.caption)}</figcaption>\n</figure>"
    )


def inline(path: Path, prefix: str, alt: str) -> tuple[str, float]:
    """Return an SVG file as an element of a page, and its width in points.

    Ids begin with `prefix`, so that figures do not take each other's parts; colours become variables of the page, so
    that it can change them at night; width and height give way to the page's.
    """
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{{{SVG}}}metadata", f"{{{SVG}}}style", f"{{{SVG}}}title"}:
                parent.remove(child)
    for element in root.iter():
        for key, value in element.attrib.items():
            element.attrib[key] = _own(key, value, prefix)
    root.attrib |= {"role": "img", "aria-label": alt, "style": f"min-width:{0.8 * width:.0f}px"}
    root.attrib |= {"width": f"{width:g}", "height": f"{height:g}"}
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    return ET.tostring(root, encoding="unicode"), width


def _own(key: str, value: str, prefix: str) -> str:
    """Return an attribute's value with the page's colours and this figure's ids."""
    if key == "id":
        return prefix + value
    if key in {"href", f"{{{XLINK}}}href"}:
        if not value.startswith(("#", "data:")):
            raise ValueError(must_be("href in a figure", "inside the file", value))
        return f"#{prefix}{value[1:]}" if value.startswith("#") else value
    value = value.replace("url(#", f"url(#{prefix}")
    return (
        re.sub(r"#[0-9a-fA-F]{6}\b", lambda hit: f"var(--x{hit[0][1:].lower()}, {hit[0]})", value)
        if key == "style"
        else value
    )


def _table(table: Table) -> str:
    """Return a table that scrolls inside itself; its first column names the rows, columns of numbers end flush."""
    columns = zip(*table.rows, strict=True)
    kinds = [' class="number"' if _are_numbers(column) else "" for column in columns] or [""] * len(table.header)
    head = "".join(f'<th scope="col"{kind}>{_text(c)}</th>' for c, kind in zip(table.header, kinds, strict=True))
    rows = "\n".join(_row(row, kinds) for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(table.caption)}">\n'
        f"<table>\n<caption>{_text(table.caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _row(row: Sequence[str], kinds: Sequence[str]) -> str:
    """Return a row of a table."""
    cells = "".join(f"<td{kind}>{_text(cell)}</td>" for cell, kind in list(zip(row, kinds, strict=True))[1:])
    return f'<tr><th scope="row"{kinds[0]}>{_text(row[0])}</th>{cells}</tr>'


def _again(manifest: Mapping[str, Any]) -> str:
    """Return how to run this again, how to cite it, and the manifest."""
    return f"""<section aria-labelledby="again">
<h2 id="again">Run it again, cite it</h2>
<p>The same command gives the same numbers, on any number of cores:</p>
<pre tabindex="0"><code>{escape(_command(manifest))}</code></pre>
<p>To cite the paper: {escape(PAPER)}. To cite these numbers: Wakeful {escape(_version(manifest))}, the command above, \
and <code>MANIFEST.json</code> beside this file. The claims for programs are in <code>claims.json</code>, the figures \
in <code>figures/</code>.</p>
<h3>Manifest</h3>
{_nested({**manifest, "command": _command(manifest)})}
</section>"""


def _nested(values: Mapping[str, Any], depth: int = 0) -> str:
    """Return a mapping as a list of names and values, however deep."""
    rows = (f"<div><dt>{escape(str(name))}</dt><dd>{_value(value, depth)}</dd></div>" for name, value in values.items())
    return f'<dl class="manifest">{"".join(rows)}</dl>'


def _value(value: Any, depth: int = 0) -> str:
    """Return a value of the manifest; what is small and deep inside stands on one line."""
    if isinstance(value, Mapping) and (depth < 1 or len(value) > 3):
        return _nested(value, depth + 1)
    if isinstance(value, Mapping):
        return ", ".join(f"{escape(str(name))} {_value(inner, depth + 1)}" for name, inner in value.items())
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, (list, tuple)):
        return escape(", ".join(map(str, value))) or "none"
    return escape(str(value))


def _command(manifest: Mapping[str, Any]) -> str:
    """Return the command that made the report, as one types it."""
    command = manifest.get("command", "wakeful reproduce")
    return command if isinstance(command, str) else shlex.join(map(str, command))


def _version(manifest: Mapping[str, Any]) -> str:
    """Return the version of Wakeful, wherever the manifest has it."""
    versions = manifest.get("versions")
    found = (
        versions.get("wakeful") if isinstance(versions, Mapping) else manifest.get("wakeful", manifest.get("version"))
    )
    return str(found or "")


def _mark(verdict: str) -> str:
    """Return the sign of a verdict: a tick, half a disc, a cross or a dash, each in a ring."""
    ring = '<circle cx="10" cy="10" r="8.5"/>'
    return f'<svg class="mark" viewBox="0 0 20 20" aria-hidden="true">{ring}{MARKS[verdict]}</svg>'


def _text(words: str) -> str:
    """Return words escaped, with what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words))


def _slug(name: str) -> str:
    """Return a name that can be an id and a link."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")


def _are_numbers(column: Sequence[str]) -> bool:
    """Whether the cells of a column are numbers, intervals or shares, and not words; some may be empty."""
    cells = [re.sub(r"(?<=\d)e(?=[-+]?\d)", "", cell) for cell in column if cell not in {"", "-"}]
    return bool(cells) and all(any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell)) for cell in cells)
