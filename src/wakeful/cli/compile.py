"""`wakeful compile`: compile policies now and keep the code on disk, so that no later process has to."""

import argparse
import time
from typing import Any

from wakeful.bandits.bandit import Bandit
from wakeful.bandits.dueling_bandit import DuelingBandit
from wakeful.cli.names import known_policies, parse
from wakeful.numerics.compile_cache import CACHE_VARIABLE, cache_folder
from wakeful.policies.kernels import draw
from wakeful.policies.policy import Policy

ABOUT = f"""Compile policies and keep the code on disk, for example while an image of a container is built.

The folder is that of the environment variable {CACHE_VARIABLE}, if it is set; otherwise `__pycache__` beside the
package, or a folder in the user's home where that cannot be written to. Code is for one kind of CPU: where images are
built and run on different ones, set NUMBA_CPU_NAME=generic for both.
"""


def add_to(commands: Any) -> None:
    """Add the command that fills the cache of compiled code."""
    run = commands.add_parser(
        "compile",
        help="compile policies now and keep the code on disk",
        description=ABOUT,
        epilog=f"policies: {', '.join(known_policies())}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.set_defaults(command=run_command)
    run.add_argument("policies", nargs="*", metavar="POLICY", help="policies, as for simulate (auto)")
    run.add_argument("--all", action="store_true", help="every policy that can be made without arguments")


def run_command(options: argparse.Namespace) -> None:
    """Compile, and say where the code is."""
    folder = cache_folder(draw.py_func if hasattr(draw, "py_func") else draw)  # all policies have their code there
    texts = options.policies or ["auto"]
    policies = [parse("policy", text, known_policies()) for text in texts]
    if options.all:
        policies = [cls() for cls in known_policies().values() if _needs_nothing(cls)]
    for policy in policies:
        start = time.perf_counter()
        _decide_once(policy)
        print(f"{policy!r}: {time.perf_counter() - start:.1f} s", flush=True)
    print(f"compiled code is kept in {folder}")


def _decide_once(policy: Any) -> None:
    """Compile what decisions, feedback, reports, shared logs and simulations of a policy need, by using it once."""
    if isinstance(policy, Policy):
        bandit = Bandit(policy, 3, seed=0)
        bandit.admit(bandit.propose(None, 0.5))
        bandit.update(bandit.choose(), loss=0.5)
        bandit.report()
    else:
        arena = DuelingBandit(policy, 3, seed=0)
        arena.admit(arena.propose(None, [0.5] * 4, distinct=True))
        arena.update(arena.choose(distinct=True), winner="left")


def _needs_nothing(cls: type) -> bool:
    """Whether a policy can be made without arguments."""
    try:
        cls()
    except (TypeError, ValueError):
        return False
    return True
