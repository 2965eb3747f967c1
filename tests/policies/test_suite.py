"""All public suites fail alike: they name the check, the reason, and how to repeat that check alone."""

from dataclasses import dataclass
from typing import Any

import pytest

import wakeful as wk
from wakeful.policies.suite import require_equal_copy, require_frozen, run_checks


@dataclass
class Open:
    size: int = 1


@dataclass(frozen=True)
class Closed:
    size: int = 1


class Endless(wk.worlds.Stochastic):
    """A world that says it has an end, and has none."""

    printable = False
    length = 3


def check_the_size(subject: Any) -> None:
    raise ValueError(f"too small, {subject.size}")


def test_a_failure_names_the_check_and_how_to_repeat_it() -> None:
    words = r"fails the check 'the size': too small, 1 \([\w.]*test_suite\.check_the_size\(box\) repeats it\)$"
    with pytest.raises(AssertionError, match=words):
        run_checks("box", Closed(), [require_nothing, check_the_size])


def require_nothing(subject: Any) -> None:
    assert subject is not None


def test_a_world_that_fails_says_how_to_repeat_the_check() -> None:
    with pytest.raises(AssertionError, match=r"\(wakeful\.worlds\.checks\.check_\w+\(world\) repeats it\)$"):
        wk.check_world(Endless(4))


def test_only_frozen_dataclasses_are_frozen() -> None:
    require_frozen("box", Closed())
    with pytest.raises(AssertionError, match=r"^a box must be a frozen dataclass$"):
        require_frozen("box", Open())
    with pytest.raises(AssertionError, match=r"^a box must be a dataclass$"):
        require_frozen("box", object())


def test_a_copy_must_be_equal() -> None:
    require_equal_copy("box", Closed(), Closed())
    with pytest.raises(AssertionError, match=r"^eval\(repr\(box\)\) must be the box, got Closed\(size=2\)$"):
        require_equal_copy("box", Closed(), Closed(2))
