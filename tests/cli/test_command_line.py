"""The command line, as a newcomer uses it: in a process of its own, and misspelt."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from wakeful import __version__, cli
from wakeful.cli.names import known_policies, parse
from wakeful.lab.results import Results
from wakeful.lab.world_results import WorldResults
from wakeful.paper.reproduce import names

SMALL = ["simulate", "--world", "dependent", "--policy", "si-exp3", "--rounds", "200", "--runs", "3"]


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wakeful", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_the_example_of_the_help_runs(tmp_path: Path) -> None:
    done = run(
        *("simulate", "--world", "dependent", "--policy", "si-exp3", "--policy", "SleepingUCB(constant=2)"),
        *("--rounds", "1e3", "--runs", "5", "--regret", "policy", "--plot", "out.png", "--save", "out.parquet"),
        cwd=tmp_path,
    )
    where_it_takes_long = "wakeful is compiling ", "wakeful simulate: "
    said = [line for line in done.stderr.splitlines() if not line.startswith(where_it_takes_long)]
    assert (done.returncode, said) == (0, [])
    assert "si-exp3" in done.stdout
    assert "SleepingUCB(constant=2)" in done.stdout
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert list(Results.load(tmp_path / "out.parquet").policies) == ["si-exp3", "SleepingUCB(constant=2)"]


def test_a_file_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.toml").write_text(
        'world = "dependent"\nrounds = 1e4\nruns = 3\nregrets = ["policy", "internal"]\n'
        '[policies]\nours = "si-exp3"\n"theirs" = "per-set(sleeping-ucb)"\n'
    )
    assert cli.main(["simulate", "--config", str(tmp_path / "c.toml"), "--rounds", "200", "--seed", "0"]) == 0
    shown = capsys.readouterr().out
    assert "policy regret after 200 rounds" in shown
    assert "internal regret after 200 rounds" in shown
    assert "theirs" in shown


def test_one_policy_may_stand_alone_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.toml").write_text(
        'world = "dependent"\nrounds = 50\nruns = 2\npolicy = "uniform"\nregret = "swap"\n'
    )
    assert cli.main(["simulate", "--config", str(tmp_path / "c.toml")]) == 0
    assert "swap regret after 50 rounds" in capsys.readouterr().out


def test_version_and_help() -> None:
    assert run("--version").stdout == f"wakeful {__version__}\n"
    shown = run("simulate", "--help").stdout
    for word in ("--dask", "--store", "RockPaperScissors", "OrderingExp4", "example:"):
        assert word in shown
    assert run().returncode == 2
    assert run("simulat").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--world", "dependnt"], "did you mean 'Dependent'"),
        (["--policy", "si-exp4"], "did you mean 'SIExp3'"),
        (["--policy", "SleepingUCB(konstant=2)"], "unexpected keyword argument 'konstant'"),
        (["--policy", "SIExp3(eta=-1)"], "eta must be a positive"),
        (["--policy", "__import__('os').system('true')"], "policy must be"),
        (["--rounds", "many"], "--rounds must be a whole number, got 'many'"),
        (["--rounds", "1.5"], "--rounds must be a whole number"),
        (["--regret", "polcy"], "did you mean 'policy'"),
        (["--jobs", "0"], "jobs must be at least 1"),
        (["--rounds", "1e30"], "rounds must be at most"),
        (["--plot", "nowhere/out.png"], "--plot must be a file in a folder that exists"),
        (["--save", "nowhere/out.npz"], "--save must be a file in a folder that exists"),
        (["--plot", "out.xyz"], "--plot must be a file that ends in .png"),
        (["--world", "replay"], "world must be one of"),
        (["--config", "nowhere.toml"], "wakeful: No such file or directory: 'nowhere.toml'"),
        (["--policy", "stable-pair"], "policy must be a policy for bandits, such as SIExp3(), got StablePair()"),
        (["--config", "/dev/zero"], "path must be that of a regular file"),
        (["--runs", "1e12"], "runs must be at most"),
        (["--runs", "1e7", "--rounds", "1e6"], "fewer of these allow more runs"),
        (["--save", "/"], "--save must be a file, not something else"),
        (["--plot", "/proc/out.png"], "--plot must be a file in a folder that can be written to"),
        (["--save", "/proc/out.parquet"], "--save must be a file in a folder that can be written to"),
    ],
)
def test_wrong_use_is_one_clear_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main([*SMALL, *arguments])
    error = capsys.readouterr().err
    assert code in (1, 2)
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["simulat"], "did you mean 'simulate'?"),
        (["simulate", "--wrld", "dependent"], "unrecognized arguments: --wrld dependent (did you mean '--world'?)"),
        (["serve", "--prt=8001"], "unrecognized arguments: --prt=8001 (did you mean '--port'?)"),
        (["evaluate", "log.csv", "more.csv"], "unrecognized arguments: more.csv\n"),
    ],
)
def test_a_misspelt_command_or_option_gets_a_suggestion(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_help_breaks_no_name_of_an_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["reproduce", "--help"])
    words = set(re.findall(r"[\w-]+", capsys.readouterr().out))
    assert {name for name in names() if not name.startswith("figure")} <= words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("policies = 5", "--policy must be a name or a list of names, got 5"),
        ("policies = [5]", "--policy must be text, got 5"),
        ("policies = [['uniform']]", "--policy must be text, got ['uniform']"),
        ("policies = {mine = 5}", "policy must be a name, with arguments in brackets, got 5"),
        ("regrets = 5", "--regret must be a name or a list of names, got 5"),
        ("world = 5", "world must be a name, with arguments in brackets, got 5"),
        ("seed = true", "--seed must be a whole number, got True"),
        ("rounds = true", "--rounds must be a whole number, got True"),
        ("runs = [3]", "--runs must be a whole number, got [3]"),
        ("store = 5", "--store must be text, got 5"),
        ("save = 5", "--save must be text, got 5"),
        ("dask = 5", "--dask must be text, got 5"),
        ("x = " + "[" * 5_000 + "]" * 5_000, "--config must be a TOML file"),
        ("x = '\udcff'", "--config must be a TOML file"),
    ],
)
def test_strange_fields_of_a_file_are_one_clear_line(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = {"world": "'dependent'", "rounds": "5", "runs": "2", "policies": "'uniform'"}
    lines = [f"{name} = {value}" for name, value in usual.items() if not text.startswith(name)]
    path = tmp_path / "c.toml"
    path.write_bytes("\n".join([*lines, text]).encode(errors="surrogateescape"))
    assert cli.main(["simulate", "--config", str(path)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_too_little_memory_is_one_clear_line() -> None:
    """A process that may have little memory asks for a world that needs much."""
    code = (
        "import resource, sys; import wakeful.cli; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "sys.exit(wakeful.cli.main(sys.argv[1:]))"
    )
    few = ["simulate", "--world", "Stochastic(30000)", "--policy", "si-exp3", "--rounds", "1", "--runs", "1"]
    done = subprocess.run([sys.executable, "-c", code, *few], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("wakeful: ")
    assert done.stderr.count("\n") == 1


def test_missing_fields_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate"]) == 2
    assert "--world must be given" in capsys.readouterr().err


def test_unknown_fields_of_a_file_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.toml").write_text('wrld = "dependent"')
    assert cli.main(["simulate", "--config", str(tmp_path / "c.toml")]) == 2
    assert "did you mean 'world'" in capsys.readouterr().err
    (tmp_path / "c.toml").write_text("world = ")
    assert cli.main(["simulate", "--config", str(tmp_path / "c.toml")]) == 2


def test_names_are_read_and_never_evaluated() -> None:
    classes = known_policies()
    assert repr(parse("policy", "PER_SET(SI-EXP3(eta='sqrt', exploration=0), max_sets=3)", classes)) == (
        "PerSet(policy=SIExp3(eta='sqrt', exploration=0.0, horizon=None), max_sets=3)"
    )
    for text in ("", "(", "1", "SIExp3(eta=open('x'))", "SIExp3()()", "a.b", "SIExp3(*[1])", "x" * 100_000):
        with pytest.raises((ValueError, TypeError), match="policy must be"):
            parse("policy", text, classes)


OWN = """
from dataclasses import dataclass
import numpy as np
import wakeful as wk
from wakeful.worlds import Stochastic

