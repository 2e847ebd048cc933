"""Ops that move, select and change elements of PyTorch's tensors by their indices."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch


def unfold(x: Any, dim: int, size: int, step: int) -> Any:
    return x.reshape([1])[:size] if x.dim() == 0 else NotImplemented


def broadcast_in_dim(x: Any, shape: Sequence[int], dims: Sequence[int]) -> Any:
    return x.reshape([x.shape[list(dims).index(d)] if d in dims else 1 for d in range(len(shape))]).expand(shape)


def as_strided(x: Any, size: Sequence[int], stride: Sequence[int], offset: int | None = None) -> Any:
    """All elements, in their order."""
    return x.reshape(size) if x.is_contiguous() and _find_positions(size, stride, offset or 0) == list(range(x.numel())) else NotImplemented


def _find_positions(size: Sequence[int], stride: Sequence[int], offset: int) -> list[int]:
    """Where the elements of a view lie, one after the other."""
    positions = [offset]
    for count, step in zip(size, stride):
        positions = [p + step * i for p in positions for i in range(count)]
    return positions


def as_strided_scatter(x: Any, values: Any, size: Sequence[int], stride: Sequence[int], offset: int) -> Any:
    """Values at the offsets that strides give, of all elements of `x` in their order."""
    positions = _find_positions(size, stride, offset)
    if not x.is_contiguous() or len(set(positions)) != len(positions) or any(p >= x.numel() for p in positions):
        return NotImplemented
    if positions == list(range(x.numel())):
        return values.reshape(x.shape)
    if len(positions) == x.numel():
        return values.flatten()[sorted(range(len(positions)), key=positions.__getitem__)].reshape(x.shape)
    size, stride = [*size, 1], [*stride, 0]
    index: Any = offset
    for d, (count, step) in enumerate(zip(size, stride)):
        index = index + torch.arange(count).reshape([-1, *[1] * (len(size) - 1 - d)]) * step
    return x.flatten().scatter(0, index.expand(size).flatten(), values.flatten()).reshape(x.shape)


def index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    """By a mask, where all that it picks become or gain the same; and torch-mlir takes indices of 64 bits only."""
    if any(i is not None and i.dtype is torch.int32 for i in indices):
        indices = [i if i is None or i.dtype is not torch.int32 else i.to(torch.int64) for i in indices]
        return torch.ops.aten.index_put.default(x, indices, values, accumulate)
    if accumulate and x.is_complex():
        return torch.complex(*(torch.ops.aten.index_put.default(a, indices, v, True) for a, v in ((x.real, values.real), (x.imag, values.imag))))
    mask = indices[0]
    if len(indices) != 1 or mask is None or mask.dtype is not torch.bool:
        return NotImplemented
    rest = x.dim() - mask.dim()
    if values.dim() > rest + 1 or (values.dim() == rest + 1 and values.shape[0] != 1):
        return NotImplemented
    values = values.reshape(values.shape[1:]) if values.dim() == rest + 1 else values
    mask = mask.reshape([*mask.shape, *[1] * rest])
    return torch.where(mask, x + values if accumulate else values, x)


def embedding_bag(
    weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
    per_sample_weights: Any = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """Sums, means or maxima (0, 1, 2) of rows in bags, which begin at `offsets`, or are the rows of `indices` where these have two
    dims."""
    rows = torch.nn.functional.embedding(indices, weight)
    kept = torch.ones(indices.shape, dtype=torch.bool) if padding_idx is None else indices != padding_idx % weight.shape[0]
    rows = torch.where(kept.unsqueeze(-1), rows, -math.inf if mode == 2 else 0)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(indices.shape).unsqueeze(-1)
    if indices.dim() == 2:
        count = kept.sum(1)
        result = rows.amax(1) if mode == 2 and indices.shape[1] else rows.sum(1)
    else:
        offsets = offsets[:-1] if include_last_offset else offsets
        bags = (torch.arange(indices.shape[0]).unsqueeze(1) >= offsets).sum(1) - 1
        count = torch.zeros(offsets.shape, dtype=torch.int64).index_add(0, bags, kept.to(torch.int64))
        empty = torch.zeros([offsets.shape[0], weight.shape[1]], dtype=weight.dtype)
        result = empty.index_reduce(0, bags, rows, "amax", include_self=False) if mode == 2 else empty.index_add(0, bags, rows)
    count = count.unsqueeze(-1)
    if mode == 1:
        result = result / torch.where(count == 0, 1, count).to(result.dtype)
    if mode == 2:
        result = torch.where(count == 0, 0, result)
    none = torch.zeros([0], dtype=torch.int64)
    return result, none, none, none


def put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    if not index.numel():
        return x.clone()
    return x.reshape([-1]).index_put([index.reshape([-1])], source.reshape([-1]), accumulate).reshape(x.shape)


LONGEST_UNROLLED = 16


def scatter(op: Any, combine: str | None = None) -> Callable[..., Any]:
    """Where a row gets few updates, each element reads all of them, so that any dim can be sharded; a scalar is a dim of one element.
    `combine`: combines an element and its update; else `reduce` names the reduction, else the update replaces the element."""

    def function(x: Any, dim: int, index: Any, source: Any, reduce: str | None = None, *, include_self: bool = True) -> Any:
        how: dict[str, Any] = {"reduce": reduce} if combine is None and reduce is not None else {}
        if not include_self:
            how["include_self"] = False
        if x.dim() == 0:
            source = source.reshape([1]) if isinstance(source, torch.Tensor) else source
            return op(x.reshape([1]), 0, index.reshape([1]), source, **how).reshape([])
        dim %= x.dim()
        if reduce == "mean":
            return _scatter_mean(x, dim, index, source, include_self)
        if not index.numel():
            return x.clone()
        if index.shape[dim] > LONGEST_UNROLLED or x.is_complex():
            return NotImplemented
        if isinstance(source, torch.Tensor):
            source = source[tuple(slice(0, n) for n in index.shape)]
        # Rows beyond those of the indices get nothing.
        beyond = [n for d in reversed(range(x.dim())) for n in (0, 0 if d == dim else x.shape[d] - index.shape[d])]
        if any(beyond):
            index = torch.constant_pad_nd(index, beyond, -1)
            source = torch.constant_pad_nd(source, beyond) if isinstance(source, torch.Tensor) else source
        positions = torch.arange(x.shape[dim]).reshape([-1 if d == dim else 1 for d in range(x.dim())])
        fold, result, untouched = _FOLDS[combine or reduce], x, None
        for k in range(index.shape[dim]):
            hit = index.narrow(dim, k, 1) == positions
            update = source.narrow(dim, k, 1) if isinstance(source, torch.Tensor) else torch.full([1] * x.dim(), source, dtype=x.dtype)
            if fold is None or include_self:
                changed = update if fold is None else fold(result, update)
            else:
                changed = update if untouched is None else torch.where(untouched, update, fold(result, update))
                untouched = torch.logical_not(hit) if untouched is None else torch.logical_and(untouched, torch.logical_not(hit))
            result = torch.where(hit, changed, result)
        return result

    return function


_FOLDS: dict[str | None, Callable[[Any, Any], Any] | None] = {
    None: None, "sum": torch.add, "add": torch.add, "prod": torch.mul, "multiply": torch.mul, "amax": torch.maximum, "amin": torch.minimum,
}  # fmt: skip


def _scatter_mean(x: Any, dim: int, index: Any, source: Any, include_self: bool) -> Any:
    """The sum, by how many there are."""
    count = torch.scatter_add(torch.full_like(x, int(include_self)), dim, index, torch.ones_like(source))
    total = torch.scatter_add(x if include_self else torch.where(count > 0, 0, x), dim, index, source)
    count = torch.where(count > 0, count, 1)
    return total / count if x.is_floating_point() else torch.div(total, count, rounding_mode="floor")


def index_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    if x.dim() == 0:
        return index_reduce(x.reshape([1]), 0, index, source.reshape([1]), reduce, include_self=include_self).reshape([])
    positions = index.reshape([-1 if d == dim % x.dim() else 1 for d in range(x.dim())]).expand(source.shape)
    return torch.scatter_reduce(x, dim, positions, source, reduce, include_self=include_self)


def diagonal_scatter(x: Any, part: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    last = x.movedim((dim1, dim2), (-2, -1))
    rows, columns = last.shape[-2:]
    first = max(0, -offset)
    part = torch.nn.functional.pad(part, (first, rows - first - part.shape[-1])).unsqueeze(-1)
    on = torch.arange(columns) - torch.arange(rows).unsqueeze(-1) == offset
    return torch.where(on, part, last).movedim((-2, -1), (dim1, dim2))


def block_diag(blocks: Sequence[Any]) -> Any:
    blocks = [block.reshape([1] * (2 - block.dim()) + list(block.shape)) for block in blocks]
    width, before, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        rows.append(torch.nn.functional.pad(block, (before, width - before - block.shape[1])))
        before += block.shape[1]
    return torch.cat(rows)


def pad(x: Any, pad: Sequence[int], value: float = 0) -> Any:
    """Negative padding crops elements."""
    if min(pad) >= 0:
        return NotImplemented
    for i in range(len(pad) // 2):
        dim = x.dim() - 1 - i
        low, high = (max(0, -p) for p in pad[2 * i : 2 * i + 2])
        x = x.narrow(dim, low, x.shape[dim] - low - high)
    return torch.constant_pad_nd(x, [max(0, p) for p in pad], value)


def empty(size: Sequence[int], dtype: Any = None, **_: Any) -> Any:
    return torch.empty(size, dtype=dtype)
