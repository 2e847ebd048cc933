"""Cumulative sums over all elements of a dim, by blocks."""

from __future__ import annotations

LONGEST_WINDOW = 32
"""Dims up to this size are accumulated by windows over all that comes before, longer ones by blocks: n * block operations in each
of log(n) / log(block) rounds."""


def get_block(n: int) -> int:
    """One that divides the dim if there is any near 16, so that nothing is padded."""
    return min((b for b in range(8, LONGEST_WINDOW + 1) if n % b == 0), key=lambda b: abs(b - 16), default=16)
