"""`wakeful reproduce`: every experiment of the paper, every claim judged, and a report of both."""

import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeful.inputs import one_of, whole
from wakeful.lab import plots
from wakeful.lab.progress import Progress, Shown, bars
from wakeful.lab.results import Results
from wakeful.paper import evidence, facts, folder, line_twelve, nash, report
from wakeful.paper.claims import judged
from wakeful.paper.contents import Claim, Section, counted
from wakeful.paper.experiments import RUNS, experiments
from wakeful.paper.sections import drawn
from wakeful.paper.settings import Settings

TITLE = "One Arrow, Two Kills, played again"
STUDIES: dict[str, Callable[[Settings, Progress | None], Any]] = {
    "relations": lambda settings, move: evidence.run_study(settings),
    "line-12": lambda settings, move: line_twelve.run_study(settings),
    "nash": nash.run_study,
    "facts": lambda settings, move: facts.run_study(settings),
}
DRAWING = "figures"
STUDY_WEIGHT = 2_000_000  # rounds that a study, or drawing all figures, is worth on the overall bar


@dataclass(frozen=True)
class Reproduced:
    """The claims with their verdicts, what a partial run left out, and the folder of the report."""

    claims: tuple[Claim, ...]
    less: tuple[str, ...]
    out: Path


def reproduce(
    out: str | Path = "wakeful-report",
    *,
    quick: bool = False,
    runs: int | None = None,
    seed: int = 0,
    only: Iterable[str] = (),
    jobs: int | None = None,
    executor: Executor | None = None,
    quiet: bool = True,
    command: Sequence[str] = ("wakeful", "reproduce"),
) -> Reproduced:
    """Run the experiments of the paper and ours, judge its claims, and write a report into the folder `out`.

    The numbers depend on `seed`, `quick` and `runs` only. Stopped at any moment and called again with the same `out`,
    it continues where it stopped.

    Parameters:
        out: a new or empty folder, or that of an earlier report
        quick: fewer runs and shorter horizons
        runs: of every experiment, instead of the usual number
        seed: of everything
        only: experiments or figures, by name; nothing: all
        jobs: how many units of work at a time without an executor
        executor: like `concurrent.futures.Executor`, such as Dask's
        quiet: whether progress is not told on stderr
        command: how the manifest says this was called
    """
    whole("seed", seed, "a whole number from 0", 0)
    for name, value in (("runs", runs), ("jobs", jobs)):
        if value is not None:
            whole(name, value, "a whole number from 1", 1)
    only = [only] if isinstance(only, str) else list(only)
    chosen = selected(only)
    place = folder.opened(out, chosen)
    before = sum(1 for _ in (place / folder.WORK).iterdir())
    settings = Settings(seed, quick, runs, jobs, executor, place / folder.WORK)
    began = time.perf_counter()
    weights = {name: _weight(settings, name) for name in (*chosen, DRAWING)}
    with bars("wakeful reproduce", sum(weights.values()), quiet) as shown:
        findings, seconds = _found(settings, {name: weights[name] for name in chosen}, shown)
        claims = judged(findings, quick)
        with shown.part(DRAWING, weights[DRAWING]) as move:
            sections, figures = _drawn(place, findings, move)
    less = _less(quick, runs, chosen)
    if less[quick:]:  # that it is quick the report says itself
        sections.insert(0, Section("part", "Not the whole report", less[quick:]))
    results = {name: found for name, found in findings.items() if isinstance(found, Results)}
    written = [*figures, *folder.write_results(place, results), folder.CLAIMS, folder.REPORT, folder.MANIFEST]
    folder.write_claims(place, claims)
    about = folder.manifest(
        command,
        seed,
        quick,
        only=sorted(only),
        parts=list(chosen),
        files=written,
        units_done_before=before,
        wall_time={"experiments": seconds, "all": round(time.perf_counter() - began, 3)},
        sizes={name: {"rounds": found.rounds, "runs": found.runs} for name, found in results.items()},
    )
    report.write(place, TITLE, sections, claims, about, quick)
    folder.remove_old(place, written)
    folder.write_json(place / folder.MANIFEST, about)
    return Reproduced(tuple(claims), less, place)


