"""The page of the service in a real browser, before a real service: how somebody uses it, and on what."""

import json
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

import browser
import wakeful.service
from pages import contrast
from watched import DRINKS, LIVE, TOGGLES, TOKEN, address_of, ask, make, opened, play, serving, text

FILES = Path(wakeful.service.__file__).parent / "page"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 360, 1280])
@pytest.mark.parametrize("bandit", ["drinks", "arena", "quiet", None], ids=str)
def test_it_fits_every_window_by_day_and_by_night(
    chromium: browser.Browser, shown: httpx.Client, bandit: str | None, width: int, dark: bool
) -> None:
    page = opened(chromium, shown, bandit, width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    if bandit is not None:
        assert page.evaluate("[...document.querySelectorAll('.rows')].every(one => one.scrollWidth <= one.clientWidth)")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground))) < 128) is dark
    addresses = {urlsplit(address).netloc for address in page.requests()}
    assert addresses == {urlsplit(str(shown.base_url)).netloc}
    assert [one for one in page.complaints() if "422" not in one] == []  # what Auto has no switch gains answers


def test_colours_can_be_told_apart_by_day_and_by_night() -> None:
    style = (FILES / "page.css").read_text(encoding="utf-8")
    day, night = (dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in style.split("dark)")[:2])
    assert day.keys() == night.keys()
    for colours in (day, night):
        for ground in ("ground", "surface", "empty"):
            for ink in ("ink", "soft", "accent", "warm"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        assert contrast(colours["onaccent"], colours["accent"]) >= 4.5
        for ink in ("ink", "soft"):
            assert contrast(colours[ink], colours["tint"]) >= 4.5


FOCUS = """(() => { const at = document.activeElement, style = getComputedStyle(at);
    return [at.id || at.className || at.tagName, at.matches(':focus-visible') && style.outlineStyle !== 'none'
        && parseFloat(style.outlineWidth) >= 2]; })()"""


def test_a_keyboard_is_enough(chromium: browser.Browser, shown: httpx.Client) -> None:
    page = opened(chromium, shown, "drinks")
    page.press("Tab")
    assert page.evaluate("document.activeElement.getBoundingClientRect().top >= 0")
    assert page.evaluate(FOCUS) == ["skip", True]
    page.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen = []
    while "toggle" not in seen:
        page.press("Tab")
        name, visible = page.evaluate(FOCUS)
        assert visible, name
        seen.append(name)
        assert len(seen) < 15, seen
    before = page.evaluate(TOGGLES)
    page.press(" ", "ArrowRight")
    page.wait("document.querySelectorAll('.toggle')[0].ariaPressed === 'false'")
    page.wait(f"{TOGGLES}[1][1] !== {json.dumps(before[1][1])}")
    assert page.evaluate("document.activeElement.innerText").startswith("coffee")
    page.press("Tab")
    assert page.evaluate(FOCUS) == ["CANVAS", True]
    page.press("ArrowDown")
    assert text(page, ".reading").startswith("coffee, and itself")
    page.press("Tab", "Enter")
    assert page.evaluate("document.querySelector('.heatmap details').open") is True


def test_tables_are_sorted_by_their_heads(chromium: browser.Browser, shown: httpx.Client) -> None:
    page = opened(chromium, shown, "drinks")
    names = "[...document.querySelectorAll('.rows tbody .arm')].map(one => one.textContent)"
    first = page.evaluate(names)
    losses = {arm["arm"]: arm["mean_loss"] for arm in ask(shown, "GET", "/drinks/report")["arms"]}
    known = sorted(DRINKS, key=lambda arm: -losses[arm])
    for wanted, way in ((known, "descending"), (known[::-1], "ascending")):
        page.click(".rows th.wide button")
        assert page.evaluate(names) == [*wanted, "cocoa"]  # what is unknown comes last, whichever way
        assert page.evaluate("document.querySelector('.rows th.wide').ariaSort") == way
    page.click(".rows th.wide button")
    assert page.evaluate(names) == first


def test_a_phone_begins_with_the_list_and_comes_back_to_it(chromium: browser.Browser, shown: httpx.Client) -> None:
    page = opened(chromium, shown, None, 360)
    page.wait("document.querySelectorAll('.bandits li').length === 4")
    assert page.evaluate("document.querySelector('main').getClientRects().length") == 0
    page.click('.bandits a[href="#bandit=arena"]')
    page.wait("document.querySelector('h1').textContent === 'arena'")
    assert page.evaluate("document.querySelector('.bandits').getClientRects().length") == 0
    page.click(".back")
    page.wait("document.querySelector('.bandits').getClientRects().length > 0")


def test_it_asks_for_a_token_and_keeps_it_in_the_tab(chromium: browser.Browser, tmp_path: Path) -> None:
    tokens = f"{TOKEN}; only-for-decisions decide"
    with serving(tmp_path, tokens=tokens) as client:
        make(client, "shop", ["a", "b"])
        page = chromium.open(address_of(client), 1280)
        page.wait("document.querySelector('#status').textContent === 'A token is needed'")
        for wrong, said in (("not-a-token-of-anybody", "does not know"), ("only-for-decisions", "read")):
            page.wait("document.activeElement.id === 'token-box'")
            page.write(wrong)
            page.press("Enter")
            page.wait(f"document.querySelector('#token-says').textContent.includes('{said}')")
        page.write(TOKEN)
        page.press("Enter")
        page.wait("document.querySelector('.toggle .chance').textContent === '50.0 %'")
        assert page.evaluate("document.querySelector('#token').hidden") is True
        kept = page.evaluate("[JSON.stringify(localStorage), document.cookie, Object.values(sessionStorage)]")
        assert kept == ["{}", "", [TOKEN]]
        assert TOKEN not in page.evaluate("document.documentElement.outerHTML + location.href")
        page.click("#forget")
        page.wait("document.activeElement.id === 'token-box'")
        assert page.evaluate("sessionStorage.length") == 0


def test_it_says_when_the_service_is_away_and_comes_back(chromium: browser.Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        make(client, "shop", ["a", "b"])
        port = urlsplit(str(client.base_url)).port
        page = opened(chromium, client, "shop")
    page.wait("document.querySelector('#status').textContent.startsWith('Not reachable, trying again in')")
    assert text(page, "h1") == "shop"  # what was known stays
    page.click(".toggle")  # asks the service
    page.wait("document.querySelector('.toggle').ariaPressed === 'false'")
    assert [one for one in page.complaints() if "Failed to load resource" not in one] == []
    page.click(".toggle")
    with serving(tmp_path, port=port or 0) as client:
        page.wait(LIVE)
        ask(client, "POST", "/shop/decisions", json={})
        page.wait("document.querySelector('.value').textContent === '1'")


SEE = """(Object.defineProperty(document, 'hidden', {{value: {}, configurable: true}}),
    document.dispatchEvent(new Event('visibilitychange')))"""


def test_a_tab_that_cannot_be_seen_does_not_listen(chromium: browser.Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        make(client, "shop", ["a", "b"])
        page = opened(chromium, client, "shop")
        page.evaluate(SEE.format("true"))
        ask(client, "POST", "/shop/decisions", json={})
        time.sleep(2.5)  # more than two periods
        assert page.evaluate("document.querySelector('.value').textContent") == "0"
        page.evaluate(SEE.format("false"))
        page.wait("document.querySelector('.value').textContent === '1'")


def test_many_bandits_and_arms_do_not_freeze_it(chromium: browser.Browser, tmp_path: Path) -> None:
    arms = [f"product {n}" for n in range(200)]
    with serving(tmp_path) as client:
        for n in range(50):
            make(client, f"shop {n}", arms, policy="SIExp3")
        page = opened(chromium, client, "shop 7")
        page.wait("document.querySelectorAll('.bandits li').length === 50")
        page.wait("document.querySelectorAll('.rows tbody tr').length === 200")
        page.wait("document.querySelector('canvas').clientWidth > 300")
        page.call("Performance.enable", timeDomain="threadTicks")
        before = busy(page)
        for n in range(3):
            play(client, "shop 7", [{}] * 20, lambda n, _: {"loss": n % 2})
            page.wait(f"document.querySelector('.value').textContent === '{20 * (n + 1)}'")
        time.sleep(1)
        assert busy(page) - before < 3.0  # seconds of processor time for three updates
        page.evaluate("document.querySelector('input[type=search]').focus()")
        page.write("shop 49")
        page.wait("document.querySelectorAll('.bandits li:not([hidden])').length === 1")
        assert page.complaints() == []


def test_a_matrix_of_many_arms_is_read_when_somebody_asks(chromium: browser.Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        make(client, "warehouse", [f"product {n}" for n in range(301)], policy="SIExp3")
        page = opened(chromium, client, "warehouse")
        page.wait("document.body.innerText.includes('These are 301 \u00d7 301 numbers.')")
        assert not any("switch-gains" in address for address in page.requests())
        ask_button = "[...document.querySelectorAll('button')].find(one => one.textContent === 'Read them')"
        page.evaluate(f"{ask_button}.click()")
        page.wait("document.querySelector('canvas').clientWidth >= 602")
        page.click(".heatmap summary")
        page.wait("document.querySelectorAll('.heatmap tbody tr').length === 100")
        page.click(".heatmap details button")
        page.wait("document.querySelectorAll('.heatmap tbody tr').length === 200")
        assert page.complaints() == []


def busy(page: browser.Page) -> float:
    """Return how many seconds of processor time the page has taken."""
    found: list[dict[str, Any]] = page.call("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


def test_no_motion_where_none_is_wanted(chromium: browser.Browser, shown: httpx.Client) -> None:
    page = opened(chromium, shown, "drinks")
    motion = "getComputedStyle(document.querySelector('.toggle'), '::after').transitionDuration"
    assert page.evaluate(motion) == "0.25s"
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    assert page.evaluate(motion) == "0s"


PIECES = r"""import('/static/stream.js').then(async ({ events }) => {
    const pieces = ["event: ban", "dits\r\nda", "ta: {\"a\":\r\ndata: 1}\r", "\n\r\n: alive\n\n", "data: \u00e9\n\n"];
    const bytes = new ReadableStream({ start(out) {
        for (const piece of pieces) out.enqueue(new TextEncoder().encode(piece));
        out.close(); } });
    const found = [];
    for await (const one of events(bytes)) found.push(one);
    return found; })"""


def test_events_are_read_however_they_are_cut(chromium: browser.Browser, shown: httpx.Client) -> None:
    found = opened(chromium, shown, None).evaluate(PIECES)
    assert found == [
        {"event": "bandits", "data": '{"a":\n1}'},
        {"event": "message", "data": ""},
        {"event": "message", "data": "é"},
    ]
