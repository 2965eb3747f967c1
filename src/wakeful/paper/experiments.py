"""The experiments as data: the paper's seven at its size, and those that we add."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import wakeful as wk
from wakeful import worlds
from wakeful.lab.simulate import AnyPolicy
from wakeful.paper.group_duels import GroupDuels

RUNS = 50  # as the paper says of figures 2 and 3; the caption of figure 4 says 5
PAPER_REGRETS = ("policy", "external", "internal", "ordering")

# Labels: the paper's policies have the paper's names, all others are called by the code that makes them.
SI, UCB, EXP3G = "SI-EXP3 (paper)", "S-UCB", "S-EXP3"
IX, PER_SET, SB, AUTO = "SIExp3()", "PerSet(SleepingUCB())", "SBExp3()", "Auto()"
SP_SI, SP_UCB, SP_IX, STABLE = "Sp-SI-EXP3 (paper)", "Sp-UCB", "Sparring(SIExp3())", "StablePair()"
AUTO_PAIRS = "AutoPairs()"
PRINTED, CORRECTED, SHARPENED = "printed rate", "corrected rate", "sharpened rate"
ONLINE, DOUBLING = "printed rate, online", "doubling"

PAPER_RATE: wk.Policy = wk.SIExp3(eta="sqrt", exploration=0.0)
PAPERS: dict[str, wk.Policy] = {SI: PAPER_RATE, UCB: wk.SleepingUCB(constant=8), EXP3G: wk.SleepingExp3G()}
OURS: dict[str, wk.Policy] = {
    IX: wk.SIExp3(),
    PER_SET: wk.PerSet(wk.SleepingUCB()),
    SB: wk.SBExp3(),
    AUTO: wk.Auto(),
}


def sparring(*more: str) -> dict[str, AnyPolicy]:
    """Return the paper's two duelling policies, and those of ours that are asked for."""
    papers: dict[str, AnyPolicy] = {SP_SI: wk.Sparring(PAPER_RATE), SP_UCB: wk.Sparring(wk.SleepingUCB(constant=8))}
    ours: dict[str, AnyPolicy] = {
        SP_IX: wk.Sparring(wk.SIExp3()),
        STABLE: wk.StablePair(),
        AUTO_PAIRS: wk.AutoPairs(),
    }
    return papers | {name: ours[name] for name in more}


def rates(n_arms: int, awake: float) -> Callable[[int], Mapping[str, AnyPolicy]]:
    """Return SI-EXP3 with the rates that Theorem 1 is about, for T rounds in each of which `awake` arms are awake."""

    def tuned(rounds: int) -> Mapping[str, AnyPolicy]:
        size, total = math.log(n_arms), awake * rounds
        return {
            PRINTED: wk.SIExp3(eta=math.sqrt(size / (2 * total)), exploration=0.0),
            CORRECTED: wk.SIExp3(eta=math.sqrt(2 * size / total), exploration=0.0),
            SHARPENED: wk.SIExp3(eta="horizon", horizon=rounds, exploration=0.0),
            ONLINE: wk.SIExp3(eta="paper", exploration=0.0),
            DOUBLING: wk.SIExp3(eta="doubling", exploration=0.0),
        }

    return tuned


@dataclass(frozen=True)
class Experiment:
    """Policies in a world: one simulation, one finding."""

    id: str
    figure: str  # of the paper, or what it belongs to beyond it
    title: str
    text: str  # what is played, for the report
    world: Any
    rounds: int
    runs: int
    quick: tuple[int, int]  # rounds and runs with `--quick`
    policies: Mapping[str, AnyPolicy] | Callable[[int], Mapping[str, AnyPolicy]]
    regrets: tuple[str, ...] = PAPER_REGRETS

    def size(self, quick: bool = False, runs: int | None = None) -> tuple[int, int]:
        """Return rounds and runs; a number of runs that is given goes before both sizes."""
        rounds, usual = self.quick if quick else (self.rounds, self.runs)
        return rounds, usual if runs is None else runs

    def players(self, rounds: int) -> Mapping[str, AnyPolicy]:
        """Return the policies for so many rounds."""
        return self.policies(rounds) if callable(self.policies) else self.policies


def checkpoints(rounds: int) -> list[int]:
    """Return the rounds at which regrets are noted: about fifty, half of them evenly spread in log scale."""
    steps = np.concatenate([np.geomspace(1, rounds, 24), np.linspace(1, rounds, 33)])
    found: list[int] = np.unique(np.rint(steps).astype(np.int64)).tolist()
    return found


