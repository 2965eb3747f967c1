"""`evaluate`: the loss that each policy would have had on a log, respecting what was awake."""

from collections.abc import Callable
from typing import Any

import numpy as np

from wakeful.inputs import must_be, one_of, real, whole
from wakeful.lab.simulate import named_policies
from wakeful.logs.blocks import LogBlock
from wakeful.logs.log import Log, as_log
from wakeful.numerics.arrays import Floats, Ints
from wakeful.off_policy.estimators import ESTIMATORS, INTERVALS, Sums
from wakeful.off_policy.evaluation import Evaluation, EvaluationRow
from wakeful.off_policy.predictions import ArmMeans
from wakeful.policies.policy import Policy, a_policy
from wakeful.policies.rejection import replay
from wakeful.policies.spectate import fold, refuse_spectator

EVEN = 1e-6  # how far from one probability times number of awake arms may be for the logging to count as uniform
FEW_ROUNDS = 100  # fewer say little
FEW_EFFECTIVE = 50.0  # an effective sample size below this says little
FEW_EVENTS = 10.0  # a normal interval needs about so many effective rounds with the rarer outcome, a loss or none
NEVER = 0.01  # of the policy's choices that may go to arms which the log never plays
OFF = 0.1  # by how much the mean weight may differ from one, if it is also more than chance explains
BY_CHANCE = 4.0  # standard errors that chance explains
MOST_NAMED = 3  # arms in a warning
DIRECT_IS_BIASED = "biased: only as good as the mean losses of the arms in the log"


