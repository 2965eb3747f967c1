"""`wakeful evaluate`: the example of its help, its errors, and what it writes."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from wakeful import cli
from wakeful.cli.names import known_bandit_policies, known_policies

HEADER = "awake,arm,probability,loss\n"
ROWS = "tea|juice,tea,0.5,0.25\ntea|juice,juice,0.5,1\ntea|juice|milk,milk,0.25,0.5\n"


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "log.csv"
    path.write_text(HEADER + ROWS * 200)
    return str(path)


def test_the_example_of_the_help(log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, saved = tmp_path / "out.png", tmp_path / "out.parquet"
    policies = ["--policy", "auto", "--policy", "SleepingUCB(constant=2)"]
    assert cli.main(["evaluate", log, *policies, "--plot", str(picture), "--save", str(saved), "--quiet"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0].startswith(f"mean loss in 600 rounds of {log}, where it was 0.5833; doubly robust, 95 %")
    assert [line.split()[0] for line in lines[2:]] == ["auto", "SleepingUCB(constant=2)"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert pq.read_table(saved)["policy"].to_pylist() == ["auto", "SleepingUCB(constant=2)"]


def test_other_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.csv"
    rows = "tea|juice,tea,49.9,a\ntea|juice,juice,0,b\ntea,juice,0,c\ntea|juice,juice,0,b\n"
    path.write_text("awake,product,reward,id\n" + rows)
    more = ["--reward-range", "0", "49.9", "--on-error", "skip", "--column", "arm=product", "--logging", "uniform"]
    table = ["--policy", "uniform", "--estimator", "snips", "--interval", "normal", "--level", "0.9"]
    saved = tmp_path / "out.csv"
    assert cli.main(["evaluate", str(path), *more, *table, "--save", str(saved), "--quiet"]) == 0
    shown = capsys.readouterr()
    assert "self-normalised inverse propensity scores, 90 % normal intervals" in shown.out
    assert "too few rounds: 2" in shown.out
    assert shown.err.splitlines() == [
        "wakeful: 1 rows skipped, 1 rows with an id that was there before",
        "  4: arm must be one of the arms that are awake in its row, got 'juice'",
    ]
    assert saved.read_text().splitlines()[1].startswith("uniform,0.5,")
    assert cli.main(["evaluate", str(path), *more, "--column", "id=", "--policy", "uniform", "--quiet"]) == 0
    assert "mean loss in 3 rounds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--policy", "autoo"], 2, "did you mean 'Auto'"),
        (["--policy", "uniform", "--policy", "uniform"], 2, "--policy must be policies that differ"),
        (["--policy", "sparring(si-exp3)"], 2, "PerSet, SBExp3"),
        (["--policy", "sleepingucbb"], 2, "did you mean 'SleepingUCB'"),
        (["--policy", "uniform", "--estimator", "drr"], 2, "did you mean 'dr'"),
        (["--policy", "uniform", "--level", "high"], 2, "--level must be a number, got 'high'"),
        (["--policy", "uniform", "--level", "95"], 2, "level must be between 0 and 1, got 95.0"),
        (["--policy", "uniform", "--on-error", "skp"], 2, "did you mean 'skip'"),
        (["--policy", "uniform", "--column", "arm"], 2, "--column must be NAME=COLUMN"),
        (["--policy", "uniform", "--reward-range", "0", "1"], 2, "reward_range must be None for a log with losses"),
        (["--policy", "uniform", "--save", "out.xls"], 2, "--save must be a file that ends in .parquet or .csv"),
        (["--policy", "uniform", "--plot", "out.xls"], 2, "--plot must be a file that ends in .png"),
        (["--policy", "uniform", "--seed", "x"], 2, "--seed must be a whole number"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    arguments: list[str], code: int, words: str, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["evaluate", log, *arguments, "--quiet"]) == code
    shown = capsys.readouterr()
    assert (shown.out, len(shown.err.splitlines())) == ("", 1)
    assert words in shown.err


def test_only_policies_for_decisions_are_listed(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", log, "--policy", "autopairs"]) == 2
    said = capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["evaluate", "--help"])
    listed = capsys.readouterr().out.partition("policies: ")[2]
    for text in (said, listed):
        assert "SIExp3" in text
        assert not any(name in text for name in known_policies() if name not in known_bandit_policies())


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["evaluate", str(tmp_path / "none.csv")]) == 1
    assert "No such file" in capsys.readouterr().err
    (tmp_path / "bad.csv").write_text(HEADER + ROWS + "tea|juice,tea,0,0\n")
    assert cli.main(["evaluate", str(tmp_path / "bad.csv")]) == 2
    assert "line 5 of" in capsys.readouterr().err


def test_the_help_tells_columns_and_policies(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        cli.main(["evaluate", "--help"])
    assert done.value.code == 0
    shown = capsys.readouterr().out
    for word in (
        "awake",
        "probability",
        "--reward-range",
        "SleepingUCB",
        "example:",
        "--plot",
        "MODULE:CLASS",
        "--arm ",
    ):
        assert word in shown
    for duels in ("Sparring", "AutoPairs", "StablePair"):
        assert duels not in shown


def test_arms_that_the_log_may_have(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    arms = ["--arm", "juice", "--arm", "tea", "--arm", "water"]
    assert cli.main(["evaluate", log, "--policy", "uniform", *arms, "--arm", "milk", "--quiet"]) == 0
    assert "mean loss in" in capsys.readouterr().out
    assert cli.main(["evaluate", log, "--policy", "uniform", *arms[:2], "--quiet"]) == 2
    assert "awake must be a known arm, got 'tea'" in capsys.readouterr().err
    assert cli.main(["evaluate", log, "--policy", "uniform", *arms[:2], "--unknown-arms", "add", "--quiet"]) == 0
    assert cli.main(["evaluate", log, "--unknown-arms", "ad", "--quiet"]) == 2
    assert "did you mean 'add'" in capsys.readouterr().err


OWN = """from dataclasses import dataclass
import wakeful as wk

@dataclass(frozen=True)
class First(wk.FixedOrdering):
    pass
"""


def test_a_policy_of_ones_own(
    log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_policies.py").write_text(OWN)
    assert cli.main(["evaluate", log, "--policy", "my_policies:First((2, 1, 0))", "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("my_policies:First((2, 1, 0))")
