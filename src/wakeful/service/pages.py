"""The files of the web page: read once from the package, so that no path of a request ever reaches a disk."""

from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type
from typing import NamedTuple

from wakeful.service.answers import PAGE_POLICY, SECURITY, Content, Headers
from wakeful.service.refusals import Refused


class File(NamedTuple):
    """A file of the page."""

    body: bytes
    headers: Headers
    etag: bytes


class Pages:
    """Files by name."""

    def __init__(self, found: Mapping[str, bytes]) -> None:
        self._files = {name: _file(name, body) for name, body in found.items()}

    @classmethod
    def of_package(cls) -> "Pages":
        """Return the page that comes with the package."""
        folder = files("wakeful.service").joinpath("page")
        names = [item for item in folder.iterdir() if item.is_file()] if folder.is_dir() else []
        return cls({item.name: item.read_bytes() for item in names if not item.name.endswith((".py", ".pyc"))})

    def answer(self, name: str, known: bytes) -> tuple[int, Content]:
        """Return a file, or only that it has not changed if `known`, from `If-None-Match`, says which one it is."""
        file = self._files.get(name)
        if file is None:
            raise Refused("not_found", "no page is here", "path")
        tags = [tag.strip().removeprefix(b"W/") for tag in known.split(b",")]
        if file.etag in tags or b"*" in tags:
            return 304, Content(b"", file.headers)
        return 200, Content(file.body, file.headers)


def _file(name: str, body: bytes) -> File:
    """Return a file with its headers."""
    kind = guess_type(name)[0] or "application/octet-stream"
    kind = "text/javascript" if name.endswith(".js") else kind
    media = f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
    etag = b'"' + sha256(body).hexdigest()[:32].encode() + b'"'
    about = ((b"content-type", media.encode()), (b"cache-control", b"no-cache"), (b"etag", etag))
    return File(body, (*about, PAGE_POLICY, *SECURITY), etag)