def evaluate(
    log: Any,
    policies: Any,
    *,
    estimator: str | None = None,
    interval: str = "bernstein",
    level: float = 0.95,
    logging: str | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Return the mean loss that each policy would have had on a log; `docs/logs.md` derives it.

    A policy decides every row before it learns from it, and learns from rows that others decided, as
    `policies/spectate.py` says. The estimate is about this sequence of decisions.

    Parameters:
        log: what was decided, by whomever: a `Log`, or what `Log.read` or `Log` read, a path or a table
        policies: one policy, a list, or a mapping of names to policies
        estimator: `"dr"`, doubly robust; `"ips"`, inverse propensity scores; `"snips"`, the same self-normalised;
            `"replay"`, rejection replay, if the logging was uniform; `"direct"`, biased, the only one for a log without
            probabilities. By default `"dr"`, without probabilities `"direct"`
        interval: `"bernstein"`, an empirical Bernstein bound that holds for any weights and number of rows; or
            `"normal"`, about half as wide, which holds approximately if the effective sample size is large
        level: of the intervals
        logging: `"uniform"` if every awake arm was chosen with the same probability, for a log without probabilities
        seed: of the coins that some policies and the estimator `"replay"` need
        progress: called with how many rows are done, and how many there are

    >>> from wakeful import SleepingUCB, Uniform
    >>> rows = {"awake": ["tea|juice"] * 400, "arm": ["tea", "juice"] * 200, "loss": [0.2, 0.8] * 200}
    >>> result = evaluate(Log(rows), [Uniform(), SleepingUCB(constant=2)], logging="uniform")
    >>> [round(row.value, 2) for row in result]
    [0.5, 0.2]
    """
    log = as_log(log)
    named = named_policies(policies, a_policy)
    chances = _chances(log, logging)
    chosen = _checked_estimator(estimator, chances is not None)
    one_of("interval", interval, INTERVALS)
    real("level", level, "between 0 and 1", 0.0, 1.0 - 1e-9, above=True)
    rng = np.random.default_rng(whole("seed", seed, "a whole number, zero or positive", 0))
    if chosen != "replay":
        for policy in named.values():
            refuse_spectator(policy, chances is not None)
    judged = {name: _Judged(policy, log.n_arms) for name, policy in named.items()}
    means, played, lost, done = ArmMeans(log.n_arms), np.zeros(log.n_arms), 0.0, 0
    for block in log.blocks():
        coins = rng.random((2, len(block.arms)))
        logged = None if chances is None else chances(block)
        if chosen == "replay":
            _refuse_uneven(block)
        table = means.predict(block.arms, block.losses)
        for one in judged.values():
            if chosen == "replay":
                one.replay(block, coins, log.most_awake)
            else:
                one.fold(block, logged, coins[0], table)
        played += np.bincount(block.arms, minlength=log.n_arms)
        lost += float(block.losses.sum())
        done += len(block.arms)
        if progress is not None:
            progress(done, len(log))
    rows = [one.row(name, chosen, interval, level, played, log) for name, one in judged.items()]
    shown = {name: repr(policy) for name, policy in named.items()}
    about = shown, chosen, interval, float(level), seed
    return Evaluation(tuple(rows), done, lost / done, log.label, *about, log.skipped.rows, log.skipped.duplicates)


class _Judged:
    """One policy on its way through the log."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        self._policy, self._state = policy, policy.start(n_arms)
        self._sums, self._wanted = Sums(), np.zeros(n_arms)

    def fold(self, block: LogBlock, logged: Floats | None, coins: Floats, table: Floats) -> None:
        """Ask the policy about every row, and let it learn from it."""
        made = fold(self._policy, self._state, block.awake, block.arms, block.losses, logged, coins, table)
        weights = np.ones(len(block.arms)) if logged is None else made.own / logged
        predicted = table[np.arange(len(block.arms)), block.arms]
        self._sums.add(weights, block.losses, made.expected, predicted)
        self._wanted += made.wanted

    def replay(self, block: LogBlock, coins: Floats, most_awake: int) -> None:
        """Let the policy choose in every row; keep, and learn from, those rows in which it chose what was logged."""
        thin = coins[1] * most_awake < block.awake.sum(axis=1)
        made = replay(self._policy, self._state, block.awake, block.arms, block.losses, coins[0], thin)
        losses = block.losses[made.accepted]
        self._sums.add(np.ones(losses.size), losses, losses, losses)
        self._wanted += made.wanted

    def row(self, name: str, estimator: str, interval: str, level: float, played: Floats, log: Log) -> EvaluationRow:
        """Return the estimate and what is to be said about it."""
        sums = self._sums
        low, high = sums.interval(estimator, interval, level)
        warning = "; ".join(_warnings(sums, estimator, interval, self._wanted, played, log))
        value = sums.value(estimator)
        if estimator == "direct":
            return EvaluationRow(name, value, low, high, float("nan"), float("nan"), warning)
        return EvaluationRow(name, value, low, high, sums.effective, sums.largest, warning)


def _warnings(sums: Sums, estimator: str, interval: str, wanted: Floats, played: Floats, log: Log) -> list[str]:
    """Return why the log cannot answer, or not well."""
    found = []
    if estimator == "direct":
        found.append(DIRECT_IS_BIASED if log.has_probabilities else f"{DIRECT_IS_BIASED}, as it has no probabilities")
    absent = np.flatnonzero((played == 0) & (wanted > 0.0))
    share = float(wanted[absent].sum() / wanted.sum())
    if share > NEVER:
        names = ", ".join(repr(log.arms[k]) for k in absent[np.argsort(-wanted[absent])][:MOST_NAMED])
        more = f" and {absent.size - MOST_NAMED} more" if absent.size > MOST_NAMED else ""
        found.append(
            f"no overlap: in {100.0 * share:.0f} % of rounds it wants {names}{more}, which the log never plays"
        )
    elif estimator not in {"direct", "replay"} and _is_off(sums):
        mean = sums.weights / sums.rows
        why = "little overlap: {}, so it wants arms that the log does not play"
        if mean > 1.0:
            why = "wrong probabilities: {}, so those of the log are smaller than those that chose"
        found.append(why.format(f"weights average {mean:.2f}, not 1"))
    if sums.rows < FEW_ROUNDS:
        found.append(f"too few rounds: {sums.rows}")
    elif estimator != "direct" and sums.effective < FEW_EFFECTIVE:
        found.append(f"too few rounds like its own: effective sample size {sums.effective:.0f}")
    elif estimator != "direct" and interval == "normal" and _events(sums, estimator) < FEW_EVENTS:
        about = f"about {_events(sums, estimator):.0f} of them with the rarer outcome"
        found.append(f"too few rounds for a normal interval: {about}")
    return found


def _events(sums: Sums, estimator: str) -> float:
    """Return in how many effective rounds the outcome was the rarer one of a loss and none."""
    value = sums.value(estimator)
    return sums.effective * max(min(value, 1.0 - value), 0.0)


def _is_off(sums: Sums) -> bool:
    """Whether the weights do not average one, by much and by more than chance."""
    mean = sums.weights / sums.rows
    error = np.sqrt(max(sums.square_weights / sums.rows - mean**2, 0.0) / sums.rows)
    return abs(mean - 1.0) > max(OFF, BY_CHANCE * float(error))


def _chances(log: Log, logging: Any) -> Callable[[LogBlock], Floats] | None:
    """Return what gives the probabilities of the logged arms, if they are known."""
    if logging is None:
        return (lambda block: block.probabilities) if log.has_probabilities else None  # type: ignore[return-value]
    one_of("logging", logging, ("uniform",))
    if log.has_probabilities:
        raise ValueError(must_be("logging", "None for a log with probabilities", logging))
    return lambda block: 1.0 / block.awake.sum(axis=1)


def _checked_estimator(estimator: Any, known: bool) -> str:
    """Return the estimator, if the probabilities that it needs are known."""
    if estimator is None:
        return "dr" if known else "direct"
    one_of("estimator", estimator, ESTIMATORS)
    if not known and estimator != "direct":
        rule = "'direct' for a log without probabilities, unless logging='uniform' is true of it"
        raise ValueError(must_be("estimator", rule, estimator))
    return str(estimator)


def _refuse_uneven(block: LogBlock) -> None:
    """Raise if the logging was not uniform."""
    if block.probabilities is None:
        return
    even: Ints = np.abs(block.probabilities * block.awake.sum(axis=1) - 1.0) <= EVEN
    if not even.all():
        n = int(np.argmin(even))
        rule = "1 / (number of awake arms) in every row for estimator='replay'"
        where = f"{float(block.probabilities[n])!r} in line or row {block.lines[n]}"
        raise ValueError(must_be("probability", rule, where))
