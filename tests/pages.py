"""What tests look at in a page: its outline, its colours, and a browser that shows it."""

import os
import re
from collections import Counter
from html.parser import HTMLParser

import pytest

import browser


def binary() -> str:
    """Return the path of a browser; without one the test is skipped, or fails where WAKEFUL_BROWSER is "required"."""
    found = browser.find()
    if found is None and os.environ.get("WAKEFUL_BROWSER") == "required":
        pytest.fail(browser.MISSING)
    if found is None:
        pytest.skip(browser.MISSING)
    return found


class Outline(HTMLParser):
    """What a page consists of: its elements, their ids, links and words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: set[str] = set()
        self.words = ""
        self.order: list[str] = []  # figures and sections as they come
        self._in_formula = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag == "math":
            self._in_formula = True
            self.words += dict(attrs)["alttext"] or ""
        if tag in {"figure", "h2"}:
            self.order.append(dict(attrs)["id"] or "")
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in {"href", "xlink:href", "src", "aria-labelledby"} and not (value or "").startswith("data:"):
                self.links.add((value or "") if name != "aria-labelledby" else f"#{value}")
            self.links |= {f"#{name}" for name in re.findall(r"url\(#(.+?)\)", value or "")}

    def handle_endtag(self, tag: str) -> None:
        self._in_formula &= tag != "math"

    def handle_data(self, data: str) -> None:
        self.words += "" if self._in_formula else data


def luminance(colour: str) -> float:
    """Return how bright a colour is, as WCAG has it."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def night_colours(style: str) -> dict[str, str]:
    """Return the variables of a style sheet that a dark screen has."""
    return dict(re.findall(r"--(\w+): (#\w{6})", style.split("dark)")[1]))


SEEN = "[...document.querySelectorAll('figure > div > svg')].filter(svg => svg.getClientRects().length)"
RENDERED = f"""{SEEN}.map(svg => {{
    const box = svg.getBoundingClientRect(), parts = [...svg.querySelectorAll('path, text')];
    return {{width: box.width, height: box.height, drawn: parts.filter(part => part.getBBox().width > 0).length}};
}})"""
