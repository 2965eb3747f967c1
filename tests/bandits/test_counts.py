"""What bandits count beside the state of their policy: compared with a plain log of what happened."""

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import wakeful as wk
from wakeful.bandits.estimates import gain_over_uniform, mean_interval, pending, switch_errors
from wakeful.bandits.levels import z_score
from wakeful.numerics.arrays import Floats, Mask
from wakeful.policies.counts import (
    ANSWERED,
    CHOSEN,
    LIKELY,
    LOSS,
    RARE,
    RARE_LOSS,
    SQUARE,
    TIMES_AWAKE,
    UNIFORM,
    UNLIKELY,
    VARIANCE,
    WIDTH,
    count_feedback,
    start_counts,
)

NAMES = ["tea", "coffee", "juice"]


class Sums(NamedTuple):
    """The state of `Plain`."""

    losses: Floats


@dataclass(frozen=True)
class Plain(wk.Policy):
    """A policy in plain Python, which likes the first arms most, whatever they lose."""

    def start(self, n_arms: int) -> Sums:
        return Sums(np.zeros(n_arms))

    def probabilities(self, state: Any, awake: Mask) -> Floats:
        weights = np.where(awake, (1.0, 0.3, 0.04), 0.0)
        return np.asarray(weights / weights.sum())

    def update(self, state: Any, decision: wk.Decision, loss: float) -> None:
        state.losses[decision.arm] += loss


def lived(policy: wk.Policy, rounds: int = 60) -> tuple[wk.Bandit, list[tuple[wk.Decision, float | None]]]:
    """Return a bandit after some rounds, every third without feedback, and the log of them."""
    bandit, log = wk.Bandit(policy, NAMES, seed=3), []
    sets = [NAMES, ["tea", "juice"], ["coffee", "juice"]]
    for n in range(rounds):
        decision, loss = bandit.choose(sets[n % 3]), None
        if n % 4:
            loss = (n % 7) / 6
            bandit.update(decision, loss=loss)
        log.append((decision, loss))
    return bandit, log


def expected(log: list[tuple[wk.Decision, float | None]]) -> Floats:
    """Return the counts of a log, by their definition."""
    counts = np.zeros((3, WIDTH + 3))
    for decision, loss in log:
        arm = NAMES.index(decision.arm)
        here = [NAMES.index(name) for name in decision.awake]
        p, size = decision.probabilities, len(here)
        counts[here, TIMES_AWAKE] += 1
        counts[arm, CHOSEN] += 1
        if loss is None:
            continue
        counts[arm, [ANSWERED, LOSS, SQUARE]] += [1, loss, loss**2]
        weights = {k: 1 / (size * p[k]) if size * p[k] >= LIKELY else 0.0 for k in here}
        counts[arm, UNIFORM] += loss * weights[arm]
        counts[arm, [RARE, RARE_LOSS]] += [1, loss] if weights[arm] == 0.0 else [0, 0]
        for k in here:
            counts[k, UNLIKELY] += 1 / size if weights[k] == 0.0 else 0.0
            counts[k, VARIANCE] += p[k] * (weights[k] - 1) ** 2
            if k != arm:
                counts[k, WIDTH + arm] += loss**2 / p[arm] * (p[k] + p[k] ** 2 / p[arm])
    return counts


@pytest.mark.parametrize("policy", [wk.SIExp3(eta=0.5), Plain()], ids=["compiled", "plain"])
def test_counts_are_those_of_the_log(policy: wk.Policy) -> None:
    bandit, log = lived(policy, 300)
    counts, width = counts_of(bandit), WIDTH + (3 if policy.keeps_switch_gains else 0)
    assert counts.shape == (3, width)
    np.testing.assert_allclose(counts, expected(log)[:, :width], rtol=1e-12)
    assert counts[:, UNLIKELY].sum() > 0.0  # so that both kinds of arms were met
    assert counts[:, RARE].sum() > 0.0
    assert pending(counts.T).sum() == sum(loss is None for _, loss in log)


