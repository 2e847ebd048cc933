"""Ops of PyTorch that torch-mlir does not lower, or not as PyTorch says, by ops that it lowers."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterable, Sequence

from . import torch_elementwise as elementwise
from .torch_graph import packet

Table = dict[Any, Callable[..., Any]]
"""What ops are made of, by overload, as `ExportedProgram.run_decompositions` takes it."""


def always() -> Table:
    """torch-mlir's own choice, and what it would lower wrongly or not at all."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    return dict(get_decomposition_table()) | _select(_WRONG)


def known_decompositions() -> Table:
    """What PyTorch makes ops of, in Python where it has that."""
    import torch
    from torch._decomp import decomposition_table

    return dict(torch.export.default_decompositions()) | decomposition_table


def find_decompositions(names: Iterable[str]) -> Table:
    """Of ops by the names that torch-mlir has for them, `aten.addmv` or `aten.max.dim`: what PyTorch makes them of, or we."""
    packets = {".".join(name.split(".")[:2]) for name in names}
    ours = {k: v for k, v in _MISSING.items() if k.rsplit(".", 1)[0] in packets}
    theirs = {k: v for k, v in known_decompositions().items() if packet(k) in packets}
    return theirs | _select(ours)


def either(first: Callable[..., Any] | None, second: Callable[..., Any]) -> Callable[..., Any]:
    """The second where the first does not say what an op is made of."""

    def function(*args: Any, **kwargs: Any) -> Any:
        found = first(*args, **kwargs) if first else NotImplemented
        return second(*args, **kwargs) if found is NotImplemented else found

    return function


def _select(functions: dict[str, Callable[..., Any]]) -> Table:
    import torch

    found: Table = {}
    for name, function in functions.items():
        target: Any = torch.ops
        for part in name.split("."):
            target = getattr(target, part, None)
        if target is not None:
            found[target] = function
    return found


def _scan(values: Sequence[Any], dim: int, combine: Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]) -> Sequence[Any]:
    """What `combine` makes of the elements so far along a dim, in log2 n steps."""
    import torch

    if values[0].dim() == 0:
        return [v.clone() for v in values]
    count, step = values[0].shape[dim], 1
    while step < count:
        found = combine([v.narrow(dim, 0, count - step) for v in values], [v.narrow(dim, step, count - step) for v in values])
        values = [torch.cat([v.narrow(dim, 0, step), f], dim) for v, f in zip(values, found)]
        step *= 2
    return values


def _pick_so_far(x: Any, dim: int, stands: Callable[[Any, Any], Any]) -> Sequence[Any]:
    """Values and places of what is picked of the elements so far along a dim; `stands`: an earlier value does, and does not give
    way to a later one."""
    import torch

    def pick(before: Sequence[Any], now: Sequence[Any]) -> Sequence[Any]:
        kept = stands(before[0], now[0])
        return [torch.where(kept, b, n) for b, n in zip(before, now)]

    shape = [x.shape[d] if d == dim % x.dim() else 1 for d in range(x.dim())]
    return _scan([x, torch.arange(math.prod(shape)).reshape(shape).expand(x.shape)], dim, pick)


def cumprod(x: Any, dim: int, *, dtype: Any = None) -> Any:
    import torch

    x = x.to(dtype or (x.dtype if x.is_floating_point() or x.is_complex() else torch.int64))
    return _scan([x], dim, lambda before, now: [before[0] * now[0]])[0]


def _logcumsumexp(x: Any, dim: int) -> Any:
    import torch

    return _scan([x], dim, lambda before, now: [torch.logaddexp(before[0], now[0])])[0]


def _sort(x: Any, *, stable: bool | None = None, dim: int = -1, descending: bool = False) -> Any:
    """Stable here, asked for or not."""
    import torch

    return torch.ops.aten.sort.default(x, dim, descending)


def _unfold(x: Any, dim: int, size: int, step: int) -> Any:
    return x.reshape([1])[:size] if x.dim() == 0 else NotImplemented


def _broadcast_in_dim(x: Any, shape: Sequence[int], dims: Sequence[int]) -> Any:
    return x.reshape([x.shape[list(dims).index(d)] if d in dims else 1 for d in range(len(shape))]).expand(shape)


