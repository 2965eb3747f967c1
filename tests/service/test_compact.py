"""Old events move into archives: nothing is lost, feedback goes on, and the whole log can still be verified."""

import random
from pathlib import Path
from typing import Any

import pytest

import wakeful as wk
from service_logs import Clock, events_of, feedback, fill
from wakeful import cli
from wakeful.service import compact as compact_module
from wakeful.service.archive import Archive, open_archive, write_archive
from wakeful.service.compact import compact
from wakeful.service.engine import Engine
from wakeful.service.events import AnyEvent
from wakeful.service.export import export
from wakeful.service.messages import Feedback, NewDecision
from wakeful.service.requests import Decide, Look, Report
from wakeful.service.store import StoreError
from wakeful.service.stores import open_store
from wakeful.service.verify import Verified, verify

TIMES = (1015.0, 1030.0, 1e9)  # in the middle of what `fill` does, and after it


def verified(url: str, archives: list[Archive]) -> list[Verified]:
    """Return what is found in a store, with and without archives."""
    store = open_store(url, reads_only=True)
    found = [*verify(store), *verify(store, None, archives)]
    store.close()
    return found


def compacted(url: str, folder: Path, *times: float) -> list[Archive]:
    """Compact the logs of a store; return the archives."""
    folder.mkdir(exist_ok=True)
    store = open_store(url)
    try:
        for time in times:
            list(compact(store, time, folder))
    finally:
        store.close()
    return [open_archive(path) for path in sorted(folder.iterdir())]


def states(engine: Engine) -> dict[str, bytes]:
    return {name: ledger.to_bytes() for name, ledger in engine.ledgers.items()}


@pytest.mark.parametrize("times", [TIMES[:1], TIMES[:2], TIMES], ids=["once", "twice", "all"])
def test_a_compacted_log_goes_on_as_it_would_have(url: str, tmp_path: Path, times: tuple[float, ...]) -> None:
    engine = fill(url)
    whole = {name: events_of(engine.store, name) for name in ("shop", "arena")}
    before = states(engine)
    engine.close()
    archives = compacted(url, tmp_path / "archive", *times)
    assert len(archives) == 2 * len(times)
    clock = Clock()
    clock.now = 2000.0
    again = Engine(open_store(url), clock=clock)
    assert states(again) == before
    waiting = _waiting(whole)
    for name, number in waiting:  # what waited can still be told, whether its row is before the beginning or not
        status = again.run([Report(name, f"d{number}", feedback(name, random.Random(number)))])[0].status
        assert status == ("late" if whole[name][number].deadline else "counted")  # type: ignore[union-attr]
    made = again.run([Decide("shop", NewDecision()), Decide("arena", NewDecision())])
    assert [new for _, new in made] == [True, True]
    again.close()
    for result in verified(url, archives):
        assert result.wrong is None, result
    firsts = {(result.name, result.first > 1) for result in verified(url, archives)}
    assert len(firsts) == 4


def _waiting(whole: dict[str, dict[int, AnyEvent]]) -> list[tuple[str, int]]:
    """Return the decisions that wait for feedback."""
    found = []
    for name, events in whole.items():
        ended = {getattr(event, "decision", 0) for event in events.values()}
        found += [(name, n) for n, event in events.items() if hasattr(event, "deadline") and n not in ended]
    return found


def test_feedback_about_what_was_moved_is_not_found_and_says_why(url: str, tmp_path: Path) -> None:
    engine = fill(url)
    number = min(n for n, event in events_of(engine.store, "shop").items() if hasattr(event, "deadline"))
    engine.close()
    compacted(url, tmp_path / "archive", TIMES[1])
    again = Engine(open_store(url))
    refused = again.run([Report("shop", f"d{number}", Feedback(loss=0.5))])[0]
    assert (refused.status, refused.field) == (404, "id")
    assert "archive" in refused.message
    looked = again.run([Look("shop", lambda _, reader: reader.decision(f"d{number}"))])[0]
    assert looked.message == refused.message
    own = again.run([Report("shop", "mine 0", Feedback(loss=0.5))])[0]
    assert own.status == 404
    assert "archive" in own.message
    nothing = again.run([Report("shop", "d99999", Feedback(loss=0.5))])[0]
    assert nothing.message.startswith("id must be that of a decision of this bandit")
    again.close()