def counts_of(bandit: wk.Bandit) -> Any:
    """Return the counts of a bandit as files have them, a row for each arm."""
    return bandit.to_record()["arrays"]["decision_counts"]


def test_counts_survive_files_bytes_records_copies_and_new_arms(tmp_path: Path) -> None:
    bandit, _ = lived(wk.SIExp3(eta=0.5))
    bandit.save(tmp_path / "b")
    record = json.loads(json.dumps(bandit.to_record(), default=np.ndarray.tolist))
    copies = [wk.Bandit.load(tmp_path / "b"), wk.Bandit.from_bytes(bandit.to_bytes()), copy.copy(bandit)]
    for other in [*copies, wk.Bandit.from_record(record)]:
        np.testing.assert_array_equal(counts_of(other), counts_of(bandit))
    before = counts_of(bandit)
    bandit.add_arm("water")
    grown = counts_of(bandit)
    assert grown.shape == (4, WIDTH + 4)
    np.testing.assert_array_equal(grown[:3, : WIDTH + 3], before)
    assert not grown[3].any()
    assert not grown[:, -1].any()


def test_admitting_and_updating_in_the_order_of_a_log_gives_the_same_counts() -> None:
    chosen, folded = (wk.Bandit(wk.SIExp3(), NAMES, seed=5) for _ in range(2))
    uniforms = np.random.default_rng(5)
    for n in range(20):
        decision = chosen.choose(NAMES[n % 2 :])
        assert folded.propose(NAMES[n % 2 :], uniforms.random()) == decision
        folded.admit(decision)
        for bandit in (chosen, folded):
            bandit.update(decision, loss=n % 3 / 2)
    assert chosen.to_record()["arrays"]["decision_counts"].tobytes() == counts_of(folded).tobytes()
    assert counts_of(folded)[:, TIMES_AWAKE].sum() == 50


@pytest.mark.parametrize("n_awake", [1, 2, 4, 5, 6, 20])  # few awake arms are counted one by one, many all at once
def test_feedback_is_counted_by_definition_however_many_are_awake(n_awake: int) -> None:
    rng, n_arms = np.random.default_rng(n_awake), 20
    counts, expected = start_counts(n_arms, switches=True), np.zeros((WIDTH + n_arms, n_arms))
    for _ in range(50):
        here = np.sort(rng.choice(n_arms - 1 if n_awake < n_arms else n_arms, n_awake, replace=False))
        mask, p, loss = np.isin(np.arange(n_arms), here), np.zeros(n_arms), float(rng.choice([0.0, 0.3, 1.0]))
        p[here] = rng.dirichlet(np.full(n_awake, 0.3))
        arm = int(here[p[here].argmax()])
        early = (
            p if p[-1] > 0.0 or n_awake == n_arms else p[:-1].copy()
        )  # a decision from before the last arm was added
        count_feedback(counts, mask, here, early, arm, loss)
        weights = np.where(p * n_awake >= LIKELY, 1 / (n_awake * np.maximum(p, 1e-300)), 0.0)
        expected[[ANSWERED, LOSS, SQUARE, UNIFORM], arm] += [1, loss, loss**2, loss * weights[arm]]
        expected[UNLIKELY] += mask * (weights == 0.0) / n_awake
        expected[VARIANCE] += p * (weights - 1) ** 2
        ratios = np.where(np.arange(n_arms) == arm, 0.0, p / p[arm])
        expected[WIDTH + arm] += loss**2 * ratios * (1 + ratios)
    np.testing.assert_allclose(counts, expected, rtol=1e-12, atol=1e-30)


