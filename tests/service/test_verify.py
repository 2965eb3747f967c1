"""`verify` passes what the service wrote and finds whatever is changed afterwards, on every store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from service_logs import events_of, fill, number_of, rewrite
from wakeful import cli
from wakeful.service import audit
from wakeful.service.events import (
    Answered,
    AnyEvent,
    Created,
    Decided,
    Expired,
    Late,
)
from wakeful.service.store import Store
from wakeful.service.stores import open_store
from wakeful.service.verify import Verified, verify

Events = dict[int, AnyEvent]


def verified(url: str, name: str | None = None) -> list[Verified]:
    """Return what is found in a store."""
    store = open_store(url, reads_only=True)
    try:
        return list(verify(store, name))
    finally:
        store.close()


def wrong_in(url: str) -> tuple[int, str]:
    """Return which event of the shop is wrong and why; the arena is right."""
    found = {result.name: result.wrong for result in verified(url)}
    assert found.pop("arena") is None
    (wrong,) = found.values()
    assert wrong is not None, "nothing was found"
    return wrong.number, wrong.what


def changed(url: str, change: Callable[[Store, int], Any]) -> None:
    """Fill a store, and change something in it, given the number of the shop's row."""
    fill(url).close()
    store = open_store(url)
    with store.transaction(writes=True):
        row = store.row("shop")
        assert row is not None
        change(store, row.id)
    store.close()


def test_what_the_service_wrote_is_right_while_it_runs_and_after(url: str) -> None:
    engine = fill(url)
    kinds = {type(event) for name in ("shop", "arena") for event in events_of(engine.store, name).values()}
    assert kinds == set(get_args(AnyEvent))
    heads = {name: (ledger.head, ledger.hash) for name, ledger in engine.ledgers.items()}
    running = verified(url)
    engine.close()
    for result in [*running, *verified(url)]:
        assert result.wrong is None
        assert (result.head, result.hash) == heads[result.name]
        assert (result.first, result.is_exact, result.decisions) == (1, True, 30)
        assert result.snapshots >= 1


@pytest.mark.parametrize(("policy", "arena"), [(None, None), ("ThompsonSampling", "Sparring"), ("SleepingUCB", "RUCB")])
def test_decisions_of_other_policies_are_computed_again(tmp_path: Path, policy: str | None, arena: str | None) -> None:
    names = {"RUCB": "RelativeUCB", "ThompsonSampling": "SleepingThompson"}
    url = str(tmp_path / "wakeful.db")
    engine = fill(url, policy=names.get(str(policy), policy), arena=names.get(str(arena), arena))
    assert set(engine.ledgers) == {"shop", "arena"}
    engine.close()
    assert [(result.wrong, result.decisions) for result in verified(url)] == [(None, 30)] * 2


UPDATE = "UPDATE event SET {} WHERE bandit = ? AND number = ?"


@pytest.mark.parametrize(
    ("statement", "number", "said"),
    [
        (UPDATE.format("body = (SELECT body FROM event WHERE number = 9 AND bandit = 1)"), 8, "hash"),
        (UPDATE.format("hash = (SELECT hash FROM event WHERE number = 9 AND bandit = 1)"), 8, "hash"),
        (UPDATE.format("own_id = 'another'"), 20, "own_id 'mine"),
        (UPDATE.format("about = 400"), 21, "about"),
        ("DELETE FROM event WHERE bandit = ? AND number = ?", 17, "missing"),
    ],
)
def test_a_row_that_was_changed_is_named(url: str, statement: str, number: int, said: str) -> None:
    fill(url).close()
    store = open_store(url)
    if "own_id" in said:
        number = next(n for n, event in events_of(store, "shop").items() if isinstance(event, Decided) and event.id)
    if "about" in said:
        number = number_of(store, "shop", Answered)
    with store.transaction(writes=True):
        row = store.row("shop")
        assert row is not None
        store.execute(statement.replace("bandit = 1", f"bandit = {row.id}"), (row.id, number))
    store.close()
    found, what = wrong_in(url)
    assert found == number
    assert said in what


