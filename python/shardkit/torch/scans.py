"""Cumulative functions of PyTorch, in log2 n steps along their dim."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch


def _scan(values: Sequence[Any], dim: int, combine: Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]) -> Sequence[Any]:
    """What `combine` makes of the elements so far along a dim, in log2 n steps."""
    if values[0].dim() == 0:
        return [v.clone() for v in values]
    count, step = values[0].shape[dim], 1
    while step < count:
        found = combine([v.narrow(dim, 0, count - step) for v in values], [v.narrow(dim, step, count - step) for v in values])
        values = [torch.cat([v.narrow(dim, 0, step), f], dim) for v, f in zip(values, found)]
        step *= 2
    return values


def _pick_so_far(x: Any, dim: int, stands: Callable[[Any, Any], Any]) -> Sequence[Any]:
    """Values and indices of the selected one of the elements so far along a dim; `stands`: whether an earlier value stays
    selected over a later one."""
    def pick(before: Sequence[Any], now: Sequence[Any]) -> Sequence[Any]:
        kept = stands(before[0], now[0])
        return [torch.where(kept, b, n) for b, n in zip(before, now)]

    shape = [x.shape[d] if d == dim % x.dim() else 1 for d in range(x.dim())]
    return _scan([x, torch.arange(math.prod(shape)).reshape(shape).expand(x.shape)], dim, pick)


def cumprod(x: Any, dim: int, *, dtype: Any = None) -> Any:
    x = x.to(dtype or (x.dtype if x.is_floating_point() or x.is_complex() else torch.int64))
    return _scan([x], dim, lambda before, now: [before[0] * now[0]])[0]


def logcumsumexp(x: Any, dim: int) -> Any:
    return _scan([x], dim, lambda before, now: [torch.logaddexp(before[0], now[0])])[0]


def _is_beyond(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """NaN is beyond all numbers, and of equals the later one is selected."""

    def stands(before: Any, now: Any) -> Any:
        return compare(before, now) | ((before != before) & (now == now))

    return stands


def cummax(x: Any, dim: int) -> tuple[Any, Any]:
    return tuple(_pick_so_far(x, dim, _is_beyond(torch.gt)))


def cummin(x: Any, dim: int) -> tuple[Any, Any]:
    return tuple(_pick_so_far(x, dim, _is_beyond(torch.lt)))


def cumulative_of_a_scalar(x: Any, dim: int, *, dtype: Any = None) -> Any:
    return x.to(dtype or x.dtype) if x.dim() == 0 else NotImplemented