def test_a_refused_feedback_is_not_counted() -> None:
    bandit, _ = lived(wk.SIExp3(eta=0.5), rounds=4)
    before, decision = counts_of(bandit), bandit.choose()
    with pytest.raises(ValueError, match=r"decision\.probability must be"):
        bandit.update(decision._replace(probability=0.123), loss=0.5)
    after = counts_of(bandit)
    np.testing.assert_array_equal(after[:, ANSWERED:], before[:, ANSWERED:])
    assert after[:, CHOSEN].sum() == before[:, CHOSEN].sum() + 1


@pytest.mark.parametrize(
    "change", [np.array([[-1.0] * 11] * 3), np.zeros((3, 8)), np.full((3, 11), np.nan), np.full((3, 11), 0.5)]
)
def test_counts_that_nobody_counted_are_refused(change: Any) -> None:
    record = wk.Bandit(wk.SIExp3(), NAMES, seed=0).to_record()
    record["arrays"]["decision_counts"] = change
    with pytest.raises(ValueError, match="record must be"):
        wk.Bandit.from_record(record)


def test_a_record_of_the_first_version_has_no_counts() -> None:
    bandit, _ = lived(wk.SIExp3(eta=0.5))
    record = bandit.to_record()
    del record["arrays"]["decision_counts"]
    with pytest.raises(ValueError, match="arrays must be"):
        wk.Bandit.from_record(record)
    loaded = wk.Bandit.from_record({**record, "version": 1})
    assert loaded.rounds == bandit.rounds
    assert not counts_of(loaded).any()


def test_wilson_interval_by_hand() -> None:
    z = z_score(0.95)
    assert z == pytest.approx(1.959963984540054)
    assert mean_interval(10.0, 0.0, z) == pytest.approx((0.0, 0.0, z * z / (10 + z * z)))
    assert mean_interval(20.0, 10.0, z) == pytest.approx((0.5, 0.29929, 0.70071), abs=1e-5)
    assert np.isnan(mean_interval(0.0, 0.0, z)).all()
    for level in (0.0, 1.0, 2.0):
        with pytest.raises(ValueError, match="level must be between 0 and 1"):
            z_score(level)


@pytest.mark.parametrize("policy", [wk.SIExp3(), wk.SleepingUCB()], ids=repr)
def test_the_gain_over_uniform_play_is_inside_its_interval(policy: wk.Policy) -> None:
    means, inside, gains = np.array([0.2, 0.5, 0.8]), 0, []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        losses = (rng.random((300, 3)) < means).astype(float)
        awake = rng.random((300, 3)) < 0.7
        awake[awake.sum(axis=1) == 0] = True
        bandit = wk.Bandit(policy, 3, seed=seed)
        truth = 0.0
        for here, row in zip(awake, losses, strict=True):
            decision = bandit.choose(here)
            bandit.update(decision, loss=row[decision.arm])
            truth += (row[here].mean() - row[decision.arm]) / 300
        found = gain_over_uniform(counts_of(bandit).T, z_score(0.95))
        inside += found.gain.low <= truth <= found.gain.high
        gains.append(found.gain.value - truth)
        assert found.uniform - found.loss == pytest.approx(found.gain.value)
    assert inside >= 36  # of 40
    assert abs(np.mean(gains)) < 0.02


def test_switch_errors_are_those_of_the_estimate() -> None:
    misses, errors = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        bandit, truth = wk.Bandit(wk.SIExp3(eta=0.1, exploration=0.0), 3, seed=seed), 0.0
        for _ in range(100):
            losses, decision = (rng.random(3) < [0.4, 0.5, 0.6]).astype(float), bandit.choose()
            bandit.update(decision, loss=losses[decision.arm])
            truth += (losses[0] - losses[1]) * (decision.arm == 0)
        misses.append(bandit.switch_gains()[0, 1] - truth)
        errors.append(switch_errors(counts_of(bandit).T)[0, 1])
    assert abs(np.mean(misses)) < 2 * np.std(misses) / 10
    assert np.sqrt(np.mean(np.square(misses))) == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=0.15)
