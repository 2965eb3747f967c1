"""How good `wk.evaluate` is: coverage of its intervals, its numbers beside Open Bandit Pipeline's, and its speed.

Coverage: logs of 1,000 rows from worlds with known expected losses, three policies that log, three that are judged
while they learn. The truth is the mean over rows of `sum_k q_t(k) E[l_t(k)]`, q_t being the judged policy's
probabilities in row t. Prints how many of the 95 % intervals contain it, their width, and the bias of the estimate.

    python benchmarks/evaluate.py            # 500 logs in each world: some minutes
    python benchmarks/evaluate.py --logs 50

Open Bandit Pipeline (`pip install obp`) is compared with where it is installed; of torch, which it imports but does not
need for these estimators, a stand-in will do.
"""

import argparse
import importlib.util
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import wakeful as wk
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.off_policy.estimators import INTERVALS, Sums
from wakeful.off_policy.predictions import ArmMeans
from wakeful.policies.spectate import fold
from wakeful.worlds import Dependent, Stochastic, World

ROWS = 1_000
LEVEL = 0.95
N_ARMS = 4
POLICIES: dict[str, wk.Policy] = {
    "Uniform": wk.Uniform(),
    "SleepingUCB": wk.SleepingUCB(constant=2.0),
    "SIExp3": wk.SIExp3(),
}
WORLDS: dict[str, World] = {"Stochastic": Stochastic(N_ARMS), "Dependent": Dependent()}


class Logged(NamedTuple):
    """A log as arrays, with what only the world knows: the expected losses."""

    awake: Mask
    arms: Ints
    probabilities: Floats
    losses: Floats
    expected: Floats


Logger = Callable[[np.random.Generator, Mask, Floats], tuple[Ints, Floats]]


def by_weights(weight: Callable[[int], Floats]) -> Logger:
    """Return a policy that logs with probabilities proportional to fixed weights of the arms."""

    def log(rng: np.random.Generator, awake: Mask, losses: Floats) -> tuple[Ints, Floats]:
        p = np.where(awake, weight(awake.shape[1]), 0.0)
        p /= p.sum(axis=1, keepdims=True)
        arms = np.argmax(p.cumsum(axis=1) > rng.random((len(p), 1)) * (1.0 - 1e-12), axis=1)
        return arms, p[np.arange(len(p)), arms]

    return log


def learning(rng: np.random.Generator, awake: Mask, losses: Floats) -> tuple[Ints, Floats]:
    """Log with a policy that learns, SI-EXP3, and tries every arm now and then."""
    bandit = wk.Bandit(wk.SIExp3(), awake.shape[1], seed=int(rng.integers(1 << 31)))
    arms, chances = np.empty(len(awake), np.int64), np.empty(len(awake))
    for t, mask in enumerate(awake):
        decision = bandit.choose(mask)
        p = 0.9 * decision.probabilities + 0.1 * mask / mask.sum()
        arms[t] = decision.arm
        if rng.random() < 0.1:
            arms[t] = rng.choice(np.flatnonzero(mask))
        else:
            bandit.update(decision, loss=float(losses[t, decision.arm]))
        chances[t] = p[arms[t]]
    return arms, chances


LOGGERS: dict[str, Logger] = {
    "uniform": by_weights(np.ones),
    "skewed": by_weights(lambda n: np.linspace(1.0, 5.0, n)),
    "learning": learning,
}


def drawn(world: World, logger: Logger, rng: np.random.Generator, rows: int) -> Logged:
    """Return a log from a world."""
    block = next(iter(world.blocks(rng, rows)))
    awake, losses = block.awake[:rows], block.losses[:rows]
    arms, chances = logger(rng, awake, losses)
    assert block.expected is not None
    return Logged(awake, arms, chances, losses[np.arange(len(arms)), arms], block.expected[:rows])


def judged(log: Logged, policy: wk.Policy) -> tuple[Sums, float]:
    """Return the sums from which all estimates follow, and the truth."""
    n_arms, coins = log.awake.shape[1], np.full(len(log.arms), 0.5)
    table = ArmMeans(n_arms).predict(log.arms, log.losses)
    rows = (log.awake, log.arms, log.losses, log.probabilities, coins)
    made = fold(policy, policy.start(n_arms), *rows, table)
    sums = Sums()
    sums.add(made.own / log.probabilities, log.losses, made.expected, table[np.arange(len(log.arms)), log.arms])
    truth = fold(policy, policy.start(n_arms), *rows, np.ascontiguousarray(log.expected)).expected.mean()
    return sums, float(truth)


class Found(NamedTuple):
    """Over many logs: how many intervals contain the truth, how wide they are, and how far off the estimates."""

    coverage: float
    width: float
    bias: float
    error: float


def coverage(
    n_logs: int, worlds: Mapping[str, World], rows: int = ROWS, seed: int = 0
) -> Iterator[tuple[tuple[str, ...], Found]]:
    """Yield for every world, logger, policy, estimator and kind of interval what was found."""
    for world_name, world in worlds.items():
        for logger_name, logger in LOGGERS.items():
            cells: dict[tuple[str, ...], list[tuple[float, ...]]] = {}
            for n in range(n_logs):
                log = drawn(world, logger, np.random.default_rng([seed, n]), rows)
                for policy_name, policy in POLICIES.items():
                    sums, truth = judged(log, policy)
                    for estimator in ("dr", "ips", "snips"):
                        for kind in INTERVALS:
                            low, high = sums.interval(estimator, kind, LEVEL)
                            key = world_name, logger_name, policy_name, estimator, kind
                            off = sums.value(estimator) - truth
                            cells.setdefault(key, []).append((low <= truth <= high, high - low, off))
            for cell, values in cells.items():
                inside, width, off = np.array(values, float).T
                error = float(off.std(ddof=1) / np.sqrt(n_logs)) if n_logs > 1 else 0.0
                yield cell, Found(float(inside.mean()), float(width.mean()), float(off.mean()), error)


