"""The report: complete, escaped, the same every time, and opened in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import browser
import wakeful as wk
from pages import RENDERED, Outline, binary, contrast, night_colours
from wakeful.lab import plots
from wakeful.lab.relation_diagram import Arrow, relation_diagram
from wakeful.paper import report
from wakeful.paper.contents import FAILS, HOLDS, IN_PART, QUESTION, UNTESTED, Claim, Picture, Section, Table, Term
from wakeful.paper.inline_svg import inline

WINDOWS = {"desktop": 1280, "phone": 360, "smallest": 320}
NASTY = '<script>alert("x")</script> & `a < b`'
CLAIMS = (
    Claim("one", "Lemma 1", NASTY, "0.0 [0.0, 0.1], seed 0", HOLDS, "an identity"),
    Claim("two", "Theorem 1", "a bound", "31 [28, 34]; bound 163", IN_PART, "kept, but not proven"),
    Claim("three", "Theorem 2", "a bound for any pairs", "113,204; bound 82,546", FAILS, "on a path"),
    Claim("four", "Remark 3", "a loose bound", "31; bound 9,597, where 5,000 can be had", UNTESTED, "it cannot fail"),
)
MANIFEST = {
    "command": ["wakeful", "reproduce", "--out", "my folder"],
    "versions": {"wakeful": "1.2.3", "python": "3.13"},
    "wall_time": {"experiments": {f"rock-paper-scissors-again-{n}": 0.5 for n in range(5)}, "all": 2.5},
    "machine": {"system": "Linux-6.18.44-fc-v490-x86_64-with-glibc2.36-and-a-long-name-without-any-space-in-it"},
}


def sections() -> tuple[Section, ...]:
    """Return what a report has: figures of every kind, narrow and wide, a table wider than a phone, and terms."""
    numbers = tuple(f"{n},000 [1, 2]" for n in range(9))
    table = Table("regrets", ("policy", *("mean" for _ in numbers)), (("SI-EXP3", *numbers), (NASTY, *numbers)))
    names = ("relations", "curves", "slopes", "gaps", "wide")
    pictures = tuple(
        Picture(name, f"What {name} shows, {NASTY}", f'"{name}" & more', "How it was made.", name == "wide")
        for name in names
    )
    first = Section("figure-1", f"Figure 1 {NASTY}", (f"Text with `code`, {NASTY}",), pictures[:1])
    terms = (Term("regret, R", f"At most 2 sqrt(T log K), {NASTY}"), Term("awake", "See [regret](#term-regret)."))
    return (
        first,
        Section("figure-2", "Figure 2", ("More.",), pictures[1:], (table,)),
        Section("glossary", "Words", terms=terms),
    )


def draw(folder: Path) -> None:
    """Write the figures of `sections`."""
    results = wk.simulate(
        {"SI": wk.SIExp3(), "UCB": wk.SleepingUCB()}, wk.worlds.Dependent(), 200, 3, regrets=("policy", "internal")
    )
    arrows = [Arrow("a", "b", True, "Lemma 1"), Arrow("b", "a", False, "T = 600: 0 and 100")]
    figures = {
        "relations": relation_diagram({"a": "internal", "b": "external"}, arrows, "<Figure> & 1"),
        "curves": plots.curve_panels([("one", results), ("two", results)], "policy"),
        "slopes": plots.regret_curves(results, "internal", loglog=True),
        "gaps": plots.exploitability_curves(np.array([10, 100]), {"self-play": np.array([[0.5, 0.1]])}),
        "wide": plots.curve_panels([(str(n), results) for n in range(3)], columns=3),
        "wide-narrow": plots.curve_panels([(str(n), results) for n in range(3)]),
    }
    folder.mkdir()
    for name, figure in figures.items():
        plots.save(figure, folder / f"{name}.svg")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small report."""
    out = tmp_path_factory.mktemp("report")
    draw(out / "figures")
    report.write(out, f"Title {NASTY}", sections(), CLAIMS, MANIFEST, quick=True)
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Browser]:
    """Return a running browser."""
    with browser.running(binary()) as running:
        yield running


