"""A real `wakeful serve` in a process of its own, bandits to look at, and the page that shows them in a browser."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

import browser
from processes import running

PATIENCE = 240.0  # seconds for an answer: a new machine compiles first
LIVE = "document.querySelector('#status').dataset.state === 'live'"
READ = """document.querySelector('.rows tbody tr') &&
    (document.querySelector('.toggle .chance') ?? document.querySelector('.estimated')).textContent"""
TEXT = "document.querySelector({}).innerText"
TOGGLES = "[...document.querySelectorAll('.toggle')].map(one => [...one.children].map(part => part.textContent))"
TOKEN = "a-token-for-tests-only"
DRINKS = {"tea": 0.4, "coffee": 0.5, "juice": 0.6, "water": 0.5}  # mean losses
MODELS = {"apollo": 0.7, "borealis": 0.5, "cirrus": 0.3}  # strengths
HOSTILE = "<img src=x onerror=document.title='broken'> 🐙 " + "long" * 30
HOSTILE_ARMS = ["<script>document.title='broken'</script>", '🍵 "tea" & <b>milk</b>', "w" * 200]


@contextmanager
def serving(folder: Path, port: int = 0, tokens: str = "") -> Iterator[httpx.Client]:
    """Yield a client of a service with its database in this folder; the service is killed at the end."""
    command = ("-m", "wakeful", "serve", "--db", str(folder / "wakeful.db"), "--port", str(port))
    environment = {**os.environ, "WAKEFUL_TOKENS": tokens, "WAKEFUL_LOG_LEVEL": "error"}
    with running(*command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        headers = {"Authorization": f"Bearer {TOKEN}"} if tokens else {}
        with httpx.Client(base_url=address, timeout=PATIENCE, headers=headers) as client:
            yield client


def address_of(client: httpx.Client, bandit: str | None = None) -> str:
    """Return the address of the page, showing a bandit."""
    return f"{client.base_url}".rstrip("/") + "/" + ("" if bandit is None else f"#bandit={quote(bandit, safe='')}")


def ask(client: httpx.Client, method: str, path: str, **options: Any) -> Any:
    """Return the JSON of an answer that must be a success."""
    answer = client.request(method, f"/v1/bandits{path}", **options)
    assert answer.is_success, answer.text
    return answer.json()


def make(client: httpx.Client, name: str, arms: list[str], **body: Any) -> None:
    """Make a bandit."""
    ask(client, "PUT", f"/{quote(name, safe='')}", json={"arms": arms, "seed": 7, **body})


def play(client: httpx.Client, name: str, questions: list[dict[str, Any]], feedback: Callable[..., Any]) -> None:
    """Ask all questions in one request; give the feedback of all in another, those without any left out."""
    path = f"/{quote(name, safe='')}/batch"
    made = ask(client, "POST", path, json={"decisions": questions})["decisions"]
    given = [{"decision": one["id"], **feedback(n, one)} for n, one in enumerate(made) if feedback(n, one)]
    ask(client, "POST", path, json={"feedback": given})


def fill(client: httpx.Client) -> None:
    """Make a bandit of drinks with switch gains, one that nothing happened to, duels, and one with hostile names."""
    drinks, models = list(DRINKS), list(MODELS)
    make(client, "drinks", [*drinks, "cocoa"], policy="SIExp3", wait=3600, default_loss=1.0)
    sets = [{"awake": [arm for k, arm in enumerate(drinks) if (n >> k) % 5 or k == n % 4]} for n in range(400)]
    play(client, "drinks", sets, lambda n, one: {"loss": float(n * 7 % 10 < 10 * DRINKS[one["arm"]])} if n % 8 else {})
    ask(client, "DELETE", "/drinks/arms/cocoa")
    make(client, "quiet", ["a", "b"])
    make(client, "arena", models, kind="dueling")

    def winner(n: int, duel: dict[str, Any]) -> dict[str, str]:
        left = 0.55 + MODELS[duel["left"]] - MODELS[duel["right"]]
        return {"winner": "tie" if n % 11 == 0 else "left" if n * 7 % 10 < 10 * left else "right"}

    groups = [{"distinct": True, "group": ("code", "prose")[n % 2]} for n in range(300)]
    play(client, "arena", groups, winner)
    make(client, HOSTILE, HOSTILE_ARMS, policy="SIExp3")
    play(client, HOSTILE, [{}] * 30, lambda n, _: {"loss": n % 3 / 2})


def opened(
    chromium: browser.Browser, client: httpx.Client, bandit: str | None, width: int = 1280, *, dark: bool = False
) -> browser.Page:
    """Return a page that shows a bandit, once it has read all of it."""
    page = chromium.open(address_of(client, bandit), width, dark=dark)
    page.wait(LIVE)
    if bandit is not None:
        page.wait(READ)
    return page


def text(page: browser.Page, selector: str) -> str:
    """Return what somebody reads in the first element that a selector finds."""
    return str(page.evaluate(TEXT.format(json.dumps(selector))))


def figure(page: browser.Page, label: str) -> str:
    """Return the large number with a label."""
    find = f"[...document.querySelectorAll('.figure')].find(one => one.firstChild.textContent === '{label}')"
    return str(page.evaluate(f"{find}.querySelector('.value').textContent"))


def percent(p: float) -> str:
    """Return a probability as the page writes it."""
    return "< 0.1 %" if 0 < p < 0.001 else "> 99.9 %" if 0.999 < p < 1 else f"{100 * p:.1f} %"
