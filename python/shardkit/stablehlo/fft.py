"""stablehlo.fft."""

from __future__ import annotations

import math
from typing import Sequence

from jaxlib.mlir import ir

from ..formulas.fourier import Transform, angle
from .builder import Builder, element, i32, i64s, is_complex, replace, shape_of
from .lookups import reverse


class _Transform(Transform):
    def __init__(self, b: Builder, component: ir.Type, is_forward: bool):
        self.b, self.component, self.is_forward = b, component, is_forward

    def shape(self, x: ir.Value) -> list[int]:
        return shape_of(x)

    def roots(self, rows: int, columns: int, n: int) -> ir.Value:
        """j k is taken modulo n first, so that the angle is exact."""
        b, shape = self.b, [rows, columns]
        counts = ir.RankedTensorType.get(shape, i32())
        product = b.value("stablehlo.multiply", [b.iota(shape, 0, i32()), b.iota(shape, 1, i32())], counts)
        product = b.value("stablehlo.remainder", [product, b.splat(str(n), counts)], counts)
        type = ir.RankedTensorType.get(shape, self.component)
        turned = b.value("stablehlo.convert", [product], type)
        turned = b.value("stablehlo.multiply", [turned, b.splat(repr(angle(self.is_forward, n)), type)], type)
        return b.complex(b.value("stablehlo.cosine", [turned], type), b.value("stablehlo.sine", [turned], type))

    def product(self, x: ir.Value, matrix: ir.Value) -> ir.Value:
        *outer, _ = shape_of(x)
        numbers = f"#stablehlo.dot<lhs_contracting_dimensions = [{len(outer)}], rhs_contracting_dimensions = [0]>"

        def dot(y: ir.Value) -> ir.Value:
            type = ir.RankedTensorType.get([*outer, shape_of(y)[1]], element(x))
            return self.b.value("stablehlo.dot_general", [x, y], type, {"dot_dimension_numbers": numbers})

        return dot(matrix) if is_complex(element(x)) else self.b.complex(*map(dot, self.b.components(matrix)))

    def multiply(self, x: ir.Value, matrix: ir.Value) -> ir.Value:
        rank = len(shape_of(x))
        return self.b.value("stablehlo.multiply", [x, self.b.broadcast_like(matrix, x, [rank - 2, rank - 1])], x.type)

    def reshape(self, x: ir.Value, shape: Sequence[int]) -> ir.Value:
        return self.b.reshape(x, shape)

    def transpose(self, x: ir.Value, order: Sequence[int]) -> ir.Value:
        type = ir.RankedTensorType.get([shape_of(x)[d] for d in order], element(x))
        return self.b.value("stablehlo.transpose", [x], type, {"permutation": i64s(order)})

    def slice(self, x: ir.Value, low: int, high: int) -> ir.Value:
        *outer, n = shape_of(x)
        return x if (low, high) == (0, n) else self.b.take(x, [0] * len(outer) + [low], [*outer, high - low], [1] * len(outer) + [1])

    def reverse_conjugate(self, x: ir.Value) -> ir.Value:
        def turn(part: ir.Value) -> ir.Value:
            made = self.b.op("stablehlo.reverse", [part], [part.type], {"dimensions": i64s([len(shape_of(part)) - 1])})
            if ir.RankedTensorType(part.type).has_static_shape:
                return made.results[0]
            turned = reverse(made)
            made.erase()
            return turned

        real, imaginary = map(turn, self.b.components(x))
        return self.b.complex(real, self.b.value("stablehlo.negate", [imaginary], imaginary.type))

    def concatenate(self, x: ir.Value, y: ir.Value) -> ir.Value:
        *outer, n = shape_of(x)
        type = ir.RankedTensorType.get([*outer, n + shape_of(y)[-1]], element(x))
        return self.b.value("stablehlo.concatenate", [x, y], type, {"dimension": f"{len(outer)} : i64"})


def rewrite_fft(op: ir.Operation) -> None:
    """All four kinds, over the last dims."""
    x, result = op.operands[0], ir.RankedTensorType(op.results[0].type)
    kind = str(op.attributes["fft_type"]).split()[-1].rstrip(">")
    lengths = list(ir.DenseI64ArrayAttr(op.attributes["fft_length"]))
    first, last = len(result.shape) - len(lengths), len(result.shape) - 1
    b = Builder(op)
    component = ir.ComplexType(element(x)).element_type if is_complex(element(x)) else element(x)
    t = _Transform(b, component, kind in ("FFT", "RFFT"))
    if kind == "RFFT":
        x = t.half(x, last)
    for dim in range(first, last + (kind in ("FFT", "IFFT"))):
        x = t.dim(x, dim)
    if kind == "IRFFT":
        x = b.components(t.dim(t.complete(x, last, lengths[-1]), last))[0]
    if kind in ("IFFT", "IRFFT"):
        factor = repr(1 / math.prod(lengths))
        scaled = [b.value("stablehlo.multiply", [p, b.fill(factor, p)], p.type) for p in b.components(x)]
        x = b.join(scaled, [x])[0]
    replace(op, [x])
