"""One learner for each awake set, and what happens when the table is full."""

import numpy as np
import pytest

import wakeful as wk
from own_policy import EpsilonGreedy
from reference import policies as literal
from small_worlds import world


@pytest.mark.parametrize("inner", [wk.SBExp3(eta=1.0), EpsilonGreedy(0.2)], ids=["compiled", "plain"])
def test_sets_that_come_too_late_share_one_learner(inner: wk.Policy) -> None:
    bandit = wk.Bandit(wk.PerSet(inner, max_sets=2), 4, seed=0)
    own, late = [[0, 1], [0, 2]], [[1, 2], [0, 1, 2], [1, 2, 3]]
    for awake in own:
        bandit.choose(awake)
    before = [bandit.probabilities(awake) for awake in (*own, *late)]
    for _ in range(6):  # arm 1 wins, the other loses, on one of the late sets
        decision = bandit.choose(late[0])
        bandit.update(decision, loss=float(decision.arm == 2))
    after = [bandit.probabilities(awake) for awake in (*own, *late)]
    assert [p.tolist() for p in after[:2]] == [p.tolist() for p in before[:2]]
    for p, q in zip(before[2:], after[2:], strict=True):
        assert q[1] > p[1] + 0.1
        assert q[1] > q[2] + 0.1
    assert bandit.state.set_counts.tolist() == [1, 1]  # the late ones take no place


@pytest.mark.parametrize("inner", [wk.SBExp3(eta=1.0), EpsilonGreedy(0.2)], ids=["compiled", "plain"])
def test_a_set_that_comes_too_late_is_not_written_behind_the_table(inner: wk.Policy) -> None:
    policy = wk.PerSet(inner, max_sets=2)
    behind, counts = np.zeros((3, 4), np.bool_), np.zeros(3, np.int64)
    state = policy.start(4)._replace(sets=behind[:2], set_counts=counts[:2])
    for awake in ((0, 1), (0, 2), (1, 2), (1, 3)):
        p = np.zeros(4)
        p[list(awake)] = 0.5
        decision = wk.Decision(awake[0], 0.5, awake, p, 1, 0.0)
        memo = policy.remember(state, decision, 0.5)
        policy.update(state, decision._replace(memo=memo), 1.0)
    assert counts.tolist() == [1, 1, 0]
    assert not behind[2].any()


def test_a_plain_learner_for_each_set_plays_as_a_compiled_one() -> None:
    class Mean(literal.SleepingUCB):
        """The lowest mean, ties at random, and now and then any arm."""

        def law(self, S: list[int]) -> literal.Law:
            means = {i: self.total[i] / max(self.n[i], 1) for i in S}
            best = [i for i in S if means[i] <= min(means.values()) + 1e-12]
            return {i: 0.2 / len(S) + (0.8 / len(best) if i in best else 0.0) for i in S}

    awake, losses = world(600, 5, 3)
    reference = literal.PerSet(lambda: Mean(5), 4)
    expected = literal.run(reference, awake, losses, np.random.default_rng(4).random(600))[0]
    policy = wk.PerSet(EpsilonGreedy(0.2), max_sets=4)
    assert wk.play(policy, awake, losses, np.random.default_rng(4)).tolist() == expected
