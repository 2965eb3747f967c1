"""exp and log from sums and products: the same bits on every CPU, and vectorised by the compiler.

The C library's exp and log round differently on CPUs with and without fused multiply-add, and a loop over them cannot
be vectorised. Here are only sums, products and quotients, each rounded once, in a fixed order that Numba keeps. All are
right to 1 unit in the last place, the C library's to about 1/2: `tests/numerics/test_exponentials.py`.

exp: x = k log 2 + r with whole k and |r| <= log(2) / 2, exp(r) by a polynomial, 2^k by writing the exponent bits.
log: x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), log(1 + f) = 2 artanh(f / (2 + f)) by a polynomial, as in
the C library of Sun Microsystems (FDLIBM).
"""

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from wakeful.numerics.compile import kernel

LOWEST = -700.0  # below, 2^k is no normal number

LOG2_E = 1.4426950408889634
LOG_2, LOG_2_REST = 0.693147180369123816490, 1.90821492927058770002e-10  # the first so short that k times it is exact
TO_WHOLE = 1.5 * 2.0**52  # added and taken away again, it rounds to a whole number
ONE, MANTISSA = 1023 << 52, (1 << 52) - 1  # the bits of 1.0, and of what follows the exponent
HALF_ROOT = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)


def exact_log(x: float) -> float:
    """Return log(x) rounded once, by decimal arithmetic: for constants and parameters, outside kernels.

    >>> exact_log(2)
    0.6931471805599453
    """
    return float(Decimal(x).ln())


@kernel
def _exp_part(r: float) -> float:
    """Return exp(r) for |r| <= log(2) / 2, by interpolation at Chebyshev points; the error is 3e-19."""
    tail = 2.0914686968086876e-09 * r + 2.5105217004720745e-08
    tail = tail * r + 2.75572736431103e-07
    tail = tail * r + 2.7557255400206422e-06
    tail = tail * r + 2.4801587325547743e-05
    tail = tail * r + 0.00019841269874820627
    tail = tail * r + 0.0013888888888883748
    tail = tail * r + 0.008333333333326136
    tail = tail * r + 0.04166666666666667
    tail = tail * r + 0.1666666666666667
    tail = tail * r + 0.5
    return 1.0 + (r + r * r * tail)


@kernel
def exponentiate(x: NDArray[np.float64]) -> None:
    """Turn every number of a contiguous `x`, each between `LOWEST` and `-LOWEST`, into its exponential."""
    for n in range(x.size):
        k = (x[n] * LOG2_E + TO_WHOLE) - TO_WHOLE
        r = (x[n] - k * LOG_2) - k * LOG_2_REST
        bits = (np.int64(k) + 1023) << 52
        x[n] = _exp_part(r) * np.int64(bits).view(np.float64)


@kernel
def exp(x: float) -> float:
    """Return the exponential of any number: infinite from 709.8 on, zero from -745.2 down."""
    if not -746.0 < x < 710.0:
        return np.inf if x > 0.0 else 0.0 if x < 0.0 else x
    k = (x * LOG2_E + TO_WHOLE) - TO_WHOLE
    part = _exp_part((x - k * LOG_2) - k * LOG_2_REST)
    half = np.int64(k) >> 1  # in two steps: 2^k alone may be too large, or too small to be exact
    first, second = (half + 1023) << 52, (np.int64(k) - half + 1023) << 52
    return float(part * np.int64(first).view(np.float64) * np.int64(second).view(np.float64))


@kernel
def _log_parts(k: float, f: float, lost: float) -> float:
    """Return k log 2 + log(1 + f) + lost, for 1 + f between sqrt(1/2) and sqrt(2)."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332))
    odd = 0.2857142874366239149 + w * (0.1818357216161805012 + w * 0.1479819860511658591)
    series = z * (0.6666666666666735130 + w * odd) + even
    half = 0.5 * f * f
    return k * LOG_2 - ((half - (s * (half + series) + (k * LOG_2_REST + lost))) - f)


@kernel
def log(x: float) -> float:
    """Return the natural logarithm: minus infinity of 0, NaN of what is below."""
    if not 0.0 < x < np.inf:
        return -np.inf if x == 0.0 else x if x > 0.0 else np.nan
    shift = 0.0
    if x < 2.0**-1022:
        x, shift = x * 2.0**54, -54.0
    bits = np.int64(np.float64(x).view(np.int64)) + (ONE - HALF_ROOT)
    fraction = (bits & MANTISSA) + HALF_ROOT
    k = np.float64((bits >> 52) - 1023)
    return float(_log_parts(k + shift, np.int64(fraction).view(np.float64) - 1.0, 0.0))


@kernel
def take_logs(x: NDArray[np.float64]) -> None:
    """Turn every number of a contiguous `x`, each normal and positive, into its logarithm, with the bits of `log`."""
    for n in range(x.size):
        bits = np.int64(np.float64(x[n]).view(np.int64)) + (ONE - HALF_ROOT)
        fraction = (bits & MANTISSA) + HALF_ROOT
        k = np.float64((bits >> 52) - 1023)
        x[n] = _log_parts(k, np.int64(fraction).view(np.float64) - 1.0, 0.0)


@kernel
def log1p(x: float) -> float:
    """Return log(1 + x), right for the smallest x too."""
    if -0.29 < x < 0.41:
        return float(_log_parts(0.0, x, 0.0))
    if not -1.0 < x < 2.0**53:
        return log(x + 1.0)
    total = 1.0 + x
    lost = (1.0 - (total - x) if x > 1.0 else x - (total - 1.0)) / total
    bits = np.int64(np.float64(total).view(np.int64)) + (ONE - HALF_ROOT)
    fraction = (bits & MANTISSA) + HALF_ROOT
    return float(_log_parts(np.float64((bits >> 52) - 1023), np.int64(fraction).view(np.float64) - 1.0, lost))


@kernel
def power(x: float, exponent: float) -> float:
    """Return x^exponent for positive x and small exponents, right to some units in the last place."""
    return exp(exponent * log(x))
