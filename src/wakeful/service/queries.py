"""Queries: what may stand after the question mark of a path, as types."""

from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

import msgspec
from msgspec import UNSET, Meta, UnsetType

from wakeful.inputs import must_be
from wakeful.service.messages import Body, Name, Names
from wakeful.service.refusals import Refused
from wakeful.service.sentences import refused_value

MOST_EVENTS = 10_000  # of a log in one answer
MOST_PARAMETERS = 4_000

Level = Annotated[float, Meta(gt=0, lt=1)]
EventNumber = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class NoQuery(Body):
    """Nothing."""


class LevelQuery(Body):
    """The level of intervals."""

    level: Level = 0.95


class RankingQuery(Body):
    """The scale of strengths, the level of intervals, and the group of duels; all duels without one."""

    scale: Literal["log", "elo", "probability"] = "elo"
    level: Level = 0.95
    group: Name | UnsetType = UNSET


class AwakeQuery(Body):
    """The arms that are awake, one `awake=` each; without any, all that are not retired."""

    awake: Names | UnsetType = UNSET


class LogQuery(Body):
    """Which events: those after a number, at most so many."""

    after: EventNumber = 0
    limit: Annotated[int, Meta(ge=1, le=MOST_EVENTS)] = 1_000


class DeleteQuery(Body):
    """The number of the last event: whoever knows it has read the whole log."""

    events: EventNumber


class QueryDecoder:
    """Decodes the queries of one type."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self._many = {name for name, is_many in of_query(kind) if is_many}

    def __call__(self, query: bytes) -> Any:
        """Return what a query says."""
        values: dict[str, Any] = {}
        for name, value in self._pairs(query):
            if name in self._many:
                values.setdefault(name, []).append(value)
            elif name in values:
                raise Refused("invalid", must_be(name, "given once", value), name)
            else:
                values[name] = value
        try:
            return msgspec.convert(values, self.kind, strict=False)
        except msgspec.ValidationError as problem:
            raise refused_value(self.kind, values, problem) from None

    def _pairs(self, query: bytes) -> list[tuple[str, str]]:
        """Return names and values."""
        if not query:
            return []
        try:
            return parse_qsl(
                query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS
            )
        except ValueError:  # UnicodeDecodeError among them
            raise Refused(
                "bad_request", must_be("query", "names and values in UTF-8", query.decode("latin-1"))
            ) from None


def of_query(kind: Any) -> list[tuple[str, bool]]:
    """Return the names in a query, and whether each may come several times."""
    return [(field.encode_name, "list" in str(field.type)) for field in msgspec.structs.fields(kind)]
