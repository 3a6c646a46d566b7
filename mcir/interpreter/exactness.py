"""Why agreement at the exact level means equality, bit for bit.

With integer scores and 2^x for e^x every weight p is a power of two, and all sums l = sum p and N = sum p*V (V integer)
are integers in units of the smallest p: no rounding at all as long as they need fewer than 53 bits. So the true O of
either side is a fraction N / L with integers N and L <= keys * 2^spread, spread being that of the exponents. Two such
fractions that differ at all differ by at least 1 / (L * L'). Each side rounds O in fp64 by less than
(keys + 4) * 2^-52 * max|V| (the graph divides before the second contraction, so it cannot be exact itself). Where the
rounding is far below the separation, agreement within half the separation is equality of the fractions. Where it is
not, the case proves nothing and does not count. Streamed forms do not round before the one division at the end: they
are compared with each other bit for bit.
"""

from __future__ import annotations

import math

# Bits of headroom between rounding and separation.
_HEADROOM = 3


def separation(keys: int, spread: float, largest_v: float) -> float | None:
    """Half the least difference of two different results; None where fp64 cannot tell them apart.

    keys: extent of the key axis; spread: largest minus smallest exponent; largest_v: max |V|.
    """
    bits = math.log2(max(1, keys)) + spread
    least = 2.0 ** -(2 * bits)
    return least / 2 if least > rounding(keys, largest_v) * 2**_HEADROOM else None


def rounding(keys: int, largest_v: float) -> float:
    """What fp64 may be off by in a row of the graph's O."""
    return (keys + 4) * 2.0**-52 * max(1.0, largest_v)


def score_range(keys: int, largest_v: float = 4.0) -> int:
    """The spread of scores to draw so that `separation` holds; at least 2, at most 12."""
    bits = (-math.log2(rounding(keys, largest_v)) - _HEADROOM - 1) / 2 - math.log2(max(1, keys))
    return max(2, min(12, int(bits)))
