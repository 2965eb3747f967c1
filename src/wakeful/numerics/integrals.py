"""Two integrals: the probability that a Beta variable is the smallest, and the expected share of an arm."""

import math

import numpy as np
from numpy.polynomial.legendre import legder, leggauss, legval, legvander
from numpy.typing import NDArray

from wakeful.numerics.compile import kernel
from wakeful.numerics.exponentials import LOWEST, exact_log, exp, exponentiate, log, log1p

Floats = NDArray[np.float64]


def gauss_panel(order: int) -> tuple[Floats, Floats]:
    """Return the Gauss-Legendre nodes on [0, 1] and the weights of the integrals up to each node, and up to 1.

    With A the weights, integral_0^{x_k} g = sum_l g(x_l) A[l, k] for every polynomial g of degree < order: the
    cardinal polynomials are w_l sum_n (n + 1/2) P_n(t_l) P_n, and P_n integrates to (P_{n+1} - P_{n-1}) / (2n + 1).

    >>> nodes, weights = gauss_panel(3)
    >>> print((3.0 * nodes**2 @ weights - np.append(nodes, 1.0) ** 3).round(12) + 0.0)
    [0. 0. 0. 0.]
    """
    t, w = _gauss(order)
    legendre = legvander(np.append(t, 1.0), order)
    integral = np.empty((order + 1, order))
    integral[:, 0] = legendre[:, 1] + 1.0
    integral[:, 1:] = (legendre[:, 2:] - legendre[:, :-2]) / (2.0 * np.arange(1, order) + 1.0)
    cardinal = (np.arange(order) + 0.5) * legendre[:-1, :-1] * w[:, None]
    products = [[math.fsum(row * column) / 2.0 for column in integral] for row in cardinal]
    return (t + 1.0) / 2.0, np.array(products)


def _gauss(order: int) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights on [-1, 1], the same bits with every linear algebra library.

    NumPy's are eigenvalues, with errors about 1e-16 that depend on the CPU. Rounded, they start Newton's method.
    """
    legendre = np.eye(order + 1)[order]
    slope = legder(legendre)
    nodes = np.round(leggauss(order)[0], 9)
    for _ in range(2):
        nodes = nodes - legval(nodes, legendre) / legval(nodes, slope)
    return nodes, 2.0 / ((1.0 - nodes * nodes) * legval(nodes, slope) ** 2)


ORDER = 12
NODES, WEIGHTS = gauss_panel(ORDER)
PANEL = 2.5  # widest panel, in standard deviations of the sharpest Beta that has mass on it
TAIL = 30.0  # a Beta is cut where the mass beyond is below exp(-TAIL)
PRECISION = 1e-11  # what a panel may get wrong, and what may be left beyond the last one
FINEST = 1e-4  # of a panel: the smallest of very many arms may be that much sharper than each of them
RESOLUTION = 1e-15  # no panel is narrower: doubles near one are 1e-16 apart
TINY = 1e-300  # stands in for zero where something is divided by it

STIRLING_FROM = 16.0  # below, a factorial comes from that of a larger number

RATIO = 0.75  # of neighbours on the geometric grid: step h = log(4/3), aliasing exp(-pi^2 / h) = 1e-15
LOG_STEP = -exact_log(RATIO)
LAST = 37.0  # the grid starts here: the integral beyond is below exp(-37) of the whole
LINEAR_PART = 1e-5  # left of LINEAR_PART / sum_j w_j / w_i the integrand is u (1 - slope u), to 1e-15 of the whole
LARGEST_LOG = 700.0  # exp(700) times the number of arms is still finite; a share below exp(-700) is zero


@kernel
def _stirling(count: float) -> float:
    """Return the same by Stirling's series, for counts from STIRLING_FROM on."""
    square = 1.0 / (count * count)
    series = 1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))
    return 0.5 * log(2.0 * math.pi * count) + series / count


@kernel
def log_factorial_excess(count: float) -> float:
    """Return log(count!) - count log(count) + count, to 1e-14 at every size: no large terms cancel."""
    if count <= 0.0:
        return 0.0
    if count < STIRLING_FROM:
        product, above = 1.0, count  # log(count!) is that of a larger number, less what the product adds
        while above < STIRLING_FROM:
            above += 1.0
            product *= above
        return _stirling(above) + (above * log(above) - count * log(count) - log(product)) - (above - count)
    return _stirling(count)