def _is_beyond(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """What is no number is beyond all, and equals give way to the later one."""

    def stands(before: Any, now: Any) -> Any:
        return compare(before, now) | ((before != before) & (now == now))

    return stands


def _cummax(x: Any, dim: int) -> tuple[Any, Any]:
    import torch

    return tuple(_pick_so_far(x, dim, _is_beyond(torch.gt)))


def _cummin(x: Any, dim: int) -> tuple[Any, Any]:
    import torch

    return tuple(_pick_so_far(x, dim, _is_beyond(torch.lt)))


def addbmm(x: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    import torch

    if not (x.is_floating_point() or x.is_complex()):
        beta, alpha = int(beta), int(alpha)
    return beta * x + alpha * torch.bmm(a, b).sum(0)


def _cdist(a: Any, b: Any, p: float, compute_mode: int | None) -> Any:
    import torch

    difference = (a.unsqueeze(-2) - b.unsqueeze(-3)).abs()
    if p == 0:
        return (difference != 0).to(a.dtype).sum(-1)
    if p == math.inf:
        return difference.amax(-1) if a.shape[-1] else difference.sum(-1)
    if p == 1:
        return difference.sum(-1)
    return torch.sqrt((difference * difference).sum(-1)) if p == 2 else difference.pow(p).sum(-1).pow(1 / p)


def _kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    import torch

    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    found = (v.narrow(dim, k - 1, 1) for v in torch.sort(x, dim))
    values, places = (v if keepdim else v.squeeze(dim) for v in found)
    return values, places


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Any, Any]:
    import torch

    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    values, places = torch.sort(x, dim, largest)
    return values.narrow(dim, 0, k), places.narrow(dim, 0, k)


def _median_dim(x: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """The lower one of two in the middle; the first that is no number, if there is one."""
    import torch

    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    count = x.shape[dim]
    values, places = torch.sort(x, dim)
    odd = (x != x).sum(dim, keepdim=True)
    at = torch.where(odd == 0, (count - 1) // 2, count - odd)
    values, places = values.gather(dim, at), places.gather(dim, at)
    return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))


def _nanmedian_dim(x: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    import torch

    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64)
    values, places = torch.sort(x, dim)
    at = torch.clamp((x == x).sum(dim, keepdim=True) - 1, min=0) // 2
    values, places = values.gather(dim, at), places.gather(dim, at)
    return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))


def _median(x: Any) -> Any:
    return _median_dim(x.reshape(-1), 0)[0]


def _nanmedian(x: Any) -> Any:
    return _nanmedian_dim(x.reshape(-1), 0)[0]


def _searchsorted(
    sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Any = None
) -> Any:
    import torch

    if sorter is not None:
        sequence = sequence.gather(-1, sorter)
    sequence = sequence.unsqueeze(-2) if sequence.dim() > 1 else sequence
    before = (sequence <= values.unsqueeze(-1)) if right or side == "right" else (sequence < values.unsqueeze(-1))
    return before.sum(-1).to(torch.int32 if out_int32 else torch.int64)


