"""The OpenAPI 3.1 document, made from the table of routes and the types: no route can be left out."""

import inspect
import re
from collections.abc import Iterable
from http import HTTPStatus
from importlib.metadata import version
from types import UnionType
from typing import Any, get_args

import msgspec

from wakeful.service.messages import LONGEST_SERVED_NAME, Error
from wakeful.service.names import CONTROLS
from wakeful.service.operations import Operation
from wakeful.service.refusals import STATUS

WAKEFUL_VERSION = version("wakeful")
REFERENCE = "#/components/schemas/{name}"
NAME = {"type": "string", "minLength": 1, "maxLength": LONGEST_SERVED_NAME, "pattern": f"^[^/{CONTROLS}]+$"}
ABOUT = {
    "name": "The name of the bandit.",
    "id": "The id of the decision: the client's own, or the one that the service gave it.",
    "arm": "The name of the arm, slashes as %2F.",
    "file": "The name of the file.",
}
TAGS = (("/arms", "bandits"), ("/decisions", "decisions"), ("/batch", "decisions"), ("/records", "decisions"))
ALWAYS = (
    "bad_request",
    "timeout",
    "too_large",
    "path_too_long",
    "invalid",
    "failed",
    "unavailable",
)  # codes that any operation may be refused with
WITH_TOKEN = ("unauthorized", "forbidden", "too_many")
WITH_BODY = ("unsupported_type",)


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document of these operations."""
    operations = list(operations)
    kinds = sorted({kind for op in operations for kind in _types(op)}, key=lambda kind: kind.__name__)
    _, schemas = msgspec.json.schema_components([*kinds, Error], ref_template=REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Wakeful",
            "version": WAKEFUL_VERSION,
            "description": "Decides among the options that are available right now, and learns from what happens.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {name: _tidy(schema) for name, schema in schemas.items()},
            "responses": {code: _refused(code) for code in STATUS},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Asked for if the service has tokens."}
            },
        },
    }


def _types(operation: Operation) -> list[Any]:
    """Return the types of bodies that have a name."""
    found = [operation.body, *(kind for answer in operation.answers.values() for kind in _alternatives(answer))]
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]


def _alternatives(kind: Any) -> tuple[Any, ...]:
    """Return the types of which an answer has one."""
    return get_args(kind) if isinstance(kind, UnionType) else (kind,)


def _operation(operation: Operation) -> dict[str, Any]:
    """Return what the document says of one operation."""
    summary, _, more = inspect.cleandoc(operation.run.__doc__ or "").partition("\n")
    made: dict[str, Any] = {
        "operationId": operation.run.__name__,
        "summary": summary,
        "tags": [_tag(operation.path)],
        "parameters": [*map(_in_path, re.findall(r"\{(\w+)\}", operation.path)), *_in_query(operation.query)],
        "responses": _responses(operation),
    }
    if more.strip():
        made["description"] = more.strip()
    if operation.scopes:
        made["security"] = [{"token": []}, {}]
        made["x-scopes"] = list(operation.scopes)
    if operation.body is not None:
        content = {"application/json": {"schema": _schema(operation.body)}}
        made["requestBody"] = {"required": True, "content": content}
    return made


def _tag(path: str) -> str:
    """Return under which heading a path stands."""
    if not path.startswith("/v1/bandits"):
        return "service"
    rest = path.removeprefix("/v1/bandits/{name}")
    if rest in {"", "/v1/bandits"}:
        return "bandits"
    return next((tag for start, tag in TAGS if rest.startswith(start)), "readings")


def _in_path(name: str) -> dict[str, Any]:
    """Return a name in a path."""
    schema = {**NAME, "pattern": f"^[^{CONTROLS}]+$"} if name == "arm" else NAME
    return {"name": name, "in": "path", "required": True, "schema": schema, "description": ABOUT[name]}


def _in_query(query: Any) -> list[dict[str, Any]]:
    """Return the parameters of a query."""
    if query is None:
        return []
    schema = msgspec.json.schema(query)["$defs"][query.__name__]
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": kind}
        for name, kind in schema["properties"].items()
    ]


def _responses(operation: Operation) -> dict[str, Any]:
    """Return the answers of an operation, its refusals among them."""
    made: dict[str, Any] = {}
    for status, kind in sorted(operation.answers.items()):
        made[str(status)] = {"description": HTTPStatus(status).phrase}
        if kind is not None:
            made[str(status)]["content"] = {operation.media: {"schema": _schema(kind)}}
    codes = [*ALWAYS, *(WITH_TOKEN if operation.scopes else ()), *operation.problems]
    codes += WITH_BODY if operation.body is not None else ()
    for code in sorted(codes, key=STATUS.__getitem__):
        made.setdefault(str(STATUS[code]), {"$ref": f"#/components/responses/{code}"})
    return made


def _schema(kind: Any) -> dict[str, Any]:
    """Return a type, by reference where it has a name."""
    kinds = _alternatives(kind)
    found = [
        {"$ref": REFERENCE.format(name=one.__name__)}
        if isinstance(one, type) and issubclass(one, msgspec.Struct)
        else msgspec.json.schema(one)
        for one in kinds
    ]
    return found[0] if len(found) == 1 else {"anyOf": found}


def _refused(code: str) -> dict[str, Any]:
    """Return the answer to a request that is refused with a code."""
    content = {"application/json": {"schema": {"$ref": REFERENCE.format(name="Error")}}}
    return {"description": f"{HTTPStatus(STATUS[code]).phrase}: code `{code}`", "content": content}


def _tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose description has no line breaks of the source."""
    about = schema.get("description")
    return {**schema, "description": " ".join(about.split())} if about else schema
