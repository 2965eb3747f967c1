"""The words and symbols of the report, and which code stands behind each label of its figures and tables."""

from collections.abc import Mapping
from typing import Any

from wakeful.lab.results import Results
from wakeful.paper.contents import Section, Table, Term
from wakeful.paper.experiments import (
    AUTO,
    AUTO_PAIRS,
    CORRECTED,
    DOUBLING,
    EXP3G,
    IX,
    ONLINE,
    PER_SET,
    PRINTED,
    SB,
    SHARPENED,
    SI,
    SP_IX,
    SP_SI,
    SP_UCB,
    STABLE,
    UCB,
    experiments,
)
from wakeful.paper.line_twelve import MULTIPLIED, SUMMED

TERMS = (
    Term("arm, K", "One of the K options that a learner chooses from."),
    Term("round, T", "One decision. An experiment has T rounds; t is the number of a round."),
    Term(
        "awake, S_t",
        "An arm is awake in a round if it may be chosen in it, and asleep otherwise. S_t is the set of arms that are "
        "awake in round t, and |S_t| is their number.",
    ),
    Term("loss", "A number in [0, 1] that the chosen arm costs, l_t(k) for arm k in round t; less is better."),
    Term(
        "policy",
        "A rule that chooses an awake arm in each round. Also a map from awake sets to arms, as in [policy "
        "regret](#term-policy-regret).",
    ),
    Term("history", "The awake sets, the losses and the choices of all rounds. A witness is one that refutes a claim."),
    Term(
        "regret",
        "The learner's total loss minus the loss that another rule would have had in the same rounds. It is linear if "
        "it grows like T and sublinear if it grows more slowly: then the average loss approaches that of the other "
        "rule. The kinds of regret below differ in that rule.",
    ),
    Term("policy regret", "Compared with the best map from awake sets to arms: the most that can be asked for."),
    Term(
        "ordering regret", "Compared with the best fixed ordering of all arms, whose first awake arm is always played."
    ),
    Term(
        "external regret",
        "Compared with one arm k, in the rounds in which k is awake: R_ext(k). Shown is the largest over all k.",
    ),
    Term(
        "internal regret",
        "What would have been gained by playing j each time that i was played and j was awake: R_int(i -> j) = "
        "sum_t (l_t(k_t) - l_t(j)) over these rounds, k_t being the arm played. Shown is the largest over all pairs.",
    ),
    Term(
        "duel, A_t",
        "A round in which two arms are chosen, left and right, and only the winner is seen. A_t is the set of pairs "
        "that are allowed in round t; S x S means all pairs of awake arms.",
    ),
    Term(
        "duel regret",
        "How much likelier than the right arm the best allowed opponent of the left arm would have been to beat it, "
        "and the same with left and right exchanged: the mean of the two, summed over the rounds (the paper's SI-DB "
        "regret).",
    ),
    Term("i.i.d.", "Drawn anew in each round from the same distribution, independently of all other rounds."),
    Term("adversarial", "Chosen in any way at all, and not drawn from a fixed distribution."),
    Term("learning rate, eta", "How strongly past losses change the choice: eta, or eta_t if it changes with time."),
    Term(
        "SI-EXP3",
        "The paper's Algorithm 1. It keeps a weight for each advice “play j instead of i”, and chooses with the "
        "probabilities that all advice together leaves unchanged.",
    ),
    Term(
        "IX, implicit exploration",
        "A small number added to the probability by which a loss is divided, so that a rare choice cannot make an "
        f"estimate enormous. {IX} has it, {SI} does not.",
    ),
    Term(
        "S-UCB",
        "Plays the awake arm with the smallest optimistic estimate of its mean loss (Kleinberg, Niculescu-Mizil and "
        "Sharma 2010, there AUER).",
    ),
    Term(
        "S-EXP3",
        "Exponential weights on single arms, corrected for how often each was awake (Saha, Gaillard and Valko 2020, "
        "there Sleeping-EXP3G).",
    ),
    Term("Sp-, sparring", "Two bandit learners, one for the left arm of a duel and one for the right one."),
    Term("Nash equilibrium", "Play from which neither player of a game gains by changing alone."),
    Term("exploitability", "What a best response would gain against the play so far, a round; 0 is an equilibrium."),
    Term(
        "exponent, T^a",
        "How a mean regret R grew over the last three quarters of the rounds: the a for which R is multiplied by c^a "
        "when the rounds are multiplied by c. 1 is linear, 0.5 is a square root. Figures and claims have the same.",
    ),
    Term(
        "95 % interval",
        "Brackets after a number: a range that contains the true mean with 95 % confidence (Student's t over runs).",
    ),
)
MEANS = {
    SI: "the paper's SI-EXP3 as in its experiments",
    UCB: "the paper's S-UCB; its constant 8 is from the authors' code",
    EXP3G: "the paper's S-EXP3",
    IX: "our SI-EXP3, with a rate chosen by measurement and implicit exploration",
    PER_SET: "one S-UCB for each awake set",
    AUTO: "our policy to start with: it finds out what losses depend on, and how far back they count",
    SB: "exponential weights for external regret (of the kind of Nguyen and Mehta 2024)",
    SP_SI: "the paper's Sparring SI-EXP3 as in its experiments",
    SP_UCB: "the paper's Sparring S-UCB; its constant 8 is from the authors' code",
    SP_IX: "two of our SI-EXP3, one on each side",
    STABLE: "our policy for any set of pairs",
    AUTO_PAIRS: "our policy to start with: it finds out what kind of preferences there are",
    PRINTED: "SI-EXP3 with the rate that Theorem 1 prints",
    CORRECTED: "SI-EXP3 with the rate that the proof of Theorem 1 asks for",
    SHARPENED: "SI-EXP3 with the rate of the sharpened theorem",
    ONLINE: "the printed rate, with what is known so far in place of the whole",
    DOUBLING: "a constant rate, chosen again each time that the rounds have doubled",
}
READINGS = {MULTIPLIED: ("True", "line 12 of Algorithm 1 as printed"), SUMMED: ("False", "the equation above line 12")}


def glossary() -> Section:
    """Return what the words and symbols of the report mean."""
    return Section("glossary", "Words and symbols", terms=TERMS)


def labels(findings: Mapping[str, Any]) -> Section:
    """Return the code behind each label of what was found."""
    titles = {experiment.id: experiment.title for experiment in experiments()}
    made: dict[str, dict[str, str]] = {}
    for name, found in findings.items():
        for label, code in found.policies.items() if isinstance(found, Results) else ():
            made.setdefault(label, {}).setdefault(code, titles.get(name, name))
    rows = []
    for label, codes in made.items():
        for code, title in codes.items():
            where = f" ({title})" if len(codes) > 1 else ""
            rows.append((label, f"`{code}`", f"{MEANS.get(label, '')}{where}"))
    if "line-12" in findings:
        played = "`wakeful.paper.line_twelve.played(multiplied={})`"
        rows += [(label, played.format(value), words) for label, (value, words) in READINGS.items()]
    text = (
        "The paper's policies have the paper's names; all others are called by the code that makes them. The names in "
        "the code are those of the package `wakeful`. Learning rates that depend on T are those of this run.",
    )
    table = Table("Each label of the figures and tables, and its code.", ("label", "code", "what it is"), tuple(rows))
    return Section("labels", "Labels and their code", text, (), (table,))
