"""`docs/clients.md` and the JavaScript example, executed as they stand against a real service."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browser
import pages
from lossy_proxy import Passed, proxied
from service_load import Served, call, served

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "service.js"
ADDRESS = "http://127.0.0.1:8000"  # what the page names
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "--- end of a block ---"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("documented")
    with served(str(folder / "wakeful.db"), log=folder / "service.log") as running:
        yield running


def blocks(section: str, language: str) -> list[tuple[str, str]]:
    """Return the programs of a section, each with the output that is shown after it, if there is any."""
    text = TEXT.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    found = BLOCK.findall(text)
    programs = []
    for (kind, program), (after, output) in zip(found, [*found[1:], ("", "")], strict=True):
        if kind == language:
            programs.append((program, output if after == "text" else ""))
    return programs


def check_output(found: str, shown: str) -> None:
    """Check output against what the page shows; three dots stand for anything."""
    pattern = ".*".join(re.escape(part) for part in shown.strip().split("..."))
    assert re.fullmatch(pattern, found.strip(), re.DOTALL), f"{found!r} is not {shown!r}"


def test_the_commands_with_curl_answer_as_shown(service: Served, tmp_path: Path) -> None:
    programs = blocks("curl", "sh")
    assert len(programs) == 10
    script = "set -eu\n" + "".join(f"{program}echo\necho '{END}'\n" for program, _ in programs)
    environment = {**os.environ, "WAKEFUL": f"http://127.0.0.1:{service.port}"}
    run = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    for output, (_, shown) in zip(run.stdout.split(END), programs, strict=False):
        check_output(output, shown)
    assert len(run.stdout.split(END)) == len(programs) + 1


def test_the_python_code_prints_what_is_shown(service: Served) -> None:
    programs = blocks("Python", "python")
    assert len(programs) == 4
    names: dict[str, Any] = {"__name__": "documented"}
    for program, shown in programs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program.replace(ADDRESS, f"http://127.0.0.1:{service.port}"), names)
        check_output(printed.getvalue(), shown)


def test_the_javascript_example_decides_once_though_answers_are_lost(service: Served) -> None:
    seen: list[Passed] = []

    def lose(passed: Passed) -> Passed | None:
        """Lose the answer to the first decision, and say that the service is busy when the first feedback comes."""
        seen.append(passed)
        posts = [one for one in seen if one.method == "POST"]
        if len(posts) == 1 and passed.method == "POST":
            return None
        if len(posts) == 3:
            return passed._replace(status=503, headers={"Retry-After": "1"})
        return passed

    with proxied(service.port, lose) as address:
        found = in_node(address) if shutil.which("node") else in_browser(address)
    shown = blocks("JavaScript", "text")[0][0].splitlines()[1]
    check_output(found, shown.replace("counted", "known"))  # by the first try, whose answer was lost
    state = call(service.port, "GET", "/v1/bandits/menu")[1]
    assert (state["decisions"], state["feedback"]) == (1, 1)
    decisions = [json.loads(one.answer) for one in seen if one.path.endswith("/decisions")]
    assert decisions == [decisions[0]] * 2
    assert json.loads(found)["arm"] == decisions[0]["arm"]
    assert [one.path.rpartition("/")[2] for one in seen] == ["menu", *["decisions"] * 2, *["feedback"] * 2]


def in_node(address: str) -> str:
    """Run the example in Node.js, and return what it prints."""
    command = ["node", str(EXAMPLE)]
    run = subprocess.run(
        command, env={**os.environ, "WAKEFUL": address}, capture_output=True, text=True, timeout=240, check=True
    )
    return run.stdout


def in_browser(address: str) -> str:
    """Run the example in a page of the service, and return what it prints."""
    script = EXAMPLE.read_text(encoding="utf-8").replace(ADDRESS, address)
    wrapped = f"new Promise(done => {{ const console = {{ log: done }};\n{script}\n}})"
    with browser.running(pages.binary()) as running:
        return str(running.open(f"{address}/health", 800).evaluate(wrapped))


def test_the_example_runs_in_a_browser_too(service: Served) -> None:
    with proxied(service.port, lambda passed: passed) as address:
        found = json.loads(in_browser(address))
    assert found["feedback"] == "counted"


def test_the_example_is_short() -> None:
    lines = [line for line in EXAMPLE.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) <= 25
