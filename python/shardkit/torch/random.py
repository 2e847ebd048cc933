"""Random numbers of PyTorch as functions of a seed and an index.

Element i of the n-th op that draws is a number that a counter gives: "squares" of Bernard Widynski (arXiv 2004.06278), at i with a
key of the seed and n. So they are the same on every mesh and in every run from one seed, and they are not PyTorch's."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch

from .decompositions import Table, select

_LOW = 0xFFFFFFFF


def _signed(number: int) -> int:
    """A number of 64 bits as PyTorch has them."""
    return number - (1 << 64) if number >> 63 else number


def _mix(x: Any) -> Any:
    """The last steps of splitmix64: what is near in is far out."""
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * _signed(0xBF58476D1CE4E5B9)
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * _signed(0x94D049BB133111EB)
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


class Generator:
    """Draws from `seed`, one i64, which is set while a program is traced."""

    def __init__(self) -> None:
        self.seed: Any = None
        self.draws = 0

    def bits(self, shape: Sequence[int]) -> Any:
        """Integers in [0, 2^32)."""
        self.draws += 1
        key = 2 * _mix(self.seed + _signed(0x9E3779B97F4A7C15 * self.draws % (1 << 64))) + 1
        position = torch.arange(1, math.prod(shape) + 1, dtype=torch.int64).reshape(shape)

        def turn(x: Any) -> Any:
            return ((x >> 32) & _LOW) | (x << 32)

        y = position * key
        z = y + key
        x = turn(y * y + y)
        x = turn(x * x + z)
        x = turn(x * x + y)
        return ((x * x + z) >> 32) & _LOW

    def uniform(self, shape: Sequence[int], dtype: Any) -> Any:
        """In [0, 1): of 24 bits, or of 32 in f64."""
        if dtype == torch.float64:
            return self.bits(shape).to(dtype) * 2.0**-32
        return (self.bits(shape) >> 8).to(torch.float32) * 2.0**-24

    def normal(self, shape: Sequence[int], dtype: Any) -> Any:
        """By Box and Muller."""
        radius = torch.sqrt(-2 * torch.log(1 - self.uniform(shape, dtype)))
        return radius * torch.cos(2 * math.pi * self.uniform(shape, dtype))

    def exponential(self, shape: Sequence[int], dtype: Any) -> Any:
        return -torch.log1p(-self.uniform(shape, dtype))

    def integers(self, shape: Sequence[int], low: int, high: int) -> Any:
        """In [low, high), fewer than 2^31."""
        if high - low >= 1 << 31:
            return NotImplemented
        return low + ((self.bits(shape) * (high - low)) >> 32)

    def get_table(self) -> Table:
        """What ops that draw are made of."""
        draw: dict[str, Callable[..., Any]] = {"rand": self.uniform, "randn": self.normal}
        found: dict[str, Callable[..., Any]] = {}
        for name, function in draw.items():
            found[f"aten.{name}.default"] = lambda size, *, dtype=None, f=function, **_: _as(f(size, dtype), dtype or torch.get_default_dtype())
            found[f"aten.{name}_like.default"] = lambda x, *, dtype=None, f=function, **_: _as(f(x.shape, dtype or x.dtype), dtype or x.dtype)

        def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
            return lambda x, *args, generator=None, **kwargs: x.copy_(function(x, *args, **kwargs))

        def pure(function: Callable[..., Any]) -> Callable[..., Any]:
            return lambda x, *args, generator=None, **kwargs: _as(function(x, *args, **kwargs), x.dtype)

        def bernoulli(x: Any, p: Any = None) -> Any:
            return self.uniform(x.shape, torch.float32) < (x if p is None else p)

        changes: dict[str, Callable[..., Any]] = {
            "bernoulli_.float": lambda x, p=0.5: bernoulli(x, p),
            "bernoulli_.Tensor": bernoulli,
            "uniform_.default": lambda x, low=0.0, high=1.0: low + (high - low) * self.uniform(x.shape, x.dtype),
            "normal_.default": lambda x, mean=0.0, std=1.0: mean + std * self.normal(x.shape, x.dtype),
            "exponential_.default": lambda x, rate=1.0: self.exponential(x.shape, x.dtype) / rate,
            "random_.from": lambda x, low, high: self.integers(x.shape, low, high),
            "random_.to": lambda x, high: self.integers(x.shape, 0, high),
        }
        found |= {f"aten.{name}": in_place(f) for name, f in changes.items()}
        found |= {"aten.bernoulli.default": pure(bernoulli), "aten.bernoulli.p": pure(bernoulli)}
        found["aten.randint.default"] = lambda high, size, *, dtype=torch.int64, **_: _as(self.integers(size, 0, high), dtype)
        found["aten.randint.low"] = lambda low, high, size, *, dtype=torch.int64, **_: _as(self.integers(size, low, high), dtype)
        found["aten.randint_like.default"] = lambda x, high, *, dtype=None, **_: _as(self.integers(x.shape, 0, high), dtype or x.dtype)
        found["aten.randint_like.low_dtype"] = lambda x, low, high, *, dtype=None, **_: _as(self.integers(x.shape, low, high), dtype or x.dtype)
        found["aten.native_dropout.default"] = self._dropout
        return select(found)

    def _dropout(self, x: Any, p: float, train: bool | None) -> Any:
        if train is False:
            return x, torch.ones_like(x, dtype=torch.bool)
        kept = self.uniform(x.shape, torch.float32) >= p
        return torch.where(kept, x * (1 / (1 - p) if p < 1 else 0.0), 0), kept


def _as(value: Any, dtype: Any) -> Any:
    return value if value is NotImplemented else value.to(dtype)
