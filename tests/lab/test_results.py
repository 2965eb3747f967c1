"""Results: summaries, comparisons, frames and files."""

import dataclasses
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import wakeful as wk
from wakeful.lab import tables
from wakeful.lab.results import Results
from wakeful.worlds import Dependent, Stochastic


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
    for data in ((tmp_path / "other.parquet").read_bytes(), b"", b"PAR1", b"nothing" * 100, b"PAR1" * 10):
        (tmp_path / "other.parquet").write_bytes(data)
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


def small() -> Results:
    names = {"SI": "SIExp3()", "random": "Uniform()"}
    curves = np.random.default_rng(0).random((2, 3, 4))
    checkpoints = np.array([1, 2, 5, 10])
    return Results(names, "Dependent()", 10, 3, 7, checkpoints, {"policy": curves}, np.zeros((2, 0, 0)))


def test_nothing_is_lost_where_no_internal_regret_was_kept(tmp_path: Path) -> None:
    for name in ("r.parquet", "r"):
        small().save(tmp_path / name)
        assert Results.load(tmp_path / name).internal.shape == (2, 0, 0)


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """A byte is another one, or the end is missing, or a stretch is zero, or repeated."""
    at, length = int(rng.integers(len(data))), int(rng.integers(1, 200))
    kind = rng.integers(4)
    if kind == 0:
        return data[:at] + bytes([data[at] ^ int(rng.integers(1, 256))]) + data[at + 1 :]
    if kind == 1:
        return data[:at]
    if kind == 2:
        changed = data[:at] + bytes(len(data[at : at + length])) + data[at + length :]
        return changed if changed != data else data[:at]
    return data[:at] + data[at : at + length] + data[at:]


def test_every_damaged_parquet_file_is_refused_with_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    small().save(path)
    data, rng = path.read_bytes(), np.random.default_rng(1)
    every = [data[:n] + bytes([data[n] ^ 1 << n % 8]) + data[n + 1 :] for n in range(0, len(data), 3)]
    for wrong in [*every, *(damaged(data, rng) for _ in range(300))]:
        path.write_bytes(wrong)
        with pytest.raises(
            ValueError, match=r"^path must be a Parquet file that Results\.save wrote, complete and unch"
        ):
            Results.load(path)


def test_a_parquet_file_with_checksums_that_every_reader_can_verify(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "r.parquet"
    found = small()
    found.save(path)
    data = path.read_bytes()
    at = data.index(found.regrets["policy"].tobytes()[8:16])
    path.write_bytes(data[:at] + b"!" + data[at + 1 :])
    with pytest.raises(OSError, match="CRC"):
        pq.read_table(path, page_checksum_verification=True)


def test_a_name_that_looks_like_a_checksum_is_a_name(tmp_path: Path) -> None:
    found = dataclasses.replace(small(), policies={"wakeful-sha256-" + "0" * 64: "", "wakeful-sha256-" + "a" * 64: ""})
    found.save(tmp_path / "r.parquet")
    assert Results.load(tmp_path / "r.parquet").policies == found.policies


def test_a_parquet_file_of_before_there_were_checksums_is_read(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = small()
    about = json.dumps({**found._header(), "internal": found.internal.tolist()})
    table = pa.table(found._columns()).replace_schema_metadata({"wakeful results": about})
    pq.write_table(table, tmp_path / "r.parquet")
    assert np.array_equal(Results.load(tmp_path / "r.parquet").regrets["policy"], found.regrets["policy"])


def test_results_of_more_memory_than_allowed_are_refused_before_they_are_read(tmp_path: Path) -> None:
    import pyarrow as pa

    found = small()
    about = json.dumps({**found._header(), "internal": [], "sealed": True})
    rows = 4_000_000
    numbers = {"round": np.zeros(rows, np.int64), "value": np.zeros(rows)}
    tables.write(tmp_path / "r.parquet", pa.table(numbers).replace_schema_metadata({"wakeful results": about}))
    assert (tmp_path / "r.parquet").stat().st_size < 100_000
    with pytest.raises(ValueError, match=r"rows must be so many that they take at most 10,000,000 bytes \(max_bytes"):
        Results.load(tmp_path / "r.parquet", max_bytes=10_000_000)
    with pytest.raises(ValueError, match="path must be a file of at most 100 bytes"):
        Results.load(tmp_path / "r.parquet", max_bytes=100)


WRONG: list[dict[str, Any]] = [
    {"rounds": 11},
    {"rounds": "10"},
    {"runs": 2},
    {"runs": -3},
    {"runs": None},
    {"seed": 1.5},
    {"policies": ["SI", "random"]},
    {"policies": {"SI": ""}},
    {"world": 3},
    {"regrets": []},
    {"regrets": ["policy", "external"]},
    {"regrets": None},
]


@pytest.mark.parametrize("change", WRONG, ids=repr)
@pytest.mark.parametrize("name", ["r.parquet", "r"])
def test_a_sealed_file_that_contradicts_itself_is_refused(
    change: dict[str, Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = small()
    header = {**found._header(), **change}
    monkeypatch.setattr(Results, "_header", lambda self: header)
    found.save(tmp_path / name)
    with pytest.raises(ValueError, match=r"^path must be .*, complete and unchanged, got "):
        Results.load(tmp_path / name)


KILLED = """
import sys
from pathlib import Path
import numpy as np
from crashes import killed_at_every_line
from wakeful import atomic
from wakeful.lab import results, tables

path = Path(sys.argv[1]) / "r.parquet"

def save(seed):
    regrets = {"policy": np.random.default_rng(seed).random((2, 5, 100))}
    made = results.Results({"a": "", "b": ""}, "w", 100, 5, seed, np.arange(1, 101), regrets, np.zeros((2, 0, 0)))
    made.save(path)

save(1)
watched = {atomic.__file__, tables.__file__}
print(killed_at_every_line(save, lambda: results.Results.load(path).seed, path.parent, watched))
"""


def test_a_process_killed_at_any_line_of_the_writer_leaves_a_whole_parquet_file(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    killed, old, new, rests = map(int, done.stdout.split())
    assert killed == old + new > 20
    assert min(old, new, rests) > 0, "some should die before the file is replaced, some after, some in between"


def test_a_summary_as_a_frame_markdown_and_latex() -> None:
    results = wk.simulate({"a_b & c": wk.Uniform(), "UCB": wk.SleepingUCB()}, Stochastic(3), rounds=50, runs=3)
    summary = results.summary("policy")
    frame = summary.to_frame()
    assert list(frame.columns) == list(summary[0]._fields)
    assert frame["mean"].tolist() == [row.mean for row in summary]
    assert r"a\_b &amp; c" in summary.to_markdown()
    assert summary.to_markdown().splitlines()[0].startswith("| rank | policy | mean | +- | 25 % |")
    latex = summary.to_latex()
    assert r"a\_b \& c" in latex
    assert latex.startswith("\\begin{tabular}{rlrrrrrrr}\n\\toprule\nrank & policy & mean & +- & 25 \\% &")
    assert latex.count(r" \\") == 3
    assert "<table>" in summary._repr_html_()
