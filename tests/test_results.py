"""Results: summaries, comparisons, frames and files."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import wakeful as wk
from wakeful.results import Results
from wakeful.worlds import Dependent


@pytest.fixture(scope="module")
def results() -> Results:
    policies = {"SI": wk.SIExp3(), "UCB": wk.SleepingUCB(), "random": wk.Uniform()}
    return wk.simulate(policies, Dependent(), rounds=400, runs=6, seed=2, regrets=("policy", "internal"))


def test_a_summary_is_what_it_says(results: Results) -> None:
    rows = results.summary("policy")
    assert [row.rank for row in rows] == [1, 2, 3]
    assert [row.mean for row in rows] == sorted(row.mean for row in rows)
    for row in rows:
        values = results.final("policy", row.policy)
        assert row.mean == pytest.approx(values.mean())
        assert row.standard_error == pytest.approx(stats.sem(values))
        assert row.median == pytest.approx(np.median(values))
        assert row.worst == values.max()
    table = repr(rows)
    assert "policy regret after 400 rounds" in table
    assert len(table.splitlines()) == 5


def test_a_comparison_is_a_paired_t_interval(results: Results) -> None:
    a, b = results.final("policy", "SI"), results.final("policy", "UCB")
    found = results.compare("SI", "UCB")
    expected = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.difference == pytest.approx((a - b).mean())
    assert found.share_lower == (a < b).mean()
    with pytest.raises(ValueError, match="confidence must be"):
        results.compare("SI", "UCB", confidence=1.5)


def test_unknown_names_get_a_suggestion(results: Results) -> None:
    with pytest.raises(ValueError, match="did you mean 'internal'"):
        results.summary("internl")
    with pytest.raises(ValueError, match="did you mean 'random'"):
        results.final("policy", "Random")


@pytest.mark.parametrize("name", ["r.parquet", "r.npz", "r"])
def test_what_is_saved_is_loaded(results: Results, name: str, tmp_path: Path) -> None:
    results.save(tmp_path / name)
    loaded = Results.load(tmp_path / name)
    for field in ("policies", "world", "rounds", "runs", "seed"):
        assert getattr(loaded, field) == getattr(results, field)
    assert np.array_equal(loaded.checkpoints, results.checkpoints)
    assert np.array_equal(loaded.internal, results.internal)
    for notion in results.regrets:
        assert np.array_equal(loaded.regrets[notion], results.regrets[notion])


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"value": [1.0]}), tmp_path / "other.parquet")
    with pytest.raises(ValueError, match=r"path must be a Parquet file that Results\.save wrote"):
        Results.load(tmp_path / "other.parquet")
    (tmp_path / "other").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="path must be a wakeful results file"):
        Results.load(tmp_path / "other")


def test_a_frame_has_a_row_for_every_number(results: Results) -> None:
    frame: Any = results.to_frame()
    rows = list(results.rows())
    assert len(frame) == len(rows) == 2 * 3 * 6 * results.checkpoints.size
    assert frame.to_dict("records")[1234] == rows[1234]


def test_one_run_has_no_standard_error() -> None:
    alone = wk.simulate(wk.Uniform(), Dependent(), rounds=10, runs=1)
    assert math.isnan(alone.summary("policy")[0].standard_error)
    with pytest.raises(ValueError, match="runs must be at least 2"):
        alone.compare("Uniform()", "Uniform()")