def test_everything_is_there_and_escaped(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Outline(text)
    assert page.tags["script"] == 0
    assert page.tags["figure"] == page.tags["figcaption"] == 5
    assert page.tags["caption"] == page.tags["table"] == 2
    assert page.tags["dt"] >= 2
    for claim in CLAIMS:
        for words in (claim.where, claim.measured, claim.verdict, claim.reason):
            assert words in page.words
    for words in ('<script>alert("x")</script> & a < b', "Quick run.", "1.2.3", "wakeful reproduce --out 'my folder'"):
        assert words in page.words
    assert "<code>a &lt; b</code>" in text


def test_ids_are_unique_and_links_lead_somewhere_in_the_page(folder: Path) -> None:
    page = Outline((folder / "report.html").read_text(encoding="utf-8"))
    assert len(set(page.ids)) == len(page.ids)
    assert {link for link in page.links if link.removeprefix("#") not in page.ids} == set()
    assert {"#claim-three", "#figure-2", "#again"} <= page.links


def test_figures_come_before_claims_and_what_one_looks_up_after_them(folder: Path) -> None:
    order = Outline((folder / "report.html").read_text(encoding="utf-8")).order
    figures = [name for name in order if name.startswith("figure-") and name not in {"figure-1", "figure-2"}]
    assert len(figures) == 5
    assert max(map(order.index, figures)) < order.index("claims") < order.index("glossary") < order.index("again")


def test_what_does_not_hold_is_counted_and_linked(tmp_path: Path) -> None:
    asked = Claim("five", "Remark 1 & more", "a question", "no", FAILS, "a witness", kind=QUESTION)
    report.write(tmp_path, "t", (), [*CLAIMS, asked], {}, quick=False)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    summary = text[: text.index('id="contents"')]
    assert "1 claim holds, 1 holds in part, 2 do not hold, 1 is not tested here." in summary
    assert set(re.findall(r'href="#claim-(\w+)"', summary)) == {"two", "three", "four", "five"}
    assert "Remark 1 &amp; more</a> (open question)" in summary


def test_a_caption_says_what_is_shown_and_then_how_it_was_made(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", text, re.DOTALL)
    assert len(captions) == 5
    for caption in captions:
        assert re.fullmatch(r'<p>What \w+ shows, .*</p><p class="made">How it was made.</p>', caption, re.DOTALL)


def test_the_same_input_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    draw(tmp_path / "figures")
    report.write(tmp_path, f"Title {NASTY}", sections(), CLAIMS, MANIFEST, quick=True)
    assert (tmp_path / "report.html").read_bytes() == (folder / "report.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures", "report.html"]


def test_a_full_run_has_no_banner_and_nothing_need_be_there(tmp_path: Path) -> None:
    report.write(tmp_path, "Empty", (), (), {}, quick=False)
    page = Outline((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Quick run" not in page.words
    assert "wakeful reproduce" in page.words
    assert page.tags["table"] == 0


def test_what_cannot_be_reported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="verdict must be one of"):
        report.write(tmp_path, "t", (), [Claim("a", "b", "c", "d", "perhaps", "e")], {}, quick=False)
    with pytest.raises(ValueError, match="section ids must be different"):
        report.write(tmp_path, "t", [Section("claims", "Mine")], (), {}, quick=False)
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><image href="http://example.org/x.png"/></svg>'
    (tmp_path / "far.svg").write_text(svg)
    with pytest.raises(ValueError, match="href in a figure must be inside the file"):
        inline(tmp_path / "far.svg", "a-", "far")
    assert not (tmp_path / "report.html").exists()


def test_words_and_lines_can_be_seen_by_day_and_by_night() -> None:
    style = Path(report.__file__).with_name("report.css").read_text(encoding="utf-8")
    day, night = dict(re.findall(r"--(\w+): (#\w{6})", style.split("dark)")[0])), night_colours(style)
    assert set(day) - {"line"} <= set(night)
    for colours in (day, night):
        for name in ("ink", "soft", "link", "holds", "part", "fails"):
            for ground in ("page", "card"):
                assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for colour in (*plots.COLOURS, plots.RED):
        assert contrast(night[f"x{colour[1:].lower()}"], night["card"]) >= 4.5, colour
    assert {f"x{colour[1:].lower()}" for colour in (plots.INK, plots.FAINT)} <= set(night)


COLOURS = """[getComputedStyle(document.body).backgroundColor,
    getComputedStyle(document.querySelector('figure text')).fill]"""


def brightness(colour: str) -> float:
    """Return how bright `rgb(r, g, b)` is, from 0 to 1."""
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 765


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("window", WINDOWS)
def test_every_figure_is_drawn_and_no_page_is_too_wide(
    chromium: browser.Browser, folder: Path, window: str, dark: bool
) -> None:
    width = WINDOWS[window]
    page = chromium.open((folder / "report.html").as_uri(), width, dark=dark)
    figures = page.evaluate(RENDERED)
    assert len(figures) == 5
    for figure in figures:
        assert figure["width"] >= 250
        assert figure["height"] >= 50
        assert figure["drawn"] >= 10
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.requests() == []
    assert page.complaints() == []
    ground, words = map(brightness, page.evaluate(COLOURS))
    low, high = (ground, words) if dark else (words, ground)
    assert low < 0.2
    assert high > 0.8


def test_the_first_figure_is_near_the_top(chromium: browser.Browser, folder: Path) -> None:
    top = "document.querySelector('figure').getBoundingClientRect().top"
    address = (folder / "report.html").as_uri()
    assert chromium.open(address, 1280).evaluate(top) < 2 * 900
    assert chromium.open(address, 360).evaluate(top) < 3 * 900


PANELS = """[...document.querySelectorAll('#figure-wide svg')].filter(svg => svg.getClientRects().length).map(svg =>
    [...svg.querySelectorAll('[id*="--axes_"]')].map(axes => axes.getBoundingClientRect())
    .map(box => [box.x, box.y]))"""


def test_panels_stand_side_by_side_where_there_is_room(chromium: browser.Browser, folder: Path) -> None:
    address = (folder / "report.html").as_uri()
    ((one, two, three),) = chromium.open(address, 1280).evaluate(PANELS)
    assert one[0] + 100 < two[0] < three[0] - 100
    assert abs(one[1] - three[1]) < 20
    ((one, two, three),) = chromium.open(address, 360).evaluate(PANELS)
    assert one[1] + 50 < two[1] < three[1] - 50
    assert abs(one[0] - three[0]) < 20


FORMULA = """(() => { const root = document.querySelector('.glossary msqrt'), box = root.getBoundingClientRect();
    return [root.namespaceURI, box.width, box.height, root.closest('math').getAttribute('alttext')]; })()"""


def test_formulas_are_drawn_by_the_browser(chromium: browser.Browser, folder: Path) -> None:
    space, width, height, typed = chromium.open((folder / "report.html").as_uri(), 1280).evaluate(FORMULA)
    assert space == "http://www.w3.org/1998/Math/MathML"
    assert width > 30
    assert height > 10
    assert typed == "2 sqrt(T log K)"


def test_claims_are_a_table_on_a_desktop_and_cards_on_a_phone(chromium: browser.Browser, folder: Path) -> None:
    shape = "getComputedStyle(document.querySelector('.claims tbody tr')).display"
    label = "getComputedStyle(document.querySelector('.claims td'), '::before').content"
    address = (folder / "report.html").as_uri()
    desktop, phone = chromium.open(address, 1280), chromium.open(address, 360)
    assert (desktop.evaluate(shape), phone.evaluate(shape)) == ("table-row", "block")
    assert (desktop.evaluate(label), phone.evaluate(label)) == ("none", '"In the paper"')


def test_it_can_be_printed(chromium: browser.Browser, folder: Path, tmp_path: Path) -> None:
    chromium.open((folder / "report.html").as_uri(), 1280, dark=True).pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    "leak",
    [
        '<img src="http://example.org/x.png">',
        "<style>@font-face{font-family:F;src:url(http://example.org/f.woff)} p{font-family:F}</style><p>words</p>",
        '<script>fetch("http://example.org/")</script>',
        '<iframe src="http://example.org/"></iframe>',
    ],
)
def test_a_request_would_be_seen(chromium: browser.Browser, tmp_path: Path, leak: str) -> None:
    (tmp_path / "leak.html").write_text(f"<!DOCTYPE html><title>a leak</title>{leak}")
    page = chromium.open((tmp_path / "leak.html").as_uri(), 1280)
    assert [address for address in page.requests() if address.startswith("http://example.org/")]


def test_a_leak_in_a_report_would_be_stopped(chromium: browser.Browser, folder: Path, tmp_path: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    (tmp_path / "leak.html").write_text(text.replace("<h1>", '<img src="http://example.org/x.png"><h1>'))
    page = chromium.open((tmp_path / "leak.html").as_uri(), 1280)
    assert any("Content Security Policy" in words for words in page.complaints())


def test_a_page_that_is_too_wide_would_be_seen(chromium: browser.Browser, tmp_path: Path) -> None:
    head = '<!DOCTYPE html><meta name="viewport" content="width=device-width, initial-scale=1"><title>wide</title>'
    (tmp_path / "wide.html").write_text(head + '<div style="width:500px">wide</div>')
    page = chromium.open((tmp_path / "wide.html").as_uri(), 360)
    assert page.evaluate("document.documentElement.scrollWidth") > 360


def test_without_a_browser_a_sentence_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.find() is None
    assert "apt-get install chromium" in browser.MISSING
    monkeypatch.delenv("WAKEFUL_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no browser here"):
        binary()
    monkeypatch.setenv("WAKEFUL_BROWSER", "required")
    with pytest.raises(pytest.fail.Exception, match="no browser here"):
        binary()
