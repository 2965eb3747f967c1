"""Random numbers by their place: the same seed and decision number give the same numbers, in every process."""

from hashlib import blake2b
from struct import unpack

SPACING = 2.0**-53  # between two neighbouring numbers


def uniforms(seed: int, number: int, count: int) -> list[float]:
    """Return `count` uniform numbers of [0, 1) for the decision `number` of a bandit with this `seed`.

    >>> uniforms(7, 1, 2) == uniforms(7, 1, 2), uniforms(7, 1, 1) == uniforms(7, 2, 1)
    (True, False)
    >>> all(0.0 <= u < 1.0 for u in uniforms(7, 3, 4))
    True
    """
    digest = blake2b(number.to_bytes(8, "big"), key=seed.to_bytes(8, "big"), digest_size=8 * count).digest()
    return [(word >> 11) * SPACING for word in unpack(f">{count}Q", digest)]