def experiments() -> tuple[Experiment, ...]:
    """Return all simulations of the report, the paper's first."""
    return (*_bandits(), *_duels(), *_other_bandits(), *_other_duels())


def _rounds_from(rounds: int) -> str:
    """Return where the number of rounds at full size comes from."""
    return f"The {rounds:,} rounds of a full run are from the authors' code; the paper gives no number."


def _bandit(id: str, figure: str, title: str, world: Any, rounds: int, quick_runs: int, text: str) -> Experiment:
    """Return an experiment of the paper with sleeping arms: its three policies and our four."""
    said = f"{text} {_rounds_from(rounds)}"
    return Experiment(id, figure, title, said, world, rounds, RUNS, (rounds, quick_runs), PAPERS | OURS)


def _bandits() -> Iterator[Experiment]:
    """Yield figures 2 and 3."""
    yield _bandit(
        "stochastic",
        "figure-2",
        "Stochastic",
        worlds.Stochastic(n_arms=10),
        5_000,
        8,
        "Ten arms. Arm k is awake with probability a_k and loses 1 with probability mu_k, both drawn from U(0, 1) for "
        "each run. What is lost does not depend on which arms are awake.",
    )
    yield _bandit(
        "dependent",
        "figure-2",
        "Dependent",
        worlds.Dependent(),
        1_000,
        20,
        "Three arms, four awake sets at random, and losses that are a function of the set. The best policy loses "
        "nothing, so that policy regret is the learner's loss.",
    )
    yield _bandit(
        "rock-paper-scissors",
        "figure-2",
        "Rock-Paper-Scissors",
        worlds.RockPaperScissors(),
        500,
        20,
        "The game on the awake actions, against an opponent who plays the Nash equilibrium of each sub-game. Losses "
        "are 0, 1/2 and 1, as in the authors' code; the paper's payoffs are -1, 0 and 1.",
    )
    yield _bandit(
        "random-dependence",
        "figure-3",
        "Random dependence",
        worlds.RandomDependent(n_arms=5),
        5_000,
        16,
        "Five arms, five awake sets, and for each set mean losses of its own, all drawn anew for each run.",
    )
    yield _bandit(
        "random-games",
        "figure-3",
        "Random games",
        worlds.RandomGame(n_arms=10),
        5_000,
        12,
        "A random symmetric game of ten actions and four awake sets, drawn anew for each run, against an opponent who "
        "plays the Nash equilibrium of each sub-game. Payoffs are from U(0, 1), and losses are the payoffs themselves, "
        "as in the authors' code; in the paper payoffs are from U(-1, 1), and losses are 0 or 1.",
    )


def _non_repeating(n_arms: int, quick: tuple[int, int], *ours: str) -> Experiment:
    """Return half of figure 4."""
    return Experiment(
        id=f"duels-{n_arms}",
        figure="figure-4",
        title=f"Duels of different arms, K = {n_arms}",
        text=f"{n_arms} arms with utilities from U(1, 50), drawn anew for each run; i beats j with probability "
        "u_i / (u_i + u_j). All are awake, the two arms of a duel must differ. K is that of the figure's caption, "
        f"which says 5 runs; a full run has {RUNS}. U(1, 50) is from the authors' code. {_rounds_from(50_000)}",
        world=worlds.UtilityDuels(n_arms=n_arms),
        rounds=50_000,
        runs=RUNS,
        quick=quick,
        policies=sparring(*ours),
        regrets=("dueling",),
    )


def _duels() -> Iterator[Experiment]:
    """Yield figures 4 and 5."""
    yield _non_repeating(4, (10_000, 10), SP_IX, STABLE, AUTO_PAIRS)
    yield _non_repeating(30, (5_000, 4), STABLE, AUTO_PAIRS)
    yield Experiment(
        id="categories",
        figure="figure-5",
        title="Duels, categories",
        text="Four arms, one of them at random asleep, and utilities that depend on who sleeps: (1, 2, 3, 4) moved as "
        "many places as the sleeper's number. The arms of a duel must differ. K = 4 is from the authors' code. "
        f"{_rounds_from(50_000)} Nor does it give a number of runs; a full run has {RUNS}.",
        world=worlds.CategoryDuels(n_arms=4),
        rounds=50_000,
        runs=RUNS,
        quick=(10_000, 10),
        policies=sparring(SP_IX, STABLE, AUTO_PAIRS),
        regrets=("dueling",),
    )


