"""Replay: rounds from arrays, text logs and Parquet logs."""

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wakeful.worlds import (
    Preferences,
    Replay,
)
from wakeful.worlds.replay import _READERS


def test_replay_yields_what_it_was_given_and_copies() -> None:
    awake, losses = np.array([[True, False], [True, True]]), np.array([[0.5, np.nan], [0.0, 1.0]])
    world = Replay(awake, losses)
    awake[:] = False
    block = next(world.blocks(np.random.default_rng(0), 9))
    assert block.awake.tolist() == [[True, False], [True, True]]
    assert block.losses.tolist() == [[0.5, 0.0], [0.0, 1.0]]
    assert block.expected is None
    block.losses[:] = block.awake[:] = True  # the reader may
    assert world.losses.tolist() == [[0.5, 0.0], [0.0, 1.0]]
    assert world == Replay(np.array([[True, False], [True, True]]), losses)
    assert world != Replay(np.ones((2, 2), bool), np.zeros((2, 2)))
    assert world.arms == (0, 1)


LOG = "loss,round,arm,note\n0.5,7,tea,x\n1,3,juice,\n0.25,3,tea,\n0,7,coffee,\n"


def test_replay_of_a_text_log(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    world = Replay.from_csv(path)
    assert world.arms == ("coffee", "juice", "tea")
    assert world.awake.tolist() == [[False, True, True], [True, False, True]]
    assert world.losses.tolist() == [[0.0, 1.0, 0.25], [0.0, 0.0, 0.5]]
    path.write_text("round,arm,loss\n1,10,0\n1,9,1\n")
    assert Replay.from_csv(path).arms == (9, 10)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "columns must be round, arm and loss, got"),
        ("round,arm,losses\n1,a,0\n", r"columns must be round, arm and loss.*\(is it 'losses'\?\)"),
        ("round,arm,loss\n", "log must be of at least one row"),
        ("round,arm,loss\n1,a,0\n1.5,a,0\n", "round in line 3 must be a whole number, got '1.5'"),
        ("round,arm,loss\n1,a,zero\n", "loss in line 2 must be a number, got 'zero'"),
        ("round,arm,loss\n1,a\n", "loss in line 2 must be a number, got None"),
        ("round,arm,loss\n1,a,0\n1,b,nan\n", "losses must be between 0 and 1 where awake, got nan"),
        (
            "round,arm,loss\n1,a,0\n2,b,1\n",
            "log must be of one row for each awake arm of a round, not only for the one",
        ),
        ("round,arm,loss\n1,a,2\n", "losses must be between 0 and 1 where awake, got 2.0"),
        ("round,arm,loss\n1,a,0\n2," + "a" * 200_000 + ",0\n", "line 3 must be of a text file of columns, got '"),
        ("round,arm,loss\n1," + "9" * 5_000 + ",0\n", r"arm in line 2 must be a whole number, got '9{100}\.\.\.'$"),
        ("round,arm,loss\n" + "9" * 5_000 + ",a,0\n", r"round in line 2 must be a whole number, got '9{100}\.\.\.'$"),
        ("round,arm,loss\n1,\udce9,0\n", "path must be a text file in UTF-8, got '"),
        ("round,arm,loss\n1,,0\n", "arm must be a name or a whole number in every row"),
        ("round,arm,loss\n1,a,0\n2,a,0\n2,a,1\n", "one row for each arm of a round, got \"arm 'a' twice in round 2\""),
    ],
)
def test_broken_text_logs_are_refused(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises((ValueError, TypeError), match=sentence):
        Replay.from_csv(path)


@pytest.mark.parametrize("read", [Replay.from_csv, Replay.from_parquet, Preferences.from_file])
def test_what_is_no_regular_file_is_refused_before_it_is_read(read: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ValueError, match="path must be that of a regular file"):
            read(path)


def test_rounds_of_any_size_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"round,arm,loss\n{10**30},a,0\n-{10**30},a,1\n3,a,0.5\n")
    assert Replay.from_csv(path).losses.tolist() == [[1.0], [0.5], [0.0]]


def test_a_short_log_of_a_large_table_is_refused_unless_the_caller_says_how_large(tmp_path: Path) -> None:
    path, n = tmp_path / "log.csv", 5_000
    path.write_text("round,arm,loss\n" + "".join(f"{k},{k},0\n{k},{(k + 1) % n},0\n" for k in range(n)))
    with pytest.raises(ValueError, match=r"log must be of at most 16,777,216 cells, .*got '5,000 rounds of 5,000 arms"):
        Replay.from_csv(path)
    assert Replay.from_csv(path, max_cells=n * n).awake.shape == (n, n)
    for wrong in (0, 1.5, None):
        with pytest.raises((ValueError, TypeError), match="max_cells must be a number of cells, at least 1"):
            Replay.from_csv(path, max_cells=wrong)  # type: ignore[arg-type]


def test_a_full_log_is_never_too_large(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("round,arm,loss\n" + "".join(f"{k // 3},{k % 3},0\n" for k in range(30)))
    assert Replay.from_csv(path, max_cells=1).awake.all()


@pytest.mark.parametrize("library", ["pyarrow.parquet", "polars"])
def test_parquet_logs_that_are_damaged_or_of_too_many_rows_are_refused(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrow, parquet = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    monkeypatch.setattr("wakeful.worlds.replay._READERS", {library: _READERS[library]})
    path = tmp_path / "log.parquet"
    parquet.write_table(arrow.table({"round": [1] * 1_000, "arm": ["a"] * 1_000, "loss": [0.0] * 1_000}), path)
    with pytest.raises(ValueError, match=r"log must be of at most 999 rows \(max_cells, 8 for each row.*'1,000 rows'"):
        Replay.from_parquet(path, max_cells=7_999)
    data = path.read_bytes()
    for wrong in (b"", b"PAR1", data[:-1], data[: len(data) // 2], data[:-100] + bytes(100)):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match="path must be a Parquet file, complete and unchanged"):
            Replay.from_parquet(path)
    with pytest.raises(FileNotFoundError):
        Replay.from_parquet(tmp_path / "none.parquet")


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_replay_of_a_parquet_log(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(library)
    columns = {"round": [7, 3, 3, 7], "arm": ["tea", "juice", "tea", "coffee"], "loss": [0.5, 1.0, 0.25, 0.0]}
    path = tmp_path / "log.parquet"
    if library == "pyarrow":
        arrow, parquet = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
        parquet.write_table(arrow.table(columns), path)
    else:
        importlib.import_module("polars").DataFrame(columns).write_parquet(path)
    other = {"pyarrow": "polars", "polars": "pyarrow.parquet"}[library]
    monkeypatch.delitem(_READERS, other)
    text = tmp_path / "log.csv"
    text.write_text(LOG)
    assert Replay.from_parquet(path) == Replay.from_csv(text)


def test_parquet_needs_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("wakeful.worlds.replay.import_module", missing)
    with pytest.raises(ImportError, match="reading Parquet needs pyarrow or polars: pip install pyarrow"):
        Replay.from_parquet("log.parquet")
