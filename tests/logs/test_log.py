"""`Log`: every format, every refusal, rows that are skipped, and that nothing is lost on the way."""

import csv
import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wakeful import Log
from wakeful.logs.chunks import SharedLists
from wakeful.logs.rows import Decoder
from wakeful.logs.sources import file_source
from wakeful.logs.values import ALONE_RULE

TEXT = """awake,arm,probability,loss,time,id,note
tea|juice,tea,0.5,0.25,2026-10-01,a,"two
lines"
tea|juice|water,water,0.25,1,2026-09-01,b,
juice|tea,juice,0.5,0,2026-10-03,c,"x, y"
"""


def written(tmp_path: Path, text: str, name: str = "log.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def arrays(log: Log) -> dict[str, Any]:
    """Return everything in a log, as plain lists."""
    found: dict[str, list[Any]] = {}
    for block in log.blocks(2):
        for name, values in block._asdict().items():
            if values is not None:
                found.setdefault(name, []).extend(np.asarray(values).tolist())
    return found


def test_a_text_file(tmp_path: Path) -> None:
    log = Log.read(written(tmp_path, TEXT))
    assert log.arms == ("juice", "tea", "water")
    assert (len(log), log.rows, log.n_arms, log.has_probabilities, log.most_awake) == (3, 3, 3, True, 3)
    assert arrays(log) == {
        "awake": [[True, True, False], [True, True, True], [True, True, False]],
        "arms": [1, 2, 0],
        "probabilities": [0.5, 0.25, 0.5],
        "losses": [0.25, 1.0, 0.0],
        "times": ["2026-10-01", "2026-09-01", "2026-10-03"],  # going backwards is no fault
        "ids": ["a", "b", "c"],
        "lines": [2, 4, 5],  # the first row takes two lines
    }
    assert arrays(log) == arrays(log)  # can be read again
    assert repr(log) == "<Log of 3 rows, 3 arms, with probabilities>"
    assert str(log.skipped) == "0 rows skipped, 0 rows with an id that was there before"


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet", "log.csv.gz", "log.jsonl.gz"])
def test_what_is_written_is_read_again_with_every_column(name: str, tmp_path: Path) -> None:
    log = Log.read(written(tmp_path, TEXT, "first.csv"))
    path = tmp_path / name
    log.write(path)
    again = Log.read(path)
    whole, back = arrays(log), arrays(again)
    del whole["lines"], back["lines"]
    assert back == whole
    assert again.arms == log.arms
    frame = again.to_frame()
    assert list(frame.columns) == ["awake", "arm", "probability", "loss", "time", "id", "note"]
    assert frame["note"].tolist() == ["two\nlines", "", "x, y"]
    assert frame["awake"].tolist() == [["juice", "tea"], ["juice", "tea", "water"], ["juice", "tea"]]


def test_tables_in_memory() -> None:
    columns = {"awake": [["b", "a"], ["a", "b"]], "arm": ["a", "b"], "loss": [0.5, 1.0], "when": [3, 1]}
    tables = (columns, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns))
    streams = (pa.table(columns).to_batches()[0], Streamed(pa.table(columns)))
    for table in (*tables, *streams):
        log = Log(table, columns={"time": "when"})
        assert (log.arms, log.has_probabilities) == (("a", "b"), False)
        assert arrays(log) == {
            "awake": [[True, True], [True, True]],
            "arms": [0, 1],
            "losses": [0.5, 1.0],
            "times": [3, 1],
            "lines": [1, 2],
        }


