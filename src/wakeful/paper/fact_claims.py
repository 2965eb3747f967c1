"""Claims that are computed, not simulated: the fixed point, games, the regret of duels, what no policy can do."""

import math

import numpy as np

from wakeful.paper.contents import FAILS, HOLDS, IN_PART, Claim
from wakeful.paper.facts import GAMES, HORIZONS, Facts
from wakeful.paper.verdicts import ROOT, is_true, short, together
from wakeful.worlds import games

FACT_ERROR = 1e-12
CLOSE_DUELS = 1e-9  # a round
CLEARLY = 0.01  # by which an exponent exceeds 1/2


def fixed_point(found: Facts) -> Claim:
    """Judge that p exists and can be computed."""
    worst = float(found.fixed_point.max())
    return Claim(
        "fixed-point",
        "Section 3.1, the equation that defines p_t",
        "The probabilities p = sum q(i -> j) p^{i -> j} exist and can be computed.",
        f"On {found.fixed_point.size} random sets of weights, K from 2 to 30, the equation is met up to {worst:.1g}.",
        is_true(error <= FACT_ERROR for error in found.fixed_point.tolist()),
        f"Rule: each error at most {FACT_ERROR}.",
        {"worst": worst, "cases": found.fixed_point.size, "seed": found.seed},
    )


def rock_paper_scissors(found: Facts) -> Claim:
    """Judge what Remark 5 says of the game: Paper on {Rock, Paper}, and actions that are equally good on average."""
    off = float(np.abs(found.values - 0.5).max())
    fine = [abs(found.paper - 1.0) <= FACT_ERROR, float(np.ptp(found.means)) <= FACT_ERROR, off <= FACT_ERROR]
    return Claim(
        "rock-paper-scissors-facts",
        "Remark 5",
        "The equilibrium of the game restricted to Rock and Paper is to play Paper, and yet all actions are equally "
        "good on average over awake sets, against the Nash opponent.",
        f"The equilibrium there plays Paper with probability {short(found.paper)}; mean losses of the three actions "
        f"while awake are {', '.join(short(float(mean)) for mean in found.means)}; the value of each sub-game is 1/2 "
        f"up to {off:.1g}.",
        is_true(fine),
        f"Rule: each up to {FACT_ERROR}. The matrix of the paper must be read as the row player's losses.",
        {"paper": found.paper, "means": found.means.tolist(), "values": found.values.tolist()},
    )


def half_for_both(found: Facts) -> Claim:
    """Judge "the optimal strategy would incur 1/2" in random games."""
    off = np.abs(found.random_values - 0.5)
    return Claim(
        "random-games-half",
        "Appendix D.1, random games",
        "Against an opponent who plays the equilibrium of the sub-game, the optimal strategy loses 1/2 a round.",
        f"In {off.size} sub-games of {GAMES} random games the value is 1/2 up to {float(off.max()):.1g}.",
        is_true(error <= games.EXPLOITABLE for error in off.tolist()),
        f"Rule: up to {games.EXPLOITABLE}. The game is symmetric and both players have the same awake actions.",
        {"worst": float(off.max()), "sub_games": off.size, "seed": found.seed},
    )


def reductions(found: Facts) -> Claim:
    """Judge Remark 4: SI-DB regret is Condorcet regret for all pairs, and that of Saha & Gaillard for S x S."""
    first, second = found.duels
    return Claim(
        "duel-regret-generalises",
        "Remark 4",
        "SI-DB regret is the Condorcet regret if all pairs are allowed, and the sleeping regret of Saha & Gaillard "
        "(2021) if all pairs of awake arms are.",
        f"On {found.histories} histories of 40 duels, five arms in total order, the two differ by at most {first:.1g} "
        f"and {second:.1g} a round.",
        together(HOLDS if difference <= CLOSE_DUELS else FAILS for difference in found.duels),
        f"Rule: at most {CLOSE_DUELS} a round.",
        {"differences": list(found.duels), "histories": found.histories, "seed": found.seed},
    )


def order_optimal(found: Facts) -> Claim:
    """Judge "order optimal O(sqrt(T))" for sleeping duels on general pairs, by a lower bound for every policy."""
    exponent = math.log(found.least[1] / found.least[0]) / math.log(HORIZONS[1] / HORIZONS[0])
    refuted = all(found.orders) and exponent > ROOT + CLEARLY
    return Claim(
        "order-optimal-duels",
        "Section 1, contributions and related works; section 4.2",
        "For sleeping duels on general sets of pairs A_t the paper gives an efficient and order-optimal algorithm of "
        "regret O(sqrt(T)).",
        f"On the circle 1 - 2 - 3 - 4 - 5 - 1, the same in every round, each policy has, under one of two preference "
        f"matrices that depend on T and have a total order, an expected regret of at least {short(found.least[0])} "
        f"after 10^{math.log10(HORIZONS[0]):.0f} rounds and {short(found.least[1])} after "
        f"10^{math.log10(HORIZONS[1]):.0f}: it grows like T^{short(exponent)}.",
        FAILS if refuted else IN_PART,
        f"Rule: it fails if this lower bound, which holds for every policy, grows clearly faster than T^{ROOT:g}; the "
        "proof of T^(4/7) is in docs/stable-pair.md. With A_t = S_t x S_t the order sqrt(T) stands.",
        {"least": list(found.least), "rounds": list(HORIZONS), "exponent": exponent, "total_orders": found.orders},
    )
