"""Records of losses by arm and by awake set, several ways to read them, and the evidence for each way.

A *reading* is one way to pool awake sets with one memory, (kappa, rho). rho says how fast the past is forgotten: every
feedback multiplies what was counted before it by rho; where rewards are rare, as many feedbacks as hold half a reward
do so together. kappa says how much the record of an arm in other awake sets tells about this one: its n observations
there count as `kappa n / (kappa + n)`; infinite kappa pools all sets, kappa = 0 keeps each set apart. There are two
infinite ones: the second, `LEVELLED`, allows for sets in which all arms lose more, or less, than elsewhere. Every
reading predicts each loss before it is counted; its evidence is the sum of the logarithmic scores of its predictions.
"""

from typing import NamedTuple

import numpy as np

from wakeful.limits import claim
from wakeful.numerics.arrays import Floats, Ints, Mask
from wakeful.numerics.awake_sets import count, find
from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import exponentiate, power, take_logs
from wakeful.policies.state_ranges import COUNTS, MOST, Range, Ranges

KAPPAS = np.array([0.0, 4.0, 32.0, np.inf, np.inf])
RHOS = np.array([1.0, 0.9995, 0.998, 0.99])
POOLED, LEVELLED = 3, 4  # the kappas that pool all sets: as they are, and with a level for each set
DOUBT_SETS = 1.5  # nats that a reading which does not pool all sets has against it before the first loss
DOUBT_BOTH = 2.0  # nats more against a reading that forgets and sees differences of any kind between sets
LEAST_EVIDENCE = 12.0  # nats that the evidence of a reading may fall below its start, so that a change is noticed
REACH = 16  # rows of the table of sets that are looked at for a set
ANCHOR = 8.0  # what a reading that forgets keeps of an arm's whole record, in half rewards
LEVEL_RATE = 0.2  # how fast the common level of all arms is followed, in logits a unit of surprise
LEVEL_MEMORY = 0.99  # how the common level returns to zero
SET_LEVEL_RATE, SET_LEVEL_PRIOR = 4.0, 16.0  # that of a set: `rate / (prior + n)` logits a unit, n in half rewards
LARGEST_SET_LEVEL = 100.0  # logits, far more than there ever are
CERTAIN = 1e-4  # no prediction is closer to 0 or 1
EDGE = 1e-9  # no mean is closer to 0 or 1
NOBODY = 1e-9  # observations fewer than this are none
LARGEST_SCALE = 1e50  # of an increment: when it is reached, everything counted is scaled back


class Records(NamedTuple):
    """Discounted counts and sums of losses, in units of `scale`, which grows instead of the past shrinking."""

    sets: Mask  # (max_sets, K)
    set_counts: Ints  # (max_sets,)
    own_counts: Floats  # (rhos, max_sets, K)
    own_losses: Floats  # (rhos, max_sets, K)
    counts: Floats  # (rhos, K)
    losses: Floats  # (rhos, K)
    scale: Floats  # (rhos,), what one observation counts now
    totals: Floats  # observations, and the sum of their losses
    evidence: Floats  # (kappas, rhos), in nats, the largest is 0
    level: Floats  # (kappas, rhos), by how many logits all arms lose more than usual now
    set_level: Floats  # (max_sets,), by how many logits all arms lose more than usual in a set


SCALED = Range(0.0, MOST * LARGEST_SCALE)
RANGES: Ranges = {
    "set_counts": COUNTS,
    "own_counts": SCALED,
    "own_losses": SCALED,
    "counts": SCALED,
    "losses": SCALED,
    "scale": Range(0.5, 2.0 * LARGEST_SCALE),
    "totals": Range(0.0, MOST),
    "evidence": Range(-DOUBT_SETS - DOUBT_BOTH - LEAST_EVIDENCE, 0.0),
    "level": Range(-LEVEL_RATE / (1.0 - LEVEL_MEMORY) - 1.0, LEVEL_RATE / (1.0 - LEVEL_MEMORY) + 1.0),
    "set_level": Range(-LARGEST_SET_LEVEL, LARGEST_SET_LEVEL),
}


def first_evidence() -> Floats:
    """Return the evidence of every reading before the first loss."""
    start = np.zeros((KAPPAS.size, RHOS.size))
    start[:POOLED] -= DOUBT_SETS
    start[:POOLED, 1:] -= DOUBT_BOTH
    start[LEVELLED, 1:] -= DOUBT_BOTH
    return start


FIRST_EVIDENCE = first_evidence()


