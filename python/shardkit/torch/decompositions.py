"""Ops of PyTorch that torch-mlir does not lower, or not as PyTorch defines them, by ops that it lowers."""

from __future__ import annotations

from typing import Any, Callable, Iterable

import torch

from . import contractions, elements, elementwise, gradients, reductions, scans, sorting, special
from .graph import packet

Table = dict[Any, Callable[..., Any]]
"""What ops are made of, by overload, as `ExportedProgram.run_decompositions` takes it."""


def always() -> Table:
    """torch-mlir's own choice, and what it would lower wrongly or not at all."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    return dict(get_decomposition_table()) | select(_WRONG)


def known_decompositions() -> Table:
    """What PyTorch makes ops of, in Python where it has that."""
    from torch._decomp import decomposition_table

    known: Table = dict(torch.export.default_decompositions()) | decomposition_table
    return known


def of_backward_ops() -> Table:
    """What PyTorch makes its ops for gradients of, or we."""
    theirs = {k: v for k, v in known_decompositions().items() if "_backward" in packet(k)}
    return theirs | select(_GRADIENTS)


def find_decompositions(names: Iterable[str]) -> Table:
    """Of ops by the names that torch-mlir has for them, `aten.addmv` or `aten.max.dim`: what PyTorch makes them of, or we."""
    packets = {".".join(name.split(".")[:2]) for name in names}
    ours = {k: v for k, v in _MISSING.items() if k.rsplit(".", 1)[0] in packets}
    theirs = {k: v for k, v in known_decompositions().items() if packet(k) in packets}
    return theirs | select(ours)


def either(first: Callable[..., Any] | None, second: Callable[..., Any]) -> Callable[..., Any]:
    """The second where the first has no decomposition of an op."""

    def function(*args: Any, **kwargs: Any) -> Any:
        found = first(*args, **kwargs) if first else NotImplemented
        return second(*args, **kwargs) if found is NotImplemented else found

    return function


def select(functions: dict[str, Callable[..., Any]]) -> Table:
    """A table of functions by the names of overloads, but for what this PyTorch does not have."""
    found: Table = {}
    for name, function in functions.items():
        target: Any = torch.ops
        for part in name.split("."):
            target = getattr(target, part, None)
        if target is not None:
            found[target] = function
    return found


_WRONG: dict[str, Callable[..., Any]] = {
    "aten.argmax.default": reductions.only_position,
    "aten.argmin.default": reductions.only_position,
    "aten.aminmax.default": reductions.aminmax,
    "aten.block_diag.default": elements.block_diag,
    "aten.adaptive_max_pool2d.default": reductions.adaptive_max_pool2d,
    "aten.angle.default": elementwise.angle,
    "aten.polar.default": elementwise.polar,
    "aten.embedding_bag.padding_idx": elements.embedding_bag,
    "aten.put.default": elements.put,
    "aten.copysign.Tensor": elementwise.copysign,
    "aten.signbit.default": elementwise.signbit,
    "aten.eq.Tensor": elementwise.eq,
    **{f"aten.{n}.Scalar": elementwise.compare(n) for n in ("eq", "ge", "gt", "le", "lt", "ne")},
    "aten.fmax.default": elementwise.pick_number("maximum"),
    "aten.fmin.default": elementwise.pick_number("minimum"),
    "aten.max.dim": reductions.largest("amax", "argmax"),
    "aten.min.dim": reductions.largest("amin", "argmin"),
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
    "aten.logcumsumexp.default": scans.logcumsumexp,
    "aten.as_strided.default": elements.as_strided,
    "aten.convolution.default": contractions.convolution,
    **{f"aten.scatter.{n}": elements.scatter(getattr(torch.ops.aten.scatter, n)) for n in ("src", "value", "reduce", "value_reduce")},
    "aten.scatter_add.default": elements.scatter(torch.ops.aten.scatter_add, "sum"),
    "aten.scatter_reduce.two": elements.scatter(torch.ops.aten.scatter_reduce),
    "aten.std.correction": reductions.variance("std"),
    "aten.std_mean.correction": reductions.variance("std_mean"),
    "aten.sort.stable": sorting.sort,
    "aten.unfold.default": elements.unfold,
    "aten.var.correction": reductions.variance("var"),
    "aten.var_mean.correction": reductions.variance("var_mean"),
    "aten.constant_pad_nd.default": elements.pad,
    "aten.cumsum.default": scans.cumulative_of_a_scalar,
    "aten.cumprod.default": scans.cumulative_of_a_scalar,
    "aten.index_put.default": elements.index_put,
    "aten.isfinite.default": elementwise.isfinite,
    "aten.kthvalue.default": sorting.kthvalue,
    "aten.topk.default": sorting.topk_in_any_order,
}

_GRADIENTS: dict[str, Callable[..., Any]] = {
    "aten.convolution_backward.default": gradients.convolution_backward,
    "aten._adaptive_avg_pool2d_backward.default": gradients.adaptive_avg_pool(2),
    "aten._adaptive_avg_pool3d_backward.default": gradients.adaptive_avg_pool(3),
    "aten.adaptive_max_pool2d_backward.default": gradients.max_pool(2),
    "aten.adaptive_max_pool3d_backward.default": gradients.max_pool(3),
    "aten.fractional_max_pool2d_backward.default": gradients.max_pool(2),
    "aten.fractional_max_pool3d_backward.default": gradients.max_pool(3),
    "aten.max_pool2d_with_indices_backward.default": gradients.max_pool(2),
    "aten.max_pool3d_with_indices_backward.default": gradients.max_pool(3),
    "aten.avg_pool2d_backward.default": gradients.avg_pool,
    "aten.avg_pool3d_backward.default": gradients.avg_pool,
    "aten._cdist_backward.default": gradients.cdist,
    "aten._weight_norm_interface_backward.default": gradients.weight_norm,
    **{f"aten.replication_pad{rank}d_backward.default": gradients.replication_pad for rank in (1, 2, 3)},
}

_MISSING: dict[str, Callable[..., Any]] = {
    "aten._grouped_mm.default": contractions.grouped_mm,
    "aten._neg_view.default": torch.neg,
    "aten.histc.default": reductions.histc,
    "aten.topk.default": sorting.topk,
    "prims.hypot.default": elementwise.hypot,
    "transformers.grouped_mm_fallback.default": contractions.grouped_mm,
    "transformers.grouped_mm_fallback_backward.default": contractions.grouped_mm_backward,
    "prims.as_strided_scatter.default": elements.as_strided_scatter,
    "prims.copy_strided.default": lambda x, stride: x.clone(),
    "aten.addbmm.default": contractions.addbmm,
    "aten._cdist_forward.default": contractions.cdist,
    "aten.cummax.default": scans.cummax,
    "aten.cummin.default": scans.cummin,
    "prims.broadcast_in_dim.default": elements.broadcast_in_dim,
    "aten.diagonal_scatter.default": elements.diagonal_scatter,
    "aten.empty_strided.default": lambda size, stride, **kwargs: elements.empty(size, **kwargs),
    "aten.index_reduce.default": elements.index_reduce,
    "aten.median.default": sorting.median,
    "aten.median.dim": sorting.median_dim,
    "aten.nanmedian.default": sorting.nanmedian,
    "aten.nanmedian.dim": sorting.nanmedian_dim,
    "aten.searchsorted.Tensor": sorting.searchsorted,
    "prims.bessel_i0.default": special.bessel("bessel_i0e"),
    "prims.bessel_i1.default": special.bessel("bessel_i1e"),
    "prims.pow.default": elementwise.pow_of_integers,
    "prims.digamma.default": special.digamma,
    "aten.polygamma.default": special.polygamma,
    **{f"prims.{n}.default": special.by_formula(n) for n in ("bessel_i0e", "bessel_i1e", "erf_inv", "erfc", "erfcx", "lgamma", "ndtri", "zeta")},
}
