"""Sections beyond the paper: long horizons, bounds over measured regret, games, adversarial losses, other pairs."""

from collections.abc import Callable
from typing import Any

from wakeful import plots, regret
from wakeful.paper import line_twelve
from wakeful.paper.contents import Drawn, Picture, Section, Table
from wakeful.paper.experiments import DEPENDENT_AWAKE, SWITCHING_AWAKE
from wakeful.paper.nash import Exploited
from wakeful.paper.theory import printed_bound, sharpened_bound
from wakeful.paper.verdicts import interval, short
from wakeful.results import Results

LEGEND = "Lines are means over runs, bands reach from the lower to the upper quartile."


def _long(found: Results) -> Drawn:
    """Return the dependent world over a long horizon."""
    picture = Picture(
        "dependent-long",
        f"Policy regret in the dependent world over {found.rounds:,} rounds, logarithmic axes, {found.runs} runs; the "
        f"number at a line's end is its slope (1 is linear). {LEGEND}",
        "Regret over rounds, logarithmic: UCB and EXP3 grow linearly, SI-EXP3 bends up late, with exploration not.",
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
        "here: one rare draw, divided by its tiny probability, can freeze an expert for good. Implicit exploration "
        "cures most of it, and one learner for each awake set does better still.",
    )
    section = Section("long", "A long horizon: the dependent world", text, (picture,), (table,))
    return Drawn(
        section, {"dependent-long": lambda: plots.regret_curves(found, "policy", loglog=True, title="Dependent")}
    )


def _theorem(dependent: Results, switching: Results) -> Drawn:
    """Return measured internal regrets below the bounds of Theorem 1."""
    cases = (("dependent", dependent, 3, DEPENDENT_AWAKE), ("switching", switching, 5, SWITCHING_AWAKE))
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
                f"Largest internal regret of SI-EXP3 with five learning rates, {found.runs} runs, below the bounds "
                f"that hold for the best constant rate at each horizon; {name} world, logarithmic axes. {LEGEND}",
                "Internal regret over rounds, logarithmic, all curves below both bounds.",
            )
        )
        final = (found.rounds, arms)
        limits = f"{printed_bound(final[0], arms, awake):,.0f}", f"{sharpened_bound(*final):,.0f}"
        rows += [(name, policy, str(interval(found.final("internal", policy))), *limits) for policy in found.policies]
    table = Table(
        f"Largest internal regret after {dependent.rounds:,} rounds, with 95 % intervals, and the two bounds.",
        ("world", "learning rate", "internal regret", "Theorem 1", "sharpened"),
        tuple(rows),
    )
    text = (
        "Theorem 1 bounds internal regret by 2 sqrt(2 log K sum |S_t|). Its printed learning rate does not give this "
        "constant; four times its square does. The factor |S_t| can be left out: 2 sqrt(T log(K(K-1))) holds too.",
    )
    return Drawn(
        Section("theorem-1", "Theorem 1: bounds over measured regret", text, tuple(pictures), (table,)), figures
    )


def _bounded(found: Results, bounds: Any, title: str) -> Callable[[], Any]:
    """Return how to draw internal regrets and bounds."""
    return lambda: plots.regret_curves(found, "internal", loglog=True, bounds=bounds, title=title)


def _switch(found: line_twelve.Switch) -> Drawn:
    """Return both readings of line 12."""
    told = Picture(
        "line-12-told",
        "Internal regret at the end of games of several lengths T: two arms, the best switches at T/4, both losses are "
        "told, no chance. Weights multiplied as in line 12 regret half of all rounds; losses summed hardly anything.",
        "Two lines over the length of the game: one rises linearly to half of it, one stays near zero.",
    )
    bandit = Picture(
        "line-12-bandit",
        f"The same game of {found.bandit.rounds:,} rounds with bandit feedback, {found.bandit.runs} runs. {LEGEND}",
        "Internal regret over rounds of both readings, mostly below zero, with wide bands.",
    )
    text = (
        "With a learning rate that changes over time, line 12 of Algorithm 1 (multiply weights by exp(-eta_t lhat_t)) "
        "and the equation above it (exp of -eta_t times all losses) are different algorithms. We take the equation.",
    )
    figures: dict[str, Callable[[], Any]] = {
        "line-12-told": lambda: plots.regret_curves(found.told, "internal", title="Both losses told"),
        "line-12-bandit": lambda: plots.regret_curves(found.bandit, "internal", title="Bandit feedback"),
    }
    return Drawn(Section("line-12", "Algorithm 1, line 12", text, (told, bandit)), figures)


