"""StablePair, literally: from the rule of docs/stable-pair.md, with lists and dictionaries."""

import math

from reference.duel_policies import Counting, Pairs
from reference.policies import Law

LEVEL, CHARGE, SPARE, PATIENCE = 0.6, 2.0, 0.18, 4.0
OFTEN, TRIALS, STUDY, AHEAD = 2000, 3, 5.0, 0.08


class StablePair(Counting):
    """The first pair, from reply to reply, that can cost no more than its own uncertainty."""

    def law(self, A: Pairs, S: list[int], chosen: list[int], coin: float) -> Law:
        K = len(A)
        t = self.t + 1
        level = LEVEL * math.log(max(t, 2))
        U = {(i, j): self.bound(i, j, level) for i in range(K) for j in range(K)}
        if len(chosen) >= 2:
            best = max(S, key=lambda k: (min(U[k, c] for c in chosen), -k))
        else:
            r = {(i, j): max((U[i, j] + U[j, i] - 1.0) / 2.0, 0.0) for i, j in U}
            leader = self.leader(A, U)
            self.close(U, K)
            partners = {j: [i for i in range(K) if A[i][j]] for j in range(K)}
            reply = {j: max(them, key=lambda i: (U[i, j], -i)) for j, them in partners.items() if them}
            top = {j: U[i, j] for j, i in reply.items()}
            cost = {i: (top[i] + top[j] - 1.0) / 2.0 for i, j in reply.items()}
            n_pairs = sum(map(sum, A)) / 2.0
            slack = SPARE * n_pairs / len(reply) * math.sqrt(level * n_pairs / t)
            best = self.first(leader, reply, cost, r, slack, level, t) if not chosen else reply[chosen[0]]
        return {k: float(k == best) for k in S}

    def bound(self, i: int, j: int, level: float) -> float:
        if i == j:
            return 0.5
        if self.n(i, j) == 0:
            return 1.5
        low, high = max(i, j), min(i, j)  # one root for both directions
        m, b = self.w[low][high] / self.n(i, j), level / self.n(i, j)
        a, h = 1.0 + 8.0 * b / 9.0, (1.0 - 2.0 * m) * b * 2.0 / 3.0
        root = math.sqrt(h * h + 2.0 * b * m * (1.0 - m) * a)
        return m + (root + h) / a if i > j else 1.0 - m + (root - h) / a

    def leader(self, A: Pairs, U: dict[tuple[int, int], float]) -> int:
        K = len(A)
        floor = [max([0.5, *(1.0 - U[j, y] for y in range(K) if A[j][y])]) for j in range(K)]
        lost = [sum(A[i][j] and U[i, j] < floor[j] for j in range(K)) for i in range(K)]
        net = [sum(self.w[i][j] - self.w[j][i] for j in range(K)) for i in range(K)]
        return min((i for i in range(K) if any(A[i])), key=lambda i: (lost[i], -net[i], i))

    def close(self, U: dict[tuple[int, int], float], K: int) -> None:
        strongest = [min([w, *range(K)], key=lambda y: (U[w, y], y != w, y)) for w in range(K)]
        worse = [[w for w in range(K) if 1.0 - U[w, strongest[w]] > U[x, w]] for x in range(K)]
        losses = [len(found) for found in worse]
        captain = {x: min((strongest[w] for w in worse[x]), key=lambda y: losses[y]) for x in range(K) if worse[x]}
        order = sorted(range(K), key=lambda x: losses[x])
        for x in order:
            for w in range(K):
                if x in captain:
                    U[x, w] = min(U[x, w], U[captain[x], w])
        for x in reversed(order):
            for w in range(K):
                if x in captain:
                    U[w, captain[x]] = min(U[w, captain[x]], U[w, x])

    def first(
        self, leader: int, reply: dict[int, int], cost: dict[int, float], r: dict[tuple[int, int], float],
        slack: float, level: float, t: int,
    ) -> int:  # fmt: skip
        K = len(self.w)
        i = leader
        for _ in range(K + 1):
            j = reply[i]
            if cost[i] <= CHARGE * r[i, j] + 1e-12:
                return i
            if cost[i] <= slack + 1e-12:
                k = reply[j]
                ahead = (self.w[k][j] + 0.5) / (self.n(k, j) + 1) - (self.w[i][j] + 0.5) / (self.n(i, j) + 1)
                few = self.n(k, j) < TRIALS or (self.n(k, j) < STUDY * level and ahead > AHEAD)
                return j if k != i and self.n(i, j) >= OFTEN and few else i
            i = j
        circle = [i]
        while reply[circle[-1]] != i:
            circle.append(reply[circle[-1]])
        widest = max(circle, key=lambda k: (r[k, reply[k]], -circle.index(k)))
        if self.n(widest, reply[widest]) < PATIENCE * (2.0 * t / (K * (K - 1.0))) ** (2.0 / 3.0):
            return widest
        if cost[leader] <= 2.0 * r[widest, reply[widest]] + 1e-12:
            return leader
        return min(circle, key=lambda k: (cost[k], circle.index(k)))