def test_an_export_with_archives_is_that_of_the_whole_log(url: str, tmp_path: Path) -> None:
    engine = fill(url)
    for name in ("shop", "arena"):
        export(engine.store, name, tmp_path / f"{name}.csv")
    engine.close()
    archives = compacted(url, tmp_path / "archive", *TIMES[:2])
    store = open_store(url, reads_only=True)
    for name in ("shop", "arena"):
        whole, part = tmp_path / f"{name}-whole.csv", tmp_path / f"{name}-part.csv"
        assert export(store, name, whole, archives).archived == 0
        assert whole.read_text() == (tmp_path / f"{name}.csv").read_text()
        assert export(store, name, part).archived > 0
        assert len(part.read_text()) < len(whole.read_text())
    store.close()


class Crash(BaseException):
    """Stands for a process that dies."""


@pytest.mark.parametrize("place", ["write_archive", "_check_archive", "_cut"])
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_point_loses_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, after: bool
) -> None:
    engine = fill(url)
    before, whole = states(engine), events_of(engine.store, "shop")
    engine.close()
    function: Any = getattr(compact_module, place)

    def dies(*arguments: Any) -> None:
        if after:
            function(*arguments)
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(compact_module, place, dies)
        with pytest.raises(Crash):
            compacted(url, tmp_path / "archive", TIMES[0])
    store = open_store(url)
    assert events_of(store, "shop") == whole
    store.close()
    archives = compacted(url, tmp_path / "archive", *TIMES[:2])  # another range than what is left of the first try
    again = Engine(open_store(url))
    assert states(again) == before
    again.close()
    assert not [result for result in verified(url, archives) if result.wrong]


def test_an_archive_that_cannot_be_read_back_deletes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()

    def loses(path: Path, bandit: str, first: int, last: int, entries: Any) -> None:
        write_archive(path, bandit, first, last, list(entries)[:-1])

    monkeypatch.setattr(compact_module, "write_archive", loses)
    with pytest.raises(StoreError, match="read back"):
        compacted(url, tmp_path / "archive", TIMES[0])
    assert {result.first for result in verified(url, [])} == {1}


def test_a_damaged_log_is_not_compacted(tmp_path: Path) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    store = open_store(url)
    store.execute("UPDATE event SET hash = (SELECT hash FROM event WHERE number = 9) WHERE number = 4")
    store.close()
    with pytest.raises(StoreError, match="event 4 of 'arena' is wrong"):
        compacted(url, tmp_path / "archive", TIMES[0])


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM snapshot WHERE number < 60", "snapshot is missing"),
        ("UPDATE snapshot SET hash = (SELECT hash FROM bandit LIMIT 1)", "snapshot"),
        ("DELETE FROM event WHERE number = (SELECT MIN(number) FROM event)", "waited for feedback"),
        ("UPDATE event SET own_id = 'other' WHERE number = (SELECT MIN(number) FROM event)", "waits"),
        ("UPDATE bandit SET first = first + 1", "snapshot"),
    ],
)
def test_what_is_changed_in_a_compacted_log_is_found(tmp_path: Path, statement: str, said: str) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    archives = compacted(url, tmp_path / "archive", TIMES[0])
    store = open_store(url)
    assert store.execute("SELECT MIN(number) < (SELECT MIN(first) FROM bandit) FROM event")[0][0]  # some are kept
    store.execute(statement)
    store.close()
    found = [result.wrong.what for result in verified(url, archives)[:2] if result.wrong]
    assert any(said in what for what in found), found


def test_a_compacted_log_without_a_readable_snapshot_fails_nobody_else(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(url).close()
    compacted(url, tmp_path / "archive", TIMES[0])
    store = open_store(url)
    row = store.row("shop")
    assert row is not None
    store.execute("UPDATE snapshot SET data = ? WHERE bandit = ?", (b"cut", row.id))
    store.close()
    engine = Engine(open_store(url))
    assert "bandit 'shop' is not served: the snapshot of 'shop' at" in caplog.text
    assert engine.run([Decide("shop", NewDecision())])[0].status == 500
    assert engine.run([Decide("arena", NewDecision())])[0][1]
    assert engine.is_ready
    with pytest.raises(StoreError, match=r"the snapshot of 'shop' at .* cannot be read"):
        export(engine.store, "shop", tmp_path / "shop.csv")
    engine.close()


def test_a_kept_decision_with_another_body_is_found_with_the_archive(tmp_path: Path) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    archives = compacted(url, tmp_path / "archive", TIMES[0])
    store = open_store(url)
    rows = store.execute("SELECT bandit, number, body FROM event WHERE number < (SELECT MIN(first) FROM bandit)")
    bandit, number, body = rows[0]
    place = body.index(b"\xcb") + 3  # in the time of the decision
    changed = body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]
    store.execute("UPDATE event SET body = ? WHERE bandit = ? AND number = ?", (changed, bandit, number))
    store.close()
    wrong = [result.wrong for result in verified(url, archives)[2:] if result.wrong]
    assert [w.number for w in wrong] == [number]
    assert "archive" in wrong[0].what