def no_records(n_arms: int, max_sets: int) -> Records:
    """Return records of nothing."""
    claim("max_sets", max_sets, max_sets * (16 + n_arms * (1 + 16 * RHOS.size)))
    shape = (RHOS.size, max_sets, n_arms)
    return Records(
        sets=np.zeros((max_sets, n_arms), np.bool_),
        set_counts=np.zeros(max_sets, np.int64),
        own_counts=np.zeros(shape),
        own_losses=np.zeros(shape),
        counts=np.zeros((RHOS.size, n_arms)),
        losses=np.zeros((RHOS.size, n_arms)),
        scale=np.ones(RHOS.size),
        totals=np.zeros(2),
        evidence=FIRST_EVIDENCE.copy(),
        level=np.zeros((KAPPAS.size, RHOS.size)),
        set_level=np.zeros(max_sets),
    )


@kernel
def usual(count: float, losses: float) -> tuple[float, float]:
    """Return the mean of all losses, at least 1/2, and how many observations hold half a reward at that mean.

    Where rewards are rare, one loss says little about an arm. Where losses are rare it says much: then the mean of all
    losses, most of them of the best arms, would be a poor guess for the others.
    """
    mean = min(max((losses + 0.5) / (count + 1.0), 0.5), 1.0 - EDGE)
    return mean, 0.5 / (1.0 - mean)


@kernel
def shrunk(kappa: float, n: float, lost: float, pooled_n: float, pooled_lost: float) -> tuple[float, float]:
    """Return count and losses of an arm in a set: its own there, and those from other sets as kappa says."""
    elsewhere = pooled_n - n
    if kappa == np.inf:
        return pooled_n, pooled_lost
    if kappa == 0.0 or elsewhere <= NOBODY:
        return n, lost
    share = kappa / (kappa + elsewhere)
    return n + share * elsewhere, lost + share * (pooled_lost - lost)


@kernel
def anchored(most: float, n: float, lost: float, all_n: float, all_lost: float) -> tuple[float, float]:
    """Return a record that forgets together with the whole record, which counts as `most` observations at most."""
    if all_n <= NOBODY:
        return n, lost
    share = most / (most + all_n)
    return n + share * all_n, lost + share * all_lost


@kernel
def mean_of(n: float, lost: float, mean: float, strength: float) -> float:
    """Return the mean of a record to which `strength` observations of `mean` are added."""
    return min(max((lost + strength * mean) / (n + strength), EDGE), 1.0 - EDGE)


@kernel
def read_set(state: Records, weights: Floats, row: int, awake: Ints, n: Floats, mean: Floats) -> None:
    """Write how often each awake arm was observed, and its mean loss, as each reading that has a weight reads it.

    Parameters:
        weights: what each reading counts: those of the first memory, then those of the second, and so on
        row: that of the awake set in the table (-1: it has none)
        n: for each such reading, one after the other, the awake arms; written
        mean: the same
    """
    usual_mean, strength = usual(state.totals[0], state.totals[1])
    whole, record = np.empty((4, awake.size)), np.empty((4, awake.size))
    _gather(state, 0, row, awake, whole)
    start = 0
    for r in range(RHOS.size):
        is_gathered = False
        for a in range(KAPPAS.size):
            if weights[r * KAPPAS.size + a] > 0.0:
                if not is_gathered:
                    _gather(state, r, row, awake, record)
                    is_gathered = True
                _read(KAPPAS[a], record, n, mean, start)
                if r > 0:
                    _anchor(ANCHOR * strength, KAPPAS[a], whole, n, mean, start)
                start += awake.size
    for i in range(start):
        mean[i] = mean_of(n[i], mean[i], usual_mean, strength)
        n[i] += strength


@kernel
def _gather(state: Records, r: int, row: int, awake: Ints, record: Floats) -> None:
    """Write count and losses of each awake arm in the set of `row`, then those in all sets, as memory r has them."""
    scale = state.scale[r]
    for i in range(awake.size):
        k = awake[i]
        record[2, i], record[3, i] = state.counts[r, k] / scale, state.losses[r, k] / scale
        record[0, i], record[1, i] = record[2, i], record[3, i]
        if row >= 0:
            record[0, i], record[1, i] = state.own_counts[r, row, k] / scale, state.own_losses[r, row, k] / scale


@kernel
def _read(kappa: float, record: Floats, n: Floats, lost: Floats, start: int) -> None:
    """Write count and losses of every arm, as kappa says."""
    for i in range(record.shape[1]):
        n[start + i], lost[start + i] = shrunk(kappa, record[0, i], record[1, i], record[2, i], record[3, i])