def _histc(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    import torch

    if min == max:
        return NotImplemented
    values = x.reshape(-1).to(torch.float32 if x.dtype != torch.float64 else x.dtype)
    place = torch.clamp(((values - min) / (max - min) * bins).floor(), max=bins - 1)  # the last one holds its end
    place = torch.where((values >= min) & (values <= max), place, -1)
    return (place.unsqueeze(-1) == torch.arange(bins)).sum(0).to(x.dtype)


def _grouped_mm(x: Any, weights: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None) -> Any:
    """Rows in groups, which end at `offs`, each by a matrix of its own. As one product, over groups and columns of rows that are
    zero but in their group: so groups that are spread over devices add up what each of them has."""
    import torch

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


def _index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    """By a mask, where all that it picks become or gain the same; and torch-mlir takes indices of 64 bits only."""
    import torch

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


def _scatter_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    """Of means: the sum, by how many there are."""
    import torch

    if reduce != "mean":
        return NotImplemented
    count = torch.scatter_add(torch.full_like(x, int(include_self)), dim, index, torch.ones_like(source))
    total = torch.scatter_add(x if include_self else torch.where(count > 0, 0, x), dim, index, source)
    count = torch.where(count > 0, count, 1)
    return total / count if x.is_floating_point() else torch.div(total, count, rounding_mode="floor")


def _index_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    import torch

    if x.dim() == 0:
        return _index_reduce(x.reshape([1]), 0, index, source.reshape([1]), reduce, include_self=include_self).reshape([])
    places = index.reshape([-1 if d == dim % x.dim() else 1 for d in range(x.dim())]).expand(source.shape)
    return torch.scatter_reduce(x, dim, places, source, reduce, include_self=include_self)


def _diagonal_scatter(x: Any, part: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    import torch

    last = x.movedim((dim1, dim2), (-2, -1))
    rows, columns = last.shape[-2:]
    first = max(0, -offset)
    part = torch.nn.functional.pad(part, (first, rows - first - part.shape[-1])).unsqueeze(-1)
    on = torch.arange(columns) - torch.arange(rows).unsqueeze(-1) == offset
    return torch.where(on, part, last).movedim((-2, -1), (dim1, dim2))


def _block_diag(blocks: Sequence[Any]) -> Any:
    import torch

    blocks = [block.reshape([1] * (2 - block.dim()) + list(block.shape)) for block in blocks]
    width, before, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        rows.append(torch.nn.functional.pad(block, (before, width - before - block.shape[1])))
        before += block.shape[1]
    return torch.cat(rows)


def _pad(x: Any, pad: Sequence[int], value: float = 0) -> Any:
    """Less than nothing takes places away."""
    import torch

    if min(pad) >= 0:
        return NotImplemented
    for i in range(len(pad) // 2):
        dim = x.dim() - 1 - i
        low, high = (max(0, -p) for p in pad[2 * i : 2 * i + 2])
        x = x.narrow(dim, low, x.shape[dim] - low - high)
    return torch.constant_pad_nd(x, [max(0, p) for p in pad], value)


def _largest(value: str, place: str) -> Callable[..., Any]:
    """Of max and min along a dim: `amax` and `argmax`."""

    def function(x: Any, dim: int, keepdim: bool = False) -> Any:
        import torch

        if x.dim() == 0:
            return x.clone(), torch.zeros((), dtype=torch.int64)
        return (getattr(torch, value)(x, dim, keepdim), getattr(torch, place)(x, dim, keepdim)) if x.is_floating_point() else NotImplemented

    return function


def _only_place(x: Any, *_: Any) -> Any:
    import torch

    return torch.zeros((), dtype=torch.int64) if x.dim() == 0 else NotImplemented


def _variance(name: str) -> Callable[..., Any]:
    """Of var and std: what is divided by is no less than 0."""

    def function(x: Any, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Any:
        import torch

        count = math.prod(x.shape[d] for d in dim or range(x.dim()))
        if (1 if correction is None else correction) <= count:
            return NotImplemented
        spread = getattr(torch, name.removesuffix("_mean"))(x, dim, correction=count, keepdim=keepdim)
        return (spread, torch.mean(x, dim, keepdim)) if name.endswith("_mean") else spread

    return function


def _cumulative_of_a_scalar(x: Any, dim: int, *, dtype: Any = None) -> Any:
    return x.to(dtype or x.dtype) if x.dim() == 0 else NotImplemented


_WRONG = {
    "aten.argmax.default": _only_place,
    "aten.argmin.default": _only_place,
    "aten.block_diag.default": _block_diag,
    "aten.copysign.Tensor": elementwise.copysign,
    "aten.signbit.default": elementwise.signbit,
    "aten.eq.Tensor": elementwise.eq,
    "aten.fmax.default": elementwise.pick_number("maximum"),
    "aten.fmin.default": elementwise.pick_number("minimum"),
    "aten.max.dim": _largest("amax", "argmax"),
    "aten.min.dim": _largest("amin", "argmin"),
    "aten.maximum.default": elementwise.pick("gt"),
    "aten.minimum.default": elementwise.pick("lt"),
    "aten.clamp.default": elementwise.clamp,
    "aten.clamp.Tensor": elementwise.clamp,
    "aten.hardtanh.default": elementwise.hardtanh,
    "aten.hardsigmoid.default": elementwise.hardsigmoid,
    "aten.gelu.default": elementwise.gelu,
    "aten.reciprocal.default": elementwise.reciprocal,
    "aten.pow.Tensor_Scalar": elementwise.pow,
    "aten.fmod.Tensor": elementwise.fmod,
    "aten.fmod.Scalar": elementwise.fmod,
    "aten.div.Tensor_mode": elementwise.div_mode,
    "aten.div.Scalar_mode": elementwise.div_mode,
    "aten.floor_divide.default": elementwise.floor_divide,
    "aten.floor_divide.Scalar": elementwise.floor_divide,
    "aten.logcumsumexp.default": _logcumsumexp,
    "aten.scatter_reduce.two": _scatter_reduce,
    "aten.std.correction": _variance("std"),
    "aten.std_mean.correction": _variance("std_mean"),
    "aten.sort.stable": _sort,
    "aten.unfold.default": _unfold,
    "aten.var.correction": _variance("var"),
    "aten.var_mean.correction": _variance("var_mean"),
    "aten.constant_pad_nd.default": _pad,
    "aten.cumsum.default": _cumulative_of_a_scalar,
    "aten.cumprod.default": _cumulative_of_a_scalar,
    "aten.index_put.default": _index_put,
    "aten.isfinite.default": elementwise.isfinite,
    "aten.kthvalue.default": _kthvalue,
}


def _empty(size: Sequence[int], dtype: Any = None, **_: Any) -> Any:
    import torch

    return torch.empty(size, dtype=dtype)


_MISSING = {
    "aten._grouped_mm.default": _grouped_mm,
    "aten.histc.default": _histc,
    "aten.topk.default": _topk,
    "prims.hypot.default": elementwise.hypot,
    "transformers.grouped_mm_fallback.default": _grouped_mm,
    "aten.addbmm.default": addbmm,
    "aten._cdist_forward.default": _cdist,
    "aten.cummax.default": _cummax,
    "aten.cummin.default": _cummin,
    "prims.broadcast_in_dim.default": _broadcast_in_dim,
    "aten.diagonal_scatter.default": _diagonal_scatter,
    "aten.empty_strided.default": lambda size, stride, **kwargs: _empty(size, **kwargs),
    "aten.index_reduce.default": _index_reduce,
    "aten.median.default": _median,
    "aten.median.dim": _median_dim,
    "aten.nanmedian.default": _nanmedian,
    "aten.nanmedian.dim": _nanmedian_dim,
    "aten.searchsorted.Tensor": _searchsorted,
}
