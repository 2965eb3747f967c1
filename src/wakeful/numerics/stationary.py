"""The stationary distribution of a Markov chain from the logarithms of its rates, each entry right to 13 digits.

Linear solvers lose their accuracy in subtractions, so there are none here: each sum, product or quotient of
positive numbers has one rounding error. `docs/numerics.md` explains the method, with measurements.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wakeful.numerics.compile import call_compiled, kernel
from wakeful.numerics.exponentials import exp, exponentiate, log

Floats = NDArray[np.float64]

# Plain numbers serve while each rate is at least e^-300 of the largest in its row. Elimination only adds to the
# rates, and by balance no weight is then below e^-300 / n of another: no product of two underflows or overflows.
LOWEST_LOG = -300.0

# Differences of larger log-weights would overflow; e^1e300 and e^1e308 make no difference in the result.
LARGEST = 1e300

# From this many states on, matrix products beat loops; see `benchmarks/stationary.py`.
BLOCKED_FROM = 320
BLOCK = 96

# Wide numbers are m * RADIX^e, with m in [1 / RADIX_ROOT, RADIX_ROOT) and a whole e. RADIX is a power of two, so
# scaling is exact. Its logarithm comes in two parts, the first so short (42 bits) that multiples up to 2047 are exact.
RADIX, RADIX_ROOT = 2.0**512, 2.0**256
LOG_RADIX, LOG_RADIX_REST = 354.89135644666385, 2.814936585578686e-11


def stationary(log_weights: ArrayLike) -> Floats:
    """Return the stationary distribution of the chain that jumps from i to j at rate exp(log_weights[i, j]).

    It is the p with p_j sum_k exp(W[j, k]) = sum_i p_i exp(W[i, j]), over i, k != j, for all j, and sum(p) = 1.
    Every p_i is right to about 1e-13 of itself, however far apart the rates are: see `docs/numerics.md`.

    log_weights: square, finite off the diagonal; the diagonal is ignored, and may hold anything.

    >>> print(stationary([[0, 1], [0, 0]]))
    [0.26894142 0.73105858]
    >>> print(stationary([[0, -2000, 0], [1000, 0, 0], [0, 0, 0]]))  # rates from e^-2000 to e^1000
    [0.66666667 0.         0.33333333]
    """
    weights = _checked_weights(log_weights)
    law = np.empty(len(weights))
    if len(weights) < BLOCKED_FROM:
        call_compiled(_solved, weights, law)
    else:
        _solve_blocks(weights, law)
    return law


def _checked_weights(log_weights: ArrayLike) -> Floats:
    """Return a contiguous copy of the log-weights, zero on the diagonal, or say what is wrong with them."""
    given = np.asarray(log_weights)
    if given.dtype.kind not in "iuf":
        raise TypeError(f"log_weights must be real numbers, got {given.dtype!r}")
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.size == 0:
        raise ValueError(f"log_weights.shape must be (n, n) with n >= 1, got {given.shape!r}")
    weights = np.array(given, dtype=np.float64, order="C")
    np.fill_diagonal(weights, 0.0)
    if not np.isfinite(weights).all():
        i, j = (int(index) for index in np.argwhere(~np.isfinite(weights))[0])
        raise ValueError(f"log_weights[{i}, {j}] must be finite, got {float(weights[i, j])!r}")
    return np.clip(weights, -LARGEST, LARGEST, out=weights)


def _solved(log_weights: Floats, law: Floats) -> None:
    """Call `solve`; this is the compiled entry point that is kept on disk."""
    solve(log_weights, law)


@kernel
def solve(log_weights: Floats, law: Floats) -> None:
    """Write the stationary distribution of the chain with rates exp(log_weights), within LARGEST, into `law`.

    The diagonal is ignored, and the log-weights are lost: they become the rates that are eliminated.
    """
    n = law.size
    if n == 1:
        law[0] = 1.0
    elif n == 2:
        _two(log_weights, law)
    elif n == 3:
        _three(log_weights, law)
    elif _shift(log_weights, law):
        exponentiate(log_weights.reshape(n * n))
        _eliminate(log_weights, n)
        _unshift(log_weights, law)
    else:
        _solve_wide(log_weights, law)


def _solve_blocks(log_weights: Floats, law: Floats) -> None:
    """Do what `solve` does, for many states, by matrix products; overwrite the diagonal."""
    np.fill_diagonal(log_weights, -np.inf)
    law[:] = log_weights.max(axis=1)
    np.fill_diagonal(log_weights, law)
    rates = log_weights - law[:, None]
    if rates.min() < LOWEST_LOG:
        _solve_wide(log_weights, law)
    else:
        _eliminate_blocks(np.exp(rates, out=rates))
        _unshift(rates, law)


@kernel
def _two(log_weights: Floats, law: Floats) -> None:
    """Write the sigmoid of the difference of the two log-weights into `law`."""
    gap = log_weights[0, 1] - log_weights[1, 0]
    odds = exp(-abs(gap))
    rare = 0 if gap > 0.0 else 1
    law[rare] = odds / (1.0 + odds)
    law[1 - rare] = 1.0 / (1.0 + odds)


@kernel
def _three(log_weights: Floats, law: Floats) -> None:
    """Write the tree formula into `law`: p_i ~ sum over the three trees into i of the product of rates."""
    trees = np.empty((9, 2))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        trees[3 * i, 0], trees[3 * i, 1] = _exact_sum(log_weights[j, i], log_weights[k, i])
        trees[3 * i + 1, 0], trees[3 * i + 1, 1] = _exact_sum(log_weights[j, i], log_weights[k, j])
        trees[3 * i + 2, 0], trees[3 * i + 2, 1] = _exact_sum(log_weights[k, i], log_weights[j, k])
    top = 0
    for tree in range(1, 9):
        gap = trees[tree, 0] - trees[top, 0]
        if gap > 0.0 or (gap == 0.0 and trees[tree, 1] > trees[top, 1]):
            top = tree
    for i in range(3):
        law[i] = 0.0
        for tree in range(3 * i, 3 * i + 3):
            law[i] += exp((trees[tree, 0] - trees[top, 0]) + (trees[tree, 1] - trees[top, 1]))
    _normalise(law)


@kernel
def _exact_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b, rounded, and what the rounding lost."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel
def _normalise(law: Floats) -> None:
    """Divide `law` by its sum, in place."""
    total = 0.0
    for i in range(law.size):
        total += law[i]
    for i in range(law.size):
        law[i] /= total


@kernel
def _shift(log_weights: Floats, shifts: Floats) -> bool:
    """Take each row's maximum off the row, into `shifts`; False, and nothing taken, if a row reaches too far down.

    The diagonal, which is never read, then holds one of the other numbers.
    """
    n = shifts.size
    for i in range(n):
        high, low = -np.inf, np.inf
        log_weights[i, i] = log_weights[i, (i + 1) % n]
        for j in range(n):
            high = max(high, log_weights[i, j])
            low = min(low, log_weights[i, j])
        if low - high < LOWEST_LOG:
            return False
        shifts[i] = high
    for i in range(n):
        for j in range(n):
            log_weights[i, j] -= shifts[i]
    return True


@kernel
def _fold(rates: Floats, n: int) -> None:
    """Eliminate states n-1, ..., 1 in place: shares above the diagonal, rates to the states left below it."""
    for k in range(n - 1, 0, -1):
        leaving = 0.0  # a sum over the states left, never 1 minus something: Grassmann, Taksar and Heyman
        for j in range(k):
            leaving += rates[k, j]
        inverse = 1.0 / leaving
        for i in range(k):
            share = rates[i, k] * inverse
            rates[i, k] = share
            for j in range(k):
                rates[i, j] += share * rates[k, j]


@kernel
def _eliminate(rates: Floats, n: int) -> None:
    """Write the weights of the chain `rates[:n, :n]` into `rates[0, :n]`, destroying the rest."""
    _fold(rates, n)
    rates[0, 0] = 1.0
    for i in range(1, n):
        for k in range(i + 1, n):
            rates[0, k] += rates[0, i] * rates[i, k]


@kernel
def _unshift(rates: Floats, law: Floats) -> None:
    """Replace the row shifts a in `law` by the probabilities p_i, proportional to rates[0, i] exp(-a_i)."""
    low, high = law[0], law[0]
    for i in range(1, law.size):
        low, high = min(low, law[i]), max(high, law[i])
    if low - high < LOWEST_LOG:
        _unshift_logs(rates, law)
        return
    for i in range(law.size):
        law[i] = low - law[i]
    exponentiate(law)
    for i in range(law.size):
        law[i] *= rates[0, i]
    _normalise(law)


@kernel
def _unshift_logs(rates: Floats, law: Floats) -> None:
    """Do the same for shifts so far apart that only logarithms of the weights are sure to be numbers."""
    top = 0
    for i in range(law.size):
        rates[0, i] = log(rates[0, i])
        if rates[0, i] - law[i] > rates[0, top] - law[top]:
            top = i
    # Differences to the top one first: where they are small they are exact, however large the shifts.
    log_weight, shift = rates[0, top], law[top]
    for i in range(law.size):
        law[i] = exp((rates[0, i] - log_weight) - (law[i] - shift))
    _normalise(law)


def _eliminate_blocks(rates: Floats) -> None:
    """Do what `_eliminate` does, a block of states at a time."""
    n = len(rates)
    _fold_blocks(rates, 0, n)
    for low in range(BLOCK, n, BLOCK):
        rates[0, low : low + BLOCK] = rates[0, :low] @ rates[:low, low : low + BLOCK]


def _fold_blocks(rates: Floats, low: int, high: int) -> None:
    """Eliminate the states low..high-1: shares above the blocks of the diagonal, rates to the left of them."""
    here = slice(low, high)
    if low == 0 and high <= BLOCK:
        _eliminate(rates, high)
    elif high - low <= BLOCK:
        rates[:low, here] = rates[:low, here] @ _visits(rates[here, here], rates[here, :low].sum(axis=1))
    else:
        middle = low + (high - low + BLOCK) // (2 * BLOCK) * BLOCK
        late = slice(middle, high)
        _fold_blocks(rates, middle, high)
        rates[low:middle, :middle] += rates[low:middle, late] @ rates[late, :middle]
        rates[:low, low:middle] += rates[:low, late] @ rates[late, low:middle]
        _fold_blocks(rates, low, middle)


def _visits(inner: Floats, exits: Floats) -> Floats:
    """Return the mean time spent in j from i before leaving, given the rates inside a block and out of it."""
    n = len(exits) + 1
    folded = np.zeros((n, n))  # state 0 stands for all that lies outside
    folded[1:, 1:] = inner
    folded[1:, 0] = exits
    _fold(folded, n)
    visits = np.eye(n)
    _unfold(folded, visits)
    return visits[1:, 1:]


@kernel
def _unfold(folded: Floats, visits: Floats) -> None:
    """Turn `visits`, an identity, into the mean times in each state of a folded chain before state 0."""
    n = len(folded)
    for i in range(n - 2, 0, -1):
        for k in range(i + 1, n):
            for j in range(k, n):
                visits[i, j] += folded[i, k] * visits[k, j]
    for k in range(1, n):
        leaving = folded[k, 0]
        for i in range(1, k):
            leaving += folded[k, i]
            for j in range(1, n):
                visits[k, j] += folded[k, i] * visits[i, j]
        for j in range(1, n):
            visits[k, j] /= leaving


@kernel
def _solve_wide(log_weights: Floats, law: Floats) -> None:
    """Do what `solve` does where plain numbers fall short, in wide ones: the log-domain fallback."""
    n = law.size
    m, e = np.empty((n, n)), np.empty((n, n))
    for i in range(n):
        for j in range(n):
            m[i, j], e[i, j] = _wide_exp(log_weights[i, j]) if j != i else (1.0, 0.0)
    for k in range(n - 1, 0, -1):
        leaving, scale = m[k, 0], e[k, 0]
        for j in range(1, k):
            leaving, scale = _wide_add(leaving, scale, m[k, j], e[k, j])
        for i in range(k):
            m[i, k], e[i, k] = _wide(m[i, k] / leaving, e[i, k] - scale)
            for j in range(k):
                m[i, j], e[i, j] = _wide_add(m[i, j], e[i, j], m[i, k] * m[k, j], e[i, k] + e[k, j])
    m[0, 0], e[0, 0] = 1.0, 0.0
    for i in range(1, n):
        for k in range(i + 1, n):
            m[0, k], e[0, k] = _wide_add(m[0, k], e[0, k], m[0, i] * m[i, k], e[0, i] + e[i, k])
    _narrow(m[0], e[0], law)


@kernel
def _wide_exp(x: float) -> tuple[float, float]:
    """Return exp(x) as a wide number, to the last digit while |x| < 90,000."""
    e = np.rint(x / LOG_RADIX)
    # Beyond |x| = 1e15 a double no longer knows its remainder; any within the bounds will do.
    remainder = min(max(x - e * LOG_RADIX, -LOG_RADIX), LOG_RADIX)
    rest = min(max(e * LOG_RADIX_REST, -0.5), 0.5)
    return _wide(exp(remainder) * (1.0 - rest), e)


@kernel
def _wide(m: float, e: float) -> tuple[float, float]:
    """Return the wide number m * RADIX^e, given m in [1 / RADIX, 2 * RADIX]."""
    if m >= RADIX_ROOT:
        return m / RADIX, e + 1.0
    if m < 1.0 / RADIX_ROOT:
        return m * RADIX, e - 1.0
    return m, e


@kernel
def _wide_add(m: float, e: float, other_m: float, other_e: float) -> tuple[float, float]:
    """Return the sum of a wide number and of a product of two; what is two scales down is below rounding."""
    if other_e == e:
        return _wide(m + other_m, e)
    if other_e < e:
        return _wide(m + other_m / RADIX, e) if other_e == e - 1.0 else (m, e)
    return _wide(other_m + m / RADIX, other_e) if other_e == e + 1.0 else _wide(other_m, other_e)


@kernel
def _narrow(m: Floats, e: Floats, law: Floats) -> None:
    """Write the wide numbers, divided by their sum, into `law`."""
    top = 0
    for i in range(1, law.size):
        if e[i] > e[top]:
            top = i
    for i in range(law.size):
        law[i] = m[i] / m[top]
        for _ in range(int(min(e[top] - e[i], 3.0))):
            law[i] /= RADIX
    _normalise(law)
