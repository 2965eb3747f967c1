"""The page of the service in a real browser, before a real service: what somebody sees."""

import json
import shlex
from pathlib import Path

import httpx
import pytest

import browser
from watched import (
    DRINKS,
    HOSTILE,
    HOSTILE_ARMS,
    MODELS,
    TOGGLES,
    ask,
    figure,
    make,
    opened,
    percent,
    serving,
    text,
)

ROWS = "[...document.querySelectorAll({})].map(row => [...row.children].map(cell => cell.innerText.split('\\n')))"


def test_the_three_lines_of_an_empty_service_work(chromium: browser.Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        page = opened(chromium, client, None)
        lines = page.wait("[...document.querySelectorAll('.steps code')].map(line => line.textContent)")
        chromium.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        page.click(".steps li:nth-child(2) button")
        page.wait("document.querySelector('.steps li:nth-child(2) button').textContent === 'Copied'")
        assert page.evaluate("navigator.clipboard.readText()") == lines[1]
        for line in lines:
            curl, _, method, address, form, body = shlex.split(line)
            assert (curl, form) == ("curl", "--json")
            answer = client.request(method, address, content=body, headers={"Content-Type": "application/json"})
            assert answer.is_success, answer.text
        page.wait("document.querySelector('h1').textContent === 'drinks'")
        page.wait("document.querySelector('.note').textContent === '1 with feedback'")
        assert figure(page, "Decisions") == "1"


def test_the_table_has_the_numbers_of_the_report(chromium: browser.Browser, shown: httpx.Client) -> None:
    page, report = opened(chromium, shown, "drinks"), ask(shown, "GET", "/drinks/report")
    rows = page.evaluate(ROWS.format("'.rows tbody tr'"))
    assert [row[0] for row in rows] == [[arm, "available"] for arm in DRINKS] + [["cocoa", "retired"]]
    for row, arm in zip(rows[:-1], report["arms"], strict=False):
        assert [row[k][0] for k in (1, 2, 3)] == [f"{arm[name]:,}" for name in ("awake", "chosen", "pending")]
        assert row[4] == [f"{arm['mean_loss']:.3f}", f"{arm['low']:.3f} to {arm['high']:.3f}"]
        assert row[5][-1] == percent(arm["probability"])
    assert rows[-1][4] == ["\u2013", "no feedback"]
    assert figure(page, "Mean loss") == f"{report['loss']:.3f}"
    assert figure(page, "Gain over uniform") == f"{report['gain']['value']:.3f}".replace("-", "\u2212")
    assert figure(page, "Pending feedback") == "50"
    assert text(page, ".words") == report["words"]
    assert "waits 1 hour for feedback, then loss 1.00" in text(page, ".heading")


BARS = """[...document.querySelectorAll('.rows .interval')].slice(0, 4).map(bar => {
    const track = bar.getBoundingClientRect(), [, range, point] = [...bar.children].map(p => p.getBoundingClientRect());
    return [range.left, range.right, point.left + point.width / 2].map(x => (x - track.left) / track.width); })"""


def test_intervals_are_drawn_where_their_numbers_are(chromium: browser.Browser, shown: httpx.Client) -> None:
    page, report = opened(chromium, shown, "drinks"), ask(shown, "GET", "/drinks/report")
    low, high = page.evaluate("[...document.querySelectorAll('.rows .wide .ends span')].map(end => +end.textContent)")
    for drawn, arm in zip(page.evaluate(BARS), report["arms"], strict=False):
        wanted = [(arm[name] - low) / (high - low) for name in ("low", "high", "mean_loss")]
        assert drawn == pytest.approx(wanted, abs=0.01)


def test_clicking_arms_awake_and_asleep_shows_their_probabilities(
    chromium: browser.Browser, shown: httpx.Client
) -> None:
    page = opened(chromium, shown, "drinks")
    assert [arm for arm, _ in page.evaluate(TOGGLES)] == list(DRINKS)  # the retired one is not offered
    page.click(".toggle:nth-child(1)")
    page.click(".toggle:nth-child(3)")
    asked = ask(shown, "GET", "/drinks/probabilities", params={"awake": ["coffee", "water"]})
    wanted = dict(zip(asked["awake"], map(percent, asked["probabilities"]), strict=True))
    toggles = json.dumps([[arm, wanted.get(arm, "asleep")] for arm in DRINKS], separators=(",", ":"))
    page.wait(f"JSON.stringify({TOGGLES}) === {json.dumps(toggles)}")
    pressed = page.evaluate("[...document.querySelectorAll('.toggle')].map(one => one.ariaPressed)")
    assert pressed == ["false", "true", "false", "true"]
    page.click(".together .quiet:last-child")
    page.wait("document.querySelectorAll('.toggle[aria-pressed=true]').length === 0")
    assert "No arm is awake" in text(page, "article")


def test_it_shows_what_happens_by_itself(chromium: browser.Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        make(client, "shop", ["left", "right"])
        page = opened(chromium, client, "shop")
        assert figure(page, "Decisions") == "0"
        decision = ask(client, "POST", "/shop/decisions", json={"awake": ["left"], "id": "one"})
        page.wait("document.querySelector('.value').textContent === '1'")
        ask(client, "POST", f"/shop/decisions/{decision['id']}/feedback", json={"loss": 0.25})
        page.wait("document.querySelector('.estimated').textContent === '0.250'")
        ask(client, "POST", "/shop/arms", json={"name": "middle"})
        page.wait("document.querySelectorAll('.toggle').length === 3")
        page.wait("document.querySelectorAll('.rows tbody tr').length === 3")
        make(client, "another", ["a", "b"])
        page.wait("document.querySelectorAll('.bandits li').length === 2")
        ask_delete = client.delete("/v1/bandits/another", params={"events": 1})
        assert ask_delete.status_code == 204
        page.wait("document.querySelectorAll('.bandits li').length === 1")
        assert [one for one in page.complaints() if "422" not in one] == []


def test_switch_gains_are_read_with_keys_mouse_and_table(chromium: browser.Browser, shown: httpx.Client) -> None:
    page, found = opened(chromium, shown, "drinks"), ask(shown, "GET", "/drinks/switch-gains")

    def sentence(i: int, j: int) -> str:
        gain, error = (short(found[name][i][j]) for name in ("gains", "errors"))
        return f"{found['arms'][j]} instead of {found['arms'][i]}: {gain}, standard error {error}."

    page.wait("document.querySelector('canvas').clientWidth > 300")
    page.evaluate("document.querySelector('canvas').focus()")
    assert text(page, ".reading") == sentence(0, 1)
    page.press("ArrowDown", "ArrowRight")
    assert text(page, ".reading") == sentence(1, 2)
    page.point("canvas", 0.99, 0.99)
    assert text(page, ".reading") == "cocoa, and itself."
    page.click(".heatmap summary")
    page.wait("document.querySelector('.heatmap tbody tr')")
    rows = page.evaluate(ROWS.format("'.heatmap tbody tr'"))
    pairs = [(gain, i, j) for i, row in enumerate(found["gains"]) for j, gain in enumerate(row) if i != j]
    assert len(rows) == len(pairs)
    best, i, j = max(pairs, key=lambda pair: (pair[0], -pair[1], -pair[2]))
    assert rows[0][:3] == [[found["arms"][i]], [found["arms"][j]], [short(best)]]


def short(value: float) -> str:
    """Return a number with about three digits, as the page writes it."""
    size = abs(value)
    shown = f"{size:,.{0 if size >= 100 else 1 if size >= 10 else 2}f}"
    return f"\u2212{shown}" if value < 0 and float(shown) != 0 else shown


def test_a_policy_without_switch_gains_says_so(chromium: browser.Browser, shown: httpx.Client) -> None:
    page = opened(chromium, shown, "quiet")
    page.wait("document.body.innerText.includes('Auto does not estimate switch gains')")
    assert page.evaluate("document.querySelector('.heatmap').hidden") is True
    assert figure(page, "Gain over uniform") == "\u2013"


def test_duels_have_a_ranking_a_win_matrix_ties_and_a_side_effect(
    chromium: browser.Browser, shown: httpx.Client
) -> None:
    page, found = opened(chromium, shown, "arena"), ask(shown, "GET", "/arena/ranking")
    rows = page.evaluate(ROWS.format("'.rows tbody tr'"))
    assert [row[1][0] for row in rows] == [row["arm"] for row in found["rows"]]
    top = found["rows"][0]
    assert rows[0][3] == [f"{top['strength']:.0f}", f"{top['low']:.0f} to {top['high']:.0f}"]
    assert figure(page, "Ties") == percent(found["tie_rate"]["value"])
    assert figure(page, "Left side wins") in " ".join(found["notes"])
    wins = ask(shown, "GET", "/arena/wins")["wins"]
    page.evaluate("document.querySelector('canvas').focus()")
    one, other = list(MODELS)[:2]
    won, played = wins[0][1], wins[0][1] + wins[1][0]
    share = percent(won / played)
    assert text(page, ".reading") == f"{one} won {won:g} of {played:g} duels against {other}: {share}."
    page.click(".segments label:nth-of-type(3)")
    likely = ask(shown, "GET", "/arena/ranking", params={"scale": "probability", "group": "code"})["rows"]
    page.evaluate(
        "(group => (group.value = 'code', group.dispatchEvent(new Event('change'))))(document.querySelector('select'))"
    )
    page.wait(f"document.querySelector('.estimated').textContent === '{likely[0]['strength']:.3f}'")
    assert "Beats the mean" in text(page, ".rows thead")


def test_names_are_text_whatever_they_hold(chromium: browser.Browser, shown: httpx.Client) -> None:
    page = opened(chromium, shown, HOSTILE, 360)
    page.wait("document.querySelector('canvas').clientWidth > 100")
    assert text(page, "h1") == HOSTILE
    names = page.evaluate(
        "[...document.querySelectorAll('.rows tbody .arm, .toggle .arm')].map(one => one.textContent)"
    )
    assert names == HOSTILE_ARMS * 2
    assert page.evaluate("document.querySelectorAll('main img, main script, main b, nav img').length") == 0
    assert "broken" not in page.evaluate("document.title").replace(HOSTILE, "")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
