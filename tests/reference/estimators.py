"""Estimators of off-policy evaluation, literally as their papers and Open Bandit Pipeline have them.

`pi[t][k]` is the evaluated policy's probability of arm k in round t, `p[t]` that with which `arm[t]` was logged, and
`m[t][k]` a prediction of the loss of arm k in round t.
"""

from collections.abc import Sequence

Table = Sequence[Sequence[float]]


def ips(arm: Sequence[int], loss: Sequence[float], p: Sequence[float], pi: Table) -> float:
    """Inverse propensity scores: the mean of `pi(a) / p l`."""
    return sum(pi[t][arm[t]] / p[t] * loss[t] for t in range(len(arm))) / len(arm)


def snips(arm: Sequence[int], loss: Sequence[float], p: Sequence[float], pi: Table) -> float:
    """The same, divided by the mean weight."""
    return ips(arm, loss, p, pi) / ips(arm, [1.0] * len(arm), p, pi)


def direct(pi: Table, m: Table) -> float:
    """The mean prediction under the evaluated policy."""
    return sum(q * x for laws, values in zip(pi, m, strict=True) for q, x in zip(laws, values, strict=True)) / len(pi)


def dr(arm: Sequence[int], loss: Sequence[float], p: Sequence[float], pi: Table, m: Table) -> float:
    """Doubly robust: the direct method plus the weighted errors of the predictions."""
    errors = [loss[t] - m[t][arm[t]] for t in range(len(arm))]
    return direct(pi, m) + ips(arm, errors, p, pi)


def arm_means(arm: Sequence[int], loss: Sequence[float], n_arms: int) -> list[list[float]]:
    """Return for each round the mean loss of each arm in the rounds before, one round of the mean of all added."""
    table = []
    for t in range(len(arm)):
        usual = (sum(loss[:t]) + 0.5) / (t + 1)
        row = []
        for k in range(n_arms):
            own = [loss[s] for s in range(t) if arm[s] == k]
            row.append((sum(own) + usual) / (len(own) + 1))
        table.append(row)
    return table
