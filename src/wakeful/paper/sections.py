"""The sections of the report: which findings each shows, its figures drawn, its tables filled."""

from collections.abc import Iterator

from wakeful import plots
from wakeful.paper.beyond import BEYOND, LEGEND, Findings
from wakeful.paper.contents import Drawn, Picture, Section, Table
from wakeful.paper.diagram import arrows, nodes
from wakeful.paper.evidence import Evidence
from wakeful.paper.experiments import (
    PAPERS,
    SP_SI,
    SP_UCB,
    Experiment,
    experiments,
)
from wakeful.paper.relation_claims import regrets_of
from wakeful.paper.verdicts import interval, short
from wakeful.results import Results

PAPER_DUELS = (SP_SI, SP_UCB)
TUNED = (
    "The rate of SIExp3() was chosen by a sweep over ten worlds, the paper's five bandit worlds among them "
    "(docs/default-rate.md); the paper's policies have the paper's rates, untuned."
)


def drawn(findings: Findings) -> Iterator[Drawn]:
    """Yield every section that has something to show."""
    known = {experiment.id: experiment for experiment in experiments()}
    if "relations" in findings:
        yield _relations(findings["relations"])
    for name, title in PAPERS_FIGURES.items():
        shown = [e for e in known.values() if e.figure == name and e.id in findings]
        if shown:
            yield _paper_figure(name, title, shown, findings)
    for ids, section in BEYOND:
        there = {name: findings[name] for name in ids if name in findings}
        if there:
            yield section(there)
    every = [(known[name], found) for name, found in findings.items() if name in known]
    if every:
        yield Drawn(_all_regrets(every), {})


PAPERS_FIGURES = {
    "figure-2": "Figure 2: stochastic, dependent, Rock-Paper-Scissors",
    "figure-3": "Figure 3: random dependence, random games",
    "figure-4": "Figure 4: duels of different arms",
    "figure-5": "Figure 5: duels, categories",
}


def _relations(found: Evidence) -> Drawn:
    """Return figure 1."""
    checked = sum(check.histories for check in found.checks.values())
    picture = Picture(
        "figure-1",
        "Which regret implies which. Blue: a lemma, checked on histories that six policies made in worlds of this "
        "report. Red: no such implication, with the regrets of a history that shows it.",
        "Notions of regret as vertical lines, arrows between them for implications, crossed arrows for missing ones.",
    )
    rows = [
        (name, *(short(value) for value in regrets_of(witness).values()), f"{len(witness.history.choices):,}")
        for name, witness in found.witnesses.items()
    ]
    checks = [(name, str(c.histories), str(c.held), f"{c.worst:.1g}") for name, c in found.checks.items()]
    section = Section(
        "relations",
        "Figure 1: how regrets imply each other",
        (
            f"Drawn from evidence: {checked:,} checks of lemmas, and witnesses whose "
            "regrets are computed here. The arrow from internal to ordering regret for losses that ignore who is awake "
            "was open in the paper; the history `internal without ordering` shows that there is none.",
        ),
        (picture,),
        (
            Table(
                "Witnesses: histories on which one regret is small and another is not.",
                ("history", "internal", "external", "ordering", "policy", "rounds"),
                tuple(rows),
            ),
            Table(
                "Relations checked on histories; the last column is by how much the left side exceeds the right one at "
                "worst, a round.",
                ("relation", "histories", "held", "excess"),
                tuple(checks),
            ),
        ),
    )
    return Drawn(section, {"figure-1": lambda: plots.relation_diagram(nodes(), arrows(found))})


def _paper_figure(name: str, title: str, shown: list[Experiment], findings: Findings) -> Drawn:
    """Return one of the paper's figures with its policies, and the same with ours beside them."""
    items = [(experiment.title, findings[experiment.id]) for experiment in shown]
    notion = "policy" if "policy" in items[0][1].regrets else "dueling"
    papers = tuple(PAPERS) if notion == "policy" else PAPER_DUELS
    panels = "; ".join(f"{title}: {found.rounds:,} rounds, {found.runs} runs" for title, found in items)
    pictures = (
        Picture(
            name, f"The paper's figure, its policies and settings. {panels}. {LEGEND}", _alt(items, notion, papers)
        ),
        Picture(
            f"{name}-ours",
            f"The same worlds with our policies beside the paper's. {panels}. {TUNED} {LEGEND}",
            _alt(items, notion, tuple(items[0][1].policies)),
        ),
    )
    text = tuple(f"{experiment.title}. {experiment.text}" for experiment in shown)
    figures = {
        name: lambda: plots.curve_panels(items, notion, policies=papers),
        f"{name}-ours": lambda: plots.curve_panels(items, notion),
    }
    return Drawn(Section(name, title, text, pictures), figures)


def _all_regrets(every: list[tuple[Experiment, Results]]) -> Section:
    """Return tables of every regret of every policy in every experiment."""
    tables = []
    for experiment, found in every:
        rows = [
            (policy, *(str(interval(found.final(notion, policy))) for notion in found.regrets))
            for policy in found.policies
        ]
        caption = f"{experiment.title}: {found.rounds:,} rounds, {found.runs} runs."
        tables.append(Table(caption, ("policy", *found.regrets), tuple(rows)))
    text = (
        "Mean regrets at the last round, with 95 % confidence intervals. Internal and external regret are the largest "
        "over all arms.",
    )
    return Section("all-regrets", "All regrets of all experiments", text, (), tuple(tables))


def _alt(items: list[tuple[str, Results]], notion: str, policies: tuple[str, ...]) -> str:
    """Return what a figure of curves shows, in words."""
    parts = []
    for title, found in items:
        ends = [
            f"{name} {short(float(found.final(notion, name).mean()))}" for name in policies if name in found.policies
        ]
        parts.append(f"{title}: {', '.join(ends)}")
    return f"{notion} regret over rounds. At the end, {'; '.join(parts)}."