def _less(quick: bool, runs: int | None, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return in what a run is less than the whole: sentences for the report and the terminal."""
    said = []
    if quick:
        said.append("A quick run: fewer runs and shorter horizons than in the paper. Good for a look, not a citation.")
    if runs is not None and runs < RUNS:
        said.append(f"Runs of every experiment: {runs}, where the whole report has up to {RUNS}.")
    if len(chosen) < len(selected(())):
        said.append(f"A part of the report: {', '.join(chosen)}.")
    return tuple(said)


def names() -> dict[str, tuple[str, ...]]:
    """Return what `--only` takes: every experiment by its id, every figure by the experiments that it shows."""
    known = {experiment.id: (experiment.id,) for experiment in experiments()} | {name: (name,) for name in STUDIES}
    figures: dict[str, tuple[str, ...]] = {"figure-1": ("relations",)}
    for experiment in experiments():
        figures[experiment.figure] = (*figures.get(experiment.figure, ()), experiment.id)
    return figures | known


def selected(only: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of what is asked for, in the order of the report; nothing asked for is everything."""
    known = names()
    every = (*(experiment.id for experiment in experiments()), *STUDIES)
    asked = {id for name in only for id in known[one_of("--only", name, known)]}
    return tuple(name for name in every if name in asked) if asked else every


def table(done: Reproduced) -> str:
    """Return the closing table: verdict, name of the claim, place in the paper, what it says."""
    wide = max((len(claim.verdict) for claim in done.claims), default=0)
    lines = []
    for claim in done.claims:
        words = textwrap.wrap(f"{claim.id} ({claim.where}): {claim.claim}", 100 - wide, break_on_hyphens=False)
        lines += [f"{claim.verdict:<{wide}}  {words[0]}", *(f"{'':<{wide}}  {rest}" for rest in words[1:])]
    lines += ["", f"{counted(done.claims).capitalize()}."]
    lines += done.less
    return "\n".join([*lines, f"Report: {done.out / 'report.html'}"])


def _found(settings: Settings, weights: Mapping[str, int], shown: Shown) -> tuple[dict[str, Any], dict[str, float]]:
    """Return what each experiment and study found, and how many seconds it took."""
    known = {experiment.id: experiment for experiment in experiments()}
    findings: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    for name, weight in weights.items():
        began = time.perf_counter()
        with shown.part(name, weight) as move:
            findings[name] = settings.simulated(known[name], move) if name in known else STUDIES[name](settings, move)
        seconds[name] = round(time.perf_counter() - began, 3)
    return findings, seconds


def _weight(settings: Settings, name: str) -> int:
    """Return how much work an experiment is, roughly, in rounds of a small one."""
    experiment = next((experiment for experiment in experiments() if experiment.id == name), None)
    if experiment is None:
        return STUDY_WEIGHT // (10 if settings.quick and name != DRAWING else 1)
    rounds, runs = experiment.size(settings.quick, settings.runs)
    return int(rounds * runs * len(experiment.players(rounds)) * (1.0 + experiment.world.n_arms / 10.0))


def _drawn(
    out: Path, findings: Mapping[str, Any], move: Callable[[int, int], None] | None
) -> tuple[list[Section], list[str]]:
    """Draw all figures, as SVG and PNG; return the sections and the names of the files."""
    parts = list(drawn(findings))
    figures = {name: draw for part in parts for name, draw in part.figures.items()}
    for n, (name, draw) in enumerate(figures.items(), start=1):
        figure = draw()
        plots.save(figure, out / "figures" / f"{name}.svg")
        figure.set_layout_engine("none")  # it is laid out now, which takes as long as drawing it
        plots.save(figure, out / "figures" / f"{name}.png")
        if move is not None:
            move(n, len(figures))
    names = [f"figures/{name}.{ending}" for name in figures for ending in ("svg", "png")]
    return [part.section for part in parts], names
