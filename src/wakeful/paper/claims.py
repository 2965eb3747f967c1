"""All claims of the paper, in its order: which findings each needs, and which function judges it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from wakeful.paper import bandit_claims as bandits
from wakeful.paper import duel_claims as duels
from wakeful.paper import fact_claims as facts
from wakeful.paper import relation_claims as related
from wakeful.paper import theory_claims as theory
from wakeful.paper.contents import FAILS, HOLDS, IN_PART, UNTESTED, Claim

THEOREM = ("theorem-1-dependent", "theorem-1-switching")
PARTS = {
    HOLDS: ("holds", "hold"),
    FAILS: ("does not", "do not"),
    IN_PART: ("undecided", "undecided"),
    UNTESTED: ("not tested here", "not tested here"),
}
DEPENDS = "Losses depend on which arms are awake: SI-EXP3 significantly outperforms S-UCB and S-EXP3"


UNDECIDED = " Undecided: an interval reaches over a limit, or lies between two."
LOOSE = " Not tested here: no policy can have more than the bound in so many rounds."


class Rule(NamedTuple):
    """A claim that can be judged once its findings are known; they are passed to `judge` in this order."""

    needs: tuple[str, ...]
    judge: Callable[..., Claim]


def judged(findings: Mapping[str, Any], quick: bool) -> list[Claim]:
    """Return every claim whose findings are there, each with the note whether the run was a quick one."""
    rules = [rule for rule in RULES if all(need in findings for need in rule.needs)]
    claims = [rule.judge(*(findings[need] for need in rule.needs)) for rule in rules]
    return [_noted(claim, quick) for claim in claims]


def _noted(claim: Claim, quick: bool) -> Claim:
    """Return the claim with its runs and seed, the note whether the run was quick, and what "in part" means."""
    return replace(
        claim,
        measured=claim.measured.removesuffix(".") + _source(claim.numbers) + ".",
        reason=claim.reason + _parts(claim),
        numbers={**claim.numbers, "quick": quick},
    )


def _source(numbers: Mapping[str, Any]) -> str:
    """Return " (50 runs, seed 0)": what of it is known, of all experiments that numbers come from.

    >>> _source({"runs": 12, "seed": 0, "also": [{"runs": 10, "seed": 0}]}), _source({"seed": 3}), _source({})
    (' (12 and 10 runs, seed 0)', ' (seed 3)', '')
    """
    counts = list(dict.fromkeys(one["runs"] for one in (numbers, *numbers.get("also", ())) if "runs" in one))
    runs = f"{' and '.join(map(str, counts))} run{'' if counts == [1] else 's'}" if counts else ""
    known = [*filter(None, [runs]), *(f"seed {numbers[key]}" for key in ("seed",) if key in numbers)]
    return f" ({', '.join(known)})" if known else ""


def _parts(claim: Claim) -> str:
    """Return what is behind a verdict that is not plain: how many parts hold, or that nothing is decided."""
    parts = claim.numbers.get("parts", {})
    if claim.verdict == UNTESTED:
        return LOOSE
    if claim.verdict == IN_PART and not parts.get(HOLDS):
        return UNDECIDED
    if claim.verdict != IN_PART and not parts.get(IN_PART) and not parts.get(UNTESTED):
        return ""
    words = (f"{parts[v]} {one if parts[v] == 1 else many}" for v, (one, many) in PARTS.items() if parts[v])
    return f" Of {sum(parts.values())} parts {', '.join(words)}."


def _beats(name: str, where: str, what: str) -> Rule:
    return Rule((name,), partial(bandits.beats_both, name, where, f"{DEPENDS} ({what})."))


def _relation(judge: Callable[..., Claim]) -> Rule:
    return Rule(("relations",), judge)


RULES: tuple[Rule, ...] = (
    _relation(
        related.lemma(
            *("lemma-1", "Lemma 1"),
            "External regret is a sum of internal ones, R_ext(k) = sum_i R_int(i -> k), on every history.",
            "Lemma 1",
        )
    ),
    _relation(
        related.lemma(
            *("lemma-2", "Lemma 2"),
            "For i.i.d. losses ordering regret is at most sum_i sum_{j no worse than i} R_int(i -> j).",
            "Lemma 2",
        )
    ),
    _relation(
        related.lemma(
            *("ordering-gives-external", "Section 2.2, ordering regret, case (i)"),
            "For i.i.d. losses low ordering regret implies low external regret.",
            "ordering bounds external",
        )
    ),
    _relation(
        related.lemma(
            *("ordering-gives-internal", "Remark 2; Appendix A.2"),
            "For i.i.d. losses no internal regret exceeds the ordering regret.",
            "ordering bounds internal",
        )
    ),
    _relation(
        related.lemma(
            *("ordering-is-policy", "Section 2.2; Appendix A.3"),
            "Policy and ordering regret are the same for i.i.d. losses, and for i.i.d. awake sets with losses that "
            "ignore them.",
            *("policy is ordering", "policy is ordering, independent sets"),
        )
    ),
    _relation(related.strict),
    _relation(related.external_not_ordering),
    _relation(related.printed_example),
    _relation(
        related.gap_between(
            *("appendix-a1-corrected", "Section 2.2, ordering regret, case (ii); Appendix A.1, corrected"),
            "With losses that depend on the awake set, low ordering regret does not imply low external regret (our "
            "example: four arms, four sets).",
            *("ordering without external", "ordering", "external"),
        )
    ),
    _relation(
        related.gap_between(
            *("external-not-internal", "Section 2.4; Remark 2"),
            "Low external regret does not imply low internal regret, even if nobody sleeps.",
            *("external without internal", "external", "internal"),
        )
    ),
    _relation(related.open_question),
    Rule(("adversarial",), theory.adversarial),
    Rule(THEOREM, theory.printed),
    Rule(THEOREM, theory.corrected),
    Rule(THEOREM, theory.sharpened),
    Rule(THEOREM, theory.root),
    Rule(THEOREM, theory.online),
    Rule(("remark-3", "theorem-1-dependent"), theory.consequences),
    Rule(("line-12",), theory.line_twelve),
    Rule(("stochastic",), bandits.stochastic),
    _beats("dependent", "Section 5, figure 2 middle", "the dependent world"),
    _beats("rock-paper-scissors", "Section 5, figure 2 right", "Rock-Paper-Scissors against the Nash opponent"),
    _beats("random-dependence", "Appendix D.1, figure 3 left", "random dependence"),
    _beats("random-games", "Appendix D.1, figure 3 right", "random games against the Nash opponent"),
    Rule(("dependent-long", "nash"), bandits.linear_baselines),
    Rule(("dependent-long",), bandits.long_dependent),
    Rule(("nash",), bandits.half_and_half),
    Rule(("nash",), bandits.finds_nash),
    Rule(("nash",), bandits.against_nash),
    Rule(("duels-awake",), duels.theorem_two_awake),
    Rule(("duels-awake",), duels.root_of_duels),
    Rule(("path",), duels.theorem_two_path),
    Rule(("duels-4",), duels.best_pair),
    Rule(("duels-4",), partial(duels.ucb_outperforms, 4)),
    Rule(("duels-30",), partial(duels.ucb_outperforms, 30)),
    Rule(("categories",), duels.categories),
    Rule(("groups",), duels.groups),
    Rule(("categories", "path"), duels.ucb_linear),
    Rule(("facts",), facts.order_optimal),
    Rule(("facts",), facts.fixed_point),
    Rule(("facts",), facts.reductions),
    Rule(("facts",), facts.rock_paper_scissors),
    Rule(("facts",), facts.half_for_both),
)