def _games(found: Exploited) -> Drawn:
    """Return how close to Nash equilibria play comes."""
    last = int(found.rounds[-1])
    rows = []
    for name, values in found.self_play.items():
        ends = [short(float(values[:, -1, n].mean())) for n in range(len(found.sub_games))]
        rows.append((name, "itself", *ends, short(float(found.random_games[name][:, -1].mean()))))
    for name, values in found.against_nash.items():
        rows.append((name, "Nash", *(short(float(values[:, -1, n].mean())) for n in range(len(found.sub_games))), "-"))
    table = Table(
        f"Exploitability of the average play after {last:,} rounds, for each sub-game of Rock-Paper-Scissors and on "
        "average over those of random games; 0 is an equilibrium.",
        ("policy", "against", *found.sub_games, "random games"),
        tuple(rows),
    )
    pictures = (
        Picture(
            "nash-self-play",
            "Exploitability of the average play in self-play, Rock-Paper-Scissors with sleeping actions, mean over the "
            f"four sub-games. {LEGEND}",
            "Exploitability over rounds, logarithmic: falling for SI-EXP3, flat for UCB and EXP3.",
        ),
        Picture(
            "nash-random",
            f"The same in random games of five actions and four awake sets. {LEGEND}",
            "Exploitability over rounds, logarithmic: falling fastest for SI-EXP3.",
        ),
    )
    text = (
        "Remark 5 asks whether SI-EXP3 converges to the Nash equilibrium of each sub-game. In self-play both players "
        "from their own losses only. Against an opponent who plays the equilibrium already, any best response is as "
        "good as the equilibrium, so its average play need not be one where several actions are equally good.",
    )
    section = Section("nash", "Games: does play find the equilibria?", text, pictures, (table,))
    own = {name: values.mean(axis=2) for name, values in found.self_play.items()}
    figures: dict[str, Callable[[], Any]] = {
        "nash-self-play": lambda: plots.exploitability_curves(found.rounds, own, "Self-play, Rock-Paper-Scissors"),
        "nash-random": lambda: plots.exploitability_curves(found.rounds, found.random_games, "Self-play, random games"),
    }
    return Drawn(section, figures)


def _adversarial(found: Results) -> Drawn:
    """Return open question (i)."""
    picture = Picture(
        "adversarial",
        f"Ordering regret with adversarial losses and independent sleep, {found.runs} runs, logarithmic axes. {LEGEND}",
        "Ordering regret over rounds, logarithmic, of six policies.",
    )
    text = (
        "Open question (i) of the paper: does low internal regret imply low ordering regret for adversarial losses and "
        "stochastic availabilities? As an implication it is false (see figure 1). What SI-EXP3 itself does with such "
        "losses is a question for measurement.",
    )
    section = Section("adversarial", "Adversarial losses, independent sleep", text, (picture,))
    title = "Losses that drift"
    return Drawn(section, {"adversarial": lambda: plots.regret_curves(found, "ordering", loglog=True, title=title)})


def _theorem_two(awake: Results, path: Results) -> Drawn:
    """Return Theorem 2 where it holds and where it does not."""
    cases = (("duels-awake", awake, 10, "S x S, ten arms"), ("path", path, 4, "The path 1 - 2 - 4 - 3"))
    figures: dict[str, Callable[[], Any]] = {}
    for name, found, arms, title in cases:
        bounds = [("Theorem 2", regret.theorem_two(found.checkpoints, arms))]
        figures[name] = _duels(found, bounds, title, loglog=name == "duels-awake")
    pictures = (
        Picture(
            "duels-awake",
            f"Duel regret where all pairs of awake arms are allowed, {awake.runs} runs, far below the bound of Theorem "
            f"2; logarithmic axes. {LEGEND}",
            "Duel regret over rounds below the bound.",
        ),
        Picture(
            "path",
            f"Duel regret on the path 1 - 2 - 4 - 3, {path.runs} runs: Sparring settles on a pair that neither side "
            f"can leave and crosses the bound of Theorem 2. {LEGEND}",
            "Duel regret over rounds: a straight line for Sparring that crosses the bound.",
        ),
    )
    text = (
        "The proof of Theorem 2 takes the left player's losses to be set before she plays. On general pairs they are "
        "not: the right player's choice is limited by hers. Where all pairs of awake arms are allowed the proof is "
        "sound.",
    )
    return Drawn(Section("theorem-2", "Theorem 2: where it holds and where not", text, pictures), figures)


def _duels(found: Results, bounds: Any, title: str, loglog: bool) -> Callable[[], Any]:
    """Return how to draw duel regrets and a bound."""
    return lambda: plots.regret_curves(found, "dueling", loglog=loglog, bounds=bounds, title=title)


BEYOND: tuple[tuple[tuple[str, ...], Callable[..., Drawn]], ...] = (
    (("dependent-long",), _long),
    (("theorem-1", "theorem-1-switching"), _theorem),
    (("line-12",), _switch),
    (("nash",), _games),
    (("adversarial",), _adversarial),
    (("duels-awake", "path"), _theorem_two),
)
