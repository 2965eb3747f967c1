"""Sections beyond the paper: long horizons, bounds over measured regret, games, adversarial losses, other pairs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from wakeful import regret
from wakeful.lab import plots
from wakeful.lab.results import Results
from wakeful.paper import line_twelve
from wakeful.paper.contents import Drawn, Picture, Section, Table
from wakeful.paper.experiments import DEPENDENT_AWAKE, SWITCHING_AWAKE
from wakeful.paper.nash import Exploited
from wakeful.paper.theory import printed_bound, sharpened_bound
from wakeful.paper.verdicts import interval, short

Findings = Mapping[str, Any]
LEGEND = "Lines are means over runs, bands reach from the lower to the upper quartile."
SLOPES = (
    "Both axes are logarithmic. At the end of a line stands the power of T with which it grew over the last three "
    "quarters of the rounds, the same number as in the claims: 1 is linear growth, 0.5 a square root."
)


def name_of(notion: str) -> str:
    """Return how a notion of regret is called in sentences."""
    return "duel" if notion == "dueling" else notion


def extremes(found: Results, notion: str, policies: Iterable[str] | None = None) -> str:
    """Return "S-EXP3 has the least (194), S-UCB the most (400)": the means at the last round."""
    chosen = [name for name in policies or found.policies if name in found.policies]
    ends = {name: float(found.final(notion, name).mean()) for name in chosen}
    least, most = min(chosen, key=ends.__getitem__), max(chosen, key=ends.__getitem__)
    return f"{least} has the least ({short(ends[least])}), {most} the most ({short(ends[most])})"


def _long(findings: Findings) -> Drawn:
    """Return the dependent world over a long horizon."""
    found: Results = findings["dependent-long"]
    picture = Picture(
        "dependent-long",
        "Policy regret in the dependent world over a long horizon; lower is better. At the end "
        f"{extremes(found, 'policy')}.",
        f"Regret over rounds, logarithmic. At the end, {_ends(found, 'policy')}.",
        f"{found.rounds:,} rounds, {found.runs} runs. {SLOPES} {LEGEND}",
    )
    rows = [
        (row.policy, short(row.mean), short(row.median), short(row.quantile_90), short(row.worst))
        for row in found.summary("policy")
    ]
    table = Table(
        "Policy regret at the last round.", ("policy", "mean", "median", "90 % quantile", "worst run"), tuple(rows)
    )
    text = (
        "At the paper's 1,000 rounds SI-EXP3 is far ahead. Its policy regret is not controlled by its internal regret "
        "here: the loss of a rare choice is divided by its tiny probability, and the estimate may be so large that an "
        "advice is never followed again. [Implicit exploration](#term-IX) cures most of it; one learner for each awake "
        "set is the obvious competitor.",
    )
    section = Section("long", "A long horizon: the dependent world", text, (picture,), (table,))
    return Drawn(
        section, {"dependent-long": lambda: plots.regret_curves(found, "policy", loglog=True, title="Dependent")}
    )


def _theorem(findings: Findings) -> Drawn:
    """Return measured internal regrets below the bounds of Theorem 1."""
    worlds = {"dependent": (3, DEPENDENT_AWAKE), "switching": (5, SWITCHING_AWAKE)}
    cases = [(n, findings[f"theorem-1-{n}"], *sizes) for n, sizes in worlds.items() if f"theorem-1-{n}" in findings]
    figures: dict[str, Callable[[], Any]] = {}
    pictures, rows = [], []
    for name, found, arms, awake in cases:
        marks = found.checkpoints
        bounds = [
            ("Theorem 1, for the best rate", printed_bound(1.0, arms, awake) * marks**0.5),
            ("sharpened", sharpened_bound(1.0, arms) * marks**0.5),
        ]
        figures[f"theorem-1-{name}"] = _bounded(found, bounds, f"Theorem 1: {name}")
        pictures.append(
            Picture(
                f"theorem-1-{name}",
                f"Internal regret of SI-EXP3 with five learning rates in the {name} world, and two bounds above it. At "
                f"the end {extremes(found, 'internal')}; Theorem 1 allows {short(float(bounds[0][1][-1]))}, the "
                f"sharpened theorem {short(float(bounds[1][1][-1]))}.",
                f"Internal regret over rounds, logarithmic. At the end, {_ends(found, 'internal')}.",
                f"{found.rounds:,} rounds, {found.runs} runs. A bound is for a rate chosen for that many rounds; the "
                "first three rates are chosen for the last round, so that only their ends compare with the bounds. "
                f"{SLOPES} {LEGEND}",
            )
        )
        final = (found.rounds, arms)
        limits = f"{printed_bound(final[0], arms, awake):,.0f}", f"{sharpened_bound(*final):,.0f}"
        rows += [(name, policy, str(interval(found.final("internal", policy))), *limits) for policy in found.policies]
    table = Table(
        f"Largest internal regret after {cases[0][1].rounds:,} rounds, with 95 % intervals, and the two bounds.",
        ("world", "learning rate", "internal regret", "Theorem 1", "sharpened"),
        tuple(rows),
    )
    text = (
        "Theorem 1 bounds internal regret by 2 sqrt(2 log K sum |S_t|). Its proof does not give this constant for the "
        "printed learning rate; for twice that rate it does. The sharpened proof gives it for the printed rate too, if "
        "log(K(K-1)) / (2 log K) + T / (4 sum |S_t|) is at most 1, as in both worlds here. The factor |S_t| can be "
        "left out: 2 sqrt(T log(K(K-1))) holds too.",
    )
    return Drawn(
        Section("theorem-1", "Theorem 1: bounds over measured regret", text, tuple(pictures), (table,)), figures
    )


def _ends(found: Results, notion: str) -> str:
    """Return the mean regrets at the last round, in words."""
    return ", ".join(f"{name} {short(float(found.final(notion, name).mean()))}" for name in found.policies)


def _bounded(found: Results, bounds: Any, title: str) -> Callable[[], Any]:
    """Return how to draw internal regrets and bounds."""
    return lambda: plots.regret_curves(found, "internal", loglog=True, bounds=bounds, title=title)


def _switch(findings: Findings) -> Drawn:
    """Return both readings of line 12."""
    found: line_twelve.Switch = findings["line-12"]
    told = Picture(
        "line-12-told",
        "Internal regret of the two readings of Algorithm 1, at the end of games of several lengths T. In the longest "
        f"{extremes(found.told, 'internal')}.",
        f"Internal regret over the length of the game. At the end, {_ends(found.told, 'internal')}.",
        "Two arms, of which the best switches at T/4. The learner sees both losses, so nothing is random. One line: "
        "weights are multiplied as in line 12; the other: losses are summed.",
    )
    held = Picture(
        "line-12-held",
        "Internal regret of the two readings against an adversary who reacts, and the bound that is proven for sums. "
        f"At the end {extremes(found.held, 'internal')}.",
        f"Internal regret over rounds, and a bound. At the end, {_ends(found.held, 'internal')}.",
        "Two arms. The learner sees the loss of its own choice only, and the adversary keeps the odds of arm 1 at T/4. "
        f"{found.held.rounds:,} rounds, {found.held.runs} runs. {LEGEND}",
    )
    text = (
        "With a learning rate that changes over time, line 12 of Algorithm 1 (multiply weights by exp(-eta_t lhat_t)) "
        "and the equation above it (exp of -eta_t times all losses) are different algorithms. We take the equation.",
    )
    bounds = [("bound of the sum", line_twelve.bound(1) * np.sqrt(found.held.checkpoints))]
    figures: dict[str, Callable[[], Any]] = {
        "line-12-told": lambda: plots.regret_curves(found.told, "internal", title="Both losses told"),
        "line-12-held": lambda: plots.regret_curves(found.held, "internal", bounds=bounds, title="Bandit feedback"),
    }
    return Drawn(Section("line-12", "Algorithm 1, line 12", text, (told, held)), figures)


def _games(findings: Findings) -> Drawn:
    """Return how close to Nash equilibria play comes."""
    found: Exploited = findings["nash"]
    last = int(found.rounds[-1])
    games = range(len(found.sub_games))
    rows = []
    for name, values in found.self_play.items():
        ends = [str(interval(values[:, -1, n])) for n in games]
        rows.append((name, "itself", *ends, str(interval(found.random_games[name][:, -1]))))
    for name, values in found.against_nash.items():
        rows.append((name, "Nash", *(str(interval(values[:, -1, n])) for n in games), "-"))
    runs = len(found.random_games[name])
    played = (
        f"{last:,} rounds, {runs} runs. The grey line falls as 1 over the square root of the rounds. {SLOPES} {LEGEND}"
    )
    own = {name: values.mean(axis=2) for name, values in found.self_play.items()}
    table = Table(
        f"Exploitability of the average play after {last:,} rounds, {runs} runs, with 95 % intervals, for each "
        "sub-game of Rock-Paper-Scissors and on average over those of random games; 0 is an equilibrium.",
        ("policy", "against", *found.sub_games, "random games"),
        tuple(rows),
    )
    pictures = (
        Picture(
            "nash-self-play",
            "How far play is from an equilibrium when a policy plays Rock-Paper-Scissors with sleeping actions against "
            f"itself: the exploitability of its average play so far, 0 being an equilibrium. {_exploited(own)}",
            "Exploitability over rounds, logarithmic, of four policies in self-play.",
            f"Mean over the four sub-games. {played}",
        ),
        Picture(
            "nash-random",
            "The same in random games: the exploitability of the average play so far when a policy plays against "
            f"itself. {_exploited(found.random_games)}",
            "Exploitability over rounds, logarithmic, of four policies in self-play.",
            f"Games of five actions and four awake sets, drawn anew for each run; mean over the sub-games. {played}",
        ),
    )
    text = (
        "Remark 5 asks whether SI-EXP3 converges to the Nash equilibrium of each sub-game. In self-play both players "
        "learn from their own losses only. Against an opponent who plays the equilibrium already, any best response is "
        "as good as the equilibrium, so its average play need not be one where several actions are equally good.",
    )
    section = Section("nash", "Games: does play find the equilibria?", text, pictures, (table,))
    figures: dict[str, Callable[[], Any]] = {
        "nash-self-play": lambda: plots.exploitability_curves(found.rounds, own, "Self-play, Rock-Paper-Scissors"),
        "nash-random": lambda: plots.exploitability_curves(found.rounds, found.random_games, "Self-play, random games"),
    }
    return Drawn(section, figures)


def _exploited(curves: Mapping[str, Any]) -> str:
    """Return whose play is the least and the most exploitable at the end."""
    ends = {name: float(values[:, -1].mean()) for name, values in curves.items()}
    least, most = min(ends, key=ends.__getitem__), max(ends, key=ends.__getitem__)
    return f"At the end {least} has the least ({short(ends[least])}), {most} the most ({short(ends[most])})."


def _adversarial(findings: Findings) -> Drawn:
    """Return open question (i)."""
    found: Results = findings["adversarial"]
    picture = Picture(
        "adversarial",
        "Ordering regret where mean losses drift and arms sleep independently of them; lower is better. At the end "
        f"{extremes(found, 'ordering')}.",
        f"Ordering regret over rounds, logarithmic. At the end, {_ends(found, 'ordering')}.",
        f"{found.rounds:,} rounds, {found.runs} runs. {SLOPES} {LEGEND}",
    )
    text = (
        "Open question (i) of the paper: does low internal regret imply low ordering regret for adversarial losses and "
        "stochastic availabilities? As an implication it is false (see figure 1). What SI-EXP3 itself does with such "
        "losses is a question for measurement.",
    )
    section = Section("adversarial", "Adversarial losses, independent sleep", text, (picture,))
    title = "Losses that drift"
    return Drawn(section, {"adversarial": lambda: plots.regret_curves(found, "ordering", loglog=True, title=title)})


def _theorem_two(findings: Findings) -> Drawn:
    """Return Theorem 2 where it holds and where it does not."""
    cases = {"duels-awake": (3, "S x S, three arms"), "path": (4, "The path 1 - 2 - 4 - 3")}
    captions = {
        "duels-awake": "Duel regret where all pairs of awake arms are allowed, the bound of Theorem 2, whose "
        "proof is sound here, and the sharpened bound, which is proven for such pairs only.",
        "path": "Duel regret where only neighbours on the path 1 - 2 - 4 - 3 may meet, and the bound of Theorem 2, "
        "whose proof does not cover such pairs.",
    }
    figures: dict[str, Callable[[], Any]] = {}
    pictures = []
    for name, found in findings.items():
        arms, title = cases[name]
        bounds = [("Theorem 2", regret.theorem_two(found.checkpoints, arms))]
        if name == "duels-awake":
            bounds.append(("sharpened, for S x S only", regret.theorem_two_sharpened(found.checkpoints, arms)))
        figures[name] = _duels(found, bounds, title, loglog=name == "duels-awake")
        ends = f"{_ends(found, 'dueling')}; bound {short(float(bounds[0][1][-1]))}"
        alt = f"Duel regret over rounds and the bound. At the end, {ends}."
        shows = f"{captions[name]} At the end {extremes(found, 'dueling')}; Theorem 2 allows {short(bounds[0][1][-1])}."
        made = f"{found.rounds:,} rounds, {found.runs} runs. {SLOPES if name == 'duels-awake' else ''} {LEGEND}"
        pictures.append(Picture(name, shows, alt, made))
    text = (
        "The proof of Theorem 2 takes the left player's losses to be set before she plays. On general pairs they are "
        "not: the right player's choice is limited by hers. Where all pairs of awake arms are allowed the proof is "
        "sound.",
    )
    return Drawn(Section("theorem-2", "Theorem 2: where it holds and where not", text, tuple(pictures)), figures)


def _duels(found: Results, bounds: Any, title: str, loglog: bool) -> Callable[[], Any]:
    """Return how to draw duel regrets and a bound."""
    return lambda: plots.regret_curves(found, "dueling", loglog=loglog, bounds=bounds, title=title)


BEYOND: tuple[tuple[tuple[str, ...], Callable[[Findings], Drawn]], ...] = (
    (("dependent-long",), _long),
    (("theorem-1-dependent", "theorem-1-switching"), _theorem),
    (("line-12",), _switch),
    (("nash",), _games),
    (("adversarial",), _adversarial),
    (("duels-awake", "path"), _theorem_two),
)
