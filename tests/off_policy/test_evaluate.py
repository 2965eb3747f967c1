"""`evaluate`: its numbers against literal loops, exact expectations and known worlds, its warnings and its tables."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from evaluate import LOGGERS, POLICIES, coverage
from reference import estimators as literal
from wakeful import Auto, Evaluation, FixedOrdering, Log, Policy, SIExp3, SleepingUCB, Uniform, evaluate
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.decision import Decision
from wakeful.worlds import Dependent

UCB = SleepingUCB(constant=2.0)


def a_log(awake: Mask, arms: Any, losses: Any, probabilities: Any = None, **options: Any) -> Log:
    """Return arrays as a log whose arms are called 0, 1, ..."""
    columns = {
        "awake": ["|".join(str(k) for k in np.flatnonzero(mask)) for mask in awake],
        "arm": [str(k) for k in arms],
        "loss": list(losses),
    }
    if probabilities is not None:
        columns["probability"] = list(probabilities)
    return Log(columns, arms=range(awake.shape[1]), **options)


def uniform_log(rows: int = 600, n_arms: int = 4, seed: int = 0, known: bool = True) -> Log:
    """Return a log of uniform choices, in which arm k loses with probability (k + 1) / (n + 1)."""
    rng = np.random.default_rng(seed)
    awake = rng.random((rows, n_arms)) < 0.7
    awake[~awake.any(axis=1)] = True
    arms, p = LOGGERS["uniform"](rng, awake, np.zeros(awake.shape))
    losses = rng.random(rows) < (arms + 1) / (n_arms + 1)
    return a_log(awake, arms, losses.astype(float), p if known else None)


@pytest.mark.parametrize("name", list(POLICIES))
def test_a_literal_loop_finds_the_same(name: str) -> None:
    """Decide every row, weigh it, learn from it: with the plain methods of the policy, one row at a time."""
    policy, n_arms = POLICIES[name], 4
    log = uniform_log()
    block = next(log.blocks())
    assert block.probabilities is not None
    state, laws = policy.start(n_arms), []
    for t, mask in enumerate(block.awake):
        arm, q = int(block.arms[t]), policy.probabilities(state, mask)
        laws.append(q.tolist())
        weight = q[arm] / block.probabilities[t] if policy.from_others == "weights" else 1.0
        decision = Decision(arm, float(q[arm]), tuple(np.flatnonzero(mask).tolist()), q, t + 1, 0.0)
        decision = decision._replace(memo=policy.remember(state, decision, 0.5))
        assert policy.kernels is not None
        here = np.flatnonzero(mask)
        loss = float(block.losses[t]) * weight
        policy.kernels.learn(policy.parameters(n_arms), state, here, q, arm, decision.memo, loss)
    rows = block.arms.tolist(), block.losses.tolist(), block.probabilities.tolist(), laws
    model = literal.arm_means(rows[0], rows[1], n_arms)
    wanted = {"ips": literal.ips(*rows), "snips": literal.snips(*rows), "dr": literal.dr(*rows, model)}
    for estimator, value in wanted.items():
        assert evaluate(log, policy, estimator=estimator)[0].value == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("policy", [UCB, SIExp3(), Uniform()], ids=repr)
def test_estimates_are_exactly_unbiased_while_the_policy_learns(policy: Policy) -> None:
    """All sequences of logged arms, each with its probability: the mean error of ips and dr is zero."""
    awake = np.array([[True, True, False], [True, True, True], [False, True, True], [True, False, True]])
    losses = np.array([[0.1, 0.9, 0.0], [0.4, 0.2, 0.8], [0.0, 0.7, 0.3], [0.5, 0.0, 1.0]])
    chances = np.where(awake, [[0.6], [0.2], [0.3], [0.7]] * np.array([1.0, 2.0, 0.5]), 0.0)
    chances /= chances.sum(axis=1, keepdims=True)
    rows, total, error = np.arange(4), 0.0, {"ips": 0.0, "dr": 0.0}
    for arms in product(*(np.flatnonzero(mask).tolist() for mask in awake)):
        p = chances[rows, arms]
        chance = float(p.prod())
        log = a_log(awake, arms, losses[rows, arms], p)
        truth = true_value(policy, awake, losses, arms, p)
        for estimator in error:
            error[estimator] += chance * (evaluate(log, policy, estimator=estimator)[0].value - truth)
        total += chance
    assert total == pytest.approx(1.0)
    assert error == pytest.approx({"ips": 0.0, "dr": 0.0}, abs=1e-12)


def true_value(policy: Policy, awake: Mask, losses: Floats, arms: tuple[int, ...], p: Floats) -> float:
    """Return the mean of q_t . l_t along one sequence of logged arms."""
    from wakeful.policies.spectate import fold

    lost = losses[np.arange(len(arms)), arms]
    given = awake, np.array(arms), lost, p, np.full(len(arms), 0.5)
    return float(fold(policy, policy.start(awake.shape[1]), *given, losses).expected.mean())


def test_intervals_contain_the_truth() -> None:
    """A small version of benchmarks/evaluate.py: three that log, three that are judged while they learn."""
    found = dict(coverage(40, {"Dependent": Dependent()}, rows=300, seed=11))
    cells = {key: value for key, value in found.items() if key[3] == "dr"}
    assert len({key[1] for key in cells}) == len({key[2] for key in cells}) == 3
    for key, value in cells.items():
        least = 0.97 if key[4] == "bernstein" else 0.85  # of forty logs
        assert value.coverage >= least, (key, value)
        assert value.width < 0.9
        assert abs(value.bias) <= 4.0 * value.error + 1e-12


def test_replay_accepts_every_awake_set_alike_and_finds_the_loss() -> None:
    log = uniform_log(40_000, seed=3)
    order: Policy = FixedOrdering((0, 1, 2, 3))
    (row,) = evaluate(log, order, estimator="replay", seed=1)
    assert row.largest_weight == 1.0
    assert row.effective_sample_size == pytest.approx(10_000, rel=0.03)  # every row with probability 1/4
    means = np.arange(1, 5) / 5
    truth = np.mean([means[np.flatnonzero(mask)[0]] for block in log.blocks() for mask in block.awake])
    assert row.low < truth < row.high
    assert row.value == pytest.approx(truth, abs=0.015)
    learned = evaluate(log, UCB, estimator="replay")[0]
    assert learned.value == pytest.approx(truth, abs=0.05)
    assert evaluate(log, UCB, estimator="replay")[0] == learned
    assert evaluate(log, UCB, estimator="replay", seed=5)[0] != learned
    skewed = a_log(np.ones((200, 2), bool), [0, 1] * 100, [0.0, 1.0] * 100, [0.3, 0.7] * 100)
    with pytest.raises(ValueError, match=r"probability must be 1 / \(number of awake arms\).*0.3 in line or row 1"):
        evaluate(skewed, UCB, estimator="replay")


def test_without_probabilities_only_what_needs_none_is_offered() -> None:
    log = uniform_log(known=False)
    result = evaluate(log, {"UCB": UCB})
    assert (result.estimator, np.isnan(result[0].low)) == ("direct", True)
    biased = "biased: only as good as the mean losses of the arms in the log"
    assert f"{biased}, as it has no probabilities" in result[0].warning
    assert evaluate(uniform_log(), UCB, estimator="direct")[0].warning == biased
    with pytest.raises(ValueError, match="estimator must be 'direct' for a log without probabilities, unless logging="):
        evaluate(log, UCB, estimator="dr")
    with pytest.raises(ValueError, match="probabilities of the logged arms must be known, since SIExp3"):
        evaluate(log, SIExp3())
    told = evaluate(log, UCB, logging="uniform")
    assert told.rows == evaluate(uniform_log(), UCB).rows
    assert evaluate(log, UCB, estimator="replay", logging="uniform")[0].largest_weight == 1.0
    with pytest.raises(ValueError, match="logging must be None for a log with probabilities, got 'uniform'"):
        evaluate(uniform_log(), UCB, logging="uniform")
    with pytest.raises(ValueError, match="logging must be one of 'uniform', got 'unform'"):
        evaluate(log, UCB, logging="unform")


def test_plain_warnings_when_the_log_cannot_answer() -> None:
    awake = np.ones((300, 3), bool)
    rng = np.random.default_rng(0)
    arms = rng.integers(2, size=300)
    log = a_log(awake, arms, rng.random(300), np.full(300, 0.5))
    never = evaluate(log, FixedOrdering((2, 0, 1)))[0].warning
    assert "no overlap: in 100 % of rounds it wants '2', which the log never plays" in never
    assert "too few rounds like its own: effective sample size 0" in never
    third = evaluate(log, Uniform())[0].warning
    assert third == "no overlap: in 33 % of rounds it wants '2', which the log never plays"
    sure = a_log(awake, np.arange(300) % 3, rng.random(300), np.ones(300))
    assert "little overlap: weights average 0.33, not 1" in evaluate(sure, Uniform())[0].warning
    few = a_log(awake[:20], arms[:20], rng.random(20), np.full(20, 0.5))
    assert "too few rounds: 20" in evaluate(few, Uniform())[0].warning
    rare = a_log(awake, [0, *[1] * 299], rng.random(300), [0.004, *[0.996] * 299])
    assert "too few rounds like its own: effective sample size 1" in evaluate(rare, FixedOrdering((0,)))[0].warning
    assert evaluate(uniform_log(), [Uniform(), UCB])[1].warning == ""


def test_arguments_that_are_wrong() -> None:
    log = uniform_log(200)
    for wrong, sentence in (
        ({"estimator": "ipw"}, "estimator must be one of 'dr', 'ips', 'snips', 'replay', 'direct', got 'ipw'"),
        ({"interval": "norm"}, r"interval must be one of 'bernstein', 'normal', got 'norm' \(did you mean 'normal'"),
        ({"level": 1.0}, "level must be between 0 and 1, got 1.0"),
        ({"level": "high"}, "level must be between 0 and 1, got 'high'"),
        ({"seed": -1}, "seed must be a whole number, zero or positive, got -1"),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            evaluate(log, UCB, **wrong)
    with pytest.raises(TypeError, match=r"log must be a wk.Log, the path of a file, or a table"):
        evaluate(7, UCB)
    with pytest.raises(TypeError, match="policy must be a policy for bandits, such as SIExp3"):
        evaluate(log, [7])
    with pytest.raises(ValueError, match="policies must be at least one"):
        evaluate(log, [])
    with pytest.raises(ValueError, match="policy must be one that can learn from decisions of others"):
        evaluate(log, Auto(guard=0.25))


@pytest.fixture(scope="module")
def result() -> Evaluation:
    return evaluate(uniform_log(), {"anybody": Uniform(), "UCB | 2": UCB})


def test_it_prints_as_a_table(result: Evaluation) -> None:
    lines = repr(result).splitlines()
    assert lines[0] == (
        "mean loss in 600 rounds of the table, where it was "
        f"{result.logged:.4f}; doubly robust, 95 % empirical Bernstein intervals"
    )
    assert lines[1].split() == ["policy", "loss", "low", "high", "effective", "rounds", "largest", "weight"]
    assert lines[2].split()[:2] == ["anybody", f"{result[0].value:.4f}"]
    assert len(result) == 2
    assert result["UCB | 2"] is result[1]
    with pytest.raises(KeyError, match=r"policy must be one of 'anybody', 'UCB \| 2', got"):
        result["nobody"]


def test_other_forms(result: Evaluation, tmp_path: Path) -> None:
    frame = result.to_frame()
    assert frame["policy"].tolist() == ["anybody", "UCB | 2"]
    assert frame["value"].tolist() == [row.value for row in result]
    assert list(frame.columns) == list(result[0]._fields)
    assert r"| UCB \| 2 |" in result.to_markdown()
    latex = result.to_latex()
    assert latex.startswith(r"\begin{tabular}{lrrrrr}")
    assert r"UCB \textbar{} 2 & " in latex
    assert "<table>" in result.to_html()
    result.save(tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table["value"].to_pylist() == [row.value for row in result]
    about = json.loads(table.schema.metadata[b"wakeful evaluation"])
    assert about["policies"] == {"anybody": "Uniform()", "UCB | 2": "SleepingUCB(constant=2.0)"}
    assert (about["estimator"], about["level"], about["rounds"]) == ("dr", 0.95, 600)
    result.save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("policy,value,low,high,effective_sample_size")
    with pytest.raises(ValueError, match=r"path must be a file that ends in .parquet or .csv"):
        result.save(tmp_path / "out.xls")


def test_the_figure_shows_every_policy_its_interval_and_the_log(result: Evaluation, tmp_path: Path) -> None:
    figure = result.plot(tmp_path / "out.svg")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["UCB | 2", "anybody"]
    drawn = [line.get_xdata() for line in axes.lines]
    assert [result[1].low, result[1].high] in [list(x) for x in drawn]
    assert [result.logged, result.logged] in [list(x) for x in drawn]
    assert "mean loss" in (tmp_path / "out.svg").read_text()
    evaluate(uniform_log(known=False), Uniform()).plot(tmp_path / "direct.png")  # without intervals


@pytest.mark.parametrize("policies", ["auto", None, 3], ids=repr)
def test_what_are_no_policies_is_shown_whole(policies: Any) -> None:
    with pytest.raises(TypeError) as refused:
        evaluate(uniform_log(), policies)
    rule = "a policy, a list of them, or a mapping of names to policies"
    assert str(refused.value) == f"policies must be {rule}, got {policies!r}"


@pytest.mark.parametrize("reward", [False, True])
def test_a_normal_interval_of_few_events_has_a_warning(reward: bool) -> None:
    rows = 400
    choices = {"awake": ["a|b"] * rows, "arm": ["a", "b"] * (rows // 2), "probability": [0.5] * rows}
    for events, warns in ((4, True), (40, False)):
        outcomes = [float(n % (rows // events) == 0) for n in range(rows)]
        log = Log({**choices, "reward" if reward else "loss": outcomes})
        (row,) = evaluate(log, Uniform(), estimator="ips", interval="normal")
        warning = "too few rounds for a normal interval: about 4 of them with the rarer outcome"
        assert row.warning == (warning if warns else "")
        assert not evaluate(log, Uniform())[0].warning


def test_progress_is_told_and_ends_at_the_last_row() -> None:
    told: list[tuple[int, int]] = []
    evaluate(uniform_log(20_000), Uniform(), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (20_000, 20_000)
    assert len(told) > 1


def test_a_log_whose_probabilities_are_not_those_of_its_choices_says_nothing() -> None:
    rows = 2_000
    choices: dict[str, Any] = {
        "awake": ["a|b"] * rows,
        "arm": ["a", "b"] * (rows // 2),
        "loss": [0.2, 0.8] * (rows // 2),
    }
    (row,) = evaluate(Log({**choices, "probability": [0.25] * rows}), Uniform())
    assert (row.low, row.high) == (0.0, 1.0)
    assert "wrong probabilities: weights average 2.00" in row.warning
    (right,) = evaluate(Log({**choices, "probability": [0.5] * rows}), Uniform())
    assert 0.0 < right.low < 0.5 < right.high < 1.0
    assert not right.warning


def test_rows_that_were_left_out_are_named(tmp_path: Path) -> None:
    rows = {"awake": ["a|b"] * 300, "arm": ["a", "b", "c"] * 100, "loss": [0.5] * 300, "id": [*range(298), 7, 7]}
    found = evaluate(Log(rows, on_error="skip"), UCB, logging="uniform")
    assert (found.rounds, found.skipped, found.duplicates) == (199, 100, 1)
    assert found.title.endswith("; without 100 rows that are wrong and 1 row with an id that was there before")
    assert repr(found).splitlines()[0] == found.title
    found.save(tmp_path / "out.parquet")
    assert b'"duplicates": 1' in pq.read_schema(tmp_path / "out.parquet").metadata[b"wakeful evaluation"]
    kept = evaluate(Log({**rows, "arm": ["a", "b"] * 150}, columns={"id": None}), UCB, logging="uniform")
    assert "without" not in kept.title


def test_a_path_or_a_table_is_read_as_a_log(tmp_path: Path) -> None:
    rows = {"awake": ["a|b"] * 200, "arm": ["a", "b"] * 100, "probability": [0.5] * 200, "loss": [0.5] * 200}
    Log(rows).write(tmp_path / "log.csv")
    values = [evaluate(given, UCB)[0].value for given in (Log(rows), rows, tmp_path / "log.csv")]
    assert len(set(values)) == 1


def test_html_has_warnings_below_the_table_where_a_phone_has_room_for_them() -> None:
    page = evaluate(uniform_log(rows=5), {"<UCB>": UCB}).to_html()
    table, _, below = page.partition("</table>")
    assert "too few rounds: 5" not in table
    assert "<p>&lt;UCB&gt;: " in below
    assert "too few rounds: 5.</p>" in below
