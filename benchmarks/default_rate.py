"""How the default of `SIExp3()` was chosen: a sweep over rate scales and exploration, in every world, short and long.

Each candidate is judged by its worst ratio to the best policy known for a world and horizon, baselines and other
candidates included, over means and 90 % quantiles of the policy regret. Writes the ratios and two heat maps:

    python benchmarks/default_rate.py OUT [--quick | --draw]
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import wakeful as wk
from wakeful import worlds
from wakeful.lab import plots
from wakeful.policies.learning_rates import Rate

SCALES = (0.5, 1.0, 2.0, 4.0, 8.0)
EXPLORATIONS = (0.0, 0.0625, 0.25, 0.5, 1.0)
REACH = 10.0  # where no candidate comes this near, SI-EXP3 is the wrong policy, whatever its rate
WORLDS: tuple[Any, ...] = (
    worlds.Stochastic(),
    worlds.Dependent(),
    worlds.RockPaperScissors(),
    worlds.RandomDependent(),
    worlds.RandomGame(),
    worlds.SwitchingBest(),
    worlds.Cycling(),
    worlds.MarkovSleep(),
    worlds.LossDependentSleep(),
    worlds.Drifting(),
)
BASELINES: dict[str, wk.Policy] = {
    "SleepingUCB(2)": wk.SleepingUCB(2.0),
    "SleepingUCB(0.5)": wk.SleepingUCB(0.5),
    "SleepingExp3G()": wk.SleepingExp3G(),
    "SBExp3()": wk.SBExp3(),
    "PerSet(SleepingUCB(0.5))": wk.PerSet(wk.SleepingUCB(0.5)),
    "PerSet(SBExp3())": wk.PerSet(wk.SBExp3()),
}


@dataclass(frozen=True)
class Scaled(wk.SIExp3):
    """SI-EXP3 with the rate that the bound asks for, times `scale`."""

    scale: float = 1.0

    def parameters(self, n_arms: int) -> Rate:
        asked = math.sqrt(math.log(max(n_arms * (n_arms - 1), 2)) / 2)
        return super().parameters(n_arms)._replace(numerator=self.scale * asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path, help="folder for the table, the figure and finished work")
    parser.add_argument("--quick", action="store_true", help="short horizon only")
    parser.add_argument("--draw", action="store_true", help="draw the ratios that are there, simulate nothing")
    options = parser.parse_args()
    if not options.draw:
        options.out.mkdir(parents=True, exist_ok=True)
        sweep(options.out, options.quick)
    report(options.out)


def sweep(out: Path, quick: bool) -> None:
    """Simulate everything and write, for each world, horizon and statistic, the ratio of each candidate."""
    horizons = ((1_000, 50),) if quick else ((1_000, 50), (1_000_000, 8))
    names = [(s, e) for s in SCALES for e in EXPLORATIONS]
    policies = {str(pair): Scaled(exploration=pair[1], scale=pair[0]) for pair in names} | BASELINES
    ratios: dict[str, list[float]] = {}
    for rounds, runs in horizons:
        for world in WORLDS:
            marks = [rounds]
            results = wk.simulate(policies, world, rounds, runs, 0, ("policy",), marks, store=out / "units")
            for statistic, value in (("mean", np.mean), ("90 %", lambda x: np.quantile(x, 0.9))):
                found = {name: max(float(value(results.final("policy", name))), 0.0) for name in policies}
                best = max(min(found.values()), math.sqrt(rounds))  # below sqrt(T) all are as good as perfect
                key = f"{type(world).__name__}, {rounds:,} rounds, {statistic}"
                ratios[key] = [max(found[str(pair)], best) / best for pair in names]
                print(f"{key:<48} best {min(found, key=lambda n: found[n]):<26}", *(f"{x:6.2f}" for x in ratios[key]))
                sys.stdout.flush()
    (out / "ratios.json").write_text(json.dumps(ratios, indent=1))


def report(out: Path) -> None:
    """Print and draw the worst ratios: over everything, and where some candidate comes within REACH of the best."""
    ratios = {key: np.array(values) for key, values in json.loads((out / "ratios.json").read_text()).items()}
    within = {key: values for key, values in ratios.items() if values.min() < REACH}
    beyond = ", ".join(sorted({key.rpartition(",")[0] for key in set(ratios) - set(within)}))
    figure = Figure(figsize=(9.0, 3.9), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, title, chosen in zip(
        panels, ("everything", f"without {beyond or 'nothing'}"), (ratios, within), strict=True
    ):
        worst = np.max(list(chosen.values()), axis=0).reshape(len(SCALES), len(EXPLORATIONS))
        table(title, worst)
        heat_map(axes, title, worst)
    figure.suptitle(
        "SI-EXP3: worst ratio to the best policy, over worlds, horizons, means and 90 % quantiles", fontsize=10
    )
    plots.save(figure, out / "default-rate.png")


def table(title: str, worst: np.ndarray[Any, Any]) -> None:
    print(f"\nworst ratio, {title}; rows: scale, columns: exploration")
    print(" " * 8 + "".join(f"{e:>9}" for e in EXPLORATIONS))
    for scale, row in zip(SCALES, worst, strict=True):
        print(f"{scale:>8}" + "".join(f"{x:>9.2f}" for x in row))


def heat_map(axes: Any, title: str, worst: np.ndarray[Any, Any]) -> None:
    axes.imshow(np.log(worst), cmap="viridis_r", interpolation="nearest")
    middle = (np.log(worst).max() + np.log(worst).min()) / 2
    for i, row in enumerate(worst):
        for j, value in enumerate(row):
            colour = "white" if math.log(value) > middle else "black"
            axes.text(j, i, f"{value:.1f}", ha="center", va="center", color=colour)
    axes.set_xticks(range(len(EXPLORATIONS)), [f"{e:g}" for e in EXPLORATIONS])
    axes.set_yticks(range(len(SCALES)), [f"{s:g}" for s in SCALES])
    axes.set_xlabel("exploration (gamma / eta)")
    axes.set_ylabel("scale of the rate")
    axes.set_title(title, loc="left", fontsize=9)


if __name__ == "__main__":
    main()
