"""Products of PyTorch."""

from __future__ import annotations

import math
from typing import Any, Sequence

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
    """Rows in groups, which end at `offs`, each by a matrix of its own. As one product, over groups and columns of rows that are
    zero but in their group: so groups that are spread over devices add up what each of them has."""
    if bias is not None or weights.dim() != 3 or (x.dim() == 2) != (offs is not None):
        return NotImplemented
    if x.dim() == 3:
        product = torch.bmm(x, weights)
    else:
        groups, rows = weights.shape[0], torch.arange(x.shape[0]).unsqueeze(-1)
        is_in = (rows < offs) & (rows >= torch.nn.functional.pad(offs[:-1], (1, 0)))
        spread = torch.where(is_in.unsqueeze(-1), x.unsqueeze(-2), 0).reshape(x.shape[0], groups * x.shape[1])
        product = spread @ weights.reshape(groups * weights.shape[1], weights.shape[2])
    return product.to(out_dtype or x.dtype)


def convolution_backward(
    grad: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int, output_mask: Sequence[bool],
) -> Any:  # fmt: skip
    """Convolutions again, also in groups and of transposed ones, of which torch-mlir makes others or none. That of the kernel moves
    the gradient over what was read, a batch of input channels with the examples as channels."""
    rank = x.dim() - 2
    stride, padding, dilation = ([v[0]] * rank if len(v) == 1 else list(v) for v in (stride, padding, dilation))
    by_input = by_weight = by_bias = None
    if output_mask[0]:
        covered = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in zip(grad.shape[2:], stride, padding, dilation, weight.shape[2:])]
        rest = [0] * rank if transposed else [n - c for n, c in zip(x.shape[2:], covered)]
        by_input = torch.ops.aten.convolution(grad, weight, None, stride, padding, dilation, not transposed, rest, groups)
    if output_mask[1]:
        read, moved = (grad, x) if transposed else (x, grad)

        def apart(v: Any) -> Any:
            return v.reshape(v.shape[0], groups, v.shape[1] // groups, *v.shape[2:])

        read = apart(read).permute(2, 1, 0, *range(3, rank + 3)).flatten(1, 2)
        moved = apart(moved).permute(1, 2, 0, *range(3, rank + 3)).flatten(0, 1)
        made = torch.ops.aten.convolution(read, moved, None, dilation, padding, stride, False, [0] * rank, groups)
        by_weight = made[(..., *(slice(0, k) for k in weight.shape[2:]))].transpose(0, 1)
    if output_mask[2]:
        by_bias = grad.sum([0, *range(2, rank + 2)])
    return by_input, by_weight, by_bias
