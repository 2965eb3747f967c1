"""A decision counts whole or not at all: where it is refused, and where an interrupt comes at any moment."""

import ctypes
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import broken_duel_policies
import broken_policies
import wakeful as wk
from invalid_policy import Invalid
from wakeful.bandits.random_stream import DRAWN_AT_ONCE, Stream


def stands(learner: Any) -> str:
    """Where the random stream of a bandit stands."""
    return json.dumps(learner._stream.state)


LEARNERS: list[Callable[[], Any]] = [
    lambda: wk.Bandit(wk.SIExp3(), 3, seed=1),
    lambda: wk.DuelingBandit(wk.RelativeUCB(), 3, seed=1),
]
REFUSED: list[Callable[[], Any]] = [
    lambda: wk.Bandit(Invalid(), 3, seed=1),
    lambda: wk.Bandit(broken_policies.Faulty(broken_policies.TOO_MUCH), 3, seed=1),
    lambda: wk.DuelingBandit(broken_duel_policies.Negative(), 3, seed=1),
]


@pytest.mark.parametrize("make", REFUSED)
@pytest.mark.parametrize("drawn", [0, 5, DRAWN_AT_ONCE - 1, DRAWN_AT_ONCE])
def test_a_refused_choice_moves_neither_the_rounds_nor_the_stream(make: Callable[[], Any], drawn: int) -> None:
    learner = make()
    for _ in range(drawn):
        learner._stream.draw()
    before, counts = stands(learner), [array.tobytes() for array in learner.state]
    for _ in range(3):
        with pytest.raises(ValueError, match="must be non-negative"):
            learner.choose()
        assert stands(learner) == before
    assert learner.rounds == 0
    assert [array.tobytes() for array in learner.state] == counts


def test_numbers_that_are_put_back_come_again() -> None:
    for before in (0, 1, DRAWN_AT_ONCE - 2, DRAWN_AT_ONCE - 1, DRAWN_AT_ONCE, DRAWN_AT_ONCE + 1):
        stream, twin = Stream(3), Stream(3)
        for one in (stream, twin):
            for _ in range(before):
                one.draw()
        stream.put_back(*(stream.draw() for _ in range(4)))
        assert stream.state == twin.state
        ahead = [stream.draw() for _ in range(DRAWN_AT_ONCE + 7)]
        assert ahead == [twin.draw() for _ in range(DRAWN_AT_ONCE + 7)]
        assert stream.state == twin.state


def interrupted(step: Callable[..., Any], before: bool) -> Callable[..., Any]:
    """Return a step that is interrupted just before it begins, or just after it ended."""

    def cut(*arguments: Any) -> Any:
        if not before:
            step(*arguments)
        raise KeyboardInterrupt

    return cut


@pytest.mark.parametrize("make", LEARNERS)
def test_an_interrupt_right_beside_compiled_code_leaves_rounds_and_state_together(make: Callable[[], Any]) -> None:
    for before in (True, False):
        learner, twin = make(), make()
        for one in (learner, twin):
            one.choose()
        whole = learner._choose
        learner._choose = interrupted(whole, before)
        with pytest.raises(KeyboardInterrupt):
            learner.choose()
        learner._choose = whole
        if not before:
            twin.choose()
        assert learner.rounds == learner.state.clock[0] == twin.rounds
        assert stands(learner) == stands(twin)
        assert learner.choose() == twin.choose()


@pytest.mark.parametrize("make", LEARNERS)
def test_interrupts_at_any_moment_leave_rounds_and_state_together(make: Callable[[], Any]) -> None:
    learner, thread = make(), threading.get_ident()
    learner.choose()
    pauses, missing = np.random.default_rng(2).uniform(2e-5, 3e-4, 150), []
    raising = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def interrupt(pause: float) -> None:
        time.sleep(pause)
        raising(ctypes.c_ulong(thread), ctypes.py_object(InterruptedError))

    for pause in pauses:
        other = threading.Thread(target=interrupt, args=(pause,))
        try:
            other.start()
            while True:
                learner.choose()
        except InterruptedError:
            other.join()
        missing.append(int(learner.state.clock[0]) - learner.rounds)
    assert missing == [0] * len(missing)