@kernel
def _anchor(most: float, kappa: float, whole: Floats, n: Floats, lost: Floats, start: int) -> None:
    """Add some of the whole record to every count, as readings that forget do."""
    for i in range(whole.shape[1]):
        m = start + i
        ever, ever_lost = shrunk(kappa, whole[0, i], whole[1, i], whole[2, i], whole[3, i])
        n[m], lost[m] = anchored(most, n[m], lost[m], ever, ever_lost)


@kernel
def weigh(state: Records, row: int, arm: int, loss: float) -> None:
    """Add to the evidence of every reading how well it predicted `loss`; none falls too far below the best.

    Where the arm was never played in this set, all gain what the pooled reading does: keeping sets apart knows nothing
    there, and to know nothing is often the better prediction while arms have short records.
    """
    evidence, level = state.evidence, state.level
    losing, winning = np.empty(KAPPAS.size * RHOS.size), np.empty(KAPPAS.size * RHOS.size)
    _predict(state, row, arm, losing, winning)
    for a in range(KAPPAS.size):
        for r in range(RHOS.size):
            level[a, r] = LEVEL_MEMORY * level[a, r] + LEVEL_RATE * (loss - losing[r * KAPPAS.size + a])
    if row >= 0:
        seen = state.set_counts[row] / usual(state.totals[0], state.totals[1])[1]
        moved = state.set_level[row] + SET_LEVEL_RATE / (SET_LEVEL_PRIOR + seen) * (loss - losing[LEVELLED])
        state.set_level[row] = min(max(moved, -LARGEST_SET_LEVEL), LARGEST_SET_LEVEL)
    take_logs(losing)
    take_logs(winning)
    tried = row >= 0 and state.own_counts[0, row, arm] > 0.0
    best = -np.inf
    for a in range(KAPPAS.size):
        for r in range(RHOS.size):
            m = r * KAPPAS.size + (a if tried else POOLED)
            evidence[a, r] += loss * losing[m] + (1.0 - loss) * winning[m]
            best = max(best, evidence[a, r])
    for a in range(KAPPAS.size):
        for r in range(RHOS.size):
            evidence[a, r] = max(evidence[a, r] - best, FIRST_EVIDENCE[a, r] - LEAST_EVIDENCE)


@kernel
def _predict(state: Records, row: int, arm: int, losing: Floats, winning: Floats) -> None:
    """Write the mean loss of `arm` in the set of `row` that every reading predicts, at its level, and one minus it."""
    n, odds = np.empty(losing.size), np.empty(losing.size)
    for m in range(odds.size):
        odds[m] = -state.level[m % KAPPAS.size, m // KAPPAS.size]
        if row >= 0 and m % KAPPAS.size == LEVELLED:
            odds[m] -= state.set_level[row]
    exponentiate(odds)
    read_set(state, np.ones(n.size), row, np.full(1, arm), n, losing)
    for m in range(odds.size):
        q = losing[m] / (losing[m] + (1.0 - losing[m]) * odds[m])
        losing[m] = min(max(q, CERTAIN), 1.0 - CERTAIN)
        winning[m] = 1.0 - losing[m]


@kernel
def add_loss(state: Records, awake: Ints, arm: int, loss: float) -> None:
    """Weigh the readings by one loss, then count it."""
    row = find(state.sets, state.set_counts, awake, REACH)
    weigh(state, row, arm, loss)
    if row >= 0:
        count(state.sets, state.set_counts, row, awake)
    state.totals[0] += 1.0
    state.totals[1] += loss
    strength = usual(state.totals[0], state.totals[1])[1]
    for r in range(RHOS.size):
        state.scale[r] *= power(RHOS[r], -1.0 / strength)
        step = state.scale[r]
        state.counts[r, arm] += step
        state.losses[r, arm] += step * loss
        if row >= 0:
            state.own_counts[r, row, arm] += step
            state.own_losses[r, row, arm] += step * loss
        if step > LARGEST_SCALE:
            _divide(state.counts[r], step)
            _divide(state.losses[r], step)
            for own in range(len(state.sets)):
                _divide(state.own_counts[r, own], step)
                _divide(state.own_losses[r, own], step)
            state.scale[r] = 1.0


@kernel
def _divide(values: Floats, by: float) -> None:
    """Divide all values, in place: a loop, as `/=` of whole arrays would take three times as long to compile."""
    for n in range(values.size):
        values[n] /= by
