"""Reductions of PyTorch."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch


def largest(value: str, position: str) -> Callable[..., Any]:
    """Of max and min along a dim: `amax` and `argmax`."""

    def function(x: Any, dim: int, keepdim: bool = False) -> Any:
        if x.dim() == 0:
            return x.clone(), torch.zeros((), dtype=torch.int64)
        return (getattr(torch, value)(x, dim, keepdim), getattr(torch, position)(x, dim, keepdim)) if x.is_floating_point() else NotImplemented

    return function


def only_position(x: Any, *_: Any) -> Any:
    return torch.zeros((), dtype=torch.int64) if x.dim() == 0 else NotImplemented


def aminmax(x: Any, *, dim: int | None = None, keepdim: bool = False) -> Any:
    dims = list(range(x.dim())) if dim is None else [dim]
    return torch.amin(x, dims, keepdim), torch.amax(x, dims, keepdim)


def adaptive_max_pool2d(x: Any, sizes: Sequence[int]) -> Any:
    """Windows of several sizes, one by one; torch-mlir takes them all for those of one size."""
    height, width = x.shape[-2:]
    if height % sizes[0] == 0 and width % sizes[1] == 0:
        return NotImplemented

    def windows(size: int, count: int) -> list[tuple[int, int]]:
        return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]

    values, positions = [], []
    for top, bottom in windows(height, sizes[0]):
        for left, right in windows(width, sizes[1]):
            window = x[..., top:bottom, left:right].flatten(-2)
            position = window.argmax(-1)
            values.append(window.amax(-1))
            positions.append((top + torch.div(position, right - left, rounding_mode="floor")) * width + left + position % (right - left))
    shape = [*x.shape[:-2], *sizes]
    return torch.stack(values, -1).reshape(shape), torch.stack(positions, -1).reshape(shape)


def variance(name: str) -> Callable[..., Any]:
    """Of var and std: what is divided by is no less than 0."""

    def function(x: Any, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Any:
        count = math.prod(x.shape[d] for d in dim or range(x.dim()))
        if (1 if correction is None else correction) <= count:
            return NotImplemented
        spread = getattr(torch, name.removesuffix("_mean"))(x, dim, correction=count, keepdim=keepdim)
        return (spread, torch.mean(x, dim, keepdim)) if name.endswith("_mean") else spread

    return function


def histc(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    if min == max:
        return NotImplemented
    values = x.reshape(-1).to(torch.float32 if x.dtype != torch.float64 else x.dtype)
    position = torch.clamp(((values - min) / (max - min) * bins).floor(), max=bins - 1)  # the last one holds its end
    position = torch.where((values >= min) & (values <= max), position, -1)
    return (position.unsqueeze(-1) == torch.arange(bins)).sum(0).to(x.dtype)
