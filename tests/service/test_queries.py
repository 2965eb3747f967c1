"""Queries are checked like bodies: unknown, repeated and wrong values are refused."""

from typing import Any

import pytest
from msgspec import UNSET

from wakeful.service.queries import AwakeQuery, DeleteQuery, LevelQuery, LogQuery, NoQuery, QueryDecoder, RankingQuery
from wakeful.service.refusals import Refused


def test_values_are_read() -> None:
    assert QueryDecoder(LogQuery)(b"") == LogQuery(0, 1_000)
    assert QueryDecoder(LogQuery)(b"after=5&limit=10") == LogQuery(5, 10)
    assert QueryDecoder(AwakeQuery)(b"awake=a%26b&awake=null&awake=caf%C3%A9").awake == ["a&b", "null", "café"]
    assert QueryDecoder(AwakeQuery)(b"").awake is UNSET
    assert QueryDecoder(RankingQuery)(b"scale=log&group=null") == RankingQuery("log", 0.95, "null")
    assert QueryDecoder(DeleteQuery)(b"events=3").events == 3


@pytest.mark.parametrize(
    ("kind", "query", "code", "sentence"),
    [
        (NoQuery, b"x=1", "invalid", "fields must be left out, got 'x'"),
        (LogQuery, b"afer=1", "invalid", "(did you mean 'after'?)"),
        (LogQuery, b"after=1&after=2", "invalid", "after must be given once, got '2'"),
        (
            LogQuery,
            b"after=-1",
            "invalid",
            "after must be a whole number between 0 and 9,223,372,036,854,775,807, got '-1'",
        ),
        (LogQuery, b"after=1.5", "invalid", "got '1.5'"),
        (LogQuery, b"after=true", "invalid", "got 'true'"),
        (LogQuery, b"after", "invalid", "got ''"),
        (LogQuery, b"limit=0", "invalid", "limit must be a whole number between 1 and 10,000, got '0'"),
        (LogQuery, b"after=9" + b"9" * 30, "invalid", "whole number"),
        (LogQuery, b"after=%ff", "bad_request", "query must be names and values in UTF-8"),
        (LogQuery, b"after=\xff", "bad_request", "query must be names and values in UTF-8"),
        (LevelQuery, b"level=nan", "invalid", "level must be a number between 0 and 1, both excluded, got 'nan'"),
        (LevelQuery, b"level=1", "invalid", "both excluded, got '1'"),
        (LevelQuery, b"level=1e999", "invalid", "both excluded, got '1e999'"),
        (RankingQuery, b"scale=ELO", "invalid", "(did you mean 'elo'?)"),
        (AwakeQuery, b"awake=", "invalid", "awake[0] must be text of 1 to 200 characters, got ''"),
        (AwakeQuery, b"awake=a&" * 5_000, "bad_request", "query must be"),
        (
            DeleteQuery,
            b"",
            "invalid",
            "events must be a whole number between 0 and 9,223,372,036,854,775,807, got nothing",
        ),
    ],
)
def test_what_is_wrong_is_refused(kind: Any, query: bytes, code: str, sentence: str) -> None:
    with pytest.raises(Refused) as caught:
        QueryDecoder(kind)(query)
    assert caught.value.code == code
    assert sentence in caught.value.message
