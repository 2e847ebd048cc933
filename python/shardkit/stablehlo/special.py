"""Functions of numbers that neither StableHLO nor MLIR's math dialect has."""

from __future__ import annotations

import math
from typing import Callable, Sequence

from jaxlib.mlir import ir

from .builder import Builder, element, fail, is_complex, replace


class Formula:
    """Arithmetic on values of one type, in front of an op."""

    def __init__(self, op: ir.Operation, type: ir.Type):
        self.b, self.type = Builder(op), type

    def __call__(self, name: str, *values: ir.Value) -> ir.Value:
        return self.b.value(name if "." in name else "stablehlo." + name, values, self.type)

    def c(self, number: float) -> ir.Value:
        return self.b.splat(repr(float(number)), self.type)

    def infinity(self) -> ir.Value:
        return self("divide", self.c(1), self.c(0))

    def compare(self, direction: str, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.b.compare(direction, "FLOAT", a, b)

    def select(self, mask: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.b.select(mask, a, b)

    def add(self, a: ir.Value, *more: ir.Value) -> ir.Value:
        for value in more:
            a = self("add", a, value)
        return a

    def polynomial(self, x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
        result = self.c(coefficients[0])
        for number in coefficients[1:]:
            result = self("add", self("multiply", result, x), self.c(number))
        return result


def _rewrite_wide(op: ir.Operation, compute: Callable[[Formula, ir.Value], ir.Value]) -> None:
    """A function in f32 or f64; narrower floats are computed in f32."""
    x, type = op.operands[0], ir.RankedTensorType(op.results[0].type)
    kind = str(element(x))
    if kind not in ("f16", "bf16", "f32", "f64"):
        raise fail(op, f"{op.name} of {type} has no lowering", "f16, bf16, f32 or f64")
    if kind in ("f32", "f64"):
        replace(op, [compute(Formula(op, type), x)])
        return
    wide = ir.RankedTensorType.get(type.shape, ir.F32Type.get())
    b = Builder(op)
    result = compute(Formula(op, wide), b.value("stablehlo.convert", [x], wide))
    replace(op, [b.value("stablehlo.convert", [result], type)])


def rewrite_erf_inv(op: ir.Operation) -> None:
    """The inverse of erf by Giles' polynomials and, in f64, two steps of Newton's method.

    M. Giles, "Approximating the erfinv function", GPU Computing Gems 2 (2011)."""

    def compute(f: Formula, x: ir.Value) -> ir.Value:
        one = f.c(1)
        w = f("negate", f("log", f("multiply", f("subtract", one, x), f("add", one, x))))
        near = f.polynomial(
            f("subtract", w, f.c(2.5)),
            (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
             0.246640727, 1.50140941),
        )  # fmt: skip
        far = f.polynomial(
            f("subtract", f("sqrt", w), f.c(3)),
            (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
             1.00167406, 2.83297682),
        )  # fmt: skip
        y = f("multiply", f.select(f.compare("LT", w, f.c(5)), near, far), x)
        if str(element(x)) == "f64":  # f32 has all its bits already
            for _ in range(2):
                slope = f("multiply", f.c(1.1283791670955126), f("exponential", f("negate", f("multiply", y, y))))
                y = f("subtract", y, f("divide", f("subtract", f("chlo.erf", y), x), slope))
        # At the ends the polynomials have no value.
        edge = f.compare("EQ", f("abs", x), one)
        return f.select(edge, f("divide", x, f.c(0)), y)

    _rewrite_wide(op, compute)


def rewrite_hyperbolic(op: ir.Operation) -> None:
    """sinh and cosh of complex numbers, by those of their real parts."""
    if not is_complex(element(op.operands[0])):
        return
    b = Builder(op)
    real, imaginary = b.parts(op.operands[0])
    f = Formula(op, real.type)
    other = {"chlo.sinh": "chlo.cosh", "chlo.cosh": "chlo.sinh"}[op.name]
    replace(op, [b.complex(f("multiply", f(op.name, real), f("cosine", imaginary)), f("multiply", f(other, real), f("sine", imaginary)))])


# --- gamma ----------------------------------------------------------------------------------------

LANCZOS = (676.520368121885098567009190444019, -1259.13921672240287047156078755283, 771.3234287776530788486528258894,
           -176.61502916214059906584551354, 12.507343278686904814458936853, -0.13857109526572011689554707,
           9.984369578019570859563e-6, 1.50563273514931155834e-7)  # fmt: skip
"""Lanczos' series for g = 7, behind the one: C. Lanczos, "A precision approximation of the gamma function" (1964), as XLA has it."""


class _Series:
    """What the gamma function and its derivative share: both are of z + 1 where x is at least a half, else mirrored."""

    def __init__(self, f: Formula, x: ir.Value):
        self.mirrored = f.compare("LT", x, f.c(0.5))
        self.z = z = f.select(self.mirrored, f("negate", x), f("subtract", x, f.c(1)))
        # log(z + 7.5)
        self.t = f("add", z, f.c(7.5))
        self.log_t = f("add", f.c(math.log(7.5)), f("log_plus_one", f("divide", z, f.c(7.5))))
        self.sum, self.slope = f.c(0.99999999999980993227684700473478), f.c(0)
        for i, number in enumerate(LANCZOS):
            place = f("add", z, f.c(i + 1))
            term = f("divide", f.c(number), place)
            self.sum = f("add", self.sum, term)
            self.slope = f("subtract", self.slope, f("divide", term, place))


def rewrite_lgamma(op: ir.Operation) -> None:
    """log |gamma(x)|."""

    def compute(f: Formula, x: ir.Value) -> ir.Value:
        s = _Series(f, x)
        slow = f("subtract", f("add", s.z, f.c(0.5)), f("divide", s.t, s.log_t))
        right = f.add(f("multiply", slow, s.log_t), f.c(math.log(2 * math.pi) / 2), f("log", s.sum))
        # gamma(x) gamma(1 - x) = pi / sin(pi x), which is without bounds at 0, -1, ...
        size = f("abs", x)
        rest = f("subtract", size, f("floor", size))
        rest = f.select(f.compare("GT", rest, f.c(0.5)), f("subtract", f.c(1), rest), rest)
        sine = f("log", f("sine", f("multiply", f.c(math.pi), rest)))
        left = f("subtract", f("subtract", f.c(math.log(math.pi)), sine), right)
        left = f.select(f.compare("EQ", rest, f.c(0)), f.infinity(), left)
        result = f.select(s.mirrored, left, right)
        return f.select(f.compare("EQ", size, f.infinity()), f.infinity(), result)

    _rewrite_wide(op, compute)


def rewrite_digamma(op: ir.Operation) -> None:
    """The derivative of log gamma(x); NaN where that is without bounds on both sides."""

    def compute(f: Formula, x: ir.Value) -> ir.Value:
        s = _Series(f, x)
        right = f("subtract", f.add(s.log_t, f("divide", s.slope, s.sum)), f("divide", f.c(7), s.t))
        # digamma(1 - x) - digamma(x) = pi / tan(pi x), taken near 0.
        rest = f("subtract", x, f("floor", f("add", x, f.c(0.5))))
        angle = f("multiply", f.c(math.pi), rest)
        slope = f("divide", f("multiply", f.c(math.pi), f("cosine", angle)), f("sine", angle))
        left = f.select(f.compare("EQ", rest, f.c(0)), f("subtract", f.infinity(), f.infinity()), f("subtract", right, slope))
        return f.select(s.mirrored, left, right)

    _rewrite_wide(op, compute)


# --- bits -----------------------------------------------------------------------------------------


def rewrite_next_after(op: ir.Operation) -> None:
    """The float next to x on the way to y: one more or one less as an integer of the same bits."""
    x, y = op.operands
    type = ir.RankedTensorType(x.type)
    widths = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
    width = widths.get(str(element(x)))
    if width is None:
        raise fail(op, f"chlo.next_after of {type} has no lowering", "f16, bf16, f32 or f64")
    f, b = Formula(op, type), Builder(op)
    bits = ir.RankedTensorType.get(type.shape, ir.IntegerType.get_signless(width))
    zero, one = f.c(0), b.splat("1", bits)
    is_up = f.compare("GT", y, x)
    is_away = b.compare("EQ", "UNSIGNED", is_up, f.compare("GT", x, zero))
    number = b.bitcast(x, bits)
    step = b.select(is_away, one, b.splat("-1", bits))
    smallest = b.select(is_up, one, b.splat(str(1 - 2 ** (width - 1)), bits))
    moved = b.select(f.compare("EQ", x, zero), smallest, b.value("stablehlo.add", [number, step], bits))
    result = f.select(f.compare("EQ", x, y), y, b.bitcast(moved, type))
    is_number = b.value("stablehlo.and", [f.compare("EQ", x, x), f.compare("EQ", y, y)], is_up.type)
    replace(op, [f.select(is_number, result, f.add(x, y))])
