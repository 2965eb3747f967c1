"""Every policy, literally: slow, plain, one formula a line. `K` arms are 0, ..., K-1; `S` is a sorted list."""

import itertools
import math
from functools import cache
from typing import Any, Protocol

import numpy as np
from scipy import stats

Law = dict[int, float]


class Reference(Protocol):
    """What a literal policy does each round: its law, a note at the decision, what it learns."""

    def law(self, S: list[int]) -> Law: ...

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> Any: ...

    def learn(self, S: list[int], p: Law, k: int, note: Any, loss: float) -> None: ...


def run(policy: Reference, awake: Any, losses: Any, uniforms: Any) -> tuple[list[int], list[Law]]:
    """Play every round with immediate feedback; return the arms (-1: nobody awake) and the laws."""
    arms: list[int] = []
    laws: list[Law] = []
    draws = iter(uniforms)
    for row, loss in zip(awake, losses, strict=True):
        S = [k for k in range(len(row)) if row[k]]
        if not S:
            arms.append(-1)
            laws.append({})
            continue
        p = policy.law(S)
        u = float(next(draws))
        before = 0.0
        for k in S:
            if u < before + p[k]:
                break
            before += p[k]
        note = policy.decided(S, p, k, (u - before) / p[k])
        policy.learn(S, p, k, note, float(loss[k]))
        arms.append(k)
        laws.append(p)
    return arms, laws


class SIExp3:
    """Algorithm 1 with the cumulative weights of its equation for q-tilde, K(K-1) experts one by one."""

    def __init__(self, K: int, eta: Any, exploration: float = 0.0, horizon: float = 1.0) -> None:
        self.K, self.eta, self.exploration, self.horizon = K, eta, exploration, horizon
        self.experts = [(i, j) for i in range(K) for j in range(K) if i != j]
        self.cumulative = dict.fromkeys(self.experts, 0.0)
        self.t = 0
        self.awake = 0

    def rate(self, t: int, awake: int) -> float:
        pairs = math.log(max(self.K * (self.K - 1), 2))
        if self.eta == "sqrt":
            return 1.0 / math.sqrt(t)
        if self.eta == "anytime":
            return 4.0 * math.sqrt(pairs / (2 * t))
        if self.eta == "horizon":
            return math.sqrt(pairs / self.horizon)
        if self.eta == "paper":
            return math.sqrt(math.log(self.K) / (2 * awake))
        if self.eta == "doubling":
            return math.sqrt(pairs / 2 ** math.floor(math.log2(t)))
        return float(self.eta)

    def law(self, S: list[int]) -> Law:
        t, awake = self.t + 1, self.awake + len(S)
        losses = self.cumulative
        if self.eta == "doubling" and math.log2(t).is_integer():
            losses = dict.fromkeys(self.experts, 0.0)
        least = min(losses.values())
        w = {e: math.exp(-self.rate(t, awake) * (losses[e] - least)) for e in self.experts}
        total = sum(w[i, j] for i, j in self.experts if j in S)
        q = {(i, j): w[i, j] / total if j in S else 0.0 for i, j in self.experts}
        # p = sum over i -> j of q(i -> j) p^{i -> j}, with p zero outside S and summing to one
        n = len(S)
        M = np.eye(n) * -1.0
        for (i, j), weight in q.items():
            for b, arm in enumerate(S):
                goes_to = j if arm == i else arm
                if weight > 0.0:
                    M[S.index(goes_to), b] += weight
        A = np.vstack([M, np.ones(n)])
        solution = np.linalg.lstsq(A, np.array([0.0] * n + [1.0]), rcond=None)[0]
        return {arm: float(x) for arm, x in zip(S, solution, strict=True)}

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> float:
        self.t += 1
        self.awake += len(S)
        if self.eta == "doubling" and math.log2(self.t).is_integer():
            self.cumulative = dict.fromkeys(self.experts, 0.0)
        return self.rate(self.t, self.awake)

    def learn(self, S: list[int], p: Law, k: int, note: float, loss: float) -> None:
        estimate = loss / p[k]
        explored = loss / (p[k] + self.exploration * note)
        for i, j in self.experts:
            if j not in S or i not in S:
                expert = loss  # p^{i -> j} = p where i sleeps; by definition where j does
            elif i == k:
                expert = 0.0
            elif j == k:
                expert = p[k] * estimate + p[i] * explored
            else:
                expert = p[k] * estimate
            self.cumulative[i, j] += expert


