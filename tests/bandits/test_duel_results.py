"""Results of duels from files, tables and lists: read alike, and every bad row named."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wakeful.bandits.duel_counts import refuse_one_sided
from wakeful.bandits.duel_results import (
    Learned,
    Problem,
    ReadResults,
    find_duel_columns,
    read_results,
    results_source,
)
from wakeful.bandits.duel_rows import WINNER_RULE, outcome_of
from wakeful.logs.csv_file import CsvSource

ROWS = [("tea", "milk", "tea"), ("milk", "tea", "right"), ("tea", "cola", "tie"), ("cola", "milk", "left")]
OUTCOMES = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
FRAME = pd.DataFrame(ROWS, columns=["left", "right", "winner"])
CSV = "left,right,winner\n" + "".join(",".join(row) + "\n" for row in ROWS)


def read(
    results: Any, add: bool = True, skip: bool = False, names: Any = ("milk", "tea"), columns: Any = None
) -> ReadResults:
    source = results_source(results)
    return read_results(source, find_duel_columns(source, columns), names, add, skip)


@pytest.mark.parametrize(
    "results",
    [
        ROWS,
        iter(ROWS),
        [dict(zip(("left", "right", "winner"), row, strict=True)) for row in ROWS],
        FRAME,
        FRAME.assign(city="Bern", time=0),
        pl.DataFrame(FRAME),
        pa.Table.from_pandas(FRAME),
        FRAME.to_dict("list"),
    ],
    ids=["tuples", "iterator", "dicts", "pandas", "other columns", "polars", "arrow", "mapping"],
)
def test_every_form_is_read_alike(results: Any) -> None:
    found = read(results)
    assert found.arms.tolist() == [[1, 0], [0, 1], [1, 2], [2, 0]]
    assert found.outcomes.tolist() == OUTCOMES
    assert found.added == ["cola"]
    assert found.probabilities is None
    assert found.groups == []
    assert found.awake_sets.tolist() == [[True] * 3]


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.jsonl", "x.jsonl.gz", "x.parquet"])
def test_files_of_every_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if ".csv" in name:
        FRAME.to_csv(path, index=False)
    elif ".jsonl" in name:
        FRAME.to_json(path, orient="records", lines=True)
    else:
        FRAME.to_parquet(path)
    found = read(path)
    assert (found.outcomes.tolist(), found.added) == (OUTCOMES, ["cola"])
    with pytest.raises(ValueError, match=rf"(line|row) [34] of .*{name}: right must be among the arms 'milk', 'tea'"):
        read(path, add=False)


def test_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("\ufeff" + CSV.replace("\n", "\r\n") + "\r\n", encoding="utf-8")
    assert read(path).outcomes.tolist() == read(str(path)).outcomes.tolist() == OUTCOMES
    path.write_text("left,right,winner\n1,2,2\n7, 1,tie \n")
    numbered = read(path, names=[1, 2])
    assert numbered.arms.tolist() == [[0, 1], [2, 0]]
    assert numbered.added == [7]
    path.write_text(
        "left , right,winner,group,awake\n tea, milk ,tea , x ,milk | tea\ntea,milk, 0.75,,\ntea,milk,0.5,,\n"
    )
    found = read(path, add=False)
    assert found.outcomes.tolist() == [[1, 0, 0], [0.75, 0.25, 0], [0, 0, 1]]
    assert (found.groups, found.awake.tolist()) == (["x", None, None], [1, 0, 0])


def test_an_id_that_was_there_before_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeful.logs.chunks.CHUNK_ROWS", 2)
    frame = FRAME.assign(id=["x", "y", "x", None])
    for results in (frame, frame.to_dict("records")):
        found = read(results)
        assert (found.outcomes.tolist(), found.duplicates) == ([OUTCOMES[0], OUTCOMES[1], OUTCOMES[3]], 1)
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert read(tmp_path / "x.csv").duplicates == 1
    assert read(tmp_path / "x.csv", columns={"id": None}).duplicates == 0
    wrong_first = [("tea", "milk", "x"), ("tea", "milk", "tea")]
    found = read(pd.DataFrame(wrong_first, columns=["left", "right", "winner"]).assign(id=1), skip=True)
    assert (len(found.arms), found.duplicates) == (1, 0)  # what is wrong was not there
    assert str(Learned(3, (), (), 1)) == (
        "Learned 3 duels; skipped 0 rows; added 0 arms; left out 1 row with an id that was there before."
    )


@pytest.mark.parametrize("name", ["grup", "Group", "probabilty", "propensity", "awakee", "ID", "winer"])
def test_columns_that_are_misspelt_are_not_ignored(name: str) -> None:
    role = {"grup": "group", "ID": "id", "propensity": "probability", "winer": "winner"}.get(name, name.lower())
    role = {"probabilty": "probability", "awakee": "awake"}.get(role, role)
    frame = FRAME.rename(columns={"winner": "winer"}) if name == "winer" else FRAME.assign(**{name: [1, 2, 3, 4]})
    with pytest.raises(ValueError, match=rf"columns must be .*{name}.*columns=\{{'{role}': '{name}'\}}"):
        read(frame)
    if name != "winer":
        assert len(read(frame, columns={role: None}).arms) == 4


def test_columns_that_are_called_otherwise() -> None:
    frame = FRAME.rename(columns={"left": "model_a", "right": "model_b", "winner": "vote"})
    assert read(frame, columns={"left": "model_a", "right": "model_b", "winner": "vote"}).outcomes.tolist() == OUTCOMES
    with pytest.raises(ValueError, match=r"columns must be one of 'left', .*, got 'arm'"):
        read(frame, columns={"arm": "vote"})


def test_a_text_file_has_as_many_fields_in_each_row(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(CSV + "tea,milk\ntea,milk,tea,more\n")
    found = read(path, skip=True)
    assert [problem.line for problem in found.problems] == [6, 7]
    assert found.problems[1].reason == "fields must be 3, as many as the header has, got 4"
    assert CsvSource(path).names == ("left", "right", "winner")


def test_many_rows_are_read_in_chunks_and_new_arms_of_wrong_rows_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeful.logs.chunks.CHUNK_ROWS", 3)
    rows = [*ROWS, ("x", "y", "z"), *ROWS, ("x", "tea", "x")]
    found = read(rows, skip=True)
    assert found.outcomes.tolist() == [*OUTCOMES, *OUTCOMES, [1, 0, 0]]
    assert (found.added, [problem.line for problem in found.problems]) == (["cola", "x"], [5])


def test_groups_probabilities_and_awake_sets() -> None:
    frame = FRAME.assign(
        group=["x", None, "", "y"],
        probability=[0.5, 0.25, 1.0, 1e-3],
        awake=["tea|milk", ["milk", "tea"], None, "cola|milk|tea"],
    )
    found = read(frame)
    assert found.groups == ["x", None, None, "y"]
    assert found.probabilities is not None
    assert found.probabilities.tolist() == [0.5, 0.25, 1.0, 1e-3]
    assert found.awake.tolist() == [1, 1, 0, 2]
    assert found.awake_sets.tolist() == [[True] * 3, [True, True, False], [True] * 3]
    assert read([(*row, "x") for row in ROWS]).groups == ["x"] * 4


def test_shares_and_names_that_are_words() -> None:
    assert outcome_of("a", "b", 0.75) == (0.75, 0.25, 0.0)
    assert outcome_of("a", "b", 0.5) == (0.0, 0.0, 1.0)
    assert outcome_of("right", "left", "left") == (0.0, 1.0, 0.0)  # an arm of that name
    assert outcome_of("a", "tie", "tie") == (0.0, 1.0, 0.0)
    assert outcome_of(1, 2, 1) == (1.0, 0.0, 0.0)


SHARE = f"{WINNER_RULE}, or the left arm's share"
BAD = {
    f"winner must be {SHARE}, got 'Draw' (did you mean 'tie'?)": ("tea", "milk", "Draw"),
    "left must be texts that can be written in UTF-8, without lone surrogates, got '\\ud800'": ("\ud800", "tea", "tea"),
    "group must be texts that can be written in UTF-8, without lone surrogates, got '\\ud800'": (
        "tea",
        "milk",
        "tea",
        "\ud800",
    ),
    f"winner must be {SHARE}, got 'Milk' (did you mean 'milk'?)": ("tea", "milk", "Milk"),
    f"winner must be {SHARE}, got None": ("tea", "milk", None),
    f"winner must be {SHARE}, got True": ("tea", "milk", True),
    f"winner must be {SHARE}, got 1.5": ("tea", "milk", 1.5),
    "right must be another arm than left, got 'tea'": ("tea", "tea", "tea"),
    "left must be the name of an arm, got None": (None, "tea", "tea"),
    "right must be the name of an arm, got ''": ("tea", "", "tea"),
    "left must be the name of an arm, got ['tea']": (["tea"], "milk", "milk"),
    "left must be the name of an arm, got array(['tea', 'x'], dtype='<U3')": (np.array(["tea", "x"]), "milk", "milk"),
    f"winner must be {SHARE}, got array([1, 2])": ("tea", "milk", np.array([1, 2])),
    "group must be a string or a whole number, got array([1, 2])": ("tea", "milk", "tea", np.array([1, 2])),
    "right must be a string or a whole number to be added as an arm, got (1, 2)": ("tea", (1, 2), "tea"),
    f"winner must be {SHARE}, got 'someone'": ("new", "tea", "someone"),
    "group must be a string or a whole number, got 1.5": ("tea", "milk", "tea", 1.5),
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_row_is_named(text: str) -> None:
    rows = [*ROWS, BAD[text], ("tea", "soda", "tea")]
    with pytest.raises((ValueError, TypeError)) as caught:
        read(rows)
    assert str(caught.value) == f"row 5 of results: {text}"
    skipped = read(rows, skip=True)
    assert skipped.problems == [Problem(5, text)]
    assert skipped.added == ["cola", "soda"]  # nothing of the bad row
    assert len(skipped.arms) == 5


def test_unknown_arms_are_refused_if_asked_for() -> None:
    with pytest.raises(ValueError, match=r"row 3 of results: right must be among the arms 'milk', 'tea', got 'cola'"):
        read(ROWS, add=False)
    assert [problem.line for problem in read(ROWS, add=False, skip=True).problems] == [3, 4]


def test_lines_of_a_file_are_those_of_an_editor(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(
        'left,right,winner,probability\ntea,milk,tea,1\n\ntea,"milk",x,1\ntea,milk,tea,0\ntea\ntea,milk,tea,a\n'
    )
    found = read(path, skip=True)
    assert [problem.line for problem in found.problems] == [4, 5, 6, 7]
    assert found.problems[1].reason == "probability must be a number above 0 and at most 1 (at least 1e-18), got '0'"


@pytest.mark.parametrize(
    ("results", "text"),
    [
        (
            7,
            "results must be a data frame, an Arrow table, a mapping of columns, a list of rows, or the path of a file",
        ),
        ([("a", "b")], "row 1 of results must be (left, right, winner) or (left, right, winner, group), or all rows"),
        (
            FRAME.rename(columns={"winner": "winners"}),
            "columns must be left, right and winner, got ['left', 'right', 'winners'] (is 'winners' the winner?",
        ),
        (
            {"left": ["a"], "right": ["b", "c"], "winner": ["a"]},
            "results must be columns of the same length, each a list, got {'left': 1, 'right': 2",
        ),
        (pd.concat([FRAME, FRAME[["left"]]], axis=1), "columns must be such that left is there once, got"),
    ],
)
def test_results_that_are_none(results: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        read(results)
    assert text in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(b"left,right,winner\n\xff\xfe,a,b\n")
    with pytest.raises(ValueError, match=r"line 2 of .*results.csv must be text in UTF-8"):
        read(path)
    path.write_text("")
    with pytest.raises(ValueError, match="columns must be left, right and winner, got"):
        read(path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv")


def test_awake_sets_need_both_arms() -> None:
    with pytest.raises(ValueError, match="awake must be a set with both arms of the duel, got"):
        read(FRAME.assign(awake="tea|cola"))
    with pytest.raises(ValueError, match=r"awake must be a list of arms, or their names joined by '\|', got 3"):
        read(FRAME.assign(awake=3))


def test_a_list_that_names_the_winner_first_has_no_sides() -> None:
    refuse_one_sided(np.array(OUTCOMES, float))
    refuse_one_sided(np.array([[1.0, 0, 0]] * 19))
    with pytest.raises(ValueError, match="results must be won now and then by either side, or sides=False"):
        refuse_one_sided(np.array([[1.0, 0, 0]] * 20))


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.sampled_from(["tea", "milk", "tie"])
)
VALUES = st.one_of(CELLS, st.sampled_from(["tea", "milk"]), st.lists(CELLS, max_size=3))
FIELDS = ("left", "right", "winner", "group", "probability", "awake", "id")


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(st.fixed_dictionaries(dict.fromkeys(FIELDS, VALUES))), add=st.booleans())
def test_any_values_are_results_or_skipped_with_a_reason(rows: list[dict[str, Any]], add: bool) -> None:
    """However wrong, every row is learned, repeated, or skipped with a reason that says what must be."""
    good: dict[str, Any] = {"left": "tea", "right": "milk", "winner": "tea", "probability": 0.5}
    found = read([good, *rows], add=add, skip=True)
    assert len(found.arms) + len(found.problems) + found.duplicates == len(rows) + 1
    assert all(" must be " in problem.reason for problem in found.problems)
    assert found.arms.max() < 2 + len(found.added) == found.awake_sets.shape[1]
    assert (found.outcomes.sum(axis=1) == 1.0).all()
    assert found.awake_sets[found.awake[:, None], found.arms].all()


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=300), suffix=st.sampled_from([".csv", ".jsonl", ".parquet", ".csv.gz"]))
def test_any_bytes_are_results_or_refused_in_one_sentence(
    data: bytes, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any_results{suffix}"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="must be"):
        read(path)
