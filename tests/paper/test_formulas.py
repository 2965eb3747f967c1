"""Formulas in text: found where they are, left alone where there are none, and written as well-formed MathML."""

import re
import xml.etree.ElementTree as ET
from html import unescape

import pytest

from wakeful.paper import markup
from wakeful.paper.formulas import pieces


def found(text: str) -> list[str]:
    """Return the formulas of a text, as they are typed."""
    return [part for part, formula in pieces(text) if formula is not None]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("R_ext(k) = sum_i R_int(i -> k), on every history.", ["R_ext(k) = sum_i R_int(i -> k)"]),
        ("at most sum_i sum_{j no worse than i} R_int(i -> j).", ["sum_i sum_{j no worse than i} R_int(i -> j)"]),
        ("With eta^2 = log K / (2 sum |S_t|), as printed,", ["eta^2 = log K / (2 sum |S_t|)"]),
        ("for eta = sqrt(log(K(K-1)) / T): the number", ["eta = sqrt(log(K(K-1)) / T)"]),
        ("by eta_t^2 = log K / (2 sum_{s <= t} |S_s|) or", ["eta_t^2 = log K / (2 sum_{s <= t} |S_s|)"]),
        ("p = sum q(i -> j) p^{i -> j} exists", ["p = sum q(i -> j) p^{i -> j}"]),
        ("grows like T^-0.566 [-1.54, 0.406] (4 runs)", ["T^-0.566"]),
        ("log(K(K-1)) / (2 log K) + T / (4 sum|S_t|) <= 1", ["log(K(K-1)) / (2 log K) + T / (4 sum|S_t|) <= 1"]),
        ("(K = 4, 10,000 rounds), T^(4/7), the paper's t^-1/2", ["K = 4", "T^(4/7)", "t^-1/2"]),
        ("for A = S x S, or i != j", ["A = S x S", "i != j"]),
    ],
)
def test_formulas_are_found(text: str, formulas: list[str]) -> None:
    assert found(text) == formulas
    assert "".join(part for part, _ in pieces(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "the sum 4.36, a sum of internal ones; i.i.d. losses of arm k",
        "S-UCB and SI-EXP3 (paper), SIExp3(), a K-armed bandit, docs/paper.md",
        "On the path 1 - 2 - 4 - 3 after 400,000 rounds: 77,203 [76,089, 78,317], 95 % of 1/2, 6e-17 (seed 0)",
        "an unclosed sqrt(T, log of nothing, exp of it, R_",
    ],
)
def test_words_are_left_alone(text: str) -> None:
    assert [formula for formula in found(text) if formula not in {"T"}] == []


def test_mathml_is_well_formed_and_reads_in_order() -> None:
    ((_, _), (_, formula), (_, _)) = pieces("2 sqrt(T log K)")
    assert formula is not None
    root = ET.fromstring(unescape(formula))
    assert [element.tag for element in root.iter()] == ["math", "mrow", "mn", "mspace", "msqrt", "mi", *WORDS]
    assert "".join(root.itertext()) == "2TlogK"


WORDS = ("mspace", "mi", "mspace", "mi")


def test_a_fraction_has_a_numerator_and_a_denominator() -> None:
    text = "".join(formula or "" for _, formula in pieces("log K / (2 sum |S_t|)"))
    above, below = ET.fromstring(unescape(text)).findall(".//mfrac/mrow")
    assert ("".join(above.itertext()), "".join(below.itertext())) == ("logK", "2\N{N-ARY SUMMATION}|St|")


def test_marks_and_formulas_together() -> None:
    html = markup.html("`sqrt(T)` & [order sqrt(T)](#term-T) <b>")
    assert html.startswith('<code>sqrt(T)</code> &amp; <a href="#term-T">order <math')
    assert re.search(r"</math></a> &lt;b&gt;$", html)