class SBExp3:
    """Weights over arms, the sleepers' untouched, losses centred by the learner's own."""

    def __init__(self, K: int, eta: Any, exploration: float = 0.0) -> None:
        self.K, self.eta, self.exploration = K, eta, exploration
        self.L = [0.0] * K
        self.t = 0
        self.rivals = 0

    def rate(self, t: int, rivals: int) -> float:
        if self.eta == "sqrt":
            return 1.0 / math.sqrt(t)
        if self.eta == "anytime":
            return math.sqrt(math.log(max(self.K, 2)) / (2 * max(rivals, 1)))
        return float(self.eta)

    def law(self, S: list[int]) -> Law:
        eta = self.rate(self.t + 1, self.rivals + len(S) - 1)
        return softmin(self.L, eta, S)

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> float:
        self.t += 1
        self.rivals += len(S) - 1
        return self.rate(self.t, self.rivals)

    def learn(self, S: list[int], p: Law, k: int, note: float, loss: float) -> None:
        if len(S) > 1:
            for i in S:
                self.L[i] += (loss / (p[k] + self.exploration * note) if i == k else 0.0) - loss


class SleepingExp3G:
    """qbar is the mean over all awake sets so far, kept as a list, of the play under the current weights."""

    def __init__(self, K: int, eta: Any = "sqrt", exploration: float = 1.0) -> None:
        self.K, self.eta, self.exploration = K, eta, exploration
        self.L = [0.0] * K
        self.sets: list[list[int]] = []

    def rate(self, t: int) -> float:
        return t**-0.5 if self.eta == "sqrt" else float(self.eta)

    def law(self, S: list[int]) -> Law:
        return softmin(self.L, self.rate(len(self.sets) + 1), S)

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> float:
        self.sets.append(S)
        t = len(self.sets)
        eta = self.rate(t)
        qbar = sum(softmin(self.L, eta, past)[k] for past in self.sets if k in past) / t
        return qbar + self.exploration * eta

    def learn(self, S: list[int], p: Law, k: int, note: float, loss: float) -> None:
        self.L[k] += loss / note


class SleepingExp3(SleepingExp3G):
    """The same with qbar over all 2^K - 1 sets with somebody awake, each arm awake independently.

    The chance c that somebody is awake solves c = 1 - prod(1 - f_i c), f_i being how often i was seen in such rounds.
    """

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> float:
        self.sets.append(S)
        t = len(self.sets)
        seen = [sum(i in past for past in self.sets) for i in range(self.K)]
        if sum(seen) == t:  # one at a time
            return seen[k] / t + self.exploration * self.rate(t)
        low, high = 0.0, 1.0
        for _ in range(200):
            c = (low + high) / 2
            if 1.0 - math.prod(1.0 - n / t * c for n in seen) > c:
                low = c
            else:
                high = c
        a = [n / t * high for n in seen]
        qbar = 0.0
        for mask in itertools.product([False, True], repeat=self.K):
            if mask[k]:
                chance = math.prod(a[i] if mask[i] else 1.0 - a[i] for i in range(self.K))
                qbar += chance / high * softmin(self.L, self.rate(t), [i for i in range(self.K) if mask[i]])[k]
        return qbar + self.exploration * self.rate(t)


class SleepingUCB:
    """AUER: unplayed arms first, then the lowest mean less width, ties at random."""

    def __init__(self, K: int, constant: float = 8.0) -> None:
        self.constant = constant
        self.n = [0] * K
        self.total = [0.0] * K
        self.t = 0

    def law(self, S: list[int]) -> Law:
        t = self.t + 1
        index = {
            i: self.total[i] / self.n[i] - math.sqrt(self.constant * math.log(t) / self.n[i])
            if self.n[i]
            else -math.inf
            for i in S
        }
        least = min(index.values())
        best = [i for i in S if index[i] <= least + 1e-12]
        return {i: 1.0 / len(best) if i in best else 0.0 for i in S}

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> None:
        self.t += 1

    def learn(self, S: list[int], p: Law, k: int, note: None, loss: float) -> None:
        self.n[k] += 1
        self.total[k] += loss


