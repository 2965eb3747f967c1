"""`wakeful reproduce` from end to end, small: whole, resumed, refused; and duels at their reference values."""

import json
import math
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import wakeful as wk
from processes import running
from wakeful import atomic, cli, worlds
from wakeful.lab.results import Results
from wakeful.paper import folder, reproduce
from wakeful.paper.contents import FAILS, HOLDS, IN_PART
from wakeful.paper.experiments import Experiment, experiments, sparring

SMALL = ["reproduce", "--quick", "--runs", "2", "--only", "dependent", "--only", "figure-5"]
FIELDS = {"id", "where", "claim", "measured", "verdict", "reason", "numbers", "kind"}


def numbers(out: Path) -> tuple[Any, Any]:
    """Return the claims and the combined results of a report."""
    import pyarrow.parquet as pq

    return json.loads((out / "claims.json").read_text()), pq.read_table(out / "results.parquet").to_pydict()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small report."""
    out = tmp_path_factory.mktemp("small") / "report"
    assert cli.main([*SMALL, "--out", str(out), "--jobs", "1"]) == 0
    return out


def test_the_folder_has_everything(report: Path) -> None:
    names = {str(path.relative_to(report)) for path in report.rglob("*") if not path.match(".work/*")}
    assert {"report.html", "claims.json", "MANIFEST.json", "results.parquet"} <= names
    assert {f"figures/figure-{n}.{ending}" for n in (2, 5) for ending in ("svg", "png")} <= names
    assert {"results/dependent.parquet", "results/categories.parquet"} <= names
    assert not [name for name in names if name.endswith(".part")]
    assert "Quick run" in (report / "report.html").read_text()
    loaded = Results.load(report / "results" / "dependent.parquet")
    assert (loaded.rounds, loaded.runs, set(loaded.regrets)) == (
        1_000,
        2,
        {"policy", "external", "internal", "ordering"},
    )


def test_claims_for_programs(report: Path) -> None:
    claims, table = numbers(report)
    assert [claim["id"] for claim in claims] == ["beats-both-dependent", "beats-both-categories"]
    for claim in claims:
        assert set(claim) == FIELDS
        assert claim["verdict"] in {HOLDS, IN_PART, FAILS}
        assert (claim["numbers"]["quick"], claim["numbers"]["seed"]) == (True, 0)
    assert set(table) == {"experiment", "regret", "policy", "run", "round", "value"}
    assert set(table["experiment"]) == {"dependent", "categories"}


def test_the_manifest_says_how_to_do_it_again(report: Path) -> None:
    manifest = json.loads((report / "MANIFEST.json").read_text())
    assert manifest["command"][:2] == ["wakeful", "reproduce"]
    assert (manifest["seed"], manifest["quick"]) == (0, True)
    assert manifest["versions"]["wakeful"] == wk.__version__
    assert set(manifest["wall_time"]["experiments"]) == {"dependent", "categories"}
    assert manifest["machine"]["cores"] >= 1


def test_the_same_numbers_for_any_number_of_jobs(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*SMALL, "--out", str(tmp_path / "two"), "--jobs", "2"]) == 0
    assert numbers(tmp_path / "two") == numbers(report)
    shown = capsys.readouterr().out
    assert "beats-both-dependent" in shown
    assert "A quick run" in shown
    kept = json.loads((report / "claims.json").read_text())
    counts = re.search(r"\n\n(\d+ claims?.*)\.\n", shown)
    assert counts is not None
    assert sum(map(int, re.findall(r"\d+", counts[1]))) == len(kept) > 0


def test_another_seed_gives_other_numbers(report: Path, tmp_path: Path) -> None:
    assert cli.main([*SMALL[:-2], "--out", str(tmp_path / "new"), "--seed", "1"]) == 0
    assert numbers(tmp_path / "new")[0][0]["measured"] != numbers(report)[0][0]["measured"]


def test_done_again_it_takes_what_is_there_and_leaves_what_is_not_its_own(report: Path) -> None:
    before = numbers(report)
    mine = [report / name for name in ("figures/notes.md", "figures/sub/a.svg", "results/my.parquet", "notes.md")]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    manifest = json.loads((report / "MANIFEST.json").read_text())
    old = [report / name for name in ("figures/old.svg", "results/old.parquet")]
    for path in old:
        path.write_text("of an earlier report")
        manifest["files"].append(str(path.relative_to(report)))
    folder.write_json(report / "MANIFEST.json", manifest)
    units = {path.name: path.stat().st_mtime_ns for path in (report / folder.WORK).iterdir()}
    assert cli.main([*SMALL, "--out", str(report)]) == 0
    assert {path.name: path.stat().st_mtime_ns for path in (report / folder.WORK).iterdir()} == units
    assert numbers(report) == before
    assert json.loads((report / "MANIFEST.json").read_text())["units_done_before"] == len(units)
    assert [path.read_text() for path in mine] == ["mine"] * len(mine)
    assert not any(path.exists() for path in old)


def test_the_manifest_names_every_file_of_a_report(report: Path) -> None:
    named = json.loads((report / "MANIFEST.json").read_text())["files"]
    assert all((report / name).is_file() for name in named)
    assert {"report.html", "claims.json", "MANIFEST.json", "results.parquet", "figures/figure-2.svg"} <= set(named)


@pytest.mark.parametrize(
    "name", ["../mine", "/etc/hostname", "figures/../../mine", "sub/mine", "figures", ".", 3, None]
)
def test_a_strange_manifest_removes_nothing(name: Any, tmp_path: Path) -> None:
    out = folder.opened(tmp_path / "report")
    (out / "sub").mkdir()
    mine = [tmp_path / "mine", out / "sub" / "mine"]
    for path in mine:
        path.write_text("mine")
    for files in ([name], name, {"figures": name}):
        folder.write_json(out / "MANIFEST.json", {"files": files})
        folder.remove_old(out, [])
    assert all(path.read_text() == "mine" for path in mine)
    assert (out / "figures").is_dir()
    assert (out / "MANIFEST.json").is_file()


def test_a_folder_in_the_place_of_a_file_is_refused_before_any_work(tmp_path: Path) -> None:
    (folder.opened(tmp_path / "report") / "report.html").mkdir()
    with pytest.raises(ValueError, match=r"--out must be a folder that can be written to, got .*report\.html"):
        folder.opened(tmp_path / "report")


def test_what_killed_runs_left_is_removed(tmp_path: Path) -> None:
    out = folder.opened(tmp_path / "report")
    left = [out / place / f".wakeful-{'0' * 32}.part" for place in (".", "figures", "results", folder.WORK)]
    for path in left:
        path.touch()
    atomic._cleaned.clear()
    folder.opened(out)
    assert not any(path.exists() for path in left)


SOME_SECONDS = ["reproduce", "--quick", "--runs", "12", "--only", "duels-30"]


@contextmanager
def started(out: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a run that takes some seconds, one job at a time; its errors go to a file beside its folder."""
    command = ["-m", "wakeful", *SOME_SECONDS, "--jobs", "1", "--out", str(out)]
    with Path(f"{out}.err").open("w") as errors, running(*command, stdout=subprocess.DEVNULL, stderr=errors) as process:
        yield process


