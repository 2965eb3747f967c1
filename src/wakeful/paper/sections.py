"""The sections of the report: which findings each shows, its figures drawn, its tables filled."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from wakeful.lab import plots
from wakeful.lab.relation_diagram import relation_diagram
from wakeful.lab.results import Results
from wakeful.paper.beyond import BEYOND, LEGEND, Findings, extremes, name_of
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
from wakeful.paper.glossary import glossary, labels
from wakeful.paper.relation_claims import regrets_of
from wakeful.paper.verdicts import interval, short

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
    yield Drawn(glossary(), {})
    yield Drawn(labels(findings), {})


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
        "Which [regret](#term-regret) must be small whenever another one is. A blue arrow leads from one regret to "
        "another that is small wherever the first is. A red, crossed arrow says that this need not be so; the numbers "
        "above it are the regrets of a history that shows it.",
        "Notions of regret as vertical lines, arrows between them for implications, crossed arrows for missing ones.",
        f"Blue arrows are lemmas of the paper, checked {checked:,} times on histories that seven policies made in "
        "worlds of this report. The histories of red arrows are in the table below.",
    )
    nodes_in_order = tuple(regrets_of(next(iter(found.witnesses.values()))))
    rows = [
        (name, *(short(value) for value in regrets_of(witness).values()), f"{len(witness.history.choices):,}")
        for name, witness in found.witnesses.items()
    ]
    checks = [(name, str(c.histories), str(c.held), f"{c.worst:.1g}") for name, c in found.checks.items()]
    section = Section(
        "relations",
        "Figure 1: how regrets imply each other",
        (
            "Whether internal regret bounds ordering regret for losses that ignore the awake sets was an open "
            "question of the paper; the history “internal without ordering” shows that it does not.",
        ),
        (picture,),
        (
            Table(
                "Histories in which one regret is small and another is not.",
                ("history", *(f"{notion} regret" for notion in nodes_in_order), "rounds"),
                tuple(rows),
            ),
            Table(
                "How often each relation was checked and how often it held. Excess: by how much, a round, the smaller "
                "side was above the larger one in the worst case; up to 1e-9 that is rounding.",
                ("relation", "histories", "held", "excess"),
                tuple(checks),
            ),
        ),
    )
    return Drawn(section, {"figure-1": lambda: relation_diagram(nodes(), arrows(found))})


def _paper_figure(name: str, title: str, shown: list[Experiment], findings: Findings) -> Drawn:
    """Return one of the paper's figures with its policies, and the same with ours beside them."""
    items = [(experiment.title, findings[experiment.id]) for experiment in shown]
    notion = "policy" if "policy" in items[0][1].regrets else "dueling"
    papers = tuple(PAPERS) if notion == "policy" else PAPER_DUELS
    panels = "; ".join(f"{title}: {found.rounds:,} rounds, {found.runs} runs" for title, found in items)
    every = tuple(dict.fromkeys(policy for _, found in items for policy in found.policies))
    several = len(items) > 1
    pictures = (
        Picture(
            name,
            f"The paper's figure: {_shows(items, notion, papers)}",
            _alt(items, notion, papers),
            f"The policies are the paper's. {panels}. {LEGEND}",
            several,
        ),
        Picture(
            f"{name}-ours",
            f"The same worlds with our policies beside the paper's: {_shows(items, notion, every)}",
            _alt(items, notion, every),
            f"{panels}. {TUNED} {LEGEND}",
            several,
        ),
    )
    text = tuple(f"{experiment.title}. {experiment.text}" for experiment in shown)
    figures: dict[str, Callable[[], Any]] = {}
    for picture, policies in zip(pictures, (papers, None), strict=True):
        for ending, columns in (("", len(items)), ("-narrow", 1))[: 1 + several]:
            figures[picture.name + ending] = partial(
                plots.curve_panels, items, notion, policies=policies, columns=columns
            )
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
        tables.append(
            Table(caption, ("policy", *(f"{name_of(notion)} regret" for notion in found.regrets)), tuple(rows))
        )
    text = (
        "Mean [regrets](#term-regret) at the last round, with 95 % confidence intervals. Internal and external regret "
        "are the largest over all arms.",
    )
    return Section("all-regrets", "All regrets of all experiments", text, (), tuple(tables))


def _shows(items: list[tuple[str, Results]], notion: str, policies: tuple[str, ...]) -> str:
    """Return what a figure of curves shows: the regret, and who has the least and the most of it at the end."""
    ends = [f"{title}: {extremes(found, notion, policies)}" for title, found in items]
    name = name_of(notion)
    return f"{name} regret over the rounds; lower is better. At the end, {'; '.join(ends)}."


def _alt(items: list[tuple[str, Results]], notion: str, policies: tuple[str, ...]) -> str:
    """Return what a figure of curves shows, in words."""
    parts = []
    for title, found in items:
        ends = [
            f"{name} {short(float(found.final(notion, name).mean()))}" for name in policies if name in found.policies
        ]
        parts.append(f"{title}: {', '.join(ends)}")
    return f"{name_of(notion).capitalize()} regret over rounds. At the end, {'; '.join(parts)}."
