"""Functions of numbers that neither StableHLO nor MLIR's math dialect has."""

from __future__ import annotations

import math
import struct
from typing import Any, Callable

from jaxlib.mlir import ir

from ..formulas import special
from .builder import Builder, element, fail, is_complex, replace


class _Number:
    """A value in arithmetic with others of its type, or with Python's floats."""

    def __init__(self, f: "_Functions", value: ir.Value):
        self.f, self.value = f, value

    def _arithmetic(self, name: str, a: Any, b: Any) -> "_Number":
        return self.f.op("stablehlo." + name, a, b)

    def __add__(self, other: Any) -> "_Number":
        return self._arithmetic("add", self, other)

    def __radd__(self, other: Any) -> "_Number":
        return self._arithmetic("add", other, self)

    def __sub__(self, other: Any) -> "_Number":
        return self._arithmetic("subtract", self, other)

    def __rsub__(self, other: Any) -> "_Number":
        return self._arithmetic("subtract", other, self)

    def __mul__(self, other: Any) -> "_Number":
        return self._arithmetic("multiply", self, other)

    def __rmul__(self, other: Any) -> "_Number":
        return self._arithmetic("multiply", other, self)

    def __truediv__(self, other: Any) -> "_Number":
        return self._arithmetic("divide", self, other)

    def __rtruediv__(self, other: Any) -> "_Number":
        return self._arithmetic("divide", other, self)

    def __pow__(self, other: Any) -> "_Number":
        return self._arithmetic("power", self, other)

    def __neg__(self) -> "_Number":
        return self.f.op("stablehlo.negate", self)

    def _compare(self, direction: str, other: Any) -> "_Number":
        return _Number(self.f, self.f.b.compare(direction, "FLOAT", self.value, self.f.take(other).value))

    def __lt__(self, other: Any) -> "_Number":
        return self._compare("LT", other)

    def __le__(self, other: Any) -> "_Number":
        return self._compare("LE", other)

    def __gt__(self, other: Any) -> "_Number":
        return self._compare("GT", other)

    def __ge__(self, other: Any) -> "_Number":
        return self._compare("GE", other)

    def __eq__(self, other: Any) -> "_Number":  # type: ignore[override]
        return self._compare("EQ", other)

    def __ne__(self, other: Any) -> "_Number":  # type: ignore[override]
        return self._compare("NE", other)

    def __and__(self, other: "_Number") -> "_Number":
        return _Number(self.f, self.f.b.value("stablehlo.and", [self.value, other.value], self.value.type))

    def __or__(self, other: "_Number") -> "_Number":
        return _Number(self.f, self.f.b.value("stablehlo.or", [self.value, other.value], self.value.type))


class _Functions:
    """Builds ops on values of one type before an op."""

    def __init__(self, op: ir.Operation, type: ir.Type):
        self.b, self.type, self.like = Builder(op), type, op.operands[0]
        self.is_double = str(ir.RankedTensorType(type).element_type) == "f64"

    def take(self, number: Any) -> _Number:
        return number if isinstance(number, _Number) else _Number(self, self.b.fill(_spell(number, self.type), self.like, self.type.element_type))

    def op(self, name: str, *numbers: Any) -> _Number:
        return _Number(self, self.b.value(name, [self.take(n).value for n in numbers], self.type))

    def where(self, mask: _Number, a: Any, b: Any) -> _Number:
        return _Number(self, self.b.select(mask.value, self.take(a).value, self.take(b).value))

    def __getattr__(self, name: str) -> Callable[..., _Number]:
        return lambda *numbers: self.op(_OPS[name], *numbers)


_OPS = {
    "abs": "stablehlo.abs", "cos": "stablehlo.cosine", "erf": "chlo.erf", "exp": "stablehlo.exponential", "floor": "stablehlo.floor",
    "log": "stablehlo.log", "log1p": "stablehlo.log_plus_one", "sin": "stablehlo.sine", "sqrt": "stablehlo.sqrt",
}  # fmt: skip


def _spell(number: float, type: ir.Type) -> str:
    """As MLIR writes it: what is not finite by its bits."""
    if abs(number) < math.inf:
        return repr(float(number))
    bits = struct.pack(">d", number) if str(ir.RankedTensorType(type).element_type) == "f64" else struct.pack(">f", number)
    return "0x" + bits.hex().upper()


def by_formula(compute: Callable[..., Any]) -> Callable[[ir.Operation], None]:
    """A function in f32 or f64; narrower floats are computed in f32."""

    def rewrite(op: ir.Operation) -> None:
        type = ir.RankedTensorType(op.results[0].type)
        kind = str(type.element_type)
        if kind not in ("f16", "bf16", "f32", "f64"):
            raise fail(op, f"{op.name} of {type} has no lowering", "f16, bf16, f32 or f64")
        wide = type if kind in ("f32", "f64") else ir.RankedTensorType.get(type.shape, ir.F32Type.get())
        f, b = _Functions(op, wide), Builder(op)
        given = [v if wide is type else b.value("stablehlo.convert", [v], wide) for v in op.operands]
        result = compute(f, *[_Number(f, v) for v in given]).value
        replace(op, [result if wide is type else b.value("stablehlo.convert", [result], type)])

    return rewrite


FORMULAS = {
    f"chlo.{name}": by_formula(getattr(special, name))
    for name in ("bessel_i1e", "digamma", "erf_inv", "lgamma", "polygamma", "zeta")
}


def rewrite_hyperbolic(op: ir.Operation) -> None:
    """sinh and cosh of complex numbers, by those of their real components."""
    if not is_complex(element(op.operands[0])):
        return
    b = Builder(op)
    real, imaginary = b.components(op.operands[0])
    other = {"chlo.sinh": "chlo.cosh", "chlo.cosh": "chlo.sinh"}[op.name]

    def product(name: str, turn: str) -> ir.Value:
        return b.value("stablehlo.multiply", [b.value(name, [real], real.type), b.value(turn, [imaginary], real.type)], real.type)

    replace(op, [b.complex(product(op.name, "stablehlo.cosine"), product(other, "stablehlo.sine"))])


def rewrite_next_after(op: ir.Operation) -> None:
    """The float next to x on the way to y: one more or one less as an integer of the same bits."""
    x, y = op.operands
    type = ir.RankedTensorType(x.type)
    widths = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
    width = widths.get(str(element(x)))
    if width is None:
        raise fail(op, f"chlo.next_after of {type} has no lowering", "f16, bf16, f32 or f64")
    b = Builder(op)

    def compare(direction: str, left: ir.Value, right: ir.Value) -> ir.Value:
        return b.compare(direction, "FLOAT", left, right)

    word = ir.IntegerType.get_signless(width)
    bits = ir.RankedTensorType.get(type.shape, word)
    zero, one = b.fill("0.0", x), b.fill("1", x, word)
    is_up = compare("GT", y, x)
    is_away = b.compare("EQ", "UNSIGNED", is_up, compare("GT", x, zero))
    step = b.select(is_away, one, b.fill("-1", x, word))
    smallest = b.select(is_up, one, b.fill(str(1 - 2 ** (width - 1)), x, word))
    moved = b.select(compare("EQ", x, zero), smallest, b.value("stablehlo.add", [b.bitcast(x, bits), step], bits))
    result = b.select(compare("EQ", x, y), y, b.bitcast(moved, type))
    is_number = b.value("stablehlo.and", [compare("EQ", x, x), compare("EQ", y, y)], is_up.type)
    replace(op, [b.select(is_number, result, b.value("stablehlo.add", [x, y], type))])