def interrupted(out: Path, how: signal.Signals) -> int:
    """Stop such a run in the midst of it; return its exit code."""
    with started(out) as process:
        deadline = time.monotonic() + 120
        while not list((out / folder.WORK).glob("*.unit")) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(how)
        return process.wait(60)


def test_killed_and_started_again_it_goes_on(tmp_path: Path) -> None:
    out, whole = tmp_path / "killed", tmp_path / "whole"
    assert interrupted(out, signal.SIGKILL) == -signal.SIGKILL
    kept = {path: path.stat().st_mtime_ns for path in (out / folder.WORK).glob("*.unit")}
    assert kept
    assert not (out / "report.html").exists()
    with started(out) as process:
        assert process.wait(300) == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert cli.main([*SOME_SECONDS, "--out", str(whole)]) == 0
    assert numbers(out) == numbers(whole)


def test_ctrl_c_is_clean(tmp_path: Path) -> None:
    assert interrupted(tmp_path / "stopped", signal.SIGINT) == 130
    assert (tmp_path / "stopped.err").read_text().splitlines()[-1] == "wakeful: interrupted"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "figure-6"], "--only must be one of 'figure-1'"),
        (["--only", "dependnt"], "did you mean 'dependent'?"),
        (["--runs", "0"], "runs must be a whole number from 1, got 0"),
        (["--runs", "few"], "--runs must be a whole number, got 'few'"),
        (["--jobs", "0"], "jobs must be a whole number from 1, got 0"),
        (["--seed", "-1"], "seed must be a whole number from 0, got -1"),
    ],
)
def test_wrong_use(arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "--out", str(tmp_path / "out"), *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_folders_of_others_are_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name, words in (
        ("thesis", "a new or empty folder, or one of an earlier report"),
        ("file", "--out must be a folder"),
        ("file/below", "--out must be a folder that can be written to"),
        ("/proc/report", "--out must be a folder that can be written to"),
    ):
        assert cli.main(["reproduce", "--quick", "--out", str(tmp_path / name)]) == 2
        assert words in capsys.readouterr().err
    assert os.listdir(tmp_path / "thesis") == ["chapter.tex"]


@pytest.mark.parametrize("text", ["5", "[]", "{", '{"parts": 5}', '{"parts": [["x"]]}', '{"parts": {}}', "[" * 5_000])
def test_a_strange_manifest_names_no_parts(text: str, tmp_path: Path) -> None:
    (tmp_path / folder.MARK).write_text("")
    (tmp_path / "MANIFEST.json").write_text(text)
    assert folder.opened(tmp_path, ["dependent"]) == tmp_path


def test_names_of_figures_and_experiments() -> None:
    everything = reproduce.selected(())
    assert len(everything) == len(set(everything)) == len(experiments()) + len(reproduce.STUDIES)
    assert reproduce.selected(["figure-2"]) == ("stochastic", "dependent", "rock-paper-scissors")
    assert reproduce.selected(["path", "figure-1", "duels-4"]) == ("duels-4", "path", "relations")
    paper = {e.id: (e.rounds, e.runs, e.world.n_arms) for e in experiments() if e.figure.startswith("figure")}
    assert paper == {
        "stochastic": (5_000, 50, 10),
        "dependent": (1_000, 50, 3),
        "rock-paper-scissors": (500, 50, 3),
        "random-dependence": (5_000, 50, 5),
        "random-games": (5_000, 50, 10),
        "duels-4": (50_000, 50, 4),
        "duels-30": (50_000, 50, 30),
        "categories": (50_000, 50, 4),
    }


def test_progress_is_told_where_stderr_is_no_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    only = ["reproduce", "--quick", "--runs", "1", "--only", "rock-paper-scissors", "--out"]
    assert cli.main([*only, str(tmp_path / "told")]) == 0
    assert "wakeful reproduce:   0 % after 0 s, now rock-paper-scissors" in capsys.readouterr().err
    assert cli.main([*only, str(tmp_path / "quiet"), "--quiet"]) == 0
    assert "wakeful reproduce:" not in capsys.readouterr().err


def test_what_is_no_number_is_null_in_json(tmp_path: Path) -> None:
    folder.write_json(tmp_path / "x.json", {"a": [1.5, math.inf, math.nan], "b": (1, None, "x", True)})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": [1.5, None, None], "b": [1, None, "x", True]}


@pytest.mark.parametrize(
    ("world", "values"),
    [
        (worlds.UtilityDuels(n_arms=4), ((217.0, 50.0), (427.0, 91.0))),
        (worlds.CategoryDuels(n_arms=4), ((509.0, 45.0), (2722.0, 18.0))),
    ],
    ids=repr,
)
def test_duel_regrets_are_the_reference_values(
    world: worlds.DuelWorld, values: tuple[tuple[float, float], ...]
) -> None:
    fewer, reference = 8, 50
    found = wk.simulate(sparring(), world, 50_000, fewer, seed=1, checkpoints=[50_000])
    for name, (mean, deviation) in zip(sparring(), values, strict=True):
        margin = 4.0 * deviation * math.sqrt(1.0 / fewer + 1.0 / reference)
        assert abs(found.final("dueling", name).mean() - mean) < margin, name


@pytest.mark.parametrize(
    "one", [one for one in experiments() if one.figure.startswith("figure-")], ids=lambda one: one.id
)
def test_the_source_of_every_setting_is_named(one: Experiment) -> None:
    """Rounds stand in the authors' code alone; of runs the paper says 50 for figures 2 and 3, and 5 for figure 4."""
    assert f"The {one.rounds:,} rounds of a full run are from the authors' code" in one.text
    runs = {
        "figure-4": "caption, which says 5 runs; a full run has 50",
        "figure-5": "Nor does it give a number of runs",
    }
    assert runs.get(one.figure, "") in one.text


def test_no_setting_is_called_the_paper_s_that_is_not(report: Path) -> None:
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "The policies are the paper" in page
    assert "settings are the paper" not in page
    assert "constant 8 is from the authors" in page


def test_help_names_everything_that_only_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")  # no name is broken at its hyphen
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "as in the paper: 50" not in said
    words = set(said.translate(str.maketrans(",;.()", "     ")).split())
    missing = {name for name in reproduce.names() if name not in words}
    assert missing == {"figure-2", "figure-3", "figure-4"}, "from figure-1 to figure-5"