def test_two_rows_that_were_swapped_are_found(url: str) -> None:
    def swap(store: Store, bandit: int) -> None:
        for old, new in ((11, 1_000_000), (12, 11), (1_000_000, 12)):
            store.execute("UPDATE event SET number = ? WHERE bandit = ? AND number = ?", (new, bandit, old))

    changed(url, swap)
    assert wrong_in(url)[0] == 11


def test_a_tail_that_was_cut_off_is_found_even_if_the_end_is_moved(url: str) -> None:
    def cut(store: Store, bandit: int) -> None:
        store.execute("DELETE FROM event WHERE bandit = ? AND number > 50", (bandit,))

    def move(store: Store, bandit: int) -> None:
        last = "(SELECT hash FROM event WHERE bandit = ? AND number = 50)"
        store.execute(f"UPDATE bandit SET head = 50, hash = {last} WHERE id = ?", (bandit, bandit))

    changed(url, cut)
    assert wrong_in(url)[0] == 51
    store = open_store(url)
    with store.transaction(writes=True):
        row = store.row("shop")
        assert row is not None
        move(store, row.id)
    store.close()
    number, what = wrong_in(url)
    assert number == 50
    assert "snapshot" in what


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE bandit SET head = head - 1 WHERE id = ?", "snapshot"),
        ("UPDATE bandit SET head = head + 1 WHERE id = ?", "ends before"),
        (
            "UPDATE bandit SET hash = (SELECT hash FROM event WHERE bandit = bandit.id AND number = 3) WHERE id = ?",
            "hash",
        ),
        ("UPDATE snapshot SET hash = (SELECT hash FROM event WHERE number = 1 LIMIT 1) WHERE bandit = ?", "snapshot"),
        ("UPDATE snapshot SET data = (SELECT body FROM event WHERE number = 1 LIMIT 1) WHERE bandit = ?", "snapshot"),
    ],
)
def test_a_changed_bandit_or_snapshot_is_found(url: str, statement: str, said: str) -> None:
    changed(url, lambda store, bandit: store.execute(statement, (bandit,)))
    assert said in wrong_in(url)[1]


def test_a_snapshot_of_another_state_is_found(url: str) -> None:
    def swap(store: Store, bandit: int) -> None:
        found = store.execute("SELECT number, data FROM snapshot WHERE bandit = ? ORDER BY number", (bandit,))
        store.execute(
            "UPDATE snapshot SET data = ? WHERE bandit = ? AND number = ?", (found[0][1], bandit, found[1][0])
        )

    changed(url, swap)
    assert "not the fold" in wrong_in(url)[1]


def test_rows_of_nobody_are_found(url: str) -> None:
    changed(url, lambda store, bandit: store.execute("DELETE FROM bandit WHERE id = ?", (bandit,)))
    found = [result for result in verified(url) if result.wrong is not None]
    assert len(found) == 1
    assert "belong to no bandit" in str(found[0])


def _swapped(event: Decided) -> Decided:
    """Return a decision with the probabilities of its arms exchanged."""
    p = event.probabilities
    return replace(event, probabilities=p[8:] + p[:8])


def _decided(number: int, **changes: Any) -> Callable[[Events], None]:
    """Return what changes a field of the shop's decision `number`, counted from the 10th event on."""

    def change(found: Events) -> None:
        n = [n for n, event in found.items() if isinstance(event, Decided)][number]
        event: Any = found[n]
        values = {name: value(event) if callable(value) else value for name, value in changes.items()}
        found[n] = replace(event, **values)

    return change


def _of(kind: type, **changes: Any) -> Callable[[Events], None]:
    """Return what changes fields of the first event of a kind."""

    def change(found: Events) -> None:
        n = next(n for n, event in found.items() if isinstance(event, kind))
        event: Any = found[n]
        values = {name: value(found, event) if callable(value) else value for name, value in changes.items()}
        found[n] = replace(event, **values)

    return change


def _twice(found: Events) -> list[AnyEvent]:
    """Return events in which the first feedback comes twice."""
    last = list(found.values())
    first = next(event for event in last if isinstance(event, Answered))
    return [*last, replace(first, time=last[-1].time)]


