"""Claims about sleeping bandits that are judged by simulations: which policy is better, and how regrets grow."""

from typing import Any

from wakeful.lab.results import Results
from wakeful.paper.contents import FAILS, HOLDS, IN_PART, QUESTION, Claim
from wakeful.paper.experiments import EXP3G, IX, PER_SET, SI, UCB
from wakeful.paper.nash import Exploited
from wakeful.paper.verdicts import (
    LINEAR,
    Interval,
    gap,
    growth,
    interval,
    is_less,
    is_linear,
    is_not_less,
    is_sublinear,
    short,
    tally,
    together,
)

RULE_LESS = "95 % interval of the paired difference, run by run, on one side of zero"
NEAR = 0.1  # "converge to (1/2, 1/2)": a band around 1/2 that is a tenth wide
LEAD = 0.1  # of the other policy's regret: less is no lead
SETTLES = {HOLDS: "does", FAILS: "settles near {}", IN_PART: "is undecided, near {}"}
GAME = "Rock-Paper-Scissors"


def about(results: Results) -> dict[str, Any]:
    """Return where numbers come from."""
    return {"world": results.world, "rounds": results.rounds, "runs": results.runs, "seed": results.seed}


def about_games(found: Exploited, world: str = GAME) -> dict[str, Any]:
    """Return where numbers of the study of games come from."""
    runs = len(next(iter(found.regret.values())))
    return {"world": world, "rounds": int(found.rounds[-1]), "runs": runs, "seed": found.seed}


def means(results: Results, *policies: str, regret: str | None = None) -> str:
    """Return "a 12.0, b 15.0": mean regrets at the last round."""
    kept = results.main(regret)
    return ", ".join(f"{name} {short(float(results.final(kept, name).mean()))}" for name in policies)


def beats_both(id: str, where: str, said: str, results: Results) -> Claim:
    """Judge "SI-EXP3 outperforms S-UCB and S-EXP3" in one world."""
    gaps = {name: gap(results, SI, name, "policy") for name in (UCB, EXP3G)}
    verdicts = [is_less(difference) for difference in gaps.values()]
    listed = ", ".join(f"to {name} {difference}" for name, difference in gaps.items())
    rank = next(row for row in results.summary("policy") if row.policy == SI).rank
    best = results.summary("policy")[0].policy
    reason = f"Rule: {RULE_LESS}, for both. Of all {len(results.policies)} policies here it is number {rank}"
    return Claim(
        f"beats-both-{id}",
        where,
        said,
        f"Policy regret after {results.rounds:,} rounds: {means(results, SI, UCB, EXP3G)}; differences {listed}.",
        together(verdicts),
        reason
        + (
            f"; {best}, which the paper leaves out, is best (the rate of SIExp3() was tuned on worlds like these)."
            if rank > 1
            else "."
        ),
        {
            **about(results),
            "differences": {name: list(d) for name, d in gaps.items()},
            "rank": rank,
            "parts": tally(verdicts),
        },
    )


def stochastic(results: Results) -> Claim:
    """Judge "it needs dependence": where losses ignore which arms are awake, SI-EXP3 has no lead."""
    gaps = {name: gap(results, SI, name, "policy") for name in (UCB, EXP3G)}
    listed = ", ".join(f"to {name} {difference}" for name, difference in gaps.items())
    margins = {name: LEAD * float(results.final("policy", name).mean()) for name in gaps}
    verdicts = [is_not_less(difference, margins[name]) for name, difference in gaps.items()]
    return Claim(
        "no-lead-stochastic",
        "Section 5, figure 2 left (implied)",
        "SI-EXP3 outperforms the others as soon as there are dependencies: in the stochastic world, which has none, it "
        "does not, since S-UCB and S-EXP3 are made for the best ordering (implied, not said).",
        f"Policy regret after {results.rounds:,} rounds: {means(results, SI, UCB, EXP3G)}; differences {listed}.",
        together(verdicts),
        f"Rule: no lead of {LEAD:.0%} of the other's regret or more: 95 % intervals of the differences above that.",
        {
            **about(results),
            "differences": {name: list(d) for name, d in gaps.items()},
            "margins": margins,
            "parts": tally(verdicts),
        },
    )


