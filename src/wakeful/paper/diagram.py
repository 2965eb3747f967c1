"""Figure 1 as data: notions of regret, the implications that held, and the gaps with their numbers."""

from wakeful.lab.relation_diagram import Arrow
from wakeful.paper.evidence import Evidence
from wakeful.paper.relation_claims import LARGE, NONE, regrets_of
from wakeful.paper.verdicts import short

# relation checked, from, to, what the arrow says
LEMMAS = (
    ("Lemma 1", "internal", "external", "Lemma 1, always"),
    ("Lemma 2", "internal", "ordering", "Lemma 2, i.i.d. losses"),
    ("ordering bounds internal", "ordering", "internal", "App. A.2, i.i.d. losses"),
    ("ordering bounds external", "ordering", "external", "Sec. 2.2, i.i.d. losses"),
    ("policy bounds ordering", "policy", "ordering", "App. A.3, always"),
    ("policy is ordering", "ordering", "policy", "App. A.3, i.i.d. losses"),
    ("policy is ordering, independent sets", "ordering", "policy", "App. A.3, i.i.d. sets that losses ignore"),
)
# witness, small regret, large regret, what it takes
GAPS = (
    ("external without ordering", "external", "ordering", "even constant losses"),
    ("external without internal", "external", "internal", "even if nobody sleeps"),
    ("ordering without external", "ordering", "external", "losses depend on the set"),
    ("policy above ordering", "ordering", "policy", "losses depend on the set"),
    ("internal without ordering", "internal", "ordering", "open question (i): losses ignore the set"),
)


def nodes() -> dict[str, str]:
    """Return the notions of regret, from left to right."""
    return {name: name for name in ("external", "internal", "ordering", "policy")}


def arrows(found: Evidence) -> list[Arrow]:
    """Return an arrow for each implication that held in all checks, a crossed one for each gap with its numbers."""
    drawn = []
    for name, source, target, says in LEMMAS:
        check = found.checks[name]
        label = f"{says}: {check.held} of {check.histories} {check.of}"
        drawn.append(Arrow(source, target, check.held == check.histories, label))
    for name, source, target, says in GAPS:
        witness = found.witnesses[name]
        values, rounds = regrets_of(witness), len(witness.history.choices)
        shown = values[source] <= NONE * rounds and values[target] >= LARGE * rounds
        small, large = (f"{name}\N{NO-BREAK SPACE}{short(values[name])}" for name in (source, target))
        label = f"{says}: {small}, {large} in {rounds}\N{NO-BREAK SPACE}rounds"
        drawn.append(Arrow(source, target, not shown, label))
    return drawn
