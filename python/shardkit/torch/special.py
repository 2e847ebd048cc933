"""Special functions of PyTorch."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch

from ..formulas import special


class _Functions:
    def __init__(self, dtype: torch.dtype):
        self.is_double = dtype is torch.float64

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


def by_formula(name: str) -> Callable[..., Any]:
    """Of tensors of f32 or f64."""
    return lambda *given: getattr(special, name)(_Functions(given[0].dtype), *given)


def bessel(name: str) -> Callable[..., Any]:
    """Without the factor exp(-|x|) of the function of that name."""
    scaled = by_formula(name)
    return lambda x: scaled(x) * torch.exp(x.abs())


def digamma(x: Any) -> Any:
    """At 0 it is without bounds on one side."""
    found = special.digamma(_Functions(x.dtype), x)
    return torch.where(x == 0, torch.where(1 / x > 0, -math.inf, math.inf), found)


def polygamma(n: int, x: Any) -> Any:
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    y = x.to(torch.float32) if x.dtype in (torch.float16, torch.bfloat16) else x
    return (torch.digamma(y) if n == 0 else special.polygamma(_Functions(y.dtype), torch.full_like(y, n), y)).to(x.dtype)
