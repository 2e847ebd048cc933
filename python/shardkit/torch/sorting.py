"""What PyTorch makes of the order of elements."""

from __future__ import annotations

from typing import Any

import torch


def sort(x: Any, *, stable: bool | None = None, dim: int = -1, descending: bool = False) -> Any:
    """Always stable here."""
    return torch.ops.aten.sort.default(x, dim, descending)


def kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    found = (v.narrow(dim, k - 1, 1) for v in torch.sort(x, dim))
    values, positions = (v if keepdim else v.squeeze(dim) for v in found)
    return values, positions


def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Any, Any]:
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    values, positions = torch.sort(x, dim, largest)
    return values.narrow(dim, 0, k), positions.narrow(dim, 0, k)


def topk_in_any_order(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """torch-mlir lowers the sorted ones."""
    return NotImplemented if sorted else topk(x, k, dim, largest)


def median_dim(x: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """The lower one of two in the middle; the first NaN, if there is one."""
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    count = x.shape[dim]
    values, positions = torch.sort(x, dim)
    odd = (x != x).sum(dim, keepdim=True)
    at = torch.where(odd == 0, (count - 1) // 2, count - odd)
    values, positions = values.gather(dim, at), positions.gather(dim, at)
    return (values, positions) if keepdim else (values.squeeze(dim), positions.squeeze(dim))


def nanmedian_dim(x: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    values, positions = torch.sort(x, dim)
    at = torch.clamp((x == x).sum(dim, keepdim=True) - 1, min=0) // 2
    values, positions = values.gather(dim, at), positions.gather(dim, at)
    return (values, positions) if keepdim else (values.squeeze(dim), positions.squeeze(dim))


def median(x: Any) -> Any:
    return median_dim(x.reshape(-1), 0)[0]


def nanmedian(x: Any) -> Any:
    return nanmedian_dim(x.reshape(-1), 0)[0]


def searchsorted(
    sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Any = None
) -> Any:
    if sorter is not None:
        sequence = sequence.gather(-1, sorter)
    sequence = sequence.unsqueeze(-2) if sequence.dim() > 1 else sequence
    before = (sequence <= values.unsqueeze(-1)) if right or side == "right" else (sequence < values.unsqueeze(-1))
    return before.sum(-1).to(torch.int32 if out_int32 else torch.int64)
