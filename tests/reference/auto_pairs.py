"""AutoPairs, literally: from docs/auto-pairs.md, with whole matrices and a root finder."""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from reference.duel_policies import Counting, Pairs, Position
from reference.policies import Law

SPREAD, HANDICAP, LIKELIER, FLOOR, SHARP, FREE_SHARP, TIE = 4.0, 3.0, 5.0, 7.0, 1.5, 2.0, 1e-9
NAMES = ("one strength", "free", "per set")


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def kl(p: float, q: float) -> float:
    return sum(a * math.log(a / b) for a, b in ((p, q), (1.0 - p, 1.0 - q)) if a > 0.0)


def weaker(gap: float, variance: float) -> float:
    """n KL(p, 1/2) for the n duels of mean p that leave this variance."""
    if gap < 1e-3:
        return gap**2 / (2.0 * variance) if gap > 0.0 else 0.0
    p = sigmoid(min(gap, 30.0))
    return kl(p, 0.5) / (p * (1.0 - p) * variance)


def stability(A: Pairs, S: list[int], i: int, j: int, worse: Callable[[int, int, int], float]) -> float:
    """What speaks for i and j being best replies to each other; worse(k, best, j): against k as a reply to j."""
    rivals = [worse(k, j, i) for k in S if A[k][i] and k != j] + [worse(k, i, j) for k in S if A[k][j] and k != i]
    return min([50.0, *rivals])


def softmin(evidence: Law, sharpness: float) -> Law:
    least = min(evidence.values())
    weight = {k: math.exp(-sharpness * (e - least)) for k, e in evidence.items()}
    return {k: w / sum(weight.values()) for k, w in weight.items()}


def alone(A: Pairs, S: list[int], chosen: list[int]) -> bool:
    return all(A[k][k] for k in [*S, *chosen[:1]])  # all of them may meet themselves


def sharpness(A: Pairs, S: list[int], chosen: list[int], usual: float) -> float:
    return 1.0 if alone(A, S, chosen) else usual


class Normal:
    """A normal distribution of strengths."""

    def __init__(self, K: int) -> None:
        self.m, self.C = np.zeros(K), np.eye(K) * SPREAD**2

    def variance(self, i: int, j: int) -> float:
        return max(float(self.C[i, i] + self.C[j, j] - 2.0 * self.C[i, j]), 1e-12)

    def chance(self, i: int, j: int) -> float:
        return sigmoid(float(self.m[i] - self.m[j]) / math.sqrt(1.0 + math.pi / 8.0 * self.variance(i, j)))

    def learn(self, i: int, j: int, share: float, weight: float, independent: bool) -> None:
        x = np.zeros(len(self.m))
        x[i], x[j] = 1.0, -1.0
        gap, s2 = float(self.m @ x), self.variance(i, j)
        reach = s2 * weight + 1.0
        mode = brentq(lambda d: (gap - d) / s2 + weight * (share - sigmoid(d)), gap - reach, gap + reach, xtol=1e-13)
        w = weight * sigmoid(mode) * (1.0 - sigmoid(mode))
        Cx = self.C @ x
        self.m = self.m + Cx * (mode - gap) / s2
        self.C = self.C - np.outer(Cx, Cx) * w / (1.0 + w * s2)
        if independent:
            self.C = np.diag(np.diag(self.C))

    def strongest(self, among: list[int]) -> int:
        best = among[0]
        for k in among:
            if self.m[k] > self.m[best] + TIE:
                best = k
        return best

    def evidence(self, S: list[int], cautious: bool) -> Law:
        b = self.strongest(S)
        law = {k: self.no_better(k, b, b) for k in S}
        if cautious:
            normal = {k: float(self.m[b] - self.m[k]) ** 2 / (2.0 * self.variance(b, k)) for k in S if k != b}
            law = {k: (e + normal.get(k, 0.0)) / 2.0 for k, e in law.items()}
        return law

    def no_better(self, k: int, best: int, opponent: int) -> float:
        return 0.0 if k == best else weaker(float(self.m[best] - self.m[k]), self.variance(k, best))

    def told(self, i: int, rival: int, left: int, right: int) -> float:
        u, x = np.zeros(len(self.m)), np.zeros(len(self.m))
        u[i], u[rival] = 1.0, -1.0
        x[left] += 1.0
        x[right] -= 1.0
        p = sigmoid(float(self.m @ x))
        return float(u @ self.C @ x) ** 2 * p * (1.0 - p) / (1.0 + p * (1.0 - p) * self.variance(left, right))


