"""`Settings` of a run of the paper: its size, its executor, and the folder with which it continues after a stop."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeful import files
from wakeful.lab.progress import Progress
from wakeful.lab.results import Results
from wakeful.lab.simulate import simulate
from wakeful.lab.store import Arrays, read_done
from wakeful.numerics.fingerprint import fingerprint
from wakeful.numerics.sources import our_code
from wakeful.paper.experiments import Experiment, checkpoints

KIND_OF_STUDY = "wakeful study"  # what the file of a study is called in its header


@dataclass(frozen=True)
class Settings:
    """How to work: the seed of everything, the size, the executor, and the folder that keeps what is done."""

    seed: int = 0
    quick: bool = False
    runs: int | None = None
    jobs: int | None = None
    executor: Executor | None = None
    store: Path | None = None

    def simulated(self, experiment: Experiment, progress: Progress | None = None) -> Results:
        """Return the results of an experiment."""
        rounds, runs = experiment.size(self.quick, self.runs)
        results: Results = simulate(
            experiment.players(rounds),
            experiment.world,
            rounds,
            runs,
            self.seed,
            experiment.regrets,
            checkpoints(rounds),
            self.executor,
            self.store,
            progress,
            self.jobs,
        )
        return results

    def size(self, full: int, quick: int) -> int:
        """Return the one of two sizes that is asked for."""
        return quick if self.quick else full

    def kept(self, about: Mapping[str, Any], compute: Callable[[], Arrays]) -> Arrays:
        """Return what `compute` does, from the folder if it was computed before; `about` tells computations apart."""
        if self.store is None:
            return compute()
        path = self.store / f"{fingerprint(dict(about), self.seed, our_code(compute.__module__))[:32]}.study"
        found = read_done(path, KIND_OF_STUDY)
        if found is None:
            self.store.mkdir(parents=True, exist_ok=True)
            found = compute()
            files.write(path, {"kind": KIND_OF_STUDY, "about": repr(dict(about))}, found)
        return found
