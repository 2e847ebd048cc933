"""Ops for gradients that PyTorch has compiled only, by other ops."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Callable, Iterator, Sequence

import torch
from torch._decomp import decomposition_table


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
        by_input = by_input[(..., *(slice(0, n) for n in x.shape[2:]))]
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


def adaptive_avg_pool(rank: int) -> Callable[..., Any]:
    """Gradients of means over slices of the last dims."""

    def function(grad: Any, x: Any) -> Any:
        for d in range(-rank, 0):
            size, count = x.shape[d], grad.shape[d]
            parts = [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
            grad = _spread(grad, d, size, parts, [end - begin for begin, end in parts])
        return grad

    return function


def avg_pool(
    grad: Any, x: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool, divisor_override: int | None
) -> Any:  # fmt: skip
    """Of means over windows of the last dims, as many as the kernel has."""
    rank = len(kernel)
    stride = stride or kernel
    stride, padding = ([v[0]] * rank if len(v) == 1 else list(v) for v in (stride, padding))
    for d in range(rank):
        size, k, s, p = x.shape[d - rank], kernel[d], stride[d], padding[d]
        begins = [i * s - p for i in range(grad.shape[d - rank])]
        parts = [(max(b, 0), min(b + k, size)) for b in begins]
        counts = [min(b + k, size + p) - b for b in begins] if count_include_pad else [end - begin for begin, end in parts]
        grad = _spread(grad, d - rank, size, parts, [1] * len(parts) if divisor_override else counts)
    return grad / divisor_override if divisor_override else grad


def _spread(grad: Any, dim: int, size: int, parts: Sequence[tuple[int, int]], counts: Sequence[int]) -> Any:
    """Each element over its slice of a dim of `size`, by its share."""
    weights = torch.zeros(len(parts), size, dtype=torch.float64)
    for i, ((begin, end), count) in enumerate(zip(parts, counts)):
        weights[i, begin:end] = 1 / count
    return torch.matmul(grad.movedim(dim, -1), weights.to(grad.dtype)).movedim(-1, dim)


def max_pool(rank: int) -> Callable[..., Any]:
    """Gradients of maxima of windows of the last dims, whose indices are the last argument."""

    def function(grad: Any, x: Any, *args: Any) -> Any:
        zeros = torch.zeros_like(x).flatten(-rank)
        return zeros.scatter_add(-1, args[-1].flatten(-rank), grad.flatten(-rank)).reshape(x.shape)

    return function


def cdist(grad: Any, a: Any, b: Any, p: float, distance: Any) -> Any:
    """By the rows of `a`."""
    difference = a.unsqueeze(-2) - b.unsqueeze(-3)
    grad, distance = grad.unsqueeze(-1), distance.unsqueeze(-1)
    if p == 0:
        return torch.zeros_like(a)
    if p == 1:
        by_each = difference.sign()
    elif p == math.inf:
        by_each = difference.sign() * (difference.abs() == distance).to(a.dtype)
    else:
        by_each = difference.sign() * torch.where(distance == 0, 0.0, (difference.abs() / distance).pow(p - 1))
    return (grad * by_each).sum(-2)


@contextlib.contextmanager
def of_parts() -> Iterator[None]:
    """While it lasts, ops whose gradients have no lowering, but for what PyTorch makes the ops of, have those of that."""
    key = torch._C.DispatchKey.Autograd
    ops = [op for op in (torch.ops.aten.grid_sampler_2d.default,) if key not in op.py_kernels]
    for op in ops:
        op.py_kernels[key] = decomposition_table[op]
        op._dispatch_cache.clear()
    try:
        yield
    finally:
        for op in ops:
            del op.py_kernels[key]
            op._dispatch_cache.clear()


def weight_norm(grad: Any, v: Any, g: Any, norms: Any, dim: int) -> Any:
    """Of directions `v` and lengths `g`, which `norms` of `v` divide, along `dim`."""
    along = (grad * v).sum([d for d in range(v.dim()) if d != dim], keepdim=True) if v.dim() > 1 else grad * v
    norms = norms.to(grad.dtype)
    return (g / norms) * (grad - v * along / (norms * norms)), along / norms


def replication_pad(gradient: Any, x: Any, padding: Sequence[int]) -> Any:
    """Values that stand for an element at the boundary are added up there; negative padding cropped elements."""
    for i in range(len(padding) // 2):
        dim, (low, high) = x.dim() - 1 - i, padding[2 * i : 2 * i + 2]
        around = [0, 0] * i + [max(0, -low), max(0, -high)]
        gradient = torch.constant_pad_nd(gradient, around)
        low, high, size = max(0, low), max(0, high), x.shape[dim]
        first = gradient.narrow(dim, 0, low).sum(dim, keepdim=True) if low else None
        last = gradient.narrow(dim, low + size, high).sum(dim, keepdim=True) if high else None
        gradient = gradient.narrow(dim, low, size)
        if first is not None:
            gradient = gradient + torch.constant_pad_nd(first, [0, 0] * i + [0, size - 1])
        if last is not None:
            gradient = gradient + torch.constant_pad_nd(last, [0, 0] * i + [size - 1, 0])
    return gradient
