"""`import wakeful` and a first decision load only what a decision needs; the public names are all there."""

import subprocess
import sys

import wakeful

SCRIPT = """
import sys
import numba  # brings subprocess and, where it is installed, parts of scipy
before = set(sys.modules)
import wakeful as wk
if len(sys.argv) > 1:
    bandit = wk.Bandit(wk.SIExp3(), 3, seed=0)
    bandit.update(bandit.choose([0, 2]), loss=0.5)
print(*set(sys.modules) - before)
"""
ROOMS = {
    f"wakeful.{room}" for room in ("duels", "worlds", "regret", "checks", "lab", "logs", "off_policy", "paper", "cli")
}
LIBRARIES = {
    "concurrent.futures.process",
    "multiprocessing",
    "subprocess",
    "asyncio",
    "matplotlib",
    "pandas",
    "pyarrow",
    "statistics",
    "tqdm",
}


def loaded(*arguments: str) -> set[str]:
    """Return the modules that a fresh process loads after numba."""
    call = [sys.executable, "-c", SCRIPT, *arguments]
    return set(subprocess.run(call, capture_output=True, text=True, check=True).stdout.split())


def test_import_loads_no_rooms_and_no_libraries_that_a_decision_does_without() -> None:
    found = loaded()
    assert "wakeful.bandits.bandit" in found
    assert not found & (ROOMS | LIBRARIES)
    assert not {name for name in found if name.startswith("scipy")}


def test_a_first_decision_loads_none_either() -> None:
    found = loaded("decide")
    assert not found & (ROOMS | LIBRARIES | {"scipy.optimize"})


def test_every_public_name_is_found_and_listed_and_no_other_one() -> None:
    assert all(hasattr(wakeful, name) for name in wakeful.__all__)
    assert set(wakeful.__all__) <= set(dir(wakeful))
    assert not hasattr(wakeful, "simulat")


def test_an_arena_in_a_fresh_process_knows_every_dueling_policy_by_name() -> None:
    script = "from wakeful import DuelingBandit, DuelingPolicy; print(*DuelingPolicy.imported())"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert set(found) == {
        name for name in wakeful.__all__ if isinstance(cls := getattr(wakeful, name), type) and _is_for_duels(cls)
    }


def _is_for_duels(cls: type) -> bool:
    return issubclass(cls, wakeful.DuelingPolicy) and cls is not wakeful.DuelingPolicy