def test_an_archive_that_was_changed_is_found(tmp_path: Path) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    archives = compacted(url, tmp_path / "archive", *TIMES[:2])
    data = bytearray(archives[0].path.read_bytes())
    data[len(data) // 2] ^= 1
    archives[0].path.write_bytes(data)
    assert [result.name for result in verified(url, archives) if result.wrong] == ["arena"]
    missing = [result.wrong for result in verified(url, archives[1:]) if result.wrong]
    assert [(w.number, "none of the archives" in w.what) for w in missing if w] == [(1, True)]


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url, folder, out = str(tmp_path / "wakeful.db"), tmp_path / "old", str(tmp_path / "shop.csv")
    engine = fill(url)
    assert cli.main(["backup", str(tmp_path / "copy.db"), "--db", url]) == 0  # while the service runs
    assert cli.main(["compact", "--before", "0", "--archive", str(folder), "--db", url]) == 1
    assert "open in another process" in capsys.readouterr().err
    engine.close()
    assert cli.main(["compact", "--before", "1970-01-01", "--archive", str(folder), "--db", url]) == 0
    assert "no events before" in capsys.readouterr().out
    assert cli.main(["compact", "--before", "0.5", "--archive", str(folder), "--db", url]) == 0
    files = sorted(map(str, folder.iterdir()))
    assert len(files) == 2
    assert cli.main(["verify", "--db", url, "--quiet", "--archive", *files]) == 0
    assert cli.main(["export", "shop", out, "--db", url, "--archive", *files]) == 0
    assert len(wk.Log.read(out)) > 20
    assert cli.main(["verify", "--db", str(tmp_path / "copy.db"), "--quiet"]) == 0
    assert "all is right" in capsys.readouterr().out
    assert cli.main(["compact", "--before", "soon", "--archive", str(folder), "--db", url]) == 2
    assert cli.main(["compact", "--before", "1", "--archive", str(folder), "--db", str(tmp_path / "no.db")]) == 1
    assert not (tmp_path / "no.db").exists()
    assert cli.main(["verify", "--db", url, "--archive", out]) == 2
    assert "wakeful compact wrote" in capsys.readouterr().err


def test_a_bandit_is_deleted_after_its_export(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(url).close()
    out = tmp_path / "shop.parquet"
    assert cli.main(["delete", "shop", "--export", str(tmp_path / "no" / "shop.csv"), "--db", url]) == 2
    assert cli.main(["delete", "shop", "--export", str(out), "--db", url]) == 0
    assert "shop is deleted" in capsys.readouterr().out
    assert len(wk.Log.read(out)) > 20
    assert [result.name for result in verified(url, [])] == ["arena"] * 2
    assert cli.main(["delete", "shop", "--export", str(out), "--db", url]) == 2


def test_what_is_exported_before_a_deletion_can_be_all(url: str, tmp_path: Path) -> None:
    fill(url).close()
    whole, out = tmp_path / "whole.csv", tmp_path / "shop.csv"
    assert cli.main(["export", "shop", str(whole), "--pending", "--db", url]) == 0
    files = [str(archive.path) for archive in compacted(url, tmp_path / "archive", TIMES[0])]
    options = ["--export", str(out), "--pending", "--archive", *files]
    assert cli.main(["delete", "shop", "--db", url, *options]) == 0
    assert out.read_text() == whole.read_text()
    assert [result.name for result in verified(url, [])] == ["arena"] * 2


def test_a_backup_is_whole_and_replaces_nothing(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = fill(url)
    out = tmp_path / "copy.db"
    code = cli.main(["backup", str(out), "--db", url])
    if engine.store.name != "sqlite":
        assert code == 2
        assert "pg_dump" in capsys.readouterr().err
    else:
        engine.run([Decide("shop", NewDecision())])
        assert code == 0
        assert cli.main(["verify", "--db", str(out)]) == 0
        assert [path.name for path in tmp_path.glob("copy*")] == ["copy.db"]
        copy = Engine(open_store(str(out)))
        assert copy.ledgers["shop"].head + 1 == engine.ledgers["shop"].head
        copy.close()
        assert cli.main(["backup", str(out), "--db", url]) == 2
        assert "does not exist yet" in capsys.readouterr().err
    engine.close()
