"""Auto, literally: every record is a list of past losses, forgotten and shrunk anew whenever it is read."""

import math

Law = dict[int, float]

KAPPAS = (0.0, 4.0, 32.0, math.inf, -math.inf)  # the last one pools all sets, too, but each of them has a level
RHOS = (1.0, 0.9995, 0.998, 0.99)


class Auto:
    """The mixture of twenty readings of one list of observations (awake set, arm, loss), oldest first."""

    def __init__(self, K: int, max_sets: int = 256, guard: float = 0.0) -> None:
        self.K, self.max_sets, self.a = K, max_sets, guard
        self.seen: list[tuple[tuple[int, ...], int, float]] = []
        self.born: list[float] = []  # when, in half rewards
        self.sets: list[tuple[int, ...]] = []
        self.evidence = {(k, r): self.doubt(k, r) for k in KAPPAS for r in RHOS}
        self.level = dict.fromkeys(self.evidence, 0.0)
        self.set_level: dict[tuple[int, ...], float] = {}
        self.gains, self.squares, self.L = [0.0] * K, [0.0] * K, [0.0] * K
        self.switched = False
        self.rivals = 0

    def doubt(self, kappa: float, rho: float) -> float:
        apart = 0.0 if math.isinf(kappa) else -1.5
        return apart if rho == 1.0 or kappa == math.inf else apart - 2.0

    def usual(self) -> tuple[float, float]:
        mean = max(0.5, (sum(loss for _, _, loss in self.seen) + 0.5) / (len(self.seen) + 1.0))
        return mean, 0.5 / (1.0 - mean)

    def forgetful(self, kappa: float, rho: float, S: tuple[int, ...], k: int) -> tuple[float, float]:
        here = elsewhere = lost_here = lost_elsewhere = 0.0
        for (then, arm, loss), born in zip(self.seen, self.born, strict=True):
            left = rho ** (self.born[-1] - born)
            if arm == k and then == S:
                here += left
                lost_here += left * loss
            elif arm == k:
                elsewhere += left
                lost_elsewhere += left * loss
        if math.isinf(kappa) or S not in (*self.sets, *([S] if len(self.sets) < self.max_sets else [])):
            return here + elsewhere, lost_here + lost_elsewhere
        share = kappa / (kappa + elsewhere) if elsewhere > 0.0 else 0.0
        return here + share * elsewhere, lost_here + share * lost_elsewhere

    def record(self, kappa: float, rho: float, S: tuple[int, ...], k: int) -> tuple[float, float]:
        n, lost = self.forgetful(kappa, rho, S, k)
        if rho < 1.0:
            whole, lost_ever = self.forgetful(kappa, 1.0, S, k)
            most = 8.0 * self.usual()[1]
            n, lost = n + most / (most + whole) * whole, lost + most / (most + whole) * lost_ever
        return n, lost

    def reading(self, kappa: float, rho: float, S: tuple[int, ...]) -> Law:
        mean, strength = self.usual()
        n, m = {}, {}
        for k in S:
            count, lost = self.record(kappa, rho, S, k)
            n[k], m[k] = count + strength, (lost + strength * mean) / (count + strength)
        a = 0.5 * len(S) if self.K > 2 else 12.0
        c = min(5.0 * (len(S) - 1), 50.0)
        w = {k: math.log(c + sum(n.values()) / (a * n[k])) for k in n}
        b = min(self.bound(m[k], w[k] / n[k]) for k in n)
        beyond = {k: n[k] * self.kl(m[k], b) - w[k] for k in n}
        odds = {k: math.exp(-40.0 * (beyond[k] - min(beyond.values()))) for k in n}
        return {k: odds[k] / sum(odds.values()) for k in n}

    def kl(self, m: float, b: float) -> float:
        return m * math.log(m / b) + (1.0 - m) * math.log((1.0 - m) / (1.0 - b))

    def bound(self, m: float, most: float) -> float:
        """The b below m with kl(m, b) = most, by bisection of its logarithm."""
        low, high = math.log(m) - 100.0, math.log(m)
        for _ in range(100):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.kl(m, math.exp(middle)) > most else (low, middle)
        return math.exp(low)

    def law(self, S: list[int]) -> Law:
        if len(S) == 1:
            return {S[0]: 1.0}
        if self.switched:
            eta = math.sqrt(math.log(self.K) / 2.0 / (self.rivals + len(S) - 1))
            v = {k: math.exp(-eta * (self.L[k] - min(self.L[j] for j in S))) for k in S}
            return {k: v[k] / sum(v.values()) for k in S}
        half_rewards = len(self.seen) / self.usual()[1]
        against = {rho: min(math.log(1.0 + (1.0 - rho) * half_rewards), 6.0) for rho in RHOS}
        nats = {h: 2.0 * (e - against[h[1]]) for h, e in self.evidence.items()}
        weights = {h: math.exp(x - max(nats.values())) for h, x in nats.items()}
        weights = {h: w + (weights[-h[0], h[1]] if h[0] == math.inf else 0.0) for h, w in weights.items()}
        weights = {h: w for h, w in weights.items() if w >= 1e-5 and h[0] != -math.inf}
        played = {h: self.reading(*h, tuple(S)) for h in weights}
        p = {k: sum(weights[h] * played[h][k] for h in weights) / sum(weights.values()) for k in S}
        explored = self.a * (len(self.seen) + 1.0) ** (-1.0 / 3.0)
        return {k: (1.0 - explored) * p[k] + explored / len(S) for k in S}

    def decided(self, S: list[int], p: Law, k: int, coin: float) -> None:
        return None

    def learn(self, S: list[int], p: Law, k: int, note: None, loss: float) -> None:
        if len(S) > 1 and self.a > 0.0:
            self.watch(S, p, k, loss)
        self.weigh(tuple(S), k, loss)
        if tuple(S) not in self.sets and len(self.sets) < self.max_sets:
            self.sets.append(tuple(S))
        self.seen.append((tuple(S), k, loss))
        self.born.append((self.born[-1] if self.born else 0.0) + 1.0 / self.usual()[1])

    def weigh(self, S: tuple[int, ...], k: int, loss: float) -> None:
        mean, strength = self.usual()
        gain, surprise = {}, {}
        for h in self.evidence:
            n, lost = self.record(*h, S, k)
            q = (lost + strength * mean) / (n + strength)
            level = self.level[h] + (self.set_level.get(S, 0.0) if h[0] == -math.inf else 0.0)
            q = 1.0 / (1.0 + math.exp(-math.log(q / (1.0 - q)) - level))
            q = min(max(q, 1e-4), 1.0 - 1e-4)
            self.level[h] = 0.99 * self.level[h] + 0.2 * (loss - q)
            gain[h] = loss * math.log(q) + (1.0 - loss) * math.log(1.0 - q)
            surprise[h] = loss - q
        if S in self.sets or len(self.sets) < self.max_sets:
            rate = 4.0 / (16.0 + sum(then == S for then, _, _ in self.seen) / strength)
            self.set_level[S] = self.set_level.get(S, 0.0) + rate * surprise[-math.inf, 1.0]
        tried = S in self.sets and any(then == S and arm == k for then, arm, _ in self.seen)
        for kappa, rho in self.evidence:
            self.evidence[kappa, rho] += gain[kappa if tried else math.inf, rho]
        top = max(self.evidence.values())
        for h in self.evidence:
            self.evidence[h] = max(self.evidence[h] - top, self.doubt(*h) - 12.0)

    def watch(self, S: list[int], p: Law, k: int, loss: float) -> None:
        estimate = loss / p[k]
        if self.switched:
            self.rivals += len(S) - 1
            for i in S:
                self.L[i] += (estimate if i == k else 0.0) - loss
            return
        self.squares[k] += estimate**2
        heaviest = self.K / self.a * (len(self.seen) + 1.0) ** (1.0 / 3.0)
        for i in S:
            self.gains[i] += loss - (estimate if i == k else 0.0)
            if self.gains[i] > 3.0 * math.sqrt(self.squares[i]) + 8.0 * heaviest:
                self.switched = True
