"""The tensor-parallel plan that a model of the library brings, as shardings."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any, Mapping

import torch

from ..errors import ShardKitError
from ..torch.plans import Styles
from .layouts import QuantizedWeight, Shards
from .quantized import STACK

Shardings = dict[str, list[Any]]
"""By parameters: the axes of each dim."""

# Of a parameter of a linear layer, which has the outputs in the dim before the last; of more dims where experts are stacked.
_COLUMNS, _ROWS = -2, -1

_INNER = {"moe_tp_experts", "ep_dispatch_experts", "replicated_with_grad_allreduce", "mla_kv_a_proj", "moe_identity_expert", "local_params", "replicate", "all_reduce", "ep_router", "local", "gather"}
"""Styles that say how ranks compute with what is sharded already, which follows here from the shardings."""


def read(module: Any, axis: str, size: int) -> tuple[Styles, Shardings]:
    """On an axis of a mesh. Of a mixture that only has a plan for expert parallelism, that plan counts for the experts."""
    plan = _get_plan(module)
    if not plan:
        raise ShardKitError(f"error: {type(module).__name__} brings no tensor-parallel plan, expected --plan=auto, or a plan file")
    styles, shardings = Styles(axis), Shardings()
    modules, parameters = dict(module.named_modules()), dict(module.named_parameters(remove_duplicate=False))
    for pattern, style in plan.items():
        for name in _match(pattern, modules):
            _shard_module(styles, shardings, name, modules[name], style, size)
        for name in [n for n in parameters if _compile(pattern).fullmatch(n)]:
            _shard_parameter(styles, shardings, name, parameters[name], modules[name.rpartition(".")[0]], style, size)
    first = {id(v): n for n, v in reversed(list(module.named_parameters()))}
    return styles, {first[id(parameters[n])]: dims for n, dims in shardings.items()}


def find_shards(module: Any, size: int) -> dict[str, Shards]:
    """Of the quantized weights of linear layers and experts for which the plan has a style."""
    modules, found = dict(module.named_modules()), {}
    for pattern, style in _get_plan(module).items():
        for name in _match(pattern, modules):
            if isinstance(modules[name], QuantizedWeight) and (style == "grouped_gemm" or "colwise" in style or "rowwise" in style):
                weight = modules[name]
                inner = size
                if style == "grouped_gemm":
                    inner = size // _count_groups(weight.lead[0], _get_width(name, weight), size)
                elif _has_uneven_experts(name, weight, size):
                    inner = 1
                # An embedding has one row for each number.
                is_row = style == "embedding_colwise" or style.startswith(("rowwise", "packed_rowwise")) or (style == "grouped_gemm" and _is_back(name))
                found[name] = Shards(1, inner) if is_row else Shards(inner, 1)
    return found


def _get_plan(module: Any) -> dict[str, str]:
    plan = dict(module.ep_plan or {}) if not any("expert" in k for k in module.tp_plan or {}) else {}
    return plan | (module.tp_plan or {})


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(r"\d+".join(map(re.escape, pattern.split("*"))))


def _match(pattern: str, modules: Mapping[str, Any]) -> list[str]:
    return [n for n in modules if n and _compile(pattern).fullmatch(n.removesuffix(STACK))]


def _shard_module(styles: Styles, shardings: Shardings, name: str, module: Any, style: str, size: int) -> None:
    if style in _INNER:
        return
    if style == "sequence_parallel":
        styles.outputs[name] = 1
        return
    own = {n: v for n, v in module.named_parameters(recurse=False) if v is not None}
    for key, value in own.items():
        if isinstance(module, QuantizedWeight) and key != "bias":
            _shard_payload(shardings, f"{name}.{key}", value, module, style, styles.axis, size)
        elif not (key == "bias" and style.startswith(("rowwise", "packed_rowwise", "embedding"))):
            _shard_parameter(styles, shardings, f"{name}.{key}", value, module, style, size)
    if style.startswith("colwise"):
        is_whole = style in ("colwise_gather_output", "colwise_rep")
        width = getattr(module, "out_features", 0)
        if is_whole or (width and width % size == 0):  # else left to propagation: shards of several sizes
            styles.outputs[name] = False if is_whole else -1
    elif style.startswith(("rowwise", "embedding")):
        styles.outputs[name] = False


def _shard_payload(shardings: Shardings, name: str, value: Any, weight: QuantizedWeight, style: str, axis: str | None, size: int) -> None:
    """Of a quantized weight, whose other tensors follow by propagation."""
    dims = weight.weight_dims.get(name.rpartition(".")[2])
    if dims is None:
        return
    found: list[Any] = [None] * value.dim()
    if style == "grouped_gemm" and weight.lead:
        found = _shard_experts(value, dims[not _is_back(name)], _count_groups(weight.lead[0], _get_width(name, weight), size), axis, size)
    elif style.startswith(("colwise", "packed_colwise", "rowwise", "packed_rowwise")):
        at = dims["colwise" in style]
        is_packed = style.startswith("packed")
        if _has_uneven_experts(name, weight, size):
            found[0] = axis
        elif is_packed and value.shape[at] % (2 * size):
            return  # shards of several sizes: left to propagation
        else:
            found[at] = (2, axis) if is_packed else axis
    elif style.startswith("embedding"):  # one row for each number
        found[dims[style == "embedding_rowwise"]] = axis
    else:
        return
    shardings[name] = found


def _is_back(name: str) -> bool:
    """Whether a stack projects back to the size of tokens."""
    return "down_proj" in name


def _get_width(name: str, stack: QuantizedWeight) -> int:
    """Of an expert: the outputs of each of gate and up, and the inputs of what projects back."""
    return int(stack.in_features if _is_back(name) else stack.out_features // 2)


def _has_uneven_experts(name: str, weight: QuantizedWeight, size: int) -> bool:
    """Whether shards of an expert would have several sizes, which end inside of blocks and words: devices hold full experts then."""
    return bool(weight.lead) and _get_width(name, weight) % size != 0


def _find_inner(name: str, value: Any, experts: Any) -> int | None:
    """The dim of a stack of weights or biases that devices share beside the experts."""
    if value.dim() < 3:
        return None if _is_back(name) or value.dim() < 2 else 1
    return 2 - (_is_back(name) == bool(getattr(experts, "is_transposed", False)))


def _count_groups(experts: int, width: int, size: int) -> int:
    """On how many devices experts are sharded, where these do not divide the experts: the most of which the others divide the width of an
    expert; 1 where none do, as shards of a full axis may be padded."""
    common = math.gcd(experts, size)
    return next(g for g in range(common, 0, -1) if common % g == 0 and (g == 1 or width % (size // g) == 0))


def _shard_experts(value: Any, inner: int | None, groups: int, axis: str | None, size: int) -> list[Any]:
    """Experts on so many groups of devices; those of a group share the outputs of an expert, or the inputs of what projects back."""
    found: list[Any] = [None] * value.dim()
    if groups > 1:
        found[0] = axis if groups == size else f"{axis}:(1){groups}"
    if groups == 1 and inner is not None:
        found[inner] = axis
    elif groups < size and inner is not None and value.shape[inner] % (size // groups) == 0:
        found[inner] = f"{axis}:({groups}){size // groups}"
    return found


def _shard_parameter(styles: Styles, shardings: Shardings, name: str, value: Any, owner: Any, style: str, size: int) -> None:
    if style in _INNER:
        return
    if style == "grouped_gemm":
        inner = _find_inner(name, value, owner)
        width = value.shape[-1] if inner is None else value.shape[inner]
        groups = _count_groups(value.shape[0], width if _is_back(name) else width // 2, size)
        shardings[name] = _shard_experts(value, inner, groups, styles.axis, size)
        return
    if style.startswith("packed") and value.shape[max(value.dim() + _COLUMNS, 0) if style == "packed_colwise" else _ROWS] % (2 * size):
        return  # shards of several sizes: left to propagation
    dims: list[Any] = [None] * value.dim()
    if style.startswith("colwise"):
        dims[max(value.dim() + _COLUMNS, 0)] = styles.axis
    elif style.startswith("rowwise"):
        dims[_ROWS] = styles.axis
    elif style == "packed_colwise":  # two weights, one after the other
        dims[max(value.dim() + _COLUMNS, 0)] = (2, styles.axis)
    elif style == "packed_rowwise":
        dims[_ROWS] = (2, styles.axis)
    elif style == "embedding_rowwise":
        dims[0] = styles.axis
    elif style == "embedding_colwise":
        dims[1] = styles.axis
    elif style != "sequence_parallel":
        raise ShardKitError(f"error: the plan of the model gives {name} the style '{style}', expected one that is known: colwise, rowwise, packed_colwise, ...")
    shardings[name] = dims