DEPENDENT, IID = worlds.Dependent(), worlds.Stochastic(n_arms=3)
AWAKE_DUELS = worlds.SleepingDuels(n_arms=3, rate=0.8)
SWITCHING = worlds.SwitchingBest(n_arms=5, period=2_000, gap=0.5, rate=0.8)
SWITCHING_AWAKE = 4.0 / (1.0 - 0.2**5)  # arms awake on average: rounds in which no arm is awake are redrawn
DEPENDENT_AWAKE = 9 / 4


def _other_bandits() -> Iterator[Experiment]:
    """Yield what the paper leaves out: a long horizon, the rates of its theorem, adversarial losses."""
    yield Experiment(
        id="dependent-long",
        figure="dependent-long",
        title="Dependent, a million rounds",
        text="The dependent world of figure 2, a thousand times as long: what the paper's picture does not show.",
        world=worlds.Dependent(),
        rounds=1_000_000,
        runs=12,
        quick=(30_000, 8),
        policies=PAPERS | OURS,
        regrets=("policy", "internal"),
    )
    yield Experiment(
        id="theorem-1-dependent",
        figure="theorem-1",
        title="Theorem 1, dependent losses",
        text="SI-EXP3 with constant learning rates, as Theorem 1 has them, and with rates that need no horizon, in the "
        "dependent world; 9/4 arms are awake on average.",
        world=worlds.Dependent(),
        rounds=50_000,
        runs=30,
        quick=(10_000, 8),
        policies=rates(3, DEPENDENT_AWAKE),
        regrets=("internal", "external", "policy"),
    )
    yield Experiment(
        id="theorem-1-switching",
        figure="theorem-1",
        title="Theorem 1, a best arm that switches",
        text="The same rates where the best of five arms changes every 2,000 rounds; arms are awake with probability "
        "0.8, whatever they lose.",
        world=SWITCHING,
        rounds=50_000,
        runs=30,
        quick=(10_000, 8),
        policies=rates(5, SWITCHING_AWAKE),
        regrets=("internal", "external", "ordering"),
    )
    yield Experiment(
        id="remark-3",
        figure="theorem-1",
        title="Remark 3, independent losses",
        text="Three arms with losses and availabilities as in the stochastic world of figure 2, for so many rounds "
        "that the bounds of Remark 3 are below what a policy could regret.",
        world=IID,
        rounds=100_000,
        runs=30,
        quick=(20_000, 8),
        policies=lambda rounds: {SI: PAPER_RATE, SHARPENED: rates(3, 3.0)(rounds)[SHARPENED]},
        regrets=("external", "ordering", "internal"),
    )
    yield Experiment(
        id="adversarial",
        figure="adversarial",
        title="Adversarial losses, independent sleep",
        text="Open question (i): losses of an adversary who does not see the awake sets, here five means that walk "
        "between 0 and 1, a step of 0.0003 a round, and arms that are awake independently with probability 0.8.",
        world=worlds.Drifting(n_arms=5, step=0.0003, rate=0.8),
        rounds=100_000,
        runs=20,
        quick=(20_000, 6),
        policies=PAPERS | OURS,
        regrets=("ordering", "policy", "internal", "external"),
    )


def _other_duels() -> Iterator[Experiment]:
    """Yield duels of other pairs than the paper's: of awake arms, between groups, and on a path."""
    yield Experiment(
        id="duels-awake",
        figure="theorem-2",
        title="Duels of awake arms, S x S",
        text="Theorem 2 where its proof is sound: three arms, each awake with probability 0.8, and any two awake arms "
        "may meet, an arm itself too. With more arms the bound would be more than a policy can regret.",
        world=AWAKE_DUELS,
        rounds=100_000,
        runs=20,
        quick=(20_000, 6),
        policies=sparring(SP_IX, STABLE),
        regrets=("dueling",),
    )
    yield Experiment(
        id="groups",
        figure="groups",
        title="Duels between groups",
        text="The example of section 4.1 (ii), which the paper does not measure: six arms with utilities from "
        "U(1, 50), each in one of three groups at random and awake with probability 0.8; the arms of a duel must be of "
        "different groups. Every run is another instance.",
        world=GroupDuels(),
        rounds=50_000,
        runs=40,
        quick=(10_000, 10),
        policies=sparring(STABLE),
        regrets=("dueling",),
    )
    yield Experiment(
        id="path",
        figure="theorem-2",
        title="Duels on the path 1 - 2 - 4 - 3",
        text="Theorem 2 where it is false: utilities (10.1, 10, 0.15, 0.1), and only neighbours on the path "
        "1 - 2 - 4 - 3 may meet, in every round.",
        world=worlds.PathDuels(),
        rounds=600_000,
        runs=8,
        quick=(400_000, 2),
        policies=sparring(STABLE),
        regrets=("dueling",),
    )
