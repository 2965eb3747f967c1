"""The page of the API in a real browser: every route is there, and can be tried."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

import browser
from watched import LIVE, TOKEN, address_of, ask, make, serving, text

ROUTES = """[...document.querySelectorAll('.operation')].map(one =>
    [one.querySelector('.method').textContent.toLowerCase(), one.querySelector('.path').textContent])"""
ANSWER = "document.querySelector({}).querySelector('.answer strong')?.textContent"


def opened(chromium: browser.Browser, client: httpx.Client, width: int = 1280, *, dark: bool = False) -> browser.Page:
    """Return the page of the API, once it has read the document."""
    page = chromium.open(address_of(client) + "docs", width, dark=dark)
    page.wait(LIVE)
    return page


def unfold(page: browser.Page, route: str) -> None:
    """Open a route."""
    page.click(f"#{route} > summary")
    page.wait(f"document.querySelector('#{route} form')")


def fill(page: browser.Page, route: str, **values: str) -> None:
    """Type into the fields of a route."""
    for name, value in values.items():
        field = f"document.querySelector('#{route} [name={name}]')"
        page.evaluate(f"({field}.value = '', {field}.focus())")
        page.write(value)


def sent(page: browser.Page, route: str) -> tuple[str, str]:
    """Send the form of a route; return the status that the page shows, and the body."""
    page.evaluate(f"document.querySelector('#{route} .answer').replaceChildren()")
    page.click(f"#{route} button[type=submit]")
    status = page.wait(ANSWER.format(json.dumps(f"#{route}")))
    return str(status), str(page.evaluate(f"document.querySelector('#{route} .answer > pre')?.textContent ?? ''"))


def document(client: httpx.Client) -> dict[str, Any]:
    """Return the OpenAPI document."""
    found: dict[str, Any] = client.get("/openapi.json").json()
    return found


def test_every_route_and_every_schema_is_there(chromium: browser.Browser, shown: httpx.Client) -> None:
    page, found = opened(chromium, shown), document(shown)
    assert sorted(page.evaluate(ROUTES)) == sorted([m, path] for path, ways in found["paths"].items() for m in ways)
    names = page.evaluate("[...document.querySelectorAll('.schema > summary')].map(one => one.textContent)")
    assert names == list(found["components"]["schemas"])
    fields = page.evaluate("[...document.querySelectorAll('#schema-NewBandit th')].map(one => one.textContent)")
    assert fields == list(found["components"]["schemas"]["NewBandit"]["properties"])
    assert "list of string" in page.evaluate("document.querySelector('#schema-NewBandit td').textContent")


def test_every_body_that_the_page_proposes_is_taken(chromium: browser.Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        page = opened(chromium, client)
        ways = [way for ways in document(client)["paths"].values() for way in ways.values() if "requestBody" in way]
        routes = [way["operationId"] for way in ways]
        assert len(routes) >= 7
        for route in sorted(routes, key=lambda route: "feedback" in route):
            unfold(page, route)
            if page.evaluate(f"document.querySelector('#{route} [name=id]') !== null"):
                fill(page, route, id="second")
            status, body = sent(page, route)
            assert status[0] == "2", (route, status, body)
        found = ask(client, "GET", "/drinks")
        assert [arm["name"] for arm in found["arms"]] == ["tea", "coffee", "juice", "water"]
        assert found["decisions"] == 2  # one alone, one of a batch
        assert ask(client, "GET", "/drinks/report")["decisions"] == 3  # and one of somebody else


def test_what_is_filled_in_is_asked_and_the_answer_is_shown(chromium: browser.Browser, shown: httpx.Client) -> None:
    page = opened(chromium, shown)
    routes = {path: way["get"]["operationId"] for path, way in document(shown)["paths"].items() if "get" in way}
    likely = routes["/v1/bandits/{name}/probabilities"]
    unfold(page, likely)
    fill(page, likely, name="drinks", awake="tea, water")
    status, body = sent(page, likely)
    assert status == "200 OK"
    assert json.loads(body) == ask(shown, "GET", "/drinks/probabilities", params={"awake": ["tea", "water"]})
    assert "awake=tea&awake=water" in text(page, f"#{likely} .code")
    fill(page, likely, name="<b>nobody")
    status, body = sent(page, likely)
    assert status == "404 Not Found"
    assert "<b>nobody" in json.loads(body)["error"]["message"]
    changes = routes["/v1/changes"]
    unfold(page, changes)
    status, body = sent(page, changes)
    assert status == "200 OK"
    assert body.startswith("event: bandits\ndata: {")  # the first of a stream that does not end


def test_links_open_what_they_name(chromium: browser.Browser, shown: httpx.Client) -> None:
    page = opened(chromium, shown)
    route = document(shown)["paths"]["/v1/bandits/{name}"]["put"]["operationId"]
    unfold(page, route)
    page.click(f"#{route} label:last-of-type a")
    page.wait("document.querySelector('#schema-NewBandit').open")
    assert page.evaluate("document.activeElement.textContent") == "NewBandit"


def test_a_token_is_sent_and_shared_with_the_page(chromium: browser.Browser, tmp_path: Path) -> None:
    with serving(tmp_path, tokens=TOKEN) as client:
        make(client, "drinks", ["a", "b"])
        page = opened(chromium, client)
        route = document(client)["paths"]["/v1/bandits"]["get"]["operationId"]
        unfold(page, route)
        assert sent(page, route)[0] == "401 Unauthorized"
        page.evaluate("document.querySelector('#token-box').focus()")
        page.write(TOKEN)
        status, body = sent(page, route)
        assert status == "200 OK"
        assert [one["name"] for one in json.loads(body)["bandits"]] == ["drinks"]
        assert "$WAKEFUL_TOKEN" in text(page, f"#{route} .code")
        assert TOKEN not in page.evaluate("document.documentElement.outerHTML")
        page.go(address_of(client))
        page.wait("document.querySelector('h1').textContent === 'drinks'")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_it_fits_every_window(chromium: browser.Browser, shown: httpx.Client, width: int, dark: bool) -> None:
    page = opened(chromium, shown, width, dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach(one => (one.open = true))")
    page.wait("[...document.querySelectorAll('.operation')].every(one => one.querySelector('form'))")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.complaints() == []
