"""Functions of PyTorch element by element that torch-mlir does not lower, or not as PyTorch defines them."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch


def signbit(x: Any) -> Any:
    return (x < 0) | ((x == 0) & (1 / x < 0)) if x.is_floating_point() else x < 0


def copysign(a: Any, b: Any) -> Any:
    a = a if a.is_floating_point() else a.to(torch.get_default_dtype())
    return torch.where(signbit(b), -a.abs(), a.abs())


def hypot(a: Any, b: Any) -> Any:
    """Without squares that are out of bounds."""
    a, b = torch.broadcast_tensors(a.abs(), b.abs())
    large = torch.maximum(a, b)
    ratio = torch.minimum(a, b) / torch.where(large == 0, 1, large)
    return torch.where((a == math.inf) | (b == math.inf), math.inf, large * torch.sqrt(1 + ratio * ratio))


def pick_number(pick: str) -> Callable[[Any, Any], Any]:
    """The larger or the smaller one; the other one where one is NaN."""

    def function(a: Any, b: Any) -> Any:
        a, b = torch.broadcast_tensors(a, b)
        both = getattr(torch, pick)(a, b)
        return torch.where(a != a, b, torch.where(b != b, a, both))

    return function


def compare(name: str) -> Callable[..., Any]:
    """With a number, which torch-mlir takes for one of another type where the tensor is a constant."""
    op = getattr(torch.ops.aten, name)

    def function(x: Any, number: Any) -> Any:
        dtype = torch.result_type(x, number)
        if dtype in (torch.bool, torch.uint8):  # the bits of a negative number
            number, dtype = number % 256 if dtype is torch.uint8 else number, torch.int64
        return op.Tensor(x.to(dtype), torch.full([], number, dtype=dtype))

    return function


def eq(a: Any, b: Any) -> Any:
    """torch-mlir treats a value compared with itself as equal, although it may be NaN."""
    return torch.logical_not(torch.ne(a, b)) if a.is_floating_point() else NotImplemented


def isfinite(x: Any) -> Any:
    return x.abs() < math.inf if x.is_floating_point() else torch.full(x.shape, True)


def pick(compare: str) -> Callable[[Any, Any], Any]:
    """The larger or the smaller one; NaN where one is NaN."""

    def function(a: Any, b: Any) -> Any:
        is_float = a.is_floating_point() or b.is_floating_point()
        return torch.where(getattr(torch, compare)(a, b) | torch.ne(a, a), a, b) if is_float else NotImplemented

    return function


def clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    """NaN stays NaN."""
    if not x.is_floating_point():
        return NotImplemented
    for bound, is_beyond in ((min, torch.lt), (max, torch.gt)):
        if isinstance(bound, torch.Tensor):
            x = torch.where(is_beyond(x, bound) | torch.ne(bound, bound), bound, x)
        elif bound is not None:
            x = torch.where(is_beyond(x, bound), float(bound), x)
    return x


def hardtanh(x: Any, min_val: float = -1, max_val: float = 1) -> Any:
    return clamp(x, min_val, max_val)


def hardsigmoid(x: Any) -> Any:
    return clamp(x + 3, 0, 6) / 6


def gelu(x: Any, approximate: str = "none") -> Any:
    """torch-mlir has another constant, and rounds in between."""
    if approximate != "tanh":
        return NotImplemented
    y = x.to(torch.float32) if x.dtype in (torch.float16, torch.bfloat16) else x
    return (0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * (y * y * y))))).to(x.dtype)


def reciprocal(x: Any) -> Any:
    """Also of 0, where torch-mlir ends the program."""
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    return torch.full([], 1, dtype=x.dtype) / x


def angle(x: Any) -> Any:
    """Of real numbers."""
    if x.is_complex():
        return NotImplemented
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    return torch.where(x != x, x, torch.where(x < 0, math.pi, 0.0).to(x.dtype))


def polar(size: Any, angle: Any) -> Any:
    return torch.complex(size * torch.cos(angle), size * torch.sin(angle))


def pow_of_integers(x: Any, exponent: Any) -> Any:
    """By squares: of negative exponents 0 but of 1 and -1, and modulo the range of the type, as PyTorch has it."""
    if not isinstance(x, torch.Tensor):
        x = torch.full(exponent.shape, x, dtype=torch.result_type(exponent, x))
    if x.is_floating_point() or x.is_complex():
        return NotImplemented
    is_odd = (exponent & 1) != 0
    result, power, rest = torch.ones_like(x), x, exponent
    for _ in range(torch.iinfo(exponent.dtype).bits - 1):
        result = torch.where((rest & 1) != 0, result * power, result)
        power, rest = power * power, rest >> 1
    inverse = torch.where(x == 1, 1, torch.where(x == -1, torch.where(is_odd, -1, 1), 0))
    return torch.where(exponent < 0, inverse, result)


def pow(x: Any, exponent: float) -> Any:
    if not x.is_floating_point() and not x.is_complex() and isinstance(exponent, int) and 0 <= exponent:
        x = x.to(torch.result_type(x, exponent))
        result = torch.ones_like(x)
        for bit in bin(exponent)[2:]:
            result = result * result * (x if bit == "1" else 1)
        return result
    if not x.is_floating_point() or exponent not in (0.5, -0.5):
        return NotImplemented
    return torch.sqrt(x) if exponent > 0 else torch.rsqrt(x)


def fmod(a: Any, b: Any) -> Any:
    """By the remainder, which is exact; the quotient is not."""
    if not isinstance(b, torch.Tensor):
        b = torch.full([], b, dtype=torch.result_type(a, b))
    if not torch.result_type(a, b).is_floating_point:
        return NotImplemented
    rest = torch.remainder(a.abs(), b.abs())
    return torch.where(a < 0, -rest, rest)


def div_mode(a: Any, b: Any, *, rounding_mode: str | None = None) -> Any:
    return floor_divide(a, b) if rounding_mode == "floor" else NotImplemented


def floor_divide(a: Any, b: Any) -> Any:
    """As Python has it: by the remainder, so that it is exact."""
    dtype = torch.result_type(a, b)
    if not dtype.is_floating_point:
        return NotImplemented
    a, b = a.to(dtype), b.to(dtype) if isinstance(b, torch.Tensor) else torch.full([], b, dtype=dtype)
    rest = fmod(a, b)
    quotient = (a - rest) / b  # an integer up to rounding
    quotient = torch.where((rest != 0) & ((rest < 0) ^ (b < 0)), quotient - 1, quotient)
    down = torch.floor(quotient)
    return torch.where(b == 0, a / b, torch.where(quotient - down > 0.5, down + 1, down))
