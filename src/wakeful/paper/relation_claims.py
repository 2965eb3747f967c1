"""Claims about how regrets imply each other: lemmas checked on every history, counterexamples computed on the spot."""

from collections.abc import Callable, Iterable

from wakeful.paper.contents import FAILS, HOLDS, IN_PART, QUESTION, Claim
from wakeful.paper.evidence import Checked, Evidence
from wakeful.paper.verdicts import is_true, short, tally, together
from wakeful.regret.relations import Witness

RelationRule = Callable[[Evidence], Claim]

LARGE = 0.1  # a regret of a tenth of T is linear in a witness
NONE = 0.01  # one of a hundredth is none: sets at random add a square root of T


def lemma(id: str, where: str, said: str, *names: str) -> RelationRule:
    """Return the rule that judges a relation by whether it held on every history."""

    def judge(found: Evidence) -> Claim:
        checks = [found.checks[name] for name in names]
        listed = "; and on ".join(_counted(check) for check in checks)
        return Claim(
            id,
            where,
            said,
            f"Held on {listed}.",
            is_true(answer for check in checks for answer in check.answers),
            f"Rule: on all {' and '.join(dict.fromkeys(check.of for check in checks))}, up to rounding (1e-9 a round). "
            "Regrets are of expected losses.",
            {
                "checks": {n: c._asdict() for n, c in zip(names, checks, strict=True)},
                "parts": _parts(answer for check in checks for answer in check.answers),
                "seed": found.seed,
            },
        )

    return judge


def gap_between(id: str, where: str, said: str, name: str, small: str, large: str) -> RelationRule:
    """Return the rule that judges a counterexample: one regret is small, another linear, on the history it gives."""

    def judge(found: Evidence) -> Claim:
        witness = found.witnesses[name]
        rounds = len(witness.history.choices)
        values = regrets_of(witness)
        small_enough, large_enough = values[small] <= NONE * rounds, values[large] >= LARGE * rounds
        return Claim(
            id,
            where,
            said,
            f"On this history of {rounds:,} rounds {small} regret is {short(values[small])}, {large} regret "
            f"{short(values[large])}.",
            HOLDS if small_enough and large_enough else FAILS,
            f"Rule: the {small} regret at most {NONE:g} T and the {large} regret at least {LARGE:g} T.",
            {**values, "rounds": rounds},
        )

    return judge


def regrets_of(witness: Witness) -> dict[str, float]:
    """Return all regrets of a witness as plain numbers."""
    external = float(witness.external.max())
    return {"internal": witness.internal, "external": external, "ordering": witness.ordering, "policy": witness.policy}


def share_of(value: float, rounds: int) -> str:
    """Return "150 = 0.25 T": a regret, and how much of the rounds it is.

    >>> share_of(150.0, 600)
    '150 = 0.25 T'
    """
    return f"{short(value)} = {value / rounds:.3g} T"


def external_not_ordering(found: Evidence) -> Claim:
    """Judge the counterexample of section 2.2, with sets one after another and with sets at random."""
    first, second = (found.witnesses[f"external without ordering{how}"] for how in ("", ", at random"))
    values, other = regrets_of(first), regrets_of(second)
    rounds, more = len(first.history.choices), len(second.history.choices)
    fine = [v["external"] <= NONE * t and v["ordering"] >= LARGE * t for v, t in ((values, rounds), (other, more))]
    return Claim(
        "external-not-ordering",
        "Section 2.2, external regret, cases (i) and (ii)",
        "Low external regret does not imply low ordering regret, not even for constant losses l(k) = k, or for awake "
        "sets at random; R_ext = 0 and R_ordering = T/2 in the example.",
        f"With losses k/3, in [0, 1]: after {rounds} rounds external regret is {short(values['external'])} and "
        f"ordering regret {share_of(values['ordering'], rounds)}; three times that for losses k. With sets at random, "
        f"{more:,} rounds: {short(other['external'])} and {share_of(other['ordering'], more)}.",
        is_true(fine),
        f"Rule: external regret at most {NONE:g} T and ordering regret at least {LARGE:g} T, in both. Losses must be "
        "divided by 3 to lie in [0, 1].",
        {
            **values,
            "rounds": rounds,
            "at_random": other,
            "rounds_at_random": more,
            "parts": _parts(fine),
            "seed": found.seed,
        },
    )


