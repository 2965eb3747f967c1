"""Results of duels from files, tables and lists: read alike, and every bad row named."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from wakeful.bandits.duel_results import (
    WINNER_RULE,
    Problem,
    Reader,
    ReadResults,
    outcome_of,
    read_columns,
    refuse_one_sided,
)

ROWS = [("tea", "milk", "tea"), ("milk", "tea", "right"), ("tea", "cola", "tie"), ("cola", "milk", "left")]
OUTCOMES = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
FRAME = pd.DataFrame(ROWS, columns=["left", "right", "winner"])
CSV = "left,right,winner\n" + "".join(",".join(row) + "\n" for row in ROWS)


def read(results: Any, add: bool = True, skip: bool = False, names: Any = ("milk", "tea")) -> ReadResults:
    return Reader(names, add).read(read_columns(results), skip)


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


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("\ufeff" + CSV.replace("\n", "\r\n") + "\r\n", encoding="utf-8")
    assert read(path).outcomes.tolist() == read(str(path)).outcomes.tolist() == OUTCOMES
    path.write_text("left,right,winner\n1,2,2\n7,1,tie\n")
    numbered = read(path, names=[1, 2])
    assert numbered.arms.tolist() == [[0, 1], [2, 0]]
    assert numbered.added == [7]


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


BAD = {
    f"winner must be {WINNER_RULE}, got 'Milk' (did you mean 'milk'?)": ("tea", "milk", "Milk"),
    f"winner must be {WINNER_RULE}, got None": ("tea", "milk", None),
    f"winner must be {WINNER_RULE}, got True": ("tea", "milk", True),
    f"winner must be {WINNER_RULE}, got 1.5": ("tea", "milk", 1.5),
    "right must be another arm than left, got 'tea'": ("tea", "tea", "tea"),
    "left must be the name of an arm, got None": (None, "tea", "tea"),
    "right must be the name of an arm, got ''": ("tea", "", "tea"),
    "left must be the name of an arm, got ['tea']": (["tea"], "milk", "milk"),
    "right must be a string or a whole number to be added as an arm, got (1, 2)": ("tea", (1, 2), "tea"),
    f"winner must be {WINNER_RULE}, got 'nobody'": ("new", "tea", "nobody"),
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
    assert found.problems[1].reason == "probability must be above 0, at most 1, got '0'"


@pytest.mark.parametrize(
    ("results", "text"),
    [
        (7, "results must be a data frame, an Arrow table, a mapping of columns, a list of rows, or the path of a CSV"),
        ([("a", "b")], "row 1 of results must be (left, right, winner) or (left, right, winner, group), or all rows"),
        (
            FRAME.rename(columns={"winner": "winners"}),
            "got ['left', 'right', 'winners'] (is 'winners' the winner?)",
        ),
        (
            {"left": ["a"], "right": ["b", "c"], "winner": ["a"]},
            "results must be columns of the same length, got {",
        ),
        (pd.concat([FRAME, FRAME[["left"]]], axis=1), "results must be rows with one column called left, got 2"),
    ],
)
def test_results_that_are_none(results: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        read(results)
    assert text in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(b"left,right,winner\n\xff\xfe,a,b\n")
    with pytest.raises(ValueError, match="results must be a text file in UTF-8"):
        read(path)
    path.write_text("")
    with pytest.raises(ValueError, match="results must be rows with the columns left, right and winner, got"):
        read(path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv")


def test_awake_sets_need_both_arms() -> None:
    with pytest.raises(ValueError, match="awake must be a set with both arms of the duel, got"):
        read(FRAME.assign(awake="tea|cola"))
    with pytest.raises(TypeError, match=r"awake must be a list of arm names, or names joined by \|, got 3"):
        read(FRAME.assign(awake=3))


def test_a_list_that_names_the_winner_first_has_no_sides() -> None:
    refuse_one_sided(np.array(OUTCOMES, float))
    refuse_one_sided(np.array([[1.0, 0, 0]] * 19))
    with pytest.raises(ValueError, match="results must be won now and then by either side, or sides=False"):
        refuse_one_sided(np.array([[1.0, 0, 0]] * 20))