class AutoPairs(Counting):
    """Three hypotheses, weighted by how well they predicted."""

    def __init__(self, K: int) -> None:
        super().__init__(K)
        self.pooled = Normal(K)
        self.sets: dict[tuple[int, ...], Normal] = {}
        self.score = dict(zip(NAMES, (0.0, -HANDICAP, -HANDICAP), strict=True))

    def law(self, A: Pairs, S: list[int], chosen: list[int], coin: float) -> Law:
        K = len(A)
        here = tuple(k for k in range(K) if any(A[k]))
        weight = {name: math.exp(score) for name, score in self.score.items()}
        if len(self.sets) < 2:
            weight["per set"] = 0.0
        laws = {
            "one strength": self.second(A, S, chosen[0]) if chosen else self.first(A, S),
            "free": self.free(A, S, chosen),
            "per set": self.own(A, S, chosen, self.sets.get(here, Normal(K))),
        }
        return {k: sum(weight[n] * laws[n][k] for n in NAMES) / sum(weight.values()) for k in S}

    def own(self, A: Pairs, S: list[int], chosen: list[int], normal: Normal) -> Law:
        return softmin(normal.evidence(S, alone(A, S, chosen)), sharpness(A, S, chosen, SHARP))

    def second(self, A: Pairs, S: list[int], j: int) -> Law:
        evidence = self.pooled.evidence(S, alone(A, S, [j]))
        if alone(A, S, [j]):
            counted = self.alone_or_tested(A, S, j)
            evidence = {k: e if k == j else max(e + self.dear(A, k, j), counted[k]) for k, e in evidence.items()}
            evidence = counted if self.tested(A, S, j) else evidence
        return softmin(evidence, sharpness(A, S, [j], SHARP))

    def first(self, A: Pairs, S: list[int]) -> Law:
        normal = self.pooled
        reply = {k: self.first_of_strongest([j for j in S if A[k][j]]) for k in S}
        b, evidence = normal.strongest(S), normal.evidence(S, alone(A, S, []))
        sure = stability(A, S, b, reply[b], normal.no_better)
        evidence = {k: e + (sure if k not in (b, reply[b]) else 0.0) for k, e in evidence.items()}
        given = softmin(evidence, sharpness(A, S, [], SHARP))
        p = dict(given)
        for i in S:
            j = reply[i]
            rival = reply[j]
            if rival not in (i, j) and normal.told(i, rival, j, rival) > normal.told(i, rival, i, j) * (1 + TIE) + TIE:
                p[i] -= given[i]
                p[j] += given[i]
        return {k: max(x, 0.0) for k, x in p.items()}

    def first_of_strongest(self, among: list[int]) -> int:
        most = max(self.pooled.m[k] for k in among)
        return min(k for k in among if self.pooled.m[k] >= most - TIE)

    def free(self, A: Pairs, S: list[int], chosen: list[int]) -> Law:
        def best(j: int, among: list[int]) -> int:
            return max(among, key=lambda i: (self.chance(i, j), -i))

        if chosen and alone(A, S, chosen):
            return softmin(self.alone_or_tested(A, S, chosen[0]), 1.0)
        if chosen:
            c = chosen[0]
            return softmin({k: self.no_better(k, best(c, S), c) for k in S}, FREE_SHARP)
        if alone(A, S, chosen):
            least = min(self.exposure(A, i) for i in S)
            late = max(LIKELIER - min(self.no_winner(A, i) for i in S), 0.0)
            exposed = {i: late + self.exceeded(A, i, 0.5 + least) for i in S}
            return softmin({i: min(exposed[i], self.no_winner(A, i)) for i in S}, 1.0)
        reply = {j: best(j, [i for i in range(len(A)) if A[i][j]]) for j in S}
        evidence = {i: self.no_better(i, reply[reply[i]], reply[i]) for i in S}
        sure = {i: stability(A, S, i, reply[i], self.no_better) for i in S if evidence[i] == 0.0}
        first = next((i for i in sure if sure[i] >= max(sure.values()) - TIE), S[0])
        for k in S:
            evidence[k] += sure.get(first, 0.0) if k not in (first, reply[first]) else 0.0
        return softmin(evidence, FREE_SHARP)

    def exposure(self, A: Pairs, i: int, without: int = -1) -> float:
        """How far above 1/2 some partner beats i."""
        return max([0.0, *(self.chance(k, i) - 0.5 for k in range(len(A)) if A[k][i] and k != without)])

    def surpassed(self, k: int, i: int, bar: float) -> float:
        n = self.n(k, i)
        return n * kl(self.w[k][i] / n, bar) if k != i and n > 0 and self.w[k][i] / n > bar + 1e-12 else 0.0

    def no_winner(self, A: Pairs, i: int) -> float:
        """The evidence that i does not beat all others."""
        return sum(self.surpassed(k, i, 0.5) for k in range(len(A)) if A[k][i])

    def exceeded(self, A: Pairs, i: int, bar: float) -> float:
        return sum(self.surpassed(k, i, bar) for k in range(len(A)) if A[k][i])

    def teaches(self, A: Pairs, i: int, k: int) -> float:
        """How much a duel with k teaches about i, for its cost: a logarithm."""
        n = self.n(i, k)
        share = self.w[k][i] / n if n > 0 else 0.5
        g = max(share - 0.5, 0.0) + 1.0 / (2.0 * math.sqrt(n + 1.0))
        against = n * kl(share, 0.5) if share < 0.5 - 1e-12 else 0.0
        cost = (self.exposure(A, i) + self.exposure(A, k)) / 2.0
        return math.log(g**2 / max(cost, 1e-12)) - against

    def tests(self, A: Pairs, i: int) -> dict[int, float]:
        """What each possible duel of i teaches about it."""
        return {k: self.teaches(A, i, k) for k in range(len(A)) if A[i][k] and k != i}

    def least_exposed(self, A: Pairs, S: list[int], j: int) -> float:
        """What speaks against j if no arm beats all others."""
        other = min([math.inf, *(self.no_winner(A, m) for m in S if m != j)])
        return max(LIKELIER - other, 0.0) + self.exceeded(A, j, 0.5 + min(self.exposure(A, i) for i in {*S, j}))

    def tested(self, A: Pairs, S: list[int], j: int) -> bool:
        """Whether j, if it is first, is to be tested."""
        other = min([math.inf, *(self.no_winner(A, m) for m in S if m != j)])
        return other + TIE < self.no_winner(A, j) < self.least_exposed(A, S, j)

    def dear(self, A: Pairs, k: int, j: int) -> float:
        """What a duel of k and j costs, against what it can gain."""
        ratio = math.sqrt(self.n(k, j)) * (self.exposure(A, k, j) - self.exposure(A, j))
        return math.log(ratio) if ratio > 1.0 else 0.0

    def alone_or_tested(self, A: Pairs, S: list[int], j: int) -> Law:
        """Evidence against j meeting itself, and against each other arm that might beat it by too much."""
        if self.tested(A, S, j):
            most = max(self.tests(A, j).values())
            return {k: math.inf if k == j else most - self.teaches(A, j, k) for k in S}
        evidence = dict.fromkeys(S, 0.0)
        own, other = self.no_winner(A, j), min([math.inf, *(self.no_winner(A, m) for m in S if m != j)])
        late = min(max(LIKELIER - min(own, other), 0.0), max(other - own, 0.0))
        for k in S:
            if k != j:
                bar = 0.5 + min([self.exposure(A, k, j), *(self.exposure(A, m) for m in S if m not in (j, k))])
                n = self.n(k, j)
                against = n * kl(self.w[k][j] / n, bar) if n > 0 and self.w[k][j] / n < bar - 1e-12 else 0.0
                winner = self.no_winner(A, k)
                winner += max(self.tests(A, k).values()) - self.teaches(A, k, j) if winner > 0.0 else 0.0
                evidence[k] = min(against + late, winner) + self.dear(A, k, j)
                evidence[j] += self.surpassed(k, j, bar)
        return evidence

    def chance(self, i: int, j: int) -> float:
        return 0.5 if i == j else (self.w[i][j] + 0.5) / (self.n(i, j) + 1.0)

    def no_better(self, i: int, best: int, j: int) -> float:
        p, q = self.chance(i, j), self.chance(best, j)
        if i == best or p >= q:
            return 0.0
        n, m = self.n(i, j) + 1.0, self.n(best, j) + 1.0
        if best == j:
            return n * kl(p, 0.5)
        if i == j:
            return m * kl(q, 0.5)
        x = (n * p + m * q) / (n + m)
        return n * kl(p, x) + m * kl(q, x)

    def learn(self, places: list[Position], shares: list[float]) -> None:
        K = len(self.w)
        own = self.sets.setdefault(tuple(places[0].S), Normal(K))
        for a in range(len(places)):
            for b in range(a):
                i, j, weight = places[a].arm, places[b].arm, shares[a] + shares[b]
                if i == j or weight == 0.0:
                    continue
                share = shares[a] / weight
                chances = (self.pooled.chance(i, j), self.chance(i, j), own.chance(i, j))
                for name, q in zip(NAMES, chances, strict=True):
                    if self.n(i, j) > 0:
                        self.score[name] += weight * (share * math.log(q) + (1.0 - share) * math.log(1.0 - q))
                top = max(self.score.values())
                self.score = {name: max(s - top, -FLOOR) for name, s in self.score.items()}
                self.w[i][j] += shares[a]
                self.w[j][i] += shares[b]
                self.pooled.learn(i, j, share, weight, independent=False)
                own.learn(i, j, share, weight, independent=True)