def open_question(found: Evidence) -> Claim:
    """Judge open question (i) as an implication: internal regret, losses that ignore the sets, sets at random."""
    first, second = (found.witnesses[f"internal without ordering{how}"] for how in ("", ", at random"))
    values, other = regrets_of(first), regrets_of(second)
    rounds, more = len(first.history.choices), len(second.history.choices)
    refuted = [v["internal"] <= NONE * t and v["ordering"] >= LARGE * t for v, t in ((values, rounds), (other, more))]
    return Claim(
        "open-question-i",
        "Remark 1; perspectives (i)",
        "Low sleeping internal regret implies low ordering regret for adversarial losses and stochastic availabilities "
        "too (the paper asks: experiments seem to point into this direction).",
        f"A learner of three arms, one of them awake every other round and losses fixed in advance, has internal "
        f"regret {short(values['internal'])} and ordering regret {share_of(values['ordering'], rounds)} after {rounds} "
        f"rounds; with that arm awake at random, {short(other['internal'])} and {share_of(other['ordering'], more)} "
        f"after {more:,}.",
        FAILS if all(refuted) else IN_PART,
        f"Rule: refuted by internal regret at most {NONE:g} T and ordering regret at least {LARGE:g} T, in both. Our "
        "answer to the question; what SI-EXP3 itself does with such losses is in `adversarial-ordering`.",
        {**values, "rounds": rounds, "at_random": other, "rounds_at_random": more, "seed": found.seed},
        QUESTION,
    )


def printed_example(found: Evidence) -> Claim:
    """Judge Appendix A.1 as printed: no ordering regret, and R_ext(1) = T/4."""
    witness = found.witnesses["ordering without external, as printed"]
    rounds = len(witness.history.choices)
    claimed = abs(witness.external[0] - rounds / 4) <= NONE * rounds
    return Claim(
        "appendix-a1-printed",
        "Appendix A.1, the example",
        "In the example the ordering (3, 1, 2) has no ordering regret, and external regret T/4 against arm 1.",
        f"After {rounds} rounds the ordering regret is {short(witness.ordering)}, and R_ext(1) = "
        f"{short(float(witness.external[0]))} where T/4 = {short(rounds / 4)}; the largest external regret is "
        f"{short(float(witness.external.max()))}.",
        HOLDS if claimed and witness.ordering <= NONE * rounds else FAILS,
        "Rule: both numbers as claimed, which the example needs."
        + ("" if claimed else " Arm 1 would have gained on {1, 2, 3} what it would have lost on {1, 3}."),
        {**regrets_of(witness), "external_1": float(witness.external[0]), "rounds": rounds},
    )


def strict(found: Evidence) -> Claim:
    """Judge Appendix A.3: policy regret is at least ordering regret, and more in the example of A.1."""
    check = found.checks["policy bounds ordering"]
    witness = found.witnesses["ordering without external, as printed"]
    rounds = len(witness.history.choices)
    more = witness.policy >= witness.ordering + LARGE * rounds
    return Claim(
        "policy-above-ordering",
        "Appendix A.3",
        "Policy regret is never below ordering regret, and above it in the example of Appendix A.1.",
        f"Held on {_counted(check)}; in the example policy regret is {short(witness.policy)} and ordering regret "
        f"{short(witness.ordering)} after {rounds} rounds.",
        together([is_true(check.answers), HOLDS if more else FAILS]),
        f"Rule: on all {check.of} up to rounding, and a difference of at least {LARGE:g} T in the example.",
        {
            "check": check._asdict(),
            **regrets_of(witness),
            "rounds": rounds,
            "parts": _parts([*check.answers, more]),
            "seed": found.seed,
        },
    )


def _parts(answers: Iterable[bool]) -> dict[str, int]:
    """Return how many answers are yes and how many no."""
    return tally(HOLDS if answer else FAILS for answer in answers)


def _counted(check: Checked) -> str:
    """Return "480 of 480 histories: six policies, eight worlds, ten runs"."""
    return f"{check.held} of {check.histories} {check.of}" + (f": {check.made}" if check.made else "")