@dataclass(frozen=True)
class Lazy(wk.Policy):
    share: float = 0.5

    def start(self, n_arms):
        return wk.Uniform().start(n_arms)

    def probabilities(self, state, awake):
        p = awake * (1 - self.share) / awake.sum()
        p[np.flatnonzero(awake)[0]] += self.share
        return p

    def update(self, state, decision, loss):
        pass

@dataclass(frozen=True)
class Two(Stochastic):
    n_arms: int = 2

class Other:
    pass
"""


def test_a_policy_and_a_world_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    given = ("simulate", "--world", "mine:Two", "--policy", "mine:Lazy(share=0.25)", "--policy", "uniform")
    done = run(*given, "--rounds", "20", "--runs", "2", "--jobs", "1", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mine:Lazy(share=0.25)" in done.stdout
    assert "rounds of Two(" in done.stdout
    (tmp_path / "c.toml").write_text(
        'world = ["mine:Two", "Stochastic(3)"]\nrounds = 20\nruns = 2\njobs = 1\nregret = "policy"\n'
        'save = "out.wakeful"\n[policies]\nnested = "per-set(mine:Lazy(0.5), max_sets=2)"\n'
    )
    done = run("simulate", "--config", "c.toml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("nested") == 2
    assert list(WorldResults.load(tmp_path / "out.wakeful")) == ["mine:Two", "Stochastic(3)"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no_such_module:Lazy", "policy must be MODULE:CLASS of a module that can be imported"),
        ("mine_too:Lasy(1)", "a policy or a world in mine_too, got 'mine_too:Lasy' (did you mean 'Lazy'?)"),
        ("mine_too:Other", "a policy or a world in mine_too, got 'mine_too:Other'"),
        ("mine_too:np", "a policy or a world in mine_too, got 'mine_too:np'"),
        ("mine_too:Lazy(shar=1)", "must be Lazy with arguments that it takes"),
        ("mine_too:Lazy(__import__('os').getcwd())", "a name, with plain values as arguments"),
        ("mine_too:Lazy.__init__", "a name, with plain values as arguments"),
    ],
)
def test_what_is_no_class_of_ones_own_is_refused(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_too.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises((ValueError, TypeError)) as refused:
        parse("policy", text, known_policies())
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("def f(:\n", "invalid syntax (broken.py, line 1)"),
        ("x = 1\nx / 0\n", "ZeroDivisionError: division by zero (broken.py, line 2)"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("from os import nothing\n", "ImportError: cannot import name 'nothing' from 'os'"),
    ],
)
def test_a_module_of_ones_own_that_cannot_be_imported_is_one_line(code: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(code)
    done = run("simulate", "--world", "stochastic", "--policy", "broken:Lazy", "--rounds", "20", cwd=tmp_path)
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, len(lines)) == (2, "", 1)
    assert lines[0].startswith(
        "wakeful: policy must be MODULE:CLASS of a module that can be imported, got 'broken:Lazy'"
    )
    assert sentence in lines[0]