def linear_baselines(results: Results, found: Exploited | None = None) -> Claim:
    """Judge "S-UCB and S-EXP3 incur linear regret", in the dependent world and against the Nash opponent."""
    exponents = {n: growth(results.checkpoints, results.curve("policy", n)) for n in (UCB, EXP3G)}
    listed = ", ".join(f"{name} T^{exponent}" for name, exponent in exponents.items())
    games = {} if found is None else {n: growth(found.rounds, found.regret[n]) for n in exponents}
    others = ", ".join(f"{name} T^{exponent}" for name, exponent in games.items())
    played = "" if found is None else f" {GAME}, {int(found.rounds[-1]):,} rounds: {others}."
    verdicts = [is_linear(exponent) for exponent in (*exponents.values(), *games.values())]
    return Claim(
        "baselines-linear",
        "Section 5, results",
        "Where losses depend on which arms are awake, S-UCB and S-EXP3 incur linear regret.",
        f"Growth of the policy regret over the last three quarters of {results.rounds:,} rounds, dependent world: "
        f"{listed}; regrets {means(results, UCB, EXP3G)}.{played}",
        together(verdicts),
        f"Rule: the 95 % intervals of all these exponents above {LINEAR}.",
        {
            **about(results),
            "exponents": {name: list(e) for name, e in exponents.items()},
            "exponents_games": {name: list(e) for name, e in games.items()},
            "also": [] if found is None else [about_games(found)],
            "parts": tally(verdicts),
        },
    )


def long_dependent(results: Results) -> Claim:
    """Judge whether the picture of figure 2 goes on: SI-EXP3's policy regret over a long horizon."""
    exponent = growth(results.checkpoints, results.curve("policy", SI))
    finals = results.final("policy", SI)
    cured = results.final("policy", IX)
    verdict = is_sublinear(exponent)
    return Claim(
        "dependence-long",
        "Section 5, results",
        "SI-EXP3 is able to use the dependence between losses and awake sets and to choose the right action (the paper "
        "shows 1,000 rounds of the dependent world).",
        f"After {results.rounds:,} rounds the policy regret of {SI} is {short(finals.mean())} on average, from "
        f"{short(finals.min())} to {short(finals.max())} over {results.runs} runs, and grows like T^{exponent}. "
        f"That of {IX}, with implicit exploration, is {short(cured.mean())}, at most {short(cured.max())}; that of "
        f"{PER_SET} {short(float(results.final('policy', PER_SET).mean()))}.",
        verdict,
        f"Rule: sublinear if the 95 % interval of the exponent is below {LINEAR}. One rare draw, divided by its tiny "
        "probability, freezes an expert for good; the mean is made by such runs.",
        {**about(results), "exponent": list(exponent), "finals": finals.tolist(), "with_exploration": cured.tolist()},
    )


def half_and_half(found: Exploited) -> Claim:
    """Judge "S-UCB and S-EXP3 will converge to (1/2, 1/2, 0) when Scissors is unavailable", policy by policy."""
    shares = {name: interval(found.paper_share[name]) for name in (UCB, EXP3G, SI)}
    verdicts = {name: is_half(share) for name, share in shares.items() if name != SI} | {SI: is_all(shares[SI])}
    listed = ", ".join(f"{name} {share}" for name, share in shares.items())
    said = ", ".join(f"{name} {SETTLES[verdicts[name]].format(f'{share.mean:.2f}')}" for name, share in shares.items())
    return Claim(
        "half-and-half",
        "Remark 5",
        "In Rock-Paper-Scissors against the Nash opponent S-UCB and S-EXP3 converge to (1/2, 1/2, 0) when Scissors is "
        "asleep, while SI-EXP3 chooses the right action, Paper.",
        f"Share of Paper on {{Rock, Paper}} in the second half of {int(found.rounds[-1]):,} rounds: {listed}.",
        together(verdicts.values()),
        f"Rule: for S-UCB and S-EXP3 the whole 95 % interval within {NEAR / 2:g} of 1/2; for SI-EXP3 "
        f"above {1.0 - NEAR}. Who does what is said: {said}.",
        {
            **about_games(found),
            "shares": {name: list(share) for name, share in shares.items()},
            "verdicts": verdicts,
            "parts": tally(verdicts.values()),
        },
    )


