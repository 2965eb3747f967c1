"""Databases of every version of the tables open, verify and fold to what they did; newer ones are refused."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from service_logs import expected_of
from wakeful.service import migrations
from wakeful.service.engine import Engine
from wakeful.service.messages import NewDecision
from wakeful.service.requests import Decide
from wakeful.service.store import Store, StoreError
from wakeful.service.stores import open_store
from wakeful.service.turn import versions
from wakeful.service.verify import verify

DATA = Path(__file__).parents[1] / "data" / "service"
KEPT = sorted(DATA.glob("version-*.db"))
MIGRATED = {"sqlite": {2: ["ALTER TABLE bandit ADD COLUMN note TEXT", "UPDATE bandit SET note = 'new'"]}}
MIGRATED["postgresql"] = MIGRATED["sqlite"]
BROKEN: dict[str, dict[int, list[str]]] = {
    name: {2: [*steps[2], "UPDATE nothing SET x = 1"]} for name, steps in MIGRATED.items()
}


def test_there_is_a_small_database_of_every_version() -> None:
    assert [path.stem for path in KEPT] == [f"version-{n}" for n in range(1, migrations.SCHEMA + 1)]
    assert all(path.stat().st_size < 100_000 for path in KEPT)


@pytest.fixture(params=KEPT, ids=lambda path: path.stem)
def kept(request: pytest.FixtureRequest) -> Path:
    """Return a database that is kept."""
    path: Path = request.param
    return path


def restored(url: str, kept: Path) -> None:
    """Put a database that is kept where a URL says: as a copy of the file, or row by row."""
    if not url.startswith("postgresql"):
        shutil.copy(kept, url.removeprefix("sqlite:///"))
        return
    source, store = sqlite3.connect(kept), open_store(url)
    with store.transaction(writes=True):
        for table, skipped in (("bandit", 1), ("event", 0), ("snapshot", 0)):
            rows = source.execute(f"SELECT * FROM {table}")
            columns = [column[0] for column in rows.description][skipped:]
            into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            store.execute_many(into, [row[skipped:] for row in rows])
    source.close()
    store.close()


def test_a_kept_database_opens_verifies_and_folds_to_what_it_did(url: str, kept: Path) -> None:
    expected = json.loads(kept.with_suffix(".json").read_text())
    restored(url, kept)
    store = open_store(url, reads_only=True)
    for result in verify(store):
        assert result.wrong is None, result
        assert result.is_exact == (expected["versions"] == versions())
    store.close()
    engine = Engine(open_store(url))
    found = expected_of(engine)
    for name, bandit in expected["bandits"].items():
        numbers, digest = bandit.pop("numbers"), bandit.pop("digest")
        assert found["bandits"][name].pop("numbers") == pytest.approx(numbers, abs=1e-9)
        assert found["bandits"][name].pop("digest") == digest or expected["versions"] != versions()
    assert found["bandits"] == expected["bandits"]
    assert engine.run([Decide("shop", NewDecision()), Decide("arena", NewDecision())])[0][1]
    engine.close()


def upgraded(url: str, monkeypatch: pytest.MonkeyPatch, steps: Any, use: Callable[[], Store]) -> Any:
    """Return what a later version of Wakeful has of a store."""
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "SCHEMA", 2)
        patch.setattr(migrations, "MIGRATIONS", steps)
        store = use()
        found = store.execute("SELECT name, note FROM bandit ORDER BY name")
        store.close()
        return found


def test_an_older_database_is_brought_up_to_date_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    restored(url, KEPT[0])
    for _ in range(2):
        found = upgraded(url, monkeypatch, MIGRATED, lambda: open_store(url))
        assert [tuple(row) for row in found] == [("arena", "new"), ("shop", "new")]
    with pytest.raises(ValueError, match=r"version 1 or before, got 'version 2': a newer Wakeful"):
        open_store(url)


def test_a_migration_that_fails_changes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    restored(url, KEPT[0])
    with pytest.raises(StoreError):
        upgraded(url, monkeypatch, BROKEN, lambda: open_store(url))
    store = open_store(url, reads_only=True)
    assert not [result for result in verify(store) if result.wrong]
    with pytest.raises(StoreError):
        store.execute("SELECT note FROM bandit")
    store.close()


def test_what_is_only_read_is_not_brought_up_to_date(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    restored(url, KEPT[0])
    with pytest.raises(ValueError, match="wakeful serve brings it up to date"):
        upgraded(url, monkeypatch, MIGRATED, lambda: open_store(url, reads_only=True))


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    for reads_only in (True, False):
        with pytest.raises(ValueError, match="must be a database of Wakeful"):
            open_store(str(path), reads_only=reads_only)


def test_a_database_of_something_else_is_refused(new_postgres: Callable[[], str]) -> None:
    url = new_postgres()
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("CREATE TABLE event (x int)")
    for reads_only in (True, False):
        with pytest.raises(ValueError, match="must be a database of Wakeful"):
            open_store(url, reads_only=reads_only)


def test_what_a_store_says_is_one_line(new_postgres: Callable[[], str]) -> None:
    store = open_store(new_postgres())
    with pytest.raises(StoreError) as caught:
        store.execute("SELECT nothing FROM bandit")
    store.close()
    assert str(caught.value).startswith('column "nothing" does not exist LINE 1: SELECT nothing')
