"""The tensor-parallel plan that a model of the library brings, as shardings."""

from __future__ import annotations

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
            _shard_parameter(styles, shardings, name, parameters[name], style, size)
    first = {id(v): n for n, v in reversed(list(module.named_parameters()))}
    return styles, {first[id(parameters[n])]: dims for n, dims in shardings.items()}


def find_shards(module: Any, size: int) -> dict[str, Shards]:
    """Of the quantized weights of linear layers and experts for which the plan has a style."""
    modules, found = dict(module.named_modules()), {}
    for pattern, style in _get_plan(module).items():
        for name in _match(pattern, modules):
            if isinstance(modules[name], QuantizedWeight) and (style == "grouped_gemm" or "colwise" in style or "rowwise" in style):
                found[name] = Shards(size if "colwise" in style else 1, size if "rowwise" in style else 1)
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
            _shard_parameter(styles, shardings, f"{name}.{key}", value, style, size)
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
        found[0] = axis
    elif style.startswith(("colwise", "packed_colwise", "rowwise", "packed_rowwise")):
        at = dims["colwise" in style]
        is_packed = style.startswith("packed")
        if is_packed and value.shape[at] % (2 * size):
            return  # shards of several sizes: left to propagation
        found[at] = (2, axis) if is_packed else axis
    elif style.startswith("embedding"):  # one row for each number
        found[dims[style == "embedding_rowwise"]] = axis
    else:
        return
    shardings[name] = found


def _shard_parameter(styles: Styles, shardings: Shardings, name: str, value: Any, style: str, size: int) -> None:
    if style in _INNER:
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
    elif style in ("grouped_gemm", "embedding_rowwise"):
        dims[0] = styles.axis
    elif style == "embedding_colwise":
        dims[1] = styles.axis
    elif style != "sequence_parallel":
        raise ShardKitError(f"error: the plan of the model gives {name} the style '{style}', expected one that is known: colwise, rowwise, packed_colwise, ...")
    shardings[name] = dims