def is_half(share: Interval) -> str:
    """Judge "converges to 1/2": HOLDS if the whole interval is near it, FAILS if none of it is."""
    low, high = 0.5 - NEAR / 2, 0.5 + NEAR / 2
    if share.low > high or share.high < low:
        return FAILS
    return HOLDS if low <= share.low and share.high <= high else IN_PART


def is_all(share: Interval) -> str:
    """Judge "chooses it": HOLDS if the whole interval is above 0.9, FAILS if it is below."""
    if share.low > 1.0 - NEAR:
        return HOLDS
    return FAILS if share.high < 1.0 - NEAR else IN_PART


def finds_nash(found: Exploited) -> Claim:
    """Judge "can be used to converge to Nash equilibria", in self-play, for each sub-game."""
    ends = {name: interval(found.self_play[SI][:, -1, n]) for n, name in enumerate(found.sub_games)}
    falls = {name: growth(found.rounds, found.self_play[SI][:, :, n]) for n, name in enumerate(found.sub_games)}
    random, fall = interval(found.random_games[SI][:, -1]), growth(found.rounds, found.random_games[SI])
    own = found.self_play[IX].mean(axis=2)
    cured, cure = interval(own[:, -1]), growth(found.rounds, own)
    verdicts = [is_less(exponent) for exponent in (*falls.values(), fall)]
    listed = "; ".join(f"{name} {ends[name]}, going like T^{falls[name]}" for name in found.sub_games)
    rises = " and in ".join(name for name in found.sub_games if is_less(falls[name]) == FAILS)
    rising = f" It rises in {rises}." if rises else ""
    return Claim(
        "finds-nash",
        "Section 1, contributions; Remark 5; appendix, random games",
        "SI-EXP3 can be used to converge to Nash equilibria of two-player zero-sum games with sleeping actions.",
        f"Exploitability of the average play after {int(found.rounds[-1]):,} rounds of self-play: {listed}; mean over "
        f"the sub-games of random games {random}, going like T^{fall}. The mean over the sub-games for "
        f"{IX} is {cured}, going like T^{cure}.",
        together(verdicts),
        "Rule: in every sub-game the 95 % interval of the exponent is below zero, so that exploitability falls; a part "
        f"fails where it is above.{rising} A measurement, not a proof.",
        {
            "exploitability": {name: list(end) for name, end in ends.items()},
            "exponents": {name: list(exponent) for name, exponent in falls.items()},
            "random_games": {"exploitability": list(random), "exponent": list(fall)},
            "parts": tally(verdicts),
            **about_games(found, f"{GAME} and random games, self-play"),
        },
        QUESTION,
    )


def against_nash(found: Exploited) -> Claim:
    """Judge "whether it obtains sublinear regret against an adversary that plays the Nash"."""
    exponents = {name: growth(found.rounds, found.regret[name]) for name in (SI, IX, UCB, EXP3G)}
    ends = {name: interval(found.regret[name][:, -1]) for name in exponents}
    listed = ", ".join(f"{name} {ends[name]}, growing like T^{exponents[name]}" for name in exponents)
    return Claim(
        "regret-against-nash",
        "Remark 5",
        "SI-EXP3 obtains sublinear regret against an opponent who plays the Nash equilibrium of the sub-game of the "
        "awake actions.",
        f"Rock-Paper-Scissors, policy regret after {int(found.rounds[-1]):,} rounds: {listed}.",
        is_sublinear(exponents[SI]),
        f"Rule: the 95 % interval of the exponent of SI-EXP3 below {LINEAR}. A measurement, not a proof.",
        {
            "regret": {name: list(end) for name, end in ends.items()},
            "exponents": {name: list(exponent) for name, exponent in exponents.items()},
            **about_games(found),
        },
        QUESTION,
    )
