"""Every dueling policy, literally. `A[i][j]` says whether i and j may meet; `S` lists who may be drawn, sorted."""

import math
from typing import Any, Protocol

from reference.policies import Law

TIE = 1e-12
Pairs = list[list[bool]]


class Position:
    """One position of a round: who could be drawn, with which law, who was, what was left of the uniform, a note."""

    def __init__(self, S: list[int], p: Law, arm: int, coin: float) -> None:
        self.S, self.p, self.arm, self.coin = S, p, arm, coin
        self.note: Any = None


class Reference(Protocol):
    """What a literal dueling policy does each round."""

    def law(self, A: Pairs, S: list[int], chosen: list[int], coin: float) -> Law: ...

    def decided(self, places: list[Position]) -> None: ...

    def learn(self, places: list[Position], shares: list[float]) -> None: ...


def choose(policy: Reference, A: Pairs, size: int, uniforms: list[float]) -> list[Position]:
    """Draw one arm after the other, two uniforms each, and count the decision."""
    K = len(A)
    places: list[Position] = []
    for m in range(size):
        chosen = [place.arm for place in places]
        if m == 0:
            S = [k for k in range(K) if any(A[k])]
        else:
            S = [k for k in range(K) if all(A[c][k] for c in chosen)]
        p = policy.law(A, S, chosen, uniforms[2 * m])
        u, before = uniforms[2 * m + 1], 0.0
        for k in S:
            if u < before + p[k]:
                break
            before += p[k]
        places.append(Position(S, p, k, (u - before) / p[k]))
    policy.decided(places)
    return places


def shares_of(P: Any, arms: list[int], coin: float) -> list[float]:
    """Let one pair of positions, uniform, duel: its winner takes all."""
    duels = [(a, b) for a in range(len(arms)) for b in range(a + 1, len(arms))]
    x = coin * len(duels)
    a, b = duels[int(x)]
    winner = a if x - int(x) < P[arms[a]][arms[b]] else b
    return [float(m == winner) for m in range(len(arms))]


def run(policy: Reference, masks: Any, P: Any, size: int, uniforms: Any, coins: Any) -> list[list[int]]:
    """Play every round with immediate feedback; return the arms."""
    played = []
    for A, u, coin in zip(masks, uniforms, coins, strict=True):
        places = choose(policy, A.tolist(), size, u.tolist())
        arms = [place.arm for place in places]
        policy.learn(places, shares_of(P, arms, float(coin)))
        played.append(arms)
    return played


class Sparring:
    """A literal bandit policy for each position; a position loses what it does not win."""

    def __init__(self, make: Any, K: int, size: int) -> None:
        self.sides = [make(K) for _ in range(size)]

    def law(self, A: Pairs, S: list[int], chosen: list[int], coin: float) -> Law:
        law: Law = self.sides[len(chosen)].law(S)
        return law

    def decided(self, places: list[Position]) -> None:
        for side, place in zip(self.sides, places, strict=True):
            place.note = side.decided(place.S, place.p, place.arm, place.coin)

    def learn(self, places: list[Position], shares: list[float]) -> None:
        for side, place, share in zip(self.sides, places, shares, strict=True):
            side.learn(place.S, place.p, place.arm, place.note, 1.0 - share)


class Counting:
    """What the others share: who beat whom how often, and the number of rounds."""

    def __init__(self, K: int) -> None:
        self.w = [[0.0] * K for _ in range(K)]
        self.t = 0

    def decided(self, places: list[Position]) -> None:
        self.t += 1

    def learn(self, places: list[Position], shares: list[float]) -> None:
        for a, one in enumerate(places):
            for b, other in enumerate(places):
                if a != b:
                    self.w[one.arm][other.arm] += shares[a]

    def n(self, i: int, j: int) -> float:
        return self.w[i][j] + self.w[j][i]

    def mean(self, i: int, j: int) -> float:
        return self.w[i][j] / self.n(i, j) if i != j and self.n(i, j) > 0 else 0.5

    def width(self, i: int, j: int, constant: float) -> float:
        if i == j:
            return 0.0
        return math.sqrt(constant * math.log(self.t + 1) / self.n(i, j)) if self.n(i, j) > 0 else math.inf

    @staticmethod
    def rivals(A: Pairs, i: int) -> list[int]:
        return [j for j in range(len(A)) if A[i][j] and j != i]

    @staticmethod
    def evenly(S: list[int], chosen: list[int]) -> Law:
        return {k: 1.0 / len(chosen) if k in chosen else 0.0 for k in S}

    def highest(self, S: list[int], score: dict[int, float]) -> Law:
        most = max(score.values())
        return self.evenly(S, [k for k in score if score[k] >= most - TIE])


class RelativeUCB(Counting):
    """RUCB's Algorithm 1 on the allowed pairs, without its set B."""

    def __init__(self, K: int, constant: float = 0.51) -> None:
        super().__init__(K)
        self.constant = constant

    def U(self, i: int, j: int) -> float:  # noqa: N802, the paper's own letter
        return self.mean(i, j) + self.width(i, j, self.constant)

    def law(self, A: Pairs, S: list[int], chosen: list[int], coin: float) -> Law:
        if chosen:
            return self.highest(S, {k: self.U(k, chosen[0]) for k in S})
        C = [i for i in S if all(self.U(i, j) >= 0.5 - TIE for j in self.rivals(A, i))]
        return self.evenly(S, C or S)


