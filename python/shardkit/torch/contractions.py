"""Products of PyTorch."""

from __future__ import annotations

import math
from typing import Any

import torch


def addbmm(x: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    if not (x.is_floating_point() or x.is_complex()):
        beta, alpha = int(beta), int(alpha)
    return beta * x + alpha * torch.bmm(a, b).sum(0)


def cdist(a: Any, b: Any, p: float, compute_mode: int | None) -> Any:
    difference = (a.unsqueeze(-2) - b.unsqueeze(-3)).abs()
    if p == 0:
        return (difference != 0).to(a.dtype).sum(-1)
    if p == math.inf:
        return difference.amax(-1) if a.shape[-1] else difference.sum(-1)
    if p == 1:
        return difference.sum(-1)
    return torch.sqrt((difference * difference).sum(-1)) if p == 2 else difference.pow(p).sum(-1).pow(1 / p)


def grouped_mm(x: Any, weights: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None) -> Any:
    """Rows in groups, which end at `offs`, each by a matrix of its own, or a product for each group, of columns and of rows. By a mask of
    groups and rows: so groups may be spread over devices, and where the compiler sees the mask, each computes its own rows."""
    if bias is not None or (offs is None) != (x.dim() == 3 and weights.dim() == 3) or x.dim() > weights.dim():
        return NotImplemented
    if offs is None:
        return torch.bmm(x, weights).to(out_dtype or x.dtype)
    groups = offs.shape[0]
    rows = torch.arange(x.shape[0 if weights.dim() == 3 else 1])
    is_in = (rows < offs.unsqueeze(-1)) & (rows >= torch.nn.functional.pad(offs[:-1], (1, 0)).unsqueeze(-1))  # groups by rows
    if weights.dim() == 3:
        product = torch.bmm(x.unsqueeze(0).expand(groups, -1, -1), weights)
        product = torch.where(is_in.unsqueeze(-1), product, 0).sum(0)
    else:
        own = torch.where(is_in.unsqueeze(-1), weights, 0)
        product = torch.bmm(x.unsqueeze(0).expand(groups, -1, -1), own)
    return product.to(out_dtype or x.dtype)


def grouped_mm_backward(x: Any, weights: Any, offs: Any, gradient: Any) -> Any:
    return grouped_mm(gradient, weights.transpose(1, 2), offs), grouped_mm(x.T, gradient, offs)


def convolution(
    x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any, groups: int
) -> Any:  # fmt: skip
    """A transposed one in groups, as a plain one of what is spread by its stride."""
    if not transposed or groups == 1:
        return NotImplemented
    rank = x.dim() - 2
    stride, padding, dilation, beyond = ([v[0]] * rank if len(v) == 1 else list(v) for v in (stride, padding, dilation, output_padding))
    for d, step in enumerate(stride, 2):
        if step > 1:
            apart = torch.constant_pad_nd(x.unsqueeze(d + 1), [*[0, 0] * (x.dim() - d - 1), 0, step - 1]).flatten(d, d + 1)
            x = apart.narrow(d, 0, apart.shape[d] - step + 1)
    margins = [d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[2:], padding)]
    x = torch.constant_pad_nd(x, [m for margin, more in zip(margins[::-1], beyond[::-1]) for m in (margin, margin + more)])
    weight = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:]).transpose(1, 2).flatten(0, 1).flip(list(range(2, rank + 2)))
    return torch.ops.aten.convolution(x, weight, bias, [1] * rank, [0] * rank, dilation, False, [0] * rank, groups)
