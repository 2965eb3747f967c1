"""`import` lets a bandit of the service learn what the library learns from the same file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wakeful as wk
from service_logs import fill
from wakeful import cli
from wakeful.service import import_log
from wakeful.service.engine import Engine
from wakeful.service.export import export
from wakeful.service.import_log import ImportStoppedError, import_rows, make_for, rows_of_file
from wakeful.service.stores import open_store
from wakeful.service.verify import verify

DUELS = [("a", "b", "a", "x"), ("b", "a", "tie", ""), ("c", "a", "right", "x"), ("c", "b", "c", "")] * 10


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of fifty decisions."""
    rng, path = np.random.default_rng(1), tmp_path / "log.csv"
    rows = [f"a|b|c,{'abc'[k]},0.25,{x:.3f}" for k, x in zip(rng.integers(0, 3, 50), rng.random(50), strict=True)]
    path.write_text("awake,arm,probability,loss\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def duels(tmp_path: Path) -> Path:
    """Return results of forty duels."""
    path = tmp_path / "duels.csv"
    path.write_text("left,right,winner,group\n" + "\n".join(map(",".join, DUELS)) + "\n")
    return path


def check(url: str) -> None:
    """Check that the logs of a store are right."""
    store = open_store(url, reads_only=True)
    assert not [result for result in verify(store) if result.wrong]
    store.close()


def test_a_bandit_learns_what_the_library_learns(url: str, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["import", "shop", str(log), "--db", url, "--create", "--policy", "SleepingUCB", "--quiet"]) == 0
    assert "shop: 50 rows imported" in capsys.readouterr().out
    engine = Engine(open_store(url))
    served = engine.ledgers["shop"].bandit
    library = wk.Bandit(wk.SleepingUCB(), arms=["a", "b", "c"], seed=0)
    library.learn(wk.Log.read(log))
    assert (served.probabilities() == library.probabilities()).all()
    assert served.report().loss == library.report().loss
    engine.close()
    check(url)


def test_an_arena_learns_what_the_library_learns(url: str, duels: Path) -> None:
    assert cli.main(["import", "arena", str(duels), "--db", url, "--create", "--policy", "uniform-pairs"]) == 0
    engine = Engine(open_store(url))
    served = engine.ledgers["arena"].bandit
    library = wk.DuelingBandit(wk.UniformPairs(), arms=["a", "b", "c"], seed=0)
    library.learn(duels)
    assert (served.win_matrix() == library.win_matrix()).all()
    assert served.groups == ("x",)
    engine.close()
    check(url)


def test_what_is_exported_can_be_imported(tmp_path: Path) -> None:
    url, other = str(tmp_path / "wakeful.db"), str(tmp_path / "other.db")
    engine = fill(url)
    export(engine.store, "shop", tmp_path / "shop.parquet")
    rows = export(engine.store, "arena", tmp_path / "arena.parquet").rows
    losses = engine.ledgers["shop"].bandit.report().loss
    engine.close()
    for name, policy in (("shop", "SIExp3"), ("arena", "UniformPairs")):
        path = str(tmp_path / f"{name}.parquet")
        assert cli.main(["import", name, path, "--db", other, "--create", "--policy", policy, "--quiet"]) == 0
    copy = Engine(open_store(other))
    assert copy.ledgers["shop"].bandit.report().loss == pytest.approx(losses)
    assert copy.ledgers["arena"].head == 1 + rows
    copy.close()


def test_a_batch_that_is_refused_says_where_to_go_on(url: str, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_log, "RECORDS_AT_ONCE", 20)
    engine = Engine(open_store(url))
    rows = rows_of_file(log, None)
    make_for(engine, "shop", rows, {"policy": "SIExp3", "parameters": {}})

    def with_a_wrong_one() -> Any:
        for n, record in enumerate(rows.records(), 1):
            if n == 47:
                record.awake = ["a", "nobody"]
            yield record

    with pytest.raises(ImportStoppedError, match=r"rows 1 to 40 are imported: go on with --start 41"):
        import_rows(engine, "shop", rows._replace(records=with_a_wrong_one), 1)
    assert engine.ledgers["shop"].head == 41
    told: list[tuple[int, int]] = []
    assert import_rows(engine, "shop", rows, 41, lambda done, total: told.append((done, total))) == 10
    assert told == [(50, 50)]
    assert engine.ledgers["shop"].head == 51
    engine.close()
    check(url)


def test_an_interrupt_says_where_to_go_on(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_log, "RECORDS_AT_ONCE", 20)
    engine = Engine(open_store(str(tmp_path / "wakeful.db")))
    rows = rows_of_file(log, None)
    make_for(engine, "shop", rows, None)

    def stop(done: int, _: int) -> None:
        if done == 40:
            raise KeyboardInterrupt

    with pytest.raises(ImportStoppedError, match=r"interrupted; rows 1 to 40 are imported: go on with --start 41"):
        import_rows(engine, "shop", rows, 1, stop)
    engine.close()


def test_wrong_use_changes_nothing(tmp_path: Path, log: Path, duels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = str(tmp_path / "wakeful.db")
    base = ["import", "shop", str(log), "--db", url]
    assert cli.main(base) == 1  # no such database
    assert not Path(url).exists()
    assert cli.main([*base, "--policy", "SIExp3"]) == 2
    assert cli.main([*base, "--create", "--start", "0"]) == 2
    assert cli.main([*base, "--create", "--policy", "uniform-pairs", "--quiet"]) == 2  # no policy for decisions
    assert cli.main([*base, "--create", "--policy", "uniform", "--quiet"]) == 0
    assert cli.main([*base, "--create", "--quiet"]) == 2  # it is there
    assert cli.main(["import", "shop", str(duels), "--db", url, "--quiet"]) == 2  # no decisions
    unknown = tmp_path / "unknown.csv"
    unknown.write_text(log.read_text().replace("a|b|c", "a|b|c|d"))
    assert cli.main(["import", "shop", str(unknown), "--db", url, "--quiet"]) == 2
    assert cli.main(["import", "shap", str(log), "--db", url, "--quiet"]) == 2
    assert "--create makes it" in capsys.readouterr().err
    engine = Engine(open_store(url))
    assert {name: ledger.head for name, ledger in engine.ledgers.items()} == {"shop": 51}
    engine.close()


@pytest.mark.parametrize(
    ("name", "arm", "sentence"),
    [
        ("a/b", "a", "NAME must be text without slashes, got 'a/b'"),
        ("..", "a", "NAME must be other than '.' and '..', got '..'"),
        ("", "a", "NAME must be text of 1 to 200 characters, got ''"),
        ("a\nb", "a", "NAME must be text without control characters, got 'a\\nb'"),
        ("shop", "a\tb", "arms must be text without control characters, got 'a\\tb'"),
        ("shop", "a" * 201, "arms[0] must be text of 1 to 200 characters, got 'aaa"),
    ],
)
def test_a_name_that_could_not_be_served_is_refused(
    name: str, arm: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, path = str(tmp_path / "wakeful.db"), tmp_path / "log.csv"
    path.write_text(f"awake,arm,probability,loss\n{arm}|b,b,0.5,0.25\n")
    options = ["--db", url, "--create", "--policy", "uniform"]
    assert cli.main(["import", name, str(path), *options]) == 2
    assert sentence in capsys.readouterr().err
    store = open_store(url)
    assert store.rows() == []
    store.close()