@kernel
def beta_outline(ones: float, zeros: float) -> tuple[float, float, float]:
    """Return (low, high, sd): Beta(1 + ones, 1 + zeros) has less than exp(-TAIL) below low, and above high.

    Bernstein's bound for a Beta of variance v: P(X > mean + e) <= exp(-e^2 / (2 v + 2 c e / 3)) with
    c = 2 (zeros - ones) / (n (n + 2)), n = 2 + ones + zeros, and c = 0 on the side with the lighter tail.
    """
    size = ones + zeros + 2.0
    mean = (1.0 + ones) / size
    variance = mean * ((1.0 + zeros) / size) / (size + 1.0)
    skew = TAIL * abs(zeros - ones) / size * (2.0 / 3.0) / (size + 2.0)
    light = math.sqrt(2.0 * TAIL * variance)
    heavy = skew + math.sqrt(skew * skew + 2.0 * TAIL * variance)
    if zeros > ones:
        return max(mean - light, 0.0), min(mean + heavy, 1.0), math.sqrt(variance)
    return max(mean - heavy, 0.0), min(mean + light, 1.0), math.sqrt(variance)


@kernel
def log_beta_peak(ones: float, zeros: float) -> float:
    """Return the log density of Beta(1 + ones, 1 + zeros) at its mode."""
    total = ones + zeros
    value = log(total + 1.0) + log_factorial_excess(total)
    return value - (log_factorial_excess(ones) + log_factorial_excess(zeros))


@kernel
def log_beta_density(ones: float, zeros: float, peak: float, x: float) -> float:
    """Return the log density of Beta(1 + ones, 1 + zeros) at x in (0, 1), from its value at the mode, `peak`."""
    total = ones + zeros
    value = peak
    mode = ones / total if total > 0.0 else 0.5
    if mode > TINY:
        value += ones * log1p((x - mode) / mode)
    if mode < 1.0:
        value += zeros * log1p((mode - x) / (1.0 - mode))
    return value


@kernel
def panel_limit(ones: float, zeros: float, low: float, sd: float, left: float) -> float:
    """Return how far a panel that starts at left may reach with this density resolved on it."""
    width = PANEL * sd
    # x^ones is no polynomial when ones is a fraction: panels then grow geometrically away from its end.
    if ones != math.floor(ones):
        width = min(width, max(3.0 * left, 1e-9 * sd))
    if zeros != math.floor(zeros):
        width = min(width, max(0.75 * (1.0 - left), 1e-9 * sd))
    return max(left + width, low)


@kernel
def beta_panel(
    ones: Floats, zeros: Floats, peak: Floats, low: Floats, left: float, right: float, density: Floats
) -> None:
    """Write (right - left) f_j at the panel's nodes into density, where a Beta has begun: `low` is left of right."""
    width = right - left
    middle = left + 0.5 * width
    log_x = np.empty(ORDER)
    log_y = np.empty(ORDER)
    for k in range(ORDER):
        # left - middle is exact in doubles: panels meet without a gap even at sd 1e-9 beside x = 1.
        shift = (left - middle) + width * NODES[k]
        log_x[k] = log1p(shift / middle)
        log_y[k] = log1p(-shift / (1.0 - middle))
    for j in range(ones.size):
        if low[j] < right:
            base = log_beta_density(ones[j], zeros[j], peak[j], middle)
            fill_density(base, ones[j], zeros[j], log_x, log_y, density[j])
            for k in range(ORDER):
                density[j, k] *= width


@kernel
def fill_density(base: float, ones: float, zeros: float, log_x: Floats, log_y: Floats, density: Floats) -> None:
    """Write exp(base + ones log_x + zeros log_y) into density; at once where no number is too large or too small."""
    largest = 0.0
    for k in range(ORDER):
        density[k] = base + ones * log_x[k] + zeros * log_y[k]
        largest = max(largest, abs(density[k]))
    if largest < -LOWEST:
        exponentiate(density)
    else:
        for k in range(ORDER):
            density[k] = exp(density[k])


@kernel
def survival_panel(before: Floats, low: Floats, right: float, density: Floats, above: Floats, nobody: Floats) -> None:
    """Write 1 - F_j at the nodes and at the panel's end into above, their product over j into nobody."""
    nobody[:] = 1.0
    for j in range(before.size):
        above[j] = before[j]
        if low[j] < right:
            for i in range(ORDER):
                for k in range(ORDER + 1):
                    above[j, k] -= density[j, i] * WEIGHTS[i, k]
        for k in range(ORDER + 1):
            above[j, k] = max(above[j, k], TINY)
            nobody[k] *= above[j, k]


