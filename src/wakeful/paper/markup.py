"""Words of the report as HTML: escaped, with code in backticks, links, and formulas as MathML."""

import re
from html import escape

from wakeful.paper.formulas import pieces

MARKED = re.compile(r"`(?P<code>[^`]+)`|\[(?P<words>[^\]]+)\]\(#(?P<to>[\w-]+)\)")


def html(text: str) -> str:
    """Return a text as HTML.

    What stands in backticks is code, `[words](#id)` is a link inside the page, formulas are found by themselves.

    >>> html("a < b in `x < y`, see [regret](#term-regret)")
    'a &lt; b in <code>x &lt; y</code>, see <a href="#term-regret">regret</a>'
    """
    found, done = [], 0
    for mark in MARKED.finditer(text):
        found.append(_words(text[done : mark.start()]))
        if mark["code"] is not None:
            found.append(f"<code>{escape(mark['code'])}</code>")
        else:
            found.append(f'<a href="#{mark["to"]}">{_words(mark["words"])}</a>')
        done = mark.end()
    return "".join([*found, _words(text[done:])])


def plain(text: str) -> str:
    """Return a text without its marks, for attributes and terminals.

    >>> plain("code in `x < y`, see [regret](#term-regret)")
    'code in x < y, see regret'
    """
    return MARKED.sub(lambda mark: mark["code"] or mark["words"], text)


def slug(name: str) -> str:
    """Return a name that can be an id and a link."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")


def _words(text: str) -> str:
    """Return words escaped, with formulas as MathML."""
    return "".join(escape(part) if formula is None else formula for part, formula in pieces(text))