class RelativeMED(Counting):
    """RMED1 on the allowed pairs, its candidates drawn evenly; DMED where a champion without rivals must meet one."""

    def __init__(self, K: int, slack: float = 0.3) -> None:
        super().__init__(K)
        self.slack = slack

    @staticmethod
    def kl(x: float, y: float) -> float:
        return sum(a * math.log(a / b) for a, b in ((x, y), (1 - x, 1 - y)) if a > 0)

    def against(self, A: Pairs, i: int) -> float:
        lost = [j for j in self.rivals(A, i) if self.mean(i, j) < 0.5]
        return sum(self.n(i, j) * self.kl(self.mean(i, j), 0.5) for j in lost)

    def law(self, A: Pairs, S: list[int], chosen: list[int], coin: float) -> Law:
        threshold = math.log(self.t + 1) + self.slack * len(S) ** 1.01 + TIE
        I = {i: self.against(A, i) for i in range(len(A)) if any(A[i])}  # noqa: E741, the paper's own letter
        least = min(I.values())
        if not chosen:
            return self.evenly(S, [i for i in S if I[i] - least <= threshold])
        c = chosen[0]
        O = [j for j in S if j != c and self.mean(c, j) <= 0.5 + TIE]  # noqa: E741, the paper's own letter
        leaders = [i for i in S if I[i] <= least + TIE * (1 + least) and (i in O or not O)]
        if leaders:
            return self.evenly(S, leaders)
        if O:
            return self.highest(S, {j: 1 - self.mean(c, j) for j in S if j != c})
        best = max(self.mean(j, c) for j in S)
        return self.evenly(S, [j for j in S if self.n(j, c) * self.kl(self.mean(j, c), best) <= threshold])


class DoubleThompson(RelativeUCB):
    """Algorithm 1 of Wu and Liu on the allowed pairs: every theta drawn, all scores compared."""

    def law(self, A: Pairs, S: list[int], chosen: list[int], coin: float) -> Law:
        if not chosen:
            return self.first(A, S, coin)
        c = chosen[0]
        theta = {k: self.theta(k, c, coin) if k != c else 0.5 for k in S}
        sure = [k for k in S if self.mean(k, c) - self.width(k, c, self.constant) > 0.5 + TIE]
        return self.highest(S, {k: theta[k] for k in S if k not in sure or len(sure) == len(S)})

    def first(self, A: Pairs, S: list[int], coin: float) -> Law:
        upper = {i: self.share(sum(self.U(i, j) >= 0.5 - TIE for j in self.rivals(A, i)), A, i) for i in S}
        C = [i for i in S if upper[i] >= max(upper.values()) - TIE]
        theta = {(i, j): self.theta(i, j, coin) for i in S for j in S if i < j}
        theta |= {(j, i): 1 - x for (i, j), x in theta.items()}
        return self.highest(S, {i: self.share(sum(theta[i, j] > 0.5 for j in self.rivals(A, i)), A, i) for i in C})

    def share(self, beaten: int, A: Pairs, i: int) -> float:
        return beaten / len(self.rivals(A, i)) if self.rivals(A, i) else 1.0

    def theta(self, i: int, j: int, coin: float) -> float:
        """Cheng's algorithm BA (1978), fed by SplitMix on 62 bits."""
        a, b = 1.0 + self.w[i][j], 1.0 + self.w[j][i]
        beta = max(1 / a, 1 / b) if min(a, b) <= 1 else math.sqrt((a + b - 2) / (2 * a * b - a - b))
        state = mixed(mixed(int(coin * 2**53) + STRIDE) ^ (i * 2**31 + j))
        while True:
            u1, u2 = uniform(state), uniform(state + STRIDE)
            state += 2 * STRIDE
            V = beta * math.log(u1 / (1 - u1))
            W = a * math.exp(V)
            if (a + b) * math.log((a + b) / (b + W)) + (a + 1 / beta) * V - math.log(4) >= math.log(u1 * u1 * u2):
                return W / (b + W)


STRIDE = 0x9E3779B97F4A7C15 % 2**62  # SplitMix64's own constants, cut


def mixed(z: int) -> int:
    """Mix as SplitMix64 does, all modulo 2^62."""
    z %= 2**62
    z = (z ^ (z >> 30)) * (0xBF58476D1CE4E5B9 % 2**62) % 2**62
    z = (z ^ (z >> 27)) * (0x94D049BB133111EB % 2**62) % 2**62
    return z ^ (z >> 31)


def uniform(z: int) -> float:
    """Return the middle of one of 2^52 cells of the unit interval."""
    return ((mixed(z) >> 10) + 0.5) / 2**52


class UniformPairs(Counting):
    """Every allowed ordered pair alike."""

    def law(self, A: Pairs, S: list[int], chosen: list[int], coin: float) -> Law:
        if chosen:
            return self.evenly(S, S)
        ordered = [(i, j) for i in S for j in range(len(A)) if A[i][j]]
        return {k: sum(i == k for i, _ in ordered) / len(ordered) for k in S}
