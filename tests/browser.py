"""A real browser for tests: Chromium without a window, driven through its debugging pipe.

The pipe needs no port and no library: messages are JSON, each ended by a zero byte
(https://chromedevtools.github.io/devtools-protocol).
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "no browser here: 'apt-get install chromium' (Debian), or put Chromium or Chrome on PATH"
PATIENCE = 60.0  # seconds for one answer: a busy machine starts a browser slowly
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe"),
)
KEY_CODES = {
    "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
    "ArrowRight": 39, "ArrowDown": 40,
}  # fmt: skip
# Chromium reads from 3 and writes to 4, whatever numbers we have.
MOVE = (
    "import os, sys; r, w = map(int, sys.argv[1:3]); os.dup2(r, 3); os.dup2(w, 4); os.execvp(sys.argv[3], sys.argv[3:])"
)


def find() -> str | None:
    """Return the path of a browser, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """A page that has been loaded; it remembers every address that was asked for."""

    def __init__(self, browser: "Browser", session: str) -> None:
        self.browser, self.session = browser, session
        self.address = ""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the browser's answer to a command about this page."""
        return self.browser.call(method, self.session, **parameters)

    def go(self, address: str) -> None:
        """Load a page and wait until all of it is there."""
        self.browser.events.clear()
        self.address = address
        self.call("Page.navigate", url=address)
        self.browser.wait_for("Page.loadEventFired", self.session)
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def requests(self) -> list[str]:
        """Return the addresses asked for since the page was opened, in order, its own and inline data left out."""
        found = [event["request"]["url"] for event in self._events("Network.requestWillBeSent")]
        return [address for address in found if address != self.address and not address.startswith("data:")]

    def complaints(self) -> list[str]:
        """Return what the browser wrote to its console, and the exceptions that nobody caught."""
        thrown = [event["exceptionDetails"] for event in self._events("Runtime.exceptionThrown")]
        found = [one.get("exception", {}).get("description", one["text"]) for one in thrown]
        return [event["entry"]["text"] for event in self._events("Log.entryAdded")] + found

    def _events(self, method: str) -> list[dict[str, Any]]:
        """Return what the browser told about this page."""
        mine = [event for event in self.browser.events if event.get("sessionId") == self.session]
        return [event["params"] for event in mine if event["method"] == method]

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 4 * PATIENCE) -> Any:
        """Return the value of an expression in the page, once it is true; exceptions count as not yet."""
        end = time.monotonic() + seconds
        value = f"const found = {script}; return found instanceof Node || found"
        while not (found := self.evaluate(f"(() => {{ try {{ {value}; }} catch {{ return false; }} }})()")):
            if time.monotonic() > end:
                raise TimeoutError(f"not true after {seconds:.0f} seconds: {script}")
            time.sleep(0.05)
        return found

    def press(self, *keys: str) -> None:
        """Press keys of a keyboard, one after another: names such as "Tab" and "ArrowDown", or characters."""
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            about = {"key": key, "code": key, "windowsVirtualKeyCode": KEY_CODES.get(key, 0), "text": text}
            self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **about)
            self.call("Input.dispatchKeyEvent", type="keyUp", **{**about, "text": ""})

    def write(self, text: str) -> None:
        """Write a text where the focus is."""
        self.call("Input.insertText", text=text)

    def point(self, selector: str, x: float = 0.5, y: float = 0.5, *, click: bool = False) -> None:
        """Move the mouse to a place inside an element, in shares of its width and height; click there if asked to."""
        found = json.dumps(selector)
        self.evaluate(f"document.querySelector({found}).scrollIntoView({{block: 'center'}})")
        box = self.evaluate(f"document.querySelector({found}).getBoundingClientRect().toJSON()")
        where = {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]}
        for kind in ("mouseMoved", *(("mousePressed", "mouseReleased") if click else ())):
            button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=kind, **where, **button)

    def click(self, selector: str) -> None:
        """Click the first element that a selector finds."""
        self.point(selector, click=True)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Write a picture of the page, all of it or what a window shows."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, path: Path) -> None:
        """Write the page as it is printed."""
        answer = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(answer["data"]))


class Browser:
    """A running browser, spoken to through two pipes."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self.writing = reading, writing
        self.rest, self.number = b"", 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and return the answer; what else arrives meanwhile is kept as events."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def wait_for(self, method: str, session: str) -> None:
        """Wait for an event of a page, unless it has come already."""
        while not any(e.get("method") == method and e.get("sessionId") == session for e in self.events):
            self.events.append(self._next())

    def open(self, address: str, width: int, height: int = 900, *, dark: bool = False, scale: float = 1) -> Page:
        """Return a page in a window so wide, by day or by night."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Network", "Log", "Runtime"):
            page.call(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600}
        page.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", features=[scheme])
        page.go(address)
        return page

    def _next(self) -> dict[str, Any]:
        """Return the next message."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            if not select.select([self.reading], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"the browser said nothing for {PATIENCE:.0f} seconds")
            data = os.read(self.reading, 1 << 20)
            if not data:
                raise ConnectionError("the browser has ended")
            self.rest += data
        message, _, self.rest = self.rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def running(binary: str) -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it."""
    to_read, answers = os.pipe()
    commands, to_write = os.pipe()
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (commands, answers)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [sys.executable, "-c", MOVE, *map(str, theirs), binary, *FLAGS, f"--user-data-dir={profile}"]
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, pass_fds=theirs, stdin=null, stdout=null, stderr=null)
        for end in (commands, answers, *theirs):
            os.close(end)
        try:
            browser = Browser(to_read, to_write)
            yield browser
            browser.call("Browser.close")
        finally:
            os.close(to_read)
            os.close(to_write)  # the browser ends when nobody is left to speak to it
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
