"""Parallel plans of PyTorch: styles of modules, placements of parameters."""

from __future__ import annotations

import re
import warnings
from typing import Any, Mapping, Sequence

import torch

from ..errors import ShardKitError


def read_plan(
    module: Any, plan: Mapping[str, Any], axis: str | None, mesh: Mapping[str, int]
) -> dict[str, tuple[dict[str, int], int | bool | None]]:
    """Per module of the plan the dim of each parameter that is split, and what is pinned of its output: a dim, False for all
    whole, None for nothing."""
    found: dict[str, tuple[dict[str, int], int | bool | None]] = {}
    modules = dict(module.named_modules())
    for pattern, style in plan.items():
        if isinstance(style, (list, tuple)):
            continue  # placements of parameters
        names = [n for n in modules if to_expression(pattern).fullmatch(n)]
        if not names:
            known = ", ".join(n for n in modules if n) or "none: the module has no parts"
            raise ShardKitError(f"error: no module is called {pattern}, expected one of: {known}")
        if axis is None:
            raise ShardKitError("error: the plan has no mesh, expected mesh={...}")
        kind = style if isinstance(style, str) else type(style).__name__
        for name in names:
            own = modules[name]
            is_embedding = isinstance(own, torch.nn.Embedding)
            if kind not in ("ColwiseParallel", "RowwiseParallel", "SequenceParallel"):
                raise ShardKitError(f"error: style of {name} is {kind}, expected ColwiseParallel, RowwiseParallel or SequenceParallel")
            if kind != "SequenceParallel" and not (is_embedding or isinstance(own, torch.nn.Linear)):
                raise ShardKitError(f"error: {name} is a {type(own).__name__}, expected a Linear or an Embedding for {kind}")
            dims: dict[str, int] = {}
            output: int | bool | None = None
            if kind == "ColwiseParallel":
                dims = {"weight": 1} if is_embedding else {"weight": 0, "bias": 0}
            elif kind == "RowwiseParallel":
                dims = {"weight": 0 if is_embedding else 1}
            else:
                output = getattr(style, "sequence_sharding", (None,))[0]
                output = output.dim if output is not None else 1
            dims = {p: d for p, d in dims.items() if getattr(own, p, None) is not None}
            # What DTensor hands on: a linear layer by columns its last dim cut, one by rows a complete sum.
            if kind != "SequenceParallel":
                output = -1 if kind == "ColwiseParallel" else False
                for layout in getattr(style, "output_layouts", None) or ():
                    output = layout.dim if hasattr(layout, "dim") else False
            for side in ("input_layouts", "desired_input_layouts"):
                for layout in getattr(style, side, None) or ():
                    if hasattr(layout, "dim") and kind == "ColwiseParallel":
                        warnings.warn(f"{name} says {side} {layout}: how its input comes is left to ShardKit", stacklevel=4)
            found[name] = (dims, output)
    return found


def read_placements(placements: Sequence[Any], mesh: Mapping[str, int], rank: int, name: str) -> list[tuple[str, ...]]:
    """The axes of each dim, of a placement for each axis of the mesh."""
    if len(placements) != len(mesh):
        raise ShardKitError(f"error: {name} has {len(placements)} placements, expected {len(mesh)}, one for each axis of the mesh")
    dims: list[tuple[str, ...]] = [()] * rank
    for axis, placement in zip(mesh, placements):
        if placement.is_shard():
            if not -rank <= placement.dim < rank:
                raise ShardKitError(f"error: placement {placement} of {name} is of no dim, expected less than {rank}")
            dims[placement.dim] += (axis,)
        elif not placement.is_replicate():
            raise ShardKitError(f"error: placement of {name} is {placement}, expected Shard or Replicate: weights are complete")
    return dims


def to_expression(pattern: str) -> re.Pattern[str]:
    """`*` is any characters within one part of a name."""
    return re.compile("".join("[^.]*" if c == "*" else re.escape(c) for c in pattern))


def write_sharding(spec: Sequence[Any], rank: int, mesh: Mapping[str, int], name: str) -> str:
    if len(spec) > rank:
        raise ShardKitError(f"error: sharding of {name} has {len(spec)} dims, expected at most {rank}")
    dims = []
    for entry in list(spec) + [None] * (rank - len(spec)):
        axes = () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)
        for a in axes:
            if a not in mesh:
                known = ", ".join(f"{n}={s}" for n, s in mesh.items()) or "none: give mesh={...}"
                raise ShardKitError(f"error: sharding of {name} names axis {a}, expected one of: {known}")
        dims.append("{" + ", ".join(f'"{a}"' for a in axes) + "}")
    return f"#spmd.sharding<@mesh, [{', '.join(dims)}]>"
