"""One name, one thing: a label of the report means the same policy in the README, the docs and the benchmarks."""

import re
from pathlib import Path

import pytest

import wakeful as wk
from wakeful.paper.experiments import experiments

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "benchmarks").glob("*.py"))]
LABELLED = re.compile(r'"([^"\n]+)": (wk\.\w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))')


def labels() -> dict[str, object]:
    """Return what each label of the report stands for, where that does not depend on the world."""
    found: dict[str, set[str]] = {}
    policies: dict[str, object] = {}
    for experiment in experiments():
        for label, policy in experiment.players(1_000).items():
            found.setdefault(label, set()).add(repr(policy))
            policies[label] = policy
    return {label: policies[label] for label, codes in found.items() if len(codes) == 1}


def pairs(text: str) -> list[tuple[str, object]]:
    """Return the labels of a page and the policies that they name there."""
    return [(label, eval(code, {"wk": wk})) for label, code in LABELLED.findall(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_label_means_the_same_everywhere(page: Path) -> None:
    text, known = page.read_text(encoding="utf-8"), labels()
    assert "SI-EXP3-IX" not in text, "the old label of SIExp3()"
    for label, policy in pairs(text):
        assert policy == known.get(label, policy), label
        assert label != "SI-EXP3", "the algorithm: a policy is 'SI-EXP3 (paper)' or 'SIExp3()'"
        if re.fullmatch(r"\w+\(.*\)", label):
            assert policy == eval(label, vars(wk)), label


def test_labels_are_found() -> None:
    known = labels()
    assert {"SI-EXP3 (paper)", "SIExp3()", "S-UCB", "Sp-UCB", "StablePair()"} <= set(known)
    ((label, policy),) = pairs('{"Sp-UCB": wk.Sparring(wk.SleepingUCB())}')
    assert (label, policy) == ("Sp-UCB", known["Sp-UCB"])