def print_coverage(n_logs: int) -> None:
    """Print a row for every cell, and the worst of each kind of interval."""
    print(f"{n_logs} logs of {ROWS:,} rows in each world; 95 % intervals")
    heads = ("world", "logged by", "judged", "estimator", "interval")
    print("".join(f"{head:<13}" for head in heads) + f"{'covers':>8}{'width':>8}{'bias':>9}{'+-':>8}")
    least = dict.fromkeys(INTERVALS, 1.0)
    for key, found in coverage(n_logs, WORLDS):
        numbers = f"{found.coverage:>8.3f}{found.width:>8.3f}{found.bias:>9.4f}{found.error:>8.4f}"
        print("".join(f"{part:<13}" for part in key) + numbers, flush=True)
        least[key[-1]] = min(least[key[-1]], found.coverage)
    print("least coverage: " + ", ".join(f"{kind} {value:.3f}" for kind, value in least.items()))


class StandIn(types.ModuleType):
    """In place of torch: whatever is asked for is an empty class."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def obp_estimators() -> Any:
    """Return Open Bandit Pipeline's estimators, or None where it is not installed."""
    if "torch" not in sys.modules and importlib.util.find_spec("torch") is None:
        for name in ("torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils", "torch.utils.data"):
            module = sys.modules[name] = StandIn(name)
            module.__path__ = []
            parent, _, child = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], child, module)
    try:
        return importlib.import_module("obp.ope.estimators")
    except Exception as problem:  # whatever a peer needs
        print(f"Open Bandit Pipeline is not there: {problem}")
        return None


def compare_with_obp() -> None:
    """Print the largest difference to Open Bandit Pipeline on a log in which all arms are awake."""
    obp = obp_estimators()
    if obp is None:
        return
    rng, n, k = np.random.default_rng(3), 5_000, 4
    awake, means = np.ones((n, k), np.bool_), np.linspace(0.2, 0.8, k)
    arms, chances = LOGGERS["skewed"](rng, awake, np.zeros((n, k)))
    losses = (rng.random(n) < means[arms]).astype(float)
    table = ArmMeans(k).predict(arms, losses)
    peers = {
        "ips": obp.InverseProbabilityWeighting(),
        "snips": obp.SelfNormalizedInverseProbabilityWeighting(),
        "dr": obp.DoublyRobust(),
        "direct": obp.DirectMethod(),
    }
    for name, policy in POLICIES.items():
        log = Logged(awake, arms, chances, losses, np.broadcast_to(means, (n, k)))
        sums, _ = judged(log, policy)
        law, state = np.zeros((n, k)), policy.start(k)
        for t in range(n):
            law[t] = policy.probabilities(state, awake[t])
            fold(
                policy, state, awake[t : t + 1], arms[t : t + 1], losses[t : t + 1], chances[t : t + 1], np.ones(1) / 2
            )
        given = {"reward": losses, "action": arms, "pscore": chances, "action_dist": law[:, :, np.newaxis]}
        given |= {"position": np.zeros(n, int), "estimated_rewards_by_reg_model": table[:, :, np.newaxis]}
        gaps = [f"{e} {abs(sums.value(e) - peer.estimate_policy_value(**given)):.1e}" for e, peer in peers.items()]
        print(f"{name}: differences to Open Bandit Pipeline: {', '.join(gaps)}")


def print_speed(rows: int = 300_000, n_arms: int = 10) -> None:
    """Print how many rows a second are read and judged, by CPU time, the best of three."""
    rng = np.random.default_rng(0)
    awake = rng.random((rows, n_arms)) < 0.7
    awake[~awake.any(axis=1)] = True
    arms, chances = LOGGERS["uniform"](rng, awake, np.zeros(awake.shape))
    names = [f"arm{k}" for k in range(n_arms)]
    table = {
        "awake": ["|".join(names[k] for k in np.flatnonzero(mask)) for mask in awake],
        "arm": [names[k] for k in arms],
        "probability": chances.tolist(),
        "loss": (rng.random(rows) < 0.3).astype(float).tolist(),
    }
    log = wk.Log(table)
    policy = wk.SleepingUCB(constant=2.0)
    wk.evaluate(log, policy)
    print(f"{rows:,} rows of {n_arms} arms, SleepingUCB, rows a second:")
    print(f"  judged, log in memory   {rate(lambda: wk.evaluate(log, policy), rows):>12,.0f}")
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".csv", ".parquet", ".jsonl"):
            path = Path(folder) / f"log{ending}"
            log.write(path)
            speed = rate(lambda path=path: wk.evaluate(wk.Log.read(path), policy), rows)  # type: ignore[misc]
            print(f"  read and judged, {ending:<9}{speed:>10,.0f}")


def rate(work: Callable[[], Any], rows: int) -> float:
    """Return rows a second of CPU time, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return rows / best


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=500, help="logs in each world (500)")
    options = parser.parse_args()
    print_speed()
    compare_with_obp()
    print_coverage(options.logs)
