"""Algorithms over all elements of a dim: sorts by Batcher's bitonic network with all comparators upwards, cumulative sums
by blocks."""

from __future__ import annotations

import math

LONGEST_COUNTED = 128
"""Dims up to this size are sorted by counting what comes before each element, longer ones by the network."""


def get_masks(n: int) -> list[int]:
    """Each round compares elements i and i ^ mask, and the lower one keeps what comes first: log(n)(log(n)+1)/2 rounds.

    Where n is not a power of two, elements past the end would hold what comes last, which never moves: elements that would be
    compared with them keep their values."""
    return [m for k in range(1, math.ceil(math.log2(n)) + 1) for m in [2**k - 1, *(2**j for j in range(k - 2, -1, -1))]]


LONGEST_WINDOW = 32
"""Dims up to this size are accumulated by windows over all that comes before, longer ones by blocks: n * block operations in each
of log(n) / log(block) rounds."""


def get_block(n: int) -> int:
    """One that divides the dim if there is any near 16, so that nothing is padded."""
    return min((b for b in range(8, LONGEST_WINDOW + 1) if n % b == 0), key=lambda b: abs(b - 16), default=16)