@kernel
def beta_minimum(ones: Floats, zeros: Floats, law: Floats) -> None:
    """Write into `law` the probability that X_i ~ Beta(1 + ones[i], 1 + zeros[i]) is the smallest; counts to 1e12.

    P_i = integral f_i prod_{j != i} (1 - F_j), panel by panel from the left until some X_j is surely smaller.
    A panel is halved while it breaks the identity d prod_j (1 - F_j) = -sum_i f_i prod_{j != i} (1 - F_j).
    """
    arms = law.size
    low, high, sd, peak = np.empty(arms), np.empty(arms), np.empty(arms), np.empty(arms)
    for j in range(arms):
        low[j], high[j], sd[j] = beta_outline(ones[j], zeros[j])
        peak[j] = log_beta_peak(ones[j], zeros[j])
    density = np.empty((arms, ORDER))
    above, nobody = np.empty((arms, ORDER + 1)), np.empty(ORDER + 1)
    before, gain = np.ones(arms), np.empty(arms)
    alive, reach, left, end = 1.0, 1.0, low.min(), high.min()
    law[:] = 0.0
    while alive > PRECISION and left + RESOLUTION < end:
        limit = end
        for j in range(arms):
            limit = min(limit, panel_limit(ones[j], zeros[j], low[j], sd[j], left))
        right = max(min(left + reach, limit), left + RESOLUTION)
        beta_panel(ones, zeros, peak, low, left, right, density)
        survival_panel(before, low, right, density, above, nobody)
        for j in range(arms):
            gain[j] = 0.0
            if low[j] < right:
                for k in range(ORDER):
                    gain[j] += density[j, k] * WEIGHTS[k, ORDER] * (nobody[k] / above[j, k])
        error = abs(alive - nobody[ORDER] - gain.sum())
        if error > PRECISION and right - left > max(FINEST * (limit - left), 2.0 * RESOLUTION):
            reach = 0.5 * (right - left)
            continue
        for j in range(arms):
            law[j] += gain[j]
            before[j] = above[j, ORDER]
        alive, left, reach = nobody[ORDER], right, 2.0 * reach
    law /= law.sum()


@kernel
def expected_share(log_weights: Floats, rates: Floats, arm: int) -> float:
    """Return E[1{arm awake} w_arm / sum of the awake w_j], w = exp(log_weights), j awake with chance rates[j].

    a_i integral_0^inf exp(-u) prod_{j != i} (1 - a_j + a_j exp(-u w_j / w_i)) du by the trapezoidal rule in
    log u; arms that are always awake only stretch u, so that w_i is replaced by w_i plus their weights.
    """
    lead = log_weights[arm]
    for j in range(rates.size):
        if rates[j] >= 1.0:
            lead = max(lead, log_weights[j])
    own = exp(log_weights[arm] - lead)
    sure = own
    for j in range(rates.size):
        if j != arm and rates[j] >= 1.0:
            sure += exp(log_weights[j] - lead)
    ratio, chance = np.empty(rates.size), np.empty(rates.size)
    others, slope, steepest = 0, 1.0, 1.0
    for j in range(rates.size):
        # Beside a weight e^50 times its own, an arm is as good as asleep.
        if j != arm and 0.0 < rates[j] < 1.0 and log_weights[j] - lead > -50.0:
            ratio[others] = exp(min(log_weights[j] - lead, LARGEST_LOG)) / sure
            chance[others] = rates[j]
            slope += chance[others] * ratio[others]
            steepest += ratio[others]
            others += 1
    u, total = LAST, 0.0
    while u * steepest > LINEAR_PART and u > 1e-17 * total:
        value = u * exp(-u)
        for k in range(others):
            # exp(-90) is nothing beside 1 - chance >= 1e-16, and far underflow would be slow.
            decay = exp(-u * ratio[k]) if u * ratio[k] < 90.0 else 0.0
            value *= (1.0 - chance[k]) + chance[k] * decay
        total += value
        u *= RATIO
    if u * steepest <= LINEAR_PART:
        total += u / (1.0 - RATIO) - slope * u * u / (1.0 - RATIO * RATIO)
    return float(rates[arm]) * min(own / sure * LOG_STEP * total, 1.0)
