"""Progress of long work, on a terminal and elsewhere."""

import io

import pytest

from wakeful.lab import progress
from wakeful.lab.progress import Bars, Lines, bar


class Bar:
    """Enough of a progress bar."""

    def __init__(self) -> None:
        self.n, self.total, self.shown = 0.0, 1.0, ""

    def reset(self, total: float) -> None:
        self.n, self.total = 0.0, total

    def set_description_str(self, name: str) -> None:
        self.shown = name

    def update(self, by: float) -> None:
        self.n += by


def test_bars_move_together_and_end_together() -> None:
    overall, current = Bar(), Bar()
    shown = Bars(overall, current)
    with shown.part("one", 30) as move:
        assert move is not None
        move(1, 2)
        assert (overall.n, current.n, current.total, current.shown) == (15.0, 1.0, 2.0, "one")
    assert overall.n == 30.0
    with shown.part("two", 10):
        pass
    assert overall.n == 40.0
    with Bars().part("three", 5) as nothing:
        assert nothing is None


def test_without_a_terminal_there_is_a_line_now_and_then() -> None:
    now, stream = iter([0.0, *range(0, 40, 4)]), io.StringIO()
    shown = Lines("wakeful reproduce", 40, stream, every=10.0, clock=lambda: next(now))
    with shown.part("one", 30) as move:
        assert move is not None
        for done in range(1, 7):
            move(done, 6)
    with shown.part("two", 10):
        pass
    assert stream.getvalue().splitlines() == [
        "wakeful reproduce:   0 % after 0 s, now one",
        "wakeful reproduce:  38 % after 12 s, now one",
        "wakeful reproduce:  75 % after 24 s, now one",
        "wakeful reproduce: 100 % after 36 s, now two",
    ]


def test_work_of_one_part_tells_nothing_if_it_is_short_and_lines_if_it_is_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with bar("wakeful simulate", quiet=False) as move:
        assert move is not None
        move(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "LINE_PERIOD", 0.0)
    with bar("wakeful simulate", quiet=False) as move:
        assert move is not None
        move(1, 2)
    assert capsys.readouterr().err.splitlines()[:2] == [
        "wakeful simulate:   0 % after 0 s",
        "wakeful simulate:  50 % after 0 s",
    ]
    with bar("wakeful simulate", quiet=True) as move:
        assert move is None
