"""The example of an arena runs, and its leaderboards say what its simulated visitors think."""

import math
import random
from pathlib import Path

import pytest

import arena as example
import wakeful as wk


def test_the_arena_finds_the_strengths_and_writes_its_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arena = example.main(tmp_path)
    assert "Learned 500 duels" in capsys.readouterr().out
    pages = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.html")}
    assert set(pages) == {"leaderboard.html", "leaderboard-code.html", "leaderboard-prose.html"}
    assert all("fjord" in page and "retired" in page for page in pages.values())
    for place, task in enumerate(example.TASKS):
        ranking = arena.ranking(group=task, level=0.999)
        assert ranking[0].arm == "fjord"
        truth = {name: strengths[place] for name, strengths in example.STRENGTHS.items()}
        mean = sum(truth.values()) / len(truth)
        assert all(rank.low < truth[rank.arm] - mean < rank.high for rank in ranking)
    overall = arena.ranking(level=0.999)
    assert overall.side_effect is not None
    assert overall.tie_rate is not None
    assert overall.side_effect.low < example.LEFT_BONUS < overall.side_effect.high
    assert overall.tie_rate.low < example.TIES / (2 + example.TIES) < overall.tie_rate.high
    assert [rank.arm for rank in overall if rank.retired] == ["ember"]
    again = wk.DuelingBandit.load(tmp_path / "arena.wakeful")
    assert list(again.ranking()) == list(arena.ranking())


def test_visitors_vote_by_the_strengths() -> None:
    rng = random.Random(1)
    votes = [example.vote(rng, "atlas", "ember", "code") for _ in range(4000)]
    won, lost = votes.count("left"), votes.count("right")
    assert math.log(won / lost) == pytest.approx(0.9 + 0.8 + example.LEFT_BONUS, abs=0.25)
    assert votes.count("tie") / math.sqrt(won * lost) == pytest.approx(example.TIES, rel=0.2)
