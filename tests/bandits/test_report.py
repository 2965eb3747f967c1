"""Reports and explanations: the numbers in them, and how they print."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import wakeful as wk

NAMES = ["tea", "<b>coffee</b>", "juice|_x_"]


@pytest.fixture(scope="module")
def bandit() -> wk.Bandit:
    """One for which tea is good and nothing else is."""
    bandit = wk.Bandit(wk.SIExp3(), NAMES, seed=1)
    for n in range(200):
        decision = bandit.choose(NAMES if n % 2 else NAMES[:2])
        if n % 10:
            bandit.update(decision, loss=0.1 if decision.arm == "tea" else 0.9)
    return bandit


def test_the_rows_hold_what_happened(bandit: wk.Bandit) -> None:
    report = bandit.report()
    assert [arm.awake for arm in report.arms] == [200, 200, 100]
    assert sum(arm.chosen for arm in report.arms) == report.decisions == 200
    assert sum(arm.feedback for arm in report.arms) == 180
    assert sum(arm.pending for arm in report.arms) == 20
    assert report.arms[0].mean_loss == pytest.approx(0.1)
    assert all(arm.low <= arm.mean_loss <= arm.high for arm in report.arms)
    assert [arm.probability for arm in report.arms] == bandit.probabilities().tolist()
    assert report.loss < report.uniform_loss
    assert 0.0 < report.gain.low < report.gain.value == pytest.approx(report.uniform_loss - report.loss)
    wide = bandit.report(level=0.99)
    assert wide.gain.low < report.gain.low
    assert wide.arms[0].high > report.arms[0].high


def test_a_report_before_anything_happened_says_so() -> None:
    report = wk.Bandit(wk.SIExp3(), NAMES, seed=1).report()
    assert math.isnan(report.loss)
    assert math.isnan(report.arms[0].mean_loss)
    assert "No feedback yet." in str(report)
    assert "nan" not in str(report) + report.to_markdown() + report.to_html()


def test_it_prints_as_text_markdown_html_and_a_frame(bandit: wk.Bandit, tmp_path: Path) -> None:
    bandit.retire_arm("juice|_x_")
    report = bandit.report()
    bandit.revive_arm("juice|_x_")
    text = str(report)
    assert text.startswith(
        "SIExp3(eta='anytime', exploration=0.0625, horizon=None): 200 decisions, 180 with feedback, 20"
    )
    assert [line.split()[0] for line in text.splitlines()[2:6]] == ["arm", *NAMES]
    assert text.splitlines()[5].endswith("retired")
    assert "The best switch in hindsight" in text
    assert "95 % interval" in text
    assert r"| juice\|\_x\_ |" in report.to_markdown()
    page = report.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == page
    assert "&lt;b&gt;coffee&lt;/b&gt;" in page
    assert "<b>coffee" not in page
    assert report._repr_html_() in report.to_html(whole_page=False)
    frame = report.to_frame()
    assert list(frame["arm"]) == NAMES
    assert list(frame["retired"]) == [False, False, True]
    assert frame["probability"].sum() == pytest.approx(1.0)


def test_an_explanation_says_how_likely_the_arm_was(bandit: wk.Bandit) -> None:
    decision = next(d for d in (bandit.propose(NAMES, u) for u in (0.0, 0.5, 0.99)) if d.arm == "tea")
    found = bandit.explain(decision)
    assert found.arms[0].arm == "tea"
    assert {arm.arm: arm.probability for arm in found.arms} == dict(zip(NAMES, decision.probabilities, strict=True))
    assert "'tea' was the most likely of 3 awake arms." in str(found)
    assert "'tea' lost 0.100 on average so far" in str(found)
    again = bandit.explain(json.loads(json.dumps(decision.to_dict())))
    assert str(again) == str(found)
    other = bandit.propose(NAMES, 1.0 - 1e-12)
    assert "was drawn in spite of that" in str(bandit.explain(other))
    assert "No other arm was awake" in str(bandit.explain(bandit.propose(["tea"], 0.5)))
    assert "&lt;b&gt;" in bandit.explain(other).to_html()
    assert list(bandit.explain(other).to_frame()["arm"]) == [arm.arm for arm in bandit.explain(other).arms]


def test_an_explanation_of_a_retired_arm_has_no_probability_now(bandit: wk.Bandit) -> None:
    decision = bandit.propose(NAMES, 0.5)
    bandit.retire_arm(NAMES[1])
    found = {arm.arm: arm for arm in bandit.explain(decision).arms}
    bandit.revive_arm(NAMES[1])
    assert found[NAMES[1]].probability_now == 0.0
    assert found["tea"].probability_now > 0.0


def test_what_cannot_be_explained_is_refused(bandit: wk.Bandit) -> None:
    with pytest.raises(TypeError, match=r"decision must be a Decision from choose, or its to_dict\(\), got 3"):
        bandit.explain(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        bandit.report(level=1.5)


def test_auto_says_what_it_believes() -> None:
    bandit = wk.Bandit(arms=2, seed=0)
    bandit.update(bandit.choose(), reward=1)
    assert bandit.report().words == str(wk.Auto().belief(bandit.state))
    assert bandit.report().words in str(bandit.report())


def test_switch_gains_have_names_and_errors(bandit: wk.Bandit) -> None:
    gains = bandit.switch_gains()
    assert gains.shape == (3, 3)
    assert gains.arms == tuple(NAMES)
    assert gains.errors is not None
    assert gains.errors.shape == (3, 3)
    assert gains.between(NAMES[1], "tea") == (gains[1, 0], gains.errors[1, 0])
    table = gains.table()
    assert len(table.rows) == 6
    assert table.rows[0][2] == max(gains[i, j] for i in range(3) for j in range(3) if i != j)
    part: Any = gains[:2]
    assert part.arms is None
    with pytest.raises(ValueError, match="instead must be among the arms 'tea'"):
        gains.between("tea", "te")
    with pytest.raises(ValueError, match="array must be the whole one"):
        part.table()


def test_losses_that_were_all_the_same_prove_nothing() -> None:
    bandit = wk.Bandit(wk.Uniform(), 2, seed=0)
    reaches = []
    for rounds in (1, 99):
        for _ in range(rounds):
            bandit.update(bandit.choose(), reward=0)
        gain = bandit.report().gain
        reaches.append(gain.high - gain.low)
    assert reaches[0] == 2.0 > reaches[1] > 0.01
