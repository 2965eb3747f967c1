"""The files of the page: with their types and tags, and no others."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import httpx
import pytest

from serving import connected, error_of
from wakeful.service.pages import Pages

PACKAGE = Path(str(files("wakeful.service")))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with connected(tmp_path_factory.mktemp("store")) as found:
        yield found


def test_every_file_of_the_page_is_served(client: httpx.Client) -> None:
    names = [item.name for item in (PACKAGE / "page").iterdir() if item.is_file()]
    assert {"index.html", "docs.html", "page.js", "page.css"} <= set(names)
    for name in names:
        answer = client.get(f"/static/{name}")
        assert answer.content == (PACKAGE / "page" / name).read_bytes()
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
    assert client.get("/").content == (PACKAGE / "page" / "index.html").read_bytes()
    assert client.get("/docs").content == (PACKAGE / "page" / "docs.html").read_bytes()
    assert client.get("/").headers["content-type"] == "text/html; charset=utf-8"
    assert client.get("/static/page.js").headers["content-type"] == "text/javascript; charset=utf-8"
    assert client.get("/static/page.css").headers["content-type"] == "text/css; charset=utf-8"


def test_what_has_not_changed_is_not_sent_again(client: httpx.Client) -> None:
    tag = client.get("/").headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = client.get("/", headers={"if-none-match": known})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    assert client.get("/", headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    "path", ["..%2Fhttp.py", "..%2f..%2f..%2fetc%2fpasswd", "%2Fetc%2Fpasswd", "none.js", "page.js%00"]
)
def test_there_are_no_other_files(client: httpx.Client, path: str) -> None:
    answer = client.get(f"/static/{path}")
    assert answer.status_code in {404, 422}
    assert answer.json()["error"]["code"] in {"not_found", "invalid"}


def test_dots_in_a_path_lead_nowhere(client: httpx.Client) -> None:
    request = client.build_request("GET", "/static/x")
    request.url = request.url.copy_with(raw_path=b"/static/../http.py")
    error_of(client.send(request), 404, "not_found")


def test_unknown_kinds_of_files_are_bytes() -> None:
    status, content = Pages({"x.unknown-kind": b"1"}).answer("x.unknown-kind", b"")
    assert (status, content.body) == (200, b"1")
    assert (b"content-type", b"application/octet-stream") in content.headers