def _late(found: Events) -> list[AnyEvent]:
    """Return events in which late feedback comes for a decision that has not expired."""
    last = list(found.values())
    first = next(event for event in last if isinstance(event, Answered))
    return [*last, Late(last[-1].time, first.decision, 0.5)]


def _late_twice(found: Events) -> list[AnyEvent]:
    """Return events in which late feedback comes twice."""
    last = list(found.values())
    expired = next(event for event in last if isinstance(event, Expired))
    return [*last, *[Late(last[-1].time, expired.decision, 0.5)] * 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_decided(10, arm=lambda event: 2 if event.arm != 2 else 1), "arm"),
        (_decided(12, probabilities=lambda event: _swapped(event).probabilities), "probabilities"),
        (_decided(3, memo=0.25), "memo"),
        (_decided(3, clock=77), "clock"),
        (_decided(3, deadline=1e9), "deadline"),
        (_decided(3, id="d5"), "nothing"),
        (_decided(3, time=0.0), "time"),
        (_of(Answered, value=0.123), "probabilities"),
        (_of(Answered, value=7.0), "folded"),
        (_of(Answered, decision=1), "no decision that waits"),
        (_of(Answered, decision=10**6), "no decision that waits"),
        (_of(Expired, time=lambda found, event: found[event.decision].time), "time"),
        (_of(Expired, value=0.5), "default loss"),
        (_of(Created, name="another"), "called"),
        (_of(Created, seed=8), "what the state before it gives"),
        (_twice, "no decision that waits"),
        (_late, "late feedback"),
        (_late_twice, "late feedback"),
        (lambda found: list(found.values())[1:], "first event"),
    ],
)
def test_a_log_rewritten_with_new_hashes_is_found(tmp_path: Path, change: Callable[[Events], Any], said: str) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    store = open_store(url)
    rewrite(store, "shop", change)
    store.close()
    if said == "nothing":  # another name for the same decision is as good
        assert not [result for result in verified(url) if result.wrong]
    else:
        assert said in wrong_in(url)[1]


def test_feedback_counted_after_its_deadline_is_found(tmp_path: Path) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    store = open_store(url)

    def answered(found: Events) -> None:
        n, event = next((n, event) for n, event in found.items() if isinstance(event, Expired))
        found[n] = Answered(event.time, event.decision, 1.0)

    rewrite(store, "shop", answered)
    store.close()
    assert "after its deadline" in wrong_in(url)[1]


def test_other_versions_may_differ_in_the_last_digits_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    monkeypatch.setattr(audit, "versions", lambda: "wakeful 9 numpy 9 numba 9")
    for result in verified(url):
        assert (result.wrong, result.is_exact) == (None, False)
        assert "within 1e-9" in str(result)
    store = open_store(url)
    rewrite(store, "shop", _decided(12, probabilities=lambda event: _swapped(event).probabilities))
    store.close()
    assert "probabilities" in wrong_in(url)[1]


def test_the_command_prints_a_line_for_each_log_and_its_code_says_whether_all_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = str(tmp_path / "wakeful.db")
    fill(url).close()
    assert cli.main(["verify", "--db", url, "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["arena", "shop", "all is right"]
    assert cli.main(["verify", "--db", f"sqlite:///{url}", "--bandit", "shop", "--quiet"]) == 0
    assert cli.main(["verify", "--db", url, "--bandit", "shap"]) == 2
    assert "no bandit has the name 'shap' (did you mean 'shop'?)" in capsys.readouterr().err
    text = tmp_path / "notes.txt"
    text.write_text("no database\n" * 100)
    assert cli.main(["verify", "--db", str(text)]) == 1
    assert f"{text} must be an SQLite database that can be read" in capsys.readouterr().err
    assert cli.main(["verify", "--db", str(tmp_path / "none.db")]) == 1
    store = open_store(url)
    store.execute("DELETE FROM event WHERE number = 20")
    store.close()
    assert cli.main(["verify", "--db", url, "--quiet"]) == 1
    shown = capsys.readouterr()
    assert "shop: WRONG at event 20: it is missing" in shown.out
    assert "2 of 2 logs are wrong" in shown.err
