"""What `export` writes is what the service decided and learned, and is read by logs, evaluations and arenas."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from service_logs import ARMS, events_of, fill
from wakeful import cli
from wakeful.service.engine import Engine
from wakeful.service.events import Answered, Decided, Expired
from wakeful.service.export import export
from wakeful.service.messages import NewBandit, NewRecord
from wakeful.service.requests import Create, Record
from wakeful.service.stores import open_store

ENDINGS = [".csv", ".jsonl.gz", ".parquet"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_log_has_every_decision_with_feedback(url: str, tmp_path: Path, ending: str) -> None:
    engine = fill(url)
    path = tmp_path / f"shop{ending}"
    done = export(engine.store, "shop", path)
    ledger, found = engine.ledgers["shop"], events_of(engine.store, "shop")
    ended: dict[int, Any] = {e.decision: e for e in found.values() if isinstance(e, Answered | Expired)}
    made = {n: e for n, e in found.items() if isinstance(e, Decided) and n in ended}
    log = wk.Log.read(path)
    assert (len(log), done.rows) == (1 + len(made), 1 + len(made))  # one is a decision of others
    assert (done.pending, done.events) == (ledger.pending, ledger.head)
    frame = log.to_frame().iloc[1:]
    decisions: list[Any] = [ledger.decision_of(event) for event in made.values()]
    assert frame["arm"].tolist() == [decision.arm for decision in decisions]
    assert frame["awake"].map(list).tolist() == [sorted(decision.awake) for decision in decisions]
    assert frame["probability"].tolist() == [decision.probability for decision in decisions]
    assert frame["loss"].tolist() == [ended[n].value for n in made]
    assert frame["time"].astype(float).tolist() == [event.time for event in made.values()]
    assert frame["id"].tolist() == [event.id or f"d{n}" for n, event in made.items()]
    defaults = [str(value) == "True" for value in frame["expired"]]
    assert defaults == [isinstance(ended[n], Expired) for n in made]
    assert any(defaults)
    engine.close()


@pytest.mark.parametrize("ending", ENDINGS)
def test_results_of_duels_teach_an_arena_the_same_wins(url: str, tmp_path: Path, ending: str) -> None:
    engine = fill(url)
    path = tmp_path / f"arena{ending}"
    done = export(engine.store, "arena", path)
    served = engine.ledgers["arena"].bandit
    arena = wk.DuelingBandit(wk.UniformPairs(), served.arms, seed=0)
    assert arena.learn(path).duels == done.rows
    apart = ~np.eye(len(served.arms), dtype=bool)
    assert (arena.win_matrix() == served.win_matrix())[apart].all()
    assert done.alone == served.win_matrix().trace() > 0
    assert set(arena.groups) == set(served.groups) == {"given", "asked", "hot", "cold"}
    assert done.expired > 0
    engine.close()


def test_decisions_of_others_without_a_probability_are_counted(tmp_path: Path) -> None:
    url, path = str(tmp_path / "wakeful.db"), tmp_path / "shop.csv"
    engine = Engine(open_store(url))
    record = NewRecord(arm="tea", awake=ARMS, loss=0.25)
    engine.run([Create("shop", NewBandit(arms=ARMS, policy="SleepingUCB")), Record("shop", [record] * 3)])
    assert export(engine.store, "shop", path).unweighted == 3
    assert path.read_text() == "awake,arm,probability,loss,time,id,expired\n"
    engine.close()


def test_the_command_writes_what_evaluate_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url, path = str(tmp_path / "wakeful.db"), str(tmp_path / "shop.csv")
    engine = fill(url)
    assert cli.main(["export", "shop", path, "--db", url]) == 0  # while the service runs
    engine.close()
    shown = capsys.readouterr().out
    assert shown.startswith(f"{path}: ")
    assert "wait for feedback" in shown
    assert cli.main(["evaluate", path, "--policy", "uniform", "--quiet"]) == 0
    assert "uniform" in capsys.readouterr().out
    for wrong in (["shap", path], ["shop", str(tmp_path / "shop.txt")], ["shop", str(tmp_path / "no" / "shop.csv")]):
        assert cli.main(["export", *wrong, "--db", url]) == 2
    assert capsys.readouterr().err.count("\n") == 3


@pytest.mark.parametrize("ending", ENDINGS)
def test_decisions_without_feedback_are_written_if_they_are_asked_for(url: str, tmp_path: Path, ending: str) -> None:
    engine = fill(url)
    path, shorter = tmp_path / f"all{ending}", tmp_path / f"some{ending}"
    done, without = export(engine.store, "shop", path, pending=True), export(engine.store, "shop", shorter)
    assert done.open == without.pending + without.expired > 0
    assert (done.rows, done.pending, done.expired) == (without.rows + done.open, 0, 0)
    assert f"{done.open} of them without feedback" in str(done)
    log = wk.Log.read(path, on_error="skip")
    assert log.skipped.rows == done.open
    assert log.to_frame()["id"].tolist() == wk.Log.read(shorter).to_frame()["id"].tolist()
    with pytest.raises(ValueError, match="loss must be"):
        wk.Log.read(path)
    duels = export(engine.store, "arena", tmp_path / f"arena{ending}", pending=True)
    assert duels.open > 0
    engine.close()


def test_the_command_writes_decisions_without_feedback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    cli.main(["export", "shop", str(tmp_path / "log.csv"), "--db", url, "--pending"])
    assert "of them without feedback" in capsys.readouterr().out