class Streamed:
    """Something that only has an Arrow stream."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(schema)


def test_lines_are_counted_through_blank_ones_and_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeful.logs.chunks.CHUNK_ROWS", 2)
    rows = ["", "awake,arm,loss,note", "", "a|b,a,0,x", "", "", 'a|b,b,1,"1\n\n2"', "a|b,b,1,x", "", "a|b,a,0.5,", ""]
    assert arrays(Log.read(written(tmp_path, "\n".join(rows))))["lines"] == [4, 7, 10, 12]
    crlf = tmp_path / "crlf.csv"
    crlf.write_bytes("\r\n".join(rows).encode())
    assert arrays(Log.read(crlf))["lines"] == [4, 7, 10, 12]


def test_numbers_are_names_too_and_sorted_as_numbers() -> None:
    frame = pd.DataFrame({"awake": [[10, 9], [9, 10, 2]], "arm": [9, 2], "reward": [True, False]})
    log = Log(frame)
    assert log.arms == ("2", "9", "10")
    assert arrays(log)["losses"] == [0.0, 1.0]
    assert Log({"awake": ["[9, 10]", "['9', '10', '2']"], "arm": ["9", "2"], "loss": ["0", "1"]}).arms == log.arms


def test_rewards_in_other_units(tmp_path: Path) -> None:
    path = written(tmp_path, "awake,arm,reward\na|b,a,49.9\na|b,b,0\na|b,b,24.95\n")
    assert arrays(Log.read(path, reward_range=(0, 49.9)))["losses"] == [0.0, 1.0, 0.5]
    with pytest.raises(
        ValueError, match=r"line 2 of .*log.csv: reward must be a number between 0 and 1 \(reward_range"
    ):
        Log.read(path)
    with pytest.raises(ValueError, match=r"reward must be a number in the reward_range, 0 to 40, got '49.9'"):
        Log.read(path, reward_range=(0, 40))
    for wrong in ((1, 1), (1,), "ab", (0, float("nan")), 3):
        with pytest.raises((ValueError, TypeError), match="reward_range must be two numbers, the worst and the best"):
            Log.read(path, reward_range=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="reward_range must be None for a log with losses"):
        Log.read(written(tmp_path, TEXT), reward_range=(0, 1))


BAD = [
    ("a|b,c,0.5,0.5", "arm must be one of the arms that are awake in its row, got 'c'"),
    ("a|b,,0.5,0.5", "arm must be one of the arms that are awake in its row, got ''"),
    (",a,0.5,0.5", "awake must be a list of arms, or their names joined by '|', got ''"),
    ("a|,a,0.5,0.5", "awake must be without empty names, got ['a', '']"),
    ("|,a,0.5,0.5", "awake must be a list of arms, or their names joined by '|', got '|'"),
    ("a|b|a,a,0.5,0.5", "awake must be without repeated arms, got ['a', 'b', 'a']"),
    ("a|b,a,0,0.5", "probability must be a number above 0 and at most 1 (at least 1e-18), got '0'"),
    ("a|b,a,1.5,0.5", "probability must be a number above 0 and at most 1 (at least 1e-18), got '1.5'"),
    ("a|b,a,nan,0.5", "probability must be a number above 0 and at most 1 (at least 1e-18), got 'nan'"),
    ("a|b,a,,0.5", "probability must be a number above 0 and at most 1 (at least 1e-18), got ''"),
    ("a,a,0.5,0.5", f"probability must be {ALONE_RULE}, got '0.5'"),
    ("a|b,a,0.5,1.5", "loss must be a number between 0 and 1, got '1.5'"),
    ("a|b,a,0.5,nan", "loss must be a number between 0 and 1, got 'nan'"),
    ("a|b,a,0.5,often", "loss must be a number between 0 and 1, got 'often'"),
    ("a|b,a,0.5", "fields must be 4, as many as the header has, got 3"),
    ("a|b,a,0.5,0.5,7", "fields must be 4, as many as the header has, got 5"),
]


@pytest.mark.parametrize(("row", "reason"), BAD)
def test_a_bad_row_is_named_by_its_line_or_skipped(row: str, reason: str, tmp_path: Path) -> None:
    good = "a|b,b,0.5,0.5\n"
    path = written(tmp_path, "awake,arm,probability,loss\n" + good * 10 + row + "\n" + good * 5)
    with pytest.raises(ValueError, match="line 12 of ") as raised:
        Log.read(path)
    assert str(raised.value) == f"line 12 of {path}: {reason}"
    log = Log.read(path, on_error="skip")
    assert (len(log), log.skipped) == (15, (1, 0, ((12, reason),)))
    assert log.arms == ("a", "b")
    assert f"12: {reason}" in str(log.skipped)


def test_many_bad_rows_are_counted_and_the_first_hundred_kept(tmp_path: Path) -> None:
    rows = ["a|b,a,0.5" if n % 3 else "a|b,a,2" for n in range(20_000)]
    log = Log.read(written(tmp_path, "awake,arm,loss\n" + "\n".join(rows)), on_error="skip")
    assert len(log) + log.skipped.rows == 20_000
    assert log.skipped.rows == sum(n % 3 == 0 for n in range(20_000))
    assert [line for line, _ in log.skipped.reasons] == list(range(2, 302, 3))


def test_rows_of_mixed_types_in_json_lines(tmp_path: Path) -> None:
    rows: list[Any] = [
        {"awake": ["a", "b"], "arm": "a", "loss": 0.5},
        {"awake": "a|b", "arm": "b", "loss": "0.25", "new": 1},
        {"awake": ["a", 7], "arm": 7, "loss": True},
        {"awake": ["a", True], "arm": "a", "loss": 0},
        {"awake": {"a": 1}, "arm": "a", "loss": 0},
        {"awake": ["a", "b"], "arm": ["a"], "loss": 0},
        {"awake": ["a", "b"], "arm": "a", "loss": [0]},
        {"awake": ["a", "b"], "arm": "a"},
        [1],
        "text",
    ]
    text = "\n".join(map(json.dumps, rows)) + '\n\n{"awake": ["a", "b"], "arm"'
    log = Log.read(written(tmp_path, text, "log.jsonl"), on_error="skip")
    assert (log.arms, arrays(log)["losses"], arrays(log)["lines"]) == (("7", "a", "b"), [0.5, 0.25, 1.0], [1, 2, 3])
    assert [line for line, _ in log.skipped.reasons] == [4, 5, 6, 7, 8, 9, 10, 12]
    assert "row must be a JSON object" in log.skipped.reasons[-1][1]


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("awake,arms,loss", r"columns must be awake, arm, and one of loss and reward.*\(is 'arms' the arm\?"),
        ("Awake,arm,loss", r"is 'Awake' the awake\? Then pass columns=\{'awake': 'Awake'\}"),
        ("awake,arm,los", r"is 'los' the loss\?"),
        ("awake,arm,rewards", r"is 'rewards' the reward\?"),
        ("awake,arm,loss,reward", r"exactly one of loss and reward.*columns=\{'reward': None\}"),
        ("awake,arm,loss,probabilty", r"may be the 'probability', got 'probabilty' \(did you mean 'probability'\?"),
        ("awake,arm,loss,Propensity", r"may be the 'probability', got 'Propensity'.*columns=\{'probability': 'Prop"),
        ("awake,arm,loss,arm", "columns must be such that arm is there once, got \"'arm' more than once\""),
        ("x,y", r"columns must be awake, arm, and one of loss and reward, got \['x', 'y'\]$"),
        ("", "columns must be awake, arm, and one of loss and reward, got"),
    ],
)
def test_columns_that_are_missing_or_misspelt(header: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        Log.read(written(tmp_path, header + "\n"))


def test_columns_that_are_called_otherwise(tmp_path: Path) -> None:
    path = written(tmp_path, "shown,product,reward,loss,probabilty\na|b,a,1,0.5,0.5\n")
    log = Log.read(path, columns={"awake": "shown", "arm": "product", "reward": None, "probability": "probabilty"})
    assert (arrays(log)["losses"], arrays(log)["probabilities"]) == ([0.5], [0.5])
    with pytest.raises(ValueError, match=r"columns\['arm'\] must be .*got 'produkt' \(did you mean 'product'\?\)"):
        Log.read(path, columns={"arm": "produkt"})
    with pytest.raises(ValueError, match=r"columns must be one of 'awake', .* got 'arms' \(did you mean 'arm'\?\)"):
        Log.read(path, columns={"arms": "product"})
    with pytest.raises(TypeError, match="columns must be a mapping such as"):
        Log.read(path, columns=["arm"])  # type: ignore[arg-type]


def test_a_million_columns(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(1_000_000)]
    with pytest.raises(ValueError, match=r"... and 999,980 more") as raised:
        Log.read(written(tmp_path, ",".join(names) + "\n"))
    assert len(str(raised.value)) < 500
    text = "awake,arm,loss," + ",".join(names) + "\n" + ("a|b,a,0.5" + "," * len(names) + "\n") * 3
    assert len(Log.read(written(tmp_path, text))) == 3


def test_arms_that_nobody_named(tmp_path: Path) -> None:
    path = written(tmp_path, "awake,arm,loss\na|b,a,0\na|c,c,1\n")
    with pytest.raises(ValueError, match=r"line 3 of .*: awake must be a known arm, got 'c'"):
        Log.read(path, arms=["z", "b", "a"])
    log = Log.read(path, arms=["z", "b", "a"], unknown_arms="add")
    assert log.arms == ("z", "b", "a", "c")
    assert arrays(log)["arms"] == [2, 3]
    assert len(Log.read(path, arms=["b", "a"], on_error="skip")) == 1
    for wrong in (["a", "a"], [], "ab", [1.5], [""], 3):
        with pytest.raises((ValueError, TypeError), match="arms must be"):
            Log.read(path, arms=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown_arms must be one of 'refuse', 'add', got 'ad'"):
        Log.read(path, arms=["a"], unknown_arms="ad")
    with pytest.raises(ValueError, match="on_error must be one of 'raise', 'skip', got 'ignore'"):
        Log.read(path, on_error="ignore")


def test_only_the_chosen_arm_is_no_awake_set(tmp_path: Path) -> None:
    path = written(tmp_path, "awake,arm,loss\na,a,0\nb,b,1\n")
    with pytest.raises(ValueError, match="awake must be all arms that could have been chosen, not only the one"):
        Log.read(path)
    with pytest.raises(ValueError, match=r"awake must be all arms that could have been chosen, not only the one"):
        Log({"awake": ["a", "b"], "arm": ["a", "b"], "loss": [0, 1], "probability": [0.5, 0.25]})
    assert len(Log.read(written(tmp_path, "awake,arm,loss\na,a,0\na|b,b,1\n"))) == 2


def test_rows_with_an_id_that_was_there_before_count_once(tmp_path: Path) -> None:
    rows = [f"a|b,a,{n % 2},{n // 2}" for n in range(20_000)] + ["a|b,b,1,", "a|b,b,1,"]
    path = written(tmp_path, "awake,arm,loss,id\n" + "\n".join(rows))
    log = Log.read(path)
    assert (len(log), log.skipped) == (10_002, (0, 10_000, ()))
    assert set(arrays(log)["losses"][:-2]) == {0.0}  # the first of each two
    assert len(Log.read(path, columns={"id": None})) == 20_002
    columns = {"awake": ["a|b"] * 5, "arm": ["a"] * 5, "loss": [0] * 5, "id": [1, None, 1, float("nan"), "x"]}
    assert Log(columns).skipped.duplicates == 1


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet"])
def test_ids_of_every_kind_are_as_different_when_they_are_read_again(name: str, tmp_path: Path) -> None:
    ids = [1, "1 ", 1.0, True, 10**30, float("nan"), float("nan"), None, pd.NA, "", np.array([1, 2]), (1, 2), 1]
    rows = {"awake": ["a|b"] * len(ids), "arm": ["a"] * len(ids), "loss": [0] * len(ids), "id": ids}
    log = Log(rows)
    assert (len(log), log.skipped.duplicates) == (12, 1)
    log.write(tmp_path / name)
    assert len(Log.read(tmp_path / name)) == 12


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Log.read(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        Log.read(tmp_path / "folder.csv")
    for suffix in (".csv", ".jsonl", ".parquet"):
        os.mkfifo(tmp_path / f"pipe{suffix}")
        with pytest.raises(ValueError, match="path must be that of a regular file"):
            Log.read(tmp_path / f"pipe{suffix}")
    for name in ("log.txt", "log", "log.parquet.gz", ".csv"):
        with pytest.raises(ValueError, match=r"path must be a file that ends in .csv, .jsonl, .parquet"):
            Log.read(written(tmp_path, "x", name))
    for name in ("log.csv", "log.jsonl"):
        with pytest.raises(ValueError, match="columns must be awake, arm"):
            Log.read(written(tmp_path, "", name))
    with pytest.raises(ValueError, match="log must be of at least one row that is right"):
        Log.read(written(tmp_path, "awake,arm,loss\n"))
    with pytest.raises(TypeError, match="log must be a data frame of pandas or polars, an Arrow table, or a mapping"):
        Log(7)
    with pytest.raises(ValueError, match="log must be columns of the same length"):
        Log({"awake": ["a|b"], "arm": [], "loss": [0]})


def test_a_line_that_is_not_in_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(TEXT.encode("utf-8-sig"))
    assert len(Log.read(path)) == 3
    path.write_bytes(TEXT.encode("utf-16"))
    with pytest.raises(ValueError, match=r"line 1 of .*log.csv must be text in UTF-8, got b'\\xff'"):
        Log.read(path)
    good = "awake,arm,loss,note\r\n" + "a|b,a,0.5,\u00e9\r\n" * 70_000  # longer than what is read at a time
    for ending in ("\r\n", "\n", "\r"):
        wrong = good.replace("\r\n", ending).encode() + f"a|b,a,0.5,\u00e9{ending}".encode("latin-1") + b"\n\n"
        for name, data in (("log.csv", wrong), ("log.csv.gz", gzip.compress(wrong, 1))):
            (tmp_path / name).write_bytes(data)
            with pytest.raises(ValueError, match=rf"line 70002 of .*{name} must be text in UTF-8, got b'\\xe9'"):
                Log.read(tmp_path / name)
    path.write_bytes("awake,arm,loss\na|b,a,1\na|b,\u00e9".encode()[:-1])
    with pytest.raises(ValueError, match=r"line 3 of .*log.csv must be text in UTF-8, got b'\\xc3'"):
        Log.read(path)


def test_a_quote_that_does_not_end_swallows_no_rows(tmp_path: Path) -> None:
    path = written(tmp_path, 'awake,arm,loss,note\na|b,a,0,x\na|b,a,0.5,"x\n' + "a|b,a,0.5,x\n" * 1000)
    for on_error in ("raise", "skip"):
        with pytest.raises(ValueError, match=r"line 3 must be of a text file of columns, got .*: unexpected end"):
            Log.read(path, on_error=on_error)
    path.write_text(f'awake,arm,loss\na|b,a,"{"x" * (1 << 25)}x', encoding="utf-8")
    with pytest.raises(ValueError, match=r"must be of a text file of columns|lines of at most 33,554,432 bytes"):
        Log.read(path)


def test_fields_may_be_as_long_as_a_line_and_the_limit_of_others_stays(tmp_path: Path) -> None:
    names = [f"a rather long name {n}" for n in range(10_000)]
    log = Log({"awake": [names, names[:2]], "arm": [names[7], names[1]], "loss": [0.5, 1.0]})
    before = csv.field_size_limit()
    log.write(tmp_path / "log.csv")
    again = Log.read(tmp_path / "log.csv")
    blocks = again.blocks()
    assert next(blocks).awake.sum() == 10_002
    assert csv.field_size_limit() == before < len("|".join(names))


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_separators_are_recognised(mark: str, tmp_path: Path) -> None:
    path = written(tmp_path, mark.join(["awake", "arm", "loss"]) + "\n")
    with pytest.raises(ValueError, match=r"separated by commas, not by .*awake.*pandas.read_csv\(.*sep="):
        Log.read(path)


def test_a_json_line_that_was_cut_off_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, '{"awake": "a|b", "arm": "a", "loss": 0}\n{"awake": "a|b", "ar', "log.jsonl")
    with pytest.raises(
        ValueError, match=r"line 2 of .*: row must be a JSON object, .* Unterminated string starting at c"
    ):
        Log.read(path)


def test_a_file_whose_first_rows_are_no_json_is_named_by_its_first_line(tmp_path: Path) -> None:
    path = written(tmp_path, '\n[{"awake": ["a", "b"],\n', "log.jsonl")
    with pytest.raises(ValueError, match=r"line 2 of .*log.jsonl: row must be a JSON object, got '\[\{.* at column 23"):
        Log.read(path)
    assert (
        len(Log.read(written(tmp_path, '{\n{"awake": "a|b", "arm": "a", "loss": 0}', "a.jsonl"), on_error="skip")) == 1
    )


@pytest.mark.parametrize(
    "wrong", ['{"a": [{}\n{}]},{"b": 1}', '{"a": 1},{"b": 1}\n{"c": "\n"}', '{"a": 1}\n\n2', "{}{}"]
)
def test_lines_that_are_no_objects_by_themselves_are_wrong(wrong: str, tmp_path: Path) -> None:
    good = '{"awake": ["a", "b"], "arm": "a", "loss": 0.5}\n'
    log = Log.read(written(tmp_path, good * 3 + wrong + "\n" + good * 3, "log.jsonl"), on_error="skip")
    lines = wrong.split("\n")
    assert len(log) == 6
    assert [line for line, _ in log.skipped.reasons] == [n for n, line in enumerate(lines, 4) if line]
    assert arrays(log)["lines"] == [1, 2, 3, *range(4 + len(lines), 7 + len(lines))]


def test_broken_compressed_files(tmp_path: Path) -> None:
    whole = gzip.compress(TEXT.encode() * 1000)
    path = tmp_path / "log.csv.gz"
    for wrong in (whole[:-40], b"\x00" + whole[1:], whole[:100] + bytes(50) + whole[150:]):
        path.write_bytes(wrong)
        with pytest.raises(
            ValueError, match=r"path must be a file compressed by gzip|must be text in UTF-8|fields must be"
        ):
            Log.read(path)


def test_a_line_without_an_end_is_refused_before_it_fills_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wakeful.logs.text.LONGEST_LINE", 1 << 20)
    for name in ("log.csv", "log.jsonl"):
        with pytest.raises(ValueError, match="path must be a text file of lines of at most 1,048,576 bytes"):
            Log.read(written(tmp_path, "a," * (1 << 20), name))


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_long_lines_are_read_few_at_a_time(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"arm-{k}" for k in range(3_000)]
    rows = [(names[n:], names[n]) for n in range(100)]
    texts = [f"{'|'.join(awake)},{arm},0" for awake, arm in rows]
    if name == "log.jsonl":
        texts = [json.dumps({"awake": awake, "arm": arm, "loss": 0}) for awake, arm in rows]
    path = written(tmp_path, "\n".join(["awake,arm,loss"] * (name == "log.csv") + texts), name)
    whole = Log.read(path)
    for module in ("csv_file", "json_lines"):
        monkeypatch.setattr(f"wakeful.logs.{module}.MOST_BYTES", 100_000)
    monkeypatch.setattr("wakeful.logs.text.READ_AHEAD", 1_000)
    chunks = list(file_source(path).chunks(["awake"]))
    assert max(len(chunk.lines) for chunk in chunks) <= 6  # of 20 to 40 kB each
    assert arrays(Log.read(path)) == arrays(whole)


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_sets_of_many_arms_are_not_all_kept(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log({"awake": [[f"n{k}" for k in range(n, n + 100)] for n in range(200)] * 2,
               "arm": [f"n{n}" for n in range(200)] * 2, "loss": [0.5] * 400})  # fmt: skip
    log.write(tmp_path / name)
    whole = arrays(Log.read(tmp_path / name))
    monkeypatch.setattr("wakeful.logs.rows.MOST_POSITIONS", 1_000)
    monkeypatch.setattr("wakeful.logs.chunks.MOST_SHARED_LETTERS", 5_000)
    monkeypatch.setattr("wakeful.logs.log.KEPT_BYTES", 0)
    kept: list[int] = []
    places, of = Decoder._places, SharedLists.of

    def watched_places(decoder: Decoder, *given: Any) -> list[int]:
        found = places(decoder, *given)
        kept.append(sum(map(len, decoder._known.values())))
        return found

    def watched_lists(lists: SharedLists, value: Any) -> Any:
        found = of(lists, value)
        kept.append(sum(map(len, lists._known)) // 5)  # letters of a name and what separates it from the next
        return found

    monkeypatch.setattr(Decoder, "_places", watched_places)
    monkeypatch.setattr(SharedLists, "of", watched_lists)
    assert arrays(Log.read(tmp_path / name)) == whole
    assert 0 < max(kept) <= 1_000


def test_a_long_list_in_a_text_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    text = 'awake,arm,loss\n"[{}]",1,0\n"[1, 2]",1,0\n'
    log = Log.read(written(tmp_path, text.format(",".join(map(str, range(60_000))))), on_error="skip")
    reason = "awake must be names joined by '|', or a list of at most 262,144 letters, got '[0,1,2,3,"
    assert (log.rows, log.skipped.rows, log.skipped.reasons[0][1][: len(reason)]) == (1, 1, reason)


def test_parquet_files_that_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    columns = {"awake": [["a", "b"]] * 1000, "arm": ["a"] * 1000, "loss": [0.5] * 1000}
    pq.write_table(pa.table(columns), path, write_page_checksum=True)
    data = path.read_bytes()
    assert len(Log.read(path)) == 1000
    for wrong in (b"", b"PAR1", data[:-1], data[: len(data) // 2], data[:60] + b"xx" + data[62:]):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match="path must be a Parquet file, complete and unchanged"):
            Log.read(path)
    pq.write_table(pa.table({**columns, "loss": [None] * 1000}), path)
    with pytest.raises(ValueError, match=r"row 1 of .*: loss must be a number between 0 and 1, got None"):
        Log.read(path)


@pytest.mark.parametrize(
    "lists", [[["a", "b"], ["b"], ["b", "a"]], [["a", "b\x1f"], ["b\x1f"], ["b\x1f", "a"]], [[1, 2], [2], [2, 1]]]
)
def test_lists_in_parquet_files(lists: list[list[Any]], tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"awake": lists, "arm": [row[0] for row in lists], "loss": [0, 0, 1]}), path)
    log = Log.read(path)
    assert log.arms == tuple(str(name) for name in lists[0])
    assert (arrays(log)["awake"], arrays(log)["arms"]) == ([[True, True], [False, True], [True, True]], [0, 1, 1])
    for wrong in (None, [], [None], [""], ["a", None]):
        pq.write_table(pa.table({"awake": [["a", "b"], wrong], "arm": ["a", "a"], "loss": [0, 0]}), path)
        with pytest.raises(ValueError, match=r"row 2 of .*: awake must be a list of"):
            Log.read(path)


@pytest.mark.parametrize("names", [[f"n{k}" for k in range(2_000)], list(range(2_000))], ids=["texts", "numbers"])
def test_long_lists_in_parquet_files_are_read_few_at_a_time(
    names: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.parquet"
    columns = {"awake": [names[n:] for n in range(300)], "arm": names[:300], "loss": [0.5] * 300}
    pq.write_table(pa.table(columns), path, row_group_size=200)
    whole = arrays(Log.read(path))
    monkeypatch.setattr("wakeful.logs.chunks.MOST_VALUES", 10_000)
    assert max(len(chunk.lines) for chunk in file_source(path).chunks(["awake", "arm", "loss"])) <= 50
    assert max(len(chunk.lines) for chunk in file_source(path).chunks(["arm", "loss"])) == 300
    assert arrays(Log.read(path)) == whole


def test_a_small_parquet_file_cannot_claim_billions_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.parquet"
    same = {"awake": ["a|b"] * 1_000_000, "arm": ["a"] * 1_000_000, "loss": [0.0] * 1_000_000}
    pq.write_table(pa.table(same), path, row_group_size=1_000_000)
    monkeypatch.setattr("wakeful.logs.parquet.MOST_ROWS_PER_BYTE", 10)
    with pytest.raises(ValueError, match=r"path must be a log of at most 10 rows for each byte.*: 1,000,000 rows in"):
        Log.read(path)


def test_many_arms_are_read_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"n{k}" for k in range(4_000)]
    columns: dict[str, list[Any]] = {
        "awake": [[names[k], names[k - 1]] for k in range(4_000)],
        "arm": names,
        "loss": [k / 4_000 for k in range(4_000)],
        "id": [k // 2 for k in range(4_000)],
    }
    monkeypatch.setattr("wakeful.logs.rows.MOST_CELLS", 100_000)
    monkeypatch.setattr("wakeful.logs.log.MOST_CELLS", 100_000)
    small = Log(columns)
    assert max(block.awake.size for block in small.blocks()) <= 100_000
    monkeypatch.setattr("wakeful.logs.log.KEPT_BYTES", 1000)
    again = Log(columns)
    assert again._kept is None
    assert max(block.awake.size for block in again.blocks()) <= 100_000
    assert arrays(again) == arrays(small)
    monkeypatch.undo()
    whole = Log(columns)
    assert len(list(whole.blocks())) == 1
    assert arrays(whole) == arrays(small)
    assert (whole.skipped.duplicates, whole.n_arms) == (2_000, 4_000)


def test_a_log_that_is_too_large_to_keep_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "awake,arm,loss\n" + "b|a,a,0.5\nc|b,b,0.25\n" * 10_000)
    kept = Log.read(path)
    monkeypatch.setattr("wakeful.logs.log.KEPT_BYTES", 1000)
    log = Log.read(path)
    assert log._kept is None
    assert arrays(log) == arrays(kept)
    assert {len(block.arms) for block in log.blocks(3000)} <= {3000, 2192, 3616, 616}
    path.write_text("awake,arm,loss\na|b,a,0.5\n")
    with pytest.raises(ValueError, match="path must be a file that did not change since it was read"):
        list(log.blocks())
    with pytest.raises(ValueError, match="size must be a number of rows, at least 1, got 0"):
        list(log.blocks(0))


def test_names_that_csv_cannot_hold_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    log = Log({"awake": [["a|b", "c"]], "arm": ["c"], "loss": [0]})
    path = written(tmp_path, "old")
    with pytest.raises(ValueError, match=r"names of arms must be without '\|' and blanks at their ends"):
        log.write(path)
    assert path.read_text() == "old"
    log.write(tmp_path / "log.jsonl")
    assert Log.read(tmp_path / "log.jsonl").arms == ("a|b", "c")


@pytest.mark.parametrize("where", ["awake", "arms"])
def test_names_that_no_file_can_hold_are_refused(where: str) -> None:
    rows = {"awake": [["a", "b"], ["a", "\ud800"]], "arm": ["a", "a"], "loss": [0, 1]}
    names = ["a", "b", "\ud800"] if where == "arms" else None
    with pytest.raises(ValueError, match=f"{where} must be texts that can be written in UTF-8, without lone surro"):
        Log(rows, arms=names)
    if where == "awake":
        assert len(Log(rows, on_error="skip")) == 1


def test_other_columns_that_no_text_can_hold_are_refused_when_written(tmp_path: Path) -> None:
    log = Log({"awake": ["a|b"], "arm": ["a"], "loss": [0], "note": ["\ud800"]})
    for name in ("log.csv", "log.jsonl", "log.csv.gz", "log.parquet"):
        with pytest.raises(ValueError, match="columns must be texts that can be written in UTF-8"):
            log.write(tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(ValueError, match="columns must be texts that can be written in UTF-8"):
        log.to_frame()
    strange: list[list[Any]] = [[{}], [10**30]]
    for note in strange:
        log = Log({"awake": ["a|b"], "arm": ["a"], "loss": [0], "note": note})
        with pytest.raises(ValueError, match="columns must be of one type each, to be written as Parquet"):
            log.write(tmp_path / "log.parquet")


def test_numbers_with_too_many_digits_for_a_text_are_no_names_but_ids(tmp_path: Path) -> None:
    huge = 10**5000
    rows = {"awake": [[huge, 1], [1, 2], [1, 2], [1, 2]], "arm": [1, huge, 1, 2], "loss": [0, 0, 0, huge]}
    log = Log({**rows, "id": [huge, huge, huge, 1]} | {"loss": [0, 0, 0, 0]}, on_error="skip")
    assert (log.rows, log.arms, log.skipped.rows, log.skipped.duplicates) == (2, ("1", "2"), 2, 0)
    log.write(tmp_path / "log.jsonl")
    assert Log.read(tmp_path / "log.jsonl").rows == 2
    assert Log({**rows, "id": [1, 1, huge, huge]}, on_error="skip").skipped.rows == 3
    with pytest.raises(TypeError, match="arms must be names or whole numbers"):
        Log(rows, arms=[huge, 1, 2])


def test_names_of_wrong_rows_are_no_arms() -> None:
    rows = {"awake": ["a|b", "x|y", "c|a", "z|c"], "arm": ["a", "y", "c", "c"], "loss": [0, 2, 1, 0.5]}
    log = Log(rows, on_error="skip")
    assert (log.arms, arrays(log)["arms"]) == (("a", "b", "c", "z"), [0, 2, 2])
    assert arrays(log)["awake"][1:] == [[True, False, True, False], [False, False, True, True]]


def test_blanks_around_names_in_text_files_are_no_part_of_them(tmp_path: Path) -> None:
    log = Log.read(written(tmp_path, "awake, arm ,loss\ntea | juice, tea , 0.5 \n"))
    assert (log.arms, arrays(log)["arms"], arrays(log)["losses"]) == (("juice", "tea"), [1], [0.5])


def test_others_of_several_types_cannot_be_parquet(tmp_path: Path) -> None:
    columns = {"awake": ["a|b"] * 2, "arm": ["a"] * 2, "loss": [0, 1], "note": [1, "x"]}
    with pytest.raises(ValueError, match="columns must be of one type each, to be written as Parquet"):
        Log(columns).write(tmp_path / "log.parquet")
    assert not (tmp_path / "log.parquet").exists()
    Log({**columns, "note": [None, None]}).write(tmp_path / "log.parquet")
    assert len(Log.read(tmp_path / "log.parquet")) == 2


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=300), suffix=st.sampled_from([".csv", ".jsonl", ".parquet", ".csv.gz"]))
def test_any_bytes_are_read_or_refused_in_one_sentence(
    data: bytes, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="must be"):
        Log.read(path)


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.just("a|b"), st.just("a")
)
VALUES = st.one_of(CELLS, st.lists(CELLS, max_size=3))


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(st.fixed_dictionaries(dict.fromkeys(("awake", "arm", "probability", "loss", "id"), VALUES))))
def test_any_values_are_rows_or_skipped_with_a_reason(
    rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """However wrong, every row is either in the log, repeated, or skipped with a reason that says what must be."""
    path = tmp_path_factory.getbasetemp() / "values.jsonl"
    good = {"awake": ["a", "b"], "arm": "a", "probability": 0.5, "loss": 0.5}
    path.write_text("\n".join(map(json.dumps, [good, *rows])))
    log = Log.read(path, on_error="skip")
    assert len(log) + log.skipped.rows + log.skipped.duplicates == len(rows) + 1
    assert all(" must be " in reason for _, reason in log.skipped.reasons)
    for block in log.blocks():
        assert block.awake[np.arange(len(block.arms)), block.arms].all()
        assert block.probabilities is not None
        assert ((block.probabilities > 0) & (block.probabilities <= 1)).all()
        assert ((block.losses >= 0) & (block.losses <= 1)).all()