legendre = cache(np.polynomial.legendre.leggauss)  # nodes and weights, by their number


class SleepingThompson:
    """The chance that an arm's draw from its Beta posterior is the lowest: the integral of a polynomial."""

    def __init__(self, K: int) -> None:
        self.ones = [0] * K
        self.zeros = [0] * K

    def law(self, S: list[int]) -> Law:
        degree = 1 + sum(self.ones) + sum(self.zeros) + len(S)
        nodes, weights = legendre(degree // 2 + 1)
        x = (nodes + 1) / 2
        posterior = {i: (1 + self.ones[i], 1 + self.zeros[i]) for i in S}
        above = {i: stats.beta.sf(x, *posterior[i]) for i in S}
        p = {}
        for i in S:
            others = [above[j] for j in S if j != i]
            p[i] = float(weights / 2 @ (stats.beta.pdf(x, *posterior[i]) * np.prod(others, axis=0)))
        return p

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> float:
        return coin

    def learn(self, S: list[int], p: Law, k: int, note: float, loss: float) -> None:
        if note < loss:
            self.ones[k] += 1
        else:
            self.zeros[k] += 1


class PerSet:
    """A learner for each of the first sets, and one for all the others."""

    def __init__(self, make: Any, max_sets: int) -> None:
        self.make, self.max_sets = make, max_sets
        self.learners: dict[tuple[int, ...], Any] = {}
        self.shared = make()

    def learner(self, S: list[int]) -> Any:
        if tuple(S) not in self.learners and len(self.learners) == self.max_sets:
            return self.shared
        return self.learners.setdefault(tuple(S), self.make())

    def law(self, S: list[int]) -> Law:
        law: Law = self.learner(S).law(S)
        return law

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> Any:
        return self.learner(S).decided(S, p, k, coin)

    def learn(self, S: list[int], p: Law, k: int, note: Any, loss: float) -> None:
        self.learner(S).learn(S, p, k, note, loss)


class OrderingExp4:
    """Exponential weights over all orderings, each advising its first awake arm."""

    def __init__(self, K: int, scale: float = 1.0) -> None:
        self.K, self.scale = K, scale
        self.L = dict.fromkeys(itertools.permutations(range(K)), 0.0)
        self.t = 0

    @staticmethod
    def advice(ordering: tuple[int, ...], S: list[int]) -> int:
        return next(k for k in ordering if k in S)

    def law(self, S: list[int]) -> Law:
        size = math.log(max(math.factorial(self.K), 2))
        eta = self.scale * math.sqrt(size / (self.K * (self.t + 1)))
        least = min(self.L.values())
        w = {o: math.exp(-eta * (loss - least)) for o, loss in self.L.items()}
        return {i: sum(x for o, x in w.items() if self.advice(o, S) == i) / sum(w.values()) for i in S}

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> None:
        self.t += 1

    def learn(self, S: list[int], p: Law, k: int, note: None, loss: float) -> None:
        for ordering in self.L:
            if self.advice(ordering, S) == k:
                self.L[ordering] += loss / p[k]


class FixedOrdering:
    """The first awake arm of an ordering that names every arm."""

    def __init__(self, ordering: tuple[int, ...]) -> None:
        self.ordering = ordering

    def law(self, S: list[int]) -> Law:
        first = next(k for k in self.ordering if k in S)
        return {i: float(i == first) for i in S}

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> None:
        pass

    def learn(self, S: list[int], p: Law, k: int, note: None, loss: float) -> None:
        pass


class Uniform(FixedOrdering):
    """Everybody alike."""

    def __init__(self) -> None:
        pass

    def law(self, S: list[int]) -> Law:
        return {i: 1.0 / len(S) for i in S}


def softmin(L: list[float], eta: float, S: list[int]) -> Law:
    """Return p(i) proportional to exp(-eta L[i]) on S."""
    least = min(L[i] for i in S)
    w = {i: math.exp(-eta * (L[i] - least)) for i in S}
    return {i: w[i] / sum(w.values()) for i in S}
