"""The Fourier transform as products of matrices, which shard, fuse and run in libraries as all products do."""

from __future__ import annotations

import math
from typing import Any, Sequence

LEAF = 64
"""Transforms of this size, or of a size that has no divisors, are one product."""


class Transform:
    """Transforms dims of tensors, of complex numbers unless a step specifies otherwise, forward, or backward without the division by their
    size. Front ends supply the steps."""

    def shape(self, x: Any) -> list[int]:
        raise NotImplementedError

    def roots(self, rows: int, columns: int, n: int) -> Any:
        """exp(-2 pi i j k / n), or its conjugate backward, at row j and column k."""
        raise NotImplementedError

    def product(self, x: Any, matrix: Any) -> Any:
        """The last dim of `x`, maybe of real numbers, with the rows of `matrix`, of which the columns become the last dim."""
        raise NotImplementedError

    def multiply(self, x: Any, matrix: Any) -> Any:
        """The last two dims element by element."""
        raise NotImplementedError

    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        raise NotImplementedError

    def transpose(self, x: Any, order: Sequence[int]) -> Any:
        raise NotImplementedError

    def slice(self, x: Any, low: int, high: int) -> Any:
        """Of the last dim."""
        raise NotImplementedError

    def reverse_conjugate(self, x: Any) -> Any:
        """The conjugates along the last dim, the last one first."""
        raise NotImplementedError

    def concatenate(self, x: Any, y: Any) -> Any:
        """Along the last dim."""
        raise NotImplementedError

    def dim(self, x: Any, dim: int, kept: int | None = None) -> Any:
        """One dim, maybe of real numbers, of which the first `kept` elements are kept."""
        return self._at_end(x, dim, lambda y: self._last(y, kept))

    def half(self, x: Any, dim: int) -> Any:
        """The first half of a dim of real numbers and its middle element, which determine the transform."""
        return self.dim(x, dim, self.shape(x)[dim] // 2 + 1)

    def complete(self, x: Any, dim: int, n: int) -> Any:
        """All n elements of a dim whose element k is the conjugate of element n - k, from its first half and its middle element."""

        def mirror(y: Any) -> Any:
            y = self.slice(y, 0, n // 2 + 1)
            return y if n < 3 else self.concatenate(y, self.reverse_conjugate(self.slice(y, 1, (n + 1) // 2)))

        return self._at_end(x, dim, mirror)

    def _at_end(self, x: Any, dim: int, step: Any) -> Any:
        rank = len(self.shape(x))
        if dim == rank - 1:
            return step(x)
        order = [d if d != dim else rank - 1 for d in range(rank - 1)] + [dim]
        return self.transpose(step(self.transpose(x, order)), order)

    def _last(self, x: Any, kept: int | None = None) -> Any:
        """Cooley and Tukey: index j of n = a b is j1 b + j2, that of the result k1 + a k2."""
        *outer, n = self.shape(x)
        kept = n if kept is None else kept
        a = max((d for d in range(2, LEAF + 1) if n % d == 0 and d < n), default=1)
        if n <= LEAF or a == 1:
            return self.product(x, self.roots(n, kept, n))
        x = self._swap(self.reshape(x, [*outer, a, n // a]))
        x = self.product(x, self.roots(a, a, a))  # j2, k1
        x = self.multiply(x, self.roots(n // a, a, n))
        return self.slice(self.reshape(self._swap(self._last(self._swap(x))), [*outer, n]), 0, kept)

    def _swap(self, x: Any) -> Any:
        rank = len(self.shape(x))
        return self.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def angle(is_forward: bool, n: int) -> float:
    return (-1 if is_forward else 1) * 2 * math.pi / n
