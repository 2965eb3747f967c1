"""How often and how long a question is asked, with a clock and answers of the test's own."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from wakeful.service.client.attempts import Limits, NoReply, Pause, Question, Reply, Try, attempts
from wakeful.service.client.errors import (
    Conflict,
    Denied,
    Failed,
    Invalid,
    NotFound,
    ServiceError,
    Unavailable,
)

BUSY = b'{"error": {"code": "unavailable", "message": "try again", "field": null}}'
SILENT = NoReply("Connection refused", was_sent=False)
CUT = NoReply("cut off", was_sent=True)
FINE = Reply(200, b"7")


class Clock:
    """Seconds that pass only when somebody waits."""

    def __init__(self, most: bool = True) -> None:
        self.time, self.most = 100.0, most
        self.steps: list[Try | Pause] = []

    def run(self, question: Question[int], limits: Limits, outcomes: list[Any], seconds: float = 0.0) -> int:
        """Give these outcomes, each after so many seconds, and return the answer."""
        steps = attempts(question, limits, lambda: self.time, lambda low, high: high if self.most else low)
        left, outcome = list(outcomes), None
        try:
            while True:
                step, outcome = steps.send(outcome), None
                self.steps.append(step)
                if isinstance(step, Pause):
                    self.time += step.seconds
                else:
                    self.time += min(seconds, step.seconds)
                    outcome = left.pop(0)
        except StopIteration as end:
            assert left == []
            return int(end.value)

    def pauses(self) -> list[float]:
        return [step.seconds for step in self.steps if isinstance(step, Pause)]


def question(*, repeats: bool = True) -> Question[int]:
    return Question("POST", "/v1/x", int, b"{}", repeats)


def limits(timeout: float = 60.0, retries: int = 8) -> Limits:
    return Limits("http://service", timeout, retries)


def test_an_answer_ends_it() -> None:
    clock = Clock()
    assert clock.run(question(), limits(), [FINE]) == 7
    assert clock.steps == [Try(question(), 30.0)]


def test_pauses_grow_to_a_limit_and_are_spread() -> None:
    for most, factor in ((True, 1.0), (False, 0.5)):
        clock = Clock(most)
        assert clock.run(question(), limits(), [SILENT, CUT, Reply(502, b"<html>"), *[Reply(504, b"")] * 5, FINE]) == 7
        assert clock.pauses() == pytest.approx([factor * x for x in (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0)])


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_waited_for(status: int) -> None:
    clock = Clock()
    assert clock.run(question(), limits(), [Reply(status, BUSY, "7"), FINE]) == 7
    assert clock.pauses() == [7.0]


def test_retry_after_may_be_a_time() -> None:
    clock = Clock()
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    assert clock.run(question(), limits(), [Reply(503, BUSY, then), FINE]) == 7
    assert 15.0 < clock.pauses()[0] <= 20.0


@pytest.mark.parametrize("text", ["soon", "-3", "1e9", "", "nan", "9" * 30])
def test_retry_after_that_says_nothing_is_left_alone(text: str) -> None:
    clock = Clock()
    assert clock.run(question(), limits(), [Reply(503, BUSY, text), FINE]) == 7
    assert clock.pauses() == [0.1]


def test_what_would_come_too_late_is_not_waited_for() -> None:
    clock = Clock()
    with pytest.raises(Unavailable, match=r"^try again$") as caught:
        clock.run(question(), limits(), [Reply(503, BUSY, "60")])
    assert (caught.value.code, caught.value.status, caught.value.field) == ("unavailable", 503, None)
    assert clock.time == 100.0


def test_tries_are_counted() -> None:
    clock = Clock()
    with pytest.raises(Unavailable) as caught:
        clock.run(question(), limits(retries=2), [SILENT] * 3)
    assert str(caught.value) == "no answer from http://service after 3 tries in 0.3 seconds: Connection refused"
    assert caught.value.status == 0


def test_a_service_that_hangs_takes_no_more_than_the_whole_time() -> None:
    clock = Clock()
    with pytest.raises(Unavailable, match="after 4 tries in 9"):
        clock.run(question(), limits(timeout=10.0), [CUT] * 4, seconds=1e9)
    assert clock.time <= 110.0
    assert [step.seconds for step in clock.steps if isinstance(step, Try)][:2] == [5.0, pytest.approx(2.45)]


def test_the_last_try_may_take_all_that_is_left() -> None:
    clock = Clock()
    with pytest.raises(Unavailable, match=r"after 1 try in 10.0 seconds"):
        clock.run(question(), limits(timeout=10.0, retries=0), [CUT], seconds=1e9)


def test_what_may_not_be_repeated_is_sent_again_only_if_nothing_was_done() -> None:
    clock, once = Clock(), question(repeats=False)
    assert clock.run(once, limits(), [SILENT, Reply(429, BUSY), Reply(408, BUSY), FINE]) == 7
    assert clock.steps[0] == Try(once, 60.0)
    with pytest.raises(Unavailable, match=r"cut off; whether it was carried out is not known$"):
        clock.run(once, limits(), [CUT])
    for status in (502, 503, 504):
        with pytest.raises(Unavailable):
            clock.run(once, limits(), [Reply(status, BUSY)])


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, Invalid) for status in (400, 413, 415, 422)),
        *((status, Denied) for status in (401, 403)),
        *((status, NotFound) for status in (404, 405)),
        (409, Conflict),
        (500, Failed),
        (302, Failed),
    ],
)
def test_other_answers_are_errors_at_once(status: int, kind: type[ServiceError]) -> None:
    clock = Clock()
    body = b'{"error": {"code": "some", "message": "one sentence", "field": "awake[0]"}}'
    with pytest.raises(kind, match=r"^one sentence$") as caught:
        clock.run(question(), limits(), [Reply(status, body)])
    assert (type(caught.value), caught.value.code, caught.value.field) == (kind, "some", "awake[0]")
    with pytest.raises(kind, match=f"^the answer has status {status} and is none of the service's own$"):
        clock.run(question(), limits(), [Reply(status, b"<html>")])


def test_errors_are_also_those_of_python() -> None:
    assert issubclass(Invalid, ValueError)
    assert issubclass(NotFound, LookupError)
