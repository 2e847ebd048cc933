"""The Fourier transform as products of matrices, which shard, fuse and run in libraries as all products do."""

from __future__ import annotations

import math

from jaxlib.mlir import ir

from .builder import Builder, element, i32, i64s, replace, shape_of

LEAF = 64
"""Transforms of this size, or of a size that has no divisors, are one product."""


class _Transform:
    """Transforms the last dim of complex tensors: forward, or backward without the division by its size."""

    def __init__(self, op: ir.Operation, part: ir.Type, is_forward: bool):
        self.b, self.part, self.sign = Builder(op), part, -1 if is_forward else 1

    def roots(self, rows: int, columns: int, n: int) -> ir.Value:
        """exp(2 pi i j k / n) (backward) of row j and column k: j k is taken modulo n first, so that the angle is exact."""
        b, shape = self.b, [rows, columns]
        counts = ir.RankedTensorType.get(shape, i32())
        product = b.value("stablehlo.multiply", [b.iota(shape, 0, i32()), b.iota(shape, 1, i32())], counts)
        product = b.value("stablehlo.remainder", [product, b.splat(str(n), counts)], counts)
        type = ir.RankedTensorType.get(shape, self.part)
        angle = b.value("stablehlo.convert", [product], type)
        angle = b.value("stablehlo.multiply", [angle, b.splat(repr(self.sign * 2 * math.pi / n), type)], type)
        return b.complex(b.value("stablehlo.cosine", [angle], type), b.value("stablehlo.sine", [angle], type))

    def product(self, x: ir.Value, matrix: ir.Value) -> ir.Value:
        """The last dim of `x` with the rows of `matrix`; its columns are the last dim."""
        *outer, _ = shape_of(x)
        numbers = f"#stablehlo.dot<lhs_contracting_dimensions = [{len(outer)}], rhs_contracting_dimensions = [0]>"
        type = ir.RankedTensorType.get([*outer, shape_of(matrix)[1]], element(x))
        return self.b.value("stablehlo.dot_general", [x, matrix], type, {"dot_dimension_numbers": numbers})

    def swap(self, x: ir.Value) -> ir.Value:
        """The last two dims one for the other."""
        *outer, rows, columns = shape_of(x)
        order = [*range(len(outer)), len(outer) + 1, len(outer)]
        type = ir.RankedTensorType.get([*outer, columns, rows], element(x))
        return self.b.value("stablehlo.transpose", [x], type, {"permutation": i64s(order)})

    def last(self, x: ir.Value) -> ir.Value:
        """By Cooley and Tukey: place j of n = a b is j1 b + j2, that of the result k1 + a k2."""
        b, (*outer, n) = self.b, shape_of(x)
        a = max((d for d in range(2, LEAF + 1) if n % d == 0 and d < n), default=1)
        if n <= LEAF or a == 1:
            return self.product(x, self.roots(n, n, n))
        rows = self.product(self.swap(b.reshape(x, [*outer, a, n // a])), self.roots(a, a, a))  # j2, k1
        turn = b.broadcast(self.roots(n // a, a, n), shape_of(rows), [len(outer), len(outer) + 1])
        rows = b.value("stablehlo.multiply", [rows, turn], rows.type)
        return b.reshape(self.swap(self.last(self.swap(rows))), [*outer, n])

    def dim(self, x: ir.Value, dim: int) -> ir.Value:
        rank = len(shape_of(x))
        if dim == rank - 1:
            return self.last(x)
        order = [*range(dim), *range(dim + 1, rank), dim]
        back = [*range(dim), rank - 1, *range(dim, rank - 1)]
        return self.transpose(self.last(self.transpose(x, order)), back)

    def transpose(self, x: ir.Value, order: list[int]) -> ir.Value:
        type = ir.RankedTensorType.get([shape_of(x)[d] for d in order], element(x))
        return self.b.value("stablehlo.transpose", [x], type, {"permutation": i64s(order)})


def _scale(b: Builder, x: ir.Value, factor: float) -> ir.Value:
    scaled = [b.value("stablehlo.multiply", [part, b.splat(repr(factor), part.type)], part.type) for part in b.parts(x)]
    return b.join(scaled, [x])[0]


def _mirror(b: Builder, x: ir.Value, n: int) -> ir.Value:
    """All n places of what has place k as the conjugate of place n - k."""
    *outer, kept = shape_of(x)
    low, high = [0] * len(outer), list(outer)
    x = b.slice(x, [*low, 0], [*high, n // 2 + 1]) if kept != n // 2 + 1 else x
    if n < 3:
        return x
    real, imaginary = b.parts(b.slice(x, [*low, 1], [*high, (n + 1) // 2]))
    rest = b.complex(real, b.value("stablehlo.negate", [imaginary], imaginary.type))
    rest = b.value("stablehlo.reverse", [rest], rest.type, {"dimensions": i64s([len(outer)])})
    type = ir.RankedTensorType.get([*outer, n], element(x))
    return b.value("stablehlo.concatenate", [x, rest], type, {"dimension": f"{len(outer)} : i64"})


def rewrite_fft(op: ir.Operation) -> None:
    """All four kinds, over the last dims."""
    x, result = op.operands[0], ir.RankedTensorType(op.results[0].type)
    kind = str(op.attributes["fft_type"]).split()[-1].rstrip(">")
    lengths = list(ir.DenseI64ArrayAttr(op.attributes["fft_length"]))
    first = len(shape_of(x)) - len(lengths)
    dims = list(range(first, first + len(lengths)))
    b = Builder(op)
    if 0 in result.shape:
        replace(op, [b.value("tensor.empty", [], result)])
        return
    part = element(x) if kind == "RFFT" else ir.ComplexType(element(x)).element_type
    t = _Transform(op, part, kind in ("FFT", "RFFT"))
    if kind == "RFFT":
        x = t.dim(b.complex(x, b.splat("0.0", x.type)), dims[-1])
        shape = shape_of(x)
        x = b.slice(x, [0] * len(shape), [*shape[:-1], lengths[-1] // 2 + 1])
        dims.pop()
    for dim in dims[:-1] if kind == "IRFFT" else dims:
        x = t.dim(x, dim)
    if kind == "IRFFT":
        x = t.last(_mirror(b, x, lengths[-1]))
        x = b.value("stablehlo.real", [x], result)
    if kind in ("IFFT", "IRFFT"):
        x = _scale(b, x, 1 / math.prod(lengths))
    replace(op, [x])
